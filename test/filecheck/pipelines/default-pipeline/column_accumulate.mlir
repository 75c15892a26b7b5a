// B-T2: the loop carries a column in the bytes of a row.

// RUN: pypto-opt --default-pipeline -t pto %S/../../../../docs/examples/column_accumulate.mlir | filecheck %s --match-full-lines --strict-whitespace
// What is printed is read back, and printed alike.
// RUN: pypto-opt --default-pipeline -t pto %S/../../../../docs/examples/column_accumulate.mlir | pypto-opt -f pto -t pto | filecheck %s --match-full-lines --strict-whitespace

// CHECK:module attributes {pto.target_arch = "a2a3"} {
// CHECK-NEXT:  func.func @column_accumulate(%x: !pto.ptr<f32>, %mean_out: !pto.ptr<f32>) {
// CHECK-NEXT:    %c0_i64 = arith.constant 0 : i64
// CHECK-NEXT:    %c64_i64 = arith.constant 64 : i64
// CHECK-NEXT:    %c4160_i64 = arith.constant 4160 : i64
// CHECK-NEXT:    %c12352_i64 = arith.constant 12352 : i64
// CHECK-NEXT:    %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %scale = arith.constant 3.906250e-03 : f32
// CHECK-NEXT:    %c0_index = arith.constant 0 : index
// CHECK-NEXT:    %c256_index = arith.constant 256 : index
// CHECK-NEXT:    %c64_index = arith.constant 64 : index
// CHECK-NEXT:    %c16_index = arith.constant 16 : index
// CHECK-NEXT:    %c1_index = arith.constant 1 : index
// CHECK-NEXT:    %x_view = pto.make_tensor_view %x, shape = [%c16_index, %c256_index], strides = [%c256_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:    %mean_out_view = pto.make_tensor_view %mean_out, shape = [%c16_index, %c1_index], strides = [%c1_index, %c16_index] {layout = #pto.layout<dn>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:    %empty_row_major = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=1, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    pto.texpands ins(%zero : f32) outs(%empty_row_major : !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=1, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    scf.for %column = %c0_index to %c256_index step %c64_index {
// CHECK-NEXT:      %block_tile = pto.alloc_tile addr = %c64_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:      %x_pview = pto.partition_view %x_view, offsets = [%c0_index, %column], sizes = [%c16_index, %c64_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x64xf32>
// CHECK-NEXT:      pto.tload ins(%x_pview : !pto.partition_tensor_view<16x64xf32>) outs(%block_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:      %tmp = pto.alloc_tile addr = %c4160_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=128, v_row=16, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:      %part = pto.alloc_tile addr = %c12352_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=1, v_row=16, v_col=1, blayout=col_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:      pto.trowsum ins(%block_tile, %tmp : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>, !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=128, v_row=16, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%part : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=1, v_row=16, v_col=1, blayout=col_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:      %next_arg1_turned = pto.treshape %part : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=1, v_row=16, v_col=1, blayout=col_major, slayout=none_box, fractal=512, pad=0> -> !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=1, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:      pto.tadd ins(%empty_row_major, %next_arg1_turned : !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=1, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>, !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=1, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>) outs(%empty_row_major : !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=1, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    }
// CHECK-NEXT:    %mean_row_major = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=1, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    pto.tmuls ins(%empty_row_major, %scale : !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=1, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>, f32) outs(%mean_row_major : !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=1, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// CHECK-NEXT:    %mean = pto.treshape %mean_row_major : !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=1, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0> -> !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=1, v_row=16, v_col=1, blayout=col_major, slayout=none_box, fractal=512, pad=0>
// CHECK-NEXT:    %mean_out_pview = pto.partition_view %mean_out_view, offsets = [%c0_index, %c0_index], sizes = [%c16_index, %c1_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x1xf32>
// CHECK-NEXT:    pto.tstore ins(%mean : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=1, v_row=16, v_col=1, blayout=col_major, slayout=none_box, fractal=512, pad=0>) outs(%mean_out_pview : !pto.partition_tensor_view<16x1xf32>)
// CHECK-NEXT:    return
// CHECK-NEXT:  }
// CHECK-NEXT:}
