// Twelve tiles are in use at once.

orch.func orchestration @main(in %x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %RR = orch.incore -> (tensor<32x64xf32>) {
    %t0 = ptensor.exp %x : tensor<32x64xf32>
    %t1 = ptensor.abs %t0 : tensor<32x64xf32>
    %t2 = ptensor.neg %t1 : tensor<32x64xf32>
    %t3 = ptensor.abs %t2 : tensor<32x64xf32>
    %t4 = ptensor.neg %t3 : tensor<32x64xf32>
    %t5 = ptensor.abs %t4 : tensor<32x64xf32>
    %t6 = ptensor.neg %t5 : tensor<32x64xf32>
    %t7 = ptensor.abs %t6 : tensor<32x64xf32>
    %t8 = ptensor.neg %t7 : tensor<32x64xf32>
    %t9 = ptensor.abs %t8 : tensor<32x64xf32>
    %t10 = ptensor.neg %t9 : tensor<32x64xf32>
    %t11 = ptensor.abs %t10 : tensor<32x64xf32>
    %s0 = ptensor.add %t0, %t11 : tensor<32x64xf32>
    %s1 = ptensor.sub %s0, %t1 : tensor<32x64xf32>
    %s2 = ptensor.sub %s1, %t2 : tensor<32x64xf32>
    %s3 = ptensor.sub %s2, %t3 : tensor<32x64xf32>
    %s4 = ptensor.sub %s3, %t4 : tensor<32x64xf32>
    %s5 = ptensor.sub %s4, %t5 : tensor<32x64xf32>
    %s6 = ptensor.sub %s5, %t6 : tensor<32x64xf32>
    %s7 = ptensor.sub %s6, %t7 : tensor<32x64xf32>
    %s8 = ptensor.sub %s7, %t8 : tensor<32x64xf32>
    %s9 = ptensor.sub %s8, %t9 : tensor<32x64xf32>
    %s10 = ptensor.sub %s9, %t10 : tensor<32x64xf32>
    %s11 = ptensor.sub %s10, %t11 : tensor<32x64xf32>
    orch.yield %s11 : tensor<32x64xf32>
  }
  orch.return %RR : tensor<32x64xf32>
}
