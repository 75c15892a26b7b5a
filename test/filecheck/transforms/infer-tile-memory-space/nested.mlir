// What was moved before a branch or a loop is not moved again inside.

// RUN: pypto-opt --infer-tile-memory-space %s | filecheck %s

// CHECK:           %l_left = tile.move %l : !tile.tile<16x16xf16, mat> -> !tile.tile<16x16xf16, left>
// CHECK-NEXT:      %r_right = tile.move %r :
// CHECK:           scf.for
// CHECK-NOT:         tile.move %l
// CHECK:             tile.matmul_acc %a, %{{.*}}, %r_right :
// What only the loop moves is moved in it, for each block of its own.
// CHECK:           scf.if
// CHECK:             tile.move %l2 :
// CHECK:           } else {
// CHECK:             tile.move %l2 :
orch.func incore @k(in %x : tensor<16x16xf16>, in %c : i1, in %n : index, out %o : tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = tile.load %x[0, 0] : tensor<16x16xf16> -> !tile.tile<16x16xf16>
  %l2 = tile.load %x[0, 0] : tensor<16x16xf16> -> !tile.tile<16x16xf16>
  %r = tile.load %x[0, 0] : tensor<16x16xf16> -> !tile.tile<16x16xf16>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf16> -> !tile.tile<16x16xf32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p) -> (!tile.tile<16x16xf32>) {
    %q = tile.matmul_acc %a, %l, %r : !tile.tile<16x16xf32>, !tile.tile<16x16xf16>, !tile.tile<16x16xf16>
    scf.yield %q : !tile.tile<16x16xf32>
  }
  %t = scf.if %c -> (!tile.tile<16x16xf32>) {
    %q = tile.matmul_acc %s, %l2, %r : !tile.tile<16x16xf32>, !tile.tile<16x16xf16>, !tile.tile<16x16xf16>
    scf.yield %q : !tile.tile<16x16xf32>
  } else {
    %q = tile.matmul %l2, %r : !tile.tile<16x16xf16> -> !tile.tile<16x16xf32>
    scf.yield %q : !tile.tile<16x16xf32>
  }
  %u = tile.store %t, %o[0, 0] : !tile.tile<16x16xf32>, tensor<16x16xf32>
  orch.return %u : tensor<16x16xf32>
}
