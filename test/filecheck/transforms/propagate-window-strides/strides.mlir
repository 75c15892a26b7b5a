// Kernels that are told how far apart the rows of the windows lie that they are given; numbers A.1
// are those of the reference's scenarios.

// RUN: pypto-opt --normalize-return-order --propagate-window-strides --verify-property=ReturnParamsExplicit --verify-property=NoStaleRead --verify-each --split-input-file --verify-diagnostics %s | filecheck %s
// RUN: pypto-opt --normalize-return-order --propagate-window-strides --propagate-window-strides --split-input-file %s | filecheck %s

// A.1: 11, 14, 16: windows of columns, read and written; what is stored has the parameter's type.
// 17: a whole tensor; whole rows lie as they would alone.

orch.func incore @columns(in %x : tensor<32x32xf32>, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %t = tile.load %x[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32>
  %o1 = tile.store %t, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}
orch.func incore @rows(in %x : tensor<32x64xf32>, out %o : tensor<64x64xf32>) -> tensor<64x64xf32> {
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %o1 = tile.store %t, %o[0, 0] : !tile.tile<32x64xf32>, tensor<64x64xf32>
  orch.return %o1 : tensor<64x64xf32>
}
orch.func orchestration @main(in %x : tensor<64x64xf32>, inout %o : tensor<128x128xf32>, out %p : tensor<64x64xf32>) {
  %a = ptensor.slice %x[0, 32] : tensor<64x64xf32> -> tensor<32x32xf32>
  %b = ptensor.slice %o[64, 32] : tensor<128x128xf32> -> tensor<32x32xf32>
  %b1 = orch.call @columns(%a, %b) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = ptensor.slice %x[32, 0] : tensor<64x64xf32> -> tensor<32x64xf32>
  %p1 = orch.call @rows(%c, %p) : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  orch.return
}

// CHECK-LABEL: incore @columns(
// CHECK-SAME:    in %x: tensor<32x32xf32, #ptensor.view<strides = [64, 1]>>,
// CHECK-SAME:    out %o: tensor<32x32xf32, #ptensor.view<strides = [128, 1]>>)
// CHECK-SAME:    -> tensor<32x32xf32, #ptensor.view<strides = [128, 1]>>
// CHECK-NEXT:    tile.load %x[0, 0] : tensor<32x32xf32, #ptensor.view<strides = [64, 1]>> -> !tile.tile<32x32xf32>
// CHECK-NEXT:    tile.store %t, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32, #ptensor.view<strides = [128, 1]>>
// CHECK-LABEL: incore @rows(
// CHECK-SAME:    in %x: tensor<32x64xf32>, out %o: tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK-LABEL: @main(
// CHECK:         orch.call @columns
// CHECK:         orch.call @rows

// -----

// A.1: 12, 15: windows of a tensor of three dimensions, with fewer of their own; a window of a
// window; one that a loop carries. Of an extent of 1 the step does not count.

orch.func incore @one(in %x : tensor<1x8xf32>) {
  orch.return
}
orch.func orchestration @main(in %x : tensor<4x128x16xf32>, in %n : index, inout %o : tensor<4x64x8xf32>) {
  %a = ptensor.slice %x[1, 0, 0] : tensor<4x128x16xf32> -> tensor<64x16xf32>
  %b = ptensor.slice %a[2, 8] : tensor<64x16xf32> -> tensor<2x8xf32>
  %c = ptensor.slice %o[0, 0, 0] : tensor<4x64x8xf32> -> tensor<1x2x8xf32>
  %c1 = scf.for %i = %n to %n step %n iter_args(%it = %c) -> (tensor<1x2x8xf32>) {
    %it1 = orch.call @copy(%b, %it) : (tensor<2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
    scf.yield %it1 : tensor<1x2x8xf32>
  }
  %d = ptensor.slice %x[1, 0, 8] : tensor<4x128x16xf32> -> tensor<1x8xf32>
  orch.call @one(%d) : (tensor<1x8xf32>) -> ()
  orch.return
}
orch.func incore @copy(in %x : tensor<2x8xf32>, out %o : tensor<1x2x8xf32>) -> tensor<1x2x8xf32> {
  orch.return %o : tensor<1x2x8xf32>
}

// CHECK-LABEL: incore @one(
// CHECK-SAME:    in %x: tensor<1x8xf32>)
// CHECK-LABEL: incore @copy(
// CHECK-SAME:    in %x: tensor<2x8xf32, #ptensor.view<strides = [16, 1]>>, out %o: tensor<1x2x8xf32>)

// -----

// One kernel with a window, another of other steps, and a whole tensor, here and through wrappers:
// nobody reads or writes beside what it was given.

orch.func incore @k(in %x : tensor<32x32xf32>, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %t = tile.load %x[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32>
  %o1 = tile.store %t, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}
orch.func group @g(in %x : tensor<32x32xf32>, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %o1 = orch.call @k(%x, %o) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}
orch.func orchestration @main(in %x : tensor<64x64xf32>, out %p : tensor<32x32xf32>, inout %r : tensor<32x96xf32>) {
  %a = ptensor.slice %x[0, 32] : tensor<64x64xf32> -> tensor<32x32xf32>
  %p1 = orch.call @g(%a, %p) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = ptensor.create : tensor<32x32xf32>
  %c1, %t = orch.submit @k(%p1, %c) : (tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<32x32xf32>, !orch.task_id)
  %b = ptensor.slice %r[0, 64] : tensor<32x96xf32> -> tensor<32x32xf32>
  %b1, %u = orch.submit @g(%c1, %b) : (tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<32x32xf32>, !orch.task_id)
  orch.return
}

// CHECK-LABEL: incore @k(
// CHECK-SAME:    in %x: tensor<32x32xf32>, out %o: tensor<32x32xf32>)
// CHECK-LABEL: incore @k_strided(
// CHECK-SAME:    in %x: tensor<32x32xf32, #ptensor.view<strides = [64, 1]>>, out %o: tensor<32x32xf32>)
// CHECK-LABEL: incore @k_strided_0(
// CHECK-SAME:    in %x: tensor<32x32xf32>, out %o: tensor<32x32xf32, #ptensor.view<strides = [96, 1]>>)
// CHECK-LABEL: group @g(
// CHECK-SAME:    in %x: tensor<32x32xf32, #ptensor.view<strides = [64, 1]>>, out %o: tensor<32x32xf32>)
// CHECK-NEXT:    orch.call @k_strided(
// CHECK-LABEL: group @g_strided(
// CHECK-NEXT:    orch.call @k_strided_0(
// CHECK-LABEL: @main(
// CHECK:         orch.call @g(
// CHECK:         orch.submit @k(
// CHECK:         orch.submit @g_strided(

// -----

// Inside a kernel a loop carries the parameter, which gets the type all the way; what is the
// parameter or another tensor keeps its own.

orch.func incore @carries(in %c : i1, in %n : index, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %t = tile.create : !tile.tile<32x32xf32>
  %r = scf.for %i = %n to %n step %n iter_args(%it = %o) -> (tensor<32x32xf32>) {
    %it1 = tile.store %t, %it[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
    scf.yield %it1 : tensor<32x32xf32>
  }
  orch.return %r : tensor<32x32xf32>
}
orch.func incore @chooses(in %c : i1, in %x : tensor<32x32xf32>, in %y : tensor<32x32xf32>, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %r = scf.if %c -> (tensor<32x32xf32>) {
    scf.yield %x : tensor<32x32xf32>
  } else {
    scf.yield %y : tensor<32x32xf32>
  }
  %t = tile.load %r[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32>
  %o1 = tile.store %t, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}
orch.func orchestration @main(in %c : i1, in %n : index, in %x : tensor<64x64xf32>, out %y : tensor<32x32xf32>, inout %o : tensor<32x96xf32>) {
  %b = ptensor.slice %o[0, 64] : tensor<32x96xf32> -> tensor<32x32xf32>
  %b1 = orch.call @carries(%c, %n, %b) : (i1, index, tensor<32x32xf32>) -> tensor<32x32xf32>
  %a = ptensor.slice %x[0, 32] : tensor<64x64xf32> -> tensor<32x32xf32>
  %y1 = orch.call @chooses(%c, %a, %b1, %y) : (i1, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  orch.return
}

// CHECK-LABEL: incore @carries(
// CHECK:         scf.for {{.*}} -> (tensor<32x32xf32, #ptensor.view<strides = [96, 1]>>)
// CHECK:         scf.yield {{.*}} : tensor<32x32xf32, #ptensor.view<strides = [96, 1]>>
// CHECK-LABEL: incore @chooses(
// CHECK-SAME:    in %x: tensor<32x32xf32, #ptensor.view<strides = [64, 1]>>, in %y: tensor<32x32xf32, #ptensor.view<strides = [96, 1]>>
// CHECK-DAG:     ptensor.type_cast %x : tensor<32x32xf32, #ptensor.view<strides = [64, 1]>> -> tensor<32x32xf32>
// CHECK-DAG:     ptensor.type_cast %y : tensor<32x32xf32, #ptensor.view<strides = [96, 1]>> -> tensor<32x32xf32>
// CHECK:         scf.if

// -----

// Extents that only a run knows: rows of a window that has all columns lie as they would alone;
// of others a kernel cannot be told.

orch.func incore @rows(in %x : tensor<16x?xf32, #ptensor.view<dims = [_, N]>>) {
  orch.return
}
orch.func incore @box(in %x : tensor<16x16xf32>) {
  orch.return
}
orch.func orchestration @main(in %x : tensor<64x?xf32, #ptensor.view<dims = [_, N]>>, in %y : tensor<?x64xf32>) {
  %n = ptensor.dim %x, axis = 1 : tensor<64x?xf32, #ptensor.view<dims = [_, N]>> -> index
  %a = ptensor.slice %x[16, 0], sizes = [16, %n] : tensor<64x?xf32, #ptensor.view<dims = [_, N]>> -> tensor<16x?xf32, #ptensor.view<dims = [_, N]>>
  orch.call @rows(%a) : (tensor<16x?xf32, #ptensor.view<dims = [_, N]>>) -> ()
  %b = ptensor.slice %x[16, 0] : tensor<64x?xf32, #ptensor.view<dims = [_, N]>> -> tensor<16x16xf32>
  // expected-warning @+1 {{'orch.call' op argument 0 lies in steps that only a run knows, of which 'box' cannot be told: it expects those of tensor<16x16xf32>}}
  orch.call @box(%b) : (tensor<16x16xf32>) -> ()
  %c = ptensor.slice %y[16, 0] : tensor<?x64xf32> -> tensor<16x16xf32>
  orch.call @box(%c) : (tensor<16x16xf32>) -> ()
  orch.return
}

// CHECK-LABEL: incore @rows(
// CHECK-SAME:    in %x: tensor<16x?xf32, #ptensor.view<dims = [_, N]>>)
// CHECK-LABEL: incore @box(
// CHECK-SAME:    in %x: tensor<16x16xf32>)
// CHECK-LABEL: @box_strided(
// CHECK-SAME:    in %x: tensor<16x16xf32, #ptensor.view<strides = [64, 1]>>)
