// The example of the documentation, `docs/examples/call_directions.mlir`: two calls on one local
// buffer, and two tasks with a declared dependency; a run on numpy before and after.

// RUN: pypto-opt --derive-call-directions %S/../../../../docs/examples/call_directions.mlir | filecheck %s
// RUN: pypto-run --function=main --arg x=arange:64xf32 %S/../../../../docs/examples/call_directions.mlir | filecheck %s --check-prefix RUN-MAIN
// RUN: pypto-run --function=main --arg x=arange:64xf32 --derive-call-directions %S/../../../../docs/examples/call_directions.mlir | filecheck %s --check-prefix RUN-MAIN
// RUN: pypto-run --function=declared_dependency --arg x=arange:64xf32 %S/../../../../docs/examples/call_directions.mlir | filecheck %s --check-prefix RUN-TASKS
// RUN: pypto-run --function=declared_dependency --arg x=arange:64xf32 --derive-call-directions %S/../../../../docs/examples/call_directions.mlir | filecheck %s --check-prefix RUN-TASKS
// RUN: pypto-run --function=declared_dependency --arg x=arange:64xf32 --derive-call-directions --schedule=random:1 %S/../../../../docs/examples/call_directions.mlir | filecheck %s --check-prefix RUN-TASKS

// CHECK:       %local1 = orch.call @kernel(input %x, output_existing %local)
// CHECK-NEXT:  %local2 = orch.call @kernel(input %x, inout %local1)
// CHECK:       %x1, %task = orch.submit @kernel(input %x, output_existing %local)
// CHECK-NEXT:  %out1, %last = orch.submit @add(input %x, no_dep %x1, output_existing %out) no_dep [1] deps [%task]

// 2 * x of x = 0..63.
// RUN-MAIN:      result0 : tensor<64xf32> =
// RUN-MAIN-NEXT: [  0.,   2.,   4.,   6.,
// RUN-MAIN:      120., 122., 124., 126.]

// 3 * x.
// RUN-TASKS:      out : tensor<64xf32> =
// RUN-TASKS-NEXT: [  0.,   3.,   6.,   9.,
// RUN-TASKS:      180., 183., 186., 189.]
// RUN-TASKS:      result0 : tensor<64xf32> is out
