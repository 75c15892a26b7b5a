// The elementwise ops, reductions and expansions, in custom form, in generic form, and from one to
// the other.

// RUN: pypto-opt %s | pypto-opt | filecheck %s
// RUN: pypto-opt %s --print-op-generic | pypto-opt | filecheck %s

// CHECK-LABEL: orch.func orchestration @binary
orch.func orchestration @binary() {
  // CHECK: %t = ptensor.create : tensor<16x64xf32>{{$}}
  %t = ptensor.create : tensor<16x64xf32>
  // CHECK: %i = ptensor.create : tensor<16x64xi16>{{$}}
  %i = ptensor.create : tensor<16x64xi16>
  // CHECK: %c = ptensor.create : tensor<16x1xf32>{{$}}
  %c = ptensor.create : tensor<16x1xf32>
  // CHECK: %r = ptensor.create : tensor<1x64xf32>{{$}}
  %r = ptensor.create : tensor<1x64xf32>
  // CHECK: %v1 = ptensor.add %t, %t : tensor<16x64xf32>{{$}}
  %v1 = ptensor.add %t, %t : tensor<16x64xf32>
  // CHECK: %v2 = ptensor.sub %t, %t : tensor<16x64xf32>{{$}}
  %v2 = ptensor.sub %t, %t : tensor<16x64xf32>
  // CHECK: %v3 = ptensor.mul %t, %t : tensor<16x64xf32>{{$}}
  %v3 = ptensor.mul %t, %t : tensor<16x64xf32>
  // CHECK: %v4 = ptensor.div %t, %t : tensor<16x64xf32>{{$}}
  %v4 = ptensor.div %t, %t : tensor<16x64xf32>
  // CHECK: %v5 = ptensor.maximum %t, %t : tensor<16x64xf32>{{$}}
  %v5 = ptensor.maximum %t, %t : tensor<16x64xf32>
  // CHECK: %v6 = ptensor.minimum %t, %t : tensor<16x64xf32>{{$}}
  %v6 = ptensor.minimum %t, %t : tensor<16x64xf32>
  // CHECK: %v7 = ptensor.fmod %t, %t : tensor<16x64xf32>{{$}}
  %v7 = ptensor.fmod %t, %t : tensor<16x64xf32>
  // CHECK: %v8 = ptensor.part_add %t, %t : tensor<16x64xf32>{{$}}
  %v8 = ptensor.part_add %t, %t : tensor<16x64xf32>
  // CHECK: %v9 = ptensor.part_mul %t, %t : tensor<16x64xf32>{{$}}
  %v9 = ptensor.part_mul %t, %t : tensor<16x64xf32>
  // CHECK: %v10 = ptensor.part_max %t, %t : tensor<16x64xf32>{{$}}
  %v10 = ptensor.part_max %t, %t : tensor<16x64xf32>
  // CHECK: %v11 = ptensor.part_min %t, %t : tensor<16x64xf32>{{$}}
  %v11 = ptensor.part_min %t, %t : tensor<16x64xf32>
  // CHECK: %v12 = ptensor.and %i, %i : tensor<16x64xi16>{{$}}
  %v12 = ptensor.and %i, %i : tensor<16x64xi16>
  // CHECK: %v13 = ptensor.or %i, %i : tensor<16x64xi16>{{$}}
  %v13 = ptensor.or %i, %i : tensor<16x64xi16>
  // CHECK: %v14 = ptensor.shl %i, %i : tensor<16x64xi16>{{$}}
  %v14 = ptensor.shl %i, %i : tensor<16x64xi16>
  // CHECK: %v15 = ptensor.shr %i, %i : tensor<16x64xi16>{{$}}
  %v15 = ptensor.shr %i, %i : tensor<16x64xi16>
  // CHECK: %v16 = ptensor.xor %i, %i : tensor<16x64xi16>{{$}}
  %v16 = ptensor.xor %i, %i : tensor<16x64xi16>
  // CHECK: %v17 = ptensor.add %c, %r : tensor<16x1xf32>, tensor<1x64xf32> -> tensor<16x64xf32>{{$}}
  %v17 = ptensor.add %c, %r : tensor<16x1xf32>, tensor<1x64xf32> -> tensor<16x64xf32>
  // CHECK: %v18 = ptensor.add %i, %t : tensor<16x64xi16>, tensor<16x64xf32> -> tensor<16x64xf32>{{$}}
  %v18 = ptensor.add %i, %t : tensor<16x64xi16>, tensor<16x64xf32> -> tensor<16x64xf32>
  orch.return
}

