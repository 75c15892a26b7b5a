// Calls and submits name a function of the program, and fit it.

// RUN: pypto-opt --split-input-file --verify-diagnostics %s

// A call has all arguments; a submit may leave out trailing outputs.
orch.func incore @kernel(in %x : tensor<16xf32>, out %o : tensor<16xf32>) -> tensor<16xf32> {
  orch.return %o : tensor<16xf32>
}
orch.func orchestration @main(in %x : tensor<16xf32>, out %o : tensor<16xf32>) {
  %a = orch.call @kernel(%x, %o) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %b, %t = orch.submit @kernel(%x) : (tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  orch.return
}

// -----

// An unknown function; one that is known by nearly the same name is suggested.
orch.func incore @kernel(in %x : tensor<16xf32>) {
  orch.return
}
orch.func orchestration @main(in %x : tensor<16xf32>) {
  // expected-error @+1 {{'orch.call' op uses 'kernle', which is no function here; did you mean 'kernel'?}}
  orch.call @kernle(%x) : (tensor<16xf32>) -> ()
  // expected-error @+1 {{'orch.submit' op uses 'nothing', which is no function here}}
  %t = orch.submit @nothing(%x) : (tensor<16xf32>) -> !orch.task_id
  orch.return
}

// -----

// The number of arguments and of results; every error has its note.
// expected-note @+3 {{'kernel' is defined here}}
// expected-note @+2 {{'kernel' is defined here}}
// expected-note @+1 {{'kernel' is defined here}}
orch.func incore @kernel(in %x : tensor<16xf32>, in %y : tensor<16xf32>) -> tensor<16xf32> {
  orch.return %x : tensor<16xf32>
}
orch.func orchestration @main(in %x : tensor<16xf32>) {
  // expected-error @+1 {{in function 'main' has 1 arguments of 'kernel', which takes 2}}
  %a = orch.call @kernel(%x) : (tensor<16xf32>) -> tensor<16xf32>
  // An input cannot be left out of a submit.
  // expected-error @+1 {{in function 'main' has 1 arguments of 'kernel', which takes 2}}
  %b, %t = orch.submit @kernel(%x) : (tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  // expected-error @+1 {{in function 'main' has 0 results of 'kernel', which returns 1}}
  orch.call @kernel(%x, %x) : (tensor<16xf32>, tensor<16xf32>) -> ()
  orch.return
}

// -----

// Types: element, rank, and extents that both sides know.
orch.func incore @kernel(in %n : index, in %x : tensor<16x?xf32>) -> tensor<16x?xf32> {
  orch.return %x : tensor<16x?xf32>
}
orch.func orchestration @main(in %n : index, in %x : tensor<16x8xf32>, in %y : tensor<?x8xf32>,
    in %e : tensor<16x8xf16>, in %r : tensor<16xf32>, in %z : tensor<8x8xf32>) {
  // These fit, or may fit when the program runs.
  %a = orch.call @kernel(%n, %x) : (index, tensor<16x8xf32>) -> tensor<16x8xf32>
  %b = orch.call @kernel(%n, %y) : (index, tensor<?x8xf32>) -> tensor<16x?xf32>
  // expected-error @+1 {{has tensor<16x8xf16> as argument #1 of 'kernel', which has tensor<16x?xf32>}}
  %c = orch.call @kernel(%n, %e) : (index, tensor<16x8xf16>) -> tensor<16x?xf32>
  // expected-error @+1 {{has tensor<16xf32> as argument #1 of 'kernel', which has tensor<16x?xf32>}}
  %d = orch.call @kernel(%n, %r) : (index, tensor<16xf32>) -> tensor<16x?xf32>
  // expected-error @+1 {{has tensor<8x8xf32> as argument #1 of 'kernel', which has tensor<16x?xf32>}}
  %f = orch.call @kernel(%n, %z) : (index, tensor<8x8xf32>) -> tensor<16x?xf32>
  // expected-error @+1 {{has tensor<16x8xf32> as argument #0 of 'kernel', which has index}}
  %g = orch.call @kernel(%x, %x) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x?xf32>
  // expected-error @+1 {{has tensor<8x8xf32> as result #0 of 'kernel', which has tensor<16x?xf32>}}
  %h = orch.call @kernel(%n, %x) : (index, tensor<16x8xf32>) -> tensor<8x8xf32>
  orch.return
}

// -----

// A symbol of the callee is one extent a call, and another at the next.
// expected-note @+1 {{'kernel' is defined here}}
orch.func incore @kernel(in %x : tensor<?xf32, #ptensor.view<dims = [N]>>,
    in %y : tensor<?xf32, #ptensor.view<dims = [N]>>) {
  orch.return
}
orch.func orchestration @main(in %s : tensor<16xf32>, in %l : tensor<32xf32>,
    in %d : tensor<?xf32>) {
  orch.call @kernel(%s, %s) : (tensor<16xf32>, tensor<16xf32>) -> ()
  orch.call @kernel(%l, %d) : (tensor<32xf32>, tensor<?xf32>) -> ()
  // expected-error @+1 {{has tensor<32xf32> as argument #1 of 'kernel', whose extent 'N' is 16 at this call}}
  orch.call @kernel(%s, %l) : (tensor<16xf32>, tensor<32xf32>) -> ()
  orch.return
}

// -----

// Functions are used from functions of their own dialect only.
orch.func opaque @helper(in %n : index) {
  orch.return
}
func.func @other(%n : index) {
  // expected-error @+1 {{'orch.call' op uses 'helper' in no 'orch.func', from which alone functions are used}}
  orch.call @helper(%n) : (index) -> ()
  func.return
}
// expected-error @+1 {{'orch.submit' op uses 'nothing' in no 'orch.func'}}
%t = orch.submit @nothing() : () -> !orch.task_id
