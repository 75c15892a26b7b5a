// Scopes that need a task of their own are submitted.

// RUN: pypto-opt --outline-incore-scopes --split-input-file %s | filecheck %s

// E-T25, E-T26: a scope with a task, and one that depends on it.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    %r, %t0 = orch.submit @first(%x, %out) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
// CHECK-NEXT:    %s, %t1 = orch.submit @second(%r, %b) deps [%t0] : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
// CHECK-NEXT:    %d = orch.task_dummy deps [%t1]
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>, out %b : tensor<64xf32>)
    -> tensor<64xf32> {
  %r, %t0 = orch.incore "first" -> (tensor<64xf32>) as task {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %o = tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %o : tensor<64xf32>
  }
  %s, %t1 = orch.incore "second" deps [%t0] -> (tensor<64xf32>) as task {
    %t = tile.load %r[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %o = tile.store %t, %b[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %o : tensor<64xf32>
  }
  %d = orch.task_dummy deps [%t1]
  orch.return %s : tensor<64xf32>
}

// -----

// E-T27: dependencies, a predicate or early resolve need a task, also if nobody asks for it; a
// submit without a result has one.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    %{{.*}} = orch.submit @a(%x) deps [%t] : (tensor<64xf32>) -> !orch.task_id
// CHECK-NEXT:    %{{.*}} = orch.submit @b(%x) early_resolve : (tensor<64xf32>) -> !orch.task_id
// CHECK-NEXT:    %r, %{{.*}} = orch.submit @c(%x, %out) predicate(%flag[%i, 0] gt 0 : tensor<4x1xi32>) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
orch.func orchestration @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>,
                              in %t : !orch.task_id, in %flag : tensor<4x1xi32>, in %i : index)
    -> tensor<64xf32> {
  orch.incore "a" deps [%t] {
    %u = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
  }
  orch.incore "b" early_resolve {
    %u = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
  }
  %r = orch.incore "c" predicate(%flag[%i, 0] gt 0 : tensor<4x1xi32>) -> (tensor<64xf32>) {
    %u = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %o = tile.store %u, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %o : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}

// -----

// E-T91, O9: what a scope refers to is renamed like any other use: the predicate reads the flag
// that the scope before wrote, and the task is the one of the loop.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    [[F:%.*]], %t0 = orch.submit @gate(%flag)
// CHECK-NEXT:    %{{.*}} = orch.submit @work(%x) deps [%t0] predicate([[F]][0] ne 0 : tensor<4xi32>)
orch.func orchestration @main(in %x : tensor<64xf32>, out %flag : tensor<4xi32>) {
  %f, %t0 = orch.incore "gate" -> (tensor<4xi32>) as task {
    %one = arith.constant 1 : i32
    %f = ptensor.write %one, %flag[0] : i32, tensor<4xi32>
    orch.yield %f : tensor<4xi32>
  }
  orch.incore "work" deps [%t0] predicate(%f[0] ne 0 : tensor<4xi32>) {
    %u = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
  }
  orch.return
}