// CHECK-LABEL: orch.func orchestration @scalar
orch.func orchestration @scalar(in %k: f32, in %n: i16) {
  // CHECK: %t = ptensor.create : tensor<16x64xf32>{{$}}
  %t = ptensor.create : tensor<16x64xf32>
  // CHECK: %i = ptensor.create : tensor<16x64xi16>{{$}}
  %i = ptensor.create : tensor<16x64xi16>
  // CHECK: %c = ptensor.create : tensor<16x1xf32>{{$}}
  %c = ptensor.create : tensor<16x1xf32>
  // CHECK: %r = ptensor.create : tensor<1x64xf32>{{$}}
  %r = ptensor.create : tensor<1x64xf32>
  // CHECK: %v19 = ptensor.adds %t, %k : tensor<16x64xf32>, f32{{$}}
  %v19 = ptensor.adds %t, %k : tensor<16x64xf32>, f32
  // CHECK: %v20 = ptensor.subs %t, %k : tensor<16x64xf32>, f32{{$}}
  %v20 = ptensor.subs %t, %k : tensor<16x64xf32>, f32
  // CHECK: %v21 = ptensor.muls %t, %k : tensor<16x64xf32>, f32{{$}}
  %v21 = ptensor.muls %t, %k : tensor<16x64xf32>, f32
  // CHECK: %v22 = ptensor.divs %t, %k : tensor<16x64xf32>, f32{{$}}
  %v22 = ptensor.divs %t, %k : tensor<16x64xf32>, f32
  // CHECK: %v23 = ptensor.maximums %t, %k : tensor<16x64xf32>, f32{{$}}
  %v23 = ptensor.maximums %t, %k : tensor<16x64xf32>, f32
  // CHECK: %v24 = ptensor.minimums %t, %k : tensor<16x64xf32>, f32{{$}}
  %v24 = ptensor.minimums %t, %k : tensor<16x64xf32>, f32
  // CHECK: %v25 = ptensor.fmods %t, %k : tensor<16x64xf32>, f32{{$}}
  %v25 = ptensor.fmods %t, %k : tensor<16x64xf32>, f32
  // CHECK: %v26 = ptensor.ands %i, %n : tensor<16x64xi16>, i16{{$}}
  %v26 = ptensor.ands %i, %n : tensor<16x64xi16>, i16
  // CHECK: %v27 = ptensor.ors %i, %n : tensor<16x64xi16>, i16{{$}}
  %v27 = ptensor.ors %i, %n : tensor<16x64xi16>, i16
  // CHECK: %v28 = ptensor.shls %i, %n : tensor<16x64xi16>, i16{{$}}
  %v28 = ptensor.shls %i, %n : tensor<16x64xi16>, i16
  // CHECK: %v29 = ptensor.shrs %i, %n : tensor<16x64xi16>, i16{{$}}
  %v29 = ptensor.shrs %i, %n : tensor<16x64xi16>, i16
  // CHECK: %v30 = ptensor.xors %i, %n : tensor<16x64xi16>, i16{{$}}
  %v30 = ptensor.xors %i, %n : tensor<16x64xi16>, i16
  // CHECK: %v31 = ptensor.adds %i, %k : tensor<16x64xi16>, f32 -> tensor<16x64xf32>{{$}}
  %v31 = ptensor.adds %i, %k : tensor<16x64xi16>, f32 -> tensor<16x64xf32>
  // CHECK: %v32 = ptensor.subs %i, %k : tensor<16x64xi16>, f32{{$}}
  %v32 = ptensor.subs %i, %k : tensor<16x64xi16>, f32
  orch.return
}

