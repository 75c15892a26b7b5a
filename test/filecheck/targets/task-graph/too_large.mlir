// A graph that would be too large is refused at the loop that makes it so, before its first trip;
// bounds may be numbers that are given.

// RUN: pypto-opt --derive-call-directions -t 'task-graph{function="main" scalars="n=3"}' %s | filecheck %s
// RUN: not pypto-opt --derive-call-directions -t 'task-graph{scalars="n=1000000000"}' %s 2>&1 | filecheck %s --check-prefix MANY

// CHECK:     t2 [label="2: k [2]

// MANY:      too_large.mlir:17:8: error: 'scf.for' op launches at least 1000000000 tasks in 1000000000 trips, and a graph of more than 20000 is not followed: give it smaller bounds to see its graph
// MANY-NEXT: too_large.mlir:14:1: note: the graph is of this function

orch.func incore @k(in tensor<16xf32>, inout tensor<16xf32>) -> tensor<16xf32> returns [1]

orch.func orchestration @main(in %x : tensor<16xf32>, inout %y : tensor<16xf32>, in %n : index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y) -> (tensor<16xf32>) {
    %b = orch.call @k(%x, %a) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    scf.yield %b : tensor<16xf32>
  }
  orch.return
}
