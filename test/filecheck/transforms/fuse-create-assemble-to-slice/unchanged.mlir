// Buffers that stay, and why; numbers are those of the reference's scenarios.

// RUN: pypto-opt --fuse-create-assemble-to-slice --verify-each --split-input-file --verify-diagnostics %s | filecheck %s

// No buffer of any case becomes a window.
// CHECK-NOT: {{%[a-e] = ptensor.slice}}

// 2: assembled twice. 12: added, not copied. 3: a part of another tensor is no buffer of its own.

orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @counts(in %x : tensor<16xf32>, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %c = ptensor.create : tensor<16xf32>
  %r = orch.call @k(%x, %c) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-remark @+1 {{'ptensor.assemble' op stays a copy of a buffer of its own: it is assembled 2 times}}
  %o1 = ptensor.assemble %r, %o[0] : tensor<16xf32>, tensor<64xf32>
  // expected-remark @+1 {{it is assembled 2 times}}
  %o2 = ptensor.assemble %r, %o1[16] : tensor<16xf32>, tensor<64xf32>
  %d = ptensor.create : tensor<16xf32>
  %s = orch.call @k(%x, %d) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %o3 = ptensor.assemble %s, %o2[32], atomic = add : tensor<16xf32>, tensor<64xf32>
  %o4 = ptensor.assemble %x, %o3[48] : tensor<16xf32>, tensor<64xf32>
  orch.return %o4 : tensor<64xf32>
}
// 6: only in orchestration.
orch.func opaque @opaque(in %x : tensor<16xf32>, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %c = ptensor.create : tensor<16xf32>
  %o1 = ptensor.assemble %c, %o[0] : tensor<16xf32>, tensor<64xf32>
  orch.return %o1 : tensor<64xf32>
}

// -----

// 8: the callee may return either of two parameters.

