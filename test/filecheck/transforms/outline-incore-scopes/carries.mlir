// Tensors that a scope writes, through the control flow around it, whatever the program carried.

// RUN: pypto-opt --outline-incore-scopes --split-input-file %s | filecheck %s
// RUN: pypto-opt --outline-incore-scopes --outline-incore-scopes --split-input-file %s | filecheck %s

// E-S2: an if without else: the other arm yields the tensor as it came.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    [[R:%.*]] = scf.if %c -> (tensor<64xf32>) {
// CHECK-NEXT:      [[N:%.*]] = orch.call @main_incore_0(%x, %out)
// CHECK-NEXT:      scf.yield [[N]] : tensor<64xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %out : tensor<64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return [[R]] : tensor<64xf32>
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>, in %c : i1)
    -> tensor<64xf32> {
  scf.if %c {
    orch.incore {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    }
  }
  orch.return %out : tensor<64xf32>
}

// -----

// E-S3: nested loops: the inner carry comes out as an outer one. %row is made in the outer body:
// the inner loop carries it, the outer does not.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK:         [[R:%.*]] = scf.for %i = {{.*}} iter_args([[O:%.*]] = %out) -> (tensor<64xf32>) {
// CHECK-NEXT:      %row = ptensor.create
// CHECK-NEXT:      [[IN:%.*]], [[IN2:%.*]] = scf.for %j = {{.*}} iter_args([[ROW:%.*]] = %row, [[OO:%.*]] = [[O]]) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:        [[C:%.*]], [[D:%.*]] = orch.call @main_incore_0(%x, [[ROW]], [[OO]])
// CHECK-NEXT:        scf.yield [[C]], [[D]]
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield [[IN2]] : tensor<64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return [[R]]
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %row = ptensor.create : tensor<64xf32>
    scf.for %j = %c0 to %c4 step %c1 {
      orch.incore {
        %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
        tile.store %t, %row[0] : !tile.tile<64xf32>, tensor<64xf32>
        tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
      }
    }
  }
  orch.return %out : tensor<64xf32>
}

// -----

// E-S4: a tensor made in the body: the next scope gets its next name, and nothing is carried.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK:         scf.for %i = %c0 to %c4 step %c1 {
// CHECK-NEXT:      %scratch = ptensor.create
// CHECK-NEXT:      [[S:%.*]] = orch.call @main_incore_0(%x, %scratch)
// CHECK-NEXT:      {{%.*}} = orch.call @main_incore_1(%x, [[S]])
// CHECK-NEXT:    }
orch.func opaque @main(in %x : tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %scratch = ptensor.create : tensor<64xf32>
    orch.incore {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      tile.store %t, %scratch[0] : !tile.tile<64xf32>, tensor<64xf32>
    }
    orch.incore {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      tile.store %t, %scratch[0] : !tile.tile<64xf32>, tensor<64xf32>
    }
  }
  orch.return
}

// -----

// E-S5: what the loop carries already gets no second place.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK:         %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%it = %out) -> (tensor<64xf32>) {
// CHECK-NEXT:      [[N:%.*]] = orch.call @main_incore_0(%x, %it)
// CHECK-NEXT:      scf.yield [[N]] : tensor<64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return %r
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%it = %out) -> (tensor<64xf32>) {
    orch.incore {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      tile.store %t, %it[0] : !tile.tile<64xf32>, tensor<64xf32>
    }
    scf.yield %it : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}

// -----

// E-S6: two scopes write one tensor in one body: one place, and the last name is handed on.
// Several tensors are carried in the order of their first write.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK:         [[R:%.*]], [[S:%.*]] = scf.for %i = {{.*}} iter_args([[B:%.*]] = %b, [[A:%.*]] = %a) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:      [[B1:%.*]] = orch.call @main_incore_0(%x, [[B]])
// CHECK-NEXT:      [[A1:%.*]] = orch.call @main_incore_1(%x, [[A]])
// CHECK-NEXT:      [[B2:%.*]] = orch.call @main_incore_2(%x, [[B1]])
// CHECK-NEXT:      scf.yield [[B2]], [[A1]]
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return [[S]], [[R]]
orch.func opaque @main(in %x : tensor<64xf32>, out %a : tensor<64xf32>, out %b : tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    orch.incore {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      tile.store %t, %b[0] : !tile.tile<64xf32>, tensor<64xf32>
    }
    orch.incore {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      tile.store %t, %a[0] : !tile.tile<64xf32>, tensor<64xf32>
    }
    orch.incore {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      tile.store %t, %b[0] : !tile.tile<64xf32>, tensor<64xf32>
    }
  }
  orch.return %a, %b : tensor<64xf32>, tensor<64xf32>
}

