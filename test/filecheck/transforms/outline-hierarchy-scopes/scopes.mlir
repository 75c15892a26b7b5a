// Work of other levels becomes functions of these levels.

// RUN: pypto-opt --outline-hierarchy-scopes --split-input-file %s | filecheck %s
// RUN: pypto-opt --outline-hierarchy-scopes --outline-hierarchy-scopes --split-input-file %s | filecheck %s

// H1, H2, H3, H14, H17: a level with a role, and without; numbers count scopes; opaque stays.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:    orch.func opaque level global role orchestrator @main_global_orch_0(in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:      %y = ptensor.add
// CHECK-NEXT:      orch.return %y
// CHECK:         orch.func opaque level host role sub_worker @main_host_sub_worker_1(in %y: tensor<64xf32>) -> tensor<64xf32> {
// CHECK:         orch.func opaque level cluster0 @main_cluster0_2(in %z: tensor<64xf32>)
// CHECK:         orch.func opaque @main(
// CHECK-NEXT:      %y = orch.call @main_global_orch_0(%x)
// CHECK-NEXT:      %z = orch.call @main_host_sub_worker_1(%y)
// CHECK-NEXT:      %w = orch.call @main_cluster0_2(%z)
// CHECK-NEXT:      orch.return %w
orch.func opaque @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = orch.hierarchy global orchestrator -> (tensor<64xf32>) {
    %y = ptensor.add %x, %x : tensor<64xf32>
    orch.yield %y : tensor<64xf32>
  }
  %z = orch.hierarchy host sub_worker -> (tensor<64xf32>) {
    %z = ptensor.add %y, %y : tensor<64xf32>
    orch.yield %z : tensor<64xf32>
  }
  %w = orch.hierarchy cluster0 -> (tensor<64xf32>) {
    %w = ptensor.add %z, %z : tensor<64xf32>
    orch.yield %w : tensor<64xf32>
  }
  orch.return %w : tensor<64xf32>
}

// -----

// H4: a scope in a scope: the inner name chains on the outer's, the inner function stands first.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:    orch.func opaque level host role orchestrator @main_global_orch_0_host_orch_0(in %x
// CHECK:         orch.func opaque level global role orchestrator @main_global_orch_0(in %x
// CHECK-NEXT:      %z = orch.call @main_global_orch_0_host_orch_0(%x)
// CHECK-NEXT:      orch.return %z
// CHECK:         orch.func opaque @main(
// CHECK-NEXT:      %y = orch.call @main_global_orch_0(%x)
orch.func opaque @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = orch.hierarchy global orchestrator -> (tensor<64xf32>) {
    %z = orch.hierarchy host orchestrator -> (tensor<64xf32>) {
      %w = ptensor.add %x, %x : tensor<64xf32>
      orch.yield %w : tensor<64xf32>
    }
    orch.yield %z : tensor<64xf32>
  }
  orch.return %y : tensor<64xf32>
}

// -----

// H5, H6, H7, H8: inputs and outputs, what is around, an arm of an if; a scalar may come back.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func opaque level host @main_host_0(in %a: tensor<64xf32>, in %b: tensor<64xf32>, in %n: index) -> (tensor<64xf32>, index) {
// CHECK-NEXT:      %s = ptensor.add %a, %b
// CHECK-NEXT:      %m = arith.addi %n, %n
// CHECK-NEXT:      orch.return %s, %m
// CHECK:         orch.func opaque @main(
// CHECK-NEXT:      %a = ptensor.mul
// CHECK-NEXT:      [[R:%.*]], [[N:%.*]] = scf.if %c -> (tensor<64xf32>, index) {
// CHECK-NEXT:        [[S:%.*]], [[M:%.*]] = orch.call @main_host_0(%a, %b, %n)
// CHECK-NEXT:        scf.yield [[S]], [[M]]
// CHECK:           %z = ptensor.sub [[R]], %b
orch.func opaque @main(in %b : tensor<64xf32>, in %c : i1, in %n : index) -> (tensor<64xf32>, index) {
  %a = ptensor.mul %b, %b : tensor<64xf32>
  %r, %k = scf.if %c -> (tensor<64xf32>, index) {
    %p, %q = orch.hierarchy host -> (tensor<64xf32>, index) {
      %s = ptensor.add %a, %b : tensor<64xf32>
      %m = arith.addi %n, %n : index
      orch.yield %s, %m : tensor<64xf32>, index
    }
    scf.yield %p, %q : tensor<64xf32>, index
  } else {
    scf.yield %b, %n : tensor<64xf32>, index
  }
  %z = ptensor.sub %r, %b : tensor<64xf32>
  orch.return %z, %k : tensor<64xf32>, index
}

// -----

// H9, H10: tasks.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func opaque @main(
// CHECK-NEXT:      %y, %t = orch.submit @main_host_0(%x) : (tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
// CHECK-NEXT:      %z, %u = orch.submit @main_host_1(%y) deps [%t] : (tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
orch.func opaque @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y, %t = orch.hierarchy host -> (tensor<64xf32>) as task {
    %y = ptensor.add %x, %x : tensor<64xf32>
    orch.yield %y : tensor<64xf32>
  }
  %z, %u = orch.hierarchy host deps [%t] -> (tensor<64xf32>) as task {
    %z = ptensor.add %y, %y : tensor<64xf32>
    orch.yield %z : tensor<64xf32>
  }
  orch.return %z : tensor<64xf32>
}

// -----

// H11, H12, H13: other scopes are not this pass's work. H15: nor are functions that are not opaque.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:    orch.func opaque @main(
// CHECK-NEXT:      orch.incore {
// CHECK:           orch.cluster {
// CHECK:         orch.func orchestration @other(
// CHECK-NEXT:      orch.hierarchy host {
orch.func opaque @main(in %x : tensor<64xf32>) {
  orch.incore { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.cluster { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}
orch.func orchestration @other(in %x : tensor<64xf32>) {
  orch.hierarchy host { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}

// -----

// H16: numbers start anew in each function.
// CHECK-LABEL: builtin.module
// CHECK:         level host @f_host_0(
// CHECK:         level host @g_host_0(
orch.func opaque @f(in %x : tensor<64xf32>) {
  orch.hierarchy host { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}
orch.func opaque @g(in %x : tensor<64xf32>) {
  orch.hierarchy host { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}

// -----

// A written tensor comes back only if it is used: the caller sees it anyway. The target of a plain
// store stays an input; every other write makes it more.
// CHECK-LABEL: builtin.module
// CHECK:         level host @main_host_0(in %x: tensor<64xf32>, in %out: tensor<64xf32>) {
// CHECK:         level host @main_host_1(in %x: tensor<64xf32>, in %out: tensor<64xf32>, out %b: tensor<64xf32>) -> tensor<64xf32> {
// CHECK:           orch.return %out
// CHECK:         orch.func opaque @main(
// CHECK-NEXT:      orch.call @main_host_0(%x, %out) : (tensor<64xf32>, tensor<64xf32>) -> ()
// CHECK-NEXT:      %o = orch.call @main_host_1(%x, %out, %b)
// CHECK-NEXT:      orch.return %o
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>, out %b : tensor<64xf32>)
    -> tensor<64xf32> {
  orch.hierarchy host {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
  }
  %o, %p = orch.hierarchy host -> (tensor<64xf32>, tensor<64xf32>) {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %o = tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    %p = ptensor.assemble %x, %b[0] : tensor<64xf32>, tensor<64xf32>
    orch.yield %o, %p : tensor<64xf32>, tensor<64xf32>
  }
  orch.return %o : tensor<64xf32>
}
