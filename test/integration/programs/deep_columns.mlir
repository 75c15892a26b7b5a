// Reductions of a tensor of three dimensions leave columns that are stored as they are.

orch.func orchestration @main(in %x: tensor<4x8x32xf32>) -> tensor<4x8x1xf32> {
  %result = orch.incore -> (tensor<4x8x1xf32>) {
    %sums = ptensor.row_sum %x : tensor<4x8x32xf32> -> tensor<4x8x1xf32>
    %powers = ptensor.exp %sums : tensor<4x8x1xf32>
    orch.yield %powers : tensor<4x8x1xf32>
  }
  orch.return %result : tensor<4x8x1xf32>
}
