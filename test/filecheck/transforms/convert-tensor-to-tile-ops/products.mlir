// Products of matrices: sums stay in f32; one that is only stored is rounded on the way.

// RUN: pypto-opt --convert-tensor-to-tile-ops %s | filecheck %s

// CHECK-LABEL:   orch.func incore @summed(
// CHECK:           %p0 = tile.matmul %a0_mat, %b0_mat : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf32>
// CHECK:           %p = scf.for {{.*}} iter_args(%acc = %p0) -> (!tile.tile<32x32xf32>) {
// CHECK:             %n = tile.matmul_acc %acc, %ak_mat, %bk_mat :
// CHECK:           tile.store %p, %p_out[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
orch.func incore @summed(in %a : tensor<32x128xf16>, in %b : tensor<128x32xf16>)
    -> tensor<32x32xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %step = arith.constant 32 : index
  %a0 = ptensor.slice %a[0, 0] : tensor<32x128xf16> -> tensor<32x32xf16>
  %b0 = ptensor.slice %b[0, 0] : tensor<128x32xf16> -> tensor<32x32xf16>
  %p0 = ptensor.matmul %a0, %b0, out_dtype = f32
    : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %p = scf.for %k = %c1 to %c4 step %c1 iter_args(%acc = %p0) -> (tensor<32x32xf32>) {
    %d = arith.muli %k, %step : index
    %ak = ptensor.slice %a[0, %d] : tensor<32x128xf16> -> tensor<32x32xf16>
    %bk = ptensor.slice %b[%d, 0] : tensor<128x32xf16> -> tensor<32x32xf16>
    %n = ptensor.matmul_acc %acc, %ak, %bk
      : tensor<32x32xf32>, tensor<32x32xf16>, tensor<32x32xf16>
    scf.yield %n : tensor<32x32xf32>
  }
  orch.return %p : tensor<32x32xf32>
}

// CHECK-LABEL:   orch.func incore @rounded(
// CHECK:           %p = tile.matmul {{.*}} -> !tile.tile<32x32xf32, acc>
// CHECK-NEXT:      %p_stored = tile.store %p, %p_out[0, 0] : !tile.tile<32x32xf32, acc>, tensor<32x32xf16>
orch.func incore @rounded(in %a : tensor<32x64xf16>, in %b : tensor<64x32xf16>)
    -> tensor<32x32xf16> {
  %p = ptensor.matmul %a, %b : tensor<32x64xf16>, tensor<64x32xf16> -> tensor<32x32xf16>
  orch.return %p : tensor<32x32xf16>
}

// An operand that is multiplied transposed is seen so in L1, where its bytes stay.
// CHECK-LABEL:   orch.func incore @transposed(
// CHECK:           %a_mat = tile.load %a[0, 0] : tensor<64x32xf16> -> !tile.tile<64x32xf16, mat>
// CHECK-NEXT:      %b_mat = tile.load %b[0, 0] : tensor<48x64xf16> -> !tile.tile<48x64xf16, mat>
// CHECK-NEXT:      %a_mat_t = tile.transpose_view %a_mat : !tile.tile<64x32xf16, mat> -> !tile.tile<32x64xf16, mat, blayout = row_major, slayout = col_major>
// CHECK-NEXT:      %b_mat_t = tile.transpose_view %b_mat : !tile.tile<48x64xf16, mat> -> !tile.tile<64x48xf16, mat, blayout = row_major, slayout = col_major>
// CHECK-NEXT:      %p = tile.matmul %a_mat_t, %b_mat_t : {{.*}} -> !tile.tile<32x48xf32>
orch.func incore @transposed(in %a : tensor<64x32xf16>, in %b : tensor<48x64xf16>)
    -> tensor<32x48xf32> {
  %p = ptensor.matmul %a, %b, out_dtype = f32, a_trans = true, b_trans = true
    : tensor<64x32xf16>, tensor<48x64xf16> -> tensor<32x48xf32>
  orch.return %p : tensor<32x48xf32>
}

// What is computed elsewhere moves to L1 first; a tensor that is read both ways is loaded twice,
// since the cores share no memory.
// CHECK-LABEL:   orch.func incore @both_ways(
// CHECK:           %x_tile = tile.load %x[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16>
// CHECK-NEXT:      %x_mat = tile.load %x[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:      %e = tile.exp %x_tile : !tile.tile<32x32xf16>
// CHECK-NEXT:      %e_mat = tile.move %e : !tile.tile<32x32xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:      %e_mat_t = tile.transpose_view %e_mat
// CHECK-NEXT:      %p = tile.matmul %x_mat, %e_mat_t :
orch.func incore @both_ways(in %x : tensor<32x32xf16>) -> tensor<32x32xf32> {
  %e = ptensor.exp %x : tensor<32x32xf16>
  %p = ptensor.matmul %x, %e, out_dtype = f32, b_trans = true
    : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  orch.return %p : tensor<32x32xf32>
}

// Batches of matrices are taken apart later; one matrix is multiplied with each of a batch.
// CHECK-LABEL:   orch.func incore @batches(
// CHECK:           %b_mat_t = tile.transpose_view %b_mat : !tile.tile<4x16x64xf16, mat> -> !tile.tile<4x64x16xf16, mat, blayout = row_major, slayout = col_major>
// CHECK-NEXT:      %p = tile.batch_matmul %a_mat, %b_mat_t : {{.*}} -> !tile.tile<4x16x16xf32>
// CHECK:           %q = tile.batch_matmul_acc %p, %a_mat, %b_mat_t_1 : !tile.tile<4x16x16xf32>,
orch.func incore @batches(in %a : tensor<16x64xf16>, in %b : tensor<4x16x64xf16>)
    -> tensor<4x16x16xf32> {
  %p = ptensor.matmul %a, %b, out_dtype = f32, b_trans = true
    : tensor<16x64xf16>, tensor<4x16x64xf16> -> tensor<4x16x16xf32>
  %q = ptensor.matmul_acc %p, %a, %b, b_trans = true
    : tensor<4x16x16xf32>, tensor<16x64xf16>, tensor<4x16x64xf16>
  orch.return %q : tensor<4x16x16xf32>
}

// Of what is returned as a whole only what was computed is stored: the rest of the buffer is
// nobody's.
// CHECK-LABEL: orch.func incore @part(
// CHECK:         [[Y:%.*]] = tile.matmul
// CHECK-SAME:      !tile.tile<16x64xf32, valid = [8, 64], compact>
// CHECK-NEXT:    %{{.*}} = tile.store [[Y]], %{{.*}}[0, 0]
orch.func incore @part(in %a : tensor<16x64xbf16>, in %b : tensor<64x64xbf16>) -> tensor<16x64xf32> {
  %v = ptensor.set_validshape %a, valid = [8, 64] : tensor<16x64xbf16> -> tensor<16x64xbf16, #ptensor.view<valid = [8, 64]>>
  %y = ptensor.matmul %v, %b, out_dtype = f32 : tensor<16x64xbf16, #ptensor.view<valid = [8, 64]>>, tensor<64x64xbf16> -> tensor<16x64xf32, #ptensor.view<valid = [8, 64]>>
  %w = ptensor.type_cast %y : tensor<16x64xf32, #ptensor.view<valid = [8, 64]>> -> tensor<16x64xf32>
  orch.return %w : tensor<16x64xf32>
}
