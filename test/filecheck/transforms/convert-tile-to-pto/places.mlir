// Tiles lie where the program keeps them; the rest is allocated around.

// RUN: pypto-opt -p 'convert-tile-to-pto{backend=ascend910b},memory-reuse,allocate-memory-addr' --split-input-file %s | filecheck %s

// Buffers follow each other, slots are as large as the largest tile in one.
// CHECK-LABEL:   func.func @slots(
// CHECK-DAG:       [[A:%.*]] = arith.constant 0 : i64
// CHECK-DAG:       [[B:%.*]] = arith.constant 4096 : i64
// CHECK-DAG:       [[C:%.*]] = arith.constant 8192 : i64
// CHECK-DAG:       [[D:%.*]] = arith.constant 12288 : i64
// CHECK:           %t0 = pto.alloc_tile addr = [[B]] :
// CHECK:           %e0 = pto.alloc_tile addr = [[A]] :
// CHECK:           %f0 = pto.alloc_tile addr = [[C]] :
// What has no place lies behind.
// CHECK:           %g = pto.alloc_tile addr = [[D]] :
orch.func incore @slots(in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %two = tile.alloc buffer = "two", slots = 2, pinned : !tile.buffer
  %one = tile.alloc buffer = "one", space = vec, size = 4096 : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  %t = tile.place %t0, %two[1], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
  %e0 = tile.exp %t : !tile.tile<16x64xf32, vec>
  %e = tile.place %e0, %two[0], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
  %f0 = tile.neg %e : !tile.tile<16x64xf32, vec>
  %f = tile.place %f0, %one[0], size = 4096 : !tile.tile<16x64xf32, vec>, !tile.buffer
  %g = tile.add %e, %f : !tile.tile<16x64xf32, vec>
  %s = tile.store %g, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return %s : tensor<16x64xf32>
}

// -----

// A tile beyond the end of its buffer: the offsets are addresses, and were assigned before.
// CHECK-LABEL:   func.func @addresses(
// CHECK-DAG:       [[A:%.*]] = arith.constant 0 : i64
// CHECK-DAG:       [[B:%.*]] = arith.constant 4096 : i64
// CHECK:           %t0 = pto.alloc_tile addr = [[A]] :
// CHECK:           %e0 = pto.alloc_tile addr = [[B]] :
orch.func incore @addresses(in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %a = tile.alloc buffer = "mem_vec_0", space = vec, size = 4096 : !tile.buffer
  %b = tile.alloc buffer = "mem_vec_1", space = vec, size = 4096 : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  %t = tile.place %t0, %a[0] : !tile.tile<16x64xf32, vec>, !tile.buffer
  %e0 = tile.exp %t : !tile.tile<16x64xf32, vec>
  %e = tile.place %e0, %b[4096] : !tile.tile<16x64xf32, vec>, !tile.buffer
  %s = tile.store %e, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return %s : tensor<16x64xf32>
}

// -----

// Which slot it is may be known at run time only: the number is there before the tile is made, and
// what is not a slot as a whole is a view of one.
// CHECK-LABEL:   func.func @some_slot(
// CHECK:           %two = pto.alloc_multi_tile addr = %c0_i64 : !pto.multi_tile_buf<!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, {{.*}}>, count=2>
// CHECK:           scf.for %i =
// CHECK:             %k = arith.remsi %i, %c2_index : index
// CHECK-NEXT:        %t0 = pto.multi_tile_get %two[%k] :
// CHECK-NEXT:        %t0_1 = pto.subview %t0[%c0_index, %c0_index] sizes [16, 64] valid [%n, %c64_index]
// CHECK:             pto.tload {{.*}} outs(%t0_1 :
// CHECK:             %e = pto.alloc_tile addr = %c8192_i64
orch.func incore @some_slot(in %x : tensor<64x64xf32>, in %n : index, inout %o : tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %two = tile.alloc buffer = "two", slots = 2, pinned : !tile.buffer
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %o) -> (tensor<64x64xf32>) {
    %at = arith.muli %i, %c16 : index
    %t0 = tile.load %x[%at, 0], valid = [%n, 64] : tensor<64x64xf32> -> !tile.tile<16x64xf32, vec, valid = [?, 64]>
    %k = arith.remsi %i, %c2 : index
    %t = tile.place %t0, %two[%k], by_slot : !tile.tile<16x64xf32, vec, valid = [?, 64]>, !tile.buffer
    %e = tile.exp %t : !tile.tile<16x64xf32, vec, valid = [?, 64]>
    %z = tile.store %e, %y[%at, 0] : !tile.tile<16x64xf32, vec, valid = [?, 64]>, tensor<64x64xf32>
    scf.yield %z : tensor<64x64xf32>
  }
  orch.return %r : tensor<64x64xf32>
}
