// Tiles that would have to be copied where no instruction does so are errors at their lines.

// RUN: pypto-opt --split-input-file --verify-diagnostics --convert-tile-to-pto=backend=ascend910b %s

// Nothing copies an accumulator: what was summed up to there is not there any more.
orch.func incore @summed_twice(in %a : tensor<16x32xf16>, in %b : tensor<32x16xf16>, out %o : tensor<16x16xf32>, out %p : tensor<16x16xf32>) {
  %x = tile.load %a[0, 0] : tensor<16x32xf16> -> !tile.tile<16x32xf16, mat>
  %y = tile.load %b[0, 0] : tensor<32x16xf16> -> !tile.tile<32x16xf16, mat>
  %l = tile.move %x : !tile.tile<16x32xf16, mat> -> !tile.tile<16x32xf16, left>
  %r = tile.move %y : !tile.tile<32x16xf16, mat> -> !tile.tile<32x16xf16, right>
  %m = tile.matmul %l, %r : !tile.tile<16x32xf16, left>, !tile.tile<32x16xf16, right> -> !tile.tile<16x16xf32, acc>
  // expected-error @+1 {{'tile.matmul_acc' op has to copy a tile within acc, which no instruction does: a tile that it writes over or hands on is needed again, or in another place}}
  %n = tile.matmul_acc %m, %l, %r : !tile.tile<16x16xf32, acc>, !tile.tile<16x32xf16, left>, !tile.tile<32x16xf16, right>
  %s = tile.store %m, %o[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  %t = tile.store %n, %p[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  orch.return
}

// -----

// Nor can two accumulators change places.
orch.func incore @changing_places(in %a : tensor<16x32xf16>, in %b : tensor<32x16xf16>, in %k : index, out %o : tensor<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %a[0, 0] : tensor<16x32xf16> -> !tile.tile<16x32xf16, mat>
  %y = tile.load %b[0, 0] : tensor<32x16xf16> -> !tile.tile<32x16xf16, mat>
  %l = tile.move %x : !tile.tile<16x32xf16, mat> -> !tile.tile<16x32xf16, left>
  %r = tile.move %y : !tile.tile<32x16xf16, mat> -> !tile.tile<32x16xf16, right>
  %m = tile.matmul %l, %r : !tile.tile<16x32xf16, left>, !tile.tile<32x16xf16, right> -> !tile.tile<16x16xf32, acc>
  %n = tile.matmul %l, %r : !tile.tile<16x32xf16, left>, !tile.tile<32x16xf16, right> -> !tile.tile<16x16xf32, acc>
  %p, %q = scf.for %i = %c0 to %k step %c1 iter_args(%u = %m, %v = %n) -> (!tile.tile<16x16xf32, acc>, !tile.tile<16x16xf32, acc>) {
    %w = tile.matmul_acc %u, %l, %r : !tile.tile<16x16xf32, acc>, !tile.tile<16x32xf16, left>, !tile.tile<32x16xf16, right>
    // expected-error @+1 {{'scf.yield' op has to copy a tile within acc}}
    scf.yield %v, %w : !tile.tile<16x16xf32, acc>, !tile.tile<16x16xf32, acc>
  }
  %s = tile.store %q, %o[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  orch.return
}
