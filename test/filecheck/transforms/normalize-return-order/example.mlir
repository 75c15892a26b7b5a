// The example of the documentation, `docs/examples/return_order.mlir` (A-T1, A-T5): the kernels
// return in order, and a run on numpy gives the same buffers before and after.

// RUN: pypto-opt --normalize-return-order %S/../../../../docs/examples/return_order.mlir | filecheck %s
// RUN: pypto-run --function=main --arg x=arange:16xf32 %S/../../../../docs/examples/return_order.mlir | filecheck %s --check-prefix RUN-TWO
// RUN: pypto-run --function=main --arg x=arange:16xf32 --normalize-return-order %S/../../../../docs/examples/return_order.mlir | filecheck %s --check-prefix RUN-TWO
// RUN: pypto-run --function=main_of_three --arg x=arange:16xf32 %S/../../../../docs/examples/return_order.mlir | filecheck %s --check-prefix RUN-THREE
// RUN: pypto-run --function=main_of_three --arg x=arange:16xf32 --normalize-return-order %S/../../../../docs/examples/return_order.mlir | filecheck %s --check-prefix RUN-THREE

// CHECK:       %out_b_store = tile.store %b_tile, %out_b[0]
// CHECK-NEXT:  %out_a_store = tile.store %a_tile, %out_a[0]
// CHECK-NEXT:  orch.return %out_a, %out_b :
// CHECK:       %b, %a = orch.call @kernel(%x, %out_a, %out_b)
// CHECK-NEXT:  orch.return %a, %b :
// CHECK:       orch.return %out_a, %out_b, %out_c :
// CHECK:       %a, %b, %c = orch.call @kernel_of_three(%x, %out_a, %out_b, %out_c)
// CHECK-NEXT:  orch.return %c, %a, %b :

// a = x + x, b = x * x, c = b - a, of x = 0..15.

// RUN-TWO:      out_a : tensor<16xf32> = [ 0.,  2.,  4.,  6.,  8., 10., 12., 14., 16., 18., 20., 22., 24., 26., 28., 30.]
// RUN-TWO-NEXT: out_b : tensor<16xf32> = [  0.,   1.,   4.,   9.,  16.,  25.,  36.,  49.,  64.,  81., 100., 121., 144., 169., 196., 225.]
// RUN-TWO-NEXT: result0 : tensor<16xf32> is out_b
// RUN-TWO-NEXT: result1 : tensor<16xf32> is out_a

// RUN-THREE:      out_a : tensor<16xf32> = [ 0.,  2.,  4.,  6.,  8., 10., 12., 14., 16., 18., 20., 22., 24., 26., 28., 30.]
// RUN-THREE-NEXT: out_b : tensor<16xf32> = [  0.,   1.,   4.,   9.,  16.,  25.,  36.,  49.,  64.,  81., 100., 121., 144., 169., 196., 225.]
// RUN-THREE-NEXT: out_c : tensor<16xf32> = [  0.,  -1.,   0.,   3.,   8.,  15.,  24.,  35.,  48.,  63.,  80.,  99., 120., 143., 168., 195.]
// RUN-THREE-NEXT: result0 : tensor<16xf32> is out_c
// RUN-THREE-NEXT: result1 : tensor<16xf32> is out_a
// RUN-THREE-NEXT: result2 : tensor<16xf32> is out_b
