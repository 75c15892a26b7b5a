// Windows of tiles: whole rows are a view, of columns a copy is made. What is put into a tile is
// moved into the view of its rows, or inserted.

// RUN: pypto-opt -p "convert-tile-to-pto{backend=ascend910b}" %s | filecheck %s

// CHECK-LABEL:  func.func @windows(
// CHECK-SAME:     %i: index)
// CHECK:          pto.tload {{.*}} outs(%t :
// CHECK-NEXT:     %rows = pto.subview %t[%i, %c0_index] sizes [8, 64] : {{.*}} rows=16, cols=64, {{.*}} -> {{.*}} rows=8, cols=64, v_row=8, v_col=64,
// CHECK-NEXT:     %columns = pto.alloc_tile : {{.*}} rows=16, cols=32,
// CHECK-NEXT:     pto.textract ins(%t, %c0_index, %c16_index : {{.*}}, index, index) outs(%columns :
// CHECK-NEXT:     %e = pto.alloc_tile
// CHECK-NEXT:     pto.texp ins(%rows : {{.*}}) outs(%e :
// CHECK-NEXT:     %c = pto.alloc_tile
// CHECK-NEXT:     %e_1 = pto.subview %c[%c0_index, %c0_index] sizes [8, 64] :
// CHECK-NEXT:     pto.tmov ins(%e : {{.*}}) outs(%e_1 :
// CHECK-NEXT:     %rows_1 = pto.subview %c[%c8_index, %c0_index] sizes [8, 64] :
// CHECK-NEXT:     pto.tmov ins(%rows : {{.*}}) outs(%rows_1 :
// CHECK-NEXT:     pto.tinsert ins(%columns, %c0_index, %c32_index : {{.*}}, index, index) outs(%c :
// CHECK:          pto.tstore ins(%c :
// CHECK:          pto.tstore ins(%columns :
orch.func incore @windows(
    in %x : tensor<16x64xf32>, in %i : index,
    out %o : tensor<16x64xf32>, out %q : tensor<16x32xf32>) {
  %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  %rows = tile.slice %t[%i, 0] : !tile.tile<16x64xf32, vec> -> !tile.tile<8x64xf32, vec>
  %columns = tile.slice %t[0, 16] : !tile.tile<16x64xf32, vec> -> !tile.tile<16x32xf32, vec>
  %e = tile.exp %rows : !tile.tile<8x64xf32, vec>
  %c = tile.create : !tile.tile<16x64xf32, vec>
  %a = tile.assemble %e, %c[0, 0] : !tile.tile<8x64xf32, vec>, !tile.tile<16x64xf32, vec>
  %b = tile.assemble %rows, %a[8, 0] : !tile.tile<8x64xf32, vec>, !tile.tile<16x64xf32, vec>
  %d = tile.assemble %columns, %b[0, 32]
    : !tile.tile<16x32xf32, vec>, !tile.tile<16x64xf32, vec>
  %s = tile.store %d, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  %u = tile.store %columns, %q[0, 0] : !tile.tile<16x32xf32, vec>, tensor<16x32xf32>
  orch.return
}

// Columns of integers are copied as floats of the same size: no other are copied on chip.
// CHECK-LABEL:  func.func @integers(
// CHECK:          pto.tload {{.*}} outs(%t :
// CHECK-NEXT:     %columns = pto.alloc_tile : {{.*}} dtype=i32, rows=16, cols=32,
// CHECK-NEXT:     %t_1 = pto.bitcast %t : {{.*}} dtype=i32, {{.*}} -> {{.*}} dtype=f32,
// CHECK-NEXT:     %columns_1 = pto.bitcast %columns : {{.*}} dtype=i32, {{.*}} -> {{.*}} dtype=f32,
// CHECK-NEXT:     pto.textract ins(%t_1, %c0_index, %c16_index : {{.*}}, index, index) outs(%columns_1 :
orch.func incore @integers(in %x : tensor<16x64xi32>, out %o : tensor<16x32xi32>) {
  %t = tile.load %x[0, 0] : tensor<16x64xi32> -> !tile.tile<16x64xi32, vec>
  %columns = tile.slice %t[0, 16] : !tile.tile<16x64xi32, vec> -> !tile.tile<16x32xi32, vec>
  %s = tile.store %columns, %o[0, 0] : !tile.tile<16x32xi32, vec>, tensor<16x32xi32>
  orch.return
}
