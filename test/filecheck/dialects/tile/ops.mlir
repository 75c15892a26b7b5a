// Every op of the dialect, in its custom form, its generic form, and from one to the other.

// RUN: pypto-opt %s | pypto-opt | filecheck %s
// RUN: pypto-opt %s --print-op-generic | pypto-opt | filecheck %s

// Tiles come from and go to global memory.
// CHECK-LABEL: orch.func incore @memory
orch.func incore @memory(in %x : tensor<128x64xf32>, out %y : tensor<128x64xf32>, in %i : index, in %n : index, in %k : f32) -> tensor<128x64xf32> {
  // CHECK: %c = tile.create : !tile.tile<16x64xf32, vec>
  %c = tile.create : !tile.tile<16x64xf32, vec>
  // CHECK: %cv = tile.create valid = [%n, 64] : !tile.tile<16x64xf32, valid = [?, 64]>
  %cv = tile.create valid = [%n, 64] : !tile.tile<16x64xf32, valid = [?, 64]>
  // CHECK: %f = tile.full %k : f32 -> !tile.tile<16x64xf32>
  %f = tile.full %k : f32 -> !tile.tile<16x64xf32>
  // CHECK: %l = tile.load %x[%i, 0], valid = [%n, 64] : tensor<128x64xf32> -> !tile.tile<16x64xf32, valid = [?, 64]>
  %l = tile.load %x[%i, 0], valid = [%n, 64] : tensor<128x64xf32> -> !tile.tile<16x64xf32, valid = [?, 64]>
  // CHECK: %y1 = tile.store %l, %y[%i, 0] : !tile.tile<16x64xf32, valid = [?, 64]>, tensor<128x64xf32>
  %y1 = tile.store %l, %y[%i, 0] : !tile.tile<16x64xf32, valid = [?, 64]>, tensor<128x64xf32>
  // CHECK: %y2 = tile.store %c, %y1[0, 0], atomic = add : !tile.tile<16x64xf32, vec>, tensor<128x64xf32>
  %y2 = tile.store %c, %y1[0, 0], atomic = add : !tile.tile<16x64xf32, vec>, tensor<128x64xf32>
  // CHECK: %r = tile.reshape %f : !tile.tile<16x64xf32> -> !tile.tile<32x32xf32>
  %r = tile.reshape %f : !tile.tile<16x64xf32> -> !tile.tile<32x32xf32>
  // CHECK: %m = tile.move %f : !tile.tile<16x64xf32> -> !tile.tile<16x64xf32, vec, blayout = col_major>
  %m = tile.move %f : !tile.tile<16x64xf32> -> !tile.tile<16x64xf32, vec, blayout = col_major>
  // CHECK: %v = tile.set_validshape %f, valid = [%n, 3] : !tile.tile<16x64xf32> -> !tile.tile<16x64xf32, valid = [?, 3]>
  %v = tile.set_validshape %f, valid = [%n, 3] : !tile.tile<16x64xf32> -> !tile.tile<16x64xf32, valid = [?, 3]>
  // CHECK: %d = tile.valid_dim %v, axis = 0 : !tile.tile<16x64xf32, valid = [?, 3]> -> index
  %d = tile.valid_dim %v, axis = 0 : !tile.tile<16x64xf32, valid = [?, 3]> -> index
  // CHECK: %e = tile.read %f[%i, 1] : !tile.tile<16x64xf32> -> f32
  %e = tile.read %f[%i, 1] : !tile.tile<16x64xf32> -> f32
  // CHECK: %w = tile.write %e, %f[%i, 1] : f32, !tile.tile<16x64xf32>
  %w = tile.write %e, %f[%i, 1] : f32, !tile.tile<16x64xf32>
  orch.return %y2 : tensor<128x64xf32>
}

