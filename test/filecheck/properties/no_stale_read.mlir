// NoStaleRead: nothing reads a tensor through a name that is older than a write.

// RUN: pypto-opt --verify-property=NoStaleRead --split-input-file --verify-diagnostics %s

// The next name is read, and the old one only named: to be returned, to be written.

orch.func incore @next_name(in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  %u = tile.load %a1[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %b1 = tile.store %u, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  %b2 = tile.store %t, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %a, %b2 : tensor<16xf32>, tensor<16xf32>
}

// -----

orch.func incore @older_name(in %x : tensor<16xf32>, out %a : tensor<16xf32>) -> tensor<16xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  // expected-error @+1 {{reads %a, which is older than a write}}
  %u = tile.load %a[0] : tensor<16xf32> -> !tile.tile<16xf32>
  // expected-note @-3 {{the buffer may be written here, which gives it a new name}}
  %a2 = tile.store %u, %a1[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %a2 : tensor<16xf32>
}

// -----

// What is written through an old name is old where it is not written.

orch.func incore @through_an_older_name(in %x : tensor<16xf32>, out %a : tensor<32xf32>)
    -> tensor<32xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<32xf32>
  %a2 = tile.store %t, %a[16] : !tile.tile<16xf32>, tensor<32xf32>
  // expected-error @+1 {{reads %a2, which was made from %a, older than a write}}
  %u = tile.load %a2[0] : tensor<32xf32> -> !tile.tile<32xf32>
  %a3 = tile.store %u, %a2[0] : !tile.tile<32xf32>, tensor<32xf32>
  orch.return %a3 : tensor<32xf32>
}

// -----

// A view is as old as what it views; windows that do not overlap do not make each other old.

orch.func incore @views(in %x : tensor<16xf32>, inout %a : tensor<48xf32>) -> tensor<48xf32> {
  %lower = ptensor.slice %a[0] : tensor<48xf32> -> tensor<16xf32>
  %upper = ptensor.slice %a[16] : tensor<48xf32> -> tensor<32xf32>
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %lower1 = tile.store %t, %lower[0] : !tile.tile<16xf32>, tensor<16xf32>
  %u = tile.load %upper[0] : tensor<32xf32> -> !tile.tile<32xf32>
  %end = ptensor.slice %upper[16] : tensor<32xf32> -> tensor<16xf32>
  %v = tile.load %end[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %w = tile.load %lower1[0] : tensor<16xf32> -> !tile.tile<16xf32>
  // expected-error @+1 {{reads %lower, which is older than a write}}
  %y = tile.load %lower[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %folded = ptensor.reshape %a : tensor<48xf32> -> tensor<3x16xf32>
  // expected-error @+1 {{reads %folded, which is older than a write}}
  %z = tile.load %folded[0, 0] : tensor<3x16xf32> -> !tile.tile<3x16xf32>
  orch.return %a : tensor<48xf32>
}

// -----

// A branch: its result is the name after it; an arm does not see what the other one writes.

orch.func incore @branch(in %c : i1, in %x : tensor<16xf32>, inout %a : tensor<16xf32>)
    -> tensor<16xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %m = scf.if %c -> (tensor<16xf32>) {
    %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
    scf.yield %a1 : tensor<16xf32>
  } else {
    %u = tile.load %a[0] : tensor<16xf32> -> !tile.tile<16xf32>
    scf.yield %a : tensor<16xf32>
  }
  %v = tile.load %m[0] : tensor<16xf32> -> !tile.tile<16xf32>
  // expected-error @+1 {{reads %a, which is older than a write}}
  %w = tile.load %a[0] : tensor<16xf32> -> !tile.tile<16xf32>
  orch.return %m : tensor<16xf32>
}

// -----

// An arm that yields an old name makes an old name.

orch.func incore @branch_yields_older_name(in %c : i1, in %x : tensor<16xf32>, inout %a : tensor<16xf32>)
    -> tensor<16xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %m = scf.if %c -> (tensor<16xf32>) {
    %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
    scf.yield %a : tensor<16xf32>
  } else {
    scf.yield %a : tensor<16xf32>
  }
  // expected-error @+1 {{reads %m, which was made from %a, older than a write}}
  %v = tile.load %m[0] : tensor<16xf32> -> !tile.tile<16xf32>
  orch.return %m : tensor<16xf32>
}