orch.func incore @either(in %c : i1, out %a : tensor<16xf32>, out %b : tensor<16xf32>) -> tensor<16xf32> {
  %r = scf.if %c -> (tensor<16xf32>) {
    scf.yield %a : tensor<16xf32>
  } else {
    scf.yield %b : tensor<16xf32>
  }
  orch.return %r : tensor<16xf32>
}
orch.func orchestration @ambiguous(in %c : i1, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %a = ptensor.create : tensor<16xf32>
  %b = ptensor.create : tensor<16xf32>
  %r = orch.call @either(%c, %a, %b) : (i1, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-remark @+2 {{what is assembled may be in another buffer}}
  // expected-remark @+1 {{what is assembled may be in another buffer}}
  %o1 = ptensor.assemble %r, %o[0] : tensor<16xf32>, tensor<64xf32>
  orch.return %o1 : tensor<64xf32>
}

// -----

// 9 to 11: a loop hands on the buffer or another: one without iterations, one that may have none,
// a while. One that hands on the buffer itself is no name that the slice could have.

orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @loops(in %x : tensor<16xf32>, in %n : index, in %c : i1, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = ptensor.create : tensor<16xf32>
  %a1 = scf.for %i = %zero to %zero step %one iter_args(%it = %a) -> (tensor<16xf32>) {
    scf.yield %x : tensor<16xf32>
  }
  // expected-remark @+1 {{what is assembled may be in another buffer}}
  %o1 = ptensor.assemble %a1, %o[0] : tensor<16xf32>, tensor<64xf32>
  %b = ptensor.create : tensor<16xf32>
  %b1 = scf.for %i = %n to %n step %n iter_args(%it = %b) -> (tensor<16xf32>) {
    scf.yield %x : tensor<16xf32>
  }
  // expected-remark @+1 {{what is assembled may be in another buffer}}
  %o2 = ptensor.assemble %b1, %o1[16] : tensor<16xf32>, tensor<64xf32>
  %d = ptensor.create : tensor<16xf32>
  %d1 = scf.while (%it = %d) : (tensor<16xf32>) -> tensor<16xf32> {
    scf.condition(%c) %it : tensor<16xf32>
  } do {
  ^bb0(%it : tensor<16xf32>):
    scf.yield %x : tensor<16xf32>
  }
  // expected-remark @+1 {{what is assembled may be in another buffer}}
  %o3 = ptensor.assemble %d1, %o2[32] : tensor<16xf32>, tensor<64xf32>
  %e = ptensor.create : tensor<16xf32>
  %e1 = scf.for %i = %n to %n step %n iter_args(%it = %e) -> (tensor<16xf32>) {
    %it1 = orch.call @k(%x, %it) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    scf.yield %it1 : tensor<16xf32>
  }
  // expected-remark @+1 {{a loop or a branch hands it on}}
  %o4 = ptensor.assemble %e1, %o3[48] : tensor<16xf32>, tensor<64xf32>
  orch.return %o4 : tensor<64xf32>
}

// -----

// Assembled only under a condition, or again and again: the task writes always, or once.

orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @often(in %x : tensor<16xf32>, in %n : index, in %c : i1, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %a = ptensor.create : tensor<16xf32>
  %a1 = orch.call @k(%x, %a) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %o1 = scf.if %c -> (tensor<64xf32>) {
    // expected-remark @+1 {{it is not assembled once each time it is created}}
    %p = ptensor.assemble %a1, %o[0] : tensor<16xf32>, tensor<64xf32>
    scf.yield %p : tensor<64xf32>
  } else {
    scf.yield %o : tensor<64xf32>
  }
  %b = ptensor.create : tensor<16xf32>
  %b1 = orch.call @k(%x, %b) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %o2 = scf.for %i = %n to %n step %n iter_args(%q = %o1) -> (tensor<64xf32>) {
    // expected-remark @+1 {{it is not assembled once each time it is created}}
    %q1 = ptensor.assemble %b1, %q[%i] : tensor<16xf32>, tensor<64xf32>
    scf.yield %q1 : tensor<64xf32>
  }
  orch.return %o2 : tensor<64xf32>
}

// -----

// N6: the target or the offset comes after the first use; the target is read or written meanwhile;
// the buffer is written or its window overwritten later; the buffer is returned.

orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func incore @offset(in tensor<16xf32>, out tensor<1xindex>) -> tensor<1xindex> returns [1]
orch.func orchestration @late(in %x : tensor<16xf32>, in %p : tensor<1xindex>, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %a = ptensor.create : tensor<16xf32>
  %a1 = orch.call @k(%x, %a) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %t = ptensor.create : tensor<64xf32>
  // expected-remark @+1 {{the target or the place in it is known only after the first use of the buffer}}
  %t1 = ptensor.assemble %a1, %t[0] : tensor<16xf32>, tensor<64xf32>
  %b = ptensor.create : tensor<16xf32>
  %b1 = orch.call @k(%x, %b) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %i = ptensor.read %p[0] : tensor<1xindex> -> index
  // expected-remark @+1 {{the target or the place in it is known only after the first use of the buffer}}
  %o1 = ptensor.assemble %b1, %o[%i] : tensor<16xf32>, tensor<64xf32>
  orch.return %o1 : tensor<64xf32>
}
orch.func orchestration @meanwhile(in %x : tensor<16xf32>, inout %o : tensor<64xf32>, inout %p : tensor<64xf32>, inout %q : tensor<64xf32>, inout %s : tensor<16xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %w = ptensor.slice %o[8] : tensor<64xf32> -> tensor<32xf32>
  %v = ptensor.slice %w[8] : tensor<32xf32> -> tensor<16xf32>
  %a = ptensor.create : tensor<16xf32>
  %a1 = orch.call @k(%v, %a) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-remark @+1 {{its part of the target is used by another name meanwhile}}
  %o1 = ptensor.assemble %a1, %o[16] : tensor<16xf32>, tensor<64xf32>
  %b = ptensor.create : tensor<16xf32>
  %b1 = orch.call @k(%x, %b) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-remark @+1 {{its part of the target is used by another name meanwhile}}
  %p1 = ptensor.assemble %b1, %p[0] : tensor<16xf32>, tensor<64xf32>
  %p2 = ptensor.assemble %x, %p1[8] : tensor<16xf32>, tensor<64xf32>
  %s1 = orch.call @k(%b1, %s) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %c = ptensor.create : tensor<16xf32>
  %c1 = orch.call @k(%x, %c) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-remark @+1 {{it is written again after it is assembled}}
  %q1 = ptensor.assemble %c1, %q[0] : tensor<16xf32>, tensor<64xf32>
  %c2 = orch.call @k(%x, %c1) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return %o1, %p2, %q1 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
orch.func orchestration @returned(in %x : tensor<16xf32>, out %o : tensor<64xf32>) -> (tensor<64xf32>, tensor<16xf32>) {
  %a = ptensor.create : tensor<16xf32>
  %a1 = orch.call @k(%x, %a) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-remark @+1 {{it is returned too}}
  %o1 = ptensor.assemble %a1, %o[16] : tensor<16xf32>, tensor<64xf32>
  orch.return %o1, %a1 : tensor<64xf32>, tensor<16xf32>
}
// What is assembled is the buffer in another shape; its rows are read as such later.
orch.func orchestration @shapes(in %x : tensor<16xf32>, out %o : tensor<64xf32>, out %p : tensor<64xf32>, inout %s : tensor<16xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = ptensor.create : tensor<4x4xf32>
  %f = ptensor.reshape %a : tensor<4x4xf32> -> tensor<16xf32>
  %f1 = orch.call @k(%x, %f) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-remark @+1 {{what is assembled, tensor<16xf32>, is another view of tensor<4x4xf32>}}
  %o1 = ptensor.assemble %f1, %o[16] : tensor<16xf32>, tensor<64xf32>
  %b = ptensor.create : tensor<32xf32>
  %w = ptensor.slice %b[0] : tensor<32xf32> -> tensor<16xf32>
  %w1 = orch.call @k(%x, %w) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %b1 = ptensor.assemble %w1, %b[0] : tensor<16xf32>, tensor<32xf32>
  // expected-remark @+1 {{it is read as another view after it is assembled}}
  %p1 = ptensor.assemble %b1, %p[16] : tensor<32xf32>, tensor<64xf32>
  %v = ptensor.slice %b1[16] : tensor<32xf32> -> tensor<16xf32>
  %s1 = orch.call @k(%v, %s) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return %o1, %p1 : tensor<64xf32>, tensor<64xf32>
}
