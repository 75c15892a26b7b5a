// Submits stay submits; what is there already stays; marks override.

// RUN: pypto-opt --derive-call-directions --verify-each --split-input-file --verify-diagnostics %s | filecheck %s
// RUN: pypto-opt --derive-call-directions --derive-call-directions --split-input-file %s | filecheck %s

// C-T25 to C-T28, C-T45, D10: directions for the arguments that a submit has, no more; what is
// left out the runtime allocates. Dependencies and launch stay.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>, out tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) returns [1, 2]
orch.func incore @nothing()
orch.func orchestration @submits(in %x : tensor<64xf32>, in %n : index, in %f : tensor<4xi32>) {
  %a, %b, %t = orch.submit @kernel(%x) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, !orch.task_id)
  %l = ptensor.create : tensor<64xf32>
  %c, %d, %u = orch.submit @kernel(%x, %l) deps [%t] : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, !orch.task_id)
  // What the runtime allocated is a buffer that its task wrote; nobody else did.
  %e, %g, %v = orch.submit @kernel(%x, %a, %c) deps [%t, %u] launch %n sync_start predicate(%f[0] gt 0 : tensor<4xi32>) early_resolve : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, !orch.task_id)
  %w = orch.submit @nothing() : () -> !orch.task_id
  orch.return
}

// CHECK-LABEL: @submits(
// CHECK-NEXT:    %a, %b, %t = orch.submit @kernel(input %x) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, !orch.task_id)
// CHECK:         %c, %d, %u = orch.submit @kernel(input %x, output_existing %l) deps [%t] :
// CHECK-NEXT:    %e, %g, %v = orch.submit @kernel(input %x, output_existing %a, inout %c) deps [%t, %u] launch %n sync_start predicate(%f[0] gt 0 : tensor<4xi32>) early_resolve :
// CHECK-NEXT:    %w = orch.submit @nothing() : () -> !orch.task_id

// -----

// C-T24, C-T32: directions that are there stay, whatever would be derived. Their writes count.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>, inout tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) returns [1, 2]
orch.func orchestration @explicit(in %x : tensor<64xf32>, out %o : tensor<64xf32>, inout %p : tensor<64xf32>) -> tensor<64xf32> {
  %o1, %p1 = orch.call @kernel(no_dep %x, output %o, output_existing %p) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %o2, %p2 = orch.call @kernel(%x, %o1, %p1) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  orch.return %o2 : tensor<64xf32>
}

// CHECK-LABEL: @explicit(
// CHECK-NEXT:    orch.call @kernel(no_dep %x, output %o, output_existing %p)
// CHECK-NEXT:    orch.call @kernel(input %x, inout %o1, inout %p1)

// -----

// C-T33 to C-T37: arguments whose order the user answers for, of each direction; the mark stays.

orch.func incore @kernel(in tensor<64xf32>, in tensor<64xf32>, out tensor<64xf32>, inout tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) returns [2, 3]
orch.func orchestration @marked(in %x : tensor<64xf32>, out %o : tensor<64xf32>, inout %p : tensor<64xf32>) {
  %a:2 = orch.call @kernel(%x, %x, %o, %p) no_dep [1] : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %b:3 = orch.submit @kernel(%x, %x, %a#0, %a#1) no_dep [0, 2, 3] : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, !orch.task_id)
  orch.return
}

// CHECK-LABEL: @marked(
// CHECK-NEXT:    orch.call @kernel(input %x, no_dep %x, output_existing %o, inout %p) no_dep [1] :
// CHECK-NEXT:    orch.submit @kernel(no_dep %x, input %x, no_dep %a, no_dep %a_1) no_dep [0, 2, 3] :

// -----

// C-T22: ops are no uses of functions.

orch.func orchestration @ops(in %x : tensor<64xf32>, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %o1 = ptensor.assemble %x, %o[0] : tensor<64xf32>, tensor<64xf32>
  orch.return %o1 : tensor<64xf32>
}

// CHECK-LABEL: @ops(
// CHECK-NEXT:    %o1 = ptensor.assemble %x, %o[0] : tensor<64xf32>
