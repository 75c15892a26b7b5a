// RUN: pypto-run %s --arg x=arange | filecheck %s
// RUN: pypto-run %s --arg x=arange --normalize-return-order | filecheck %s --check-prefix NORMAL
// RUN: pypto-run %s --arg 0=arange --quiet --print-op-counts | filecheck %s --check-prefix COUNTS
// RUN: pypto-run - --arg %x=full:2 < %s | filecheck %s --check-prefix FULL
// RUN: pypto-run %s --arg x=randn:seed=3 --save a=%t.npy
// RUN: pypto-run %s --arg x=randn:4xf32:seed=3 --expect a=%t.npy --expect result1=%t.npy
// RUN: not pypto-run %s --arg x=randn:seed=4 --expect a=%t.npy 2>&1 | filecheck %s --check-prefix DIFFERS
// RUN: pypto-run %s --arg x=full:1.5 --expect a=full:3 --expect b=full:2 --atol 0.25
// RUN: pypto-run %s --arg x=randn --bisect-passes --normalize-return-order --cse | filecheck %s --check-prefix BISECT
// RUN: pypto-run %s --arg x=ones --trace --quiet 2>&1 | filecheck %s --check-prefix TRACE

// The arguments are given or generated; what is written and returned is printed, a result that is a
// parameter by its name.

// CHECK:      a : tensor<4xf32> = [0., 2., 4., 6.]
// CHECK-NEXT: b : tensor<4xf32> = [0., 1., 4., 9.]
// CHECK-NEXT: result0 : tensor<4xf32> is b
// CHECK-NEXT: result1 : tensor<4xf32> is a

// Passes run first.

// NORMAL:      b : tensor<4xf32> = [0., 1., 4., 9.]
// NORMAL-NEXT: result0 : tensor<4xf32> is a
// NORMAL-NEXT: result1 : tensor<4xf32> is b

// COUNTS:      2 tile.store
// COUNTS-NEXT: 1 orch.return
// COUNTS-NEXT: 1 tile.add

// FULL: a : tensor<4xf32> = [4., 4., 4., 4.]

// DIFFERS: pypto-run: error: 'a' differs in 4 of 4 elements; the first, at [0], is {{.*}}, expected {{.*}}; the largest difference is

// BISECT: 'kernel' does the same after each of 2 passes

// TRACE: run.mlir:{{[0-9]+}}:8: tile.load -> tile 4xf32 [1.0, ...]

orch.func incore @kernel(in %x : tensor<4xf32>, out %a : tensor<4xf32>, out %b : tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %t = tile.load %x[0] : tensor<4xf32> -> !tile.tile<4xf32>
  %sum = tile.add %t, %t : !tile.tile<4xf32>
  %prod = tile.mul %t, %t : !tile.tile<4xf32>
  %b1 = tile.store %prod, %b[0] : !tile.tile<4xf32>, tensor<4xf32>
  %a1 = tile.store %sum, %a[0] : !tile.tile<4xf32>, tensor<4xf32>
  orch.return %b1, %a1 : tensor<4xf32>, tensor<4xf32>
}
