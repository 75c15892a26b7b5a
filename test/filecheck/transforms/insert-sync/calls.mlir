// RUN: pypto-opt --convert-pto-to-ascend910b --insert-sync %s | filecheck %s
// RUN: pypto-opt --convert-pto-to-ascend910b --insert-sync --insert-sync %s | filecheck %s

module attributes {pto.target_arch = "a2a3"} {
  func.func private @helper(%a: !pto.ptr<f32>)

  // What a function does is done before and after it, on each core that runs the call; once said,
  // it is not said again.
  // CHECK-LABEL: func.func @calls(
  // CHECK:         pto.tload
  // CHECK-NEXT:    pto.section.cube {
  // CHECK-NEXT:      ascend910b.barrier ALL
  // CHECK-NEXT:    }
  // CHECK-NEXT:    pto.section.vector {
  // CHECK-NEXT:      ascend910b.barrier ALL
  // CHECK-NEXT:    }
  // CHECK-NEXT:    func.call @helper
  // CHECK-NEXT:    pto.section.vector {
  // CHECK-NEXT:      ascend910b.barrier ALL
  // CHECK-NEXT:    }
  // CHECK-NEXT:    pto.section.cube {
  // CHECK-NEXT:      ascend910b.barrier ALL
  // CHECK-NEXT:    }
  // CHECK-NEXT:    pto.tstore
  func.func @calls(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %a = arith.constant 0 : i64
    %xv = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
    %yv = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
    %t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 16x16xf32>
    pto.tload ins(%xp : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
    func.call @helper(%x) : (!pto.ptr<f32>) -> ()
    pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%yp : !pto.partition_tensor_view<16x16xf32>)
    return
  }
}
