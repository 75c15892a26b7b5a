// On tensors a comparison gives numbers, on tiles a packed mask: the mask selects between 1 and 0.

// RUN: pypto-opt --convert-tensor-to-tile-ops %s | filecheck %s

// CHECK-LABEL: orch.func incore @compare
// CHECK:         [[M:%\S+]] = tile.cmp %x_tile, %y_tile, cmp_type = gt : !tile.tile<16x64xf32> -> !tile.tile<16x32xui8, valid = [16, 8]>
// CHECK:         %one = tile.full %{{\S+}} : f32 -> !tile.tile<16x64xf32>
// CHECK:         %zero = tile.full %{{\S+}} : f32 -> !tile.tile<16x64xf32>
// CHECK:         %tmp = tile.create : !tile.tile<1x32xui8>
// CHECK:         tile.sel [[M]], %one, %zero, %tmp : {{.*}} -> !tile.tile<16x64xf32>
orch.func incore @compare(in %x : tensor<16x64xf32>, in %y : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %c = ptensor.cmp %x, %y, cmp_type = gt : tensor<16x64xf32>
  orch.return %c : tensor<16x64xf32>
}

// With a scalar.
// CHECK-LABEL: orch.func incore @compare_scalar
// CHECK:         [[M:%\S+]] = tile.cmps %x_tile, %k, cmp_type = le : !tile.tile<16x64xf32>, f32 -> !tile.tile<16x32xui8, valid = [16, 8]>
// CHECK:         tile.sel [[M]], %one, %zero, %tmp
orch.func incore @compare_scalar(in %x : tensor<16x64xf32>, in %k : f32) -> tensor<16x64xf32> {
  %c = ptensor.cmps %x, %k, cmp_type = le : tensor<16x64xf32>, f32
  orch.return %c : tensor<16x64xf32>
}
