// What does not mean the same on a matrix is an error at its line.

// RUN: pypto-opt --split-input-file --verify-diagnostics --flatten-tile-nd-to-2d %s

orch.func incore @columns(in %x : tensor<2x16x64xf32>) {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
  // expected-error @+1 {{'tile.col_max' op works along an axis of a tile of more than two dimensions, but a core computes on matrices; reshape the tile}}
  %c = tile.col_max %t : !tile.tile<2x16x64xf32> -> !tile.tile<1x16x64xf32>
  orch.return
}

// -----

orch.func incore @window(in %x : tensor<2x16x64xf32>) {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
  // expected-error @+1 {{'tile.slice' op works along an axis of a tile of more than two dimensions}}
  %s = tile.slice %t[0, 0, 0] : !tile.tile<2x16x64xf32> -> !tile.tile<1x16x64xf32>
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
