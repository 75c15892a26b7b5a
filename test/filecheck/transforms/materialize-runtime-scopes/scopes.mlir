// Auto scopes around the bodies of orchestration functions, of loops and of branches.

// RUN: pypto-opt --derive-call-directions --materialize-runtime-scopes --verify-each --split-input-file --verify-diagnostics %s | filecheck %s
// RUN: pypto-opt --derive-call-directions --materialize-runtime-scopes --materialize-runtime-scopes --split-input-file %s | filecheck %s

// A body with a loop, and what the loop hands on (1, 7: run twice, nothing more happens).

orch.func incore @k(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @loop(in %x : tensor<64xf32>, in %n : index, out %y : tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%it = %y) -> (tensor<64xf32>) {
    %y1 = orch.call @k(%x, %it) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %y1 : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}

// CHECK-LABEL: @loop(
// CHECK-SAME:    attributes {auto_scope = false}
// CHECK-NEXT:    [[S:%.*]] = orch.task_scope auto -> (tensor<64xf32>) {
// CHECK-NEXT:      [[R:%.*]] = scf.for %i = %n to %n step %n iter_args(%it = %y) -> (tensor<64xf32>) {
// CHECK-NEXT:        [[Y:%.*]] = orch.task_scope auto -> (tensor<64xf32>) {
// CHECK-NEXT:          [[Y1:%.*]] = orch.call @k(input %x, inout %it)
// CHECK-NEXT:          orch.yield [[Y1]] : tensor<64xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:        scf.yield [[Y]] : tensor<64xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      orch.yield [[R]] : tensor<64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return [[S]] : tensor<64xf32>

// -----

// 2, 3: each arm; an arm with nothing in it, and no else. A while has none in its regions.

orch.func incore @k(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @branches(in %x : tensor<64xf32>, in %c : i1, out %y : tensor<64xf32>) -> tensor<64xf32> {
  %m = scf.if %c -> (tensor<64xf32>) {
    %y1 = orch.call @k(%x, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %y1 : tensor<64xf32>
  } else {
    scf.yield %y : tensor<64xf32>
  }
  scf.if %c {
    %t = ptensor.create : tensor<64xf32>
  }
  %w = scf.while (%b = %m) : (tensor<64xf32>) -> tensor<64xf32> {
    scf.condition(%c) %b : tensor<64xf32>
  } do {
  ^bb0(%a : tensor<64xf32>):
    %a1 = orch.call @k(%x, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %a1 : tensor<64xf32>
  }
  orch.return %w : tensor<64xf32>
}

// CHECK-LABEL: @branches(
// CHECK-NEXT:    orch.task_scope auto
// CHECK-NEXT:      scf.if %c
// CHECK-NEXT:        orch.task_scope auto
// CHECK-NEXT:          orch.call @k
// CHECK-NEXT:          orch.yield
// CHECK-NEXT:        }
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %y
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.if %c {
// CHECK-NEXT:        orch.task_scope auto {
// CHECK-NEXT:          ptensor.create
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.while
// CHECK-NEXT:        scf.condition
// CHECK-NEXT:      } do {
// CHECK-NEXT:      ^bb0
// CHECK-NEXT:        orch.call @k

// -----

// 4 to 6: inside a manual scope there are none.

orch.func incore @k(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @manual(in %x : tensor<64xf32>, in %n : index, out %y : tensor<64xf32>) {
  orch.task_scope manual {
    scf.for %i = %n to %n step %n {
      scf.for %j = %n to %n step %n {
        %y1, %t = orch.submit @k(%x, %y) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
      }
    }
  }
  orch.return
}

// CHECK-LABEL: @manual(
// CHECK-NEXT:    orch.task_scope auto {
// CHECK-NEXT:      orch.task_scope manual {
// CHECK-NEXT:        scf.for %i
// CHECK-NEXT:          scf.for %j
// CHECK-NEXT:            orch.submit

// -----

// 8 to 10: who has its scopes already, and functions of other kinds.

orch.func orchestration @placed(in %n : index) attributes {auto_scope = false} {
  orch.task_scope auto {
    scf.for %i = %n to %n step %n {
      %t = orch.task_dummy
    }
  }
  orch.return
}
orch.func orchestration @whole_body(in %n : index) {
  orch.task_scope auto {
    %t = orch.task_dummy
  }
  orch.return
}
orch.func group @group(in %n : index) {
  scf.for %i = %n to %n step %n {
    %t = orch.task_dummy
  }
  orch.return
}
orch.func orchestration @task(in %n : index) -> index {
  %t = orch.task_dummy
  %u = orch.task_dummy deps [%t]
  orch.return %n : index
}

// CHECK-LABEL: @placed(
// CHECK-NEXT:    orch.task_scope auto {
// CHECK-NEXT:      scf.for %i
// CHECK-NEXT:        orch.task_dummy
// CHECK-LABEL: @whole_body(
// CHECK-NEXT:    orch.task_scope auto {
// CHECK-NEXT:      orch.task_dummy
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return
// CHECK-LABEL: @group(
// CHECK-NEXT:    scf.for %i
// CHECK-NEXT:      orch.task_dummy
// CHECK-LABEL: @task(
// CHECK-NEXT:    orch.task_scope auto {
// CHECK-NEXT:      %t = orch.task_dummy
// CHECK-NEXT:      %u = orch.task_dummy deps [%t]
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return %n

// -----

// A function in which all order of tasks is named has one manual scope, and none inside.

orch.func orchestration @named(in %n : index, in %c : i1) -> index attributes {orch.manual_layer} {
  %t = orch.task_dummy
  scf.if %c {
    %u = orch.task_dummy deps [%t]
  }
  scf.for %i = %n to %n step %n {
    %u = orch.task_dummy deps [%t]
  }
  orch.return %n : index
}

// CHECK-LABEL: @named(
// CHECK-SAME:    attributes {auto_scope = false}
// CHECK-NEXT:    orch.task_scope manual {
// CHECK-NEXT:      %t = orch.task_dummy
// CHECK-NEXT:      scf.if %c {
// CHECK-NEXT:        orch.task_dummy deps [%t]
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        orch.task_dummy deps [%t]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return %n