// -----

// E-S7: a while loop, which hands the tensor through its condition as well.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK:         %r, [[R:%.*]] = scf.while (%n = %c0, [[O:%.*]] = %out) : (index, tensor<64xf32>) -> (index, tensor<64xf32>) {
// CHECK:           scf.condition({{.*}}) %n, [[O]] : index, tensor<64xf32>
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%m: index, [[P:%.*]]: tensor<64xf32>):
// CHECK-NEXT:      [[Q:%.*]] = orch.call @main_incore_0(%x, [[P]])
// CHECK-NEXT:      %next = arith.addi
// CHECK-NEXT:      scf.yield %next, [[Q]] : index, tensor<64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return [[R]]
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.while (%n = %c0) : (index) -> index {
    %more = arith.cmpi slt, %n, %c4 : index
    scf.condition(%more) %n : index
  } do {
  ^bb0(%m : index):
    orch.incore {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    }
    %next = arith.addi %m, %c1 : index
    scf.yield %next : index
  }
  orch.return %out : tensor<64xf32>
}

// -----

// E-S8: both arms write: each starts from what came in.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    [[R:%.*]] = scf.if %c -> (tensor<64xf32>) {
// CHECK-NEXT:      [[N:%.*]] = orch.call @main_incore_0(%x, %out)
// CHECK-NEXT:      scf.yield [[N]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[M:%.*]] = orch.call @main_incore_1(%x, %out)
// CHECK-NEXT:      scf.yield [[M]]
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return [[R]]
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>, in %c : i1)
    -> tensor<64xf32> {
  scf.if %c {
    orch.incore {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    }
  } else {
    orch.incore {
      %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
      tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    }
  }
  orch.return %out : tensor<64xf32>
}

// -----

// Scopes around hand it on too: a task scope, an spmd scope with a task, in a loop whose result is
// itself written later.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK:         %r, [[RB:%.*]] = scf.for %i = {{.*}} iter_args(%it = %a, [[B:%.*]] = %b) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:      [[S:%.*]] = orch.task_scope manual -> (tensor<64xf32>) {
// CHECK-NEXT:        [[P:%.*]], %task = orch.spmd launch %c4 -> (tensor<64xf32>) as task {
// CHECK-NEXT:          [[K:%.*]] = orch.call @main_incore_0(%x, [[B]])
// CHECK-NEXT:          orch.yield [[K]]
// CHECK-NEXT:        }
// CHECK-NEXT:        %dummy = orch.task_dummy deps [%task]
// CHECK-NEXT:        orch.yield [[P]]
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %it, [[S]]
// CHECK-NEXT:    }
// CHECK-NEXT:    [[L:%.*]] = orch.call @main_incore_1(%x, %r)
// CHECK-NEXT:    orch.return [[L]], [[RB]]
orch.func orchestration @main(in %x : tensor<64xf32>, inout %a : tensor<64xf32>,
                              out %b : tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%it = %a) -> (tensor<64xf32>) {
    orch.task_scope manual {
      %task = orch.spmd launch %c4 as task {
        orch.incore {
          %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
          tile.store %t, %b[0] : !tile.tile<64xf32>, tensor<64xf32>
        }
      }
      %dummy = orch.task_dummy deps [%task]
    }
    scf.yield %it : tensor<64xf32>
  }
  orch.incore {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    tile.store %t, %r[0] : !tile.tile<64xf32>, tensor<64xf32>
  }
  orch.return %r, %b : tensor<64xf32>, tensor<64xf32>
}

// -----

// A switch: every case hands it on.
// CHECK-LABEL: builtin.module
// CHECK:         [[R:%.*]] = scf.index_switch %n -> tensor<64xf32>
// CHECK-NEXT:    case 2 {
// CHECK-NEXT:      [[A:%.*]] = orch.call @main_incore_0(%out, %x)
// CHECK-NEXT:      scf.yield [[A]]
// CHECK-NEXT:    }
// CHECK-NEXT:    default {
// CHECK-NEXT:      scf.yield %out
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return [[R]]
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>, in %n : index) -> tensor<64xf32> {
  scf.index_switch %n
  case 2 {
    orch.incore {
      %o = ptensor.assemble %x, %out[0] : tensor<64xf32>, tensor<64xf32>
    }
    scf.yield
  }
  default {
    scf.yield
  }
  orch.return %out : tensor<64xf32>
}
