// A result that is a parameter's buffer under the parameter's type becomes the parameter.

// RUN: pypto-opt --normalize-return-order --verify-each --split-input-file --verify-diagnostics %s | filecheck %s

// A-T22: both arms write the same parameter; wrappers that forward it return theirs (R5, A2: all
// of one type, through two wrappers, with a buffer in between that is not returned).

orch.func aiv @branch(in %c : i1, inout %kv : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %t = tile.load %kv[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %kv1 = tile.store %t, %kv[0] : !tile.tile<16xf32>, tensor<16xf32>
  %m:2 = scf.if %c -> (tensor<16xf32>, tensor<16xf32>) {
    %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
    scf.yield %b, %a1 : tensor<16xf32>, tensor<16xf32>
  } else {
    %a2 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
    %b2 = tile.store %t, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
    scf.yield %b2, %a2 : tensor<16xf32>, tensor<16xf32>
  }
  // expected-remark @+1 {{'branch' keeps the order of its results: parameter 1 (%kv) is written, but not returned}}
  orch.return %m#0, %m#1 : tensor<16xf32>, tensor<16xf32>
}
orch.func group @group(in %c : i1, inout %kv : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %r:2 = orch.call @branch(%c, %kv, %a, %b) : (i1, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  orch.return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}
orch.func spmd @spmd(in %c : i1, inout %kv : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %r:2 = orch.call @group(%c, %kv, %b, %a) : (i1, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  orch.return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @branch(
// CHECK:         orch.return %b, %a :
// CHECK-LABEL: @group(
// CHECK-NEXT:    orch.call @branch
// CHECK-NEXT:    orch.return %b, %a :
// CHECK-LABEL: @spmd(
// CHECK-NEXT:    orch.call @group
// CHECK-NEXT:    orch.return %a, %b :

// -----

// A-T23: calls of kernels whose extents have other symbols. The branch is known under the caller's
// type, and so is the result; whoever uses it under the type written there gets a cast.

!caller = tensor<?xf32, #ptensor.view<dims = [M]>>
!callee = tensor<?xf32, #ptensor.view<dims = [K]>>
!main = tensor<?xf32, #ptensor.view<dims = [N]>>
orch.func aiv @callee(out %o : !callee) -> !callee {
  orch.return %o : !callee
}
orch.func incore @dynamic(in %c : i1, out %o : !caller) -> !callee {
  %m = scf.if %c -> (!callee) {
    %o1 = orch.call @callee(%o) : (!caller) -> !callee
    scf.yield %o1 : !callee
  } else {
    %o2 = orch.call @callee(%o) : (!caller) -> !callee
    scf.yield %o2 : !callee
  }
  orch.return %m : !callee
}
orch.func orchestration @main(in %c : i1, out %o : !main) -> !callee {
  %r = orch.call @dynamic(%c, %o) : (i1, !main) -> !callee
  %s, %t = orch.submit @dynamic(%c, %r) : (i1, !callee) -> (!callee, !orch.task_id)
  orch.return %s : !callee
}

// CHECK-LABEL: @dynamic(
// CHECK-SAME:    out %o: tensor<?xf32, #ptensor.view<dims = [M]>>) -> tensor<?xf32, #ptensor.view<dims = [M]>>
// CHECK:         orch.return %o : tensor<?xf32, #ptensor.view<dims = [M]>>
// CHECK-LABEL: @main(
// CHECK-NEXT:    [[R:%.*]] = orch.call @dynamic(%c, %o) : {{.*}} -> tensor<?xf32, #ptensor.view<dims = [N]>>
// CHECK-NEXT:    [[CAST:%.*]] = ptensor.type_cast [[R]] : tensor<?xf32, #ptensor.view<dims = [N]>> -> tensor<?xf32, #ptensor.view<dims = [K]>>
// CHECK-NEXT:    %s, %t = orch.submit @dynamic(%c, [[CAST]]) : {{.*}} -> (tensor<?xf32, #ptensor.view<dims = [K]>>, !orch.task_id)
// CHECK-NEXT:    orch.return %s

// -----

// A-T24, A-T36, A-T33: not proved to be one parameter. (a) Arms write different ones, (b) one arm
// is a fresh buffer, (c) a view, (d) another valid shape.

orch.func aiv @conflicting(in %c : i1, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %m:2 = scf.if %c -> (tensor<16xf32>, tensor<16xf32>) {
    scf.yield %a, %b : tensor<16xf32>, tensor<16xf32>
  } else {
    scf.yield %b, %a : tensor<16xf32>, tensor<16xf32>
  }
  // expected-remark @+1 {{parameter 1 (%a) is written, but not returned; parameter 2 (%b) is written, but not returned}}
  orch.return %m#0, %m#1 : tensor<16xf32>, tensor<16xf32>
}
orch.func aiv @unproved(in %c : i1, out %b : tensor<16xf32>, out %w : tensor<?x16xf32>, out %v : tensor<16xf32>, in %n : index)
    -> (tensor<16xf32>, tensor<?x16xf32>, tensor<16xf32, #ptensor.view<valid = [8]>>) {
  %e:3 = scf.if %c -> (tensor<16xf32>, tensor<?x16xf32>, tensor<16xf32, #ptensor.view<valid = [8]>>) {
    %fresh = ptensor.create : tensor<16xf32>
    // A window of the parameter's own type is still another part of it.
    %window = ptensor.slice %w[4, 0], sizes = [%n, 16] : tensor<?x16xf32> -> tensor<?x16xf32>
    %v1 = ptensor.set_validshape %v, valid = [8] : tensor<16xf32> -> tensor<16xf32, #ptensor.view<valid = [8]>>
    scf.yield %fresh, %window, %v1 : tensor<16xf32>, tensor<?x16xf32>, tensor<16xf32, #ptensor.view<valid = [8]>>
  } else {
    %v2 = ptensor.set_validshape %v, valid = [8] : tensor<16xf32> -> tensor<16xf32, #ptensor.view<valid = [8]>>
    scf.yield %b, %w, %v2 : tensor<16xf32>, tensor<?x16xf32>, tensor<16xf32, #ptensor.view<valid = [8]>>
  }
  // expected-remark @+1 {{'unproved' keeps the order of its results}}
  orch.return %e#0, %e#1, %e#2 : tensor<16xf32>, tensor<?x16xf32>, tensor<16xf32, #ptensor.view<valid = [8]>>
}

// CHECK-LABEL: @conflicting(
// CHECK:         orch.return %m, %m_1 :
// CHECK-LABEL: @unproved(
// CHECK:         orch.return %e, %e_1, %e_2 :

// -----

// A-T25, A-T26: a valid shape that is narrowed and restored is the parameter's again; one that
// stays narrow is not, in either order of the results.

!full = tensor<16xf32>
!narrow = tensor<16xf32, #ptensor.view<valid = [8]>>
orch.func aiv @restored(in %c : i1, in %x : !full, out %a : !full, out %b : !full) -> (!narrow, !full) {
  %m = scf.if %c -> (!narrow) {
    %n1 = ptensor.set_validshape %a, valid = [8] : !full -> !narrow
    scf.yield %n1 : !narrow
  } else {
    %n2 = ptensor.set_validshape %a, valid = [8] : !full -> !narrow
    scf.yield %n2 : !narrow
  }
  %t = tile.load %x[0] : !full -> !tile.tile<16xf32>
  %r = tile.store %t, %m[0] : !tile.tile<16xf32>, !narrow -> !full
  %n3 = ptensor.set_validshape %b, valid = [8] : !full -> !narrow
  // Result 0 is %b, but narrow; %a would belong to its place.
  // expected-remark @+1 {{result 0 is no written parameter and stands in the place of parameter 2 (%a), which is result 1}}
  orch.return %n3, %r : !narrow, !full
}
orch.func aiv @restored_in_order(in %x : !full, out %a : !full, out %b : !full) -> (!full, !narrow) {
  %n1 = ptensor.set_validshape %a, valid = [8] : !full -> !narrow
  %t = tile.load %x[0] : !full -> !tile.tile<16xf32>
  %r = tile.store %t, %n1[0] : !tile.tile<16xf32>, !narrow -> !full
  %n3 = ptensor.set_validshape %r, valid = [8] : !full -> !narrow
  // expected-remark @+1 {{parameter 2 (%b) is written, but not returned}}
  orch.return %r, %n3 : !full, !narrow
}

// CHECK-LABEL: @restored(
// CHECK:         orch.return %n3, %a :
// CHECK-LABEL: @restored_in_order(
// CHECK:         orch.return %a, %n3 :

// -----

// A-T28, A-T29: a graph is never reordered, and its branches are not looked through.

orch.func incore @core(out %a : tensor<16xf32>, out %b : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  orch.return %a, %b : tensor<16xf32>, tensor<16xf32>
}
orch.func graph @graph(in %c : i1, out %a : tensor<16xf32>, out %b : tensor<16xf32>, out %d : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %r:2 = orch.call @core(%a, %b) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %m = scf.if %c -> (tensor<16xf32>) {
    scf.yield %d : tensor<16xf32>
  } else {
    scf.yield %d : tensor<16xf32>
  }
  orch.return %r#1, %m, %r#0 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @graph(
// CHECK:         orch.return %b, %m, %a :

// -----

// A-T35: both results through the arms of a branch, in the wrong order, of distinct types.

orch.func aiv @branches(in %c : i1, out %b : tensor<16xf32>, out %a : tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>) {
  %m:2 = scf.if %c -> (tensor<8xi32>, tensor<16xf32>) {
    scf.yield %a, %b : tensor<8xi32>, tensor<16xf32>
  } else {
    scf.yield %a, %b : tensor<8xi32>, tensor<16xf32>
  }
  orch.return %m#0, %m#1 : tensor<8xi32>, tensor<16xf32>
}
orch.func orchestration @branches_caller(in %c : i1, out %b : tensor<16xf32>, out %a : tensor<8xi32>) -> tensor<8xi32> {
  %ints, %floats = orch.call @branches(%c, %b, %a) : (i1, tensor<16xf32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>)
  orch.return %ints : tensor<8xi32>
}

// CHECK-LABEL: @branches(
// CHECK-SAME:    -> (tensor<16xf32>, tensor<8xi32>)
// CHECK-NEXT:    %m, %m_1 = scf.if %c -> (tensor<8xi32>, tensor<16xf32>)
// CHECK:         orch.return %b, %a :
// CHECK-LABEL: @branches_caller(
// CHECK-NEXT:    %floats, %ints = orch.call
// CHECK-NEXT:    orch.return %ints : tensor<8xi32>

// -----

// R1: one result from a loop, one stored. R7: a scalar that the loop carries is no buffer.

orch.func incore @loop(in %x : tensor<16xf32>, in %n : index, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %b1 = tile.store %t, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  %r:2 = scf.for %i = %n to %n step %n iter_args(%s = %n, %it = %a) -> (index, tensor<16xf32>) {
    %s1 = arith.addi %s, %i : index
    %it1 = tile.store %t, %it[0] : !tile.tile<16xf32>, tensor<16xf32>
    scf.yield %s1, %it1 : index, tensor<16xf32>
  }
  orch.return %b1, %r#1 : tensor<16xf32>, tensor<16xf32>
}
orch.func graph @carried_scalar(in %n : index) -> index {
  %r = scf.for %i = %n to %n step %n iter_args(%s = %n) -> (index) {
    scf.yield %s : index
  }
  orch.return %r : index
}

// CHECK-LABEL: @loop(
// CHECK:         orch.return %a, %b :
// CHECK-LABEL: @carried_scalar(
// CHECK:         orch.return %r :

// -----

// R13: a write that is guarded, in a loop of two trips, keeps its root; so does a while.

orch.func aiv @kernel(out %p : tensor<16xf32>) -> tensor<16xf32> {
  orch.return %p : tensor<16xf32>
}
orch.func spmd @guarded(in %c : i1, in %n : index, out %p : tensor<16xf32>, out %q : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %r = scf.for %i = %n to %n step %n iter_args(%it = %p) -> (tensor<16xf32>) {
    %m = scf.if %c -> (tensor<16xf32>) {
      %p1 = orch.call @kernel(%it) : (tensor<16xf32>) -> tensor<16xf32>
      scf.yield %p1 : tensor<16xf32>
    } else {
      scf.yield %it : tensor<16xf32>
    }
    scf.yield %m : tensor<16xf32>
  }
  %w = scf.while (%before = %q) : (tensor<16xf32>) -> tensor<16xf32> {
    scf.condition(%c) %before : tensor<16xf32>
  } do {
  ^bb0(%after : tensor<16xf32>):
    %q1, %t = orch.submit @kernel(%after) : (tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
    scf.yield %q1 : tensor<16xf32>
  }
  orch.return %w, %r : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @guarded(
// CHECK:         orch.return %q, %p :

// -----

// A loop counts only if its body hands on the same buffer: not if it swaps its carries, and not if
// it goes on with a buffer of its own (E-T14). Two carries of one buffer may be swapped.

orch.func aiv @swapping(in %n : index, in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %r:2 = scf.for %i = %n to %n step %n iter_args(%p = %a, %q = %b) -> (tensor<16xf32>, tensor<16xf32>) {
    scf.yield %q, %p : tensor<16xf32>, tensor<16xf32>
  }
  // expected-remark @+1 {{keeps the order of its results}}
  orch.return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}
orch.func aiv @fresh(in %n : index, in %x : tensor<16xf32>, out %a : tensor<16xf32>) -> tensor<16xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%p = %a) -> (tensor<16xf32>) {
    %updated = ptensor.add %p, %x : tensor<16xf32>
    scf.yield %updated : tensor<16xf32>
  }
  // expected-remark @+1 {{keeps the order of its results}}
  orch.return %r : tensor<16xf32>
}
orch.func aiv @twice(in %n : index, out %a : tensor<16xf32>) -> tensor<16xf32> {
  %r:2 = scf.for %i = %n to %n step %n iter_args(%p = %a, %q = %a) -> (tensor<16xf32>, tensor<16xf32>) {
    scf.yield %q, %p : tensor<16xf32>, tensor<16xf32>
  }
  orch.return %r#0 : tensor<16xf32>
}

// CHECK-LABEL: @swapping(
// CHECK:         orch.return %r, %r_1 :
// CHECK-LABEL: @fresh(
// CHECK:         orch.return %r :
// CHECK-LABEL: @twice(
// CHECK:         orch.return %a :

// -----

// R2, R4: the single result is the parameter it was written to, not the first written one; so is
// that of a wrapper.

orch.func incore @scratch(in %q : tensor<16xf32>, out %scratch : tensor<16xf32>, out %res : tensor<16xf32>) -> tensor<16xf32> {
  %t = tile.load %q[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %s1 = tile.store %t, %scratch[0] : !tile.tile<16xf32>, tensor<16xf32>
  %r1 = tile.store %t, %res[0] : !tile.tile<16xf32>, tensor<16xf32>
  // expected-remark @+1 {{parameter 1 (%scratch) is written, but not returned}}
  orch.return %r1 : tensor<16xf32>
}
orch.func spmd @wrapper(in %q : tensor<16xf32>, out %scratch : tensor<16xf32>, out %res : tensor<16xf32>) -> tensor<16xf32> {
  %r = orch.call @scratch(%q, %scratch, %res) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return %r : tensor<16xf32>
}

// CHECK-LABEL: @scratch(
// CHECK:         orch.return %res :
// CHECK-LABEL: @wrapper(
// CHECK:         orch.return %res :

// -----

// Recursion claims nothing; an omitted argument is the runtime's own buffer; a function without
// a body may return anything.

orch.func aiv @kernel(in %x : tensor<16xf32>, out %p : tensor<16xf32>) -> tensor<16xf32> {
  orch.return %p : tensor<16xf32>
}
orch.func group @recursive(in %c : i1, out %p : tensor<16xf32>) -> tensor<16xf32> {
  %r = orch.call @recursive(%c, %p) : (i1, tensor<16xf32>) -> tensor<16xf32>
  orch.return %r : tensor<16xf32>
}
orch.func group @omitted(in %x : tensor<16xf32>) -> tensor<16xf32> {
  %r, %t = orch.submit @kernel(%x) : (tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  orch.return %r : tensor<16xf32>
}
orch.func group @nobody(out tensor<16xf32>) -> tensor<16xf32>
orch.func group @unknown(out %p : tensor<16xf32>) -> tensor<16xf32> {
  %r = orch.call @nobody(%p) : (tensor<16xf32>) -> tensor<16xf32>
  orch.return %r : tensor<16xf32>
}

// CHECK-LABEL: @recursive(
// CHECK:         orch.return %r :
// CHECK-LABEL: @omitted(
// CHECK:         orch.return %r :
// CHECK-LABEL: @unknown(
// CHECK:         orch.return %r :

// -----

// A-T9, A-T20: tuples are no values here; what forwards one forwards its parts, each of which
// becomes a parameter. Wrappers keep their order, whatever a kernel's becomes.

orch.func aiv @kernel(in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  orch.return %b, %a : tensor<16xf32>, tensor<16xf32>
}
orch.func group @forwards(in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %packed:2 = orch.call @kernel(%x, %a, %b) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  orch.return %packed#0, %packed#1 : tensor<16xf32>, tensor<16xf32>
}
orch.func spmd @forwards_more(in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<4xf32>, tensor<16xf32>) {
  %packed:2 = orch.call @kernel(%x, %a, %b) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %own = ptensor.create : tensor<4xf32>
  orch.return %packed#0, %packed#1, %own, %a : tensor<16xf32>, tensor<16xf32>, tensor<4xf32>, tensor<16xf32>
}

// CHECK-LABEL: @kernel(
// CHECK-NEXT:    orch.return %a, %b :
// CHECK-LABEL: @forwards(
// CHECK-NEXT:    orch.call @kernel(%x, %a, %b)
// CHECK-NEXT:    orch.return %b, %a :
// CHECK-LABEL: @forwards_more(
// CHECK:         orch.return %b, %a, %own, %a :
