// BackendLayoutsSatisfied: the tiles of constrained operands and results are stored row by row.

// RUN: pypto-opt --verify-property=BackendLayoutsSatisfied --split-input-file --verify-diagnostics %s

// Accepted: rows; ops without requirements; what is no kernel; and all of it without a target.

builtin.module attributes {pto.target_arch = "a2a3"} {
orch.func incore @rows(in %s: f32) {
  %t = tile.create : !tile.tile<16x16xf32, vec>
  %u = tile.add %t, %t : !tile.tile<16x16xf32, vec>
  %c = tile.create : !tile.tile<16x1xf32, vec>
  %n = tile.neg %c : !tile.tile<16x1xf32, vec>
  %r = tile.create : !tile.tile<16x1xf32, vec, blayout = row_major>
  %v = tile.muls %r, %s : !tile.tile<16x1xf32, vec, blayout = row_major>, f32
  orch.return
}
}

// -----

orch.func incore @no_target() {
  %c = tile.create : !tile.tile<16x1xf32, vec>
  %a = tile.abs %c : !tile.tile<16x1xf32, vec>
  orch.return
}

// -----

builtin.module attributes {pto.target_arch = "other"} {
orch.func incore @unknown_target() {
  %c = tile.create : !tile.tile<16x1xf32, vec>
  %a = tile.abs %c : !tile.tile<16x1xf32, vec>
  orch.return
}
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
orch.func aiv @columns(in %s: f32, in %c: i1) {
  %t = tile.create : !tile.tile<16x1xf32, vec>
  scf.if %c {
    // expected-error @+2 {{'tile.muls' op operand 'lhs' should be row_major on this target, got !tile.tile<16x1xf32, vec>}}
    // expected-error @+1 {{'tile.muls' op result 'result' should be row_major on this target, got !tile.tile<16x1xf32, vec>}}
    %u = tile.muls %t, %s : !tile.tile<16x1xf32, vec>, f32
  }
  // expected-error @+1 {{'tile.full' op result 'result' should be row_major}}
  %f = tile.full %s : f32 -> !tile.tile<16x1xf32, vec>
  orch.return
}
}
