// Every op prints as it is written, and the generic form reads back to the same.

// RUN: pypto-opt %s | filecheck %s
// RUN: pypto-opt %s | pypto-opt | filecheck %s
// RUN: pypto-opt --print-op-generic %s | pypto-opt | filecheck %s

// CHECK-LABEL: func.func @views
// CHECK-SAME:  attributes {ascend910b.core = #ascend910b<core aiv>}
func.func @views(%n : index, %a : i64) attributes {ascend910b.core = #ascend910b<core aiv>} {
  // A known address, and one that is known at run time only; extents that the type leaves open.
  // CHECK-NEXT: %t = ascend910b.view ub[0] : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=64, v_row=8, v_col=64,
  %t = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
  // CHECK-NEXT: %u = ascend910b.view ub[%a], valid = [%n] : {{.*}} v_row=8, v_col=?,
  %u = ascend910b.view ub[%a], valid = [%n] : !pto.tile_buf<vec, 8x64xf32, valid=8x?>
  // CHECK-NEXT: %w = ascend910b.view ub[%a in 2048 to 8192] : {{.*}} v_row=8, v_col=64,
  %w = ascend910b.view ub[%a in 2048 to 8192] : !pto.tile_buf<vec, 8x64xf32>
  // CHECK-NEXT: %v = ascend910b.view ub[64], valid = [%n, %n] {stage = 1 : i64} : {{.*}} v_row=?, v_col=?,
  %v = ascend910b.view ub[64], valid = [%n, %n] {stage = 1 : i64} : !pto.tile_buf<vec, 8x64xf32, valid=?x?>
  func.return
}

// The memories of a cube core.
// CHECK-LABEL: func.func @memories
func.func @memories() attributes {ascend910b.core = #ascend910b<core aic>} {
  // CHECK-NEXT: %0 = ascend910b.view l1[512] :
  // CHECK-NEXT: %1 = ascend910b.view l0a[0] :
  // CHECK-NEXT: %2 = ascend910b.view l0b[0] :
  // CHECK-NEXT: %3 = ascend910b.view l0c[1024] :
  // CHECK-NEXT: %4 = ascend910b.view bt[0] :
  // CHECK-NEXT: %5 = ascend910b.view fb[0] :
  %0 = ascend910b.view l1[512] : !pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>
  %1 = ascend910b.view l0a[0] : !pto.tile_buf<left, 16x16xf16, slayout=row_major>
  %2 = ascend910b.view l0b[0] : !pto.tile_buf<right, 16x16xf16, slayout=col_major>
  %3 = ascend910b.view l0c[1024] : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
  %4 = ascend910b.view bt[0] : !pto.tile_buf<bias, 1x16xf32>
  %5 = ascend910b.view fb[0] : !pto.tile_buf<scaling, 1x16xi64>
  func.return
}

// Events between pipes, barriers, and flags between cores.
// CHECK-LABEL: func.func @order
func.func @order(%n : index) attributes {ascend910b.core = #ascend910b<core mix>} {
  // CHECK-NEXT: ascend910b.set_flag MTE2 -> V, 0
  ascend910b.set_flag MTE2 -> V, 0
  // CHECK-NEXT: ascend910b.wait_flag MTE2 -> V, 7
  ascend910b.wait_flag MTE2 -> V, 7
  // CHECK-NEXT: ascend910b.set_flag M -> FIX, %n
  ascend910b.set_flag M -> FIX, %n
  // CHECK-NEXT: ascend910b.wait_flag S -> MTE1, %n
  ascend910b.wait_flag S -> MTE1, %n
  // CHECK-NEXT: ascend910b.barrier V
  ascend910b.barrier V
  // CHECK-NEXT: ascend910b.barrier ALL
  ascend910b.barrier ALL
  // CHECK-NEXT: ascend910b.set_cross_flag MTE3, 15
  ascend910b.set_cross_flag MTE3, 15
  // CHECK-NEXT: ascend910b.set_cross_flag FIX, 11, mode = 0 {a = 1 : i32}
  ascend910b.set_cross_flag FIX, 11, mode = 0 {a = 1 : i32}
  // CHECK-NEXT: ascend910b.set_cross_flag MTE3, %n, mode = 1
  ascend910b.set_cross_flag MTE3, %n, mode = 1
  // CHECK-NEXT: ascend910b.wait_cross_flag MTE2, %n
  ascend910b.wait_cross_flag MTE2, %n
  func.return
}
