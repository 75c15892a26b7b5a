// ClusterOutlined: cluster and spmd scopes are left in wrappers only.

// RUN: pypto-opt --verify-property=ClusterOutlined --split-input-file --verify-diagnostics %s

// Accepted: none at all, and in wrappers.
orch.func orchestration @main(in %x : tensor<64xf32>) {
  orch.incore { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}
orch.func group @group(in %n : index) {
  orch.spmd launch %n { }
  orch.return
}
orch.func spmd @spmd() {
  orch.cluster { }
  orch.return
}

// -----

orch.func opaque @main(in %n : index, in %c : i1) {
  // expected-error @+1 {{'orch.cluster' op is left in opaque function 'main', but should have become a group or spmd function}}
  orch.cluster {
    // expected-error @+1 {{'orch.spmd' op is left in opaque function 'main'}}
    orch.spmd launch %n { }
  }
  orch.return
}

// -----

// C19: in a kernel.
orch.func incore @compute(in %x : tensor<64xf32>) {
  // expected-error @+1 {{'orch.cluster' op is left in incore function 'compute'}}
  orch.cluster { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}

// -----

// In no function that could launch one.
orch.func group @group() {
  orch.return
}
func.func @other(%n : index) {
  // expected-error @+1 {{'orch.cluster' op becomes no function here: a scope belongs in an 'orch.func'}}
  orch.cluster { }
  // expected-error @+1 {{'orch.spmd' op becomes no function here}}
  orch.spmd launch %n { }
  func.return
}
