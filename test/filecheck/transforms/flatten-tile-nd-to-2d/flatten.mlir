// Kernels compute on matrices: loads and stores keep the dimensions of the tensor, with reshapes
// beside them that move nothing; what works element by element or on rows is retyped.

// RUN: pypto-opt --flatten-tile-nd-to-2d %s | filecheck %s
// RUN: pypto-opt --flatten-tile-nd-to-2d --flatten-tile-nd-to-2d %s | filecheck %s

// CHECK-LABEL:   orch.func incore @batch(
// CHECK-NEXT:      %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
// CHECK-NEXT:      %t_2d = tile.reshape %t : !tile.tile<2x16x64xf32> -> !tile.tile<32x64xf32>
// CHECK-NEXT:      %w = tile.create : !tile.tile<32x64xf32>
// CHECK-NEXT:      %m = tile.row_max %t_2d, %w : !tile.tile<32x64xf32> -> !tile.tile<32x1xf32>
// CHECK-NEXT:      %d = tile.row_expand_sub %t_2d, %m : !tile.tile<32x64xf32>, !tile.tile<32x1xf32>
// CHECK:           %r = scf.for {{.*}} iter_args(%a = %d) -> (!tile.tile<32x64xf32>) {
// CHECK-NEXT:        %e = tile.exp %a : !tile.tile<32x64xf32>
// CHECK-NEXT:        scf.yield %e : !tile.tile<32x64xf32>
// CHECK:           %r_nd = tile.reshape %r : !tile.tile<32x64xf32> -> !tile.tile<2x16x64xf32>
// CHECK-NEXT:      %s = tile.store %r_nd, %o[0, 0, 0] : !tile.tile<2x16x64xf32>, tensor<2x16x64xf32>
orch.func incore @batch(
    in %x : tensor<2x16x64xf32>, out %o : tensor<2x16x64xf32>, in %n : index) {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
  %w = tile.create : !tile.tile<2x16x64xf32>
  %m = tile.row_max %t, %w : !tile.tile<2x16x64xf32>, !tile.tile<2x16x64xf32>
    -> !tile.tile<2x16x1xf32, blayout = col_major>
  %d = tile.row_expand_sub %t, %m
    : !tile.tile<2x16x64xf32>, !tile.tile<2x16x1xf32, blayout = col_major>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %d) -> (!tile.tile<2x16x64xf32>) {
    %e = tile.exp %a : !tile.tile<2x16x64xf32>
    scf.yield %e : !tile.tile<2x16x64xf32>
  }
  %s = tile.store %r, %o[0, 0, 0] : !tile.tile<2x16x64xf32>, tensor<2x16x64xf32>
  orch.return
}

// A valid region that is a rectangle of the matrix stays one.
// CHECK-LABEL:   orch.func incore @part(
// CHECK:           %u_2d = tile.reshape %u : !tile.tile<4x16x64xf32, valid = [2, 16, 40]> -> !tile.tile<64x64xf32, valid = [32, 40]>
// CHECK-NEXT:      %e = tile.exp %u_2d : !tile.tile<64x64xf32, valid = [32, 40]>
// CHECK-NEXT:      %v = tile.load {{.*}} -> !tile.tile<1x16x64xf32, valid = [1, ?, 64]>
// CHECK-NEXT:      %v_2d = tile.reshape %v : !tile.tile<1x16x64xf32, valid = [1, ?, 64]> -> !tile.tile<16x64xf32, valid = [?, 64]>
orch.func incore @part(in %x : tensor<4x16x64xf32>, out %o : tensor<4x16x64xf32>, in %n : index) {
  %u = tile.load %x[0, 0, 0]
    : tensor<4x16x64xf32> -> !tile.tile<4x16x64xf32, valid = [2, 16, 40]>
  %e = tile.exp %u : !tile.tile<4x16x64xf32, valid = [2, 16, 40]>
  %v = tile.load %x[0, 0, 0], valid = [1, %n, 64]
    : tensor<4x16x64xf32> -> !tile.tile<1x16x64xf32, valid = [1, ?, 64]>
  %f = tile.exp %v : !tile.tile<1x16x64xf32, valid = [1, ?, 64]>
  %s = tile.store %e, %o[0, 0, 0]
    : !tile.tile<4x16x64xf32, valid = [2, 16, 40]>, tensor<4x16x64xf32>
  orch.return
}

// Matrices and rows stay as they are; so do functions that do not run on a core.
// CHECK-LABEL:   orch.func incore @flat(
// CHECK-NEXT:      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
// CHECK-NEXT:      %e = tile.exp %t : !tile.tile<64xf32>
// CHECK-NEXT:      orch.return
orch.func incore @flat(in %x : tensor<64xf32>) {
  %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
  %e = tile.exp %t : !tile.tile<64xf32>
  orch.return
}

// A core needs scratch to transpose a matrix.
// CHECK-LABEL: orch.func incore @transposed(in %x: tensor<16x64xf32>, out %o: tensor<64x16xf32>) -> tensor<64x16xf32> {
// CHECK-NEXT:    %a = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
// CHECK-NEXT:    %tmp = tile.create : !tile.tile<16x64xf32>
// CHECK-NEXT:    %t = tile.transpose %a, %tmp : !tile.tile<16x64xf32> -> !tile.tile<64x16xf32>
// CHECK-NEXT:    %r = tile.store %t, %o[0, 0] : !tile.tile<64x16xf32>, tensor<64x16xf32>
// CHECK-NEXT:    orch.return %r : tensor<64x16xf32>
orch.func incore @transposed(in %x : tensor<16x64xf32>, out %o : tensor<64x16xf32>) -> tensor<64x16xf32> {
  %a = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
  %t = tile.transpose %a, axis1 = 0, axis2 = 1 : !tile.tile<16x64xf32> -> !tile.tile<64x16xf32>
  %r = tile.store %t, %o[0, 0] : !tile.tile<64x16xf32>, tensor<64x16xf32>
  orch.return %r : tensor<64x16xf32>
}
