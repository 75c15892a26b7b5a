// Tensors are pointers and windows: names of them make no code.

// RUN: pypto-opt --convert-tile-to-pto -t 'pto{short_types=true}' %s | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// Pointers first, then numbers, then the run-time extents: one a symbol, in the order in which
// they are first seen. Strides follow from them, outside of loops.
// CHECK-LABEL: func.func @signature(%x: !pto.ptr<f32>, %o: !pto.ptr<f32>, %k: f32, %i: index, %M: index, %N: index)
// CHECK:         [[S:%\d+]] = arith.muli %N, %c16_index : index
// CHECK-NEXT:    %x_view = pto.make_tensor_view %x, shape = [%M, %N], strides = [%N, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:    %o_view = pto.make_tensor_view %o, shape = [%M, %c16_index, %N], strides = [[[S]], %N, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?x?xf32>
// CHECK:         partition_view %x_view, offsets = [%i, %c0_index], sizes = [%c8_index, %c16_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x16xf32>
// CHECK:         partition_view %o_view, offsets = [%i, %c1_index, %c0_index], sizes = [%c1_index, %c8_index, %c16_index] : !pto.tensor_view<?x?x?xf32> -> !pto.partition_tensor_view<1x8x16xf32>
orch.func incore @signature(in %k : f32, in %x : tensor<?x?xf32, #ptensor.view<dims = [M, N]>>, out %o : tensor<?x16x?xf32, #ptensor.view<dims = [M, _, N]>>, in %i : index) -> tensor<?x16x?xf32, #ptensor.view<dims = [M, _, N]>> {
  %t = tile.load %x[%i, 0] : tensor<?x?xf32, #ptensor.view<dims = [M, N]>> -> !tile.tile<8x16xf32, vec>
  %u = tile.muls %t, %k : !tile.tile<8x16xf32, vec>, f32
  %o1 = tile.store %u, %o[%i, 1, 0] : !tile.tile<8x16xf32, vec>, tensor<?x16x?xf32, #ptensor.view<dims = [M, _, N]>>
  orch.return %o1 : tensor<?x16x?xf32, #ptensor.view<dims = [M, _, N]>>
}

// A window of a window is a window; the extents of a tensor are known or parameters.
// CHECK-LABEL: func.func @windows
// CHECK:         [[O:%\S+]] = arith.addi %i, %c16_index : index
// CHECK:         partition_view %x_view, offsets = [[[O]], %c32_index], sizes = [%c8_index, %c16_index]
// CHECK:         arith.addi %c64_index, %c128_index : index
orch.func incore @windows(in %x : tensor<128x64xf32>, out %o : tensor<8x16xf32>, in %i : index) -> tensor<8x16xf32> {
  %w = ptensor.slice %x[%i, 0] : tensor<128x64xf32> -> tensor<64x64xf32>
  %v = ptensor.slice %w[16, 32] : tensor<64x64xf32> -> tensor<16x32xf32>
  %t = tile.load %v[0, 0] : tensor<16x32xf32> -> !tile.tile<8x16xf32, vec>
  %m = ptensor.dim %w, axis = 1 : tensor<64x64xf32> -> index
  %n = ptensor.dim %x, axis = 0 : tensor<128x64xf32> -> index
  %s = arith.addi %m, %n : index
  %o1 = tile.store %t, %o[0, 0] : !tile.tile<8x16xf32, vec>, tensor<8x16xf32>
  orch.return %o1 : tensor<8x16xf32>
}

