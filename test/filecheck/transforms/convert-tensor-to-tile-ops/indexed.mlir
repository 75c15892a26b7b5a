// Elements that are picked and placed by index.

// RUN: pypto-opt --convert-tensor-to-tile-ops --split-input-file %s | filecheck %s

// A gather loads what each row of its index reaches, and puts the rows together.
// CHECK-LABEL:   orch.func incore @gather(
// CHECK-NEXT:      %g = tile.create : !tile.tile<4x8xf32>
// CHECK:           %g_1 = scf.for %i_1 = {{.*}} iter_args(%g_2 = %g) -> (!tile.tile<4x8xf32>) {
// CHECK-NEXT:        %i_row = tile.load %i[%i_1, 0] : tensor<4x8xi32> -> !tile.tile<1x8xi32>
// CHECK-NEXT:        %x_row = tile.load %x[%i_1, 0] : tensor<4x16xf32> -> !tile.tile<1x16xf32>
// CHECK-NEXT:        %tmp = tile.create : !tile.tile<1x8xi32>
// CHECK-NEXT:        %row = tile.gather %x_row, %i_row, %tmp :
// CHECK-NEXT:        %g_3 = tile.assemble %row, %g_2[%i_1, 0] : !tile.tile<1x8xf32>, !tile.tile<4x8xf32>
// CHECK-NEXT:        scf.yield %g_3
// CHECK:           tile.store %g_1,
orch.func incore @gather(in %x : tensor<4x16xf32>, in %i : tensor<4x8xi32>) -> tensor<4x8xf32> {
  %g = ptensor.gather %x, %i : tensor<4x16xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
  orch.return %g : tensor<4x8xf32>
}

// -----

// Along another axis the row reaches all of it, and counts its own columns.
// CHECK-LABEL:   orch.func incore @down(
// CHECK:             %x_row = tile.load %x[0, 0] : tensor<5x8xf32> -> !tile.tile<5x8xf32>
// CHECK-NEXT:        %x_row_1 = tile.reshape %x_row : !tile.tile<5x8xf32> -> !tile.tile<1x40xf32>
// CHECK:             %flat = tile.muls %i_row, %{{.*}} : !tile.tile<1x8xi32>, i32
// CHECK:             %count = tile.ci %{{.*}} : i32 -> !tile.tile<1x8xi32>
// CHECK-NEXT:        %flat_1 = tile.add %flat, %count : !tile.tile<1x8xi32>
orch.func incore @down(in %x : tensor<5x8xf32>, in %i : tensor<3x8xi32>) -> tensor<3x8xf32> {
  %g = ptensor.gather %x, %i, dim = 0 : tensor<5x8xf32>, tensor<3x8xi32> -> tensor<3x8xf32>
  orch.return %g : tensor<3x8xf32>
}

// -----

// From what is on chip as a whole, rows are picked by flat indices.
// CHECK-LABEL:   orch.func incore @computed(
// CHECK:           %e = tile.exp %x_tile
// CHECK:           %e_1 = tile.reshape %e : !tile.tile<4x16xf32> -> !tile.tile<1x64xf32>
// CHECK:             %flat = tile.adds %i_row, %{{.*}} : !tile.tile<1x8xi32>, i32
// CHECK:             %row = tile.gather %e_1, %flat, %tmp :
orch.func incore @computed(in %x : tensor<4x16xf32>, in %i : tensor<4x8xi32>) -> tensor<4x8xf32> {
  %e = ptensor.exp %x : tensor<4x16xf32>
  %g = ptensor.gather %e, %i : tensor<4x16xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
  orch.return %g : tensor<4x8xf32>
}

// -----

// A scatter is done twice, with the elements and with ones, which say where they are.
// CHECK-LABEL:   orch.func incore @scatter(
// CHECK:           %values = tile.scatter %nothing, %y_tile, %flat :
// CHECK:           %marked = tile.scatter %unmarked, %ones, %flat :
// CHECK:           %mask = tile.cmps %marked, %{{.*}}, cmp_type = ne : !tile.tile<8x32xf32>, f32
// CHECK:           %g = tile.sel %mask, %values, %x_tile, %tmp :
orch.func incore @scatter(in %x : tensor<8x32xi32>, in %i : tensor<8x16xi32>, in %y : tensor<8x16xi32>) -> tensor<8x32xi32> {
  %g = ptensor.scatter %x, %i, %y : tensor<8x32xi32>, tensor<8x16xi32>, tensor<8x16xi32> -> tensor<8x32xi32>
  orch.return %g : tensor<8x32xi32>
}

