// An op with two results: for each row the first eight columns whose element is larger than a
// threshold, and how many columns there are.
//
//   pypto-opt --default-pipeline -t pto docs/examples/gather_compare.mlir

orch.func orchestration @main(in %x : tensor<32x64xf32>, in %threshold : f32)
    -> (tensor<32x8xi32>, tensor<1x32xi32>) {
  %columns, %counts = orch.incore "gather_compare" -> (tensor<32x8xi32>, tensor<1x32xi32>) {
    %where, %many = ptensor.gather_compare %x, %threshold, cmp_mode = gt, out_cols = 8
        : tensor<32x64xf32>, f32 -> tensor<32x8xi32>, tensor<1x32xi32>
    orch.yield %where, %many : tensor<32x8xi32>, tensor<1x32xi32>
  }
  orch.return %columns, %counts : tensor<32x8xi32>, tensor<1x32xi32>
}
