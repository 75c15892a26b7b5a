// What the next iteration of a loop does with the bytes of this one is ordered too.

// RUN: pypto-opt --insert-sync %s | filecheck %s
// RUN: pypto-opt --insert-sync --insert-sync %s | filecheck %s

// The event from the computation to the next load is there before the first iteration, and taken
// after the last.
// CHECK-LABEL: func.func @loop
// CHECK:         %u = ascend910b.view ub[2048]
// CHECK-NEXT:    ascend910b.set_flag V -> MTE2, 0
// CHECK-NEXT:    ascend910b.set_flag MTE3 -> V, 0
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      ascend910b.wait_flag V -> MTE2, 0
// CHECK-NEXT:      pto.tload
// CHECK-NEXT:      ascend910b.set_flag MTE2 -> V, 0
// CHECK-NEXT:      ascend910b.wait_flag MTE2 -> V, 0
// CHECK-NEXT:      ascend910b.wait_flag MTE3 -> V, 0
// CHECK-NEXT:      pto.tabs
// CHECK-NEXT:      ascend910b.set_flag V -> MTE2, 0
// CHECK-NEXT:      ascend910b.set_flag V -> MTE3, 0
// CHECK-NEXT:      ascend910b.wait_flag V -> MTE3, 0
// CHECK-NEXT:      pto.tstore
// CHECK-NEXT:      ascend910b.set_flag MTE3 -> V, 0
// CHECK-NEXT:    }
// CHECK-NEXT:    ascend910b.wait_flag MTE3 -> V, 0
// CHECK-NEXT:    ascend910b.wait_flag V -> MTE2, 0
// CHECK-NEXT:    func.return
func.func @loop(%p : !pto.partition_tensor_view<8x64xf32>, %q : !pto.partition_tensor_view<8x64xf32>, %n : index) attributes {ascend910b.core = #ascend910b<core aiv>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
  %u = ascend910b.view ub[2048] : !pto.tile_buf<vec, 8x64xf32>
  scf.for %i = %c0 to %n step %c1 {
    pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
    pto.tabs ins(%t : !pto.tile_buf<vec, 8x64xf32>) outs(%u : !pto.tile_buf<vec, 8x64xf32>)
    pto.tstore ins(%u : !pto.tile_buf<vec, 8x64xf32>) outs(%q : !pto.partition_tensor_view<8x64xf32>)
  }
  func.return
}

// In a nest, the event is there before the outermost loop, and there but once.
// CHECK-LABEL: func.func @nest
// CHECK:         ascend910b.set_flag V -> MTE2, 0
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        ascend910b.wait_flag V -> MTE2, 0
// CHECK-NEXT:        pto.tload
// CHECK:             pto.tabs
// CHECK-NEXT:        ascend910b.set_flag V -> MTE2, 0
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    ascend910b.wait_flag V -> MTE2, 0
func.func @nest(%p : !pto.partition_tensor_view<8x64xf32>, %n : index) attributes {ascend910b.core = #ascend910b<core aiv>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
      pto.tabs ins(%t : !pto.tile_buf<vec, 8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
    }
  }
  func.return
}

// The load after the loop waits for what comes before the loop: it may have no iteration, in which
// another event would have told the same.
// CHECK-LABEL: func.func @no_iteration
// CHECK:         pto.tabs
// CHECK-NEXT:    ascend910b.set_flag V -> MTE2, 0
// CHECK-NEXT:    ascend910b.wait_flag V -> MTE2, 0
// CHECK-NEXT:    ascend910b.set_flag MTE2 -> V, 0
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      ascend910b.wait_flag MTE2 -> V, 0
// CHECK-NEXT:      pto.tabs
// CHECK-NEXT:      ascend910b.set_flag V -> MTE2, 1
// CHECK-NEXT:      ascend910b.wait_flag V -> MTE2, 1
// CHECK-NEXT:      scf.if
// CHECK:           ascend910b.set_flag MTE2 -> V, 0
// CHECK-NEXT:    }
// CHECK-NEXT:    ascend910b.wait_flag MTE2 -> V, 0
// CHECK-NEXT:    pto.tload
func.func @no_iteration(%p : !pto.partition_tensor_view<8x64xf32>, %n : index, %c : i1) attributes {ascend910b.core = #ascend910b<core aiv>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
  %u = ascend910b.view ub[2048] : !pto.tile_buf<vec, 8x64xf32>
  pto.tabs ins(%t : !pto.tile_buf<vec, 8x64xf32>) outs(%u : !pto.tile_buf<vec, 8x64xf32>)
  scf.for %i = %c0 to %n step %c1 {
    pto.tabs ins(%t : !pto.tile_buf<vec, 8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
    scf.if %c {
      pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%u : !pto.tile_buf<vec, 8x64xf32>)
    } else {
      pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
    }
    pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
  }
  pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
  func.return
}
