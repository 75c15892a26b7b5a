// One buffer for tiles that must share storage, copies only where a value would be lost.

// RUN: pypto-opt --convert-tile-to-pto -t 'pto{short_types=true}' %s | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// T2: what a loop starts from, carries, yields and returns is one buffer. It stays in use after the
// loop, and so the cast gets another.
// CHECK-LABEL: func.func @accumulator
// CHECK:         %z = pto.alloc_tile : [[T:!pto.tile_buf<vec, 16x32xf32>]]
// CHECK-NEXT:    pto.texpands ins(%zero : f32) outs(%z : [[T]])
// CHECK-NEXT:    scf.for %i = %c0_index to %n step %c1_index {
// CHECK-NEXT:      %a = pto.alloc_tile : [[T]]
// CHECK-NEXT:      partition_view
// CHECK-NEXT:      tload
// CHECK-NEXT:      pto.tadd ins(%z, %a : [[T]], [[T]]) outs(%z : [[T]])
// CHECK-NEXT:    }
// CHECK:         %r = pto.alloc_tile : [[T]]
// CHECK-NEXT:    pto.tcvt
// CHECK-NEXT:    %y = pto.alloc_tile : [[T]]
// CHECK-NEXT:    pto.tadd ins(%z, %r : [[T]], [[T]]) outs(%y : [[T]])
orch.func incore @accumulator(in %x : tensor<16x32xf32>, in %h : tensor<16x32xf16>, in %n : index, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = tile.full %zero : f32 -> !tile.tile<16x32xf32, vec>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%b = %z) -> (!tile.tile<16x32xf32, vec>) {
    %a = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32, vec>
    %s = tile.add %b, %a : !tile.tile<16x32xf32, vec>
    scf.yield %s : !tile.tile<16x32xf32, vec>
  }
  %g = tile.load %h[0, 0] : tensor<16x32xf16> -> !tile.tile<16x32xf16, vec>
  %r = tile.cast %g, target_type = f32 : !tile.tile<16x32xf16, vec> -> !tile.tile<16x32xf32, vec>
  %y = tile.add %acc, %r : !tile.tile<16x32xf32, vec>
  %o1 = tile.store %y, %o[0, 0] : !tile.tile<16x32xf32, vec>, tensor<16x32xf32>
  orch.return %o1 : tensor<16x32xf32>
}

// T1: two carried tiles, two buffers. What is needed after the loop is copied into them; handed
// over all at once, they are copied in an order that loses nothing, and exchanged through a third.
// CHECK-LABEL: func.func @exchange
// CHECK:         %a = pto.alloc_tile
// CHECK:         tload
// CHECK-NEXT:    %p = pto.alloc_tile : [[T:!pto.tile_buf<vec, 16x32xf32>]]
// CHECK-NEXT:    %q = pto.alloc_tile : [[T]]
// CHECK-NEXT:    pto.tmov ins(%a : [[T]]) outs(%{{[pq]}} : [[T]])
// CHECK-NEXT:    pto.tmov ins(%a : [[T]]) outs(%{{[pq]}} : [[T]])
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      %t = pto.alloc_tile : [[T]]
// CHECK-NEXT:      pto.tadds ins(%q, %k : [[T]], f32) outs(%t : [[T]])
// CHECK-NEXT:      pto.tmov ins(%p : [[T]]) outs(%q : [[T]])
// CHECK-NEXT:      pto.tmov ins(%t : [[T]]) outs(%p : [[T]])
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      %swap = pto.alloc_tile : [[T]]
// CHECK-NEXT:      pto.tmov ins(%q : [[T]]) outs(%swap : [[T]])
// CHECK-NEXT:      pto.tmov ins(%p : [[T]]) outs(%q : [[T]])
// CHECK-NEXT:      pto.tmov ins(%swap : [[T]]) outs(%p : [[T]])
// CHECK-NEXT:    }
orch.func incore @exchange(in %x : tensor<16x32xf32>, in %k : f32, in %n : index, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32, vec>
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %a) -> (!tile.tile<16x32xf32, vec>, !tile.tile<16x32xf32, vec>) {
    %t = tile.adds %q, %k : !tile.tile<16x32xf32, vec>, f32
    scf.yield %t, %p : !tile.tile<16x32xf32, vec>, !tile.tile<16x32xf32, vec>
  }
  %g, %h = scf.for %i = %c0 to %n step %c1 iter_args(%p = %r, %q = %s) -> (!tile.tile<16x32xf32, vec>, !tile.tile<16x32xf32, vec>) {
    scf.yield %q, %p : !tile.tile<16x32xf32, vec>, !tile.tile<16x32xf32, vec>
  }
  %u = tile.sub %g, %h : !tile.tile<16x32xf32, vec>
  %v = tile.add %u, %a : !tile.tile<16x32xf32, vec>
  %o1 = tile.store %v, %o[0, 0] : !tile.tile<16x32xf32, vec>, tensor<16x32xf32>
  orch.return %o1 : tensor<16x32xf32>
}

