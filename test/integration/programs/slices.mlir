// A window of a window, at an offset that the run knows.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %i: index) -> tensor<8x16xf32> {
  %r = orch.incore -> (tensor<8x16xf32>) {
    %a = ptensor.slice %x[%i, 16] : tensor<32x64xf32> -> tensor<16x32xf32, #ptensor.view<strides = [64, 1]>>
    %b = ptensor.slice %a[4, 8] : tensor<16x32xf32, #ptensor.view<strides = [64, 1]>> -> tensor<8x16xf32, #ptensor.view<strides = [64, 1]>>
    %e = ptensor.exp %b : tensor<8x16xf32, #ptensor.view<strides = [64, 1]>> -> tensor<8x16xf32>
    orch.yield %e : tensor<8x16xf32>
  }
  orch.return %r : tensor<8x16xf32>
}
