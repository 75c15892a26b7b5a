// Windows of which a function cannot be told are errors at the call.

// RUN: pypto-opt --propagate-window-strides --split-input-file --verify-diagnostics %s

// The user says how far apart the rows lie, and passes others.

// expected-note @+1 {{'k' is defined here}}
orch.func incore @k(in %x : tensor<32x32xf32, #ptensor.view<strides = [64, 1]>>) {
  orch.return
}
orch.func orchestration @main(in %x : tensor<64x96xf32>, in %y : tensor<64x64xf32>) {
  %a = ptensor.slice %x[0, 32] : tensor<64x96xf32> -> tensor<32x32xf32>
  // expected-error @+1 {{'orch.call' op argument 0 lies in steps of [96, 1], where parameter 0 of 'k' is said to lie in steps of [64, 1]}}
  orch.call @k(%a) : (tensor<32x32xf32>) -> ()
  %b = ptensor.slice %y[0, 32] : tensor<64x64xf32> -> tensor<32x32xf32>
  orch.call @k(%b) : (tensor<32x32xf32>) -> ()
  orch.return
}

// -----

// A declaration cannot change, and a function that uses itself has one signature.

// expected-note @+1 {{'k' expects tensor<32x32xf32>}}
orch.func incore @k(in tensor<32x32xf32>)
// expected-note @+1 {{'g' expects tensor<32x32xf32>}}
orch.func group @g(in %x : tensor<32x32xf32>, in %y : tensor<64x64xf32>) {
  %a = ptensor.slice %y[0, 32] : tensor<64x64xf32> -> tensor<32x32xf32>
  // expected-error @+1 {{'orch.call' op argument 0 is a window in steps of [64, 1], of which 'g' cannot be told: it is used by itself}}
  orch.call @g(%a, %y) : (tensor<32x32xf32>, tensor<64x64xf32>) -> ()
  orch.return
}
orch.func orchestration @main(in %x : tensor<64x64xf32>) {
  %a = ptensor.slice %x[0, 32] : tensor<64x64xf32> -> tensor<32x32xf32>
  // expected-error @+1 {{'orch.call' op argument 0 is a window in steps of [64, 1], of which 'k' cannot be told: it is only declared}}
  orch.call @k(%a) : (tensor<32x32xf32>) -> ()
  orch.return
}