// T9: the branch that passes the carried value through writes nothing: both live in one buffer.
// CHECK-LABEL: func.func @pass_through
// CHECK:         scf.for
// CHECK-NEXT:      %few = arith.cmpi
// CHECK-NEXT:      scf.if %few {
// CHECK-NEXT:        pto.texp ins(%a : {{.*}}) outs(%a : {{.*}})
// CHECK-NEXT:      } else {
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK:         pto.tstore ins(%a
orch.func incore @pass_through(in %x : tensor<16x32xf32>, in %n : index, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32, vec>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (!tile.tile<16x32xf32, vec>) {
    %few = arith.cmpi slt, %i, %c1 : index
    %s = scf.if %few -> (!tile.tile<16x32xf32, vec>) {
      %e = tile.exp %p : !tile.tile<16x32xf32, vec>
      scf.yield %e : !tile.tile<16x32xf32, vec>
    } else {
      scf.yield %p : !tile.tile<16x32xf32, vec>
    }
    scf.yield %s : !tile.tile<16x32xf32, vec>
  }
  %o1 = tile.store %r, %o[0, 0] : !tile.tile<16x32xf32, vec>, tensor<16x32xf32>
  orch.return %o1 : tensor<16x32xf32>
}

// T6: an op that cannot write over its operand gets another buffer, and its result is copied back
// into the place that the loop carries.
// CHECK-LABEL: func.func @not_in_place
// CHECK:         scf.for
// CHECK-NEXT:      %e = pto.alloc_tile : [[T:!pto.tile_buf<vec, 16x32xf32>]]
// CHECK-NEXT:      pto.trecip ins(%a : [[T]]) outs(%e : [[T]])
// CHECK-NEXT:      pto.tmov ins(%e : [[T]]) outs(%a : [[T]])
// CHECK-NEXT:    }
orch.func incore @not_in_place(in %x : tensor<16x32xf32>, in %n : index, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32, vec>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (!tile.tile<16x32xf32, vec>) {
    %e = tile.recip %p : !tile.tile<16x32xf32, vec>
    scf.yield %e : !tile.tile<16x32xf32, vec>
  }
  %o1 = tile.store %r, %o[0, 0] : !tile.tile<16x32xf32, vec>, tensor<16x32xf32>
  orch.return %o1 : tensor<16x32xf32>
}

// An update in place writes the buffer of its operand; if the old value is needed still, a copy.
// CHECK-LABEL: func.func @updates
// CHECK:         %a = pto.alloc_tile : [[T:!pto.tile_buf<vec, 16x32xf32>]]
// CHECK:         tload
// CHECK-NEXT:    %b = pto.alloc_tile : [[T]]
// CHECK-NEXT:    pto.tmov ins(%a : [[T]]) outs(%b : [[T]])
// CHECK-NEXT:    pto.tsetval ins(%c35_index, %k : index, f32) outs(%b : [[T]])
// CHECK-NEXT:    pto.tsetval ins(%c0_index, %k : index, f32) outs(%b : [[T]])
// CHECK-NEXT:    %s = pto.alloc_tile
// CHECK-NEXT:    pto.tadd ins(%a, %b
orch.func incore @updates(in %x : tensor<16x32xf32>, in %k : f32, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %a = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32, vec>
  %b = tile.write %k, %a[1, 3] : f32, !tile.tile<16x32xf32, vec>
  %c = tile.write %k, %b[0, 0] : f32, !tile.tile<16x32xf32, vec>
  %s = tile.add %a, %c : !tile.tile<16x32xf32, vec>
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<16x32xf32, vec>, tensor<16x32xf32>
  orch.return %o1 : tensor<16x32xf32>
}

// T8: nested accumulators share one buffer; the accumulator is never copied.
// CHECK-LABEL: func.func @nested_products
// CHECK-COUNT-1: pto.alloc_tile : !pto.tile_buf<acc, 32x32xf32
// CHECK:         pto.tmatmul.acc ins(%z, %l, %r : {{.*}}) outs(%z :
// CHECK-NOT:     loc=acc
// CHECK:         pto.tstore ins(%z
orch.func aic @nested_products(in %x : tensor<32x32xf16>, in %n : index, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16, mat>
  %l = tile.move %a : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, left>
  %r = tile.move %a : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, right>
  %z = tile.matmul %l, %r : !tile.tile<32x32xf16, left>, !tile.tile<32x32xf16, right> -> !tile.tile<32x32xf32, acc>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%p = %z) -> (!tile.tile<32x32xf32, acc>) {
    %t = scf.for %j = %c0 to %n step %c1 iter_args(%q = %p) -> (!tile.tile<32x32xf32, acc>) {
      %u = tile.matmul_acc %q, %l, %r : !tile.tile<32x32xf32, acc>, !tile.tile<32x32xf16, left>, !tile.tile<32x32xf16, right>
      scf.yield %u : !tile.tile<32x32xf32, acc>
    }
    scf.yield %t : !tile.tile<32x32xf32, acc>
  }
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<32x32xf32, acc>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}