// -----

// A loop: what an iteration writes makes names from outside old in the next one.

orch.func incore @loop(in %n : index, in %x : tensor<16xf32>, inout %a : tensor<16xf32>,
    inout %b : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %one to %n step %one iter_args(%p = %a, %q = %b)
      -> (tensor<16xf32>, tensor<16xf32>) {
    %t = tile.load %p[0] : tensor<16xf32> -> !tile.tile<16xf32>
    // expected-error @+1 {{reads %a, which is older than a write}}
    %u = tile.load %a[0] : tensor<16xf32> -> !tile.tile<16xf32>
    // %b is written to below, but no old name of it is handed on.
    %v = tile.load %q[0] : tensor<16xf32> -> !tile.tile<16xf32>
    %w = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
    %p1 = tile.store %t, %p[0] : !tile.tile<16xf32>, tensor<16xf32>
    %q1 = tile.store %t, %q[0] : !tile.tile<16xf32>, tensor<16xf32>
    scf.yield %p1, %q1 : tensor<16xf32>, tensor<16xf32>
  }
  %s = tile.load %r#0[0] : tensor<16xf32> -> !tile.tile<16xf32>
  // expected-error @+1 {{reads %b, which is older than a write}}
  %z = tile.load %b[0] : tensor<16xf32> -> !tile.tile<16xf32>
  orch.return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}

// -----

// A body that hands on an old name makes its carry and its result old, from its first iteration on.

orch.func incore @loop_hands_on_older_name(in %n : index, inout %a : tensor<16xf32>)
    -> tensor<16xf32> {
  %one = arith.constant 1 : index
  %r = scf.for %i = %one to %n step %one iter_args(%p = %a) -> (tensor<16xf32>) {
    // expected-error @+1 {{reads %p, which is older than a write}}
    %t = tile.load %p[0] : tensor<16xf32> -> !tile.tile<16xf32>
    %p1 = tile.store %t, %p[0] : !tile.tile<16xf32>, tensor<16xf32>
    scf.yield %p : tensor<16xf32>
  }
  // expected-error @+1 {{reads %r}}
  %s = tile.load %r[0] : tensor<16xf32> -> !tile.tile<16xf32>
  orch.return %r : tensor<16xf32>
}

// -----

// A body that runs once at most has no next iteration.

orch.func incore @one_trip(inout %a : tensor<16xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %one step %one iter_args(%p = %a) -> (tensor<16xf32>) {
    %t = tile.load %a[0] : tensor<16xf32> -> !tile.tile<16xf32>
    %p1 = tile.store %t, %p[0] : !tile.tile<16xf32>, tensor<16xf32>
    scf.yield %p1 : tensor<16xf32>
  }
  orch.return %r : tensor<16xf32>
}

// -----

// A while: the condition sees what the body wrote.

orch.func incore @while(in %n : index, in %x : tensor<16xf32>, inout %a : tensor<16xf32>)
    -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %r = scf.while (%p = %a) : (tensor<16xf32>) -> tensor<16xf32> {
    %e = ptensor.read %p[0] : tensor<16xf32> -> f32
    // expected-error @+1 {{reads %a, which is older than a write}}
    %f = ptensor.read %a[0] : tensor<16xf32> -> f32
    %go = arith.cmpf olt, %e, %zero : f32
    scf.condition(%go) %p : tensor<16xf32>
  } do {
  ^bb0(%q : tensor<16xf32>):
    %u = tile.load %q[0] : tensor<16xf32> -> !tile.tile<16xf32>
    %q1 = tile.store %t, %q[0] : !tile.tile<16xf32>, tensor<16xf32>
    // expected-error @+1 {{reads %q, which is older than a write}}
    %v = tile.load %q[0] : tensor<16xf32> -> !tile.tile<16xf32>
    scf.yield %q1 : tensor<16xf32>
  }
  %s = tile.load %r[0] : tensor<16xf32> -> !tile.tile<16xf32>
  orch.return %r : tensor<16xf32>
}