// CHECK-LABEL: orch.func incore @windows
orch.func incore @windows(in %i : index, in %n : index) {
  %t = tile.create : !tile.tile<16x64xf32, vec, valid = [12, 64]>
  // CHECK: %s = tile.slice %t[8, %i] : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<8x16xf32, vec, valid = [4, 16]>
  %s = tile.slice %t[8, %i] : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<8x16xf32, vec, valid = [4, 16]>
  // A column of a row-major tile is strided, hence row-major.
  // CHECK: %c = tile.slice %t[0, 3], valid = [%n, 1] : {{.*}} -> !tile.tile<16x1xf32, vec, valid = [?, 1], blayout = row_major>
  %c = tile.slice %t[0, 3], valid = [%n, 1] : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<16x1xf32, vec, valid = [?, 1], blayout = row_major>
  // CHECK: %a = tile.assemble %s, %t[8, 0] : !tile.tile<8x16xf32, vec, valid = [4, 16]>, !tile.tile<16x64xf32, vec, valid = [12, 64]>{{$}}
  %a = tile.assemble %s, %t[8, 0] : !tile.tile<8x16xf32, vec, valid = [4, 16]>, !tile.tile<16x64xf32, vec, valid = [12, 64]>
  %m = tile.create : !tile.tile<64x64xf16, mat>
  // CHECK: %l = tile.extract %m[%i, 0] : !tile.tile<64x64xf16, mat> -> !tile.tile<16x64xf16, left>
  %l = tile.extract %m[%i, 0] : !tile.tile<64x64xf16, mat> -> !tile.tile<16x64xf16, left>
  orch.return
}

// CHECK-LABEL: orch.func incore @rearrangement
orch.func incore @rearrangement() {
  %a = tile.create : !tile.tile<16x64xf32, vec, valid = [8, 64]>
  %b = tile.create : !tile.tile<16x32xf32, vec, valid = [8, 20]>
  // CHECK: %c = tile.concat %a, %b : {{.*}} -> !tile.tile<16x96xf32, vec, valid = [8, 84]>
  %c = tile.concat %a, %b : !tile.tile<16x64xf32, vec, valid = [8, 64]>, !tile.tile<16x32xf32, vec, valid = [8, 20]> -> !tile.tile<16x96xf32, vec, valid = [8, 84]>
  %tmp = tile.create : !tile.tile<16x64xf32, vec>
  // CHECK: %t = tile.transpose %a, %tmp : {{.*}} -> !tile.tile<64x16xf32, vec, valid = [64, 8]>
  %t = tile.transpose %a, %tmp : !tile.tile<16x64xf32, vec, valid = [8, 64]>, !tile.tile<16x64xf32, vec> -> !tile.tile<64x16xf32, vec, valid = [64, 8]>
  %m = tile.create : !tile.tile<64x32xf16, mat>
  // CHECK: %v = tile.transpose_view %m : !tile.tile<64x32xf16, mat> -> !tile.tile<32x64xf16, mat, blayout = row_major, slayout = col_major>
  %v = tile.transpose_view %m : !tile.tile<64x32xf16, mat> -> !tile.tile<32x64xf16, mat, blayout = row_major, slayout = col_major>
  // CHECK: %i = tile.reinterpret_view %tmp : !tile.tile<16x64xf32, vec> -> !tile.tile<16x128xi16, vec>
  %i = tile.reinterpret_view %tmp : !tile.tile<16x64xf32, vec> -> !tile.tile<16x128xi16, vec>
  orch.return
}

// CHECK-LABEL: orch.func incore @fill
orch.func incore @fill(in %k : f32, in %d : i32) {
  %t = tile.create : !tile.tile<16x64xf32, vec, valid = [12, 64]>
  // CHECK: %p = tile.fillpad %t : {{.*}} -> !tile.tile<16x64xf32, vec, pad = zero>
  %p = tile.fillpad %t : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<16x64xf32, vec, pad = zero>
  // CHECK: %q = tile.fillpad_inplace %t, pad_value = min : {{.*}} -> !tile.tile<16x64xf32, vec, pad = min>
  %q = tile.fillpad_inplace %t, pad_value = min : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<16x64xf32, vec, pad = min>
  // CHECK: %e = tile.fillpad_expand %t, pad_value = max : {{.*}} -> !tile.tile<32x64xf32, vec, pad = max>
  %e = tile.fillpad_expand %t, pad_value = max : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<32x64xf32, vec, pad = max>
  // CHECK: %x = tile.expands %t, %k : !tile.tile<16x64xf32, vec, valid = [12, 64]>, f32
  %x = tile.expands %t, %k : !tile.tile<16x64xf32, vec, valid = [12, 64]>, f32
  // CHECK: %s = tile.ci %d, descending = true : i32 -> !tile.tile<1x64xi32, vec>
  %s = tile.ci %d, descending = true : i32 -> !tile.tile<1x64xi32, vec>
  // CHECK: %r = tile.tri %d, upper = true : i32 -> !tile.tile<16x64xf16, vec>
  %r = tile.tri %d, upper = true : i32 -> !tile.tile<16x64xf16, vec>
  orch.return
}

