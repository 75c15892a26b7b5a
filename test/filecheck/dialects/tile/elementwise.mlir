// The elementwise ops, reductions and expansions, in custom form, in generic form, and from one to
// the other.

// RUN: pypto-opt %s | pypto-opt | filecheck %s
// RUN: pypto-opt %s --print-op-generic | pypto-opt | filecheck %s

// CHECK-LABEL: orch.func incore @binary
orch.func incore @binary() {
  // CHECK: %t = tile.create : !tile.tile<16x64xf32, vec>{{$}}
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // CHECK: %i = tile.create : !tile.tile<16x64xi16, vec>{{$}}
  %i = tile.create : !tile.tile<16x64xi16, vec>
  // CHECK: %c = tile.create : !tile.tile<16x1xf32, vec>{{$}}
  %c = tile.create : !tile.tile<16x1xf32, vec>
  // CHECK: %r = tile.create : !tile.tile<1x64xf32, vec>{{$}}
  %r = tile.create : !tile.tile<1x64xf32, vec>
  // CHECK: %v1 = tile.add %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v1 = tile.add %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v2 = tile.sub %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v2 = tile.sub %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v3 = tile.mul %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v3 = tile.mul %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v4 = tile.div %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v4 = tile.div %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v5 = tile.maximum %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v5 = tile.maximum %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v6 = tile.minimum %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v6 = tile.minimum %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v7 = tile.fmod %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v7 = tile.fmod %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v8 = tile.part_add %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v8 = tile.part_add %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v9 = tile.part_mul %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v9 = tile.part_mul %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v10 = tile.part_max %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v10 = tile.part_max %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v11 = tile.part_min %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v11 = tile.part_min %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v12 = tile.and %i, %i : !tile.tile<16x64xi16, vec>{{$}}
  %v12 = tile.and %i, %i : !tile.tile<16x64xi16, vec>
  // CHECK: %v13 = tile.or %i, %i : !tile.tile<16x64xi16, vec>{{$}}
  %v13 = tile.or %i, %i : !tile.tile<16x64xi16, vec>
  // CHECK: %v14 = tile.shl %i, %i : !tile.tile<16x64xi16, vec>{{$}}
  %v14 = tile.shl %i, %i : !tile.tile<16x64xi16, vec>
  // CHECK: %v15 = tile.shr %i, %i : !tile.tile<16x64xi16, vec>{{$}}
  %v15 = tile.shr %i, %i : !tile.tile<16x64xi16, vec>
  // CHECK: %v16 = tile.rem %t, %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v16 = tile.rem %t, %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v17 = tile.xor %i, %i, %i : !tile.tile<16x64xi16, vec>{{$}}
  %v17 = tile.xor %i, %i, %i : !tile.tile<16x64xi16, vec>
  // CHECK: %v18 = tile.div %t, %t, high_precision = true : !tile.tile<16x64xf32, vec>{{$}}
  %v18 = tile.div %t, %t, high_precision = true : !tile.tile<16x64xf32, vec>
  orch.return
}