// -----

// Elements of two bytes are placed by indices of two.
// CHECK-LABEL:   orch.func incore @rows(
// CHECK:           %flat = tile.row_expand_add %along, %starts
// CHECK-NEXT:      %flat_1 = tile.cast %flat, target_type = i16, mode = rint
// CHECK:           tile.scatter %nothing, %y_tile, %flat_1
orch.func incore @rows(in %x : tensor<16x32xf16>, in %i : tensor<1x8xi32>, in %y : tensor<8x32xf16>) -> tensor<16x32xf16> {
  %g = ptensor.scatter_update %x, %i, %y : tensor<16x32xf16>, tensor<1x8xi32>, tensor<8x32xf16> -> tensor<16x32xf16>
  orch.return %g : tensor<16x32xf16>
}

// -----

// CHECK-LABEL:   orch.func incore @masked(
// CHECK:           tile.scatter_mask %nothing, %y_tile, mask_pattern = p1010
// CHECK:           tile.scatter_mask %unmarked, %ones, mask_pattern = p1010
orch.func incore @masked(in %x : tensor<8x32xf32>, in %y : tensor<8x16xf32>) -> tensor<8x32xf32> {
  %g = ptensor.scatter_mask %y, %x, mask_pattern = p1010 : tensor<8x16xf32>, tensor<8x32xf32>
  orch.return %g : tensor<8x32xf32>
}

// -----

// A tensor that is stretched is stored page by page.
// CHECK-LABEL:   orch.func incore @stretched(in %x: tensor<2x1x32xf32>, out %o: tensor<2x4x32xf32>)
// CHECK:           scf.for %i = {{.*}} iter_args([[O:%.*]] = %o) -> (tensor<2x4x32xf32>) {
// CHECK-NEXT:        %x_row = tile.load %x[%i, 0, 0] : tensor<2x1x32xf32> -> !tile.tile<1x1x32xf32>
// CHECK-NEXT:        %shape = tile.create : !tile.tile<1x4x32xf32>
// CHECK-NEXT:        %page = tile.col_expand %shape, %x_row :
// CHECK-NEXT:        %y = tile.store %page, [[O]][%i, 0, 0] :
orch.func incore @stretched(in %x : tensor<2x1x32xf32>, in %o : tensor<2x4x32xf32>) -> tensor<2x4x32xf32> {
  %y = ptensor.expand_clone %x, %o : tensor<2x1x32xf32>, tensor<2x4x32xf32>
  orch.return %y : tensor<2x4x32xf32>
}

// -----

// CHECK-LABEL:   orch.func incore @counted(
// CHECK:           %c = tile.ci %{{.*}}, descending = true : i32 -> !tile.tile<1x32xi32>
orch.func incore @counted() -> tensor<1x32xi32> {
  %zero = arith.constant 0 : i32
  %c = ptensor.ci %zero, descending = true : i32 -> tensor<1x32xi32>
  orch.return %c : tensor<1x32xi32>
}

// Rows that the kernel finds itself are loaded straight to L1; the tensor that they come from stays in global memory.
// CHECK-LABEL: orch.func incore @rows(in %x: tensor<64x32xbf16>, in %n: index, in %m: index, out %b_out: tensor<64x32xbf16>) -> tensor<64x32xbf16> {
// CHECK-NEXT:    %a = tile.create : !tile.tile<64x32xbf16, mat>
// CHECK-NEXT:    %b = tile.gather_row %a[%n, 0], %x[%m, 0], sizes = [4, 32], valid = [%n, 32] : !tile.tile<64x32xbf16, mat>, tensor<64x32xbf16>
// CHECK-NEXT:    %b_stored = tile.store %b, %b_out[0, 0] : !tile.tile<64x32xbf16, mat>, tensor<64x32xbf16>
// CHECK-NEXT:    orch.return %b_stored : tensor<64x32xbf16>
orch.func incore @rows(in %x : tensor<64x32xbf16>, in %n : index, in %m : index) -> tensor<64x32xbf16> {
  %a = ptensor.create_l1 : tensor<64x32xbf16>
  %b = ptensor.gather_row %a[%n, 0], %x[%m, 0], sizes = [4, 32], valid = [%n, 32] : tensor<64x32xbf16>, tensor<64x32xbf16>
  orch.return %b : tensor<64x32xbf16>
}

