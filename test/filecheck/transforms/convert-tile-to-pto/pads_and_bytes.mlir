// Tiles padded in place and into larger ones, blocks of bytes, bytes as other elements.

// RUN: pypto-opt -p "convert-tile-to-pto{backend=ascend910b}" %s | filecheck %s

// In place the source and the result are views of the same bytes.
// CHECK-LABEL:  func.func @pad(
// CHECK:          %b = pto.alloc_tile : {{.*}} rows=32, cols=128, v_row=32, v_col=128, {{.*}} pad=3
// CHECK-NEXT:     pto.tfillpad_expand ins(%t : {{.*}} v_row=9, v_col=30, {{.*}} pad=0{{.*}}) outs(%b :
// CHECK-NEXT:     %a = pto.treshape %t : {{.*}} v_row=9, v_col=30, {{.*}} -> {{.*}} v_row=16, v_col=64, {{.*}} pad=2
// CHECK-NEXT:     pto.tfillpad_inplace ins(%t : {{.*}} v_row=9, v_col=30, {{.*}} pad=0{{.*}}) outs(%a :
orch.func incore @pad(in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>, out %p : tensor<32x128xf32>) {
  %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec, valid = [9, 30]>
  %b = tile.fillpad_expand %t, pad_value = min
    : !tile.tile<16x64xf32, vec, valid = [9, 30]> -> !tile.tile<32x128xf32, vec, pad = min>
  %a = tile.fillpad_inplace %t, pad_value = max
    : !tile.tile<16x64xf32, vec, valid = [9, 30]> -> !tile.tile<16x64xf32, vec, pad = max>
  %r = tile.store %a, %o[0, 0] : !tile.tile<16x64xf32, vec, pad = max>, tensor<16x64xf32>
  %s = tile.store %b, %p[0, 0] : !tile.tile<32x128xf32, vec, pad = min>, tensor<32x128xf32>
  orch.return
}

// What is needed as it was is padded into another tile.
// CHECK-LABEL:  func.func @needed(
// CHECK:          %a = pto.alloc_tile
// CHECK-NEXT:     pto.tfillpad ins(%t : {{.*}}) outs(%a :
// CHECK-NEXT:     pto.partition_view
// CHECK-NOT:      pto.tmov
orch.func incore @needed(in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>, out %p : tensor<16x64xf32>) {
  %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec, valid = [9, 30]>
  %a = tile.fillpad_inplace %t : !tile.tile<16x64xf32, vec, valid = [9, 30]> -> !tile.tile<16x64xf32, vec, pad = zero>
  %r = tile.store %a, %o[0, 0] : !tile.tile<16x64xf32, vec, pad = zero>, tensor<16x64xf32>
  %s = tile.store %t, %p[0, 0] : !tile.tile<16x64xf32, vec, valid = [9, 30]>, tensor<16x64xf32>
  orch.return
}

// L1 is padded where it is, in a view that says with what; then all of it is valid.
// CHECK-LABEL:  func.func @in_l1(
// CHECK:          %[[P:.*]] = pto.treshape %t : {{.*}} -> {{.*}}v_row=16, v_col=16, {{.*}}pad=1
// CHECK-NEXT:     pto.tfillpad ins(%[[P]] : [[T:.*]]) outs(%[[P]] : [[T]])
// CHECK:          pto.tmov ins(%a : {{.*}} v_row=16, v_col=32,
orch.func incore @in_l1(in %x : tensor<16x32xf16>) {
  %t = tile.load %x[0, 0] : tensor<16x32xf16> -> !tile.tile<16x32xf16, mat, valid = [16, 16]>
  %a = tile.fillpad_inplace %t : !tile.tile<16x32xf16, mat, valid = [16, 16]> -> !tile.tile<16x32xf16, mat, pad = zero>
  %l = tile.move %a : !tile.tile<16x32xf16, mat, pad = zero> -> !tile.tile<16x32xf16, left, pad = zero>
  orch.return
}

