// Which of two buffers a task writes is decided at run time.

orch.func incore @dbl(in %x: tensor<32x64xf32>, out %o: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %d = tile.add %t, %t : !tile.tile<32x64xf32>
  %o1 = tile.store %d, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  orch.return %o1 : tensor<32x64xf32>
}
orch.func incore @acc(in %x: tensor<32x64xf32>, inout %o: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %u = tile.load %o[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %d = tile.add %t, %u : !tile.tile<32x64xf32>
  %o1 = tile.store %d, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  orch.return %o1 : tensor<32x64xf32>
}
orch.func orchestration @main(in %x: tensor<32x64xf32>, in %n: index) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %a = ptensor.create : tensor<32x64xf32>
  %b0 = ptensor.create : tensor<32x64xf32>
  %a0 = orch.call @dbl(%x, %a) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %b1 = orch.call @acc2(%x, %b0) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %c = arith.constant 3 : index
  %b = arith.cmpi slt, %n, %c : index
  %r, %s = scf.if %b -> (tensor<32x64xf32>, tensor<32x64xf32>) {
    scf.yield %a0, %b1 : tensor<32x64xf32>, tensor<32x64xf32>
  } else {
    scf.yield %b1, %a0 : tensor<32x64xf32>, tensor<32x64xf32>
  }
  %q = orch.call @acc(%x, %r) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %q2 = orch.call @acc(%q, %s) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  orch.return %q, %q2 : tensor<32x64xf32>, tensor<32x64xf32>
}
orch.func incore @acc2(in %x: tensor<32x64xf32>, out %o: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %d = tile.exp %t : !tile.tile<32x64xf32>
  %o1 = tile.store %d, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  orch.return %o1 : tensor<32x64xf32>
}
