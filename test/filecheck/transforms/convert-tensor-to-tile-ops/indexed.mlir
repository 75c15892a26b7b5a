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