// A right operand lies in L1 as it is multiplied: each row becomes a column.
// CHECK-LABEL: orch.func incore @columns(in %x: tensor<64x32xbf16>, in %n: index, out %b_out: tensor<32x64xbf16>) -> tensor<32x64xbf16> {
// CHECK-NEXT:    %a = tile.create : !tile.tile<32x64xbf16, mat, blayout = row_major, slayout = col_major>
// CHECK-NEXT:    %b = tile.gather_row %a[0, %n], %x[%n, 0], sizes = [1, 32], transpose = true : !tile.tile<32x64xbf16, mat, blayout = row_major, slayout = col_major>, tensor<64x32xbf16>
// CHECK-NEXT:    %b_stored = tile.store %b, %b_out[0, 0] : !tile.tile<32x64xbf16, mat, blayout = row_major, slayout = col_major>, tensor<32x64xbf16>
// CHECK-NEXT:    orch.return %b_stored : tensor<32x64xbf16>
orch.func incore @columns(in %x : tensor<64x32xbf16>, in %n : index) -> tensor<32x64xbf16> {
  %a = ptensor.create_l1 transpose = true : tensor<32x64xbf16>
  %b = ptensor.gather_row %a[0, %n], %x[%n, 0], sizes = [1, 32], transpose = true : tensor<32x64xbf16>, tensor<64x32xbf16>
  orch.return %b : tensor<32x64xbf16>
}

// Rows of a paged cache are looked up one by one; there are no more of them than the result has.
// CHECK-LABEL: orch.func incore @pages(in %x: tensor<64x48xf16>, in %i: tensor<?xi32>, in %t: tensor<8xi32>, out %g_out: tensor<16x32xf16>) -> tensor<16x32xf16> {
// CHECK-NEXT:    %0 = arith.constant 8 : index
// CHECK-NEXT:    %g = tile.create : !tile.tile<16x32xf16, mat>
// CHECK-NEXT:    %count = ptensor.dim %i, axis = 0 : tensor<?xi32> -> index
// CHECK-NEXT:    %1 = arith.constant 16 : index
// CHECK-NEXT:    %count_1 = arith.minsi %count, %1 : index
// CHECK-NEXT:    %2 = arith.constant 0 : index
// CHECK-NEXT:    %3 = arith.constant 1 : index
// CHECK-NEXT:    %g_1 = scf.for %i_1 = %2 to %count_1 step %3 iter_args(%g_2 = %g) -> (!tile.tile<16x32xf16, mat>) {
// CHECK-NEXT:      %4 = ptensor.read %i[%i_1] : tensor<?xi32> -> i32
// CHECK-NEXT:      %5 = arith.index_cast %4 : i32 to index
// CHECK-NEXT:      %page = arith.divsi %5, %0 : index
// CHECK-NEXT:      %6 = ptensor.read %t[%page] : tensor<8xi32> -> i32
// CHECK-NEXT:      %7 = arith.index_cast %6 : i32 to index
// CHECK-NEXT:      %8 = arith.muli %7, %0 : index
// CHECK-NEXT:      %9 = arith.remsi %5, %0 : index
// CHECK-NEXT:      %physical = arith.addi %8, %9 : index
// CHECK-NEXT:      %g_3 = tile.gather_row %g_2[%i_1, 0], %x[%physical, 16], sizes = [1, 32] : !tile.tile<16x32xf16, mat>, tensor<64x48xf16>
// CHECK-NEXT:      scf.yield %g_3 : !tile.tile<16x32xf16, mat>
// CHECK-NEXT:    }
// CHECK-NEXT:    %g_stored = tile.store %g_1, %g_out[0, 0] : !tile.tile<16x32xf16, mat>, tensor<16x32xf16>
// CHECK-NEXT:    orch.return %g_stored : tensor<16x32xf16>
orch.func incore @pages(in %x : tensor<64x48xf16>, in %i : tensor<?xi32>, in %t : tensor<8xi32>) -> tensor<16x32xf16> {
  %g = ptensor.paged_gather %x, %i, %t, block_size = 8, size = 32, max_indices = 16, col_off = 16 : tensor<64x48xf16>, tensor<?xi32>, tensor<8xi32> -> tensor<16x32xf16>
  orch.return %g : tensor<16x32xf16>
}
