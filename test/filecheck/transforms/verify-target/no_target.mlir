// That nothing is found does not mean that nobody looked: kernels have a target.

// RUN: pypto-opt --verify-target --split-input-file --verify-diagnostics %s

// No kernels, or none on tensors or tiles any more.

orch.func incore @lowered(in tensor<16xf32>) returns [] implemented_by @unit::@lowered
orch.func orchestration @main(in %x : tensor<16xf32>) {
  orch.call @lowered(%x) : (tensor<16xf32>) -> ()
  orch.return
}
builtin.module @unit attributes {pto.target_arch = "a2a3"} {
  func.func @lowered(%x : !pto.ptr<f32>) {
    func.return
  }
}

// -----

// expected-error @+1 {{'builtin.module' op has no target: name one by the module attribute pto.target_arch = "a2a3" or the pass option backend}}
builtin.module {
  orch.func aiv @kernel() {
    orch.return
  }
}
