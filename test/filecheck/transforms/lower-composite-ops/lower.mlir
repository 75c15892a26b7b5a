// Sines and cosines become multiplications, additions and conversions; replaced rows two scatters.

// RUN: pypto-opt --lower-composite-ops %s | filecheck %s
// RUN: pypto-opt --lower-composite-ops --lower-composite-ops %s | filecheck %s

// CHECK-LABEL:   orch.func incore @sine(
// CHECK:           %turns = tile.muls %t, %{{.*}} : !tile.tile<16x16xf32>, f32
// CHECK-NEXT:      %k_i = tile.cast %turns, target_type = i32 : !tile.tile<16x16xf32> -> !tile.tile<16x16xi32>
// CHECK-NEXT:      %k = tile.cast %k_i, target_type = f32, mode = none : !tile.tile<16x16xi32> -> !tile.tile<16x16xf32>
// CHECK-COUNT-5:   tile.sub
// CHECK:           tile.cast %half_k, target_type = i32, mode = floor
// CHECK:           %s = tile.mul %sign_1, %t_p : !tile.tile<16x16xf32>
// CHECK-NEXT:      %o1 = tile.store %s, %o[0, 0]
orch.func incore @sine(in %x : tensor<16x16xf32>, out %o : tensor<16x16xf32>) -> tensor<16x16xf32> {
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32>
  %s = tile.sin %t : !tile.tile<16x16xf32>
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<16x16xf32>, tensor<16x16xf32>
  orch.return %o1 : tensor<16x16xf32>
}

// The cosine counts from half a turn on, and rounds to even; what is valid stays so.
// CHECK-LABEL:   orch.func incore @cosine(
// CHECK:           tile.adds %turns, %{{.*}} : !tile.tile<16x16xf32, valid = [8, 16]>, f32
// CHECK-NEXT:      %k_i = tile.cast %turns_1, target_type = i32, mode = rint
// CHECK-NOT:       tile.cos
orch.func incore @cosine(in %x : tensor<16x16xf32>, out %o : tensor<16x16xf32>) -> tensor<16x16xf32> {
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, valid = [8, 16]>
  %s = tile.cos %t : !tile.tile<16x16xf32, valid = [8, 16]>
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<16x16xf32, valid = [8, 16]>, tensor<16x16xf32>
  orch.return %o1 : tensor<16x16xf32>
}

// Each element of a row goes to its flat place; ones beside them tell where they went.
// CHECK-LABEL:   orch.func incore @rows(
// CHECK:           %starts = tile.muls %j_1, %{{.*}} : !tile.tile<8x1xi32>, i32
// CHECK:           %flat = tile.row_expand_add %along, %starts : !tile.tile<8x8xi32>, !tile.tile<8x1xi32>
// CHECK:           %values = tile.scatter %nothing, %b, %flat :
// CHECK:           %marked = tile.scatter %unmarked, %ones, %flat :
// CHECK:           %mask = tile.cmps %marked, %{{.*}}, cmp_type = ne :
// CHECK:           %c = tile.sel %mask, %values, %a, %tmp :
// CHECK-NEXT:      tile.store %c, %o[0, 0]
orch.func incore @rows(in %x : tensor<16x8xf32>, in %i : tensor<1x8xi32>, in %y : tensor<8x8xf32>, out %o : tensor<16x8xf32>) {
  %a = tile.load %x[0, 0] : tensor<16x8xf32> -> !tile.tile<16x8xf32>
  %j = tile.load %i[0, 0] : tensor<1x8xi32> -> !tile.tile<1x8xi32>
  %b = tile.load %y[0, 0] : tensor<8x8xf32> -> !tile.tile<8x8xf32>
  %c = tile.scatter_update %a, %j, %b : !tile.tile<16x8xf32>, !tile.tile<1x8xi32>, !tile.tile<8x8xf32>
  %r = tile.store %c, %o[0, 0] : !tile.tile<16x8xf32>, tensor<16x8xf32>
  orch.return
}
