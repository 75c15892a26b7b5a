// IterArgCarryClassified: every loop says which of its carried values are rebound.

// RUN: pypto-opt --verify-property=IterArgCarryClassified --split-input-file --verify-diagnostics %s

orch.func orchestration @said(in %n : index) -> index {
  scf.for %i = %n to %n step %n {
  }
  %r:2 = scf.for %i = %n to %n step %n iter_args(%k = %n, %l = %n) -> (index, index) {
    scf.yield %k, %k : index, index
  } {orch.rebound = array<i1: false, true>}
  orch.return %r#0 : index
}
orch.func graph @no_orchestration(in %n : index, out %x : tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%k = %x) -> (tensor<64xf32>) {
    scf.yield %k : tensor<64xf32>
  }
  orch.return %x : tensor<64xf32>
}

// -----

orch.func orchestration @wrong(in %n : index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  // expected-error @+1 {{'scf.for' op does not say which of its carried values are rebound}}
  %a = scf.for %i = %n to %n step %n iter_args(%k = %n) -> (index) {
    scf.yield %k : index
  }
  // expected-error @+1 {{carried value 0 (%k) is not rebound, the loop says otherwise}}
  %b = scf.for %i = %n to %n step %n iter_args(%k = %n) -> (index) {
    scf.yield %k : index
  } {orch.rebound = array<i1: true>}
  // expected-error @+1 {{carried value 0 (%k) is rebound, the loop says otherwise}}
  %c = scf.for %i = %n to %n step %n iter_args(%k = %n) -> (index) {
    scf.yield %i : index
  } {orch.rebound = array<i1: false>}
  // expected-error @+1 {{carries 1 values and speaks of 2 that are rebound and 1 with slots}}
  %d = scf.for %i = %n to %n step %n iter_args(%k = %n) -> (index) {
    scf.yield %i : index
  } {orch.rebound = array<i1: false, true>}
  orch.task_scope manual {
    %none = orch.task_invalid
    // expected-error @+1 {{carried value 0 (%t) should have 4 slots for tasks, got 3}}
    %e = scf.for %i = %zero to %four step %one iter_args(%t = %none) -> (!orch.task_id) {
      %u = orch.task_dummy
      scf.yield %u : !orch.task_id
    } {orch.loop = #orch<loop parallel>, orch.rebound = array<i1: true>, orch.task_slots = array<i64: 3>}
    // expected-error @+1 {{carried value 0 (%t) should have an unknown number of slots for tasks, got 0}}
    %f = scf.for %i = %n to %n step %n iter_args(%t = %none) -> (!orch.task_id) {
      %u = orch.task_dummy
      scf.yield %u : !orch.task_id
    } {orch.loop = #orch<loop parallel>, orch.rebound = array<i1: true>}
  }
  orch.return
}