// CHECK-LABEL: orch.func incore @scalar
orch.func incore @scalar(in %k: f32, in %n: i16) {
  // CHECK: %t = tile.create : !tile.tile<16x64xf32, vec>{{$}}
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // CHECK: %i = tile.create : !tile.tile<16x64xi16, vec>{{$}}
  %i = tile.create : !tile.tile<16x64xi16, vec>
  // CHECK: %c = tile.create : !tile.tile<16x1xf32, vec>{{$}}
  %c = tile.create : !tile.tile<16x1xf32, vec>
  // CHECK: %r = tile.create : !tile.tile<1x64xf32, vec>{{$}}
  %r = tile.create : !tile.tile<1x64xf32, vec>
  // CHECK: %v19 = tile.adds %t, %k : !tile.tile<16x64xf32, vec>, f32{{$}}
  %v19 = tile.adds %t, %k : !tile.tile<16x64xf32, vec>, f32
  // CHECK: %v20 = tile.subs %t, %k : !tile.tile<16x64xf32, vec>, f32{{$}}
  %v20 = tile.subs %t, %k : !tile.tile<16x64xf32, vec>, f32
  // CHECK: %v21 = tile.muls %t, %k : !tile.tile<16x64xf32, vec>, f32{{$}}
  %v21 = tile.muls %t, %k : !tile.tile<16x64xf32, vec>, f32
  // CHECK: %v22 = tile.divs %t, %k : !tile.tile<16x64xf32, vec>, f32{{$}}
  %v22 = tile.divs %t, %k : !tile.tile<16x64xf32, vec>, f32
  // CHECK: %v23 = tile.maximums %t, %k : !tile.tile<16x64xf32, vec>, f32{{$}}
  %v23 = tile.maximums %t, %k : !tile.tile<16x64xf32, vec>, f32
  // CHECK: %v24 = tile.minimums %t, %k : !tile.tile<16x64xf32, vec>, f32{{$}}
  %v24 = tile.minimums %t, %k : !tile.tile<16x64xf32, vec>, f32
  // CHECK: %v25 = tile.fmods %t, %k : !tile.tile<16x64xf32, vec>, f32{{$}}
  %v25 = tile.fmods %t, %k : !tile.tile<16x64xf32, vec>, f32
  // CHECK: %v26 = tile.lrelu %t, %k : !tile.tile<16x64xf32, vec>, f32{{$}}
  %v26 = tile.lrelu %t, %k : !tile.tile<16x64xf32, vec>, f32
  // CHECK: %v27 = tile.ands %i, %n : !tile.tile<16x64xi16, vec>, i16{{$}}
  %v27 = tile.ands %i, %n : !tile.tile<16x64xi16, vec>, i16
  // CHECK: %v28 = tile.ors %i, %n : !tile.tile<16x64xi16, vec>, i16{{$}}
  %v28 = tile.ors %i, %n : !tile.tile<16x64xi16, vec>, i16
  // CHECK: %v29 = tile.shls %i, %n : !tile.tile<16x64xi16, vec>, i16{{$}}
  %v29 = tile.shls %i, %n : !tile.tile<16x64xi16, vec>, i16
  // CHECK: %v30 = tile.shrs %i, %n : !tile.tile<16x64xi16, vec>, i16{{$}}
  %v30 = tile.shrs %i, %n : !tile.tile<16x64xi16, vec>, i16
  // CHECK: %v31 = tile.rems %t, %k, %t : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xf32, vec>{{$}}
  %v31 = tile.rems %t, %k, %t : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xf32, vec>
  // CHECK: %v32 = tile.xors %i, %n, %i : !tile.tile<16x64xi16, vec>, i16, !tile.tile<16x64xi16, vec>{{$}}
  %v32 = tile.xors %i, %n, %i : !tile.tile<16x64xi16, vec>, i16, !tile.tile<16x64xi16, vec>
  orch.return
}

// CHECK-LABEL: orch.func incore @ternary
orch.func incore @ternary(in %k: f32) {
  // CHECK: %t = tile.create : !tile.tile<16x64xf32, vec>{{$}}
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // CHECK: %i = tile.create : !tile.tile<16x64xi16, vec>{{$}}
  %i = tile.create : !tile.tile<16x64xi16, vec>
  // CHECK: %c = tile.create : !tile.tile<16x1xf32, vec>{{$}}
  %c = tile.create : !tile.tile<16x1xf32, vec>
  // CHECK: %r = tile.create : !tile.tile<1x64xf32, vec>{{$}}
  %r = tile.create : !tile.tile<1x64xf32, vec>
  // CHECK: %v33 = tile.addc %t, %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v33 = tile.addc %t, %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v34 = tile.subc %t, %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v34 = tile.subc %t, %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v35 = tile.addsc %t, %k, %t : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xf32, vec>{{$}}
  %v35 = tile.addsc %t, %k, %t : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xf32, vec>
  // CHECK: %v36 = tile.subsc %t, %k, %t : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xf32, vec>{{$}}
  %v36 = tile.subsc %t, %k, %t : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xf32, vec>
  // CHECK: %m = tile.create : !tile.tile<17x32xui8, vec>{{$}}
  %m = tile.create : !tile.tile<17x32xui8, vec>
  // CHECK: %v37 = tile.prelu %t, %t, %m : !tile.tile<16x64xf32, vec>, !tile.tile<16x64xf32, vec>, !tile.tile<17x32xui8, vec>{{$}}
  %v37 = tile.prelu %t, %t, %m : !tile.tile<16x64xf32, vec>, !tile.tile<16x64xf32, vec>, !tile.tile<17x32xui8, vec>
  orch.return
}

