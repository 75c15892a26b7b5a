// One name for each symbol of a function that becomes orchestration.

// RUN: pypto-opt --outline-incore-scopes --split-input-file %s | filecheck %s

// E-T76, O10 (#2318): extents of one symbol are read once, of the first parameter that has it.
// E-T77: also that of a tensor made from it. E-T79: a constant extent, and one without a symbol of
// the signature, are read as before.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    %M = ptensor.dim %a, axis = 1 : tensor<4x?xf32, #ptensor.view<dims = [_, M]>> -> index
// CHECK-NEXT:    %N = ptensor.dim %b, axis = 1
// CHECK-NEXT:    %k = ptensor.dim %a, axis = 0
// CHECK-NEXT:    %c = ptensor.create sizes = [%M]
// CHECK-NEXT:    %q = ptensor.dim %d, axis = 0
// CHECK:         orch.return %M, %M, %N, %k, %q, %M
orch.func opaque @main(in %x : tensor<?xf32>, in %a : tensor<4x?xf32, #ptensor.view<dims = [_, M]>>,
                       in %b : tensor<?x?xf32, #ptensor.view<dims = [M, N]>>, in %d : tensor<?xf32>)
    -> (index, index, index, index, index, index) {
  %m = ptensor.dim %b, axis = 0 : tensor<?x?xf32, #ptensor.view<dims = [M, N]>> -> index
  %n = ptensor.dim %b, axis = 1 : tensor<?x?xf32, #ptensor.view<dims = [M, N]>> -> index
  %k = ptensor.dim %a, axis = 0 : tensor<4x?xf32, #ptensor.view<dims = [_, M]>> -> index
  %c = ptensor.create sizes = [%m] : tensor<?xf32, #ptensor.view<dims = [M]>>
  %p = ptensor.dim %c, axis = 0 : tensor<?xf32, #ptensor.view<dims = [M]>> -> index
  %q = ptensor.dim %d, axis = 0 : tensor<?xf32> -> index
  %m2 = ptensor.dim %a, axis = 1 : tensor<4x?xf32, #ptensor.view<dims = [_, M]>> -> index
  orch.incore {
    %t = ptensor.add %x, %x : tensor<?xf32>
  }
  orch.return %m, %p, %n, %k, %q, %m2 : index, index, index, index, index, index
}

// -----

// E-T78: a symbol that is used inside the scope is a scalar parameter of its name.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %M: index, in %x: tensor<?xf32, #ptensor.view<dims = [M]>>
orch.func opaque @main(in %x : tensor<?xf32, #ptensor.view<dims = [M]>>,
                       out %out : tensor<?xf32, #ptensor.view<dims = [M]>>) {
  orch.incore {
    %m = ptensor.dim %out, axis = 0 : tensor<?xf32, #ptensor.view<dims = [M]>> -> index
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %m step %c64 {
      %t = tile.load %x[%i] : tensor<?xf32, #ptensor.view<dims = [M]>> -> !tile.tile<64xf32>
      %o = tile.store %t, %out[%i] : !tile.tile<64xf32>, tensor<?xf32, #ptensor.view<dims = [M]>>
    }
  }
  orch.return
}

// -----

// E-T80: an opaque function without a scope keeps its reads; so does one that is orchestration.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func opaque @opaque(
// CHECK-NEXT:    %m = ptensor.dim %x
// CHECK-NEXT:    %n = ptensor.dim %x
// CHECK:       orch.func orchestration @orchestration(
// CHECK-NEXT:    %m = ptensor.dim %x
// CHECK-NEXT:    %n = ptensor.dim %x
orch.func opaque @opaque(in %x : tensor<?xf32, #ptensor.view<dims = [M]>>) -> (index, index) {
  %m = ptensor.dim %x, axis = 0 : tensor<?xf32, #ptensor.view<dims = [M]>> -> index
  %n = ptensor.dim %x, axis = 0 : tensor<?xf32, #ptensor.view<dims = [M]>> -> index
  orch.return %m, %n : index, index
}
orch.func orchestration @orchestration(in %x : tensor<?xf32, #ptensor.view<dims = [M]>>)
    -> (index, index) {
  %m = ptensor.dim %x, axis = 0 : tensor<?xf32, #ptensor.view<dims = [M]>> -> index
  %n = ptensor.dim %x, axis = 0 : tensor<?xf32, #ptensor.view<dims = [M]>> -> index
  orch.incore { %t = ptensor.add %x, %x : tensor<?xf32, #ptensor.view<dims = [M]>> }
  orch.return %m, %n : index, index
}
