// What the target cannot run is an error at the op that names the target and the rule, all at once.

// RUN: pypto-opt --split-input-file --verify-diagnostics --verify-target %s

builtin.module attributes {pto.target_arch = "a2a3"} {
orch.func incore @element_types(in %k : i32, in %n : f32) {
  %i = tile.create : !tile.tile<16x64xi32, vec>
  %h = tile.create : !tile.tile<16x64xbf16, vec>
  %f = tile.create : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.abs' op breaks a rule of ascend910b (element types): operand 'operand' holds i32, expected f16 or f32}}
  %a = tile.abs %i : !tile.tile<16x64xi32, vec>
  // expected-error @+1 {{'tile.add' op breaks a rule of ascend910b (element types): operand 'lhs' holds bf16, expected i16, i32, f16 or f32}}
  %b = tile.add %h, %h : !tile.tile<16x64xbf16, vec>
  // expected-error @+1 {{(element types): operand 'lhs' holds i32, expected f16 or f32}}
  %c = tile.div %i, %i : !tile.tile<16x64xi32, vec>
  // expected-error @+1 {{(element types): operand 'lhs' holds i32, expected i8, i16, ui8 or ui16}}
  %d = tile.ands %i, %k : !tile.tile<16x64xi32, vec>, i32
  // expected-error @+1 {{(one element type): operand 'rhs' holds i32, operand 'lhs' f32}}
  %e = tile.mul %f, %i : !tile.tile<16x64xf32, vec>, !tile.tile<16x64xi32, vec> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{(instruction set): there is no such instruction; tile.full makes the tile}}
  %g = tile.expands %f, %n : !tile.tile<16x64xf32, vec>, f32
  orch.return
}
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
orch.func incore @regions() {
  %m = tile.create : !tile.tile<16x64xf32, vec>
  %p = tile.create : !tile.tile<16x64xf32, vec, valid = [8, 64]>
  %r = tile.create : !tile.tile<1x64xf32, vec>
  // expected-error @+1 {{(one valid region): operand 'rhs' has the valid region [8, 64], operand 'lhs' [16, 64]}}
  %a = tile.add %m, %p : !tile.tile<16x64xf32, vec>, !tile.tile<16x64xf32, vec, valid = [8, 64]> -> !tile.tile<16x64xf32, vec>
  // The instruction does not stretch a row over the others.
  // expected-error @+1 {{(one valid region): operand 'rhs' has the valid region [1, 64], operand 'lhs' [16, 64]}}
  %b = tile.add %m, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x64xf32, vec> -> !tile.tile<16x64xf32, vec>
  orch.return
}
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
orch.func incore @conversions() {
  %f = tile.create : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.cast' op breaks a rule of ascend910b (native conversion): no instruction converts f32 to i8; convert by way of f16}}
  %i = tile.cast %f, target_type = i8 : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xi8, vec>
  // expected-error @+1 {{(native conversion): no instruction converts i8 to bf16; convert by way of f16 and f32}}
  %b = tile.cast %i, target_type = bf16 : !tile.tile<16x64xi8, vec> -> !tile.tile<16x64xbf16, vec>
  orch.return
}
}

// -----

