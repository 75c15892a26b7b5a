// Gathers from global memory by index, and scatters to it: the whole tensor is what they index.

// RUN: pypto-opt -p "convert-tile-to-pto{backend=ascend910b}" %s | filecheck %s

// Indices down a column are a row for the instruction.
// CHECK-LABEL:  func.func @rows(
// CHECK:          %x_view = pto.make_tensor_view %x, shape = [%M, %c64_index],
// CHECK:          pto.tload {{.*}} outs(%j :
// CHECK-NEXT:     %g = pto.alloc_tile : {{.*}} rows=16, cols=64, v_row=16, v_col=64,
// CHECK-NEXT:     %x_pview = pto.partition_view %x_view, offsets = [%c0_index, %c0_index], sizes = [%M, %c64_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<?x64xf32>
// CHECK-NEXT:     %j_1 = pto.treshape %j : {{.*}} rows=16, cols=1, {{.*}} blayout=col_major, {{.*}} -> {{.*}} rows=1, cols=16, {{.*}} blayout=row_major,
// CHECK-NEXT:     pto.mgather ins(%x_pview, %j_1 : !pto.partition_tensor_view<?x64xf32>, {{.*}}) outs(%g : {{.*}}) {coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob clamp>}
orch.func incore @rows(in %x : tensor<?x64xf32, #ptensor.view<dims = [M, _]>>, in %i : tensor<16x1xi32>, out %o : tensor<16x64xf32>) {
  %j = tile.load %i[0, 0] : tensor<16x1xi32> -> !tile.tile<16x1xi32, vec>
  %g = tile.mgather %x, %j, gather_oob = clamp
    : tensor<?x64xf32, #ptensor.view<dims = [M, _]>>, !tile.tile<16x1xi32, vec> -> !tile.tile<16x64xf32, vec>
  %r = tile.store %g, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return
}

// Elements are counted through all dimensions, and rows through all but the last.
// CHECK-LABEL:  func.func @deep(
// CHECK:          %x_view = pto.make_tensor_view %x, shape = [%c5_index, %c4_index, %c64_index],
// CHECK:          %x_view_1 = pto.make_tensor_view %x, shape = [%c20_index, %c64_index],
// CHECK:          pto.mgather ins(%x_pview, %j : !pto.partition_tensor_view<5x4x64xf32>, {{.*}}) outs(%e : {{.*}}) {coalesce = #pto<coalesce elem>}
// CHECK:          pto.mgather ins(%x_pview_1, %j : !pto.partition_tensor_view<20x64xf32>, {{.*}}) outs(%g : {{.*}}) {coalesce = #pto<coalesce row>}
orch.func incore @deep(in %x : tensor<5x4x64xf32>, in %i : tensor<1x8xi32>, out %o : tensor<1x8xf32>,
    out %p : tensor<8x64xf32>) {
  %j = tile.load %i[0, 0] : tensor<1x8xi32> -> !tile.tile<1x8xi32, vec>
  %e = tile.mgather %x, %j, coalesce = elem
    : tensor<5x4x64xf32>, !tile.tile<1x8xi32, vec> -> !tile.tile<1x8xf32, vec>
  %g = tile.mgather %x, %j : tensor<5x4x64xf32>, !tile.tile<1x8xi32, vec> -> !tile.tile<8x64xf32, vec>
  %r = tile.store %e, %o[0, 0] : !tile.tile<1x8xf32, vec>, tensor<1x8xf32>
  %s = tile.store %g, %p[0, 0] : !tile.tile<8x64xf32, vec>, tensor<8x64xf32>
  orch.return
}

// What goes to L1 is selected by indices in global memory, through scratch there.
// CHECK-LABEL:  func.func @to_l1(
// CHECK:          pto.mgather ins(%x_pview, %i_pview, %s_pview : !pto.partition_tensor_view<40x32xf16>, !pto.partition_tensor_view<16x32xi32>, !pto.partition_tensor_view<512xf16>) outs(%g : !pto.tile_buf<loc=mat, {{.*}}>) {coalesce = #pto<coalesce elem>}
orch.func incore @to_l1(in %x : tensor<40x32xf16>, in %i : tensor<16x32xi32>, inout %s : tensor<512xf16>) {
  %g = tile.mgather %x, %i, %s, coalesce = elem
    : tensor<40x32xf16>, tensor<16x32xi32>, tensor<512xf16> -> !tile.tile<16x32xf16, mat>
  %l = tile.move %g : !tile.tile<16x32xf16, mat> -> !tile.tile<16x32xf16, left>
  orch.return
}

// What a scatter indexes are elements, which is said: left out, they are rows. A column of a
// tensor is a row for it.
// CHECK-LABEL:  func.func @scatter(
// CHECK:          %y_view = pto.make_tensor_view %y, shape = [%c1_index, %c1280_index], strides = [%c1280_index, %c1_index] {layout = #pto.layout<nd>}
// CHECK:          pto.mscatter ins(%a, %j : {{.*}}) outs(%o_pview : !pto.partition_tensor_view<20x64xf32>) {coalesce = #pto<coalesce elem>}
// CHECK:          pto.mscatter ins(%a, %j : {{.*}}) outs(%y_pview : !pto.partition_tensor_view<1x1280xf32>) {coalesce = #pto<coalesce elem>}
orch.func incore @scatter(in %x : tensor<8x32xf32>, in %i : tensor<8x32xi32>, out %o : tensor<20x64xf32>,
    out %y : tensor<1280x1xf32>) {
  %a = tile.load %x[0, 0] : tensor<8x32xf32> -> !tile.tile<8x32xf32, vec>
  %j = tile.load %i[0, 0] : tensor<8x32xi32> -> !tile.tile<8x32xi32, vec>
  %r = tile.mscatter %a, %j, %o : !tile.tile<8x32xf32, vec>, !tile.tile<8x32xi32, vec>, tensor<20x64xf32>
  %s = tile.mscatter %a, %j, %y : !tile.tile<8x32xf32, vec>, !tile.tile<8x32xi32, vec>, tensor<1280x1xf32>
  orch.return
}
