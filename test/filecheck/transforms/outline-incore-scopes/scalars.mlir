// Scalars that leave a kernel are computed by its caller.

// RUN: pypto-opt --outline-incore-scopes --split-input-file %s | filecheck %s

// E-S9: the offset moves before the call; the kernel does not use it and does not get it.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>, out %out: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:    %t = tile.load
// CHECK-NEXT:    %o = tile.store
// CHECK-NEXT:    orch.return %out
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    %c32 = arith.constant 32 : index
// CHECK-NEXT:    %off = arith.muli %base, %c32 : index
// CHECK-NEXT:    %r = orch.call @main_incore_0(%x, %out)
// CHECK-NEXT:    orch.return %r, %off
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>, in %base : index)
    -> (tensor<64xf32>, index) {
  %c32 = arith.constant 32 : index
  %r, %n = orch.incore -> (tensor<64xf32>, index) {
    %off = arith.muli %base, %c32 : index
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %o = tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %o, %off : tensor<64xf32>, index
  }
  orch.return %r, %n : tensor<64xf32>, index
}

// -----

// E-S12: a chain of scalars, of which one more than the result is used in the body: that one
// becomes a parameter. %other is not needed outside and stays.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>, in %twice: index, out %out: tensor<64xf32>)
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %other = arith.addi %twice, %c1 : index
// CHECK-NEXT:    %t = tile.load %x[%twice]
// CHECK-NEXT:    %o = tile.store %t, %out[%other]
// CHECK:       orch.func orchestration @main(
// CHECK:         %twice = arith.addi %base, %base : index
// CHECK-NEXT:    %more = arith.addi %twice, %base : index
// CHECK-NEXT:    %wide = arith.index_cast %more : index to i64
// CHECK-NEXT:    %r = orch.call @main_incore_0(%x, %twice, %out)
// CHECK-NEXT:    orch.return %r, %wide
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>, in %base : index)
    -> (tensor<64xf32>, i64) {
  %c1 = arith.constant 1 : index
  %r, %n = orch.incore -> (tensor<64xf32>, i64) {
    %twice = arith.addi %base, %base : index
    %other = arith.addi %twice, %c1 : index
    %more = arith.addi %twice, %base : index
    %t = tile.load %x[%twice] : tensor<64xf32> -> !tile.tile<8xf32>
    %o = tile.store %t, %out[%other] : !tile.tile<8xf32>, tensor<64xf32>
    %wide = arith.index_cast %more : index to i64
    orch.yield %o, %wide : tensor<64xf32>, i64
  }
  orch.return %r, %n : tensor<64xf32>, i64
}

// -----

// The extent of a tensor that the caller has is known to it. A constant is, too; it is repeated
// where it is used still.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(out %out: tensor<?xf32>)
// CHECK-NEXT:    %k = arith.constant 2.000000e+00 : f32
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    %n = ptensor.dim %out, axis = 0
// CHECK-NEXT:    %k = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:    %r = orch.call @main_incore_0(%out)
// CHECK-NEXT:    orch.return %r, %n, %k
orch.func opaque @main(out %out : tensor<?xf32>) -> (tensor<?xf32>, index, f32) {
  %r, %m, %s = orch.incore -> (tensor<?xf32>, index, f32) {
    %n = ptensor.dim %out, axis = 0 : tensor<?xf32> -> index
    %k = arith.constant 2.0 : f32
    %t = tile.full %k : f32 -> !tile.tile<8xf32>
    %o = tile.store %t, %out[0] : !tile.tile<8xf32>, tensor<?xf32>
    orch.yield %o, %n, %k : tensor<?xf32>, index, f32
  }
  orch.return %r, %m, %s : tensor<?xf32>, index, f32
}
