// Buffers share bytes when they are not in use at the same time.

// RUN: pypto-opt --memory-reuse %s | filecheck %s
// A second run gives the same.
// RUN: pypto-opt --memory-reuse --memory-reuse %s | filecheck %s

builtin.module @unit attributes {pto.target_arch = "a2a3"} {

// An elementwise op writes over an operand that is not used after it; a reciprocal cannot (T6), nor
// can a conversion, whose elements change their size, of rows that are no whole repeats. What is free later is taken again.
// CHECK-LABEL: func.func @chain
// CHECK:         %a = pto.alloc_tile {pypto.buffer = [[A:\d+]] : i64} :
// CHECK:         %b = pto.alloc_tile {pypto.buffer = [[A]] : i64} :
// CHECK:         %c = pto.alloc_tile {pypto.buffer = [[B:\d+]] : i64} :
// CHECK:         %d = pto.alloc_tile {pypto.buffer = [[A]] : i64} :
// CHECK:         %e = pto.alloc_tile {pypto.buffer = [[B]] : i64} :
func.func @chain(%x : !pto.ptr<f32>, %p : !pto.partition_tensor_view<16x32xf32>, %q : !pto.partition_tensor_view<16x32xf16>) {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<16x32xf32>) outs(%a : !pto.tile_buf<vec, 16x32xf32>)
  %b = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  pto.texp ins(%a : !pto.tile_buf<vec, 16x32xf32>) outs(%b : !pto.tile_buf<vec, 16x32xf32>)
  %c = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  pto.trecip ins(%b : !pto.tile_buf<vec, 16x32xf32>) outs(%c : !pto.tile_buf<vec, 16x32xf32>)
  %d = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf16>
  pto.tcvt ins(%c : !pto.tile_buf<vec, 16x32xf32>) outs(%d : !pto.tile_buf<vec, 16x32xf16>)
  %e = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf16>
  pto.tadd ins(%d, %d : !pto.tile_buf<vec, 16x32xf16>, !pto.tile_buf<vec, 16x32xf16>) outs(%e : !pto.tile_buf<vec, 16x32xf16>)
  pto.tadd ins(%d, %e : !pto.tile_buf<vec, 16x32xf16>, !pto.tile_buf<vec, 16x32xf16>) outs(%e : !pto.tile_buf<vec, 16x32xf16>)
  pto.tstore ins(%e : !pto.tile_buf<vec, 16x32xf16>) outs(%q : !pto.partition_tensor_view<16x32xf16>)
  func.return
}

// A conversion writes over its operand if its elements keep their size, or become smaller in rows of
// whole repeats, which are converted one after the other; larger ones would reach what is not read yet.
// CHECK-LABEL: func.func @converted
// CHECK:         %a = pto.alloc_tile {pypto.buffer = [[A:\d+]] : i64} :
// CHECK:         %b = pto.alloc_tile {pypto.buffer = [[A]] : i64} :
// CHECK:         %c = pto.alloc_tile {pypto.buffer = [[A]] : i64} :
// CHECK:         %d = pto.alloc_tile :
func.func @converted(%p : !pto.partition_tensor_view<16x64xi32>, %q : !pto.partition_tensor_view<16x64xf32>) {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x64xi32>
  pto.tload ins(%p : !pto.partition_tensor_view<16x64xi32>) outs(%a : !pto.tile_buf<vec, 16x64xi32>)
  %b = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
  pto.tcvt ins(%a : !pto.tile_buf<vec, 16x64xi32>) outs(%b : !pto.tile_buf<vec, 16x64xf32>)
  %c = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf16>
  pto.tcvt ins(%b : !pto.tile_buf<vec, 16x64xf32>) outs(%c : !pto.tile_buf<vec, 16x64xf16>)
  %d = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
  pto.tcvt ins(%c : !pto.tile_buf<vec, 16x64xf16>) outs(%d : !pto.tile_buf<vec, 16x64xf32>)
  pto.tstore ins(%d : !pto.tile_buf<vec, 16x64xf32>) outs(%q : !pto.partition_tensor_view<16x64xf32>)
  func.return
}

