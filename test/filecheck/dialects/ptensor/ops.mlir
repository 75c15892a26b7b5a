// Ops on tensors other than the elementwise ones, in custom form, in generic form, and from one to
// the other.

// RUN: pypto-opt %s | pypto-opt | filecheck %s
// RUN: pypto-opt %s --print-op-generic | pypto-opt | filecheck %s

// CHECK-LABEL: orch.func orchestration @memory
orch.func orchestration @memory(in %x : tensor<128x64xf32>, out %y : tensor<128x64xf32>, in %i : index, in %n : index, in %k : f32) -> tensor<128x64xf32> {
  // CHECK: %c = ptensor.create : tensor<16x64xf32>
  %c = ptensor.create : tensor<16x64xf32>
  // CHECK: %cn = ptensor.create sizes = [%n, 64] : tensor<?x64xf32, #ptensor.view<dims = [N, _]>>
  %cn = ptensor.create sizes = [%n, 64] : tensor<?x64xf32, #ptensor.view<dims = [N, _]>>
  // CHECK: %f = ptensor.full %k : f32 -> tensor<16x64xf32>
  %f = ptensor.full %k : f32 -> tensor<16x64xf32>
  // CHECK: %s = ptensor.slice %x[%i, 0] : tensor<128x64xf32> -> tensor<16x64xf32>
  %s = ptensor.slice %x[%i, 0] : tensor<128x64xf32> -> tensor<16x64xf32>
  // CHECK: %r = ptensor.reshape %c : tensor<16x64xf32> -> tensor<1024xf32>
  %r = ptensor.reshape %c : tensor<16x64xf32> -> tensor<1024xf32>
  // CHECK: %t = ptensor.type_cast %cn : {{.*}} -> tensor<?x64xf32>
  %t = ptensor.type_cast %cn : tensor<?x64xf32, #ptensor.view<dims = [N, _]>> -> tensor<?x64xf32>
  // CHECK: %v = ptensor.set_validshape %c, valid = [%n, 64] : {{.*}} -> tensor<16x64xf32, #ptensor.view<valid = [?, 64]>>
  %v = ptensor.set_validshape %c, valid = [%n, 64] : tensor<16x64xf32> -> tensor<16x64xf32, #ptensor.view<valid = [?, 64]>>
  // CHECK: %d = ptensor.dim %t, axis = 0 : tensor<?x64xf32> -> index
  %d = ptensor.dim %t, axis = 0 : tensor<?x64xf32> -> index
  // CHECK: %e = ptensor.read %x[%i, 1] : tensor<128x64xf32> -> f32
  %e = ptensor.read %x[%i, 1] : tensor<128x64xf32> -> f32
  // CHECK: %y1 = ptensor.write %e, %y[0, %i] : f32, tensor<128x64xf32>
  %y1 = ptensor.write %e, %y[0, %i] : f32, tensor<128x64xf32>
  // CHECK: %y2 = ptensor.assemble %s, %y1[%i, 0], atomic = add : tensor<16x64xf32>, tensor<128x64xf32>
  %y2 = ptensor.assemble %s, %y1[%i, 0], atomic = add : tensor<16x64xf32>, tensor<128x64xf32>
  // CHECK: %y3 = ptensor.updated %y2, %e1 : tensor<128x64xf32>, tensor<16x64xf32>
  %e0 = ptensor.slice %y2[%i, 0] : tensor<128x64xf32> -> tensor<16x64xf32>
  %e1 = ptensor.assemble %s, %e0[0, 0] : tensor<16x64xf32>, tensor<16x64xf32>
  %y3 = ptensor.updated %y2, %e1 : tensor<128x64xf32>, tensor<16x64xf32>
  // CHECK: %y4 = ptensor.updated %y3 : tensor<128x64xf32>
  %y4 = ptensor.updated %y3 : tensor<128x64xf32>
  // CHECK: %l1 = ptensor.create_l1 transpose = true : tensor<64x64xf16>
  %l1 = ptensor.create_l1 transpose = true : tensor<64x64xf16>
  orch.return %y2 : tensor<128x64xf32>
}

