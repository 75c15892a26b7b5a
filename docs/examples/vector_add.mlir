// Adds two tensors, element by element, on one core.
//
//   pypto-opt --default-pipeline -t pto docs/examples/vector_add.mlir

orch.func orchestration @main(
    in %x : tensor<64x128xf32>, in %y : tensor<64x128xf32>) -> tensor<64x128xf32> {
  %sum = orch.incore "vector_add" -> (tensor<64x128xf32>) {
    %s = ptensor.add %x, %y : tensor<64x128xf32>
    orch.yield %s : tensor<64x128xf32>
  }
  orch.return %sum : tensor<64x128xf32>
}
