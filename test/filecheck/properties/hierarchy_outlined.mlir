// HierarchyOutlined: no hierarchy scope is left in an opaque function.

// RUN: pypto-opt --verify-property=HierarchyOutlined --split-input-file --verify-diagnostics %s

// H19, H21: accepted: none, and elsewhere.
orch.func opaque @main(in %x : tensor<64xf32>) {
  orch.incore { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}
orch.func orchestration @other() {
  orch.hierarchy host { }
  orch.return
}

// -----

// H20.
orch.func opaque @main(in %c : i1) {
  scf.if %c {
    // expected-error @+1 {{'orch.hierarchy' op is left in opaque function 'main', but should have become a function of level host}}
    orch.hierarchy host { }
  }
  orch.return
}

// -----

// In no function that could call one.
func.func @other() {
  // expected-error @+1 {{'orch.hierarchy' op becomes no function here: a scope belongs in an 'orch.func'}}
  orch.hierarchy host { }
  func.return
}
