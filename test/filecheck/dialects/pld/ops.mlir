// RUN: pypto-opt %s | pypto-opt | filecheck %s
// RUN: pypto-opt %s --print-op-generic | pypto-opt | filecheck %s

// CHECK-LABEL: orch.func incore @distributed
orch.func incore @distributed(inout %signal : tensor<16xi32>, out %far : tensor<16x64xf32>, in %near : tensor<16x64xf32>, in %peer : i32, in %one : i32, in %i : index) {
  // CHECK-NEXT: pld.system.notify %signal[%i], %peer, %one : tensor<16xi32>, i32, i32
  pld.system.notify %signal[%i], %peer, %one : tensor<16xi32>, i32, i32
  // CHECK-NEXT: pld.system.notify %signal[0], %peer, %one, op = set : tensor<16xi32>, i32, i32
  pld.system.notify %signal[0], %peer, %one, op = set : tensor<16xi32>, i32, i32
  %stage = tile.create : !tile.tile<16x64xf32, vec>
  // CHECK: pld.tile.put %far[%i, 0], %peer, %near[0, 0], %stage, sizes = [16, 64], atomic = add : tensor<16x64xf32>, i32, tensor<16x64xf32>, !tile.tile<16x64xf32, vec>
  pld.tile.put %far[%i, 0], %peer, %near[0, 0], %stage, sizes = [16, 64], atomic = add : tensor<16x64xf32>, i32, tensor<16x64xf32>, !tile.tile<16x64xf32, vec>
  orch.return
}
