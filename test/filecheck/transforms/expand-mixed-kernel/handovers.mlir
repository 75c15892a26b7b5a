// What both halves of a kernel do to one tensor is in the order of the text: the one hands over to
// the other, by a tile that passes of which nobody reads anything.

// RUN: pypto-opt --expand-mixed-kernel %s | filecheck %s
// A second run finds nothing to do, and what is printed is read back.
// RUN: pypto-opt --expand-mixed-kernel --expand-mixed-kernel %s | pypto-opt | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// The flag is raised by the pipe that stores the product, and waited for by that which loads: no
// other pipe has to wait. The vector core that keeps pace takes part.
// CHECK:      orch.func aic @load_after_store_aic(
// CHECK:        tile.aic_initialize_pipe %0, %1, dir_mask = 1, slot_size = 1024, slot_num = 2 : i32
// CHECK:        %x1 = tile.store %p, %x[0, 0]
// CHECK-NEXT:   [[ZERO:%.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   [[FULL:%.*]] = tile.full [[ZERO]] : f32 -> !tile.tile<16x16xf32, mat>
// CHECK-NEXT:   [[LEFT:%.*]] = tile.move [[FULL]] : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
// CHECK-NEXT:   [[RIGHT:%.*]] = tile.move [[FULL]] : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
// CHECK-NEXT:   %handover = tile.matmul [[LEFT]], [[RIGHT]]
// CHECK-NEXT:   tile.tpush_to_aiv %handover : !tile.tile<16x16xf32, acc>
// CHECK-NEXT:   orch.return
// CHECK:      orch.func aiv @load_after_store_aiv(
// CHECK:        scf.if
// CHECK-NEXT:     %handover = tile.tpop_from_aic : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:     tile.tfree_to_aic %handover
// CHECK-NEXT:     %v = tile.load %x[0, 0]
// CHECK-NEXT:     %y1 = tile.store %v, %y[0, 0]
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %handover_1 = tile.tpop_from_aic : !tile.tile<16x16xf32, vec, valid = [0, 0]>
// CHECK-NEXT:     tile.tfree_to_aic %handover_1
// CHECK-NEXT:   }
orch.func incore @load_after_store(in %a : tensor<16x16xf32>, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %x1 = tile.store %p, %x[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  %v = tile.load %x1[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return
}

// What a core loads is not there when the next pipe begins: it waits for all of them before it
// says so, and the other one before it writes over it.
// CHECK:      orch.func aic @store_after_load_aic(
// CHECK:        %handover = tile.tpop_from_aiv : !tile.tile<16x16xf32, mat>
// CHECK-NEXT:   tile.tfree_to_aiv %handover
// CHECK-NEXT:   tile.bar_all
// CHECK-NEXT:   %x1 = tile.store %p, %x[0, 0]
// CHECK:      orch.func aiv @store_after_load_aiv(
// CHECK:          %v = tile.load %x[0, 0]
// CHECK-NEXT:     tile.bar_all
// CHECK-NEXT:     [[ZERO:%.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %handover = tile.full [[ZERO]] : f32 -> !tile.tile<16x16xf32, vec>
// CHECK-NEXT:     tile.tpush_to_aic %handover
// CHECK-NEXT:     %y1 = tile.store %v, %y[0, 0]
// CHECK:        } else {
// CHECK-NEXT:     %handover_1 = tile.create : !tile.tile<16x16xf32, vec, valid = [0, 0]>
// CHECK-NEXT:     tile.tpush_to_aic %handover_1
orch.func incore @store_after_load(in %a : tensor<16x16xf32>, inout %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
  %v = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %x1 = tile.store %p, %x[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return
}

// Names that a branch hands on may be of the same tensor.
// CHECK:      orch.func aic @through_branch_aic(
// CHECK:        %e1 = tile.store %p, %either[0, 0]
// CHECK:        tile.tpush_to_aiv %handover
// CHECK:      orch.func aiv @through_branch_aiv(
// CHECK:          %handover = tile.tpop_from_aic
// CHECK-NEXT:     tile.tfree_to_aic %handover
// CHECK-NEXT:     tile.bar_all
// CHECK-NEXT:     %y1 = tile.store %v, %y[0, 0]
orch.func incore @through_branch(in %a : tensor<16x16xf32>, in %c : i1, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %either = scf.if %c -> (tensor<16x16xf32>) {
    scf.yield %x : tensor<16x16xf32>
  } else {
    scf.yield %y : tensor<16x16xf32>
  }
  %e1 = tile.store %p, %either[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  %v = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return
}

// What comes before a loop is handed over once, before it.
// CHECK:      orch.func aic @before_a_loop_aic(
// CHECK:        %x1 = tile.store %p, %x[0, 0]
// CHECK:        tile.tpush_to_aiv %handover
// CHECK-NOT:    tile.tpush_to_aiv
// CHECK:      orch.func aiv @before_a_loop_aiv(
// CHECK:          %handover = tile.tpop_from_aic
// CHECK-NEXT:     tile.tfree_to_aic %handover
// CHECK-NEXT:     scf.for
// CHECK-NEXT:       %v = tile.load %x[0, 0]
orch.func incore @before_a_loop(in %a : tensor<16x16xf32>, in %n : index, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %x1 = tile.store %p, %x[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  %y1 = scf.for %i = %c0 to %n step %c1 iter_args(%y0 = %y) -> (tensor<16x16xf32>) {
    %v = tile.load %x1[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
    %y2 = tile.store %v, %y0[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    scf.yield %y2 : tensor<16x16xf32>
  }
  orch.return
}

// In a loop each turn writes what the turn before has read.
// CHECK:      orch.func aic @each_turn_aic(
// CHECK:        scf.for
// CHECK:          %handover = tile.tpop_from_aiv
// CHECK-NEXT:     tile.tfree_to_aiv %handover
// CHECK-NEXT:     tile.bar_all
// CHECK-NEXT:     %x2 = tile.store %p, %x0[0, 0]
// CHECK:          tile.tpush_to_aiv %handover_1
// CHECK:      orch.func aiv @each_turn_aiv(
// CHECK:          scf.for
// CHECK-NEXT:       tile.bar_all
// CHECK:            tile.tpush_to_aic %handover
// CHECK-NEXT:       %handover_1 = tile.tpop_from_aic
// CHECK-NEXT:       tile.tfree_to_aic %handover_1
// CHECK-NEXT:       %v = tile.load %x0[0, 0]
orch.func incore @each_turn(in %a : tensor<16x16xf32>, in %n : index, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x1, %y1 = scf.for %i = %c0 to %n step %c1 iter_args(%x0 = %x, %y0 = %y) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    %x2 = tile.store %p, %x0[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
    %v = tile.load %x2[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
    %y2 = tile.store %v, %y0[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    scf.yield %x2, %y2 : tensor<16x16xf32>, tensor<16x16xf32>
  }
  orch.return
}

// A condition comes before each turn of a loop, and after the last one.
// CHECK:      orch.func aiv @while_it_lasts_aiv(
// CHECK:        scf.while
// CHECK:          %handover = tile.tpop_from_aic
// CHECK-NEXT:     tile.tfree_to_aic %handover
// CHECK-NEXT:     %v = tile.load %x0[0, 0]
// CHECK:          scf.condition
// CHECK:        } do {
// CHECK:          tile.tpush_to_aic %handover_1
// CHECK-NOT:    tile.tpop_from_aic
// CHECK:        %w = tile.load
orch.func incore @while_it_lasts(in %a : tensor<16x16xf32>, in %n : index, inout %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>, out %z : tensor<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x1, %y1, %i1 = scf.while (%x0 = %x, %y0 = %y, %i = %c0) : (tensor<16x16xf32>, tensor<16x16xf32>, index) -> (tensor<16x16xf32>, tensor<16x16xf32>, index) {
    %v = tile.load %x0[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
    %y2 = tile.store %v, %y0[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %x0, %y2, %i : tensor<16x16xf32>, tensor<16x16xf32>, index
  } do {
  ^bb0(%x0 : tensor<16x16xf32>, %y0 : tensor<16x16xf32>, %i : index):
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    %x2 = tile.store %p, %x0[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %x2, %y0, %next : tensor<16x16xf32>, tensor<16x16xf32>, index
  }
  %w = tile.load %x1[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %z1 = tile.store %w, %z[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return
}

// A product that passes after the store orders the two, and so does a place where all cores meet.
// CHECK:      orch.func aic @ordered_anyway_aic(
// CHECK-NOT:    %handover
// CHECK:        tile.tpush_to_aiv %p
// CHECK-NOT:    %handover
// CHECK:      orch.func aiv @ordered_anyway_aiv(
// CHECK-NOT:    %handover
// CHECK:      orch.func group
orch.func incore @ordered_anyway(in %a : tensor<16x16xf32>, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %x1 = tile.store %p, %x[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  %w = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
  %v = tile.load %x1[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %s = tile.add %v, %w : !tile.tile<16x16xf32, vec>
  %y1 = tile.store %s, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  tile.syncall
  %z1 = tile.store %p, %y1[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  orch.return
}

// What both only read, and what each has for itself, is in no order.
// CHECK:      orch.func aic @nothing_shared_aic(
// CHECK-NOT:    initialize_pipe
// CHECK:      orch.func group @nothing_shared(
orch.func incore @nothing_shared(in %a : tensor<16x16xf32>, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %x1 = tile.store %p, %x[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  %v = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return
}

// The vector cores of a kernel that is split have a part of what passes, each.
// CHECK:      orch.func aic @parts_aic(
// CHECK:        tile.tpush_to_aiv %handover, split = up_down : !tile.tile<16x16xf32, acc>
// CHECK:      orch.func aiv @parts_aiv(
// CHECK:        %handover = tile.tpop_from_aic split = up_down : !tile.tile<8x16xf32, vec>
// CHECK-NEXT:   tile.tfree_to_aic %handover, split = up_down
// CHECK:        %v = tile.load %x[{{.*}}, 0] : tensor<16x16xf32> -> !tile.tile<8x16xf32, vec>
orch.func incore @parts(in %a : tensor<16x16xf32>, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) attributes {orch.split = #orch<split up_down>} {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %x1 = tile.store %p, %x[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  %v = tile.load %x1[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return
}

// In regions for one core each, what passes has the parts of the tiles that pass there.
// CHECK:      orch.func aic @regions_aic(
// CHECK:        tile.tpush_to_aiv %p, split = up_down
// CHECK:        %handover = tile.tpop_from_aiv split = up_down : !tile.tile<16x16xf32, mat>
// CHECK:        %n = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
// CHECK:      orch.func aiv @regions_aiv(
// CHECK:        %x1 = tile.store %h, %x
// CHECK:        %handover = tile.full {{.*}} : f32 -> !tile.tile<8x16xf32, vec>
// CHECK-NEXT:   tile.tpush_to_aic %handover, split = up_down : !tile.tile<8x16xf32, vec>
orch.func incore @regions(in %a : tensor<16x16xf32>, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) attributes {orch.split = #orch<split up_down>, orch.split_aiv} {
  %c8 = arith.constant 8 : index
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %x2 = orch.split_aiv %core mode up_down -> (tensor<16x16xf32>) {
    %h = tile.aiv_shard %p, split = up_down : !tile.tile<16x16xf32, acc> -> !tile.tile<8x16xf32, vec>
    %row = arith.muli %core, %c8 : index
    %x1 = tile.store %h, %x[%row, 0] : !tile.tile<8x16xf32, vec>, tensor<16x16xf32>
    orch.yield %x1 : tensor<16x16xf32>
  }
  %n = tile.load %x2[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %nl = tile.move %n : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %q = tile.matmul %nl, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %y1 = tile.store %q, %y[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  orch.return
}

// Where nothing passes by parts, what passes is whole: the first core passes it.
// CHECK:      orch.func aiv @whole_aiv(
// CHECK:        %x1 = tile.store %h, %x
// CHECK:        scf.if {{.*}} {
// CHECK-NEXT:     tile.tpush_to_aic %handover : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:   } else {
// CHECK-NEXT:     [[EMPTY:%.*]] = tile.create : !tile.tile<16x16xf32, vec, valid = [0, 0]>
// CHECK-NEXT:     tile.tpush_to_aic [[EMPTY]]
orch.func incore @whole(in %a : tensor<16x16xf32>, in %b : tensor<16x16xf32>, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) attributes {orch.split_aiv} {
  %c8 = arith.constant 8 : index
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %x2 = orch.split_aiv %core mode up_down -> (tensor<16x16xf32>) {
    %row = arith.muli %core, %c8 : index
    %h = tile.load %b[%row, 0] : tensor<16x16xf32> -> !tile.tile<8x16xf32, vec>
    %x1 = tile.store %h, %x[%row, 0] : !tile.tile<8x16xf32, vec>, tensor<16x16xf32>
    orch.yield %x1 : tensor<16x16xf32>
  }
  %n = tile.load %x2[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %nl = tile.move %n : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %q = tile.matmul %nl, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %y1 = tile.store %q, %y[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  orch.return
}
}