// Elements of one row lie one after the other, wherever they start: from there on they are a tensor
// of their own.
// CHECK-LABEL: func.func @part_of_a_row
// CHECK:         [[R:%\d+]] = arith.muli %b, %c512_index : index
// CHECK-NEXT:    [[S:%\d+]] = arith.addi [[R]], %c : index
// CHECK-NEXT:    %f_ptr = pto.addptr %x, [[S]] : !pto.ptr<f32> -> !pto.ptr<f32>
// CHECK:         %f_view = pto.make_tensor_view %f_ptr, shape = [%c4_index, %c64_index], strides = [%c64_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:    partition_view %f_view, offsets = [%c0_index, %c32_index], sizes = [%c4_index, %c32_index]
orch.func incore @part_of_a_row(in %x : tensor<4x512xf32>, in %b : index, in %c : index, out %o : tensor<4x32xf32>) -> tensor<4x32xf32> {
  %w = ptensor.slice %x[%b, %c] : tensor<4x512xf32> -> tensor<1x256xf32>
  %f = ptensor.reshape %w : tensor<1x256xf32> -> tensor<4x64xf32>
  %h = ptensor.slice %f[0, 32] : tensor<4x64xf32> -> tensor<4x32xf32>
  %t = tile.load %h[0, 0] : tensor<4x32xf32> -> !tile.tile<4x32xf32, vec>
  %r = tile.store %t, %o[0, 0] : !tile.tile<4x32xf32, vec>, tensor<4x32xf32>
  orch.return %r : tensor<4x32xf32>
}

// One column lies as a column-major matrix does. Another shape of the whole is another view.
// CHECK-LABEL: func.func @layouts
// CHECK:         %x_view = pto.make_tensor_view %x, shape = [%c16_index, %c1_index], strides = [%c1_index, %c16_index] {layout = #pto.layout<dn>}
// CHECK:         %y_view = pto.make_tensor_view %y, shape = [%c64_index, %c32_index], strides = [%c1_index, %c64_index] {layout = #pto.layout<dn>}
// CHECK:         %flat_view = pto.make_tensor_view %o, shape = [%c16_index], strides = [%c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?xf32>
// CHECK:         pto.alloc_tile : !pto.tile_buf<vec, 64x32xf32, blayout=col_major>
// CHECK:         partition_view %flat_view, offsets = [%c0_index], sizes = [%c16_index] : !pto.tensor_view<?xf32> -> !pto.partition_tensor_view<16xf32>
orch.func incore @layouts(in %x : tensor<16x1xf32>, in %y : tensor<64x32xf32, #ptensor.view<layout = dn>>, out %o : tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
  %t = tile.load %y[0, 0] : tensor<64x32xf32, #ptensor.view<layout = dn>> -> !tile.tile<64x32xf32, vec, blayout = col_major>
  %r = tile.reshape %c : !tile.tile<16x1xf32, vec> -> !tile.tile<16xf32, vec>
  %flat = ptensor.reshape %o : tensor<4x4xf32> -> tensor<16xf32>
  %f1 = tile.store %r, %flat[0] : !tile.tile<16xf32, vec>, tensor<16xf32>
  orch.return %o : tensor<4x4xf32>
}

// A valid region that is known only at run time is an operand of the allocation, and of all that
// is computed from it; a reshaped valid region of a tile is a window of it.
// CHECK-LABEL: func.func @valid
// CHECK:         %t = pto.alloc_tile valid_row = %rows valid_col = %c64_index : [[T:!pto.tile_buf<vec, 16x64xf32, valid=\?x\?>]]
// CHECK-NEXT:    %x_pview = pto.partition_view %x_view, offsets = [%i, %c0_index], sizes = [%rows, %c64_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<?x64xf32>
// CHECK-NEXT:    pto.tload ins(%x_pview : !pto.partition_tensor_view<?x64xf32>) outs(%t : [[T]])
// CHECK-NEXT:    %e = pto.alloc_tile valid_row = %rows valid_col = %c64_index : [[T]]
// CHECK-NEXT:    pto.texp ins(%t : [[T]]) outs(%e : [[T]])
// CHECK-NEXT:    %o_pview = pto.partition_view %o_view, offsets = [%i, %c0_index], sizes = [%rows, %c64_index]
// CHECK-NEXT:    pto.tstore ins(%e : [[T]]) outs(%o_pview : !pto.partition_tensor_view<?x64xf32>)
// CHECK-NEXT:    %p = pto.subview %e[%c0_index, %c0_index] sizes [16, 64] valid [%c4_index, %c8_index] : [[T]] -> !pto.tile_buf<vec, 16x64xf32, valid=4x8>
// CHECK:         pto.tstore ins(%p : !pto.tile_buf<vec, 16x64xf32, valid=4x8>) outs({{.*}} : !pto.partition_tensor_view<4x8xf32>)
orch.func incore @valid(in %x : tensor<128x64xf32>, inout %o : tensor<128x64xf32>, in %i : index, in %rows : index) -> tensor<128x64xf32> {
  %t = tile.load %x[%i, 0], valid = [%rows, 64] : tensor<128x64xf32> -> !tile.tile<16x64xf32, vec, valid = [?, 64]>
  %e = tile.exp %t : !tile.tile<16x64xf32, vec, valid = [?, 64]>
  %o1 = tile.store %e, %o[%i, 0] : !tile.tile<16x64xf32, vec, valid = [?, 64]>, tensor<128x64xf32>
  %p = tile.set_validshape %e, valid = [4, 8] : !tile.tile<16x64xf32, vec, valid = [?, 64]> -> !tile.tile<16x64xf32, vec, valid = [4, 8]>
  %o2 = tile.store %p, %o1[0, 0] : !tile.tile<16x64xf32, vec, valid = [4, 8]>, tensor<128x64xf32>
  orch.return %o2 : tensor<128x64xf32>
}