// CHECK-LABEL: orch.func orchestration @unary
orch.func orchestration @unary() {
  // CHECK: %t = ptensor.create : tensor<16x64xf32>{{$}}
  %t = ptensor.create : tensor<16x64xf32>
  // CHECK: %i = ptensor.create : tensor<16x64xi16>{{$}}
  %i = ptensor.create : tensor<16x64xi16>
  // CHECK: %c = ptensor.create : tensor<16x1xf32>{{$}}
  %c = ptensor.create : tensor<16x1xf32>
  // CHECK: %r = ptensor.create : tensor<1x64xf32>{{$}}
  %r = ptensor.create : tensor<1x64xf32>
  // CHECK: %v33 = ptensor.abs %t : tensor<16x64xf32>{{$}}
  %v33 = ptensor.abs %t : tensor<16x64xf32>
  // CHECK: %v34 = ptensor.exp %t : tensor<16x64xf32>{{$}}
  %v34 = ptensor.exp %t : tensor<16x64xf32>
  // CHECK: %v35 = ptensor.log %t : tensor<16x64xf32>{{$}}
  %v35 = ptensor.log %t : tensor<16x64xf32>
  // CHECK: %v36 = ptensor.neg %t : tensor<16x64xf32>{{$}}
  %v36 = ptensor.neg %t : tensor<16x64xf32>
  // CHECK: %v37 = ptensor.recip %t : tensor<16x64xf32>{{$}}
  %v37 = ptensor.recip %t : tensor<16x64xf32>
  // CHECK: %v38 = ptensor.sqrt %t : tensor<16x64xf32>{{$}}
  %v38 = ptensor.sqrt %t : tensor<16x64xf32>
  // CHECK: %v39 = ptensor.rsqrt %t : tensor<16x64xf32>{{$}}
  %v39 = ptensor.rsqrt %t : tensor<16x64xf32>
  // CHECK: %v40 = ptensor.sin %t : tensor<16x64xf32>{{$}}
  %v40 = ptensor.sin %t : tensor<16x64xf32>
  // CHECK: %v41 = ptensor.cos %t : tensor<16x64xf32>{{$}}
  %v41 = ptensor.cos %t : tensor<16x64xf32>
  // CHECK: %v42 = ptensor.not %i : tensor<16x64xi16>{{$}}
  %v42 = ptensor.not %i : tensor<16x64xi16>
  // CHECK: %v43 = ptensor.exp %i : tensor<16x64xi16> -> tensor<16x64xf32>{{$}}
  %v43 = ptensor.exp %i : tensor<16x64xi16> -> tensor<16x64xf32>
  // CHECK: %v44 = ptensor.cast %t, target_type = f16 : tensor<16x64xf32> -> tensor<16x64xf16>{{$}}
  %v44 = ptensor.cast %t, target_type = f16 : tensor<16x64xf32> -> tensor<16x64xf16>
  orch.return
}

