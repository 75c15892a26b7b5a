// What the DSL has no words for is an error at its place.
// RUN: not pypto-opt %s -t pl --split-input-file 2>&1 | filecheck %s

// CHECK: invalid.mlir:7:8: error: 'arith.select' op has no spelling in the DSL
orch.func opaque @f(in %c : i1, in %a : index, in %b : index) -> index {
  %d = arith.addi %a, %b : index
  %e = arith.select %c, %d, %b : index
  orch.return %e : index
}

// -----

// CHECK: error: 'orch.func' op has a type that the DSL has no words for: tensor<?x4xf32>
orch.func opaque @g(in %a : tensor<?x4xf32>) {
  orch.return
}
