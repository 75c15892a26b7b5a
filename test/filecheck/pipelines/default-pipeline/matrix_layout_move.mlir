// The boxed tile is copied to rows and back around the op that wants rows.

// RUN: pypto-opt --default-pipeline -t pto %S/../../../../docs/examples/matrix_layout_move.mlir | filecheck %s --match-full-lines --strict-whitespace
// What is printed is read back, and printed alike.
// RUN: pypto-opt --default-pipeline -t pto %S/../../../../docs/examples/matrix_layout_move.mlir | pypto-opt -f pto -t pto | filecheck %s --match-full-lines --strict-whitespace

// CHECK:module attributes {pto.target_arch = "a2a3"} {
// CHECK-NEXT:  func.func @exp_of_boxes(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
// CHECK-NEXT:    %c0_i64 = arith.constant 0 : i64
// CHECK-NEXT:    %c16384_i64 = arith.constant 16384 : i64
// CHECK-NEXT:    %c16_index = arith.constant 16 : index
// CHECK-NEXT:    %c256_index = arith.constant 256 : index
// CHECK-NEXT:    %c1_index = arith.constant 1 : index
// CHECK-NEXT:    %c0_index = arith.constant 0 : index
// CHECK-NEXT:    %x_view = pto.make_tensor_view %x, shape = [%c16_index, %c256_index], strides = [%c256_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:    %y_view = pto.make_tensor_view %y, shape = [%c16_index, %c256_index], strides = [%c256_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:    %rows = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    %x_pview = pto.partition_view %x_view, offsets = [%c0_index, %c0_index], sizes = [%c16_index, %c256_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x256xf32>
// CHECK-NEXT:    pto.tload ins(%x_pview : !pto.partition_tensor_view<16x256xf32>) outs(%rows : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    %boxes = pto.alloc_tile addr = %c16384_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=col_major, slayout=row_major, fractal=512, pad=0>
// CHECK-NEXT:    pto.tmov ins(%rows : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%boxes : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=col_major, slayout=row_major, fractal=512, pad=0>)
// CHECK-NEXT:    %powers_arg_row_major = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    pto.tmov ins(%boxes : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=col_major, slayout=row_major, fractal=512, pad=0>) outs(%powers_arg_row_major : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    %powers_row_major = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    pto.texp ins(%powers_arg_row_major : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%powers_row_major : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    %powers = pto.alloc_tile addr = %c16384_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=col_major, slayout=row_major, fractal=512, pad=0>
// CHECK-NEXT:    pto.tmov ins(%powers_row_major : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%powers : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=col_major, slayout=row_major, fractal=512, pad=0>)
// CHECK-NEXT:    %back = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    pto.tmov ins(%powers : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=col_major, slayout=row_major, fractal=512, pad=0>) outs(%back : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    %y_pview = pto.partition_view %y_view, offsets = [%c0_index, %c0_index], sizes = [%c16_index, %c256_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x256xf32>
// CHECK-NEXT:    pto.tstore ins(%back : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%y_pview : !pto.partition_tensor_view<16x256xf32>)
// CHECK-NEXT:    return
// CHECK-NEXT:  }
// CHECK-NEXT:}
