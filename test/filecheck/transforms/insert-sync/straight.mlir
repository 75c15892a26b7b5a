// Events in straight code and around branches: where two pipes share bytes, and nowhere else.

// RUN: pypto-opt --convert-pto-to-ascend910b --insert-sync %s | filecheck %s
// What is ordered gets no more events.
// RUN: pypto-opt --convert-pto-to-ascend910b --insert-sync --insert-sync %s | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// One event from a pipe orders all it did before: the second load's is enough for both. The store
// waits for the computation, which has waited for the loads.
// CHECK-LABEL: func.func @two_loads
// CHECK:         pto.tload {{.*}} outs(%a
// CHECK-NEXT:    pto.tload {{.*}} outs(%b
// CHECK-NEXT:    ascend910b.set_flag MTE2 -> V, 0
// CHECK-NEXT:    ascend910b.wait_flag MTE2 -> V, 0
// CHECK-NEXT:    pto.tadd
// CHECK-NEXT:    ascend910b.set_flag V -> MTE3, 0
// CHECK-NEXT:    ascend910b.wait_flag V -> MTE3, 0
// CHECK-NEXT:    pto.tstore
// CHECK-NEXT:    func.return
func.func @two_loads(%p : !pto.partition_tensor_view<8x64xf32>, %q : !pto.partition_tensor_view<8x64xf32>) {
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 2048 : i64
  %a = pto.alloc_tile addr = %k0 : !pto.tile_buf<vec, 8x64xf32>
  %b = pto.alloc_tile addr = %k1 : !pto.tile_buf<vec, 8x64xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%b : !pto.tile_buf<vec, 8x64xf32>)
  pto.tadd ins(%a, %b : !pto.tile_buf<vec, 8x64xf32>, !pto.tile_buf<vec, 8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  pto.tstore ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%q : !pto.partition_tensor_view<8x64xf32>)
  func.return
}

// Tiles that share no byte need nothing, whatever their pipes; tiles of one address do.
// CHECK-LABEL: func.func @apart
// CHECK:         pto.tload {{.*}} outs(%a
// CHECK-NEXT:    pto.tabs ins(%c
// CHECK-NEXT:    ascend910b.set_flag V -> MTE2, 0
// CHECK-NEXT:    ascend910b.wait_flag V -> MTE2, 0
// CHECK-NEXT:    pto.tload {{.*}} outs(%d
// CHECK-NEXT:    func.return
func.func @apart(%p : !pto.partition_tensor_view<8x64xf32>) {
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 2048 : i64
  %a = pto.alloc_tile addr = %k0 : !pto.tile_buf<vec, 8x64xf32>
  %c = pto.alloc_tile addr = %k1 : !pto.tile_buf<vec, 8x64xf32>
  %d = pto.alloc_tile addr = %k1 : !pto.tile_buf<vec, 8x64xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  pto.tabs ins(%c : !pto.tile_buf<vec, 8x64xf32>) outs(%c : !pto.tile_buf<vec, 8x64xf32>)
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%d : !pto.tile_buf<vec, 8x64xf32>)
  func.return
}

// What is inside a branch is set and waited for around it, so that both ways do the same. The
// vector pipe has waited for the load before the branch: who waits for it has waited for the load.
// CHECK-LABEL: func.func @branch
// CHECK:         pto.tload
// CHECK-NEXT:    ascend910b.set_flag MTE2 -> V, 0
// CHECK-NEXT:    ascend910b.wait_flag MTE2 -> V, 0
// CHECK-NEXT:    scf.if %c {
// CHECK-NEXT:      pto.tabs
// CHECK-NEXT:    }
// CHECK-NEXT:    ascend910b.set_flag V -> MTE3, 0
// CHECK-NEXT:    ascend910b.wait_flag V -> MTE3, 0
// CHECK-NEXT:    pto.tstore
func.func @branch(%p : !pto.partition_tensor_view<8x64xf32>, %c : i1) {
  %k0 = arith.constant 0 : i64
  %a = pto.alloc_tile addr = %k0 : !pto.tile_buf<vec, 8x64xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  scf.if %c {
    pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  }
  pto.tstore ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%p : !pto.partition_tensor_view<8x64xf32>)
  func.return
}

// The scalar unit reads an element: it waits itself.
// CHECK-LABEL: func.func @scalar
// CHECK:         pto.tabs
// CHECK-NEXT:    ascend910b.set_flag V -> S, 0
// CHECK-NEXT:    ascend910b.wait_flag V -> S, 0
// CHECK-NEXT:    %x = pto.tgetval
func.func @scalar(%i : index) {
  %k0 = arith.constant 0 : i64
  %a = pto.alloc_tile addr = %k0 : !pto.tile_buf<vec, 8x64xf32>
  pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
  %x = pto.tgetval ins(%a, %i : !pto.tile_buf<vec, 8x64xf32>, index) outs : f32
  func.return
}

}
