// Where the outermost module names no target, the modules inside that hold kernels may.

// RUN: pypto-opt --resolve-backend-op-layouts --split-input-file --verify-diagnostics %s | filecheck %s

// CHECK-LABEL: builtin.module @inner
// CHECK:         [[ROW:%\S+]] = tile.reshape %c
// CHECK-NEXT:    tile.abs [[ROW]]
module {
  module {
    module @inner attributes {pto.target_arch = "a2a3"} {
      orch.func incore @column() {
        %c = tile.create : !tile.tile<16x1xf32, vec>
        %a = tile.abs %c : !tile.tile<16x1xf32, vec>
        orch.return
      }
    }
  }
}

// -----

// A kernel that is lowered has a target, which says nothing of others.

// CHECK-LABEL: orch.func incore @no_target
// CHECK:         tile.abs %c
orch.func incore @lowered(in tensor<16xf32>) returns [] implemented_by @unit::@lowered
module @unit attributes {pto.target_arch = "a2a3"} {
  func.func @lowered(%x : !pto.ptr<f32>) {
    func.return
  }
}
orch.func incore @no_target() {
  %c = tile.create : !tile.tile<16x1xf32, vec>
  %a = tile.abs %c : !tile.tile<16x1xf32, vec>
  orch.return
}

// -----

module {
  // expected-error @+1 {{'builtin.module' op has the target "a7", which is none of a2a3}}
  module attributes {pto.target_arch = "a7"} {
    orch.func incore @kernel() {
      orch.return
    }
  }
}
