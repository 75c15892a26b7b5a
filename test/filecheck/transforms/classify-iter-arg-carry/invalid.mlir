// What cannot be classified is an error at the loop.

// RUN: pypto-opt --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry --split-input-file --verify-diagnostics %s

// 5: how many there are must be known.

orch.func incore @fill(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @unknown(in %a : tensor<64xf32>, in %n : index, out %b : tensor<64xf32>) {
  orch.task_scope manual {
    %none = orch.task_invalid
    // expected-error @+1 {{'scf.for' op carried value 0 (%last) is a task of each iteration of a parallel loop in a manual scope, which needs a statically known trip count}}
    %each = scf.for %j = %n to %n step %n iter_args(%last = %none) -> (!orch.task_id) {
      %b1, %t = orch.submit @fill(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
      scf.yield %t : !orch.task_id
    } {orch.loop = #orch<loop parallel>}
  }
  orch.return
}
