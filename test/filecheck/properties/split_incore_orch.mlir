// SplitIncoreOrch: no in-core scope is left outside incore functions.

// RUN: pypto-opt --verify-property=SplitIncoreOrch --split-input-file --verify-diagnostics %s

// Accepted: a scope in a function that is a kernel already. Names, creation and data movement are
// what orchestration does.

orch.func incore @kernel(in %x : tensor<16xf32>) {
  orch.incore {
  }
  orch.return
}
orch.func orchestration @main(in %x : tensor<16xf32>, out %o : tensor<16xf32>) -> tensor<16xf32> {
  %c = ptensor.create : tensor<8xf32>
  %s = ptensor.slice %x[8] : tensor<16xf32> -> tensor<8xf32>
  %o1 = ptensor.assemble %s, %o[0] : tensor<8xf32>, tensor<16xf32>
  %e = ptensor.read %o1[0] : tensor<16xf32> -> f32
  %o2 = ptensor.write %e, %o1[1] : f32, tensor<16xf32>
  orch.return %o2 : tensor<16xf32>
}
orch.func opaque @not_said_yet(in %x : tensor<16xf32>) -> tensor<16xf32> {
  %y = ptensor.add %x, %x : tensor<16xf32>
  orch.return %y : tensor<16xf32>
}

// -----

orch.func opaque @opaque(in %c : i1) {
  scf.if %c {
    // expected-error @+1 {{'orch.incore' op is left in opaque function 'opaque', but should have become an incore function}}
    orch.incore {
    }
  }
  orch.return
}
orch.func aiv @aiv() {
  // expected-error @+1 {{is left in aiv function 'aiv'}}
  orch.incore {
  }
  orch.return
}
orch.func group @group() {
  // expected-error @+1 {{is left in group function 'group'}}
  orch.incore {
  }
  orch.return
}

// -----

// Computing where tasks are launched is only warned about.

orch.func orchestration @computes(in %x : tensor<16xf32>) -> tensor<16xf32> {
  // expected-warning @+1 {{'ptensor.add' op computes in orchestration function 'computes', which only launches tasks}}
  %y = ptensor.add %x, %x : tensor<16xf32>
  orch.return %y : tensor<16xf32>
}
orch.func graph @computes_too(in %x : tensor<16xf32>) -> tensor<16xf32> {
  // expected-warning @+1 {{computes in graph function 'computes_too'}}
  %y = ptensor.exp %x : tensor<16xf32>
  orch.return %y : tensor<16xf32>
}

// -----

// In no function that could launch a kernel; the function before it has nothing to do with it.

orch.func incore @kernel() {
  orch.return
}
func.func @other(%c : i1) {
  scf.if %c {
    // expected-error @+1 {{'orch.incore' op becomes no kernel here: a scope belongs in an 'orch.func'}}
    orch.incore {
    }
  }
  func.return
}
// expected-error @+1 {{'orch.incore' op becomes no kernel here}}
orch.incore {
}
