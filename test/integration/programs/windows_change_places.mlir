// What was read is overwritten before it is used: windows of one buffer change places.

orch.func orchestration @main(inout %x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %RR = orch.incore -> (tensor<32x64xf32>) {
    %a = ptensor.slice %x[0, 0] : tensor<32x64xf32> -> tensor<8x64xf32>
    %b = ptensor.slice %x[8, 0] : tensor<32x64xf32> -> tensor<8x64xf32>
    %ea = ptensor.exp %a : tensor<8x64xf32>
    %eb = ptensor.neg %b : tensor<8x64xf32>
    %x1 = ptensor.assemble %ea, %x[8, 0] : tensor<8x64xf32>, tensor<32x64xf32>
    %x2 = ptensor.assemble %eb, %x1[0, 0] : tensor<8x64xf32>, tensor<32x64xf32>
    %c = ptensor.slice %x2[4, 0] : tensor<32x64xf32> -> tensor<8x64xf32>
    %ec = ptensor.abs %c : tensor<8x64xf32>
    %x3 = ptensor.assemble %ec, %x2[16, 0] : tensor<8x64xf32>, tensor<32x64xf32>
    orch.yield %x3 : tensor<32x64xf32>
  }
  orch.return %RR : tensor<32x64xf32>
}