// CHECK-LABEL: orch.func incore @matmul
orch.func incore @matmul(in %first : i1) {
  %a = tile.create : !tile.tile<16x64xf16, left>
  %b = tile.create : !tile.tile<64x32xf16, right>
  %bias = tile.create : !tile.tile<1x32xf32, bias>
  // CHECK: %m = tile.matmul %a, %b : !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right> -> !tile.tile<16x32xf32, acc>
  %m = tile.matmul %a, %b : !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right> -> !tile.tile<16x32xf32, acc>
  // CHECK: %m1 = tile.matmul_acc %m, %a, %b : !tile.tile<16x32xf32, acc>, !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right>{{$}}
  %m1 = tile.matmul_acc %m, %a, %b : !tile.tile<16x32xf32, acc>, !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right>
  // CHECK: %m2 = tile.matmul_acc %m1, %a, %b, %first : {{.*}}, i1{{$}}
  %m2 = tile.matmul_acc %m1, %a, %b, %first : !tile.tile<16x32xf32, acc>, !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right>, i1
  // CHECK: %m3 = tile.matmul_bias %a, %b, %bias : {{.*}} -> !tile.tile<16x32xf32, acc>
  %m3 = tile.matmul_bias %a, %b, %bias : !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right>, !tile.tile<1x32xf32, bias> -> !tile.tile<16x32xf32, acc>
  // A partial left operand gives a partial product, whose rows are packed.
  %p = tile.create : !tile.tile<16x64xi8, left, valid = [5, 64]>
  %q = tile.create : !tile.tile<64x32xi8, right>
  // CHECK: %pq = tile.matmul %p, %q : {{.*}} -> !tile.tile<16x32xi32, acc, valid = [5, 32], compact>
  %pq = tile.matmul %p, %q : !tile.tile<16x64xi8, left, valid = [5, 64]>, !tile.tile<64x32xi8, right> -> !tile.tile<16x32xi32, acc, valid = [5, 32], compact>
  %row = tile.create : !tile.tile<1x64xf16, left>
  // CHECK: %g = tile.gemv %row, %b : {{.*}} -> !tile.tile<16x32xf32, acc, valid = [1, 32]>
  %g = tile.gemv %row, %b : !tile.tile<1x64xf16, left>, !tile.tile<64x32xf16, right> -> !tile.tile<16x32xf32, acc, valid = [1, 32]>
  // CHECK: %g1 = tile.gemv_acc %g, %row, %b, acc_phase = final : {{.*}}right>{{$}}
  %g1 = tile.gemv_acc %g, %row, %b, acc_phase = final : !tile.tile<16x32xf32, acc, valid = [1, 32]>, !tile.tile<1x64xf16, left>, !tile.tile<64x32xf16, right>
  // CHECK: %g2 = tile.gemv_bias %row, %b, %bias : {{.*}} -> !tile.tile<16x32xf32, acc, valid = [1, 32]>
  %g2 = tile.gemv_bias %row, %b, %bias : !tile.tile<1x64xf16, left>, !tile.tile<64x32xf16, right>, !tile.tile<1x32xf32, bias> -> !tile.tile<16x32xf32, acc, valid = [1, 32]>
  %ba = tile.create : !tile.tile<4x1x16x64xf16>
  %bb = tile.create : !tile.tile<3x64x32xf16>
  // CHECK: %bm = tile.batch_matmul %ba, %bb : {{.*}} -> !tile.tile<4x3x16x32xf32>
  %bm = tile.batch_matmul %ba, %bb : !tile.tile<4x1x16x64xf16>, !tile.tile<3x64x32xf16> -> !tile.tile<4x3x16x32xf32>
  // CHECK: %bm1 = tile.batch_matmul_acc %bm, %ba, %bb : !tile.tile<4x3x16x32xf32>, !tile.tile<4x1x16x64xf16>, !tile.tile<3x64x32xf16>{{$}}
  %bm1 = tile.batch_matmul_acc %bm, %ba, %bb : !tile.tile<4x3x16x32xf32>, !tile.tile<4x1x16x64xf16>, !tile.tile<3x64x32xf16>
  orch.return
}