// The comparisons of gather_compare that PyPTO has and the 910B lacks.
builtin.module attributes {pto.target_arch = "a2a3"} {
orch.func incore @gather_compare(in %k : f32, in %n : i32, in %s : i16) {
  %f = tile.create : !tile.tile<16x64xf32, vec>
  %i = tile.create : !tile.tile<16x64xi32, vec>
  %h = tile.create : !tile.tile<16x64xi16, vec>
  %w = tile.create : !tile.tile<16x64xui8, vec>
  // expected-error @+1 {{(comparison): elements are compared by eq or gt, not lt}}
  %a, %b = tile.gather_compare %f, %k, %w, cmp_mode = lt, out_cols = 8 : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xui8, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xi32, vec>
  // expected-error @+1 {{(comparison): i32 is compared by eq only, not gt}}
  %c, %d = tile.gather_compare %i, %n, %w, cmp_mode = gt, out_cols = 8 : !tile.tile<16x64xi32, vec>, i32, !tile.tile<16x64xui8, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xi32, vec>
  // expected-error @+1 {{(element types): operand 'source' holds i16, expected f16, f32 or i32}}
  %e, %g = tile.gather_compare %h, %s, %w, cmp_mode = eq, out_cols = 8 : !tile.tile<16x64xi16, vec>, i16, !tile.tile<16x64xui8, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xi32, vec>
  // expected-error @+1 {{(comparison): the counts have the type of the indices, i32, not ui32}}
  %j, %l = tile.gather_compare %f, %k, %w, cmp_mode = gt, out_cols = 8, count_dtype = ui32 : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xui8, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xui32, vec>
  orch.return
}
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
orch.func incore @ways(in %x : tensor<16x64xf16>, out %y : tensor<16x32xf16>) {
  // expected-error @+1 {{(ways between memories): global memory is loaded into vec or mat, not left}}
  %l = tile.load %x[0, 0] : tensor<16x64xf16> -> !tile.tile<16x64xf16, left>
  %v = tile.create : !tile.tile<16x64xf16, vec>
  %a = tile.create : !tile.tile<16x32xi32, acc>
  // expected-error @+1 {{(drain of the accumulator): the accumulator drains into mat from f32 to f16 or bf16, not from i32 to i32}}
  %m = tile.move %a : !tile.tile<16x32xi32, acc> -> !tile.tile<16x32xi32, mat>
  // expected-error @+1 {{(ways between memories): the accumulator drains f32 to f32, f16 or bf16, and i32 to i32, not i32 to f16}}
  %s = tile.store %a, %y[0, 0] : !tile.tile<16x32xi32, acc>, tensor<16x32xf16>
  %b = tile.create : !tile.tile<1x24xf32, mat>
  orch.return
}
// In a kernel of a vector core there is no other core's memory.
orch.func aiv @vector_only() {
  %v = tile.create : !tile.tile<16x64xf16, vec>
  // expected-error @+1 {{'tile.move' op breaks a rule of ascend910b (ways between memories): there is no way from vec to mat}}
  %m = tile.move %v : !tile.tile<16x64xf16, vec> -> !tile.tile<16x64xf16, mat>
  orch.return
}
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
orch.func incore @tiles() {
  // expected-error @+1 {{'tile.create' op breaks a rule of ascend910b (whole blocks): each row of a tile is a multiple of 32 bytes, got 20 in !tile.tile<16x5xf32, vec>}}
  %r = tile.create : !tile.tile<16x5xf32, vec>
  // Said where the tile is made, not again where it goes.
  %n = tile.neg %r : !tile.tile<16x5xf32, vec>
  // expected-error @+1 {{(whole blocks): each column of a tile is a multiple of 32 bytes, got 20 in !tile.tile<5x1xf32, vec>}}
  %c = tile.create : !tile.tile<5x1xf32, vec>
  // A vector is one row.
  // expected-error @+1 {{(whole blocks): each row of a tile is a multiple of 32 bytes, got 148 in !tile.tile<37xf32, vec>}}
  %v = tile.create : !tile.tile<37xf32, vec>
  %w = tile.create : !tile.tile<40xf32, vec>
  // expected-error @+1 {{(whole blocks): the columns of boxes of 16x16 divide those of !tile.tile<16x24xf16, mat>}}
  %b = tile.create : !tile.tile<16x24xf16, mat>
  // T13: a tile that is larger than its memory is named, with both sizes.
  // expected-error @+1 {{(size of a memory): !tile.tile<128x512xf32, right> takes 262144 bytes, right has 65536}}
  %l = tile.create : !tile.tile<128x512xf32, right>
  // expected-error @+1 {{(element types): a tile holds i8, i16, i32, i64, ui8, ui16, ui32, f16, bf16 or f32, got !tile.tile<16x64xf64, vec>}}
  %d = tile.create : !tile.tile<16x64xf64, vec>
  orch.return
}
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
orch.func incore @products() {
  %a = tile.create : !tile.tile<16x64xi16, left>
  %b = tile.create : !tile.tile<64x32xi16, right>
  // expected-error @+2 {{(element types): operand 'lhs' holds i16, expected i8, f16, bf16 or f32}}
  // expected-error @+1 {{(element types): operand 'rhs' holds i16, expected i8, f16, bf16 or f32}}
  %m = tile.matmul %a, %b : !tile.tile<16x64xi16, left>, !tile.tile<64x32xi16, right> -> !tile.tile<16x32xi32, acc>
  orch.return
}
orch.func incore @merging() {
  %n = arith.constant 48 : i32
  %o = arith.constant 64 : i32
  %t = tile.create : !tile.tile<1x384xf32, vec>
  // expected-error @+1 {{(sorted runs): a run is a multiple of 64 columns, got 48}}
  %m = tile.mrgsort_format1 %t, %n : !tile.tile<1x384xf32, vec>, i32
  // expected-error @+1 {{(sorted runs): 384 columns are no whole number of groups of four runs of 64}}
  %p = tile.mrgsort_format1 %t, %o : !tile.tile<1x384xf32, vec>, i32
  orch.return
}
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
orch.func incore @global_memory(in %x : tensor<20x64xi64>, inout %o : tensor<20x64xi64>) {
  %i = tile.create : !tile.tile<1x8xi32, vec>
  // expected-error @+1 {{(element types): result 'result' holds i64, expected i8, i16, i32, ui8, ui16, ui32, f16, bf16 or f32}}
  %g = tile.mgather %x, %i : tensor<20x64xi64>, !tile.tile<1x8xi32, vec> -> !tile.tile<8x64xi64, vec>
  %j = tile.create : !tile.tile<8x64xi32, vec>
  // expected-error @+1 {{(element types): operand 'source' holds i64, expected i8, i16, i32, ui8, ui16, ui32, f16, bf16 or f32}}
  %r = tile.mscatter %g, %j, %o : !tile.tile<8x64xi64, vec>, !tile.tile<8x64xi32, vec>, tensor<20x64xi64>
  orch.return
}
orch.func incore @padding() {
  %t = tile.create : !tile.tile<16x32xf16, mat, valid = [16, 16]>
  // expected-error @+1 {{(padding of L1): mat is padded in place: use tile.fillpad_inplace}}
  %a = tile.fillpad %t : !tile.tile<16x32xf16, mat, valid = [16, 16]> -> !tile.tile<16x32xf16, mat, pad = zero>
  // expected-error @+1 {{(padding of L1): mat is padded with zero, not max}}
  %b = tile.fillpad_inplace %t, pad_value = max : !tile.tile<16x32xf16, mat, valid = [16, 16]> -> !tile.tile<16x32xf16, mat, pad = max>
  %w = tile.create : !tile.tile<16x32xi64, vec>
  // expected-error @+1 {{(element types): operand 'source' holds i64, expected}}
  %c = tile.fillpad_expand %w : !tile.tile<16x32xi64, vec> -> !tile.tile<32x32xi64, vec, pad = zero>
  orch.return
}
orch.func aiv @synchronization(in %w : tensor<128xi64>, in %v : tensor<512xi32>) {
  // expected-error @+1 {{(pipes of an event): an event is between two pipes, and v is in order by itself}}
  tile.sync_src set_pipe = v, wait_pipe = v, event_id = 0
  // expected-error @+1 {{(pipes of an event): an event is between two pipes; for all of them there is tile.bar_all}}
  tile.sync_dst set_pipe = v, wait_pipe = all, event_id = 0
  // expected-error @+1 {{(flags between cores): the flags between cores are in a row of at least 256 i64, not in tensor<128xi64>}}
  tile.set_ffts %w : tensor<128xi64>
  // expected-error @+1 {{(flags between cores): the flags between cores are in a row of at least 256 i64, not in tensor<512xi32>}}
  tile.set_ffts %v : tensor<512xi32>
  orch.return
}
}
