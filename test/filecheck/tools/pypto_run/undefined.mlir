// RUN: not pypto-run %s --arg x=arange 2>&1 | filecheck %s
// RUN: pypto-run %s --arg x=arange --lenient 2>&1 | filecheck %s --check-prefix LENIENT

// A kernel that stores what lies outside the valid region is wrong, at the store; the caller is
// named.

// CHECK:      undefined.mlir:21:8: error: 'tile.store' op stores undefined elements: 2 of 4 elements are undefined, the first at [2]
// CHECK-NEXT: undefined.mlir:26:8: note: while running 'kernel', called from here

// Leniently it is a warning, and the elements stay undefined.

// LENIENT:      undefined.mlir:21:8: warning: 'tile.store' op stores undefined elements
// LENIENT:      y : tensor<4xf32> = [0, 1, ?, ?]
// LENIENT-NEXT: result0 : tensor<4xf32> is y

orch.func incore @kernel(in %x : tensor<4xf32>, out %y : tensor<4xf32>) -> tensor<4xf32> {
  %t = tile.load %x[0] : tensor<4xf32> -> !tile.tile<4xf32, valid = [2]>
  // It should have asked for all elements in the first place.
  %w = tile.set_validshape %t, valid = [4]
      : !tile.tile<4xf32, valid = [2]> -> !tile.tile<4xf32>
  %r = tile.store %w, %y[0] : !tile.tile<4xf32>, tensor<4xf32>
  orch.return %r : tensor<4xf32>
}

orch.func orchestration @main(in %x : tensor<4xf32>, out %y : tensor<4xf32>) -> tensor<4xf32> {
  %r = orch.call @kernel(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  orch.return %r : tensor<4xf32>
}
