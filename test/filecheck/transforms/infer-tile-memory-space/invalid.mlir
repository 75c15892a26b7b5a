// Storage that would have to be in two memories is an error.

// RUN: pypto-opt --split-input-file --verify-diagnostics --infer-tile-memory-space %s

orch.func incore @two_memories(in %a : tensor<32x32xf16>, in %n : i1) {
  %l = tile.load %a[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16>
  %r = scf.if %n -> (!tile.tile<32x32xf32>) {
    // expected-note @+1 {{in acc because of this}}
    %p = tile.matmul %l, %l : !tile.tile<32x32xf16> -> !tile.tile<32x32xf32>
    scf.yield %p : !tile.tile<32x32xf32>
  } else {
    // expected-error @+1 {{'tile.cast' op needs a tile in vec, but what shares its storage lives in acc}}
    %c = tile.cast %l, target_type = f32 : !tile.tile<32x32xf16> -> !tile.tile<32x32xf32>
    scf.yield %c : !tile.tile<32x32xf32>
  }
  orch.return
}
