// RUN: pypto-opt --expand-mixed-kernel %s | filecheck %s
// A second run finds nothing to do, and what is printed is read back.
// RUN: pypto-opt --expand-mixed-kernel --expand-mixed-kernel %s | pypto-opt | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// Work of one core stays whole.
// CHECK:      orch.func incore @pure
orch.func incore @pure(in %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> {
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %e = tile.exp %t : !tile.tile<16x16xf32, vec>
  %z = tile.store %e, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return %z : tensor<16x16xf32>
}

// A product goes to the vector cores, and a sum comes back to be multiplied. Each slot is freed
// after the last use of its tile; on the cube core that is the move to L0A. What a half does not
// use is not computed there, what it stores nowhere is there the tensor that it was.
// CHECK:      orch.func aic @there_and_back_aic(in %a: tensor<16x16xf32>, inout %s: tensor<16x16xf32>, out %y: tensor<16x16xf32>) {
// CHECK-NEXT:   %0 = tile.import_peer_buffer buffer = "there_and_back_c2v_slots", peer_func = "there_and_back_aiv" : i32
// CHECK-NEXT:   %1 = tile.reserve_buffer buffer = "there_and_back_v2c_slots", size = 2048 : i32
// CHECK-NEXT:   tile.aic_initialize_pipe %0, %1, dir_mask = 3, slot_size = 1024, slot_num = 2 : i32
// CHECK-NEXT:   %m = tile.load %a[0, 0]
// CHECK-NEXT:   %l = tile.move %m
// CHECK-NEXT:   %r = tile.move %m
// CHECK-NEXT:   %p = tile.matmul %l, %r
// CHECK-NEXT:   tile.tpush_to_aiv %p : !tile.tile<16x16xf32, acc>
// CHECK-NEXT:   %ll = tile.tpop_from_aiv : !tile.tile<16x16xf32, mat>
// CHECK-NEXT:   %ll_1 = tile.move %ll : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
// CHECK-NEXT:   tile.tfree_to_aiv %ll : !tile.tile<16x16xf32, mat>
// CHECK-NEXT:   %q = tile.matmul %ll_1, %r
// CHECK-NEXT:   %z = tile.store %q, %y[0, 0]
// CHECK-NEXT:   orch.return
// CHECK-NEXT: }
// One vector core does the work, the other one takes part in the pushes and pops.
// CHECK-NEXT: orch.func aiv @there_and_back_aiv(in %a: tensor<16x16xf32>, inout %s: tensor<16x16xf32>, out %y: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) attributes {orch.dual_aiv_dispatch} {
// CHECK-NEXT:   %0 = tile.reserve_buffer buffer = "there_and_back_c2v_slots", size = 2048 : i32
// CHECK-NEXT:   %1 = tile.import_peer_buffer buffer = "there_and_back_v2c_slots", peer_func = "there_and_back_aic" : i32
// CHECK-NEXT:   tile.aiv_initialize_pipe %0, %1, dir_mask = 3, slot_size = 1024, slot_num = 2 : i32
// CHECK-NEXT:   %2 = tile.get_subblock_idx : index
// CHECK-NEXT:   %3 = arith.constant 0 : index
// CHECK-NEXT:   %4 = arith.cmpi eq, %2, %3 : index
// CHECK-NEXT:   %5 = scf.if %4 -> (tensor<16x16xf32>) {
// CHECK-NEXT:     %old = tile.load %s[0, 0]
// CHECK-NEXT:     %v = tile.tpop_from_aic : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:     %sum = tile.add %v, %old
// CHECK-NEXT:     tile.tfree_to_aic %v : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:     tile.tpush_to_aic %sum : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:     %w = tile.store %sum, %s[0, 0]
// CHECK-NEXT:     scf.yield %w : tensor<16x16xf32>
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %v_1 = tile.tpop_from_aic : !tile.tile<16x16xf32, vec, valid = [0, 0]>
// CHECK-NEXT:     tile.tfree_to_aic %v_1 : !tile.tile<16x16xf32, vec, valid = [0, 0]>
// CHECK-NEXT:     %sum_1 = tile.create : !tile.tile<16x16xf32, vec, valid = [0, 0]>
// CHECK-NEXT:     tile.tpush_to_aic %sum_1 : !tile.tile<16x16xf32, vec, valid = [0, 0]>
// CHECK-NEXT:     scf.yield %s : tensor<16x16xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   orch.return %5, %y : tensor<16x16xf32>, tensor<16x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: orch.func group @there_and_back(in %a: tensor<16x16xf32>, inout %s: tensor<16x16xf32>, out %y: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
// CHECK-NEXT:   orch.call @there_and_back_aic(%a, %s, %y) : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> ()
// CHECK-NEXT:   %w, %z = orch.call @there_and_back_aiv(%a, %s, %y)
// CHECK-NEXT:   orch.return %w, %z
// CHECK-NEXT: }
orch.func incore @there_and_back(in %a : tensor<16x16xf32>, inout %s : tensor<16x16xf32>, out %y : tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %old = tile.load %s[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
  %sum = tile.add %v, %old : !tile.tile<16x16xf32, vec>
  %ll = tile.move %sum : !tile.tile<16x16xf32, vec> -> !tile.tile<16x16xf32, left>
  %q = tile.matmul %ll, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %w = tile.store %sum, %s[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  %z = tile.store %q, %y[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  orch.return %w, %z : tensor<16x16xf32>, tensor<16x16xf32>
}

// Loops are in both halves, each with the tiles of its own; a popped tile that a loop hands on is
// copied, its slot is free at once.
// CHECK:      orch.func aic @loop_aic
// CHECK:        %0 = tile.import_peer_buffer buffer = "loop_c2v_slots", peer_func = "loop_aiv" : i32
// CHECK-NEXT:   %1 = arith.constant 0 : i32
// CHECK-NEXT:   tile.aic_initialize_pipe %0, %1, dir_mask = 1, slot_size = 1024, slot_num = 2 : i32
// CHECK:        %total = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first) -> (!tile.tile<16x16xf32, acc>) {
// CHECK-NEXT:     %next = tile.matmul_acc %sum, %l, %r
// CHECK-NEXT:     tile.tpush_to_aiv %next
// CHECK-NEXT:     scf.yield %next
// CHECK-NEXT:   }
// CHECK:        orch.return
// CHECK:      orch.func aiv @loop_aiv
// CHECK:          %largest = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %start) -> (!tile.tile<16x16xf32, vec>) {
// CHECK-NEXT:       %v = tile.tpop_from_aic : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:       %v_1 = tile.move %v : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:       tile.tfree_to_aic %v : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:       %c = arith.cmpi slt, %i, %n : index
// CHECK-NEXT:       %either = scf.if %c -> (!tile.tile<16x16xf32, vec>) {
// CHECK-NEXT:         scf.yield %v_1
// CHECK-NEXT:       } else {
// CHECK-NEXT:         scf.yield %so_far
// CHECK-NEXT:       }
// CHECK-NEXT:       scf.yield %either
// CHECK-NEXT:     }
// CHECK-NEXT:     %z = tile.store %largest, %y[0, 0]
// CHECK-NEXT:     scf.yield %z
// CHECK-NEXT:   } else {
// CHECK:          scf.for %i_1 = %c0_1 to %n step %c1_1 {
// CHECK-NEXT:       %v_2 = tile.tpop_from_aic : !tile.tile<16x16xf32, vec, valid = [0, 0]>
// CHECK-NEXT:       tile.tfree_to_aic %v_2
// CHECK-NEXT:     }
// CHECK-NEXT:     scf.yield %y
orch.func incore @loop(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>, in %n : index) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %first = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %start = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %total, %largest = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first, %so_far = %start) -> (!tile.tile<16x16xf32, acc>, !tile.tile<16x16xf32, vec>) {
    %next = tile.matmul_acc %sum, %l, %r : !tile.tile<16x16xf32, acc>, !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right>
    %v = tile.move %next : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
    %c = arith.cmpi slt, %i, %n : index
    %either = scf.if %c -> (!tile.tile<16x16xf32, vec>) {
      scf.yield %v : !tile.tile<16x16xf32, vec>
    } else {
      scf.yield %so_far : !tile.tile<16x16xf32, vec>
    }
    scf.yield %next, %either : !tile.tile<16x16xf32, acc>, !tile.tile<16x16xf32, vec>
  }
  %z = tile.store %largest, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return %z : tensor<16x16xf32>
}

// Slots come back in the order of the pops: the second is freed after the first, which lasts
// longer. Three are taken at once, and so there are three.
// CHECK:      orch.func aiv @order_aiv
// CHECK:        tile.aiv_initialize_pipe %0, %1, dir_mask = 1, slot_size = 1024, slot_num = 3 : i32
// CHECK:          %v1 = tile.tpop_from_aic
// CHECK-NEXT:     %v2 = tile.tpop_from_aic
// CHECK-NEXT:     %v3 = tile.tpop_from_aic
// CHECK-NEXT:     %s = tile.add %v2, %v3
// CHECK-NEXT:     %t = tile.add %v1, %s
// CHECK-NEXT:     tile.tfree_to_aic %v1
// CHECK-NEXT:     tile.tfree_to_aic %v2
// CHECK-NEXT:     tile.tfree_to_aic %v3
orch.func incore @order(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %v1 = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
  %v2 = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
  %v3 = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
  %s = tile.add %v2, %v3 : !tile.tile<16x16xf32, vec>
  %t = tile.add %v1, %s : !tile.tile<16x16xf32, vec>
  %z = tile.store %t, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return %z : tensor<16x16xf32>
}

// A group that is there launches both halves; nothing is left of the kernel.
// CHECK:      orch.func aic @inner_aic
// CHECK:      orch.func aiv @inner_aiv
// CHECK-NOT:  @inner(
// CHECK:      orch.func group @outer
// CHECK-NEXT:   orch.call @inner_aic(%a, %y)
// CHECK-NEXT:   %z = orch.call @inner_aiv(%a, %y)
// CHECK-NEXT:   orch.return %z
orch.func incore @inner(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
  %z = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return %z : tensor<16x16xf32>
}
orch.func group @outer(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> {
  %z = orch.call @inner(%a, %y) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  orch.return %z : tensor<16x16xf32>
}

// Where two slots would take more than half of the vector cores' memory, there is one.
// CHECK:      orch.func aiv @large_aiv
// CHECK:        tile.aiv_initialize_pipe %0, %1, dir_mask = 1, slot_size = 65536, slot_num = 1 : i32
orch.func incore @large(in %a : tensor<128x128xf32>, out %y : tensor<128x128xf32>) -> tensor<128x128xf32> {
  %m = tile.load %a[0, 0] : tensor<128x128xf32> -> !tile.tile<128x128xf32, mat>
  %l = tile.move %m : !tile.tile<128x128xf32, mat> -> !tile.tile<128x128xf32, left>
  %r = tile.move %m : !tile.tile<128x128xf32, mat> -> !tile.tile<128x128xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<128x128xf32, left>, !tile.tile<128x128xf32, right> -> !tile.tile<128x128xf32, acc>
  %v = tile.move %p : !tile.tile<128x128xf32, acc> -> !tile.tile<128x128xf32, vec>
  %z = tile.store %v, %y[0, 0] : !tile.tile<128x128xf32, vec>, tensor<128x128xf32>
  orch.return %z : tensor<128x128xf32>
}

// It asks for more.
// CHECK:      orch.func aiv @asking_aiv
// CHECK:        tile.aiv_initialize_pipe %0, %1, dir_mask = 1, slot_size = 1024, slot_num = 5 : i32
orch.func incore @asking(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> attributes {orch.slot_num = 5 : i64} {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
  %z = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return %z : tensor<16x16xf32>
}

// What the vector core alone knows may decide what it does alone: the others leave it out.
// CHECK:      orch.func aic @own_decision_aic
// CHECK:        tile.tpush_to_aiv %p
// CHECK-NEXT:   orch.return
// CHECK:      orch.func aiv @own_decision_aiv
// CHECK:          %c = arith.cmpf ogt, %e, %k : f32
// CHECK-NEXT:     %w = scf.if %c -> (tensor<16x16xf32>) {
// CHECK:          } else {
// CHECK:          scf.yield %w : tensor<16x16xf32>
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %v_1 = tile.tpop_from_aic
// CHECK-NEXT:     tile.tfree_to_aic %v_1
// CHECK-NEXT:     scf.yield %y : tensor<16x16xf32>
orch.func incore @own_decision(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>, in %k : f32) -> tensor<16x16xf32> {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
  %e = tile.read %v[0, 0] : !tile.tile<16x16xf32, vec> -> f32
  %c = arith.cmpf ogt, %e, %k : f32
  %w = scf.if %c -> (tensor<16x16xf32>) {
    %u = tile.exp %v : !tile.tile<16x16xf32, vec>
    %w1 = tile.store %u, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    scf.yield %w1 : tensor<16x16xf32>
  } else {
    scf.yield %y : tensor<16x16xf32>
  }
  orch.return %w : tensor<16x16xf32>
}
}
