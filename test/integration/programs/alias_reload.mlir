// A kernel reads a parameter again after it wrote another: they are one buffer.

orch.func incore @k(in %x: tensor<32x64xf32>, inout %a: tensor<32x64xf32>, out %o: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %b = tile.load %a[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %s = tile.add %t, %b : !tile.tile<32x64xf32>
  %a1 = tile.store %s, %a[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  %u = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %v = tile.exp %u : !tile.tile<32x64xf32>
  %o1 = tile.store %v, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  orch.return %a1, %o1 : tensor<32x64xf32>, tensor<32x64xf32>
}
orch.func orchestration @main(inout %x: tensor<32x64xf32>, out %o: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %r, %q = orch.call @k(%x, %x, %o) : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>)
  orch.return %r, %q : tensor<32x64xf32>, tensor<32x64xf32>
}
