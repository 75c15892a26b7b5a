// RUN: pypto-opt --auto-tile-matmul-l0 --split-input-file --verify-diagnostics %s

// A result that does not fit, and is used by what takes all of it at once.
builtin.module attributes {pto.target_arch = "a2a3"} {
  orch.func incore @used_whole(in %a : tensor<256x32xf16>, in %b : tensor<32x256xf16>) {
    %l = tile.load %a[0, 0] : tensor<256x32xf16> -> !tile.tile<256x32xf16>
    %r = tile.load %b[0, 0] : tensor<32x256xf16> -> !tile.tile<32x256xf16>
    // expected-error @+1 {{has a result !tile.tile<256x256xf32> of 262144 bytes, more than acc holds (131072): it can only be stored to a matrix in the block that computes it, or rounded to nearest even for other products}}
    %p = tile.matmul %l, %r : !tile.tile<256x32xf16>, !tile.tile<32x256xf16> -> !tile.tile<256x256xf32>
    // expected-note @+1 {{it is used here}}
    %e = tile.exp %p : !tile.tile<256x256xf32>
    orch.return
  }
}

// -----

// Blocks consist of whole fractals.
builtin.module attributes {pto.target_arch = "a2a3"} {
  orch.func incore @no_blocks(in %a : tensor<64x1000xf16>, in %b : tensor<1000x64xf16>) {
    %l = tile.load %a[0, 0] : tensor<64x1000xf16> -> !tile.tile<64x1000xf16>
    %r = tile.load %b[0, 0] : tensor<1000x64xf16> -> !tile.tile<1000x64xf16>
    // expected-error @+1 {{is a product of 64x1000 by 1000x64, which the memories beside the cube do not hold, and which has no blocks: its columns and depth should be multiples of 16}}
    %p = tile.matmul %l, %r : !tile.tile<64x1000xf16>, !tile.tile<1000x64xf16> -> !tile.tile<64x64xf32>
    orch.return
  }
}

// -----

// Along the depth all has to be valid: what is not would be summed.
builtin.module attributes {pto.target_arch = "a2a3"} {
  orch.func incore @partly_valid(in %a : tensor<64x1024xf16>, in %b : tensor<1024x64xf16>, in %n : index) {
    %l = tile.load %a[0, 0], valid = [64, %n] : tensor<64x1024xf16> -> !tile.tile<64x1024xf16, valid = [64, ?]>
    %r = tile.load %b[0, 0] : tensor<1024x64xf16> -> !tile.tile<1024x64xf16>
    // expected-error @+1 {{which is not taken apart where not all columns of lhs are valid}}
    %p = tile.matmul %l, %r : !tile.tile<64x1024xf16, valid = [64, ?]>, !tile.tile<1024x64xf16> -> !tile.tile<64x64xf32>
    orch.return
  }
}

// -----

// What is added to each row is one row as long as the result.
builtin.module attributes {pto.target_arch = "a2a3"} {
  orch.func incore @bias(in %a : tensor<16x32xf16>, in %b : tensor<32x4096xf16>, in %c : tensor<1x4096xf32>) {
    %l = tile.load %a[0, 0] : tensor<16x32xf16> -> !tile.tile<16x32xf16>
    %r = tile.load %b[0, 0] : tensor<32x4096xf16> -> !tile.tile<32x4096xf16>
    %s = tile.load %c[0, 0] : tensor<1x4096xf32> -> !tile.tile<1x4096xf32>
    // expected-error @+1 {{is a product of 16x32 by 32x4096 whose columns do not fit beside the cube, and the row that is added to it is not taken apart: add it to the stored product}}
    %p = tile.matmul_bias %l, %r, %s : !tile.tile<16x32xf16>, !tile.tile<32x4096xf16>, !tile.tile<1x4096xf32> -> !tile.tile<16x4096xf32>
    orch.return
  }
}

// -----

// Without a target there are no sizes.
builtin.module {
  orch.func incore @no_target(in %a : tensor<64x64xf16>) {
    %l = tile.load %a[0, 0] : tensor<64x64xf16> -> !tile.tile<64x64xf16>
    // expected-error @+1 {{has no target: name one by the module attribute pto.target_arch = "a2a3" or the pass option backend}}
    %p = tile.matmul %l, %l : !tile.tile<64x64xf16> -> !tile.tile<64x64xf32>
    orch.return
  }
}