// CHECK-LABEL: orch.func orchestration @views
orch.func orchestration @views(in %x : tensor<16x64xf32>, in %z : tensor<2x16x64xf32>, out %y : tensor<2x16x64xf32>, in %n : index) {
  // The transpose of a packed row-major tensor is packed column-major, and back.
  // CHECK: %t = ptensor.transpose %x : tensor<16x64xf32> -> tensor<64x16xf32, #ptensor.view<layout = dn>>
  %t = ptensor.transpose %x : tensor<16x64xf32> -> tensor<64x16xf32, #ptensor.view<layout = dn>>
  // CHECK: %u = ptensor.transpose %t : {{.*}} -> tensor<16x64xf32>
  %u = ptensor.transpose %t : tensor<64x16xf32, #ptensor.view<layout = dn>> -> tensor<16x64xf32>
  // Other axes take their strides with them.
  // CHECK: %o = ptensor.transpose %z : {{.*}} -> tensor<16x2x64xf32, #ptensor.view<strides = [64, 1024, 1]>>
  %o = ptensor.transpose %z : tensor<2x16x64xf32> -> tensor<16x2x64xf32, #ptensor.view<strides = [64, 1024, 1]>>
  // CHECK: %v = ptensor.view %x : tensor<16x64xf32> -> tensor<16x64xf32, #ptensor.view<layout = dn>>
  %v = ptensor.view %x : tensor<16x64xf32> -> tensor<16x64xf32, #ptensor.view<layout = dn>>
  // CHECK: %w = ptensor.view %x, sizes = [%n, 8] : tensor<16x64xf32> -> tensor<?x8xf32>
  %w = ptensor.view %x, sizes = [%n, 8] : tensor<16x64xf32> -> tensor<?x8xf32>
  // CHECK: %r = ptensor.reinterpret_view %x : tensor<16x64xf32> -> tensor<16x128xi16>
  %r = ptensor.reinterpret_view %x : tensor<16x64xf32> -> tensor<16x128xi16>
  %s = ptensor.create : tensor<2x1x64xf32>
  // CHECK: %c = ptensor.expand_clone %s, %y : tensor<2x1x64xf32>, tensor<2x16x64xf32>{{$}}
  %c = ptensor.expand_clone %s, %y : tensor<2x1x64xf32>, tensor<2x16x64xf32>
  orch.return
}

// CHECK-LABEL: orch.func orchestration @matmul
orch.func orchestration @matmul(in %a : tensor<16x64xf16>, in %b : tensor<32x64xf16>, in %v : tensor<64xf16>, in %batch : tensor<4x64x32xf16>, in %first : i1) {
  // CHECK: %m = ptensor.matmul %a, %b, out_dtype = f32, b_trans = true : {{.*}} -> tensor<16x32xf32>
  %m = ptensor.matmul %a, %b, out_dtype = f32, b_trans = true : tensor<16x64xf16>, tensor<32x64xf16> -> tensor<16x32xf32>
  // CHECK: %n = ptensor.matmul %a, %b, b_trans = true, c_matrix_nz = true : {{.*}} -> tensor<16x32xf16, #ptensor.view<layout = nz>>
  %n = ptensor.matmul %a, %b, b_trans = true, c_matrix_nz = true : tensor<16x64xf16>, tensor<32x64xf16> -> tensor<16x32xf16, #ptensor.view<layout = nz>>
  // A vector has no dimension in the result.
  // CHECK: %mv = ptensor.matmul %a, %v : {{.*}} -> tensor<16xf16>
  %mv = ptensor.matmul %a, %v : tensor<16x64xf16>, tensor<64xf16> -> tensor<16xf16>
  // CHECK: %vv = ptensor.matmul %v, %v : tensor<64xf16> -> tensor<f16>
  %vv = ptensor.matmul %v, %v : tensor<64xf16> -> tensor<f16>
  // CHECK: %mb = ptensor.matmul %a, %batch : {{.*}} -> tensor<4x16x32xf16>
  %mb = ptensor.matmul %a, %batch : tensor<16x64xf16>, tensor<4x64x32xf16> -> tensor<4x16x32xf16>
  // CHECK: %acc = ptensor.matmul_acc %m, %a, %b, %first, b_trans = true : tensor<16x32xf32>, tensor<16x64xf16>, tensor<32x64xf16>, i1{{$}}
  %acc = ptensor.matmul_acc %m, %a, %b, %first, b_trans = true : tensor<16x32xf32>, tensor<16x64xf16>, tensor<32x64xf16>, i1
  orch.return
}

