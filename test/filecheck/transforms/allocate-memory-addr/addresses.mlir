// Buffers lie one after the other, aligned as their memory wants it.

// RUN: pypto-opt --allocate-memory-addr %s | filecheck %s
// A second run finds nothing to do.
// RUN: pypto-opt --allocate-memory-addr --allocate-memory-addr --verify-property=AllocatedMemoryAddr %s | filecheck %s

builtin.module @unit attributes {pto.target_arch = "a2a3"} {

// In the vector buffer to 32 bytes, in the accumulator to 512. Those that share have one address,
// and room for the largest of them.
// CHECK-LABEL: func.func @spaces
// CHECK-NEXT:    [[A0:%\S+]] = arith.constant 0 : i64
// CHECK-NEXT:    [[A64:%\S+]] = arith.constant 64 : i64
// CHECK-NEXT:    [[A2112:%\S+]] = arith.constant 2112 : i64
// CHECK-NEXT:    [[A1024:%\S+]] = arith.constant 1024 : i64
// CHECK-NEXT:    %a = pto.alloc_tile addr = [[A0]] : !pto.tile_buf<loc=vec, dtype=ui8, rows=1, cols=64,
// CHECK-NEXT:    %b = pto.alloc_tile addr = [[A64]] : {{.*}} rows=8, cols=32,
// CHECK-NEXT:    %c = pto.alloc_tile addr = [[A64]] : {{.*}} rows=16, cols=32,
// CHECK-NEXT:    %d = pto.alloc_tile addr = [[A2112]] valid_row = %n valid_col = %n : {{.*}} v_row=?, v_col=?,
// CHECK-NEXT:    %e = pto.alloc_tile addr = [[A0]] : !pto.tile_buf<loc=acc,
// CHECK-NEXT:    %f = pto.alloc_tile addr = [[A1024]] : !pto.tile_buf<loc=acc,
// CHECK-NEXT:    func.return
func.func @spaces(%n : index) {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 1x64xui8>
  %b = pto.alloc_tile {pypto.buffer = 0 : i64} : !pto.tile_buf<vec, 8x32xf32>
  %c = pto.alloc_tile {pypto.buffer = 0 : i64} : !pto.tile_buf<vec, 16x32xf32>
  %d = pto.alloc_tile valid_row = %n valid_col = %n : !pto.tile_buf<vec, 8x32xf32, valid=?x?>
  %e = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
  %f = pto.alloc_tile : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
  func.return
}

// What has an address keeps it, and so does what the program reserved; the rest lies behind.
// CHECK-LABEL: func.func @reserved
// CHECK:         [[A:%\S+]] = arith.constant 16384 : i64
// CHECK:         %b = pto.alloc_tile addr = [[A]] :
func.func @reserved() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %queue = pto.reserve_buffer {name = "queue", size = 8192, location = #pto.address_space<vec>, auto = false, base = 8192} -> i32
  %at = arith.constant 0 : i64
  %a = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 16x32xf32>
  %b = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  func.return
}
}