// Single elements are reached from the pointer, by the strides. A number becomes what the
// instruction takes: the element type, or an i32 for a shift. The assembler has no arith.addf.
// CHECK-LABEL: func.func @scalars(%f: !pto.ptr<f32>, %o: !pto.ptr<f32>, %n: index, %__pypto_spmd_block_idx: i32)
// CHECK:         [[ROW:%\S+]] = arith.muli %n, %c8_index : index
// CHECK-NEXT:    [[AT:%\S+]] = arith.addi [[ROW]], %c3_index : index
// CHECK-NEXT:    %v = pto.load_scalar %f[[[AT]]] : !pto.ptr<f32> -> f32
// CHECK-NEXT:    [[MINUS:%\S+]] = arith.negf %v : f32
// CHECK-NEXT:    %w = arith.subf %v, [[MINUS]] : f32
// CHECK-NEXT:    pto.store_scalar %w, %o[%n] : !pto.ptr<f32>, f32
// CHECK-NEXT:    %b = arith.index_cast %__pypto_spmd_block_idx : i32 to index
// CHECK:         [[L:%\S+]] = arith.index_cast %b : index to i64
// CHECK-NEXT:    [[F:%\S+]] = arith.sitofp [[L]] : i64 to f32
// CHECK:         pto.tmuls ins(%t, [[F]] : !pto.tile_buf<vec, 4x8xf32>, f32)
orch.func incore @scalars(in %f : tensor<4x8xf32>, inout %o : tensor<8xf32>, in %n : index) {
  %v = ptensor.read %f[%n, 3] : tensor<4x8xf32> -> f32
  %w = arith.addf %v, %v : f32
  %o1 = ptensor.write %w, %o[%n] : f32, tensor<8xf32>
  %b = tile.get_block_idx : index
  %t = tile.load %f[0, 0] : tensor<4x8xf32> -> !tile.tile<4x8xf32, vec>
  %u = tile.muls %t, %b : !tile.tile<4x8xf32, vec>, index
  orch.return
}

  // Rows with gaps between them have an extent of 1 before theirs as well.
  // CHECK-LABEL:   func.func @deep(
  // CHECK:         %x_view = pto.make_tensor_view %x, shape = [%c1_index, %c16_index, %c64_index], strides = [%c2048_index, %c128_index, %c1_index]
  // CHECK:         pto.partition_view %x_view, offsets = [%c0_index, %c0_index, %c0_index], sizes = [%c1_index, %c16_index, %c64_index]
  orch.func aiv @deep(in %x : tensor<16x64xf32, #ptensor.view<strides = [128, 1]>>, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
    %deep = ptensor.reshape %x : tensor<16x64xf32, #ptensor.view<strides = [128, 1]>> -> tensor<1x16x64xf32>
    %t = tile.load %deep[0, 0, 0] : tensor<1x16x64xf32> -> !tile.tile<1x16x64xf32, vec>
    %flat = tile.reshape %t : !tile.tile<1x16x64xf32, vec> -> !tile.tile<16x64xf32, vec>
    %s = tile.store %flat, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
    orch.return %s : tensor<16x64xf32>
  }
}
