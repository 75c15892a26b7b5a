// A task that does nothing, between many that end and many that start; numbers are those of the
// reference's scenarios.

// RUN: pypto-opt --expand-manual-phase-fence --verify-each --split-input-file --verify-diagnostics %s | filecheck %s
// RUN: pypto-opt --expand-manual-phase-fence --expand-manual-phase-fence --split-input-file %s | filecheck %s

// 1, 2, 25: four tasks, each of which waits for four; a task of the user's that does nothing either
// stays, with what it waits for.

orch.func incore @k(in tensor<16xf32>)
orch.func orchestration @phases(in %x : tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  orch.task_scope manual {
    %none = orch.array.create : !orch.array<4x!orch.task_id>
    %all = scf.for %i = %c0 to %c4 step %c1 iter_args(%some = %none) -> (!orch.array<4x!orch.task_id>) {
      %t = orch.submit @k(input %x) : (tensor<16xf32>) -> !orch.task_id
      %more = orch.array.update_element %t, %some[%i] : !orch.task_id, !orch.array<4x!orch.task_id>
      scf.yield %more : !orch.array<4x!orch.task_id>
    } {orch.loop = #orch<loop parallel>}
    %own = orch.task_dummy deps [%all : !orch.array<4x!orch.task_id>]
    scf.for %i = %c0 to %c4 step %c1 {
      %t = orch.submit @k(input %x) deps [%all : !orch.array<4x!orch.task_id>] launch %c4 : (tensor<16xf32>) -> !orch.task_id
    } {orch.loop = #orch<loop parallel>}
  }
  orch.return
}

// CHECK-LABEL: @phases(
// CHECK:         %all = scf.for
// CHECK:           orch.submit @k(input %x) : (tensor<16xf32>) -> !orch.task_id
// CHECK:         %own = orch.task_dummy deps [%all : !orch.array<4x!orch.task_id>]
// CHECK-NEXT:    [[F:%.*]] = orch.task_dummy deps [%all : !orch.array<4x!orch.task_id>]
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      orch.submit @k(input %x) deps [[[F]]] launch %c4 :

// -----

// 24, 27 to 29: three wait for three; as far out as it pays, once for all that waits for one array;
// a branch counts as if it were taken.

orch.func incore @k(in tensor<16xf32>)
orch.func orchestration @nests(in %x : tensor<16xf32>, in %n : index, in %c : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  orch.task_scope manual {
    %a = orch.array.create : !orch.array<3x!orch.task_id>
    %b = orch.array.create : !orch.array<4x!orch.task_id>
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c3 step %c1 {
        %t = orch.submit @k(input %x) deps [%a : !orch.array<3x!orch.task_id>] : (tensor<16xf32>) -> !orch.task_id
      } {orch.loop = #orch<loop parallel>}
    }
    scf.for %i = %c0 to %c3 step %c1 {
      scf.if %c {
        %t = orch.submit @k(input %x) deps [%b : !orch.array<4x!orch.task_id>] : (tensor<16xf32>) -> !orch.task_id
      }
      %u = orch.submit @k(input %x) deps [%a : !orch.array<3x!orch.task_id>] : (tensor<16xf32>) -> !orch.task_id
      %v = orch.submit @k(input %x) deps [%b : !orch.array<4x!orch.task_id>] : (tensor<16xf32>) -> !orch.task_id
    }
  }
  orch.return
}

// CHECK-LABEL: @nests(
// CHECK:         %b = orch.array.create
// CHECK-NEXT:    %[[F0:.*]] = orch.task_dummy deps [%a : !orch.array<3x!orch.task_id>]
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        orch.submit @k(input %x) deps [%[[F0]]]
// CHECK:         %[[F1:.*]] = orch.task_dummy deps [%b : !orch.array<4x!orch.task_id>]
// CHECK-NEXT:    %[[F2:.*]] = orch.task_dummy deps [%a : !orch.array<3x!orch.task_id>]
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        deps [%[[F1]]]
// CHECK-NEXT:      }
// CHECK-NEXT:      deps [%[[F2]]]
// CHECK-NEXT:      deps [%[[F1]]]

// -----

// 9, 30: what stays although it might pay, and why.

orch.func incore @k(in tensor<16xf32>)
orch.func orchestration @kept(in %x : tensor<16xf32>, in %n : index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  orch.task_scope manual {
    %all = orch.array.create : !orch.array<4x!orch.task_id>
    // expected-remark @+1 {{'scf.for' op its tasks wait for 4 tasks of %all each: a fence would pay, but the loop updates the array}}
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%some = %all) -> (!orch.array<4x!orch.task_id>) {
      %t = orch.submit @k(input %x) deps [%all : !orch.array<4x!orch.task_id>] : (tensor<16xf32>) -> !orch.task_id
      // expected-note @+1 {{it is updated here}}
      %more = orch.array.update_element %t, %some[%i] : !orch.task_id, !orch.array<4x!orch.task_id>
      scf.yield %more : !orch.array<4x!orch.task_id>
    } {orch.loop = #orch<loop parallel>}
    // expected-remark @+1 {{'scf.for' op its tasks wait for 4 tasks of %all each: a fence may pay, but how often the parallel loop runs is not known}}
    scf.for %i = %c0 to %n step %c1 {
      %t = orch.submit @k(input %x) deps [%all : !orch.array<4x!orch.task_id>] : (tensor<16xf32>) -> !orch.task_id
    } {orch.loop = #orch<loop parallel>}
  }
  orch.return
}

// CHECK-LABEL: @kept(
// CHECK-NOT:     orch.task_dummy