// CHECK-LABEL: orch.func orchestration @reductions
orch.func orchestration @reductions() {
  // CHECK: %t = ptensor.create : tensor<16x64xf32>{{$}}
  %t = ptensor.create : tensor<16x64xf32>
  // CHECK: %i = ptensor.create : tensor<16x64xi16>{{$}}
  %i = ptensor.create : tensor<16x64xi16>
  // CHECK: %c = ptensor.create : tensor<16x1xf32>{{$}}
  %c = ptensor.create : tensor<16x1xf32>
  // CHECK: %r = ptensor.create : tensor<1x64xf32>{{$}}
  %r = ptensor.create : tensor<1x64xf32>
  // CHECK: %v45 = ptensor.row_sum %t : tensor<16x64xf32> -> tensor<16x1xf32>{{$}}
  %v45 = ptensor.row_sum %t : tensor<16x64xf32> -> tensor<16x1xf32>
  // CHECK: %v46 = ptensor.row_max %t : tensor<16x64xf32> -> tensor<16x1xf32>{{$}}
  %v46 = ptensor.row_max %t : tensor<16x64xf32> -> tensor<16x1xf32>
  // CHECK: %v47 = ptensor.row_min %t : tensor<16x64xf32> -> tensor<16x1xf32>{{$}}
  %v47 = ptensor.row_min %t : tensor<16x64xf32> -> tensor<16x1xf32>
  // CHECK: %v48 = ptensor.row_prod %t : tensor<16x64xf32> -> tensor<16x1xf32>{{$}}
  %v48 = ptensor.row_prod %t : tensor<16x64xf32> -> tensor<16x1xf32>
  // CHECK: %v49 = ptensor.row_argmax %t : tensor<16x64xf32> -> tensor<16x1xi32>{{$}}
  %v49 = ptensor.row_argmax %t : tensor<16x64xf32> -> tensor<16x1xi32>
  // CHECK: %v50 = ptensor.row_argmin %t : tensor<16x64xf32> -> tensor<16x1xi32>{{$}}
  %v50 = ptensor.row_argmin %t : tensor<16x64xf32> -> tensor<16x1xi32>
  // CHECK: %v51 = ptensor.col_sum %t : tensor<16x64xf32> -> tensor<1x64xf32>{{$}}
  %v51 = ptensor.col_sum %t : tensor<16x64xf32> -> tensor<1x64xf32>
  // CHECK: %v52 = ptensor.col_max %t : tensor<16x64xf32> -> tensor<1x64xf32>{{$}}
  %v52 = ptensor.col_max %t : tensor<16x64xf32> -> tensor<1x64xf32>
  // CHECK: %v53 = ptensor.col_min %t : tensor<16x64xf32> -> tensor<1x64xf32>{{$}}
  %v53 = ptensor.col_min %t : tensor<16x64xf32> -> tensor<1x64xf32>
  // CHECK: %v54 = ptensor.col_prod %t : tensor<16x64xf32> -> tensor<1x64xf32>{{$}}
  %v54 = ptensor.col_prod %t : tensor<16x64xf32> -> tensor<1x64xf32>
  // CHECK: %v55 = ptensor.col_argmax %t : tensor<16x64xf32> -> tensor<1x64xi32>{{$}}
  %v55 = ptensor.col_argmax %t : tensor<16x64xf32> -> tensor<1x64xi32>
  // CHECK: %v56 = ptensor.col_argmin %t : tensor<16x64xf32> -> tensor<1x64xi32>{{$}}
  %v56 = ptensor.col_argmin %t : tensor<16x64xf32> -> tensor<1x64xi32>
  orch.return
}