// CHECK-LABEL: orch.func incore @selection
orch.func incore @selection(in %k : f32) {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  %tmp = tile.create : !tile.tile<1x32xui8, vec>
  // A mask has a bit for each element, in rows of whole blocks.
  // CHECK: %m = tile.cmp %t, %t, cmp_type = lt : !tile.tile<16x64xf32, vec> -> !tile.tile<16x32xui8, vec, valid = [16, 8]>
  %m = tile.cmp %t, %t, cmp_type = lt : !tile.tile<16x64xf32, vec> -> !tile.tile<16x32xui8, vec, valid = [16, 8]>
  // CHECK: %n = tile.cmps %t, %k : !tile.tile<16x64xf32, vec>, f32 -> !tile.tile<16x32xui8, vec, valid = [16, 8]>
  %n = tile.cmps %t, %k, cmp_type = eq : !tile.tile<16x64xf32, vec>, f32 -> !tile.tile<16x32xui8, vec, valid = [16, 8]>
  // CHECK: %s = tile.sel %m, %t, %t, %tmp : {{.*}} -> !tile.tile<16x64xf32, vec>
  %s = tile.sel %m, %t, %t, %tmp : !tile.tile<16x32xui8, vec, valid = [16, 8]>, !tile.tile<16x64xf32, vec>, !tile.tile<16x64xf32, vec>, !tile.tile<1x32xui8, vec> -> !tile.tile<16x64xf32, vec>
  // CHECK: %r = tile.sels %m, %t, %tmp, %k : {{.*}} -> !tile.tile<16x64xf32, vec>
  %r = tile.sels %m, %t, %tmp, %k : !tile.tile<16x32xui8, vec, valid = [16, 8]>, !tile.tile<16x64xf32, vec>, !tile.tile<1x32xui8, vec>, f32 -> !tile.tile<16x64xf32, vec>
  // D-T5, M1: two results, inputs only; the counts are one row.
  %w = tile.create : !tile.tile<16x64xui8, vec>
  // CHECK: %d, %c = tile.gather_compare %t, %k, %w, cmp_mode = gt, offset = 4, out_cols = 8 : {{.*}} -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xi32, vec>
  %d, %c = tile.gather_compare %t, %k, %w, cmp_mode = gt, offset = 4, out_cols = 8 : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xui8, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xi32, vec>
  // D-T9: counts of another type.
  // CHECK: %e, %f = tile.gather_compare %t, %k, %w, cmp_mode = eq, out_cols = 8, count_dtype = ui32 : {{.*}} -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xui32, vec>
  %e, %f = tile.gather_compare %t, %k, %w, cmp_mode = eq, out_cols = 8, count_dtype = ui32 : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xui8, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xui32, vec>
  orch.return
}

