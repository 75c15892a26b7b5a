// Ops with two results, of which one is not used.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %k: f32) -> (tensor<1x32xi32>, tensor<32x1xf32>) {
  %c, %m = orch.incore -> (tensor<1x32xi32>, tensor<32x1xf32>) {
    %w1, %n1 = ptensor.gather_compare %x, %k, cmp_mode = gt, out_cols = 8 : tensor<32x64xf32>, f32 -> tensor<32x8xi32>, tensor<1x32xi32>
    %z = ptensor.neg %x : tensor<32x64xf32>
    %w2, %n2 = ptensor.gather_compare %z, %k, cmp_mode = gt, out_cols = 8 : tensor<32x64xf32>, f32 -> tensor<32x8xi32>, tensor<1x32xi32>
    %n = ptensor.sub %n1, %n2 : tensor<1x32xi32>
    %m1 = ptensor.row_max %x : tensor<32x64xf32> -> tensor<32x1xf32>
    orch.yield %n, %m1 : tensor<1x32xi32>, tensor<32x1xf32>
  }
  orch.return %c, %m : tensor<1x32xi32>, tensor<32x1xf32>
}
