// ManualDepsOnSubmitOnly: dependencies that the user wrote stand in the deps of a submit.

// RUN: pypto-opt --verify-property=ManualDepsOnSubmitOnly --split-input-file --verify-diagnostics %s
// RUN: pypto-opt --split-input-file --verify-diagnostics %s

// Accepted: deps of a submit and of a dummy task; the attribute on what is no use of a function.

orch.func incore @kernel(in %x : tensor<16xf32>) {
  orch.return
}
orch.func orchestration @main(in %x : tensor<16xf32>) {
  %t = orch.submit @kernel(%x) : (tensor<16xf32>) -> !orch.task_id
  %u = orch.submit @kernel(%x) deps [%t] : (tensor<16xf32>) -> !orch.task_id
  %v = orch.task_dummy deps [%t, %u] {manual_dep_edges}
  orch.return
}

// -----

orch.func incore @kernel(in %x : tensor<16xf32>) {
  orch.return
}
orch.func orchestration @main(in %x : tensor<16xf32>) {
  // expected-error @+1 {{'orch.call' op in function 'main' carries manual_dep_edges on a use of 'kernel', where nobody looks for them: launch it with orch.submit, which has deps [...]}}
  orch.call @kernel(%x) {manual_dep_edges = []} : (tensor<16xf32>) -> ()
  // expected-error @+1 {{'orch.submit' op in function 'main' carries manual_dep_edges on a use of 'kernel', where nobody looks for them: its dependencies go into deps [...]}}
  %t = orch.submit @kernel(%x) {manual_dep_edges = []} : (tensor<16xf32>) -> !orch.task_id
  orch.return
}

// -----

// The op itself refuses deps on a call.

orch.func incore @kernel(in %x : tensor<16xf32>) {
  orch.return
}
orch.func orchestration @main(in %x : tensor<16xf32>, in %t : !orch.task_id) {
  // expected-error @+1 {{only a submit has dependencies, a predicate or early_resolve: use orch.submit}}
  orch.call @kernel(%x) deps [%t] : (tensor<16xf32>) -> ()
  orch.return
}