// Views are other names; a column that comes back to the shape of its storage is that again.
// CHECK-LABEL: func.func @views
// CHECK:         %m = pto.alloc_tile : [[C:!pto.tile_buf<vec, 16x1xf32, blayout=col_major>]]
// CHECK-NEXT:    pto.trowmax
// CHECK-NEXT:    %row = pto.treshape %m : [[C]] -> [[R:!pto.tile_buf<vec, 1x16xf32>]]
// CHECK-NEXT:    %e = pto.alloc_tile : [[R]]
// CHECK-NEXT:    pto.texp ins(%row : [[R]]) outs(%e : [[R]])
// CHECK-NEXT:    %column = pto.treshape %e : [[R]] -> [[C]]
// CHECK:         pto.tstore ins(%column : [[C]])
orch.func incore @views(in %x : tensor<16x128xf32>, out %o : tensor<16x1xf32>) -> tensor<16x1xf32> {
  %a = tile.load %x[0, 0] : tensor<16x128xf32> -> !tile.tile<16x128xf32, vec>
  %tmp = tile.create : !tile.tile<16x128xf32, vec>
  %m = tile.row_max %a, %tmp : !tile.tile<16x128xf32, vec> -> !tile.tile<16x1xf32, vec>
  %row = tile.reshape %m : !tile.tile<16x1xf32, vec> -> !tile.tile<1x16xf32, vec>
  %e = tile.exp %row : !tile.tile<1x16xf32, vec>
  %column = tile.reshape %e : !tile.tile<1x16xf32, vec> -> !tile.tile<16x1xf32, vec>
  %o1 = tile.store %column, %o[0, 0] : !tile.tile<16x1xf32, vec>, tensor<16x1xf32>
  orch.return %o1 : tensor<16x1xf32>
}

// The unit counts in signed integers; unsigned ones have the same bits.
// CHECK-LABEL: func.func @count
// CHECK:         %t = pto.alloc_tile : !pto.tile_buf<vec, 1x64xui32>
// CHECK-NEXT:    %t_1 = pto.bitcast %t : !pto.tile_buf<vec, 1x64xui32> -> !pto.tile_buf<vec, 1x64xi32>
// CHECK-NEXT:    pto.tci ins(%cn6_i32 : i32) outs(%t_1 : !pto.tile_buf<vec, 1x64xi32>)
orch.func incore @count(out %o : tensor<1x64xui32>) -> tensor<1x64xui32> {
  %n = arith.constant 4294967290 : i32
  %start = builtin.unrealized_conversion_cast %n : i32 to ui32
  %t = tile.ci %start : ui32 -> !tile.tile<1x64xui32, vec>
  %o1 = tile.store %t, %o[0, 0] : !tile.tile<1x64xui32, vec>, tensor<1x64xui32>
  orch.return %o1 : tensor<1x64xui32>
}
}
