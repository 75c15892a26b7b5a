// Two loads, an add over the first operand, a store.

// RUN: pypto-opt --default-pipeline -t pto %S/../../../../docs/examples/vector_add.mlir | filecheck %s --match-full-lines --strict-whitespace
// What is printed is read back, and printed alike.
// RUN: pypto-opt --default-pipeline -t pto %S/../../../../docs/examples/vector_add.mlir | pypto-opt -f pto -t pto | filecheck %s --match-full-lines --strict-whitespace

// CHECK:module attributes {pto.target_arch = "a2a3"} {
// CHECK-NEXT:  func.func @vector_add(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %s_out: !pto.ptr<f32>) {
// CHECK-NEXT:    %c0_i64 = arith.constant 0 : i64
// CHECK-NEXT:    %c32768_i64 = arith.constant 32768 : i64
// CHECK-NEXT:    %c64_index = arith.constant 64 : index
// CHECK-NEXT:    %c128_index = arith.constant 128 : index
// CHECK-NEXT:    %c1_index = arith.constant 1 : index
// CHECK-NEXT:    %c0_index = arith.constant 0 : index
// CHECK-NEXT:    %x_view = pto.make_tensor_view %x, shape = [%c64_index, %c128_index], strides = [%c128_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:    %y_view = pto.make_tensor_view %y, shape = [%c64_index, %c128_index], strides = [%c128_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:    %s_out_view = pto.make_tensor_view %s_out, shape = [%c64_index, %c128_index], strides = [%c128_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:    %x_tile = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    %x_pview = pto.partition_view %x_view, offsets = [%c0_index, %c0_index], sizes = [%c64_index, %c128_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x128xf32>
// CHECK-NEXT:    pto.tload ins(%x_pview : !pto.partition_tensor_view<64x128xf32>) outs(%x_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    %y_tile = pto.alloc_tile addr = %c32768_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    %y_pview = pto.partition_view %y_view, offsets = [%c0_index, %c0_index], sizes = [%c64_index, %c128_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x128xf32>
// CHECK-NEXT:    pto.tload ins(%y_pview : !pto.partition_tensor_view<64x128xf32>) outs(%y_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    %s = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    pto.tadd ins(%x_tile, %y_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>, !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%s : !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    %s_out_pview = pto.partition_view %s_out_view, offsets = [%c0_index, %c0_index], sizes = [%c64_index, %c128_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x128xf32>
// CHECK-NEXT:    pto.tstore ins(%s : !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%s_out_pview : !pto.partition_tensor_view<64x128xf32>)
// CHECK-NEXT:    return
// CHECK-NEXT:  }
// CHECK-NEXT:}