// Scratch shares with nothing that its instruction reads or writes, and the vector of an
// expansion not with its result. The two results of one op are two buffers (M1, M8).
// CHECK-LABEL: func.func @apart
// CHECK:         %a = pto.alloc_tile {pypto.buffer = [[A:\d+]] : i64} : !pto.tile_buf<loc=vec, dtype=f32, rows=16
// CHECK-NEXT:    %tmp = pto.alloc_tile {pypto.buffer = [[T:\d+]] : i64} :
// CHECK-NEXT:    %m = pto.alloc_tile {pypto.buffer = [[M:\d+]] : i64} :
// CHECK-NEXT:    %y = pto.alloc_tile {pypto.buffer = [[A]] : i64} :
// CHECK-NEXT:    %ui = pto.alloc_tile {pypto.buffer = [[T]] : i64} :
// CHECK-NEXT:    %places = pto.alloc_tile {pypto.buffer = [[M]] : i64} :
// CHECK-NEXT:    %counts = pto.alloc_tile :
func.func @apart(%k : f32, %p : !pto.partition_tensor_view<16x32xf32>, %q : !pto.partition_tensor_view<16x8xi32>, %r : !pto.partition_tensor_view<1x16xi32>) {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  %tmp = pto.alloc_tile : !pto.tile_buf<vec, 16x128xf32>
  %m = pto.alloc_tile : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
  %y = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  %ui = pto.alloc_tile : !pto.tile_buf<vec, 16x32xui8>
  %places = pto.alloc_tile : !pto.tile_buf<vec, 16x8xi32>
  %counts = pto.alloc_tile : !pto.tile_buf<vec, 1x16xi32>
  pto.tload ins(%p : !pto.partition_tensor_view<16x32xf32>) outs(%a : !pto.tile_buf<vec, 16x32xf32>)
  pto.trowmax ins(%a, %tmp : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 16x128xf32>) outs(%m : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>)
  pto.trowexpandsub ins(%a, %m : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 16x1xf32, blayout=col_major>) outs(%y : !pto.tile_buf<vec, 16x32xf32>)
  pto.tgather ins(%y, %k, %ui : !pto.tile_buf<vec, 16x32xf32>, f32, !pto.tile_buf<vec, 16x32xui8>) outs(%places, %counts : !pto.tile_buf<vec, 16x8xi32>, !pto.tile_buf<vec, 1x16xi32>) {cmpMode = #pto<cmp gt>, offset = 0 : i32}
  pto.tstore ins(%places : !pto.tile_buf<vec, 16x8xi32>) outs(%q : !pto.partition_tensor_view<16x8xi32>)
  pto.tstore ins(%counts : !pto.tile_buf<vec, 1x16xi32>) outs(%r : !pto.partition_tensor_view<1x16xi32>)
  func.return
}

// T2: what is carried through a loop, outside which it is allocated, is in use for all of it; what
// is allocated inside is not. A view counts as what it is a view of (T4, T5).
// CHECK-LABEL: func.func @loop
// CHECK:         %acc = pto.alloc_tile :
// CHECK:           %a = pto.alloc_tile {pypto.buffer = [[A:\d+]] : i64} :
// CHECK:           %b = pto.alloc_tile {pypto.buffer = [[A]] : i64} :
// CHECK:         %y = pto.alloc_tile {pypto.buffer = [[A]] : i64} :
func.func @loop(%zero : f32, %n : index, %p : !pto.partition_tensor_view<1x32xf32>, %q : !pto.partition_tensor_view<1x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %acc = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
  pto.texpands ins(%zero : f32) outs(%acc : !pto.tile_buf<vec, 1x32xf32>)
  scf.for %i = %c0 to %n step %c1 {
    %a = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
    pto.tload ins(%p : !pto.partition_tensor_view<1x32xf32>) outs(%a : !pto.tile_buf<vec, 1x32xf32>)
    %b = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
    pto.tadd ins(%a, %acc : !pto.tile_buf<vec, 1x32xf32>, !pto.tile_buf<vec, 1x32xf32>) outs(%b : !pto.tile_buf<vec, 1x32xf32>)
    pto.tmov ins(%b : !pto.tile_buf<vec, 1x32xf32>) outs(%acc : !pto.tile_buf<vec, 1x32xf32>)
  }
  %column = pto.treshape %acc : !pto.tile_buf<vec, 1x32xf32> -> !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
  %y = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<1x32xf32>) outs(%y : !pto.tile_buf<vec, 1x32xf32>)
  %row = pto.treshape %column : !pto.tile_buf<vec, 32x1xf32, blayout=col_major> -> !pto.tile_buf<vec, 1x32xf32>
  pto.tadd ins(%y, %row : !pto.tile_buf<vec, 1x32xf32>, !pto.tile_buf<vec, 1x32xf32>) outs(%y : !pto.tile_buf<vec, 1x32xf32>)
  pto.tstore ins(%y : !pto.tile_buf<vec, 1x32xf32>) outs(%q : !pto.partition_tensor_view<1x32xf32>)
  func.return
}

// Each memory is planned for itself; what has an address, or is handed to another function, stays.
// CHECK-LABEL: func.func @kept
// CHECK:         %fixed = pto.alloc_tile addr = %a :
// CHECK-NEXT:    %given = pto.alloc_tile :
// CHECK-NEXT:    %b = pto.alloc_tile :
func.func @kept(%p : !pto.partition_tensor_view<16x32xf32>) {
  %a = arith.constant 64 : i64
  %fixed = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 16x32xf32>
  %given = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  %b = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<16x32xf32>) outs(%fixed : !pto.tile_buf<vec, 16x32xf32>)
  func.call @callee(%given) : (!pto.tile_buf<vec, 16x32xf32>) -> ()
  pto.texp ins(%fixed : !pto.tile_buf<vec, 16x32xf32>) outs(%b : !pto.tile_buf<vec, 16x32xf32>)
  pto.tstore ins(%b : !pto.tile_buf<vec, 16x32xf32>) outs(%p : !pto.partition_tensor_view<16x32xf32>)
  func.return
}
func.func private @callee(!pto.tile_buf<vec, 16x32xf32>)
}