// CHECK-LABEL: orch.func incore @unary
orch.func incore @unary() {
  // CHECK: %t = tile.create : !tile.tile<16x64xf32, vec>{{$}}
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // CHECK: %i = tile.create : !tile.tile<16x64xi16, vec>{{$}}
  %i = tile.create : !tile.tile<16x64xi16, vec>
  // CHECK: %c = tile.create : !tile.tile<16x1xf32, vec>{{$}}
  %c = tile.create : !tile.tile<16x1xf32, vec>
  // CHECK: %r = tile.create : !tile.tile<1x64xf32, vec>{{$}}
  %r = tile.create : !tile.tile<1x64xf32, vec>
  // CHECK: %v38 = tile.abs %t : !tile.tile<16x64xf32, vec>{{$}}
  %v38 = tile.abs %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v39 = tile.exp %t : !tile.tile<16x64xf32, vec>{{$}}
  %v39 = tile.exp %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v40 = tile.log %t : !tile.tile<16x64xf32, vec>{{$}}
  %v40 = tile.log %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v41 = tile.neg %t : !tile.tile<16x64xf32, vec>{{$}}
  %v41 = tile.neg %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v42 = tile.recip %t : !tile.tile<16x64xf32, vec>{{$}}
  %v42 = tile.recip %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v43 = tile.relu %t : !tile.tile<16x64xf32, vec>{{$}}
  %v43 = tile.relu %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v44 = tile.sqrt %t : !tile.tile<16x64xf32, vec>{{$}}
  %v44 = tile.sqrt %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v45 = tile.rsqrt %t : !tile.tile<16x64xf32, vec>{{$}}
  %v45 = tile.rsqrt %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v46 = tile.sin %t : !tile.tile<16x64xf32, vec>{{$}}
  %v46 = tile.sin %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v47 = tile.cos %t : !tile.tile<16x64xf32, vec>{{$}}
  %v47 = tile.cos %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v48 = tile.not %i : !tile.tile<16x64xi16, vec>{{$}}
  %v48 = tile.not %i : !tile.tile<16x64xi16, vec>
  // CHECK: %v49 = tile.rsqrt %t, %t : !tile.tile<16x64xf32, vec>{{$}}
  %v49 = tile.rsqrt %t, %t : !tile.tile<16x64xf32, vec>
  // CHECK: %v50 = tile.log %t, high_precision = true : !tile.tile<16x64xf32, vec>{{$}}
  %v50 = tile.log %t, high_precision = true : !tile.tile<16x64xf32, vec>
  // CHECK: %v51 = tile.recip %t, high_precision = true : !tile.tile<16x64xf32, vec>{{$}}
  %v51 = tile.recip %t, high_precision = true : !tile.tile<16x64xf32, vec>
  // CHECK: %v52 = tile.cast %t, target_type = f16 : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xf16, vec>{{$}}
  %v52 = tile.cast %t, target_type = f16 : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xf16, vec>
  // CHECK: %v53 = tile.cast %t, target_type = i32, mode = floor : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xi32, vec>{{$}}
  %v53 = tile.cast %t, target_type = i32, mode = floor : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xi32, vec>
  orch.return
}

