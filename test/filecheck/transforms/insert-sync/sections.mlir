// Where a program runs on a cube core and vector cores, what orders the pipes of one is in sections
// of its own: the other does not have these pipes.

// RUN: pypto-opt --insert-sync %s | filecheck %s
// RUN: pypto-opt --insert-sync --insert-sync %s | filecheck %s

// CHECK-LABEL: func.func @mix
// CHECK:         pto.section.vector {
// CHECK-NEXT:      ascend910b.set_flag V -> MTE2, 0
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      pto.section.cube {
// CHECK-NEXT:        pto.tload
// CHECK-NEXT:      }
// CHECK-NEXT:      pto.section.vector {
// CHECK-NEXT:        ascend910b.wait_flag V -> MTE2, 0
// CHECK-NEXT:        pto.tload
// CHECK-NEXT:        ascend910b.set_flag MTE2 -> V, 0
// CHECK-NEXT:      }
// CHECK-NEXT:      pto.section.vector {
// CHECK-NEXT:        ascend910b.wait_flag MTE2 -> V, 0
// CHECK-NEXT:        pto.tabs
// CHECK-NEXT:        ascend910b.set_flag V -> MTE2, 0
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    pto.section.vector {
// CHECK-NEXT:      ascend910b.wait_flag V -> MTE2, 0
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @mix(%p : !pto.partition_tensor_view<8x64xf32>, %n : index) attributes {ascend910b.core = #ascend910b<core mix>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = ascend910b.view l1[0] : !pto.tile_buf<mat, 8x64xf32>
  %a = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
  scf.for %i = %c0 to %n step %c1 {
    pto.section.cube {
      pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%m : !pto.tile_buf<mat, 8x64xf32>)
    }
    pto.section.vector {
      pto.tload ins(%p : !pto.partition_tensor_view<8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
    }
    pto.section.vector {
      pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
    }
  }
  func.return
}
