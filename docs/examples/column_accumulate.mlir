// The sum of each row of a wide matrix, added up block by block: the loop carries a column.
//
//   pypto-opt --default-pipeline -t pto docs/examples/column_accumulate.mlir
//
// A column 16x1 lies column-major, but `add` and `muls` want rows: both are computed on the row
// 1x16 that has the same bytes, and no byte moves.

orch.func orchestration @main(in %x : tensor<16x256xf32>) -> tensor<16x1xf32> {
  %means = orch.incore "column_accumulate" -> (tensor<16x1xf32>) {
    %zero = arith.constant 0.0 : f32
    %scale = arith.constant 0.00390625 : f32
    %start = arith.constant 0 : index
    %end = arith.constant 256 : index
    %width = arith.constant 64 : index
    %empty = ptensor.full %zero : f32 -> tensor<16x1xf32>
    %sum = scf.for %column = %start to %end step %width iter_args(%acc = %empty)
        -> (tensor<16x1xf32>) {
      %block = ptensor.slice %x[0, %column] : tensor<16x256xf32> -> tensor<16x64xf32>
      %part = ptensor.row_sum %block : tensor<16x64xf32> -> tensor<16x1xf32>
      %next = ptensor.add %acc, %part : tensor<16x1xf32>
      scf.yield %next : tensor<16x1xf32>
    }
    %mean = ptensor.muls %sum, %scale : tensor<16x1xf32>, f32
    orch.yield %mean : tensor<16x1xf32>
  }
  orch.return %means : tensor<16x1xf32>
}
