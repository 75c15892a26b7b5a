// Tasks that wait by name for those that touch the same bytes; numbers are those of the reference's
// scenarios.

// RUN: pypto-opt --derive-call-directions --auto-derive-task-dependencies --verify-each --split-input-file --verify-diagnostics %s | filecheck %s
// RUN: pypto-opt --derive-call-directions --auto-derive-task-dependencies --auto-derive-task-dependencies --split-input-file %s | filecheck %s

// 2, 4, 5: read after write, write after write, and write after read, which the runtime would not
// see; it need not look for what is named. All order is named, so one manual scope will do.

orch.func incore @fill(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func incore @use(in tensor<16xf32>, inout tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @straight(in %x : tensor<16xf32>, in %y : tensor<16xf32>, out %buf : tensor<16xf32>, inout %acc : tensor<16xf32>) {
  %b0 = orch.call @fill(%x, %buf) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %a = orch.call @use(%b0, %acc) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %b1 = orch.call @fill(%y, %b0) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return
}

// CHECK-LABEL: @straight(
// CHECK-SAME:    attributes {orch.manual_layer}
// CHECK-NEXT:    %b0, %[[T0:.*]] = orch.submit @fill(input %x, output_existing %buf) :
// CHECK-NEXT:    %a, %[[T1:.*]] = orch.submit @use(no_dep %b0, inout %acc) deps [%[[T0]]] :
// CHECK-NEXT:    %b1, %[[T2:.*]] = orch.submit @fill(input %y, output_existing %b0) deps [%[[T0]], %[[T1]]] :

// -----

// A writer in a loop waits for the reader of the iteration before; who comes after the loop waits
// for all of its tasks: the last is enough where each waits for the one before, else a task that
// does nothing stands for all so far.

orch.func incore @fill(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func incore @use(in tensor<16xf32>, inout tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @loop(in %x : tensor<16xf32>, in %n : index, out %buf : tensor<16xf32>) {
  %one = arith.constant 1 : index
  %b = scf.for %i = %one to %n step %one iter_args(%it = %buf) -> (tensor<16xf32>) {
    %acc = ptensor.create : tensor<16xf32>
    %it1 = orch.call @fill(%x, %it) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %a = orch.call @use(%it1, %acc) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    scf.yield %it1 : tensor<16xf32>
  }
  %b1 = orch.call @fill(%x, %b) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return
}

// CHECK-LABEL: @loop(
// CHECK:         %none = orch.task_invalid
// CHECK-NEXT:    %b, %[[WRITTEN:.*]], %[[ALL_READ:.*]] = scf.for {{.*}} iter_args(%it = %buf, %{{.*}} = %none, %[[READ:.*]] = %none)
// CHECK-NEXT:      %acc = ptensor.create
// CHECK-NEXT:      %it1, %[[W:.*]] = orch.submit @fill(input %x, inout %it) deps [%[[READ]]] :
// CHECK-NEXT:      %a, %[[R:.*]] = orch.submit @use(no_dep %it1, inout %acc) deps [%[[W]]] :
// CHECK-NEXT:      %[[D:.*]] = orch.task_dummy deps [%[[READ]], %[[R]]]
// CHECK-NEXT:      scf.yield %it1, %[[W]], %[[D]] :
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.submit @fill(input %x, inout %b) deps [%[[WRITTEN]], %[[ALL_READ]]] :

// -----

// Tasks are handed out of scopes and branches; there is none of an arm that is not taken.

orch.func incore @fill(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @regions(in %x : tensor<16xf32>, in %c : i1, out %a : tensor<16xf32>, out %b : tensor<16xf32>) {
  %a1 = orch.task_scope auto -> (tensor<16xf32>) {
    %a0 = orch.call @fill(%x, %a) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    orch.yield %a0 : tensor<16xf32>
  }
  scf.if %c {
    %b1 = orch.call @fill(%a1, %b) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  }
  %a2 = orch.call @fill(%x, %a1) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return
}

// CHECK-LABEL: @regions(
// CHECK-NEXT:    %a1, %[[S:.*]] = orch.task_scope auto -> (tensor<16xf32>, !orch.task_id) {
// CHECK:           orch.yield %{{.*}}, %{{.*}} : tensor<16xf32>, !orch.task_id
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[I:.*]] = scf.if %c -> (!orch.task_id) {
// CHECK-NEXT:      %b1, %[[T:.*]] = orch.submit @fill(no_dep %a1, output_existing %b) deps [%[[S]]] :
// CHECK-NEXT:      scf.yield %[[T]] : !orch.task_id
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[N:.*]] = orch.task_invalid
// CHECK-NEXT:      scf.yield %[[N]] : !orch.task_id
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.submit @fill(input %x, output_existing %a1) deps [%[[S]], %[[I]]] :

// -----

// 1, 62: tasks in manual scopes, and arguments for whose order the user answers, are left alone.

orch.func incore @fill(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @by_hand(in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>) {
  orch.task_scope manual {
    %a1, %t = orch.submit @fill(%x, %a) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
    %b1, %u = orch.submit @fill(%a1, %b) deps [%t] : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  }
  orch.return
}

// CHECK-LABEL: @by_hand(
// CHECK:           orch.submit @fill(input %x, output_existing %a) :
// CHECK-NEXT:      orch.submit @fill(input %a1, output_existing %b) deps [%t] :

// -----

// What a while launches has no name outside: the runtime orders who reads it, nobody who writes
// what it reads.

orch.func incore @fill(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @while(in %x : tensor<16xf32>, in %c : i1, out %a : tensor<16xf32>, out %b : tensor<16xf32>) {
  %a0 = orch.call @fill(%x, %a) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %w = scf.while (%it = %b) : (tensor<16xf32>) -> tensor<16xf32> {
    scf.condition(%c) %it : tensor<16xf32>
  } do {
  ^bb0(%it : tensor<16xf32>):
    // expected-note @+1 {{this is launched before}}
    %it1 = orch.call @fill(%a0, %it) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    scf.yield %it1 : tensor<16xf32>
  }
  // expected-remark @+1 {{'orch.call' op has to wait for more than is named, which nothing may see to: it is launched again and again by 'scf.while'}}
  %a1 = orch.call @fill(%x, %a0) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return
}

// CHECK-LABEL: @while(
// CHECK:         } do {
// CHECK:           orch.submit @fill(no_dep %a0, inout %{{.*}}) deps
// CHECK:         orch.submit @fill(input %x, inout %a0) deps
