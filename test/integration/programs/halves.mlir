// Elementwise in f16, rounded after each op.

orch.func orchestration @main(in %x: tensor<16x64xf16>, in %y: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %r = orch.incore -> (tensor<16x64xf16>) {
    %s = ptensor.add %x, %y : tensor<16x64xf16>
    %m = ptensor.mul %s, %x : tensor<16x64xf16>
    %k = ptensor.maximum %m, %y : tensor<16x64xf16>
    %q = ptensor.sub %k, %s : tensor<16x64xf16>
    orch.yield %q : tensor<16x64xf16>
  }
  orch.return %r : tensor<16x64xf16>
}
