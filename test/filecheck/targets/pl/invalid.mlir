// What the DSL has no words for is an error at its place.
// RUN: not pypto-opt %s -t pl --split-input-file 2>&1 | filecheck %s

// Bits of integers have no operators in the DSL.
// CHECK: invalid.mlir:7:8: error: 'arith.ori' op has no spelling in the DSL
orch.func opaque @bits(in %a : i32, in %b : i32) -> i32 {
  %c = arith.ori %a, %b : i32
  orch.return %c : i32
}

// -----

// An unsigned division is the DSL's `//` only where nothing is negative.
// CHECK: error: 'arith.divui' op has no spelling in the DSL for index: an operand may be negative
orch.func opaque @unsigned(in %a : index, in %b : index) -> index {
  %c = arith.divui %a, %b : index
  orch.return %c : index
}

// -----

// PyPTO knows a kernel by its body or by its C++ source.
// CHECK: error: 'orch.func' op has no spelling in the DSL: it is declared only, and no external source has it
orch.func incore @declared(in tensor<16xf32>)

// -----

// A loop to unroll is gone once it is read: nothing names what it would carry.
// CHECK: error: 'scf.for' op has no spelling in the DSL: a loop to unroll carries nothing
orch.func opaque @unrolled(in %n : index) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%k = %n) -> (index) {
    %next = arith.addi %k, %i : index
    scf.yield %next : index
  } {orch.loop = #orch<loop unroll>}
  orch.return %r : index
}

// -----

// Scopes of tasks do not nest in a manual one.
// CHECK: error: 'orch.task_scope' op has no spelling in the DSL: a manual scope holds no other
orch.func orchestration @nested() {
  orch.task_scope manual {
    orch.task_scope manual {
    }
  }
  orch.return
}

// -----

// Marks that are not of the DSL are not dropped in silence.
// CHECK: error: 'tile.add' op has an attribute 'mark' that the DSL has no words for
orch.func incore @marked(in %x : tensor<16xf32>, out %o : tensor<16xf32>) -> tensor<16xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %s = "tile.add"(%t, %t) {mark} : (!tile.tile<16xf32>, !tile.tile<16xf32>) -> !tile.tile<16xf32>
  %o1 = tile.store %s, %o[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %o1 : tensor<16xf32>
}