// -----

// Calls read and write what the callee's parameters say.

orch.func incore @kernel(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func incore @update(inout tensor<16xf32>) -> tensor<16xf32> returns [0]
orch.func incore @nothing(in tensor<16xf32>, out tensor<16xf32>)
orch.func orchestration @calls(in %x : tensor<16xf32>, out %o : tensor<16xf32>) -> tensor<16xf32> {
  %b = ptensor.create : tensor<16xf32>
  %b1 = orch.call @kernel(%x, %b) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %b2, %t = orch.submit @update(%b1) : (tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  %o1 = orch.call @kernel(%b2, %o) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-error @+1 {{'orch.call' op reads %b1, which is older than a write}}
  %o2 = orch.call @kernel(%b1, %o1) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-error @+1 {{'orch.call' op reads %b, which is older than a write}}
  %b3 = orch.call @update(%b) : (tensor<16xf32>) -> tensor<16xf32>
  orch.call @nothing(%x, %o2) : (tensor<16xf32>, tensor<16xf32>) -> ()
  // A write that returns no name leaves none to read.
  // expected-error @+1 {{reads %o2, which is older than a write}}
  %o3 = orch.call @update(%o2) : (tensor<16xf32>) -> tensor<16xf32>
  orch.return %o3 : tensor<16xf32>
}

// -----

// Kernels of a group run side by side on the buffers that they share.

orch.func aic @cube(in tensor<16xf32>, inout tensor<16xf32>)
orch.func aiv @vector(in tensor<16xf32>, inout tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [2]
orch.func group @group(in %x : tensor<16xf32>, inout %pipe : tensor<16xf32>, out %o : tensor<16xf32>)
    -> tensor<16xf32> {
  orch.call @cube(%x, %pipe) : (tensor<16xf32>, tensor<16xf32>) -> ()
  %o1 = orch.call @vector(%x, %pipe, %o) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return %o1 : tensor<16xf32>
}

// -----

// Scopes and predicates.

orch.func incore @flag(in %x : tensor<1xi32>, out %o : tensor<1xi32>) -> tensor<1xi32> {
  orch.return %o : tensor<1xi32>
}
orch.func opaque @scopes(in %x : tensor<1xi32>, out %f : tensor<1xi32>) -> tensor<1xi32> {
  %f1 = orch.task_scope auto -> (tensor<1xi32>) {
    %f0 = orch.call @flag(%x, %f) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    orch.yield %f0 : tensor<1xi32>
  }
  %g, %t = orch.submit @flag(%x, %f1) predicate(%f1[0] gt 0 : tensor<1xi32>) : (tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, !orch.task_id)
  // expected-error @+1 {{'orch.submit' op reads %f1, which is older than a write}}
  %h, %u = orch.submit @flag(%x, %g) predicate(%f1[0] gt 0 : tensor<1xi32>) : (tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, !orch.task_id)
  orch.return %h : tensor<1xi32>
}

// -----

// A window that is written and put back where it is gives the whole its next name, in a loop too.
// Put back elsewhere, or with something else written meanwhile, it does not. What is put back is
// not moved, so not read.

orch.func incore @kernel(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func incore @sum(in tensor<64xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @put_back(in %x : tensor<16xf32>, in %i : index, in %j : index, out %o : tensor<16xf32>) -> tensor<16xf32> {
  %t = ptensor.create : tensor<64xf32>
  %r = scf.for %k = %i to %j step %i iter_args(%it = %t) -> (tensor<64xf32>) {
    %w = ptensor.slice %it[%k] : tensor<64xf32> -> tensor<16xf32>
    %w1 = orch.call @kernel(%x, %w) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %it1 = ptensor.assemble %w1, %it[%k] : tensor<16xf32>, tensor<64xf32>
    scf.yield %it1 : tensor<64xf32>
  }
  %o1 = orch.call @sum(%r, %o) : (tensor<64xf32>, tensor<16xf32>) -> tensor<16xf32>
  %u = ptensor.slice %r[%i] : tensor<64xf32> -> tensor<16xf32>
  %u1 = orch.call @kernel(%x, %u) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %elsewhere = ptensor.assemble %u1, %r[%j] : tensor<16xf32>, tensor<64xf32>
  // expected-error @+1 {{reads %elsewhere, which was made from %r, older than a write}}
  %o2 = orch.call @sum(%elsewhere, %o1) : (tensor<64xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return %o2 : tensor<16xf32>
}
orch.func orchestration @meanwhile(in %x : tensor<16xf32>, in %i : index, in %j : index, inout %t : tensor<64xf32>, out %o : tensor<16xf32>) -> tensor<16xf32> {
  %u = ptensor.slice %t[%i] : tensor<64xf32> -> tensor<16xf32>
  %v = ptensor.slice %t[%j] : tensor<64xf32> -> tensor<16xf32>
  %u1 = orch.call @kernel(%x, %u) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %v1 = orch.call @kernel(%x, %v) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %t1 = ptensor.assemble %u1, %t[%i] : tensor<16xf32>, tensor<64xf32>
  // expected-error @+1 {{reads %t1, which was made from %t, older than a write}}
  %o1 = orch.call @sum(%t1, %o) : (tensor<64xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return %o1 : tensor<16xf32>
}
orch.func orchestration @from_the_start_again(in %x : tensor<16xf32>, in %i : index, in %j : index, inout %t : tensor<64xf32>) -> tensor<64xf32> {
  scf.for %k = %i to %j step %i {
    %w = ptensor.slice %t[%k] : tensor<64xf32> -> tensor<16xf32>
    %w1 = orch.call @kernel(%x, %w) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %t1 = ptensor.assemble %w1, %t[%k] : tensor<16xf32>, tensor<64xf32>
  }
  orch.return %t : tensor<64xf32>
}

// -----

// What is put into a part of a tensor, again and again too, leaves windows beside that part as they
// are; those that it meets are older.

orch.func incore @kernel(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @beside(in %x : tensor<16xf32>, in %n : index, inout %t : tensor<64xf32>, out %o : tensor<16xf32>) {
  %u = ptensor.slice %t[0] : tensor<64xf32> -> tensor<16xf32>
  %v = ptensor.slice %t[24] : tensor<64xf32> -> tensor<16xf32>
  %r = scf.for %k = %n to %n step %n iter_args(%it = %t) -> (tensor<64xf32>) {
    // expected-note @+1 {{the buffer may be written here, which gives it a new name}}
    %it1 = ptensor.assemble %x, %it[16] : tensor<16xf32>, tensor<64xf32>
    %o1 = orch.call @kernel(%u, %o) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    // expected-error @+1 {{reads %v, which is older than a write}}
    %o2 = orch.call @kernel(%v, %o1) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    scf.yield %it1 : tensor<64xf32>
  }
  orch.return
}

// -----

// After a write through a view, the view's next name tells the whole of its own.

orch.func incore @updated(in %x : tensor<16xf32>, inout %a : tensor<2x16xf32>) -> tensor<2x16xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %flat = ptensor.reshape %a : tensor<2x16xf32> -> tensor<32xf32>
  %half = ptensor.slice %flat[16] : tensor<32xf32> -> tensor<16xf32>
  %half1 = tile.store %t, %half[0] : !tile.tile<16xf32>, tensor<16xf32>
  %a1 = ptensor.updated %a, %half1 : tensor<2x16xf32>, tensor<16xf32>
  %u = tile.load %a1[0, 0] : tensor<2x16xf32> -> !tile.tile<2x16xf32>
  %flat1 = ptensor.updated %flat, %half1 : tensor<32xf32>, tensor<16xf32>
  %v = tile.load %flat1[0] : tensor<32xf32> -> !tile.tile<32xf32>
  %flat2 = tile.store %v, %flat1[0] : !tile.tile<32xf32>, tensor<32xf32>
  // The view is another name that is behind then.
  // expected-error @+1 {{reads %half1, which is older than a write}}
  %w = tile.load %half1[0] : tensor<16xf32> -> !tile.tile<16xf32>
  // expected-note @-4 {{the buffer may be written here}}
  %half2 = ptensor.updated %half1, %flat2 : tensor<16xf32>, tensor<32xf32>
  %y = tile.load %half2[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a2 = ptensor.updated %a1, %flat2 : tensor<2x16xf32>, tensor<32xf32>
  %a3 = tile.store %u, %a2[0, 0] : !tile.tile<2x16xf32>, tensor<2x16xf32>
  orch.return %a3 : tensor<2x16xf32>
}

// -----

// Of two writes both have to be told.

orch.func incore @updated_by_one_of_two(in %x : tensor<16xf32>, inout %a : tensor<32xf32>)
    -> tensor<32xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %low = ptensor.slice %a[0] : tensor<32xf32> -> tensor<16xf32>
  %high = ptensor.slice %a[16] : tensor<32xf32> -> tensor<16xf32>
  %low1 = tile.store %t, %low[0] : !tile.tile<16xf32>, tensor<16xf32>
  %high1 = tile.store %t, %high[0] : !tile.tile<16xf32>, tensor<16xf32>
  %a1 = ptensor.updated %a, %low1, %high1 : tensor<32xf32>, tensor<16xf32>, tensor<16xf32>
  %u = tile.load %a1[0] : tensor<32xf32> -> !tile.tile<32xf32>
  %a2 = ptensor.updated %a, %high1 : tensor<32xf32>, tensor<16xf32>
  // expected-error @+1 {{reads %a2, which was made from %a, older than a write}}
  %v = tile.load %a2[0] : tensor<32xf32> -> !tile.tile<32xf32>
  // expected-note @-7 {{the buffer may be written here}}
  // expected-note @-13 {{the older name is defined here}}
  %a3 = tile.store %u, %a1[0] : !tile.tile<32xf32>, tensor<32xf32>
  orch.return %a3 : tensor<32xf32>
}

// -----

// A loop that carries the view tells the whole by it, in each iteration and after the loop.

orch.func incore @updated_in_a_loop(in %x : tensor<16xf32>, inout %a : tensor<2x16xf32>)
    -> tensor<2x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %flat = ptensor.reshape %a : tensor<2x16xf32> -> tensor<32xf32>
  %flat3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%flat1 = %flat) -> (tensor<32xf32>) {
    %a1 = ptensor.updated %a, %flat1 : tensor<2x16xf32>, tensor<32xf32>
    %u = tile.load %a1[0, 0] : tensor<2x16xf32> -> !tile.tile<2x16xf32>
    %flat2 = tile.store %t, %flat1[%i] : !tile.tile<16xf32>, tensor<32xf32>
    scf.yield %flat2 : tensor<32xf32>
  }
  %a2 = ptensor.updated %a, %flat3 : tensor<2x16xf32>, tensor<32xf32>
  %v = tile.load %a2[0, 0] : tensor<2x16xf32> -> !tile.tile<2x16xf32>
  %a3 = tile.store %v, %a2[0, 0] : !tile.tile<2x16xf32>, tensor<2x16xf32>
  orch.return %a3 : tensor<2x16xf32>
}

// -----

// A view that each iteration makes anew does not tell what earlier ones wrote elsewhere.

orch.func incore @views_of_a_loop(in %x : tensor<16xf32>, inout %a : tensor<64xf32>)
    -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  scf.for %i = %c0 to %c64 step %c16 {
    %w = ptensor.slice %a[%i] : tensor<64xf32> -> tensor<16xf32>
    %w1 = tile.store %t, %w[0] : !tile.tile<16xf32>, tensor<16xf32>
    %a1 = ptensor.updated %a, %w1 : tensor<64xf32>, tensor<16xf32>
    // expected-error @+1 {{reads %a1, which was made from %a, older than a write}}
    %u = tile.load %a1[0] : tensor<64xf32> -> !tile.tile<64xf32>
    // expected-note @-4 {{the buffer may be written here}}
    // expected-note @-13 {{the older name is defined here}}
  }
  orch.return %a : tensor<64xf32>
}

// -----

// Carried, it does.

orch.func incore @carried_views_of_a_loop(in %x : tensor<16xf32>, inout %a : tensor<64xf32>)
    -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a3 = scf.for %i = %c0 to %c64 step %c16 iter_args(%a1 = %a) -> (tensor<64xf32>) {
    %w = ptensor.slice %a1[%i] : tensor<64xf32> -> tensor<16xf32>
    %w1 = tile.store %t, %w[0] : !tile.tile<16xf32>, tensor<16xf32>
    %a2 = ptensor.updated %a1, %w1 : tensor<64xf32>, tensor<16xf32>
    %u = tile.load %a2[0] : tensor<64xf32> -> !tile.tile<64xf32>
    scf.yield %a2 : tensor<64xf32>
  }
  orch.return %a3 : tensor<64xf32>
}

// -----

// Without a name that a write gave, all before it counts.

orch.func incore @write(inout tensor<64xf32>)

orch.func orchestration @call_without_results(in %x : tensor<64xf32>, inout %a : tensor<64xf32>) {
  orch.call @write(inout %a) : (tensor<64xf32>) -> ()
  %a1 = ptensor.updated %a : tensor<64xf32>
  %e = ptensor.read %a1[0] : tensor<64xf32> -> f32
  orch.call @write(inout %a1) : (tensor<64xf32>) -> ()
  // expected-error @+1 {{reads %a1, which is older than a write}}
  %f = ptensor.read %a1[0] : tensor<64xf32> -> f32
  // expected-note @-3 {{the buffer may be written here}}
  orch.return
}

// -----

// What a call returns names its buffer after the call, also where the call wrote it through a view;
// through a name that was old when it was called, it does not.

orch.func incore @through_a_view(in %a : tensor<2x16xf32>, out %flat : tensor<32xf32>)
    -> (tensor<2x16xf32>, tensor<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = tile.full %zero : f32 -> !tile.tile<32xf32>
  %flat1 = tile.store %t, %flat[0] : !tile.tile<32xf32>, tensor<32xf32>
  orch.return %a, %flat1 : tensor<2x16xf32>, tensor<32xf32>
}

orch.func orchestration @results_of_calls(inout %a : tensor<2x16xf32>) -> tensor<2x16xf32> {
  %flat = ptensor.reshape %a : tensor<2x16xf32> -> tensor<32xf32>
  %a1, %flat1 = orch.call @through_a_view(%a, %flat)
      : (tensor<2x16xf32>, tensor<32xf32>) -> (tensor<2x16xf32>, tensor<32xf32>)
  %e = ptensor.read %a1[0, 0] : tensor<2x16xf32> -> f32
  %f = ptensor.read %flat1[0] : tensor<32xf32> -> f32
  // expected-error @+1 {{reads %a, which is older than a write}}
  %a2, %flat2 = orch.call @through_a_view(%a, %flat1)
      : (tensor<2x16xf32>, tensor<32xf32>) -> (tensor<2x16xf32>, tensor<32xf32>)
  // expected-note @-7 {{the buffer may be written here}}
  // expected-error @+1 {{reads %a2, which was made from %a, older than a write}}
  %g = ptensor.read %a2[0, 0] : tensor<2x16xf32> -> f32
  // expected-note @-10 {{the buffer may be written here}}
  // expected-note @-13 {{the older name is defined here}}
  orch.return %a : tensor<2x16xf32>
}
