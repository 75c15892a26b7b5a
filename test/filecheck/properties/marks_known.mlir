// MarksKnown: an attribute of the dialect is one that passes look for, where they look for it.

// RUN: pypto-opt --verify-property=MarksKnown --split-input-file --verify-diagnostics %s
// RUN: pypto-opt --split-input-file --verify-diagnostics %s

// Accepted: every mark in its place; attributes of other dialects say what they like.

orch.func aiv @marked(in %x: tensor<16xf32>) attributes {orch.split = #orch<split up_down>, orch.split_aiv, orch.slot_num = 4 : i64, orch.dual_aiv_dispatch, orch.windowize, orch.spmd_unwrapped, orch.manual_layer, orch.deferred_completion_waiter, orch.cache_policy = [{parameter = 0 : i64, policy = #orch<cache bypass>}], other.mark = "x"} {
  orch.return
}
orch.func orchestration @loops(in %x: tensor<16xf32>, in %n: index, out %o: tensor<16xf32>) {
  %own = ptensor.create {orch.manual_dep} : tensor<16xf32>
  %r = scf.for %i = %n to %n step %n iter_args(%c = %n) -> (index) {
    scf.yield %c : index
  } {orch.loop = #orch<loop pipeline>, orch.stages = 2 : i64, orch.rebound = array<i1: true>, orch.task_slots = array<i64: 0>, other.lop}
  orch.return
}

// -----

// A misspelt name.

orch.func orchestration @misspelt(in %n: index) {
  // expected-error @+1 {{'scf.for' op has an unknown attribute 'orch.lop'; did you mean 'orch.loop'?}}
  scf.for %i = %n to %n step %n {
  } {orch.lop = #orch<loop parallel>}
  orch.return
}

// -----

// A place where nobody looks.

// expected-error @+1 {{'orch.func' op has the attribute 'orch.loop', which stands on an 'scf.for'}}
orch.func aiv @misplaced(in %x: tensor<16xf32>, in %n: index) attributes {orch.loop = #orch<loop parallel>} {
  // expected-error @+1 {{'scf.for' op has the attribute 'orch.split_aiv', which stands on a function}}
  scf.for %i = %n to %n step %n {
  } {orch.split_aiv}
  // expected-error @+1 {{'tile.load' op has the attribute 'orch.manual_dep', which stands on what makes a tensor}}
  %t = tile.load %x[0] {orch.manual_dep} : tensor<16xf32> -> !tile.tile<16xf32>
  orch.return
}
// expected-error @+1 {{'func.func' op has the attribute 'orch.spmd_unwrapped', which stands on a function or a cluster}}
func.func private @other() attributes {orch.spmd_unwrapped}

// -----

// A value that says nothing.

// expected-error @+4 {{'orch.func' op orch.split should be a split mode, got "up"}}
// expected-error @+3 {{'orch.func' op orch.slot_num should be a positive integer, got -1 : i64}}
// expected-error @+2 {{'orch.func' op orch.split_aiv is there or not and has no value, got 3 : i32}}
// expected-error @+1 {{'orch.func' op orch.cache_policy names parameter 9 of 1}}
orch.func aiv @values(in %x: tensor<16xf32>) attributes {orch.split = "up", orch.slot_num = -1 : i64, orch.split_aiv = 3 : i32, orch.cache_policy = [{parameter = 9 : i64, policy = #orch<cache bypass>}]} {
  orch.return
}
// expected-error @+1 {{'orch.func' op orch.cache_policy should list parameters with policies}}
orch.func aiv @no_list(in %x: tensor<16xf32>) attributes {orch.cache_policy = [[9, 1]]} {
  orch.return
}

// -----

// Loops: the kind, its stages, and what is said of carried values.

orch.func orchestration @loops(in %n: index) {
  // expected-error @+1 {{'scf.for' op orch.loop should be a loop kind, got "parallel"}}
  scf.for %i = %n to %n step %n {
  } {orch.loop = "parallel"}
  // expected-error @+1 {{'scf.for' op is a pipelined loop, but orch.stages does not say of how many stages}}
  scf.for %i = %n to %n step %n {
  } {orch.loop = #orch<loop pipeline>}
  // expected-error @+1 {{'scf.for' op has orch.stages, but is no pipelined loop}}
  scf.for %i = %n to %n step %n {
  } {orch.loop = #orch<loop unroll>, orch.stages = 2 : i64}
  // expected-error @+1 {{'scf.for' op orch.stages should be a positive integer, got 0 : i64}}
  scf.for %i = %n to %n step %n {
  } {orch.loop = #orch<loop pipeline>, orch.stages = 0 : i64}
  // expected-error @+1 {{'scf.for' op orch.rebound should be an array of i1, got [true]}}
  %s = scf.for %i = %n to %n step %n iter_args(%c = %n) -> (index) {
    scf.yield %c : index
  } {orch.rebound = [true]}
  orch.return
}
