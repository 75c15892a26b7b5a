// What the runtime's orchestrator cannot do, or C++ cannot say, is an error at its line.

// RUN: pypto-opt %s --split-input-file --verify-diagnostics --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t orchestration

orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]

orch.func orchestration @main(in %x : tensor<16xf32>, out %y : tensor<16xf32>) {
  // expected-warning @+3 {{'ptensor.add' op computes in orchestration function 'main'}}
  // expected-warning @+2 {{'ptensor.add' op computes in orchestration function 'main'}}
  // expected-error @+1 {{'ptensor.add' op computes on tensors, which orchestration does not: put it into an in-core scope}}
  %z = ptensor.add %x, %x : tensor<16xf32>
  %y1 = orch.call @k(%z, %y) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return
}

// -----

orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]

orch.func orchestration @main(in %x : tensor<16xf32>, inout %y : tensor<32xf32>) {
  %t = ptensor.create : tensor<16xf32>
  %t1 = orch.call @k(%x, %t) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-error @+1 {{'ptensor.assemble' op copies a buffer into another, which orchestration does not}}
  %y1 = ptensor.assemble %t1, %y[0] : tensor<16xf32>, tensor<32xf32>
  %y2 = ptensor.assemble %t1, %y1[16] : tensor<16xf32>, tensor<32xf32>
  orch.return
}

// -----

orch.func orchestration @main(in %x : tensor<16xf32>, inout %y : tensor<32xf32>) {
  // expected-error @+1 {{'ptensor.assemble' op adds to a tensor, which no task does here: move it into the in-core scope}}
  %y1 = ptensor.assemble %x, %y[0], atomic = add : tensor<16xf32>, tensor<32xf32>
  orch.return
}

// -----

// expected-note @+1 {{it is declared here}}
orch.func opaque @other(in tensor<16xf32>)

orch.func orchestration @main(in %x : tensor<16xf32>) {
  // expected-error @+1 {{'orch.call' op calls 'other', which is a function of kind opaque: orchestration launches kernels and wrappers of kernels}}
  orch.call @other(%x) : (tensor<16xf32>) -> ()
  orch.return
}

// -----

orch.func incore @k(inout tensor<16xf32>, in f32) -> tensor<16xf32> returns [0]

orch.func orchestration @main(inout %x : tensor<16xf32>, in %a : f16, in %b : f16) {
  // expected-error @+1 {{'arith.addf' op of f16 has no spelling in C++: the runtime has no such type}}
  %c = arith.addf %a, %b : f16
  %d = arith.extf %c : f16 to f32
  %x1 = orch.call @k(%x, %d) : (tensor<16xf32>, f32) -> tensor<16xf32>
  orch.return
}

// -----

orch.func incore @k(inout tensor<1x1x1x2x4x2xf32>) -> tensor<1x1x1x2x4x2xf32> returns [0]

orch.func orchestration @main(inout %x : tensor<1x1x1x2x4x2xf32>) {
  // expected-error @+1 {{'orch.call' op passes a tensor of 6 dimensions; one of the runtime has at most 5}}
  %x1 = orch.call @k(%x) : (tensor<1x1x1x2x4x2xf32>) -> tensor<1x1x1x2x4x2xf32>
  orch.return
}

// -----

orch.func incore @k(inout tensor<16xf32>) -> tensor<16xf32> returns [0]

orch.func orchestration @main(inout %x : tensor<16xf32>, in %f : tensor<1xf32>) {
  // expected-error @+1 {{'orch.submit' op has a predicate on f32; the scheduler compares signed integers of 8 to 64 bits}}
  %x1, %t = orch.submit @k(%x) predicate(%f[0] gt 0 : tensor<1xf32>) : (tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  orch.return
}

// -----

orch.func incore @k(inout tensor<16xf32>) -> tensor<16xf32> returns [0]

orch.func orchestration @main(inout %x : tensor<16xf32>) {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{'orch.call' op is launched on 0 cores; expected 1 to 32767}}
  %x1 = orch.call @k(%x) launch %zero : (tensor<16xf32>) -> tensor<16xf32>
  orch.return
}

// -----

orch.func aic @a(in tensor<16xf32>, inout tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func aiv @b(in tensor<16xf32>, inout tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func group @crossed(inout %x : tensor<16xf32>, inout %y : tensor<16xf32>) -> tensor<16xf32> {
  %y1 = orch.call @a(%x, %y) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %x1 = orch.call @b(%y1, %x) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return %x1 : tensor<16xf32>
}

orch.func orchestration @main(inout %x : tensor<16xf32>, inout %y : tensor<16xf32>) {
  // expected-error @+1 {{'orch.call' op launches 'a' and 'b' as one task, with different arguments: its kernels share one list}}
  %x1 = orch.call @crossed(%x, %y) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return
}

// -----

orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]

orch.func orchestration @main(in %x : tensor<16xf32>, out %y : tensor<16xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %4 = arith.constant 4 : index
  orch.task_scope manual {
    %none = orch.task_invalid
    %all = scf.for %i = %0 to %4 step %1 iter_args(%t = %none) -> (!orch.task_id) {
      %y1, %t1 = orch.submit @k(%x, %y) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
      scf.yield %t1 : !orch.task_id
    } {orch.loop = #orch<loop parallel>}
    %ids = orch.array.create : !orch.array<2x!orch.task_id>
    // expected-error @+1 {{'orch.array.update_element' op uses %all as one task, which is one of each iteration of a parallel loop in a manual scope; wait for them with orch.task_dummy and use that}}
    %ids1 = orch.array.update_element %all, %ids[%0] : !orch.task_id, !orch.array<2x!orch.task_id>
    %y2, %t2 = orch.submit @k(%x, %y) deps [%ids1 : !orch.array<2x!orch.task_id>] : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  }
  orch.return
}

// -----

orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]

orch.func orchestration @main(in %x : tensor<16xf32>) -> tensor<16xf32> {
  %t = ptensor.create : tensor<16xf32>
  %y = orch.call @k(%x, %t) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-warning @+1 {{'orch.return' op returns %y, which is no parameter: nobody gets it from the runtime}}
  orch.return %y : tensor<16xf32>
}

// -----

orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]

// What an iteration creates does not outlive its scope for certain.
orch.func orchestration @main(in %x : tensor<16xf32>, out %y : tensor<16xf32>, in %n : index) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %r = scf.for %i = %0 to %n step %1 iter_args(%cur = %x) -> (tensor<16xf32>) {
    // expected-note @+2 {{create it before the scope}}
    // expected-warning @+1 {{'orch.task_scope' op hands out %next, which is created in it: once its tasks are done, the runtime may give the memory to others, also while tasks after the scope use it}}
    %next = ptensor.create : tensor<16xf32>
    %next1 = orch.call @k(%cur, %next) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    scf.yield %next1 : tensor<16xf32>
  }
  %y1 = orch.call @k(%r, %y) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return
}

// -----

// expected-error @-2 {{'builtin.module' op has no orchestration function}}
orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
