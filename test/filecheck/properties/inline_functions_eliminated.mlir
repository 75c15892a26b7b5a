// InlineFunctionsEliminated: no inline function is left, used or not.

// RUN: pypto-opt --verify-property=InlineFunctionsEliminated --split-input-file --verify-diagnostics %s

// Accepted: functions of every other kind.

orch.func opaque @opaque(in %x: tensor<16xf32>) {
  orch.return
}
orch.func orchestration @main(in %x: tensor<16xf32>) {
  orch.call @opaque(%x) : (tensor<16xf32>) -> ()
  orch.return
}

// -----

// expected-error @+1 {{'orch.func' op 'helper' should have been spliced into its callers}}
orch.func inline @helper(in %x: tensor<16xf32>) {
  orch.return
}
orch.func orchestration @main(in %x: tensor<16xf32>) {
  orch.call @helper(%x) : (tensor<16xf32>) -> ()
  orch.return
}

// -----

module {
  // expected-error @+1 {{'orch.func' op 'unused' should have been spliced into its callers}}
  orch.func inline @unused() {
    orch.return
  }
}
