// Storage that would have to be in two memories is an error.

// RUN: pypto-opt --split-input-file --verify-diagnostics --infer-tile-memory-space %s

orch.func incore @two_memories(in %a : tensor<32x32xf16>, in %b : tensor<32x32xf32>, in %n : index, in %c : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = tile.load %a[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16>
  %t = tile.load %b[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32>
  %r = scf.if %c -> (!tile.tile<32x32xf32>) {
    // expected-note @+1 {{in acc because of this}}
    %p = tile.matmul %l, %l : !tile.tile<32x32xf16> -> !tile.tile<32x32xf32>
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %p) -> (!tile.tile<32x32xf32>) {
      %next = tile.matmul_acc %sum, %l, %l : !tile.tile<32x32xf32>, !tile.tile<32x32xf16>, !tile.tile<32x32xf16>
      scf.yield %next : !tile.tile<32x32xf32>
    }
    scf.yield %s : !tile.tile<32x32xf32>
  } else {
    // expected-error @+1 {{'tile.neg' op needs a tile in vec, but what shares its storage lives in acc}}
    %e = tile.neg %t : !tile.tile<32x32xf32>
    scf.yield %e : !tile.tile<32x32xf32>
  }
  orch.return
}
