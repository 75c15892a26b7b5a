// Functions, calls and submits, scopes, tasks and arrays in custom form, in generic form, and from
// one to the other.

// RUN: pypto-opt %s | pypto-opt | filecheck %s
// RUN: pypto-opt %s --print-op-generic | pypto-opt | filecheck %s


// CHECK: orch.func incore @kernel(in %x: tensor<16xf32>, out %a: tensor<16xf32>, out %b: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
orch.func incore @kernel(in %x: tensor<16xf32>, out %a: tensor<16xf32>, out %b: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  // CHECK-NEXT: %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  // CHECK-NEXT: %b1 = tile.store %t, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  %b1 = tile.store %t, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  // CHECK-NEXT: %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  // CHECK-NEXT: orch.return %b1, %a1 : tensor<16xf32>, tensor<16xf32>
  orch.return %b1, %a1 : tensor<16xf32>, tensor<16xf32>
// CHECK-NEXT: }
}

// CHECK: orch.func incore @lowered(in tensor<16xf32>, out tensor<16xf32>, in index) -> tensor<16xf32> returns [1] implemented_by @unit::@lowered
orch.func incore @lowered(in tensor<16xf32>, out tensor<16xf32>, in index) -> tensor<16xf32> returns [1] implemented_by @unit::@lowered

// CHECK: orch.func private opaque level host role sub_worker @main(in %x: tensor<16xf32>, inout %f: tensor<4x1xi32>, in %n: index) -> tensor<16xf32> attributes {note} {
orch.func private opaque level host role sub_worker @main(in %x: tensor<16xf32>, inout %f: tensor<4x1xi32>, in %n: index) -> tensor<16xf32> attributes {note} {
  // CHECK-NEXT: %c = ptensor.create : tensor<16xf32>
  %c = ptensor.create : tensor<16xf32>
  // CHECK-NEXT: %d = ptensor.create : tensor<16xf32>
  %d = ptensor.create : tensor<16xf32>
  // CHECK-NEXT: %none = orch.task_invalid
  %none = orch.task_invalid
  // CHECK-NEXT: %ids = orch.array.create : !orch.array<4x!orch.task_id>
  %ids = orch.array.create : !orch.array<4x!orch.task_id>
  // CHECK-NEXT: %ids1 = orch.array.update_element %none, %ids[%n] : !orch.task_id, !orch.array<4x!orch.task_id>
  %ids1 = orch.array.update_element %none, %ids[%n] : !orch.task_id, !orch.array<4x!orch.task_id>
  // CHECK-NEXT: %e = orch.array.get_element %ids1[%n] : !orch.array<4x!orch.task_id>
  %e = orch.array.get_element %ids1[%n] : !orch.array<4x!orch.task_id>
  // CHECK-NEXT: %dummy = orch.task_dummy deps [%none, %ids1 : !orch.array<4x!orch.task_id>]
  %dummy = orch.task_dummy deps [%none, %ids1 : !orch.array<4x!orch.task_id>]
  // CHECK-NEXT: %valid = orch.task_is_valid %dummy
  %valid = orch.task_is_valid %dummy
  // CHECK-NEXT: %rb, %ra = orch.call @kernel(input %x, output_existing %c, inout %d) no_dep [1] dump [0] launch %n sync_start {a = 1 : i32} : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %rb, %ra = orch.call @kernel(input %x, output_existing %c, inout %d) no_dep [1] dump [0] launch %n sync_start {a = 1 : i32} : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  // CHECK-NEXT: %s, %st = orch.submit @lowered(%x, %ra, %n) deps [%e] launch %n predicate(%f[%n, 0] gt 0 : tensor<4x1xi32>) early_resolve : (tensor<16xf32>, tensor<16xf32>, index) -> (tensor<16xf32>, !orch.task_id)
  %s, %st = orch.submit @lowered(%x, %ra, %n) deps [%e] launch %n predicate(%f[%n, 0] gt 0 : tensor<4x1xi32>) early_resolve : (tensor<16xf32>, tensor<16xf32>, index) -> (tensor<16xf32>, !orch.task_id)
  // CHECK-NEXT: %y, %yt = orch.incore split up_down slots 4 "k" deps [%st] no_dep [%x : tensor<16xf32>] cache [bypass %x : tensor<16xf32>] -> (tensor<16xf32>) as task attributes {zz} {
  %y, %yt = orch.incore split up_down slots 4 "k" deps [%st] no_dep [%x : tensor<16xf32>] cache [bypass %x : tensor<16xf32>] -> (tensor<16xf32>) as task attributes {zz} {
    // CHECK-NEXT: %k = ptensor.add %x, %s : tensor<16xf32>
    %k = ptensor.add %x, %s : tensor<16xf32>
    // CHECK-NEXT: orch.yield %k : tensor<16xf32>
    orch.yield %k : tensor<16xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %w = orch.spmd launch %n as task {
  %w = orch.spmd launch %n as task {
    // CHECK-NEXT: orch.task_scope manual {
    orch.task_scope manual {
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %q = orch.split_aiv %core mode left_right -> (tensor<16xf32>) {
    %q = orch.split_aiv %core mode left_right -> (tensor<16xf32>) {
      // CHECK-NEXT: orch.yield %x : tensor<16xf32>
      orch.yield %x : tensor<16xf32>
    // CHECK-NEXT: }
    }
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: orch.hierarchy host sub_worker {
  orch.hierarchy host sub_worker {
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: orch.cluster {
  orch.cluster {
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: scf.for %i = %n to %n step %n {
  scf.for %i = %n to %n step %n {
  // CHECK-NEXT: } {orch.loop = #orch<loop parallel>}
  } {orch.loop = #orch<loop parallel>}
  // CHECK-NEXT: orch.return %y : tensor<16xf32>
  orch.return %y : tensor<16xf32>
// CHECK-NEXT: }
}

// CHECK: orch.func orchestration @chip() {
orch.func orchestration @chip() {
  // CHECK-NEXT: %v = orch.available_aiv_count
  %v = orch.available_aiv_count
  // CHECK-NEXT: %c = orch.available_cluster_count
  %c = orch.available_cluster_count
  // CHECK-NEXT: orch.return
  orch.return
}