// CHECK-LABEL: orch.func incore @gather
orch.func incore @gather(in %x : tensor<128x64xf32>, in %i : index, in %n : index,
    in %places : tensor<16x32xi32>, in %scratch : tensor<512xf32>) {
  %t = tile.create : !tile.tile<16x64xf32, vec, valid = [12, 30]>
  %ix = tile.create : !tile.tile<8x32xi32, vec, valid = [8, 20]>
  %tmp = tile.create : !tile.tile<8x32xi32, vec>
  // CHECK: %g = tile.gather %t, %ix, %tmp : {{.*}} -> !tile.tile<8x32xf32, vec, valid = [8, 20]>
  %g = tile.gather %t, %ix, %tmp : !tile.tile<16x64xf32, vec, valid = [12, 30]>, !tile.tile<8x32xi32, vec, valid = [8, 20]>, !tile.tile<8x32xi32, vec> -> !tile.tile<8x32xf32, vec, valid = [8, 20]>
  // Columns 1, 5, 9, ..., 29 of the 30 valid ones.
  // CHECK: %m = tile.gather_mask %t, mask_pattern = p0010, output_dtype = i32 : {{.*}} -> !tile.tile<16x16xi32, vec, valid = [12, 8]>
  %m = tile.gather_mask %t, mask_pattern = p0010, output_dtype = i32 : !tile.tile<16x64xf32, vec, valid = [12, 30]> -> !tile.tile<16x16xi32, vec, valid = [12, 8]>
  %off = tile.create : !tile.tile<2x8xui32, vec>
  // CHECK: %b = tile.gatherb %t, %off : {{.*}} -> !tile.tile<2x64xf32, vec>
  %b = tile.gatherb %t, %off : !tile.tile<16x64xf32, vec, valid = [12, 30]>, !tile.tile<2x8xui32, vec> -> !tile.tile<2x64xf32, vec>
  // CHECK: %r = tile.gather_row %t[%i, 0], %x[0, %i], sizes = [1, 64], valid = [1, %n] : !tile.tile<16x64xf32, vec, valid = [12, 30]>, tensor<128x64xf32>{{$}}
  %r = tile.gather_row %t[%i, 0], %x[0, %i], sizes = [1, 64], valid = [1, %n] : !tile.tile<16x64xf32, vec, valid = [12, 30]>, tensor<128x64xf32>
  // CHECK: %u = tile.gather_row %t[0, %i], %x[0, 0], sizes = [1, 16], transpose = true : {{.*}}
  %u = tile.gather_row %t[0, %i], %x[0, 0], sizes = [1, 16], transpose = true : !tile.tile<16x64xf32, vec, valid = [12, 30]>, tensor<128x64xf32>
  %rows = tile.create : !tile.tile<1x16xi32, vec>
  // CHECK: %mg = tile.mgather %x, %rows, gather_oob = clamp : tensor<128x64xf32>, !tile.tile<1x16xi32, vec> -> !tile.tile<16x64xf32, vec>
  %mg = tile.mgather %x, %rows, gather_oob = clamp : tensor<128x64xf32>, !tile.tile<1x16xi32, vec> -> !tile.tile<16x64xf32, vec>
  // What goes to L1 is selected by indices in global memory, and elements pass through scratch there.
  // CHECK: %me = tile.mgather %x, %places, %scratch, coalesce = elem : {{.*}} -> !tile.tile<16x32xf32, mat>
  %me = tile.mgather %x, %places, %scratch, coalesce = elem : tensor<128x64xf32>, tensor<16x32xi32>, tensor<512xf32> -> !tile.tile<16x32xf32, mat>
  orch.return
}

// CHECK-LABEL: orch.func incore @scatter
orch.func incore @scatter(out %y : tensor<128x64xf32>) -> tensor<128x64xf32> {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  %s = tile.create : !tile.tile<8x32xf32, vec>
  %ix = tile.create : !tile.tile<8x32xi32, vec>
  // CHECK: %a = tile.scatter %t, %s, %ix : !tile.tile<16x64xf32, vec>, !tile.tile<8x32xf32, vec>, !tile.tile<8x32xi32, vec>{{$}}
  %a = tile.scatter %t, %s, %ix : !tile.tile<16x64xf32, vec>, !tile.tile<8x32xf32, vec>, !tile.tile<8x32xi32, vec>
  %h = tile.create : !tile.tile<16x32xf32, vec>
  // CHECK: %b = tile.scatter_mask %t, %h, mask_pattern = p1010 : !tile.tile<16x64xf32, vec>, !tile.tile<16x32xf32, vec>{{$}}
  %b = tile.scatter_mask %t, %h, mask_pattern = p1010 : !tile.tile<16x64xf32, vec>, !tile.tile<16x32xf32, vec>
  %rows = tile.create : !tile.tile<1x4xi32, vec>
  %src = tile.create : !tile.tile<4x64xf32, vec>
  // CHECK: %c = tile.scatter_update %t, %rows, %src : !tile.tile<16x64xf32, vec>, !tile.tile<1x4xi32, vec>, !tile.tile<4x64xf32, vec>{{$}}
  %c = tile.scatter_update %t, %rows, %src : !tile.tile<16x64xf32, vec>, !tile.tile<1x4xi32, vec>, !tile.tile<4x64xf32, vec>
  // CHECK: %y1 = tile.mscatter %s, %ix, %y : !tile.tile<8x32xf32, vec>, !tile.tile<8x32xi32, vec>, tensor<128x64xf32>{{$}}
  %y1 = tile.mscatter %s, %ix, %y : !tile.tile<8x32xf32, vec>, !tile.tile<8x32xi32, vec>, tensor<128x64xf32>
  orch.return %y1 : tensor<128x64xf32>
}

