// Windows of tensors in global memory are loaded as windows.

// RUN: pypto-opt --convert-tensor-to-tile-ops %s | filecheck %s

// The slice goes into the load; a leading dimension that it drops is loaded and reshaped away.
// CHECK-LABEL: orch.func incore @slices(in %x: tensor<128x64xf32>, in %i: index, out %e_out: tensor<16x64xf32>, out %n_out: tensor<64xf32>) -> (tensor<16x64xf32>, tensor<64xf32>) {
// CHECK-NEXT:    %w_tile = tile.load %x[%i, 0] : tensor<128x64xf32> -> !tile.tile<16x64xf32>
// CHECK-NEXT:    %e = tile.exp %w_tile : !tile.tile<16x64xf32>
// CHECK-NEXT:    %r_tile = tile.load %x[%i, 0] : tensor<128x64xf32> -> !tile.tile<1x64xf32>
// CHECK-NEXT:    %r_tile_1 = tile.reshape %r_tile : !tile.tile<1x64xf32> -> !tile.tile<64xf32>
// CHECK-NEXT:    %n = tile.neg %r_tile_1 : !tile.tile<64xf32>
// CHECK-NEXT:    %e_stored = tile.store %e, %e_out[0, 0] : !tile.tile<16x64xf32>, tensor<16x64xf32>
// CHECK-NEXT:    %n_stored = tile.store %n, %n_out[0] : !tile.tile<64xf32>, tensor<64xf32>
// CHECK-NEXT:    orch.return %e_stored, %n_stored : tensor<16x64xf32>, tensor<64xf32>
orch.func incore @slices(in %x : tensor<128x64xf32>, in %i : index) -> (tensor<16x64xf32>, tensor<64xf32>) {
  %w = ptensor.slice %x[%i, 0] : tensor<128x64xf32> -> tensor<16x64xf32>
  %e = ptensor.exp %w : tensor<16x64xf32>
  %r = ptensor.slice %x[%i, 0] : tensor<128x64xf32> -> tensor<64xf32>
  %n = ptensor.neg %r : tensor<64xf32>
  orch.return %e, %n : tensor<16x64xf32>, tensor<64xf32>
}

// A window with a valid region loads that much.
// CHECK-LABEL: orch.func incore @valid(in %x: tensor<128x64xf32>, in %i: index, in %rows: index, out %o: tensor<128x64xf32>) -> tensor<128x64xf32> {
// CHECK-NEXT:    %v_tile = tile.load %x[%i, 0], valid = [%rows, 64] : tensor<128x64xf32> -> !tile.tile<16x64xf32, valid = [?, 64]>
// CHECK-NEXT:    %e = tile.exp %v_tile : !tile.tile<16x64xf32, valid = [?, 64]>
// CHECK-NEXT:    %o1 = tile.store %e, %o[%i, 0] : !tile.tile<16x64xf32, valid = [?, 64]>, tensor<128x64xf32>
// CHECK-NEXT:    orch.return %o1 : tensor<128x64xf32>
orch.func incore @valid(in %x : tensor<128x64xf32>, in %i : index, in %rows : index, out %o : tensor<128x64xf32>) -> tensor<128x64xf32> {
  %w = ptensor.slice %x[%i, 0] : tensor<128x64xf32> -> tensor<16x64xf32>
  %v = ptensor.set_validshape %w, valid = [%rows, 64] : tensor<16x64xf32> -> tensor<16x64xf32, #ptensor.view<valid = [?, 64]>>
  %e = ptensor.exp %v : tensor<16x64xf32, #ptensor.view<valid = [?, 64]>>
  %o1 = ptensor.assemble %e, %o[%i, 0] : tensor<16x64xf32, #ptensor.view<valid = [?, 64]>>, tensor<128x64xf32>
  orch.return %o1 : tensor<128x64xf32>
}

// A copy from tensor to tensor goes through a tile. Single elements are read and written where
// they are, in global memory.
// CHECK-LABEL: orch.func incore @copy(in %x: tensor<128x64xf32>, out %o: tensor<16x64xf32>, inout %f: tensor<4xi32>, in %i: index) -> (tensor<16x64xf32>, tensor<4xi32>) {
// CHECK-NEXT:    %w_tile = tile.load %x[%i, 0] : tensor<128x64xf32> -> !tile.tile<16x64xf32>
// CHECK-NEXT:    %o1 = tile.store %w_tile, %o[0, 0] : !tile.tile<16x64xf32>, tensor<16x64xf32>
// CHECK-NEXT:    %k = ptensor.read %f[0] : tensor<4xi32> -> i32
// CHECK-NEXT:    %f1 = ptensor.write %k, %f[1] : i32, tensor<4xi32>
// CHECK-NEXT:    orch.return %o1, %f1 : tensor<16x64xf32>, tensor<4xi32>
orch.func incore @copy(in %x : tensor<128x64xf32>, out %o : tensor<16x64xf32>, inout %f : tensor<4xi32>, in %i : index) -> (tensor<16x64xf32>, tensor<4xi32>) {
  %w = ptensor.slice %x[%i, 0] : tensor<128x64xf32> -> tensor<16x64xf32>
  %o1 = ptensor.assemble %w, %o[0, 0] : tensor<16x64xf32>, tensor<16x64xf32>
  %k = ptensor.read %f[0] : tensor<4xi32> -> i32
  %f1 = ptensor.write %k, %f[1] : i32, tensor<4xi32>
  orch.return %o1, %f1 : tensor<16x64xf32>, tensor<4xi32>
}

// A tensor that is seen transposed is loaded as it lies, and turned over on chip: by a copy for the
// vector core, by a view for the cube core.
// CHECK-LABEL:   orch.func incore @transposed(
// CHECK:           %x_tile = tile.load %x[0, 0] : tensor<16x64xf16> -> !tile.tile<16x64xf16>
// CHECK-NEXT:      %tmp = tile.create : !tile.tile<16x64xf16>
// CHECK-NEXT:      %t = tile.transpose %x_tile, %tmp : !tile.tile<16x64xf16> -> !tile.tile<64x16xf16>
// CHECK-NEXT:      %x_mat = tile.load %x[0, 0] : tensor<16x64xf16> -> !tile.tile<16x64xf16, mat>
// CHECK-NEXT:      %t_1 = tile.transpose_view %x_mat :
// CHECK-NEXT:      %e = tile.exp %t :
// CHECK:           %p = tile.matmul %y_mat, %t_1 :
orch.func incore @transposed(in %x : tensor<16x64xf16>, in %y : tensor<16x64xf16>)
    -> (tensor<64x16xf16>, tensor<16x16xf32>) {
  %t = ptensor.transpose %x : tensor<16x64xf16> -> tensor<64x16xf16, #ptensor.view<layout = dn>>
  %e = ptensor.exp %t : tensor<64x16xf16, #ptensor.view<layout = dn>> -> tensor<64x16xf16>
  %p = ptensor.matmul %y, %t, out_dtype = f32
    : tensor<16x64xf16>, tensor<64x16xf16, #ptensor.view<layout = dn>> -> tensor<16x16xf32>
  orch.return %e, %p : tensor<64x16xf16>, tensor<16x16xf32>
}
