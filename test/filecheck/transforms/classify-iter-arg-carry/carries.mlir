// Which carried values of a loop are variables; numbers are those of the reference's scenarios.

// RUN: pypto-opt --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry --verify-each --split-input-file --verify-diagnostics %s | filecheck %s
// RUN: pypto-opt --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry --classify-iter-arg-carry --split-input-file %s | filecheck %s

// 1, 2 (7: run twice, nothing more happens): what a task wrote and hands on is the same name; a
// fresh tensor is not. Scalars change, or are handed on as they came.

orch.func incore @fill(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func incore @add(in tensor<64xf32>, inout tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @carries(in %a : tensor<64xf32>, in %n : index, out %b : tensor<64xf32>) -> tensor<64xf32> {
  %r:4 = scf.for %i = %n to %n step %n iter_args(%cur = %a, %acc = %b, %k = %n, %l = %n) -> (tensor<64xf32>, tensor<64xf32>, index, index) {
    %nxt = ptensor.create : tensor<64xf32>
    %nxt1 = orch.call @fill(%cur, %nxt) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %acc1 = orch.call @add(%nxt1, %acc) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %k1 = arith.addi %k, %i : index
    scf.yield %nxt1, %acc1, %k1, %l : tensor<64xf32>, tensor<64xf32>, index, index
  }
  orch.return %r#1 : tensor<64xf32>
}

// CHECK-LABEL: @carries(
// CHECK:         } {orch.rebound = array<i1: true, false, true, false>}

// -----

// Two that change places are both rebound, as is what a branch decides; a window of a carried
// tensor that is put back is its next name, a window alone is not.

orch.func orchestration @swap(in %a : tensor<64xf32>, in %b : tensor<64xf32>, in %n : index, in %c : i1, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %r:4 = scf.for %i = %n to %n step %n iter_args(%x = %a, %y = %b, %z = %a, %w = %o) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %z1 = scf.if %c -> (tensor<64xf32>) {
      scf.yield %z : tensor<64xf32>
    } else {
      scf.yield %z : tensor<64xf32>
    }
    %s = ptensor.slice %x[0] : tensor<64xf32> -> tensor<32xf32>
    %w1 = ptensor.assemble %s, %w[0] : tensor<32xf32>, tensor<64xf32>
    scf.yield %y, %x, %z1, %w1 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  orch.return %r#3 : tensor<64xf32>
}

// CHECK-LABEL: @swap(
// CHECK:         } {orch.rebound = array<i1: true, true, true, false>}

// -----

// A loop in a loop: the result of one that does not rebind is what it starts from; of one that
// does it is a variable of its own, also for the loop around.

orch.func incore @fill(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @nested(in %a : tensor<64xf32>, in %n : index, out %b : tensor<64xf32>) -> tensor<64xf32> {
  %r:2 = scf.for %i = %n to %n step %n iter_args(%x = %b, %y = %a) -> (tensor<64xf32>, tensor<64xf32>) {
    %s:2 = scf.for %j = %n to %n step %n iter_args(%u = %x, %v = %y) -> (tensor<64xf32>, tensor<64xf32>) {
      %u1 = orch.call @fill(%v, %u) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      %t = ptensor.create : tensor<64xf32>
      %v1 = orch.call @fill(%a, %t) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      scf.yield %u1, %v1 : tensor<64xf32>, tensor<64xf32>
    } {outer = false}
    scf.yield %s#0, %s#1 : tensor<64xf32>, tensor<64xf32>
  } {outer = true}
  orch.return %r#0 : tensor<64xf32>
}

// CHECK-LABEL: @nested(
// CHECK:         } {outer = false, orch.rebound = array<i1: false, true>}
// CHECK:         } {outer = true, orch.rebound = array<i1: false, true>}

// -----

// 3, 4: in a manual scope the task of a parallel loop is one of each iteration; 4 counts the trips
// of a loop whose bounds are no multiple of its step (one that descends is written ascending). A
// sequential loop around hands on all of them, one that runs its own tasks only the last.

orch.func incore @fill(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @manual(in %a : tensor<64xf32>, in %n : index, out %b : tensor<64xf32>) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %ten = arith.constant 10 : index
  orch.task_scope manual {
    %none = orch.task_invalid
    %all = scf.for %i = %n to %n step %n iter_args(%before = %none) -> (!orch.task_id) {
      %each = scf.for %j = %zero to %ten step %three iter_args(%last = %before) -> (!orch.task_id) {
        %b1, %t = orch.submit @fill(%a, %b) deps [%before] : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
        scf.yield %t : !orch.task_id
      } {orch.loop = #orch<loop parallel>}
      scf.yield %each : !orch.task_id
    }
    %own = scf.for %i = %n to %n step %n iter_args(%last = %none) -> (!orch.task_id) {
      %b2, %t = orch.submit @fill(%a, %b) deps [%last] : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
      scf.yield %t : !orch.task_id
    }
  }
  orch.return
}

// CHECK-LABEL: @manual(
// CHECK:         } {orch.loop = #orch<loop parallel>, orch.rebound = array<i1: true>, orch.task_slots = array<i64: 4>}
// CHECK:         } {orch.rebound = array<i1: true>, orch.task_slots = array<i64: 4>}
// CHECK:         } {orch.rebound = array<i1: true>}

// -----

// 6: without a manual scope the last task is all there is to know. What was said before is found
// out anew.

orch.func incore @fill(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @automatic(in %a : tensor<64xf32>, in %n : index, out %b : tensor<64xf32>) {
  %none = orch.task_invalid
  %each = scf.for %j = %n to %n step %n iter_args(%last = %none) -> (!orch.task_id) {
    %b1, %t = orch.submit @fill(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
    scf.yield %t : !orch.task_id
  } {orch.loop = #orch<loop parallel>, orch.rebound = array<i1: false>, orch.task_slots = array<i64: 7>}
  orch.return
}

// CHECK-LABEL: @automatic(
// CHECK:         } {orch.loop = #orch<loop parallel>, orch.rebound = array<i1: true>}

// -----

// While loops and functions of other kinds are left alone.

orch.func graph @graph(in %n : index, out %x : tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%k = %x) -> (tensor<64xf32>) {
    scf.yield %k : tensor<64xf32>
  }
  orch.return %x : tensor<64xf32>
}
orch.func orchestration @while(in %n : index, in %c : i1) -> index {
  %w = scf.while (%b = %n) : (index) -> index {
    scf.condition(%c) %b : index
  } do {
  ^bb0(%a : index):
    scf.yield %a : index
  }
  orch.return %w : index
}

// CHECK-LABEL: @graph(
// CHECK-NOT:     orch.rebound

// -----

// N12: a kernel writes three tensors and returns the first and the last: results are those that it
// says, not the written ones in their order.

orch.func incore @three(in tensor<64xf32>, inout tensor<64xf32>, inout tensor<64xf32>, inout tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) returns [1, 3]
orch.func orchestration @which(in %x : tensor<64xf32>, in %n : index, inout %p : tensor<64xf32>, inout %q : tensor<64xf32>) {
  %r:2 = scf.for %i = %n to %n step %n iter_args(%a = %p, %b = %q) -> (tensor<64xf32>, tensor<64xf32>) {
    %c = ptensor.create : tensor<64xf32>
    %a1, %c1 = orch.call @three(%x, %a, %b, %c) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
    scf.yield %a1, %c1 : tensor<64xf32>, tensor<64xf32>
  }
  orch.return
}

// CHECK-LABEL: @which(
// CHECK:         } {orch.rebound = array<i1: false, true>}
