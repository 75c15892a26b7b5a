// What tasks wait for is named on the way through the pipeline: the writer of the next iteration
// waits for the reader of this one, which the runtime would not see to. The numbers are those of
// program order, in any order of the tasks that is left.

// RUN: pypto-opt %s --named-dependencies-pipeline --report-hazards --verify-each --verify-diagnostics -o %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: pypto-run %s --function=main --arg x=randn:16x32xf32:seed=0 --arg o=randn:16x32xf32:seed=1 --save o=%t.npy
// RUN: pypto-run %t.mlir --function=main --schedule=random:1 --arg x=randn:16x32xf32:seed=0 --arg o=randn:16x32xf32:seed=1 --expect o=%t.npy
// RUN: pypto-run %t.mlir --function=main --schedule=random:2 --arg x=randn:16x32xf32:seed=0 --arg o=randn:16x32xf32:seed=1 --expect o=%t.npy

orch.func incore @double(in %x : tensor<16x32xf32>, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
  %s = tile.add %t, %t : !tile.tile<16x32xf32>
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
  orch.return %o1 : tensor<16x32xf32>
}
orch.func incore @add(in %x : tensor<16x32xf32>, inout %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
  %u = tile.load %o[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
  %s = tile.add %t, %u : !tile.tile<16x32xf32>
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
  orch.return %o1 : tensor<16x32xf32>
}
orch.func orchestration @main(in %x : tensor<16x32xf32>, inout %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %buf = ptensor.create : tensor<16x32xf32>
  %r:2 = scf.for %i = %zero to %three step %one iter_args(%b = %buf, %a = %o) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
    %b1 = orch.call @double(%a, %b) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %a1 = orch.call @add(%b1, %a) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %b1, %a1 : tensor<16x32xf32>, tensor<16x32xf32>
  }
  orch.return %r#1 : tensor<16x32xf32>
}

// CHECK-LABEL: orchestration @main(
// CHECK:         scf.for
// CHECK-NEXT:      orch.task_scope auto
// CHECK-NEXT:        orch.submit @double(input %a, inout %b) deps [%{{.*}}] :
// CHECK-NEXT:        orch.submit @add(no_dep %b1{{.*}}, inout %a) deps [%{{.*}}] :
// CHECK:         } {orch.rebound = array<i1: false, false, true>}
