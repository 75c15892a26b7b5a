// The softmax of each row: e to the power of each element, over their sum. The largest element of
// the row is taken off first, so that nothing overflows.
//
//   pypto-opt --default-pipeline -t pto docs/examples/softmax.mlir
//
// The sums are a column, 32x1. The vector unit takes the reciprocal of rows only, so the column is
// seen as the row 1x32 that has the same bytes.

orch.func orchestration @main(in %x : tensor<32x128xf32>) -> tensor<32x128xf32> {
  %y = orch.incore "softmax" -> (tensor<32x128xf32>) {
    %largest = ptensor.row_max %x : tensor<32x128xf32> -> tensor<32x1xf32>
    %shifted = ptensor.sub %x, %largest : tensor<32x128xf32>, tensor<32x1xf32>
    %powers = ptensor.exp %shifted : tensor<32x128xf32>
    %sum = ptensor.row_sum %powers : tensor<32x128xf32> -> tensor<32x1xf32>
    %inverse = ptensor.recip %sum : tensor<32x1xf32>
    %shares = ptensor.mul %powers, %inverse : tensor<32x128xf32>, tensor<32x1xf32>
    orch.yield %shares : tensor<32x128xf32>
  }
  orch.return %y : tensor<32x128xf32>
}
