// A part of a tile in boxes is copied from its place as it is moved on; seen transposed, its bytes stay.

// RUN: pypto-opt --convert-tile-to-pto=backend=ascend910b %s | filecheck %s

// CHECK-LABEL:     func.func @part(
// CHECK:             %t = pto.alloc_tile : !pto.tile_buf<loc=mat, dtype=f16, rows=32, cols=64, {{.*}}blayout=col_major, slayout=row_major
// CHECK:             %v = pto.treshape %t : {{.*}} -> !pto.tile_buf<loc=mat, dtype=f16, rows=64, cols=32, {{.*}}blayout=row_major, slayout=col_major
// CHECK:             pto.textract ins(%t, %{{.*}}, %c0_index : {{.*}}) outs(%l : !pto.tile_buf<loc=left, dtype=f16, rows=16, cols=64,
// CHECK:             pto.tmov ins(%v : {{.*}}) outs(%r : !pto.tile_buf<loc=right, dtype=f16, rows=64, cols=32,
orch.func incore @part(in %x : tensor<32x64xf16>, in %i : index, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %t = tile.load %x[0, 0] : tensor<32x64xf16> -> !tile.tile<32x64xf16, mat>
  %v = tile.transpose_view %t : !tile.tile<32x64xf16, mat> -> !tile.tile<64x32xf16, mat, blayout = row_major, slayout = col_major>
  %w = tile.slice %t[%i, 0] : !tile.tile<32x64xf16, mat> -> !tile.tile<16x64xf16, mat>
  %l = tile.move %w : !tile.tile<16x64xf16, mat> -> !tile.tile<16x64xf16, left>
  %r = tile.move %v : !tile.tile<64x32xf16, mat, blayout = row_major, slayout = col_major> -> !tile.tile<64x32xf16, right>
  %p = tile.matmul %l, %r : !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right> -> !tile.tile<16x32xf32, acc>
  %s = tile.store %p, %o[0, 0] : !tile.tile<16x32xf32, acc>, tensor<16x32xf32>
  orch.return %s : tensor<16x32xf32>
}
