// The numbers are the same before and after lowering: kernels with windows of several tensors, and
// with whole ones, through a wrapper too.

// RUN: pypto-run %s --arg x=randn:64x64xf32:seed=0 --arg o=randn:64x64xf32:seed=1 --arg p=randn:32x32xf32:seed=2 --arg r=randn:32x96xf32:seed=3 --save o=%t.o.npy --save p=%t.p.npy --save r=%t.r.npy
// RUN: pypto-opt %s --default-pipeline -o %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: pypto-run %t.mlir --arg x=randn:64x64xf32:seed=0 --arg o=randn:64x64xf32:seed=1 --arg p=randn:32x32xf32:seed=2 --arg r=randn:32x96xf32:seed=3 --expect o=%t.o.npy --expect p=%t.p.npy --expect r=%t.r.npy

// CHECK-DAG: strides = [%c64_index, %c1_index]
// CHECK-DAG: strides = [%c96_index, %c1_index]

orch.func incore @k(in %x : tensor<32x32xf32>, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %t = tile.load %x[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32>
  %s = tile.add %t, %t : !tile.tile<32x32xf32>
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}
orch.func group @g(in %x : tensor<32x32xf32>, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %o1 = orch.call @k(%x, %o) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}
orch.func orchestration @main(in %x : tensor<64x64xf32>, inout %o : tensor<64x64xf32>, inout %p : tensor<32x32xf32>, inout %r : tensor<32x96xf32>) {
  %c = ptensor.create : tensor<32x32xf32>
  %xs = ptensor.slice %x[0, 32] : tensor<64x64xf32> -> tensor<32x32xf32>
  %c1 = orch.call @k(%xs, %c) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %o1 = ptensor.assemble %c1, %o[32, 32] : tensor<32x32xf32>, tensor<64x64xf32>
  %p1 = orch.call @g(%xs, %p) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %rs = ptensor.slice %r[0, 64] : tensor<32x96xf32> -> tensor<32x32xf32>
  %r1 = orch.call @g(%p1, %rs) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  orch.return
}
