// Kernels that are taken apart do the same while their tiles pass from core to core as tiles, before
// and after they are given slots, and as bytes on the cores: no pass is found to break them. Nor is
// the one that gives a kernel, which is run by itself, slots as a last parameter.

// RUN: pypto-run %S/../../../../docs/examples/mixed_kernel.py --default-arg randn:seed=1 --bisect-passes --default-pipeline --ascend910b-pipeline --atol 1e-3 | filecheck %s
// RUN: pypto-run %S/../../../../docs/examples/split_aiv.py --function kernel --default-arg randn:seed=1 --bisect-passes --default-pipeline --ascend910b-pipeline --atol 1e-3 | filecheck %s --check-prefix KERNEL
// RUN: not pypto-run %s --function main --default-arg ones --bisect-passes --simplify 2>&1 | filecheck %s --check-prefix DEADLOCK

// CHECK: 'feed_forward' does the same after each of {{[0-9]+}} passes
// KERNEL: 'kernel' does the same after each of {{[0-9]+}} passes

// A tile that nobody pushes is an error, at once, with where both cores are.
// DEADLOCK:      bisect_cores.mlir:24:8: error: 'tile.tpop_from_aic' op waits forever: the vector core waits for a tile of ring 0, which the cube core never pushes
// DEADLOCK-NEXT: bisect_cores.mlir:29:3: note: the cube core has come to its end
// DEADLOCK-NEXT: bisect_cores.mlir:30:3: note: while running 'vector', called from here
orch.func aic @cube(in %x : tensor<16x16xf32>) {
  %n = arith.constant 0 : i32
  tile.aic_initialize_pipe %n, %n, dir_mask = 1, slot_size = 1024 : i32
  orch.return
}
orch.func aiv @vector(in %x : tensor<16x16xf32>) {
  %n = arith.constant 0 : i32
  tile.aiv_initialize_pipe %n, %n, dir_mask = 1, slot_size = 1024 : i32
  %v = tile.tpop_from_aic : !tile.tile<16x16xf32, vec>
  tile.tfree_to_aic %v : !tile.tile<16x16xf32, vec>
  orch.return
}
orch.func group @main(in %x : tensor<16x16xf32>) {
  orch.call @cube(%x) : (tensor<16x16xf32>) -> ()
  orch.call @vector(%x) : (tensor<16x16xf32>) -> ()
  orch.return
}
