// ReturnParamsExplicit: a result that is a parameter's buffer, written back, is the parameter.

// RUN: pypto-opt --verify-property=ReturnParamsExplicit --split-input-file --verify-diagnostics %s

// Accepted: parameters, buffers of the kernel's own, and parameters under another type.

orch.func aiv @explicit(in %x : tensor<16xf32>, out %a : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32, #ptensor.view<valid = [8]>>) {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  %own = ptensor.create : tensor<16xf32>
  %narrow = ptensor.set_validshape %a1, valid = [8] : tensor<16xf32> -> tensor<16xf32, #ptensor.view<valid = [8]>>
  orch.return %a, %own, %narrow : tensor<16xf32>, tensor<16xf32>, tensor<16xf32, #ptensor.view<valid = [8]>>
}

// Accepted: functions whose results need not be parameters, or whose code stands elsewhere.

orch.func orchestration @orchestration(out %a : tensor<16xf32>) -> tensor<16xf32> {
  %c = ptensor.type_cast %a : tensor<16xf32> -> tensor<16xf32>
  orch.return %c : tensor<16xf32>
}
orch.func incore @external(out %a : tensor<16xf32>) -> tensor<16xf32> attributes {external_source = "kernel.cpp"} {
  %c = ptensor.type_cast %a : tensor<16xf32> -> tensor<16xf32>
  orch.return %c : tensor<16xf32>
}
orch.func incore @declared(out tensor<16xf32>) -> tensor<16xf32> returns [0]

// -----

orch.func incore @kernel(in %x : tensor<16xf32>, out %a : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  // expected-note @+1 {{the result is defined here}}
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  // expected-error @+1 {{'orch.return' op result 1 (%a1) of 'kernel' is parameter 1 (%a), written back, and should be returned as such}}
  orch.return %x, %a1 : tensor<16xf32>, tensor<16xf32>
}
orch.func graph @graph(in %x : tensor<16xf32>, out %a : tensor<16xf32>) -> tensor<16xf32> {
  %y, %z = orch.call @kernel(%x, %a) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  // expected-error @+1 {{result 0 (%z) of 'graph' is parameter 1 (%a)}}
  orch.return %z : tensor<16xf32>
}
orch.func spmd @spmd(in %x : tensor<16xf32>, out %a : tensor<16xf32>) -> tensor<16xf32> {
  %y, %z = orch.call @kernel(%x, %a) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  // expected-error @+1 {{result 0 (%y) of 'spmd' is parameter 0 (%x)}}
  orch.return %y : tensor<16xf32>
}

// -----

// expected-error @+1 {{'orch.func' op 'nothing' declares tensor results, but returns nothing}}
orch.func incore @nothing(out %a : tensor<16xf32>) -> tensor<16xf32> {
  "test.termop"() : () -> ()
}
