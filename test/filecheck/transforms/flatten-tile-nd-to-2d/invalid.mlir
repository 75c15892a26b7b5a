// What does not mean the same on a matrix is an error at its line.

// RUN: pypto-opt --split-input-file --verify-diagnostics --flatten-tile-nd-to-2d %s

orch.func incore @columns(in %x : tensor<2x16x64xf32>) {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
  // expected-error @+1 {{'tile.col_max' op works along an axis of a tile of more than two dimensions, but a core computes on matrices; reshape the tile}}
  %c = tile.col_max %t : !tile.tile<2x16x64xf32> -> !tile.tile<1x16x64xf32>
  orch.return
}

// -----

// The rows of a part have to be rows of the matrix that follow each other.
orch.func incore @window(in %x : tensor<2x16x64xf32>) {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
  // expected-error @+1 {{'tile.slice' op takes a part of !tile.tile<2x16x64xf32> whose rows do not follow each other, but a core computes on matrices; take it apart along the first dimensions}}
  %s = tile.slice %t[0, 0, 0] : !tile.tile<2x16x64xf32> -> !tile.tile<2x8x64xf32>
  orch.return
}

// -----

orch.func incore @other_axes(in %x : tensor<2x16x64xf32>) {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
  // expected-error @+1 {{'tile.transpose' op swaps other axes of a tile than the last two, but a core computes on matrices}}
  %s = tile.transpose %t : !tile.tile<2x16x64xf32> -> !tile.tile<16x2x64xf32>
  orch.return
}

// -----

orch.func incore @seen_transposed(in %x : tensor<2x16x64xf32>) {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
  %v = tile.transpose_view %t : !tile.tile<2x16x64xf32> -> !tile.tile<2x64x16xf32, blayout = col_major>
  // expected-error @+1 {{'tile.neg' op uses matrices seen transposed, which only products take}}
  %s = tile.neg %v : !tile.tile<2x64x16xf32, blayout = col_major>
  orch.return
}

// -----

// What is loaded is in no accumulator, and nothing brings it there: a loop that starts from it
// carries one tile, of which no part is added to.
orch.func incore @carried(in %x : tensor<2x16x16xf16>, in %acc : tensor<2x16x16xf32>, in %n : index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0, 0] : tensor<2x16x16xf16> -> !tile.tile<2x16x16xf16>
  %p = tile.load %acc[0, 0, 0] : tensor<2x16x16xf32> -> !tile.tile<2x16x16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p) -> (!tile.tile<2x16x16xf32>) {
    // expected-error @+1 {{'tile.batch_matmul_acc' op adds to a batch of sums that no batch of products right before it begins; take the batch apart}}
    %q = tile.batch_matmul_acc %a, %t, %t : !tile.tile<2x16x16xf32>, !tile.tile<2x16x16xf16>, !tile.tile<2x16x16xf16>
    scf.yield %q : !tile.tile<2x16x16xf32>
  }
  orch.return
}

// -----

orch.func incore @no_rectangle(in %x : tensor<4x16x64xf32>, in %n : index) {
  // expected-error @+1 {{'tile.load' op the valid region [2, 8, 64] of [4, 16, 64] is no rectangle of a matrix}}
  %t = tile.load %x[0, 0, 0]
    : tensor<4x16x64xf32> -> !tile.tile<4x16x64xf32, valid = [2, 8, 64]>
  %e = tile.exp %t : !tile.tile<4x16x64xf32, valid = [2, 8, 64]>
  orch.return
}

// -----

orch.func incore @run_time(in %x : tensor<4x16x64xf32>, in %n : index) {
  // expected-error @+1 {{'tile.create' op makes a tile of more than two dimensions whose valid region is known at run time}}
  %t = tile.create valid = [%n, 16, 64] : !tile.tile<4x16x64xf32, valid = [?, 16, 64]>
  orch.return
}
