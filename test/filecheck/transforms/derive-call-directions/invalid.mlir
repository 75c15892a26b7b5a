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

// -----

// C.8: no directions at all are no list of none; one that is none of ours; marks below zero; marks
// that are no numbers.

orch.func incore @kernel(in tensor<64xf32>, in index)
orch.func orchestration @main(in %x : tensor<64xf32>, in %n : index) {
  // expected-error @+1 {{'orch.call' op 'kernel' is given 2 arguments and 0 directions}}
  "orch.call"(%x, %n) <{callee = @kernel, arg_directions = [], operandSegmentSizes = array<i32: 2, 0, 0, 0, 0>}> : (tensor<64xf32>, index) -> ()
  // expected-error @+1 {{'orch.call' op 1 : i32 should be of base attribute orch.arg_direction}}
  "orch.call"(%x, %n) <{callee = @kernel, arg_directions = [1 : i32, 2 : i32], operandSegmentSizes = array<i32: 2, 0, 0, 0, 0>}> : (tensor<64xf32>, index) -> ()
  // expected-error @+1 {{'orch.call' op no_dep names argument -1 of 2 of 'kernel'}}
  orch.call @kernel(%x, %n) no_dep [-1] : (tensor<64xf32>, index) -> ()
  // expected-error @+1 {{'orch.call' op "all" should be of base attribute array}}
  "orch.call"(%x, %n) <{callee = @kernel, no_dep = "all", operandSegmentSizes = array<i32: 2, 0, 0, 0, 0>}> : (tensor<64xf32>, index) -> ()
  orch.return
}

// -----

orch.func incore @kernel(in tensor<64xf32>)
orch.func orchestration @main(in %x : tensor<64xf32>) {
  // expected-error @+1 {{expected one of input, output, inout, output_existing, no_dep, scalar}}
  orch.call @kernel(read %x) : (tensor<64xf32>) -> ()
  orch.return
}

// -----

// C-T45: a use without arguments may have a list of no directions.

orch.func incore @nothing()
orch.func orchestration @main() {
  "orch.call"() <{callee = @nothing, arg_directions = [], operandSegmentSizes = array<i32: 0, 0, 0, 0, 0>}> : () -> ()
  orch.return
}