// CHECK-LABEL: orch.func incore @reductions
orch.func incore @reductions() {
  // CHECK: %t = tile.create : !tile.tile<16x64xf32, vec>{{$}}
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // CHECK: %i = tile.create : !tile.tile<16x64xi16, vec>{{$}}
  %i = tile.create : !tile.tile<16x64xi16, vec>
  // CHECK: %c = tile.create : !tile.tile<16x1xf32, vec>{{$}}
  %c = tile.create : !tile.tile<16x1xf32, vec>
  // CHECK: %r = tile.create : !tile.tile<1x64xf32, vec>{{$}}
  %r = tile.create : !tile.tile<1x64xf32, vec>
  // CHECK: %v54 = tile.row_sum %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec>{{$}}
  %v54 = tile.row_sum %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec>
  // CHECK: %v55 = tile.row_max %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec>{{$}}
  %v55 = tile.row_max %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec>
  // CHECK: %v56 = tile.row_min %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec>{{$}}
  %v56 = tile.row_min %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec>
  // CHECK: %v57 = tile.row_prod %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec>{{$}}
  %v57 = tile.row_prod %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec>
  // CHECK: %v58 = tile.row_argmax %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xi32, vec>{{$}}
  %v58 = tile.row_argmax %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xi32, vec>
  // CHECK: %v59 = tile.row_argmin %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xi32, vec>{{$}}
  %v59 = tile.row_argmin %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xi32, vec>
  // CHECK: %v60 = tile.col_sum %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xf32, vec>{{$}}
  %v60 = tile.col_sum %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xf32, vec>
  // CHECK: %v61 = tile.col_max %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xf32, vec>{{$}}
  %v61 = tile.col_max %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xf32, vec>
  // CHECK: %v62 = tile.col_min %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xf32, vec>{{$}}
  %v62 = tile.col_min %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xf32, vec>
  // CHECK: %v63 = tile.col_prod %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xf32, vec>{{$}}
  %v63 = tile.col_prod %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xf32, vec>
  // CHECK: %v64 = tile.col_sum %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xf32, vec>{{$}}
  %v64 = tile.col_sum %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xf32, vec>
  // CHECK: %v65 = tile.col_argmax %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xi32, vec>{{$}}
  %v65 = tile.col_argmax %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xi32, vec>
  // CHECK: %v66 = tile.col_argmin %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xi32, vec>{{$}}
  %v66 = tile.col_argmin %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x64xi32, vec>
  orch.return
}

// CHECK-LABEL: orch.func incore @expansions
orch.func incore @expansions() {
  // CHECK: %t = tile.create : !tile.tile<16x64xf32, vec>{{$}}
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // CHECK: %i = tile.create : !tile.tile<16x64xi16, vec>{{$}}
  %i = tile.create : !tile.tile<16x64xi16, vec>
  // CHECK: %c = tile.create : !tile.tile<16x1xf32, vec>{{$}}
  %c = tile.create : !tile.tile<16x1xf32, vec>
  // CHECK: %r = tile.create : !tile.tile<1x64xf32, vec>{{$}}
  %r = tile.create : !tile.tile<1x64xf32, vec>
  // CHECK: %v67 = tile.row_expand %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>{{$}}
  %v67 = tile.row_expand %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>
  // CHECK: %v68 = tile.row_expand_add %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>{{$}}
  %v68 = tile.row_expand_add %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>
  // CHECK: %v69 = tile.row_expand_sub %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>{{$}}
  %v69 = tile.row_expand_sub %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>
  // CHECK: %v70 = tile.row_expand_mul %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>{{$}}
  %v70 = tile.row_expand_mul %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>
  // CHECK: %v71 = tile.row_expand_div %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>{{$}}
  %v71 = tile.row_expand_div %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>
  // CHECK: %v72 = tile.row_expand_max %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>{{$}}
  %v72 = tile.row_expand_max %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>
  // CHECK: %v73 = tile.row_expand_min %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>{{$}}
  %v73 = tile.row_expand_min %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>
  // CHECK: %v74 = tile.row_expand_expdif %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>{{$}}
  %v74 = tile.row_expand_expdif %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>
  // CHECK: %v75 = tile.row_expand_add %t, %c, %t : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>, !tile.tile<16x64xf32, vec>{{$}}
  %v75 = tile.row_expand_add %t, %c, %t : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>, !tile.tile<16x64xf32, vec>
  // CHECK: %v76 = tile.col_expand %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>{{$}}
  %v76 = tile.col_expand %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>
  // CHECK: %v77 = tile.col_expand_add %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>{{$}}
  %v77 = tile.col_expand_add %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>
  // CHECK: %v78 = tile.col_expand_sub %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>{{$}}
  %v78 = tile.col_expand_sub %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>
  // CHECK: %v79 = tile.col_expand_mul %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>{{$}}
  %v79 = tile.col_expand_mul %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>
  // CHECK: %v80 = tile.col_expand_div %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>{{$}}
  %v80 = tile.col_expand_div %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>
  // CHECK: %v81 = tile.col_expand_max %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>{{$}}
  %v81 = tile.col_expand_max %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>
  // CHECK: %v82 = tile.col_expand_min %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>{{$}}
  %v82 = tile.col_expand_min %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>
  // CHECK: %v83 = tile.col_expand_expdif %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>{{$}}
  %v83 = tile.col_expand_expdif %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec>
  orch.return
}
