// What becomes of orchestration in the default pipeline: tasks write where their results are put, and
// their kernels know where that is; many waits become one; the runtime's scopes stand, those of the
// user as they were; loops say what they carry. The text is read back, and runs as before.

// RUN: pypto-opt %s --default-pipeline --verify-each -o %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: pypto-opt %t.mlir | filecheck %s
// RUN: pypto-run %s --function=rows --arg x=randn:16x32xf32:seed=0 --arg o=randn:64x64xf32:seed=1 --save o=%t.npy
// RUN: pypto-run %t.mlir --function=rows --arg x=randn:16x32xf32:seed=0 --arg o=randn:64x64xf32:seed=1 --expect o=%t.npy
// RUN: pypto-run %s --function=phases --arg x=randn:16x32xf32:seed=0 --arg o=randn:16x32xf32:seed=1 --save o=%t.npy
// RUN: pypto-run %t.mlir --function=phases --arg x=randn:16x32xf32:seed=0 --arg o=randn:16x32xf32:seed=1 --expect o=%t.npy

orch.func incore @k(in %x : tensor<16x32xf32>, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
  %s = tile.add %t, %t : !tile.tile<16x32xf32>
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
  orch.return %o1 : tensor<16x32xf32>
}
orch.func orchestration @rows(in %x : tensor<16x32xf32>, inout %o : tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.constant 16 : index
  %all = arith.constant 64 : index
  %r = scf.for %i = %zero to %all step %rows iter_args(%w = %o) -> (tensor<64x64xf32>) {
    %c = ptensor.create : tensor<16x32xf32>
    %c1 = orch.call @k(%x, %c) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %w1 = ptensor.assemble %c1, %w[%i, 32] : tensor<16x32xf32>, tensor<64x64xf32>
    scf.yield %w1 : tensor<64x64xf32>
  }
  orch.return %r : tensor<64x64xf32>
}
orch.func orchestration @phases(in %x : tensor<16x32xf32>, inout %o : tensor<16x32xf32>) attributes {auto_scope = false} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  orch.task_scope manual {
    %none = orch.array.create : !orch.array<4x!orch.task_id>
    %ids = scf.for %i = %zero to %four step %one iter_args(%some = %none) -> (!orch.array<4x!orch.task_id>) {
      %s = ptensor.create : tensor<16x32xf32>
      %y, %t = orch.submit @k(%x, %s) : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, !orch.task_id)
      %more = orch.array.update_element %t, %some[%i] : !orch.task_id, !orch.array<4x!orch.task_id>
      scf.yield %more : !orch.array<4x!orch.task_id>
    } {orch.loop = #orch<loop parallel>}
    scf.for %i = %zero to %four step %one {
      %s = ptensor.create : tensor<16x32xf32>
      %y, %t = orch.submit @k(%x, %s) deps [%ids : !orch.array<4x!orch.task_id>] : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, !orch.task_id)
    } {orch.loop = #orch<loop parallel>}
  }
  orch.task_scope auto {
    %o1 = orch.call @k(%x, %o) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  }
  orch.return
}

// CHECK-LABEL: incore @k(in tensor<16x32xf32>, out tensor<16x32xf32>)
// CHECK-LABEL: incore @k_strided(in tensor<16x32xf32>, out tensor<16x32xf32, #ptensor.view<strides = [64, 1]>>)
// CHECK-LABEL: orchestration @rows(
// CHECK-SAME:    attributes {auto_scope = false}
// CHECK:         orch.task_scope auto
// CHECK:           scf.for
// CHECK-NEXT:        orch.task_scope auto
// CHECK-NEXT:          ptensor.slice %w[%{{.*}}, 32] : tensor<64x64xf32> -> tensor<16x32xf32>
// CHECK-NEXT:          orch.call @k_strided(input %x, inout %c)
// CHECK-NEXT:          ptensor.assemble
// CHECK:           } {orch.rebound = array<i1: false>}
// CHECK-LABEL: orchestration @phases(
// CHECK-SAME:    attributes {auto_scope = false}
// CHECK-NOT:     orch.task_scope auto
// CHECK:         orch.task_scope manual {
// CHECK:         %[[F:.*]] = orch.task_dummy deps [%ids : !orch.array<4x!orch.task_id>]
// CHECK:         orch.submit @k(input %x, output_existing %s{{.*}}) deps [%[[F]]]
// CHECK:         orch.task_scope auto {
// CHECK-NOT:     orch.task_scope
// CHECK-LABEL: builtin.module @k_unit
