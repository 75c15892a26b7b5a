// bf16 computes in f32 and rounds once, to nearest even.

orch.func orchestration @main(in %x: tensor<16x64xbf16>) -> tensor<16x64xbf16> {
  %r = orch.incore -> (tensor<16x64xbf16>) {
    %f = ptensor.cast %x, target_type = f32 : tensor<16x64xbf16> -> tensor<16x64xf32>
    %m = ptensor.mul %f, %f : tensor<16x64xf32>
    %q = ptensor.cast %m, target_type = bf16, mode = rint : tensor<16x64xf32> -> tensor<16x64xbf16>
    orch.yield %q : tensor<16x64xbf16>
  }
  orch.return %r : tensor<16x64xbf16>
}
