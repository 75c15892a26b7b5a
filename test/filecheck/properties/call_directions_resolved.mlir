// CallDirectionsResolved: every argument of every call and submit has a direction that its
// parameter allows.

// RUN: pypto-opt --verify-property=CallDirectionsResolved --split-input-file --verify-diagnostics %s

// C-T29, C-T32, C-T36, C-T37, C-T44, C-T45: accepted.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>, inout tensor<64xf32>, in index)
orch.func incore @nothing()
orch.func group @group(out %o : tensor<64xf32>, inout %p : tensor<64xf32>, in %x : tensor<64xf32>, in %n : index) {
  orch.call @kernel(input %x, output_existing %o, inout %p, scalar %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, index) -> ()
  orch.return
}
orch.func orchestration @main(in %x : tensor<64xf32>, out %o : tensor<64xf32>, inout %p0 : tensor<64xf32>, inout %p1 : tensor<64xf32>, inout %p2 : tensor<64xf32>, inout %p3 : tensor<64xf32>, in %n : index) {
  orch.call @kernel(input %x, output %o, inout %p1, scalar %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, index) -> ()
  orch.call @kernel(no_dep %x, inout %o, output_existing %p2, scalar %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, index) -> ()
  orch.call @kernel(no_dep %x, no_dep %o, no_dep %p3, scalar %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, index) -> ()
  orch.call @nothing() : () -> ()
  %t = orch.submit @nothing() : () -> !orch.task_id
  orch.return
}

// -----

// C-T30, C-T31: what a parameter does not allow. The first of a use is told.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>, inout tensor<64xf32>, in index)
orch.func orchestration @main(in %x : tensor<64xf32>, out %o : tensor<64xf32>, inout %p0 : tensor<64xf32>, inout %p1 : tensor<64xf32>, inout %p2 : tensor<64xf32>, inout %p3 : tensor<64xf32>, inout %p4 : tensor<64xf32>, in %n : index) {
  // expected-error @+1 {{'orch.call' op in function 'main', use of 'kernel': argument 0 is output_existing, but the parameter is in, which allows input, no_dep}}
  orch.call @kernel(output_existing %x, input %o, inout %p0, scalar %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, index) -> ()
  // expected-error @+1 {{argument 1 is input, but the parameter is out, which allows output, output_existing, inout, no_dep}}
  orch.call @kernel(input %x, input %o, inout %p1, scalar %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, index) -> ()
  // expected-error @+1 {{argument 2 is output, but the parameter is inout, which allows inout, output_existing, no_dep}}
  %t = orch.submit @kernel(input %x, inout %o, output %p2, scalar %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, index) -> !orch.task_id
  // expected-error @+1 {{argument 1 is a tensor, but its direction is scalar}}
  orch.call @kernel(input %x, scalar %o, inout %p3, scalar %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, index) -> ()
  // expected-error @+1 {{argument 3 is no tensor (index), but its direction is input}}
  orch.call @kernel(input %x, inout %o, inout %p4, input %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, index) -> ()
  orch.return
}

// -----

// C.7: no directions.

// expected-note @+2 {{'kernel' is defined here}}
// expected-note @+1 {{'kernel' is defined here}}
orch.func incore @kernel(in tensor<64xf32>)
orch.func orchestration @main(in %x : tensor<64xf32>) {
  // expected-error @+1 {{'orch.call' op in function 'main', use of 'kernel' has no directions of its arguments}}
  orch.call @kernel(%x) : (tensor<64xf32>) -> ()
  // expected-error @+1 {{'orch.submit' op in function 'main', use of 'kernel' has no directions of its arguments}}
  %t = orch.submit @kernel(%x) : (tensor<64xf32>) -> !orch.task_id
  orch.return
}

// -----

// C-T43: a wrapper that says less than it does.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>)
// expected-error @+1 {{'orch.func' op 'stale' has stale directions: its body implies (in, out), it declares (in, in)}}
orch.func group @stale(in %x : tensor<64xf32>, in %o : tensor<64xf32>) {
  orch.call @kernel(input %x, output_existing %o) : (tensor<64xf32>, tensor<64xf32>) -> ()
  orch.return
}
