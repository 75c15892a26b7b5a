// A kernel becomes a declaration and, in a module of its own, a function of PTOAS's dialect.

// RUN: pypto-opt --convert-tile-to-pto %s | filecheck %s
// A second run finds nothing to do, and what is printed is read back.
// RUN: pypto-opt --convert-tile-to-pto --convert-tile-to-pto %s | pypto-opt | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// The declaration keeps directions and says which parameter each result is.
// CHECK-LABEL: orch.func incore @vector_add(in tensor<64x128xf32>, in tensor<64x128xf32>, out tensor<64x128xf32>) -> tensor<64x128xf32> returns [2] implemented_by @vector_add_unit::@vector_add
orch.func incore @vector_add(in %x : tensor<64x128xf32>, in %y : tensor<64x128xf32>, out %o : tensor<64x128xf32>) -> tensor<64x128xf32> {
  %a = tile.load %x[0, 0] : tensor<64x128xf32> -> !tile.tile<64x128xf32, vec>
  %b = tile.load %y[0, 0] : tensor<64x128xf32> -> !tile.tile<64x128xf32, vec>
  %s = tile.add %a, %b : !tile.tile<64x128xf32, vec>
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<64x128xf32, vec>, tensor<64x128xf32>
  orch.return %o1 : tensor<64x128xf32>
}

// The kernels of a group share a module, and say on which core they run.
// CHECK-LABEL: orch.func aic @cube(in tensor<32x32xf16>, out tensor<32x32xf32>) returns [] implemented_by @mixed_unit::@cube
orch.func aic @cube(in %x : tensor<32x32xf16>, out %o : tensor<32x32xf32>) {
  %a = tile.load %x[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16, mat>
  %l = tile.move %a : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, left>
  %r = tile.move %a : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, right>
  %p = tile.matmul %l, %r : !tile.tile<32x32xf16, left>, !tile.tile<32x32xf16, right> -> !tile.tile<32x32xf32, acc>
  %o1 = tile.store %p, %o[0, 0] : !tile.tile<32x32xf32, acc>, tensor<32x32xf32>
  orch.return
}

// CHECK-NEXT: orch.func aiv @vector(inout tensor<32x32xf32>) -> tensor<32x32xf32> returns [0] implemented_by @mixed_unit::@vector
orch.func aiv @vector(inout %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %a = tile.load %o[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32, vec>
  %e = tile.exp %a : !tile.tile<32x32xf32, vec>
  %o1 = tile.store %e, %o[0, 0] : !tile.tile<32x32xf32, vec>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}

// CHECK-NEXT: orch.func group @mixed
orch.func group @mixed(in %x : tensor<32x32xf16>, inout %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  orch.call @cube(%x, %o) : (tensor<32x32xf16>, tensor<32x32xf32>) -> ()
  %r = orch.call @vector(%o) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  orch.return %r : tensor<32x32xf32>
}

// CHECK:      builtin.module @vector_add_unit attributes {pto.target_arch = "a2a3"} {
// CHECK-NEXT:   func.func @vector_add(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %o: !pto.ptr<f32>) {
// CHECK-NEXT:     %c64_index = arith.constant 64 : index
// CHECK-NEXT:     %c128_index = arith.constant 128 : index
// CHECK-NEXT:     %c1_index = arith.constant 1 : index
// CHECK-NEXT:     %c0_index = arith.constant 0 : index
// CHECK-NEXT:     %x_view = pto.make_tensor_view %x, shape = [%c64_index, %c128_index], strides = [%c128_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:     %y_view = pto.make_tensor_view %y, shape = [%c64_index, %c128_index], strides = [%c128_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:     %o_view = pto.make_tensor_view %o, shape = [%c64_index, %c128_index], strides = [%c128_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
// CHECK-NEXT:     %a = pto.alloc_tile : [[T:!pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=none_box, fractal=512, pad=0>]]
// CHECK-NEXT:     %x_pview = pto.partition_view %x_view, offsets = [%c0_index, %c0_index], sizes = [%c64_index, %c128_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x128xf32>
// CHECK-NEXT:     pto.tload ins(%x_pview : !pto.partition_tensor_view<64x128xf32>) outs(%a : [[T]])
// CHECK-NEXT:     %b = pto.alloc_tile : [[T]]
// CHECK-NEXT:     %y_pview = pto.partition_view %y_view, offsets = [%c0_index, %c0_index], sizes = [%c64_index, %c128_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x128xf32>
// CHECK-NEXT:     pto.tload ins(%y_pview : !pto.partition_tensor_view<64x128xf32>) outs(%b : [[T]])
// CHECK-NEXT:     %s = pto.alloc_tile : [[T]]
// CHECK-NEXT:     pto.tadd ins(%a, %b : [[T]], [[T]]) outs(%s : [[T]])
// CHECK-NEXT:     %o_pview = pto.partition_view %o_view, offsets = [%c0_index, %c0_index], sizes = [%c64_index, %c128_index] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x128xf32>
// CHECK-NEXT:     pto.tstore ins(%s : [[T]]) outs(%o_pview : !pto.partition_tensor_view<64x128xf32>)
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: builtin.module @mixed_unit attributes {pto.target_arch = "a2a3"} {
// CHECK-NEXT:   func.func @cube(%x: !pto.ptr<f16>, %o: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
// CHECK:          pto.tmatmul ins(%l, %r : {{.*}}) outs(%p : !pto.tile_buf<loc=acc,
// CHECK:        func.func @vector(%o: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
// CHECK:          pto.texp
}
