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

// -----

// Loops to unroll have constant bounds.
// CHECK: error: 'scf.for' op has no spelling in the DSL: the bounds of pl.unroll are constants
orch.func opaque @unrolled_to(in %n : index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
  } {orch.loop = #orch<loop unroll>}
  orch.return
}

// -----

// What fills a tile is a literal.
// CHECK: error: 'tile.full' op has no spelling in the DSL with a value known at run time
orch.func incore @filled(in %v : f32) {
  %t = tile.full %v : f32 -> !tile.tile<16x16xf32>
  orch.return
}

// -----

// PyPTO says what is valid of rows and columns.
// CHECK: error: 'ptensor.set_validshape' op has no spelling in the DSL but for rows and columns
orch.func opaque @partly(in %x : tensor<16xf32>, in %n : index) {
  %v = ptensor.set_validshape %x, valid = [%n] : tensor<16xf32> -> tensor<16xf32, #ptensor.view<valid = [?]>>
  orch.return
}

// -----

// Where an extracted tile is has to be said.
// CHECK: error: 'tile.extract' op does not say where its tile is; infer-tile-memory-space finds out
orch.func incore @extracted() {
  %t = tile.create : !tile.tile<64x64xf16, mat>
  %e = tile.extract %t[0, 0] : !tile.tile<64x64xf16, mat> -> !tile.tile<16x64xf16>
  orch.return
}

// -----

// Only a scope on several cores that is a task waits for others.
// CHECK: error: 'orch.spmd' op has no spelling in the DSL: only a pl.spmd that is a task waits
orch.func orchestration @waits(in %n : index) {
  %t = orch.task_invalid
  orch.spmd deps [%t] launch %n {
    orch.incore {
    }
  }
  orch.return
}

// -----

// A module has no marks in the DSL.
// CHECK: error: 'builtin.module' op has an attribute 'mark' that the DSL has no words for
builtin.module attributes {mark} {
}

// -----

// Loops count in indices.
// CHECK: error: 'scf.for' op has no spelling in the DSL: it counts in i32, not in indices
orch.func opaque @counts(in %n : i32) {
  %one = arith.constant 1 : i32
  scf.for %i = %one to %n step %one : i32 {
  }
  orch.return
}

// -----

// The level of a kernel follows from its kind.
// CHECK: error: 'orch.func' op has no spelling in the DSL with level chip: incore functions have level chip_die
orch.func incore level chip @level() {
  orch.return
}

// -----

// Nothing is a program that PyPTO reads.
// CHECK: error: 'builtin.module' op has no spelling in the DSL: a program holds at least one function
builtin.module {
}
