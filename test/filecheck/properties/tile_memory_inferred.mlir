// TileMemoryInferred: every tile of a kernel has a memory space that its uses allow.

// RUN: pypto-opt --verify-property=TileMemoryInferred --split-input-file --verify-diagnostics %s

// Accepted: all placed; and functions that are no kernels.

orch.func incore @placed(in %x : tensor<16x16xf32>, out %o : tensor<16x16xf32>) -> tensor<16x16xf32> {
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %u = tile.add %t, %t : !tile.tile<16x16xf32, vec>
  %o1 = tile.store %u, %o[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return %o1 : tensor<16x16xf32>
}
orch.func opaque @no_kernel(in %x : tensor<16x16xf32>) {
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32>
  orch.return
}

// -----

orch.func incore @unplaced(in %x : tensor<16x16xf32>, in %n : index) {
  // expected-error @+1 {{'tile.load' op result 0 (%t) is a tile without a memory space}}
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32>
  // expected-error @+2 {{'scf.for' op result 0 (%r) is a tile without a memory space}}
  // expected-error @+1 {{'scf.for' op argument 1 of the region (%a) is a tile without a memory space}}
  %r = scf.for %i = %n to %n step %n iter_args(%a = %t) -> (!tile.tile<16x16xf32>) {
    scf.yield %a : !tile.tile<16x16xf32>
  }
  orch.return
}

// -----

orch.func aic @misplaced(in %x : tensor<16x16xf32>, out %o : tensor<16x16xf32>) -> tensor<16x16xf32> {
  // expected-note @+1 {{the tile is defined here}}
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  // expected-error @+1 {{'tile.store' op operand 'source' may live in vec or acc, but lives in mat}}
  %o1 = tile.store %t, %o[0, 0] : !tile.tile<16x16xf32, mat>, tensor<16x16xf32>
  orch.return %o1 : tensor<16x16xf32>
}
