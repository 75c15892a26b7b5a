// TileOps2D: in kernels only loads, stores and reshapes have tiles of more than two dimensions.

// RUN: pypto-opt --verify-property=TileOps2D --split-input-file --verify-diagnostics %s

// Accepted: in and out of two dimensions, one dimension, and functions that are no kernels.

orch.func incore @flat(in %x : tensor<2x16x8xf32>, out %o : tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x8xf32> -> !tile.tile<2x16x8xf32>
  %u = tile.reshape %t : !tile.tile<2x16x8xf32> -> !tile.tile<32x8xf32>
  %v = tile.add %u, %u : !tile.tile<32x8xf32>
  %w = tile.reshape %v : !tile.tile<32x8xf32> -> !tile.tile<2x16x8xf32>
  %o1 = tile.store %w, %o[0, 0, 0] : !tile.tile<2x16x8xf32>, tensor<2x16x8xf32>
  orch.return %o1 : tensor<2x16x8xf32>
}
orch.func opaque @no_kernel(in %x : tensor<2x16x8xf32>) {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x8xf32> -> !tile.tile<2x16x8xf32>
  %u = tile.add %t, %t : !tile.tile<2x16x8xf32>
  orch.return
}

// -----

orch.func aiv @deep(in %x : tensor<2x16x8xf32>) {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x8xf32> -> !tile.tile<2x16x8xf32>
  // expected-error @+1 {{'tile.add' op has a tile of 3 dimensions, !tile.tile<2x16x8xf32>, but a core computes on two}}
  %u = tile.add %t, %t : !tile.tile<2x16x8xf32>
  // expected-error @+1 {{'tile.create' op has a tile of 3 dimensions}}
  %c = tile.create : !tile.tile<2x16x8xf32>
  orch.return
}