// CHECK-LABEL: orch.func incore @sort
orch.func incore @sort(in %n : i32) {
  %t = tile.create : !tile.tile<1x64xf32, vec>
  %ix = tile.create : !tile.tile<1x64xui32, vec>
  // A pair takes eight bytes.
  // CHECK: %s = tile.sort32 %t, %ix : {{.*}} -> !tile.tile<1x128xf32, vec>
  %s = tile.sort32 %t, %ix : !tile.tile<1x64xf32, vec>, !tile.tile<1x64xui32, vec> -> !tile.tile<1x128xf32, vec>
  %h = tile.create : !tile.tile<1x64xf16, vec>
  // CHECK: %sh = tile.sort32 %h, %ix : {{.*}} -> !tile.tile<1x256xf16, vec>
  %sh = tile.sort32 %h, %ix : !tile.tile<1x64xf16, vec>, !tile.tile<1x64xui32, vec> -> !tile.tile<1x256xf16, vec>
  // CHECK: %m = tile.mrgsort_format1 %s, %n : !tile.tile<1x128xf32, vec>, i32
  %m = tile.mrgsort_format1 %s, %n : !tile.tile<1x128xf32, vec>, i32
  %tmp = tile.create : !tile.tile<1x256xf32, vec>
  // CHECK: %two = tile.mrgsort_format2 %s, %s, %tmp : {{.*}} -> !tile.tile<1x256xf32, vec>
  %two = tile.mrgsort_format2 %s, %s, %tmp : !tile.tile<1x128xf32, vec>, !tile.tile<1x128xf32, vec>, !tile.tile<1x256xf32, vec> -> !tile.tile<1x256xf32, vec>
  // CHECK: %three = tile.mrgsort_format2 %s, %s, %tmp, %s, exhausted = true : {{.*}} -> !tile.tile<1x256xf32, vec>
  %three = tile.mrgsort_format2 %s, %s, %tmp, %s, exhausted = true : !tile.tile<1x128xf32, vec>, !tile.tile<1x128xf32, vec>, !tile.tile<1x256xf32, vec>, !tile.tile<1x128xf32, vec> -> !tile.tile<1x256xf32, vec>
  orch.return
}

// CHECK-LABEL: orch.func incore @cross_core
orch.func incore @cross_core(in %n : index) {
  %acc = tile.create : !tile.tile<16x32xf32, acc, valid = [15, 32]>
  // CHECK: %half = tile.aiv_shard %acc, split = up_down : {{.*}} -> !tile.tile<8x32xf32, vec>
  %half = tile.aiv_shard %acc, split = up_down : !tile.tile<16x32xf32, acc, valid = [15, 32]> -> !tile.tile<8x32xf32, vec>
  // CHECK: %whole = tile.aic_gather %half, split = left_right : !tile.tile<8x32xf32, vec> -> !tile.tile<8x64xf32, mat>
  %whole = tile.aic_gather %half, split = left_right : !tile.tile<8x32xf32, vec> -> !tile.tile<8x64xf32, mat>
  // CHECK: %base = tile.reserve_buffer buffer = "ring", size = 4096 : i32
  %base = tile.reserve_buffer buffer = "ring", size = 4096 : i32
  // CHECK: %peer = tile.import_peer_buffer buffer = "ring", peer_func = "cube" : i32
  %peer = tile.import_peer_buffer buffer = "ring", peer_func = "cube" : i32
  // CHECK: tile.aiv_initialize_pipe %base, %peer, dir_mask = 3, slot_size = 1024, slot_num = 8 : i32
  tile.aiv_initialize_pipe %base, %peer, dir_mask = 3, slot_size = 1024, slot_num = 8 : i32
  // CHECK: tile.aic_initialize_pipe dir_mask = 1, slot_size = 1024
  tile.aic_initialize_pipe dir_mask = 1, slot_size = 1024
  // CHECK: tile.tpush_to_aiv %acc, split = up_down_odd, id = 1 : !tile.tile<16x32xf32, acc, valid = [15, 32]>
  tile.tpush_to_aiv %acc, split = up_down_odd, id = 1 : !tile.tile<16x32xf32, acc, valid = [15, 32]>
  // CHECK: %popped = tile.tpop_from_aic split = up_down : !tile.tile<8x32xf32, vec>
  %popped = tile.tpop_from_aic split = up_down : !tile.tile<8x32xf32, vec>
  // CHECK: %narrow = tile.tpop_from_aic valid = [%n, 32], split = up_down_odd : !tile.tile<8x32xf32, vec, valid = [?, 32]>
  %narrow = tile.tpop_from_aic valid = [%n, 32], split = up_down_odd : !tile.tile<8x32xf32, vec, valid = [?, 32]>
  // CHECK: tile.tfree_to_aic %popped : !tile.tile<8x32xf32, vec>
  tile.tfree_to_aic %popped : !tile.tile<8x32xf32, vec>
  // CHECK: tile.tpush_to_aic %half : !tile.tile<8x32xf32, vec>
  tile.tpush_to_aic %half : !tile.tile<8x32xf32, vec>
  // CHECK: %q = tile.tpop_from_aiv : !tile.tile<8x32xf32, mat>
  %q = tile.tpop_from_aiv : !tile.tile<8x32xf32, mat>
  // CHECK: tile.tfree_to_aiv %q : !tile.tile<8x32xf32, mat>
  tile.tfree_to_aiv %q : !tile.tile<8x32xf32, mat>
  orch.return
}

