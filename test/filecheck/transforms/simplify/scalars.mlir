// Computations on scalars.

// RUN: pypto-opt --simplify --split-input-file %s | filecheck %s
// RUN: pypto-opt --simplify --simplify --split-input-file %s | filecheck %s

// Constants, neutral and absorbing elements, merged constants, what is added and taken away.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func opaque @main(
// CHECK-NEXT:      %five = arith.constant 5 : index
// CHECK-NEXT:      [[C6:%.*]] = arith.constant 6 : index
// CHECK-NEXT:      %merged = arith.addi %n, [[C6]] : index
// CHECK-NEXT:      [[C12:%.*]] = arith.constant 12 : index
// CHECK-NEXT:      %product = arith.muli %n, [[C12]] : index
// CHECK-NEXT:      [[C3:%.*]] = arith.constant 3 : index
// CHECK-NEXT:      %part = arith.muli %n, [[C3]] : index
// CHECK-NEXT:      [[Z:%.*]] = arith.constant 0 : index
// CHECK-NEXT:      orch.return %five, %n, %n, [[Z]], %merged, %product, %part, %m, %n :
orch.func opaque @main(in %n : index, in %m : index)
    -> (index, index, index, index, index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %five = arith.addi %c2, %c3 : index
  %n1 = arith.addi %c0, %n : index
  %n2 = arith.muli %c1, %n : index
  %a = arith.addi %c2, %n : index
  %merged = arith.addi %a, %c4 : index
  %b = arith.muli %n, %c3 : index
  %product = arith.muli %c4, %b : index
  %part = arith.floordivsi %product, %c4 : index
  %rest = arith.remsi %product, %c4 : index
  %sum = arith.addi %n, %m : index
  %back = arith.subi %sum, %n : index
  %gone = arith.subi %n, %m : index
  %again = arith.addi %gone, %m : index
  orch.return %five, %n1, %n2, %rest, %merged, %product, %part, %back, %again : index, index, index, index, index, index, index, index, index
}

// -----

// What a loop counts: 0, 2, .. 6 is less than 7 and divides to nothing by 8; not by 6. The extent
// of a tensor and the index of a core are not negative; a parameter may be.
// CHECK-LABEL: builtin.module
// CHECK:         scf.for %i = {{.*}} {
// CHECK:           %sixth = arith.floordivsi %i, {{%.*}} : index
// CHECK:           %open = arith.cmpi sge, %n, {{%.*}} : index
// CHECK-NEXT:      %less = arith.constant true
// CHECK-NEXT:      %none = arith.constant 0 : index
// CHECK-NEXT:      %natural = arith.constant true
// CHECK-NEXT:      orch.call @use(%less, %none, %i, %sixth, %natural, %open)
orch.func incore @use(in i1, in index, in index, in index, in i1, in i1)
orch.func orchestration @main(in %x : tensor<?xf32>, in %n : index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %extent = ptensor.dim %x, axis = 0 : tensor<?xf32> -> index
  scf.for %i = %c0 to %c8 step %c2 {
    %sixth = arith.floordivsi %i, %c6 : index
    %open = arith.cmpi sge, %n, %c0 : index
    %less = arith.cmpi slt, %i, %c7 : index
    %none = arith.floordivsi %i, %c8 : index
    %same = arith.remsi %i, %c8 : index
    %natural = arith.cmpi sge, %extent, %c0 : index
    orch.call @use(%less, %none, %same, %sixth, %natural, %open) : (i1, index, index, index, i1, i1) -> ()
  }
  orch.return
}

// -----

// Unsigned: -1 is a large number, so that nothing is known of %n.
// CHECK-LABEL: builtin.module
// CHECK:         %a = arith.cmpi ult, %n, {{%.*}} : index
// CHECK-NEXT:    [[F:%.*]] = arith.constant false
// CHECK-NEXT:    orch.return %a, [[F]]
orch.func opaque @main(in %n : index) -> (i1, i1) {
  %c4 = arith.constant 4 : index
  %a = arith.cmpi ult, %n, %c4 : index
  %b = arith.cmpi ult, %n, %n : index
  orch.return %a, %b : i1, i1
}

// -----

// 32 bits wrap around: x + 1 > 0 does not follow from x >= 0.
// CHECK-LABEL: builtin.module
// CHECK:         arith.cmpi sgt, %y
orch.func opaque @main(in %m : i32) -> i1 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.maxsi %m, %c0 : i32
  %y = arith.addi %x, %c1 : i32
  %p = arith.cmpi sgt, %y, %c0 : i32
  orch.return %p : i1
}

// -----

// A view that changes nothing, a constant extent; what nobody uses of scalars; a tensor that nobody
// uses stays.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func opaque @main(
// CHECK-NEXT:      [[C:%.*]] = arith.constant 8 : index
// CHECK-NEXT:      %unused = ptensor.create : tensor<8x4xf32>
// CHECK-NEXT:      orch.return %x, [[C]]
orch.func opaque @main(in %x : tensor<8x4xf32>, in %n : index) -> (tensor<8x4xf32>, index) {
  %y = ptensor.reshape %x : tensor<8x4xf32> -> tensor<8x4xf32>
  %d = ptensor.dim %y, axis = 0 : tensor<8x4xf32> -> index
  %p = arith.muli %n, %n : index
  %q = arith.addi %p, %d : index
  %unused = ptensor.create : tensor<8x4xf32>
  orch.return %y, %d : tensor<8x4xf32>, index
}
