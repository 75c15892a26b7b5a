// Programs that the pass refuses.

// RUN: pypto-opt --derive-call-directions --split-input-file --verify-diagnostics %s

// What has to hold before.

orch.func opaque @unsplit() {
  // expected-error @+2 {{pass 'derive-call-directions' requires property SplitIncoreOrch: 'orch.incore' op is left in opaque function 'unsplit'}}
  // expected-note @+1 {{run 'outline-incore-scopes' first}}
  orch.incore {
  }
  orch.return
}

// -----

// C.8: directions given by hand that the parameter does not allow stay, and are told.

orch.func incore @kernel(in tensor<64xf32>)
orch.func orchestration @main(in %x : tensor<64xf32>) {
  // expected-error @+1 {{pass 'derive-call-directions' did not establish property CallDirectionsResolved: 'orch.call' op in function 'main', use of 'kernel': argument 0 is inout, but the parameter is in}}
  orch.call @kernel(inout %x) : (tensor<64xf32>) -> ()
  orch.return
}

// -----

// C.8: marks that name no argument, or no tensor; directions that are too few.

orch.func incore @kernel(in tensor<64xf32>, in index)
orch.func orchestration @main(in %x : tensor<64xf32>, in %n : index) {
  // expected-error @+1 {{no_dep names argument 2 of 2 of 'kernel'}}
  orch.call @kernel(%x, %n) no_dep [2] : (tensor<64xf32>, index) -> ()
  // expected-error @+1 {{no_dep names argument 1, which is no tensor}}
  orch.call @kernel(%x, %n) no_dep [1] : (tensor<64xf32>, index) -> ()
  // expected-error @+1 {{'kernel' is given 2 arguments and 1 directions}}
  "orch.call"(%x, %n) <{callee = @kernel, arg_directions = [#orch<arg_direction input>], operandSegmentSizes = array<i32: 2, 0, 0, 0, 0>}> : (tensor<64xf32>, index) -> ()
  orch.return
}

// -----

orch.func incore @kernel(in tensor<64xf32>, in index)
orch.func orchestration @main(in %x : tensor<64xf32>, in %n : index) {
  // expected-error @+1 {{either all arguments have directions or none}}
  orch.call @kernel(input %x, %n) : (tensor<64xf32>, index) -> ()
  orch.return
}