// CHECK-LABEL: orch.func incore @sync
orch.func incore @sync(in %ws : tensor<16xi32>, in %i : index, in %e : i32) {
  // CHECK-NEXT: tile.bar_all
  tile.bar_all
  // CHECK-NEXT: tile.bar_m
  tile.bar_m
  // CHECK-NEXT: tile.bar_v
  tile.bar_v
  // CHECK-NEXT: tile.fence
  tile.fence
  // CHECK-NEXT: tile.cacheinvalid{{$}}
  tile.cacheinvalid
  // CHECK-NEXT: tile.cacheinvalid %ws[%i], sizes = [8] : tensor<16xi32>
  tile.cacheinvalid %ws[%i], sizes = [8] : tensor<16xi32>
  // CHECK-NEXT: tile.sync_src set_pipe = mte2, wait_pipe = v, event_id = 3
  tile.sync_src set_pipe = mte2, wait_pipe = v, event_id = 3
  // CHECK-NEXT: tile.sync_dst set_pipe = mte2, wait_pipe = v, event_id = 3
  tile.sync_dst set_pipe = mte2, wait_pipe = v, event_id = 3
  // CHECK-NEXT: tile.sync_set ffts_mode = 2, pipe = fix, event_id = 0
  tile.sync_set ffts_mode = 2, pipe = fix, event_id = 0
  // CHECK-NEXT: tile.sync_wait %e, pipe = mte2, event_id = 0, core_type = cube : i32
  tile.sync_wait %e, pipe = mte2, event_id = 0, core_type = cube : i32
  // CHECK-NEXT: tile.set_ffts %ws : tensor<16xi32>
  tile.set_ffts %ws : tensor<16xi32>
  // CHECK-NEXT: tile.syncall{{$}}
  tile.syncall
  // CHECK-NEXT: tile.syncall %ws, %e, core_type = vector, mode = soft : tensor<16xi32>, i32
  tile.syncall %ws, %e, core_type = vector, mode = soft : tensor<16xi32>, i32
  // What follows an op of which nothing is written is the next one.
  // CHECK-NEXT: tile.syncall{{$}}
  tile.syncall
  // CHECK-NEXT: %b = tile.get_block_idx : index
  %b = tile.get_block_idx : index
  // CHECK-NEXT: tile.bar_all{{$}}
  tile.bar_all
  // CHECK-NEXT: %n = tile.get_block_num : index
  %n = tile.get_block_num : index
  // CHECK-NEXT: %s = tile.get_subblock_idx : index
  %s = tile.get_subblock_idx : index
  orch.return
}

// Tiles are kept in buffers where the program says so.
// CHECK-LABEL: orch.func incore @storage
orch.func incore @storage(in %i : index) {
  // CHECK: %two = tile.alloc buffer = "two", slots = 2, pinned : !tile.buffer
  %two = tile.alloc buffer = "two", slots = 2, pinned : !tile.buffer
  // CHECK-NEXT: %one = tile.alloc buffer = "one", space = vec, size = 4096 : !tile.buffer
  %one = tile.alloc buffer = "one", space = vec, size = 4096 : !tile.buffer
  // CHECK-NEXT: %t = tile.create : !tile.tile<16x64xf32, vec>
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // CHECK-NEXT: %p = tile.place %t, %two[%i], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
  %p = tile.place %t, %two[%i], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
  // CHECK-NEXT: %q = tile.place %t, %one[0], size = 4096 : !tile.tile<16x64xf32, vec>, !tile.buffer
  %q = tile.place %t, %one[0], size = 4096 : !tile.tile<16x64xf32, vec>, !tile.buffer
  orch.return
}
