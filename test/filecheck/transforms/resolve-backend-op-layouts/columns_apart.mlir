// Columns of matrices that are stored by rows.

// RUN: pypto-opt --resolve-backend-op-layouts %s | filecheck %s
// A second run finds nothing to do, and what is printed is read back.
// RUN: pypto-opt --resolve-backend-op-layouts --resolve-backend-op-layouts %s | pypto-opt | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// The largest of the one element of each row is put into a column, and so is what is made of it.
// CHECK:      orch.func incore @out_of_a_tile(
// CHECK:        %rows = tile.slice %t[0, 8] : !tile.tile<16x64xf32, vec> -> !tile.tile<16x8xf32, vec, valid = [16, 1]>
// CHECK-NEXT:   %rows_1 = tile.create : !tile.tile<16x8xf32, vec>
// CHECK-NEXT:   %c = tile.row_max %rows, %rows_1 : !tile.tile<16x8xf32, vec, valid = [16, 1]>, !tile.tile<16x8xf32, vec> -> !tile.tile<16x1xf32, vec>
// CHECK-NEXT:   %s = scf.for {{.*}} iter_args(%k = %c) -> (!tile.tile<16x1xf32, vec>) {
// CHECK:          scf.yield %e : !tile.tile<16x1xf32, vec>
// CHECK:        tile.row_expand_mul %t, %s : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec>
orch.func incore @out_of_a_tile(in %x : tensor<16x64xf32>, in %n : index, out %y : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  %c = tile.slice %t[0, 8] : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec, blayout = row_major>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c) -> (!tile.tile<16x1xf32, vec, blayout = row_major>) {
    %e = tile.exp %k : !tile.tile<16x1xf32, vec, blayout = row_major>
    scf.yield %e : !tile.tile<16x1xf32, vec, blayout = row_major>
  }
  %p = tile.row_expand_mul %t, %s : !tile.tile<16x64xf32, vec>, !tile.tile<16x1xf32, vec, blayout = row_major>
  %z = tile.store %p, %y[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return %z : tensor<16x64xf32>
}

// From a tensor as well; into one go rows of one element.
// CHECK:      orch.func incore @from_and_to_a_tensor(
// CHECK:        %rows = tile.load %x[0, 3], valid = [%n, 1] : tensor<16x64xf32> -> !tile.tile<16x8xf32, vec, valid = [?, 1]>
// CHECK-NEXT:   %rows_1 = tile.create : !tile.tile<16x8xf32, vec>
// CHECK-NEXT:   %c = tile.row_max %rows, %rows_1
// CHECK-NEXT:   %rows_2 = tile.valid_dim %c
// CHECK-NEXT:   %rows_3 = tile.create valid = {{\[}}%rows_2, 1] : !tile.tile<16x8xf32, vec, valid = [?, 1]>
// CHECK-NEXT:   %rows_4 = tile.row_expand %rows_3, %c
// CHECK-NEXT:   %z = tile.store %rows_4, %y[0, 5] : !tile.tile<16x8xf32, vec, valid = [?, 1]>, tensor<16x64xf32>
orch.func incore @from_and_to_a_tensor(in %x : tensor<16x64xf32>, in %n : index, out %y : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %c = tile.load %x[0, 3], valid = [%n, 1] : tensor<16x64xf32> -> !tile.tile<16x1xf32, vec, valid = [?, 1]>
  %z = tile.store %c, %y[0, 5] : !tile.tile<16x1xf32, vec, valid = [?, 1]>, tensor<16x64xf32>
  orch.return %z : tensor<16x64xf32>
}

// A tensor of one column is stored as one, and a row has its elements in a row.
// CHECK:      orch.func incore @in_a_row(
// CHECK-NEXT:   %c = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
// CHECK-NEXT:   %z = tile.store %c, %x[0, 0]
// CHECK-NEXT:   %r = tile.load %y[0, 5] : tensor<16x64xf32> -> !tile.tile<1x16xf32, vec>
// CHECK-NEXT:   %w = tile.store %r, %y[3, 0]
orch.func incore @in_a_row(inout %x : tensor<16x1xf32>, inout %y : tensor<16x64xf32>) -> (tensor<16x1xf32>, tensor<16x64xf32>) {
  %c = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
  %z = tile.store %c, %x[0, 0] : !tile.tile<16x1xf32, vec>, tensor<16x1xf32>
  %r = tile.load %y[0, 5] : tensor<16x64xf32> -> !tile.tile<1x16xf32, vec>
  %w = tile.store %r, %y[3, 0] : !tile.tile<1x16xf32, vec>, tensor<16x64xf32>
  orch.return %z, %w : tensor<16x1xf32>, tensor<16x64xf32>
}

// What the target cannot do so stays as it is, for `verify-target` to refuse: elements that no
// instruction compares, a column whose block may reach beyond the tile.
// CHECK:      orch.func incore @stays(
// CHECK:        tile.slice %t[0, %n] : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec, blayout = row_major>
// CHECK:        tile.load %x[0, 3] : tensor<16x64xbf16> -> !tile.tile<16x1xbf16, vec>
orch.func incore @stays(in %x : tensor<16x64xbf16>, in %y : tensor<16x64xf32>, in %n : index) {
  %t = tile.load %y[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  %c = tile.slice %t[0, %n] : !tile.tile<16x64xf32, vec> -> !tile.tile<16x1xf32, vec, blayout = row_major>
  %b = tile.load %x[0, 3] : tensor<16x64xbf16> -> !tile.tile<16x1xbf16, vec>
  orch.return
}
}
