// Buffers that become windows of what they are assembled into; numbers are those of the reference's
// scenarios. What comes out reads nothing through an older name.

// RUN: pypto-opt --fuse-create-assemble-to-slice --verify-property=NoStaleRead --verify-each --split-input-file --verify-diagnostics %s | filecheck %s
// RUN: pypto-opt --fuse-create-assemble-to-slice --fuse-create-assemble-to-slice --split-input-file %s | filecheck %s

// 1: the task writes into the target. The slice stands before the first use; what its offset needs
// goes with it.

orch.func incore @k(in tensor<32x32xf32>, out tensor<32x32xf32>) -> tensor<32x32xf32> returns [1]
orch.func orchestration @basic(in %x : tensor<32x32xf32>, in %i : index, out %o : tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c = ptensor.create : tensor<32x32xf32>
  %one = arith.constant 1 : index
  %r = orch.call @k(%x, %c) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %two = arith.addi %one, %one : index
  %j = arith.muli %i, %two : index
  %o1 = ptensor.assemble %r, %o[%j, 32] : tensor<32x32xf32>, tensor<64x64xf32>
  orch.return %o1 : tensor<64x64xf32>
}

// CHECK-LABEL: @basic(
// CHECK-NEXT:    %one = arith.constant 1
// CHECK-NEXT:    %two = arith.addi %one, %one
// CHECK-NEXT:    %j = arith.muli %i, %two
// CHECK-NEXT:    %c = ptensor.slice %o[%j, 32] : tensor<64x64xf32> -> tensor<32x32xf32>
// CHECK-NEXT:    %r = orch.call @k(%x, %c)
// CHECK-NEXT:    %o1 = ptensor.assemble %r, %o[%j, 32]
// CHECK-NEXT:    orch.return %o1

// -----

// 4, 7, 14: in a loop, of a kernel with two results; the scratch that is not assembled stays.

orch.func incore @k(in tensor<16x32xf32>, inout tensor<16x32xf32>, out tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) returns [1, 2]
orch.func orchestration @rows(in %x : tensor<16x32xf32>, in %n : index, in %s : tensor<16x32xf32>, out %o : tensor<64x32xf32>) -> tensor<64x32xf32> {
  %o2, %s2 = scf.for %i = %n to %n step %n iter_args(%w = %o, %v = %s) -> (tensor<64x32xf32>, tensor<16x32xf32>) {
    %scratch = ptensor.create : tensor<16x32xf32>
    %row = ptensor.create : tensor<16x32xf32>
    %r0, %r1 = orch.call @k(%v, %scratch, %row) : (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
    %w1 = ptensor.assemble %r1, %w[%i, 0] : tensor<16x32xf32>, tensor<64x32xf32>
    scf.yield %w1, %r0 : tensor<64x32xf32>, tensor<16x32xf32>
  }
  orch.return %o2 : tensor<64x32xf32>
}

// CHECK-LABEL: @rows(
// CHECK:         scf.for
// CHECK-NEXT:      %scratch = ptensor.create
// CHECK-NEXT:      %row = ptensor.slice %w[%i, 0] : tensor<64x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      orch.call @k(%v, %scratch, %row)
// CHECK-NEXT:      ptensor.assemble
// CHECK-NEXT:      scf.yield

// -----

// 5: a target of more dimensions; a buffer of extents that only the run knows.

orch.func incore @k(in tensor<2x4xf32>, out tensor<2x4xf32>) -> tensor<2x4xf32> returns [1]
orch.func incore @d(in tensor<?x4xf32>, out tensor<?x4xf32>) -> tensor<?x4xf32> returns [1]
orch.func orchestration @ranks(in %x : tensor<2x4xf32>, in %y : tensor<?x4xf32>, in %n : index, out %o : tensor<3x4x8xf32>, out %p : tensor<64x4xf32>) -> (tensor<3x4x8xf32>, tensor<64x4xf32>) {
  %c = ptensor.create : tensor<2x4xf32>
  %r = orch.call @k(%x, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %o1 = ptensor.assemble %r, %o[1, 2, 4] : tensor<2x4xf32>, tensor<3x4x8xf32>
  %e = ptensor.create sizes = [%n, 4] : tensor<?x4xf32>
  %s = orch.call @d(%y, %e) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %p1 = ptensor.assemble %s, %p[0, 0] : tensor<?x4xf32>, tensor<64x4xf32>
  orch.return %o1, %p1 : tensor<3x4x8xf32>, tensor<64x4xf32>
}

// CHECK-LABEL: @ranks(
// CHECK-NEXT:    %c = ptensor.slice %o[1, 2, 4] : tensor<3x4x8xf32> -> tensor<2x4xf32>
// CHECK:         %e = ptensor.slice %p[0, 0], sizes = [%n, 4] : tensor<64x4xf32> -> tensor<?x4xf32>

// -----

// 13, 15: in a while; a submit in a manual scope, which hands the result out. Others may touch
// other parts of the target, and read the buffer, as the part of the
// target that it is by now, as long as nobody writes there.

orch.func incore @k(in tensor<16x32xf32>, out tensor<16x32xf32>) -> tensor<16x32xf32> returns [1]
orch.func orchestration @while(in %x : tensor<16x32xf32>, in %c : i1, in %o : tensor<64x32xf32>) {
  %w = scf.while (%b = %o) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
    scf.condition(%c) %b : tensor<64x32xf32>
  } do {
  ^bb0(%a : tensor<64x32xf32>):
    %row = ptensor.create : tensor<16x32xf32>
    %r = orch.call @k(%x, %row) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %a1 = ptensor.assemble %r, %a[0, 0] : tensor<16x32xf32>, tensor<64x32xf32>
    scf.yield %a1 : tensor<64x32xf32>
  }
  orch.return
}
orch.func orchestration @manual(in %x : tensor<16x32xf32>, inout %o : tensor<64x32xf32>, out %q : tensor<16x32xf32>, out %p : tensor<16x32xf32>) -> tensor<64x32xf32> {
  %row = ptensor.create : tensor<16x32xf32>
  %o1 = orch.task_scope manual -> (tensor<64x32xf32>) {
    %r, %t = orch.submit @k(%x, %row) : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, !orch.task_id)
    %other = ptensor.slice %o[16, 0] : tensor<64x32xf32> -> tensor<16x32xf32>
    %q1, %u = orch.submit @k(%other, %q) : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, !orch.task_id)
    %w = ptensor.assemble %r, %o[0, 0] : tensor<16x32xf32>, tensor<64x32xf32>
    %p1, %v = orch.submit @k(%r, %p) deps [%t] : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, !orch.task_id)
    orch.yield %w : tensor<64x32xf32>
  }
  orch.return %o1 : tensor<64x32xf32>
}

// What tasks write now is written by the function.
// CHECK-LABEL: @while(
// CHECK-SAME:      inout %o: tensor<64x32xf32>)
// CHECK:           %row = ptensor.slice %a[0, 0] : tensor<64x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      orch.call @k(%x, %row)
// CHECK-LABEL: @manual(
// CHECK-NEXT:    %row = ptensor.slice %o[0, 0] : tensor<64x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    orch.task_scope manual
// CHECK-NEXT:      %r, %t = orch.submit @k(%x, %row)
// CHECK-NEXT:      %other = ptensor.slice %o[16, 0]
// CHECK-NEXT:      orch.submit @k(%other, %q)
// CHECK-NEXT:      %w = ptensor.assemble %r, %o[0, 0]
// CHECK-NEXT:      %row_1 = ptensor.slice %w[0, 0] : tensor<64x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      orch.submit @k(%row_1, %p) deps [%t]
