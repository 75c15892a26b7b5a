// The direction of each argument, by what the callee does and by where the call stands. C-T23:
// deriving twice is deriving once.

// RUN: pypto-opt --derive-call-directions --verify-each --split-input-file --verify-diagnostics %s | filecheck %s
// RUN: pypto-opt --derive-call-directions --derive-call-directions --split-input-file %s | filecheck %s

// C-T1 to C-T4, D4: what the callee declares; an `out` argument that nobody wrote before.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func incore @update(inout tensor<64xf32>, in index) -> tensor<64xf32> returns [0]
orch.func orchestration @declared(in %x : tensor<64xf32>, out %o : tensor<64xf32>, in %n : index) -> tensor<64xf32> {
  %local = ptensor.create : tensor<64xf32>
  %l1 = orch.call @kernel(%x, %local) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %o1 = orch.call @kernel(%l1, %o) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %other = ptensor.create : tensor<64xf32>
  %u = orch.call @update(%other, %n) : (tensor<64xf32>, index) -> tensor<64xf32>
  orch.return %o1 : tensor<64xf32>
}

// CHECK-LABEL: @declared(
// CHECK:         orch.call @kernel(input %x, output_existing %local)
// CHECK-NEXT:    orch.call @kernel(input %l1, output_existing %o)
// CHECK:         orch.call @update(inout %other, scalar %n)

// -----

// C-T5, C-T19: a second writer in a row waits for the first, of a local buffer and of a parameter.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @two_calls(in %x : tensor<64xf32>, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %l0 = ptensor.create : tensor<64xf32>
  %l1 = orch.call @kernel(%x, %l0) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %l2 = orch.call @kernel(%x, %l1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %o1 = orch.call @kernel(%l2, %o) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %o2, %t = orch.submit @kernel(%l2, %o1) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
  orch.return %o2 : tensor<64xf32>
}

// CHECK-LABEL: @two_calls(
// CHECK:         %l1 = orch.call @kernel(input %x, output_existing %l0)
// CHECK-NEXT:    %l2 = orch.call @kernel(input %x, inout %l1)
// CHECK-NEXT:    %o1 = orch.call @kernel(input %l2, output_existing %o)
// CHECK-NEXT:    %o2, %t = orch.submit @kernel(input %l2, inout %o1)

// -----

