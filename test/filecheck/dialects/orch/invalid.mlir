// Each way in which functions, calls and scopes are wrong.

// RUN: pypto-opt --split-input-file --verify-diagnostics %s

// expected-error @+1 {{parameter 0 is a tile, which lives in one kernel: pass a tensor, and load or store it}}
orch.func incore @tile_parameter(in %t : !tile.tile<16xf32>) {
  orch.return
}

// -----

// expected-error @+1 {{parameter 0 of type f32 is passed by value and cannot be inout: only a tensor can}}
orch.func incore @scalar_inout(inout %s : f32) {
  orch.return
}

// -----

orch.func incore @results(out %a : tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @+1 {{function 'results' declares results (tensor<16xf32>), got ()}}
  orch.return
}

// -----

// expected-error @+1 {{returns names parameter 3 of 1}}
orch.func incore @declaration(out tensor<16xf32>) -> tensor<16xf32> returns [3] implemented_by @unit::@k

// -----

// expected-error @+1 {{returns names 2 parameters for 1 results}}
orch.func incore @declaration(out tensor<16xf32>) -> tensor<16xf32> returns [0, 0] implemented_by @unit::@k

// -----

orch.func incore @kernel(in %x : tensor<16xf32>) {
  orch.return
}
orch.func orchestration @main(in %x : tensor<16xf32>, in %n : index) {
  // expected-error @+1 {{no_dep names argument 1 of 1 of 'kernel'}}
  orch.call @kernel(%x) no_dep [1] : (tensor<16xf32>) -> ()
  // expected-error @+1 {{only a submit has dependencies, a predicate or early_resolve: use orch.submit}}
  orch.call @kernel(%x) early_resolve : (tensor<16xf32>) -> ()
  orch.return
}

// -----

orch.func orchestration @scopes(in %x : tensor<16xf32>, in %n : index) {
  // expected-error @+1 {{an incore scope runs on one core group: use orch.spmd for more}}
  orch.incore launch %n {
  }
  // expected-error @+1 {{a cluster has the launch width of the orch.spmd inside it}}
  orch.cluster launch %n {
  }
  // expected-error @+1 {{an spmd scope needs a launch width}}
  orch.spmd {
  }
  // expected-error @+1 {{work of a core group is an orch.incore scope}}
  orch.hierarchy core_group {
  }
  orch.return
}

// -----

orch.func orchestration @arrays(in %n : index, in %f : f32) {
  %a = orch.array.create : !orch.array<4xi32>
  // expected-error @+1 {{value should be i32, got f32}}
  %b = orch.array.update_element %f, %a[%n] : f32, !orch.array<4xi32>
  orch.return
}

// -----

orch.func orchestration @dependencies(in %n : index) {
  // expected-error @+1 {{operand 'deps' at position 0 does not verify}}
  %t = orch.task_dummy deps [%n : index]
  orch.return
}

// -----

// A property among the attributes would say nothing.

orch.func orchestration @property_in_braces(in %x : tensor<16xf32>) attributes {kind = "incore"} {
  // expected-error @-1 {{'kind' is a property of 'orch.func', whose form has another place for it}}
  orch.return
}