// CHECK-LABEL:  func.func @blocks(
// CHECK:          pto.tgatherb ins(%t, %g : {{.*}} dtype=f32, {{.*}}, {{.*}} dtype=ui32, {{.*}}) outs(%v : {{.*}} dtype=i16, rows=4, cols=128,
orch.func incore @blocks(in %x : tensor<16x64xf32>, in %f : tensor<4x8xui32>, out %o : tensor<4x128xi16>) {
  %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  %g = tile.load %f[0, 0] : tensor<4x8xui32> -> !tile.tile<4x8xui32, vec>
  %v = tile.gatherb %t, %g, output_dtype = i16
    : !tile.tile<16x64xf32, vec>, !tile.tile<4x8xui32, vec> -> !tile.tile<4x128xi16, vec>
  %r = tile.store %v, %o[0, 0] : !tile.tile<4x128xi16, vec>, tensor<4x128xi16>
  orch.return
}

// How much is valid at run time is said by a view of the same box, in elements of the new width.
// CHECK-LABEL:  func.func @bytes(
// CHECK:          %[[BYTES:.*]] = arith.muli %n, %c4_index : index
// CHECK-NEXT:     %[[COLUMNS:.*]] = arith.divsi %[[BYTES]], %c2_index : index
// CHECK-NEXT:     %v = pto.treshape %t : {{.*}} dtype=f32, rows=16, cols=64, {{.*}} -> {{.*}} dtype=i16, rows=16, cols=128, v_row=16, v_col=128,
// CHECK-NEXT:     %v_1 = pto.subview %v[%c0_index, %c0_index] sizes [16, 128] valid [%c16_index, %[[COLUMNS]]]
// CHECK:          pto.tstore ins(%v_1 :
orch.func incore @bytes(in %x : tensor<16x64xf32>, in %n : index, inout %o : tensor<16x128xi16>) {
  %t = tile.load %x[0, 0], valid = [16, %n] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec, valid = [16, ?]>
  %v = tile.reinterpret_view %t
    : !tile.tile<16x64xf32, vec, valid = [16, ?]> -> !tile.tile<16x128xi16, vec, valid = [16, ?]>
  %r = tile.store %v, %o[0, 0] : !tile.tile<16x128xi16, vec, valid = [16, ?]>, tensor<16x128xi16>
  orch.return
}

// In global memory a pointer says what the elements are, where they follow each other.
// CHECK-LABEL:  func.func @global_bytes(
// CHECK:          %x_ptr = pto.castptr %x : !pto.ptr<f32> -> !pto.ptr<i16>
// CHECK:          pto.make_tensor_view %x_ptr, shape = [%c16_index, %c128_index],
// CHECK:          %x_start = pto.addptr %x, %{{.*}} : !pto.ptr<f32> -> !pto.ptr<f32>
// CHECK-NEXT:     %x_ptr_1 = pto.castptr %x_start : !pto.ptr<f32> -> !pto.ptr<i16>
// CHECK:          pto.make_tensor_view %x_ptr_1, shape = [%c4_index, %c128_index],
orch.func incore @global_bytes(in %x : tensor<16x64xf32>, in %n : index, out %o : tensor<16x128xi16>, out %p : tensor<4x128xi16>) {
  %v = ptensor.reinterpret_view %x : tensor<16x64xf32> -> tensor<16x128xi16>
  %t = tile.load %v[0, 0] : tensor<16x128xi16> -> !tile.tile<16x128xi16, vec>
  %s = ptensor.slice %x[%n, 0] : tensor<16x64xf32> -> tensor<4x64xf32>
  %w = ptensor.reinterpret_view %s : tensor<4x64xf32> -> tensor<4x128xi16>
  %u = tile.load %w[0, 0] : tensor<4x128xi16> -> !tile.tile<4x128xi16, vec>
  %r = tile.store %t, %o[0, 0] : !tile.tile<16x128xi16, vec>, tensor<16x128xi16>
  %q = tile.store %u, %p[0, 0] : !tile.tile<4x128xi16, vec>, tensor<4x128xi16>
  orch.return
}
