// A kernel returns in another order than that of its parameters, twice in a row.

orch.func incore @k(in %x: tensor<32x64xf32>, out %a: tensor<32x64xf32>, out %b: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %s = tile.add %t, %t : !tile.tile<32x64xf32>
  %m = tile.mul %t, %t : !tile.tile<32x64xf32>
  %own = ptensor.create : tensor<32x64xf32>
  %b1 = tile.store %s, %b[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  %a1 = tile.store %m, %a[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  %o1 = tile.store %t, %own[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  orch.return %b1, %o1, %a1 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}
orch.func orchestration @main(in %x: tensor<32x64xf32>, out %a: tensor<32x64xf32>, out %b: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %r, %r_1, %r_2 = orch.call @k(%x, %b, %a) : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
  %q, %q_1, %q_2 = orch.call @k(%r_1, %r, %r_2) : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
  orch.return %q_2, %q_1, %q : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}