// CHECK-LABEL: orch.func orchestration @fill
orch.func orchestration @fill(in %x : tensor<16x64xf32, #ptensor.view<valid = [12, 60]>>, in %k : f32, in %i : i32) {
  // CHECK: %p = ptensor.fillpad %x, pad_value = min : {{.*}} -> tensor<16x64xf32, #ptensor.view<pad = min>>
  %p = ptensor.fillpad %x, pad_value = min : tensor<16x64xf32, #ptensor.view<valid = [12, 60]>> -> tensor<16x64xf32, #ptensor.view<pad = min>>
  // CHECK: %e = ptensor.fillpad_expand %x : {{.*}} -> tensor<32x64xf32, #ptensor.view<pad = zero>>
  %e = ptensor.fillpad_expand %x : tensor<16x64xf32, #ptensor.view<valid = [12, 60]>> -> tensor<32x64xf32, #ptensor.view<pad = zero>>
  // CHECK: %s = ptensor.expands %x, %k : tensor<16x64xf32, #ptensor.view<valid = [12, 60]>>, f32
  %s = ptensor.expands %x, %k : tensor<16x64xf32, #ptensor.view<valid = [12, 60]>>, f32
  // CHECK: %c = ptensor.ci %i : i32 -> tensor<1x64xi32>
  %c = ptensor.ci %i : i32 -> tensor<1x64xi32>
  %y = ptensor.create : tensor<16x32xf32>
  %z = ptensor.create : tensor<16x8xf32>
  // CHECK: %cc = ptensor.concat %y, %z : {{.*}} -> tensor<16x40xf32>
  %cc = ptensor.concat %y, %z : tensor<16x32xf32>, tensor<16x8xf32> -> tensor<16x40xf32>
  orch.return
}

// CHECK-LABEL: orch.func orchestration @selection
orch.func orchestration @selection(in %x : tensor<16x64xf32>, in %row : tensor<1x64xf32>, in %k : f32) {
  // CHECK: %c = ptensor.cmp %x, %row, cmp_type = ge : tensor<16x64xf32>, tensor<1x64xf32>{{$}}
  %c = ptensor.cmp %x, %row, cmp_type = ge : tensor<16x64xf32>, tensor<1x64xf32>
  // CHECK: %s = ptensor.cmps %x, %k, cmp_type = ne : tensor<16x64xf32>, f32{{$}}
  %s = ptensor.cmps %x, %k, cmp_type = ne : tensor<16x64xf32>, f32
  // D-T13: the two results of a tensor-level compare-gather.
  // CHECK: %d, %n = ptensor.gather_compare %x, %k, cmp_mode = gt, offset = 4, out_cols = 8 : {{.*}} -> tensor<16x8xi32>, tensor<1x16xi32>
  %d, %n = ptensor.gather_compare %x, %k, cmp_mode = gt, offset = 4, out_cols = 8 : tensor<16x64xf32>, f32 -> tensor<16x8xi32>, tensor<1x16xi32>
  orch.return
}

