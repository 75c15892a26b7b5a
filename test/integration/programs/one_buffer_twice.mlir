// Both arguments of a call are one buffer.

orch.func incore @k(in %x: tensor<32x64xf32>, inout %a: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %u = tile.load %a[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %s = tile.mul %t, %u : !tile.tile<32x64xf32>
  %a1 = tile.store %s, %a[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  %v = tile.load %a1[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %w = tile.add %v, %t : !tile.tile<32x64xf32>
  %a2 = tile.store %w, %a1[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  orch.return %a2 : tensor<32x64xf32>
}
orch.func orchestration @main(inout %x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %r = orch.call @k(%x, %x) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %r1 = orch.call @k(%r, %r) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  orch.return %r1 : tensor<32x64xf32>
}
