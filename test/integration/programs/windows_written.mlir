// Two tasks write the halves of one buffer, which the caller returns as a whole.

orch.func incore @half(in %x: tensor<16x64xf32>, out %o: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
  %d = tile.exp %t : !tile.tile<16x64xf32>
  %o1 = tile.store %d, %o[0, 0] : !tile.tile<16x64xf32>, tensor<16x64xf32>
  orch.return %o1 : tensor<16x64xf32>
}
orch.func orchestration @main(in %x: tensor<32x64xf32>, out %o: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %x0 = ptensor.slice %x[0, 0] : tensor<32x64xf32> -> tensor<16x64xf32>
  %x1 = ptensor.slice %x[16, 0] : tensor<32x64xf32> -> tensor<16x64xf32>
  %o0 = ptensor.slice %o[16, 0] : tensor<32x64xf32> -> tensor<16x64xf32>
  %o1 = ptensor.slice %o[0, 0] : tensor<32x64xf32> -> tensor<16x64xf32>
  %a = orch.call @half(%x0, %o0) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  %b = orch.call @half(%x1, %o1) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  orch.return %o : tensor<32x64xf32>
}