// CHECK-LABEL: orch.func orchestration @gather
orch.func orchestration @gather(in %x : tensor<16x64xf32>, in %ix : tensor<16x8xi32>, in %table : tensor<8xi32>, in %i : index) {
  // CHECK: %g = ptensor.gather %x, %ix : {{.*}} -> tensor<16x8xf32>
  %g = ptensor.gather %x, %ix : tensor<16x64xf32>, tensor<16x8xi32> -> tensor<16x8xf32>
  // CHECK: %h = ptensor.gather %x, %ix, dim = 0 : {{.*}} -> tensor<16x8xf32>
  %h = ptensor.gather %x, %ix, dim = 0 : tensor<16x64xf32>, tensor<16x8xi32> -> tensor<16x8xf32>
  // CHECK: %m = ptensor.gather_mask %x, mask_pattern = p0101 : tensor<16x64xf32> -> tensor<16x32xf32>
  %m = ptensor.gather_mask %x, mask_pattern = p0101 : tensor<16x64xf32> -> tensor<16x32xf32>
  // CHECK: %r = ptensor.gather_row %m[0, 0], %x[%i, 0], sizes = [1, 32] : tensor<16x32xf32>, tensor<16x64xf32>{{$}}
  %r = ptensor.gather_row %m[0, 0], %x[%i, 0], sizes = [1, 32] : tensor<16x32xf32>, tensor<16x64xf32>
  // CHECK: %p = ptensor.paged_gather %x, %table, %table, block_size = 4, size = 32, max_indices = 8, col_off = 8 : {{.*}} -> tensor<8x32xf32>
  %p = ptensor.paged_gather %x, %table, %table, block_size = 4, size = 32, max_indices = 8, col_off = 8 : tensor<16x64xf32>, tensor<8xi32>, tensor<8xi32> -> tensor<8x32xf32>
  // CHECK: %s = ptensor.scatter %x, %ix, %g : tensor<16x64xf32>, tensor<16x8xi32>, tensor<16x8xf32>{{$}}
  %s = ptensor.scatter %x, %ix, %g : tensor<16x64xf32>, tensor<16x8xi32>, tensor<16x8xf32>
  // CHECK: %sm = ptensor.scatter_mask %m, %x, mask_pattern = p1010 : tensor<16x32xf32>, tensor<16x64xf32>{{$}}
  %sm = ptensor.scatter_mask %m, %x, mask_pattern = p1010 : tensor<16x32xf32>, tensor<16x64xf32>
  // CHECK: %su = ptensor.scatter_update %x, %table, %rows : tensor<16x64xf32>, tensor<8xi32>, tensor<8x64xf32>{{$}}
  %rows = ptensor.create : tensor<8x64xf32>
  %su = ptensor.scatter_update %x, %table, %rows : tensor<16x64xf32>, tensor<8xi32>, tensor<8x64xf32>
  orch.return
}

// CHECK-LABEL: orch.func orchestration @sort
orch.func orchestration @sort(in %x : tensor<1x64xf16>, in %ix : tensor<1x64xui32>, in %n : i32) {
  // CHECK: %s = ptensor.sort32 %x, %ix : {{.*}} -> tensor<1x256xf16>
  %s = ptensor.sort32 %x, %ix : tensor<1x64xf16>, tensor<1x64xui32> -> tensor<1x256xf16>
  // CHECK: %m = ptensor.mrgsort_format1 %s, %n : tensor<1x256xf16>, i32{{$}}
  %m = ptensor.mrgsort_format1 %s, %n : tensor<1x256xf16>, i32
  // CHECK: %f = ptensor.mrgsort_format2 %s, %m, %s, exhausted = true : tensor<1x256xf16> -> tensor<1x768xf16>
  %f = ptensor.mrgsort_format2 %s, %m, %s, exhausted = true : tensor<1x256xf16> -> tensor<1x768xf16>
  orch.return
}

// CHECK-LABEL: orch.func incore @grid
orch.func incore @grid(in %x : tensor<15x64xf32>) {
  // CHECK: %b = ptensor.get_block_idx : index
  %b = ptensor.get_block_idx : index
  // CHECK: %n = ptensor.get_block_num : index
  %n = ptensor.get_block_num : index
  // CHECK: %s = ptensor.get_subblock_idx : index
  %s = ptensor.get_subblock_idx : index
  // CHECK: %h = ptensor.aiv_shard %x, split = up_down : tensor<15x64xf32> -> tensor<8x64xf32>
  %h = ptensor.aiv_shard %x, split = up_down : tensor<15x64xf32> -> tensor<8x64xf32>
  // CHECK: %w = ptensor.aic_gather %h, split = left_right : tensor<8x64xf32> -> tensor<8x128xf32>
  %w = ptensor.aic_gather %h, split = left_right : tensor<8x64xf32> -> tensor<8x128xf32>
  orch.return
}