// C-T6, D1: the iterations of a parallel loop do not wait for each other. C-T10: a second loop
// does. C-T13: so does a loop after a call.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @parallel(in %x : tensor<64xf32>, in %n : index, out %o : tensor<64xf32>, out %p : tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %r = scf.for %i = %n to %n step %n iter_args(%o1 = %o) -> (tensor<64xf32>) {
    %o2 = orch.call @kernel(%x, %o1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %o2 : tensor<64xf32>
  } {orch.loop = #orch<loop parallel>}
  %s = scf.for %i = %n to %n step %n iter_args(%o3 = %r) -> (tensor<64xf32>) {
    %o4 = orch.call @kernel(%x, %o3) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %o4 : tensor<64xf32>
  } {orch.loop = #orch<loop parallel>}
  %p1 = orch.call @kernel(%x, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %q = scf.for %i = %n to %n step %n iter_args(%p2 = %p1) -> (tensor<64xf32>) {
    %p3 = orch.call @kernel(%x, %p2) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %p3 : tensor<64xf32>
  } {orch.loop = #orch<loop parallel>}
  orch.return %s, %q : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: @parallel(
// CHECK:         %o2 = orch.call @kernel(input %x, output_existing %o1)
// CHECK:         %o4 = orch.call @kernel(input %x, inout %o3)
// CHECK:         %p1 = orch.call @kernel(input %x, output_existing %p)
// CHECK:         %p3 = orch.call @kernel(input %x, inout %p2)

// -----

// C-T7, C-T8: a loop that goes on with another buffer, already written, names it after the loop.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @rebind(in %x : tensor<64xf32>, in %n : index, in %c : i1) -> (tensor<64xf32>, tensor<64xf32>) {
  %initial = ptensor.create : tensor<64xf32>
  %fresh = ptensor.create : tensor<64xf32>
  %f1 = orch.call @kernel(%x, %fresh) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %r = scf.for %i = %n to %n step %n iter_args(%it = %initial) -> (tensor<64xf32>) {
    scf.yield %f1 : tensor<64xf32>
  } {orch.loop = #orch<loop parallel>}
  %r1 = orch.call @kernel(%x, %r) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %initial2 = ptensor.create : tensor<64xf32>
  %fresh2 = ptensor.create : tensor<64xf32>
  %f2 = orch.call @kernel(%x, %fresh2) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %w = scf.while (%it = %initial2) : (tensor<64xf32>) -> tensor<64xf32> {
    scf.condition(%c) %it : tensor<64xf32>
  } do {
  ^bb0(%it : tensor<64xf32>):
    scf.yield %f2 : tensor<64xf32>
  }
  %w1 = orch.call @kernel(%x, %w) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  // The loop certainly runs: it is the written buffer, not the other one.
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %fresh3 = ptensor.create : tensor<64xf32>
  %v = scf.for %i = %zero to %two step %two iter_args(%it = %r1) -> (tensor<64xf32>) {
    scf.yield %fresh3 : tensor<64xf32>
  }
  %v1 = orch.call @kernel(%x, %v) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  orch.return %r1, %w1 : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: @rebind(
// CHECK:         %f1 = orch.call @kernel(input %x, output_existing %fresh)
// CHECK:         %r1 = orch.call @kernel(input %x, inout %r)
// CHECK:         %f2 = orch.call @kernel(input %x, output_existing %fresh2)
// CHECK:         %w1 = orch.call @kernel(input %x, inout %w)
// CHECK:         %v1 = orch.call @kernel(input %x, output_existing %v)

// -----

// C-T9: a loop that yields one of two buffers. Whoever writes either afterwards waits as well.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @either(in %x : tensor<64xf32>, in %n : index, in %c : i1) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %a = ptensor.create : tensor<64xf32>
  %b = ptensor.create : tensor<64xf32>
  %d = ptensor.create : tensor<64xf32>
  %r = scf.for %i = %n to %n step %n iter_args(%it = %a) -> (tensor<64xf32>) {
    %m = scf.if %c -> (tensor<64xf32>) {
      scf.yield %it : tensor<64xf32>
    } else {
      scf.yield %b : tensor<64xf32>
    }
    scf.yield %m : tensor<64xf32>
  } {orch.loop = #orch<loop parallel>}
  %r1 = orch.call @kernel(%x, %r) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %b1 = orch.call @kernel(%x, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d1 = orch.call @kernel(%x, %d) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  orch.return %r1, %b1, %d1 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: @either(
// CHECK:         %r1 = orch.call @kernel(input %x, inout %r)
// CHECK-NEXT:    %b1 = orch.call @kernel(input %x, inout %b)
// CHECK-NEXT:    %d1 = orch.call @kernel(input %x, output_existing %d)

// -----

// C-T11, C-T12, C-T14, C-T17, C-T18, D2, D3: inside any loop that is not parallel, iterations wait
// for each other, whatever part of the buffer each writes.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>, in index) -> tensor<64xf32> returns [1]
orch.func orchestration @sequential(in %x : tensor<64xf32>, in %n : index, in %c : i1, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%o1 = %o) -> (tensor<64xf32>) {
    %o2 = orch.call @kernel(%x, %o1, %i) : (tensor<64xf32>, tensor<64xf32>, index) -> tensor<64xf32>
    scf.yield %o2 : tensor<64xf32>
  }
  %p = ptensor.create : tensor<64xf32>
  %s = scf.for %i = %n to %n step %n iter_args(%p1 = %p) -> (tensor<64xf32>) {
    %s1 = scf.for %j = %n to %n step %n iter_args(%p2 = %p1) -> (tensor<64xf32>) {
      %p3 = orch.call @kernel(%x, %p2, %j) : (tensor<64xf32>, tensor<64xf32>, index) -> tensor<64xf32>
      scf.yield %p3 : tensor<64xf32>
    } {orch.loop = #orch<loop pipeline>, orch.stages = 2 : i64}
    scf.yield %s1 : tensor<64xf32>
  } {orch.loop = #orch<loop parallel>}
  %q = ptensor.create : tensor<64xf32>
  %t = scf.for %i = %n to %n step %n iter_args(%q1 = %q) -> (tensor<64xf32>) {
    %t1 = scf.for %j = %n to %n step %n iter_args(%q2 = %q1) -> (tensor<64xf32>) {
      %q3 = orch.call @kernel(%x, %q2, %j) : (tensor<64xf32>, tensor<64xf32>, index) -> tensor<64xf32>
      scf.yield %q3 : tensor<64xf32>
    } {orch.loop = #orch<loop parallel>}
    scf.yield %t1 : tensor<64xf32>
  } {orch.loop = #orch<loop unroll>}
  %u = ptensor.create : tensor<64xf32>
  %w = scf.while (%u0 = %u) : (tensor<64xf32>) -> tensor<64xf32> {
    scf.condition(%c) %u0 : tensor<64xf32>
  } do {
  ^bb0(%u1 : tensor<64xf32>):
    %u2 = orch.call @kernel(%x, %u1, %n) : (tensor<64xf32>, tensor<64xf32>, index) -> tensor<64xf32>
    scf.yield %u2 : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}

// CHECK-LABEL: @sequential(
// CHECK:         orch.call @kernel(input %x, inout %o1, scalar %i)
// CHECK:         orch.call @kernel(input %x, inout %p2, scalar %j)
// CHECK:         orch.call @kernel(input %x, inout %q2, scalar %j_1)
// CHECK:         orch.call @kernel(input %x, inout %u1, scalar %n)

// -----

// C-T15, C-T16, C-T50: arms of a branch do not see each other; they see what was before, and what
// follows sees both.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @arms(in %x : tensor<64xf32>, in %c : i1, out %o : tensor<64xf32>, out %p : tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %p1 = orch.call @kernel(%x, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %m:2 = scf.if %c -> (tensor<64xf32>, tensor<64xf32>) {
    %o1 = orch.call @kernel(%x, %o) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %p2 = orch.call @kernel(%x, %p1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %o1, %p2 : tensor<64xf32>, tensor<64xf32>
  } else {
    %o2 = orch.call @kernel(%x, %o) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %o2, %p1 : tensor<64xf32>, tensor<64xf32>
  }
  %o3 = orch.call @kernel(%x, %m#0) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  orch.return %o3, %m#1 : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: @arms(
// CHECK-NEXT:    %p1 = orch.call @kernel(input %x, output_existing %p)
// CHECK:         %o1 = orch.call @kernel(input %x, output_existing %o)
// CHECK-NEXT:    %p2 = orch.call @kernel(input %x, inout %p1)
// CHECK:         %o2 = orch.call @kernel(input %x, output_existing %o)
// CHECK:         %o3 = orch.call @kernel(input %x, inout %m)

// -----

// C-T20, C-T21: a buffer that this function updates, also in a parallel loop.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @updated(in %x : tensor<64xf32>, in %n : index, inout %a : tensor<64xf32>, inout %b : tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a1 = orch.call @kernel(%x, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %r = scf.for %i = %n to %n step %n iter_args(%b1 = %b) -> (tensor<64xf32>) {
    %b2 = orch.call @kernel(%x, %b1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %b2 : tensor<64xf32>
  } {orch.loop = #orch<loop parallel>}
  orch.return %a1, %r : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: @updated(
// CHECK-NEXT:    orch.call @kernel(input %x, inout %a)
// CHECK:         orch.call @kernel(input %x, inout %b1)

// -----

// C-T48: a graph is like an orchestration. C-T49: two arguments of one call do not wait for each
// other. Scopes are passed through (Q5). A window and its buffer are one, unless they are known not
// to overlap (Q8).

orch.func incore @two(out tensor<64xf32>, out tensor<64xf32>)
orch.func incore @half(out tensor<32xf32>) -> tensor<32xf32> returns [0]
orch.func graph @graph(out %o : tensor<64xf32>, in %n : index) {
  orch.call @two(%o, %o) : (tensor<64xf32>, tensor<64xf32>) -> ()
  %t = ptensor.create : tensor<64xf32>
  %low = ptensor.slice %t[0] : tensor<64xf32> -> tensor<32xf32>
  %high = ptensor.slice %t[32] : tensor<64xf32> -> tensor<32xf32>
  %some = ptensor.slice %t[%n] : tensor<64xf32> -> tensor<32xf32>
  %low1 = orch.task_scope auto -> (tensor<32xf32>) {
    %low0 = orch.call @half(%low) : (tensor<32xf32>) -> tensor<32xf32>
    orch.yield %low0 : tensor<32xf32>
  }
  %high1 = orch.call @half(%high) : (tensor<32xf32>) -> tensor<32xf32>
  %some1 = orch.call @half(%some) : (tensor<32xf32>) -> tensor<32xf32>
  %low2 = orch.call @half(%low1) : (tensor<32xf32>) -> tensor<32xf32>
  orch.return
}

// CHECK-LABEL: @graph(
// CHECK-NEXT:    orch.call @two(output_existing %o, output_existing %o)
// CHECK:         orch.call @half(output_existing %low)
// CHECK:         orch.call @half(output_existing %high)
// CHECK-NEXT:    orch.call @half(inout %some)
// CHECK-NEXT:    orch.call @half(inout %low1)

// -----

// C-T47: of a buffer that nobody knows to be written, the first writer does not wait. The result
// of a function without a body is the written argument of its type.

orch.func incore @typed(out tensor<64xf32>, out tensor<32xf32>) -> tensor<32xf32>
orch.func incore @half(out tensor<32xf32>) -> tensor<32xf32> returns [0]
orch.func orchestration @roots(in %x : tensor<32xf32>) {
  %sum = ptensor.set_validshape %x, valid = [16] : tensor<32xf32> -> tensor<32xf32, #ptensor.view<valid = [16]>>
  %a = ptensor.create : tensor<64xf32>
  %b = ptensor.create : tensor<32xf32>
  %b1 = orch.call @typed(%a, %b) : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  %b2 = orch.call @half(%b1) : (tensor<32xf32>) -> tensor<32xf32>
  %c = ptensor.create : tensor<32xf32>
  %c1 = orch.call @half(%c) : (tensor<32xf32>) -> tensor<32xf32>
  orch.return
}

// CHECK-LABEL: @roots(
// CHECK:         orch.call @typed(output_existing %a, output_existing %b)
// CHECK-NEXT:    orch.call @half(inout %b1)
// CHECK:         orch.call @half(output_existing %c)
