// Every pass, and every target that has words for it, requires structured control flow, and none makes it.

// RUN: not pypto-opt --unroll-loops %s 2>&1 | filecheck %s
// RUN: not pypto-opt --normalize-return-order %s 2>&1 | filecheck %s
// RUN: not pypto-opt --simplify %s 2>&1 | filecheck %s
// RUN: not pypto-opt %s -t pl 2>&1 | filecheck %s
// RUN: not pypto-opt %s -t task-graph 2>&1 | filecheck %s
// RUN: not pypto-opt %s -t orchestration 2>&1 | filecheck %s --check-prefix PLAIN
// RUN: not xdsl-opt -p simplify %s 2>&1 | filecheck %s --check-prefix PLAIN

// CHECK:      requires property NormalizedStmtStructure: 'cf.br' op jumps to another block
// CHECK-NEXT: note: property NormalizedStmtStructure holds if a body is one flat sequence of statements, without jumps
// CHECK-NOT:  first
// PLAIN:      requires property NormalizedStmtStructure: 'cf.br' op jumps to another block
orch.func incore @kernel(in %x : tensor<16xf32>, out %o : tensor<16xf32>) -> tensor<16xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  cf.br ^next
^next:
  %s = tile.store %t, %o[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %s : tensor<16xf32>
}