// CHECK-LABEL: orch.func orchestration @expansions
orch.func orchestration @expansions() {
  // CHECK: %t = ptensor.create : tensor<16x64xf32>{{$}}
  %t = ptensor.create : tensor<16x64xf32>
  // CHECK: %i = ptensor.create : tensor<16x64xi16>{{$}}
  %i = ptensor.create : tensor<16x64xi16>
  // CHECK: %c = ptensor.create : tensor<16x1xf32>{{$}}
  %c = ptensor.create : tensor<16x1xf32>
  // CHECK: %r = ptensor.create : tensor<1x64xf32>{{$}}
  %r = ptensor.create : tensor<1x64xf32>
  // CHECK: %v57 = ptensor.row_expand %t, %c : tensor<16x64xf32>, tensor<16x1xf32>{{$}}
  %v57 = ptensor.row_expand %t, %c : tensor<16x64xf32>, tensor<16x1xf32>
  // CHECK: %v58 = ptensor.row_expand_add %t, %c : tensor<16x64xf32>, tensor<16x1xf32>{{$}}
  %v58 = ptensor.row_expand_add %t, %c : tensor<16x64xf32>, tensor<16x1xf32>
  // CHECK: %v59 = ptensor.row_expand_sub %t, %c : tensor<16x64xf32>, tensor<16x1xf32>{{$}}
  %v59 = ptensor.row_expand_sub %t, %c : tensor<16x64xf32>, tensor<16x1xf32>
  // CHECK: %v60 = ptensor.row_expand_mul %t, %c : tensor<16x64xf32>, tensor<16x1xf32>{{$}}
  %v60 = ptensor.row_expand_mul %t, %c : tensor<16x64xf32>, tensor<16x1xf32>
  // CHECK: %v61 = ptensor.row_expand_div %t, %c : tensor<16x64xf32>, tensor<16x1xf32>{{$}}
  %v61 = ptensor.row_expand_div %t, %c : tensor<16x64xf32>, tensor<16x1xf32>
  // CHECK: %v62 = ptensor.row_expand_max %t, %c : tensor<16x64xf32>, tensor<16x1xf32>{{$}}
  %v62 = ptensor.row_expand_max %t, %c : tensor<16x64xf32>, tensor<16x1xf32>
  // CHECK: %v63 = ptensor.row_expand_min %t, %c : tensor<16x64xf32>, tensor<16x1xf32>{{$}}
  %v63 = ptensor.row_expand_min %t, %c : tensor<16x64xf32>, tensor<16x1xf32>
  // CHECK: %v64 = ptensor.row_expand_expdif %t, %c : tensor<16x64xf32>, tensor<16x1xf32>{{$}}
  %v64 = ptensor.row_expand_expdif %t, %c : tensor<16x64xf32>, tensor<16x1xf32>
  // CHECK: %v65 = ptensor.col_expand %t, %r : tensor<16x64xf32>, tensor<1x64xf32>{{$}}
  %v65 = ptensor.col_expand %t, %r : tensor<16x64xf32>, tensor<1x64xf32>
  // CHECK: %v66 = ptensor.col_expand_add %t, %r : tensor<16x64xf32>, tensor<1x64xf32>{{$}}
  %v66 = ptensor.col_expand_add %t, %r : tensor<16x64xf32>, tensor<1x64xf32>
  // CHECK: %v67 = ptensor.col_expand_sub %t, %r : tensor<16x64xf32>, tensor<1x64xf32>{{$}}
  %v67 = ptensor.col_expand_sub %t, %r : tensor<16x64xf32>, tensor<1x64xf32>
  // CHECK: %v68 = ptensor.col_expand_mul %t, %r : tensor<16x64xf32>, tensor<1x64xf32>{{$}}
  %v68 = ptensor.col_expand_mul %t, %r : tensor<16x64xf32>, tensor<1x64xf32>
  // CHECK: %v69 = ptensor.col_expand_div %t, %r : tensor<16x64xf32>, tensor<1x64xf32>{{$}}
  %v69 = ptensor.col_expand_div %t, %r : tensor<16x64xf32>, tensor<1x64xf32>
  // CHECK: %v70 = ptensor.col_expand_max %t, %r : tensor<16x64xf32>, tensor<1x64xf32>{{$}}
  %v70 = ptensor.col_expand_max %t, %r : tensor<16x64xf32>, tensor<1x64xf32>
  // CHECK: %v71 = ptensor.col_expand_min %t, %r : tensor<16x64xf32>, tensor<1x64xf32>{{$}}
  %v71 = ptensor.col_expand_min %t, %r : tensor<16x64xf32>, tensor<1x64xf32>
  // CHECK: %v72 = ptensor.col_expand_expdif %t, %r : tensor<16x64xf32>, tensor<1x64xf32>{{$}}
  %v72 = ptensor.col_expand_expdif %t, %r : tensor<16x64xf32>, tensor<1x64xf32>
  orch.return
}
