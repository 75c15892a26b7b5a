// The numbers are the same before and after: tasks that write their rows and columns of one tensor,
// one of which reads what the other has put in place.

// RUN: pypto-opt %s --fuse-create-assemble-to-slice --verify-property=NoStaleRead -o %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: pypto-run %s --arg x=randn:16x32xf32:seed=0 --arg o=randn:64x64xf32:seed=1 --save %t.npy
// RUN: pypto-run %t.mlir --arg x=randn:16x32xf32:seed=0 --arg o=randn:64x64xf32:seed=1 --expect %t.npy

// CHECK-NOT: ptensor.create

orch.func incore @k(in %x : tensor<16x32xf32>, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
  %s = tile.add %t, %t : !tile.tile<16x32xf32>
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
  orch.return %o1 : tensor<16x32xf32>
}
orch.func orchestration @main(in %x : tensor<16x32xf32>, inout %o : tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0 : index
  %st = arith.constant 16 : index
  %n = arith.constant 64 : index
  %r = scf.for %i = %z to %n step %st iter_args(%w = %o) -> (tensor<64x64xf32>) {
    %c = ptensor.create : tensor<16x32xf32>
    %c1 = orch.call @k(%x, %c) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %w1 = ptensor.assemble %c1, %w[%i, 32] : tensor<16x32xf32>, tensor<64x64xf32>
    %d = ptensor.create : tensor<16x32xf32>
    %d1 = orch.call @k(%c1, %d) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %w2 = ptensor.assemble %d1, %w1[%i, 0] : tensor<16x32xf32>, tensor<64x64xf32>
    scf.yield %w2 : tensor<64x64xf32>
  }
  orch.return %r : tensor<64x64xf32>
}
