// A kernel that is split is run by both vector cores, each of which has a part of the tiles.

// RUN: pypto-opt --expand-mixed-kernel %s | filecheck %s
// A second run finds nothing to do, and what is printed is read back.
// RUN: pypto-opt --expand-mixed-kernel --expand-mixed-kernel %s | pypto-opt | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// The upper rows are those of the first core. A slot has all of the tile, what is reserved for it
// on a core too. A row is whole on both, and stored by the first.
// CHECK:      orch.func aic @rows_aic
// CHECK:        tile.aic_initialize_pipe %0, %1, dir_mask = 1, slot_size = 1024, slot_num = 2 : i32
// CHECK:        tile.tpush_to_aiv %p, split = up_down : !tile.tile<16x16xf32, acc>
// CHECK:      orch.func aiv @rows_aiv
// CHECK-SAME: attributes {orch.split = #orch<split up_down>}
// CHECK:        %0 = tile.reserve_buffer buffer = "rows_c2v_slots", size = 2048 : i32
// CHECK:        %core = tile.get_subblock_idx : index
// CHECK:        [[EIGHT:%.*]] = arith.constant 8 : index
// CHECK-NEXT:   %from = arith.muli %core, [[EIGHT]] : index
// CHECK:        %is_first = arith.cmpi eq, %core, {{.*}} : index
// CHECK:        %v = tile.tpop_from_aic split = up_down : !tile.tile<8x16xf32, vec>
// CHECK:        %row = tile.load %b[0, 0] : tensor<1x16xf32> -> !tile.tile<1x16xf32, vec>
// CHECK-NEXT:   [[START:%.*]] = arith.addi %at, %from : index
// CHECK-NEXT:   %t = tile.load %a[[[START]], 0] : tensor<16x16xf32> -> !tile.tile<8x16xf32, vec>
// CHECK-NEXT:   %s = tile.add %v, %t : !tile.tile<8x16xf32, vec>
// CHECK-NEXT:   tile.tfree_to_aic %v, split = up_down : !tile.tile<8x16xf32, vec>
// CHECK-NEXT:   %c = tile.col_expand_mul %s, %row : !tile.tile<8x16xf32, vec>, !tile.tile<1x16xf32, vec>
// CHECK-NEXT:   [[OUT:%.*]] = arith.addi %at, %from : index
// CHECK-NEXT:   %y1 = tile.store %c, %y[[[OUT]], 0] : !tile.tile<8x16xf32, vec>, tensor<16x16xf32>
// CHECK-NEXT:   %z1 = scf.if %is_first -> (tensor<1x16xf32>) {
// CHECK-NEXT:     %z1_1 = tile.store %row, %z[0, 0] : !tile.tile<1x16xf32, vec>, tensor<1x16xf32>
// CHECK-NEXT:     scf.yield %z1_1 : tensor<1x16xf32>
// CHECK-NEXT:   } else {
// CHECK-NEXT:     scf.yield %z : tensor<1x16xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   orch.return %y1, %z1
orch.func incore @rows(in %a : tensor<16x16xf32>, in %b : tensor<1x16xf32>, in %at : index, out %y : tensor<16x16xf32>, out %z : tensor<1x16xf32>) -> (tensor<16x16xf32>, tensor<1x16xf32>) attributes {orch.split = #orch<split up_down>} {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
  %row = tile.load %b[0, 0] : tensor<1x16xf32> -> !tile.tile<1x16xf32, vec>
  %t = tile.load %a[%at, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %s = tile.add %v, %t : !tile.tile<16x16xf32, vec>
  %c = tile.col_expand_mul %s, %row : !tile.tile<16x16xf32, vec>, !tile.tile<1x16xf32, vec>
  %y1 = tile.store %c, %y[%at, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  %z1 = tile.store %row, %z[0, 0] : !tile.tile<1x16xf32, vec>, tensor<1x16xf32>
  orch.return %y1, %z1 : tensor<16x16xf32>, tensor<1x16xf32>
}

// A row of results of rows is cut with them: the cut follows tiles through reshapes and loops.
// CHECK:      orch.func aiv @columns_of_rows_aiv
// CHECK:        %t = tile.full %zero : f32 -> !tile.tile<1x8xf32, vec>
// CHECK-NEXT:   %u = tile.reshape %t : !tile.tile<1x8xf32, vec> -> !tile.tile<8x1xf32, vec>
// CHECK-NEXT:   %end = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %u) -> (!tile.tile<8x1xf32, vec>) {
// CHECK-NEXT:     %v = tile.tpop_from_aic split = up_down : !tile.tile<8x16xf32, vec>
// CHECK-NEXT:     %tmp = tile.create : !tile.tile<8x128xf32, vec>
// CHECK-NEXT:     %q = tile.row_max %v, %tmp
// CHECK:          %w = tile.maximum %so_far, %q : !tile.tile<8x1xf32, vec>
// CHECK-NEXT:     scf.yield %w : !tile.tile<8x1xf32, vec>
// CHECK-NEXT:   }
// CHECK-NEXT:   %z = tile.store %end, %y[%from, 0] : !tile.tile<8x1xf32, vec>, tensor<16x1xf32>
orch.func incore @columns_of_rows(in %a : tensor<16x16xf32>, in %n : index, out %y : tensor<16x1xf32>) -> tensor<16x1xf32> attributes {orch.split = #orch<split up_down>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %t = tile.full %zero : f32 -> !tile.tile<1x16xf32, vec>
  %u = tile.reshape %t : !tile.tile<1x16xf32, vec> -> !tile.tile<16x1xf32, vec>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %u) -> (!tile.tile<16x1xf32, vec>) {
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
    %tmp = tile.create : !tile.tile<16x128xf32, vec>
    %q = tile.row_max %v, %tmp : !tile.tile<16x16xf32, vec>, !tile.tile<16x128xf32, vec> -> !tile.tile<16x1xf32, vec>
    %w = tile.maximum %so_far, %q : !tile.tile<16x1xf32, vec>
    scf.yield %w : !tile.tile<16x1xf32, vec>
  }
  %z = tile.store %end, %y[0, 0] : !tile.tile<16x1xf32, vec>, tensor<16x1xf32>
  orch.return %z : tensor<16x1xf32>
}

// Of 11 columns the first core has 6 and the second 5, in each direction of the ring as the
// hardware passes odd numbers.
// CHECK:      orch.func aic @odd_columns_aic
// CHECK:        tile.tpush_to_aiv %p, split = left_right_odd : !tile.tile<16x32xf32, acc, valid = [16, 11]>
// CHECK:      orch.func aiv @odd_columns_aiv
// CHECK:        [[ALL:%.*]] = arith.constant 11 : index
// CHECK:        [[REST:%.*]] = arith.subi [[ALL]], %from : index
// CHECK-NEXT:   [[NONE:%.*]] = arith.constant 0 : index
// CHECK-NEXT:   [[SOME:%.*]] = arith.maxsi [[REST]], [[NONE]] : index
// CHECK-NEXT:   [[MOST:%.*]] = arith.constant 6 : index
// CHECK-NEXT:   %own_valid = arith.minsi [[SOME]], [[MOST]] : index
// CHECK:        %v = tile.tpop_from_aic valid = [16, %own_valid], split = left_right_odd : !tile.tile<16x16xf32, vec, valid = [16, ?]>
// CHECK-NEXT:   %e = tile.exp %v : !tile.tile<16x16xf32, vec, valid = [16, ?]>
// CHECK:        %z = tile.store %e, %y[0, %from]
orch.func incore @odd_columns(in %a : tensor<16x32xf32>, out %y : tensor<16x32xf32>) -> tensor<16x32xf32> attributes {orch.split = #orch<split left_right>} {
  %m = tile.load %a[0, 0] : tensor<16x32xf32> -> !tile.tile<16x16xf32, mat>
  %n = tile.load %a[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32, mat, valid = [16, 11]>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %n : !tile.tile<16x32xf32, mat, valid = [16, 11]> -> !tile.tile<16x32xf32, right, valid = [16, 11]>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x32xf32, right, valid = [16, 11]> -> !tile.tile<16x32xf32, acc, valid = [16, 11]>
  %v = tile.move %p : !tile.tile<16x32xf32, acc, valid = [16, 11]> -> !tile.tile<16x32xf32, vec, valid = [16, 11]>
  %e = tile.exp %v : !tile.tile<16x32xf32, vec, valid = [16, 11]>
  %z = tile.store %e, %y[0, 0] : !tile.tile<16x32xf32, vec, valid = [16, 11]>, tensor<16x32xf32>
  orch.return %z : tensor<16x32xf32>
}

// What passes back is filled up to halves of one size, of which as much is used as was there.
// CHECK:      orch.func aic @odd_rows_back_aic
// CHECK:        %b = tile.tpop_from_aiv split = up_down : !tile.tile<16x16xf32, mat, valid = [5, 16]>
// CHECK:      orch.func aiv @odd_rows_back_aiv
// CHECK:        %t = tile.load %a[%from, 0], valid = [%own_valid, 16] : tensor<16x16xf32> -> !tile.tile<8x16xf32, vec, valid = [?, 16]>
// CHECK-NEXT:   %t_1 = tile.fillpad %t : !tile.tile<8x16xf32, vec, valid = [?, 16]> -> !tile.tile<8x16xf32, vec, pad = zero>
// CHECK-NEXT:   %t_2 = tile.set_validshape %t_1, valid = [3, 16]
// CHECK-NEXT:   tile.tpush_to_aic %t_2, split = up_down : !tile.tile<8x16xf32, vec, valid = [3, 16], pad = zero>
orch.func incore @odd_rows_back(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> attributes {orch.split = #orch<split up_down>} {
  %t = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec, valid = [5, 16]>
  %b = tile.move %t : !tile.tile<16x16xf32, vec, valid = [5, 16]> -> !tile.tile<16x16xf32, left, valid = [5, 16]>
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %b, %r : !tile.tile<16x16xf32, left, valid = [5, 16]>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc, valid = [5, 16], compact>
  %z = tile.store %p, %y[0, 0] : !tile.tile<16x16xf32, acc, valid = [5, 16], compact>, tensor<16x16xf32>
  orch.return %z : tensor<16x16xf32>
}

// How much is valid is known where the tile comes from, and said to the core that pops it, whether
// the kernel is split or not.
// CHECK:      orch.func aic @run_time_aic
// CHECK:        tile.tpush_to_aiv %p : !tile.tile<16x16xf32, acc, valid = [?, 16], compact>
// CHECK:      orch.func aiv @run_time_aiv
// CHECK:        %v = tile.tpop_from_aic valid = [%n, 16] : !tile.tile<16x16xf32, vec, valid = [?, 16]>
orch.func incore @run_time(in %a : tensor<16x16xf32>, in %n : index, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %k = tile.load %a[0, 0], valid = [%n, 16] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat, valid = [?, 16]>
  %l = tile.move %k : !tile.tile<16x16xf32, mat, valid = [?, 16]> -> !tile.tile<16x16xf32, left, valid = [?, 16]>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left, valid = [?, 16]>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc, valid = [?, 16], compact>
  %v = tile.move %p : !tile.tile<16x16xf32, acc, valid = [?, 16], compact> -> !tile.tile<16x16xf32, vec, valid = [?, 16]>
  %z = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec, valid = [?, 16]>, tensor<16x16xf32>
  orch.return %z : tensor<16x16xf32>
}

// There is nothing to share out in a kernel without cube work.
// CHECK:      orch.func incore @pure(in %x: tensor<16x16xf32>, out %y: tensor<16x16xf32>) -> tensor<16x16xf32> {{[{]}}
orch.func incore @pure(in %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> attributes {orch.split = #orch<split up_down>} {
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %z = tile.store %t, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return %z : tensor<16x16xf32>
}
}
