// M1: two results, two allocations, one instruction with two outs.

// RUN: pypto-opt --default-pipeline -t pto %S/../../../../docs/examples/gather_compare.mlir | filecheck %s --match-full-lines --strict-whitespace
// What is printed is read back, and printed alike.
// RUN: pypto-opt --default-pipeline -t pto %S/../../../../docs/examples/gather_compare.mlir | pypto-opt -f pto -t pto | filecheck %s --match-full-lines --strict-whitespace

// CHECK:module attributes {pto.target_arch = "a2a3"} {
// CHECK-NEXT:  func.func @gather_compare(%x: !pto.ptr<f32>, %where_out: !pto.ptr<i32>, %many_out: !pto.ptr<i32>, %threshold: f32) {
// CHECK-NEXT:    %c0_i64 = arith.constant 0 : i64
// CHECK-NEXT:    %c8192_i64 = arith.constant 8192 : i64
// CHECK-NEXT:    %c10240_i64 = arith.constant 10240 : i64
// CHECK-NEXT:    %c11264_i64 = arith.constant 11264 : i64
// CHECK-NEXT:    %c32_index = arith.constant 32 : index
// CHECK-NEXT:    %c64_index = arith.constant 64 : index
// CHECK-NEXT:    %c1_index = arith.constant 1 : index
// CHECK-NEXT:    %c0_index = arith.constant 0 : index
// CHECK-NEXT:    %c8_index = arith.constant 8 : index
// CHECK-NEXT:    %x_view = pto.make_tensor_view %x, shape = [%c32_index, %c64_index], strides = [%c64_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:    %where_out_view = pto.make_tensor_view %where_out, shape = [%c32_index, %c8_index], strides = [%c8_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xi32>
// CHECK-NEXT:    %many_out_view = pto.make_tensor_view %many_out, shape = [%c1_index, %c32_index], strides = [%c32_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xi32>
// CHECK-NEXT:    %x_tile = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=64, v_row=32, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    %x_pview = pto.partition_view %x_view, offsets = [%c0_index, %c0_index], sizes = [%c32_index, %c64_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x64xf32>
// CHECK-NEXT:    pto.tload ins(%x_pview : !pto.partition_tensor_view<32x64xf32>) outs(%x_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=64, v_row=32, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    %tmp = pto.alloc_tile addr = %c8192_i64 : !pto.tile_buf<loc=vec, dtype=ui8, rows=32, cols=64, v_row=32, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    %where = pto.alloc_tile addr = %c10240_i64 : !pto.tile_buf<loc=vec, dtype=i32, rows=32, cols=8, v_row=32, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    %many = pto.alloc_tile addr = %c11264_i64 : !pto.tile_buf<loc=vec, dtype=i32, rows=1, cols=32, v_row=1, v_col=32, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    pto.tgather ins(%x_tile, %threshold, %tmp : !pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=64, v_row=32, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>, f32, !pto.tile_buf<loc=vec, dtype=ui8, rows=32, cols=64, v_row=32, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%where, %many : !pto.tile_buf<loc=vec, dtype=i32, rows=32, cols=8, v_row=32, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0>, !pto.tile_buf<loc=vec, dtype=i32, rows=1, cols=32, v_row=1, v_col=32, blayout=row_major, slayout=none_box, fractal=512, pad=0>) {cmpMode = #pto<cmp gt>, offset = 0 : i32}
// CHECK-NEXT:    %where_out_pview = pto.partition_view %where_out_view, offsets = [%c0_index, %c0_index], sizes = [%c32_index, %c8_index] : !pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<32x8xi32>
// CHECK-NEXT:    pto.tstore ins(%where : !pto.tile_buf<loc=vec, dtype=i32, rows=32, cols=8, v_row=32, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%where_out_pview : !pto.partition_tensor_view<32x8xi32>)
// CHECK-NEXT:    %many_out_pview = pto.partition_view %many_out_view, offsets = [%c0_index, %c0_index], sizes = [%c1_index, %c32_index] : !pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<1x32xi32>
// CHECK-NEXT:    pto.tstore ins(%many : !pto.tile_buf<loc=vec, dtype=i32, rows=1, cols=32, v_row=1, v_col=32, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%many_out_pview : !pto.partition_tensor_view<1x32xi32>)
// CHECK-NEXT:    return
// CHECK-NEXT:  }
// CHECK-NEXT:}
