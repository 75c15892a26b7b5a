// The task graph as DOT and as JSON; each edge says because of which buffer, and why.

// RUN: pypto-opt --derive-call-directions -t task-graph %s | filecheck %s --check-prefix DOT
// RUN: pypto-opt --derive-call-directions -t 'task-graph{format="json"}' %s | filecheck %s --check-prefix JSON
// RUN: pypto-opt --derive-call-directions -t 'task-graph{format="json"}' %s | python -m json.tool > %t
// RUN: pypto-opt --derive-call-directions -t 'task-graph{function="main" scalars="n=3" allocations=true}' %s | filecheck %s --check-prefix EXACT
// RUN: pypto-opt --derive-call-directions -t 'task-graph{function="many"}' %s | filecheck %s --check-prefix MANY
// RUN: pypto-opt --derive-call-directions -t 'task-graph{function="many" tasks="each"}' %s | filecheck %s --check-prefix EACH
// RUN: not pypto-opt --derive-call-directions -t 'task-graph{function="man"}' %s 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: not pypto-opt --derive-call-directions -t 'task-graph{scalars="n:3"}' %s 2>&1 | filecheck %s --check-prefix SCALARS
// RUN: not pypto-opt -t task-graph %s 2>&1 | filecheck %s --check-prefix DIRECTIONS

orch.func incore @fill(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func incore @update(in tensor<64xf32>, inout tensor<64xf32>) -> tensor<64xf32> returns [1]

orch.func orchestration @main(in %x : tensor<64xf32>, in %n : index, out %o : tensor<64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = ptensor.create : tensor<64xf32>
  %t1, %id = orch.submit @fill(%x, %t) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
  %r = scf.for %i = %zero to %n step %one iter_args(%it = %o) -> (tensor<64xf32>) {
    %o1 = orch.call @update(%t1, %it) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %o1 : tensor<64xf32>
  }
  %d = orch.task_dummy deps [%id]
  orch.return
}

// DOT-LABEL: digraph "main" {
// DOT:         t1 [label="1: fill\n{{.*}}graph.mlir:20:14"];
// DOT-NEXT:    t2 [label="2: update [0]\n{{.*}}graph.mlir:22:11", style=dashed];
// DOT-NEXT:    t3 [label="3: update [1]\n{{.*}}graph.mlir:22:11", style=dashed];
// DOT-NEXT:    t4 [label="4: dummy\n{{.*}}graph.mlir:25:8"];
// DOT-NEXT:    t1 -> t2 [label="%t", tooltip="reads %t1, which it writes"];
// DOT-NEXT:    t1 -> t3 [label="%t", tooltip="reads %t1, which it writes"];
// DOT-NEXT:    t2 -> t3 [label="%o", tooltip="updates %it, which it writes", style=dashed];
// DOT-NEXT:    t1 -> t4 [label="deps", tooltip="named in deps", style=bold];
// DOT-NEXT:  }

// JSON:        {"functions": [
// JSON-NEXT:   {"name": "main",
// JSON-NEXT:     "tasks": [
// JSON-NEXT:     {"id": 1, "callee": "fill", "location": "{{.*}}graph.mlir:20:14", "conditional": false, "manual": false, "ring": 0, "arguments": [{"name": "%x", "direction": "input", "buffer": "%x", "start": 0, "shape": [64], "strides": [1]}, {"name": "%t", "direction": "output_existing", "buffer": "%t", "start": 0, "shape": [64], "strides": [1]}]},
// JSON-NEXT:     {"id": 2, "callee": "update", "location": "{{.*}}graph.mlir:22:11", "trips": [0], "conditional": true,
// JSON:          "edges": [
// JSON-NEXT:     {"producer": 1, "consumer": 2, "kind": "map", "buffer": "%t", "why": "reads %t1, which it writes", "certain": true, "retains": false},
// JSON:          {"producer": 1, "consumer": 4, "kind": "explicit", "buffer": null, "why": "named in deps", "certain": true, "retains": true}]}

// With the value of %n the loop is followed exactly; the allocation of %t is a task, too.

// EXACT:       t0 [label="0: alloc\n{{.*}}graph.mlir:19:8"];
// EXACT:       t2 [label="2: update [0]\n{{.*}}graph.mlir:22:11"];
// EXACT-NEXT:  t3 [label="3: update [1]\n
// EXACT-NEXT:  t4 [label="4: update [2]\n
// EXACT-NEXT:  t5 [label="5: dummy\n
// EXACT-NEXT:  t0 -> t1 [label="%t", tooltip="allocates %t"];
// EXACT:       t3 -> t4 [label="%o", tooltip="updates %it, which it writes"];
// EXACT:       t1 -> t5 [label="deps", tooltip="named in deps", style=bold];

// Many tasks are shown call by call.

orch.func orchestration @many(in %x : tensor<64xf32>, out %o : tensor<64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %hundred = arith.constant 100 : index
  %o1 = orch.call @fill(%x, %o) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %r = scf.for %i = %zero to %hundred step %one iter_args(%it = %o1) -> (tensor<64xf32>) {
    %o2 = orch.call @update(%x, %it) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %o2 : tensor<64xf32>
  }
  orch.return
}

// MANY-LABEL: digraph "many" {
// MANY:         t0 [label="0: fill\n{{.*}}"];
// MANY-NEXT:    t1 [label="1: update x100\n{{.*}}"];
// MANY-NEXT:    t0 -> t1 [label="%o", tooltip="updates %it, which it writes"];
// MANY-NEXT:    t1 -> t1 [label="%o x99", tooltip="updates %it, which it writes"];
// MANY-NEXT:  }

// EACH:         t100 [label="100: update [99]\n{{.*}}"];
// EACH-NEXT:    t0 -> t1 [label="%o",
// EACH:         t99 -> t100 [label="%o",

// UNKNOWN: error: {{.*}} has no function 'man' with a body; did you mean 'ma
// SCALARS: error: {{.*}} scalars are given as 'n=4,m=2', not as 'n:3'
// DIRECTIONS: error: target 'task-graph' requires property CallDirectionsResolved
// DIRECTIONS: note: run 'derive-call-directions' first
