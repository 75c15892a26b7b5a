// A matrix that lies in boxes, as a matmul leaves it, goes through an op that wants rows.
//
//   pypto-opt --default-pipeline -t pto docs/examples/matrix_layout_move.mlir
//
// `exp` is given a tile whose blocks lie column-major. It is copied to row-major and back within
// the vector buffer; whoever uses the result finds it as it was declared.

orch.func incore @exp_of_boxes(in %x : tensor<16x256xf32>, out %y : tensor<16x256xf32>)
    -> tensor<16x256xf32> {
  %rows = tile.load %x[0, 0] : tensor<16x256xf32> -> !tile.tile<16x256xf32, vec>
  %boxes = tile.move %rows : !tile.tile<16x256xf32, vec>
      -> !tile.tile<16x256xf32, vec, blayout = col_major, slayout = row_major>
  %powers = tile.exp %boxes
      : !tile.tile<16x256xf32, vec, blayout = col_major, slayout = row_major>
  %back = tile.move %powers
      : !tile.tile<16x256xf32, vec, blayout = col_major, slayout = row_major>
      -> !tile.tile<16x256xf32, vec>
  %y1 = tile.store %back, %y[0, 0] : !tile.tile<16x256xf32, vec>, tensor<16x256xf32>
  orch.return %y1 : tensor<16x256xf32>
}

orch.func orchestration @main(in %x : tensor<16x256xf32>) -> tensor<16x256xf32> {
  %y = ptensor.create : tensor<16x256xf32>
  %z = orch.call @exp_of_boxes(%x, %y) : (tensor<16x256xf32>, tensor<16x256xf32>)
      -> tensor<16x256xf32>
  orch.return %z : tensor<16x256xf32>
}
