// Which result is which buffer: kernels return their outputs in the order of their parameters,
// and every use follows.
//
//   pypto-opt --normalize-return-order docs/examples/return_order.mlir
//   pypto-run --function=main --arg x=arange:16xf32 docs/examples/return_order.mlir
//   pypto-run --function=main --arg x=arange:16xf32 --normalize-return-order docs/examples/return_order.mlir

// The kernel stores %out_b first and returns it first, though %out_a is the first parameter.
orch.func incore @kernel(
    in %x : tensor<16xf32>, out %out_a : tensor<16xf32>, out %out_b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %x_tile = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a_tile = tile.add %x_tile, %x_tile : !tile.tile<16xf32>
  %b_tile = tile.mul %x_tile, %x_tile : !tile.tile<16xf32>
  %out_b_store = tile.store %b_tile, %out_b[0] : !tile.tile<16xf32>, tensor<16xf32>
  %out_a_store = tile.store %a_tile, %out_a[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %out_b_store, %out_a_store : tensor<16xf32>, tensor<16xf32>
}

// So %a, the first result, is x * x in %out_b. After the pass it is the second result, and the
// same buffer.
orch.func orchestration @main(
    in %x : tensor<16xf32>, out %out_a : tensor<16xf32>, out %out_b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %a, %b = orch.call @kernel(%x, %out_a, %out_b)
      : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  orch.return %a, %b : tensor<16xf32>, tensor<16xf32>
}

// Three ways: c, a, b.
orch.func incore @kernel_of_three(
    in %x : tensor<16xf32>, out %out_a : tensor<16xf32>, out %out_b : tensor<16xf32>,
    out %out_c : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %x_tile = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a_tile = tile.add %x_tile, %x_tile : !tile.tile<16xf32>
  %b_tile = tile.mul %x_tile, %x_tile : !tile.tile<16xf32>
  %c_tile = tile.sub %b_tile, %a_tile : !tile.tile<16xf32>
  %out_c_store = tile.store %c_tile, %out_c[0] : !tile.tile<16xf32>, tensor<16xf32>
  %out_a_store = tile.store %a_tile, %out_a[0] : !tile.tile<16xf32>, tensor<16xf32>
  %out_b_store = tile.store %b_tile, %out_b[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %out_c_store, %out_a_store, %out_b_store
      : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

orch.func orchestration @main_of_three(
    in %x : tensor<16xf32>, out %out_a : tensor<16xf32>, out %out_b : tensor<16xf32>,
    out %out_c : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %c, %a, %b = orch.call @kernel_of_three(%x, %out_a, %out_b, %out_c)
      : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
      -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  orch.return %c, %a, %b : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
