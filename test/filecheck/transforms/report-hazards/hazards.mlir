// Tasks that touch the same bytes while nothing orders them.

// RUN: pypto-opt --derive-call-directions --report-hazards --split-input-file --verify-diagnostics %s

// D11: the next writer of %t does not wait for who still reads it. With `deps` it does.

orch.func incore @fill(in tensor<32x32xf32>, out tensor<32x32xf32>) -> tensor<32x32xf32> returns [1]
orch.func orchestration @write_after_read(in %x : tensor<32x32xf32>, in %y : tensor<32x32xf32>, out %a : tensor<32x32xf32>, out %b : tensor<32x32xf32>) {
  %t = ptensor.create : tensor<32x32xf32>
  %t1 = orch.call @fill(%x, %t) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  // expected-note @+1 {{'fill' is launched here}}
  %a1 = orch.call @fill(%t1, %a) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %b1, %read = orch.submit @fill(%t1, %b) : (tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<32x32xf32>, !orch.task_id)
  // expected-warning @+1 {{'orch.submit' op writes %t while 'fill' may still read it: nothing orders the two}}
  %t2, %written = orch.submit @fill(%y, %t1) deps [%read] : (tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<32x32xf32>, !orch.task_id)
  orch.return
}

// -----

// Two trips of a parallel loop that write the same bytes; windows that do not meet are fine.

orch.func incore @fill(in tensor<32x32xf32>, out tensor<32x32xf32>) -> tensor<32x32xf32> returns [1]
orch.func orchestration @parallel(in %x : tensor<32x32xf32>, out %a : tensor<32x32xf32>, out %b : tensor<128x32xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %rows = arith.constant 32 : index
  %r = scf.for %i = %zero to %four step %one iter_args(%a0 = %a) -> (tensor<32x32xf32>) {
    // expected-warning @+1 {{writes %a while the same call in another trip of the loop may still write it: nothing orders the two}}
    %a1 = orch.call @fill(%x, %a0) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %a1 : tensor<32x32xf32>
  } {orch.loop = #orch<loop parallel>}
  scf.for %i = %zero to %four step %one {
    %row = arith.muli %i, %rows : index
    %w = ptensor.slice %b[%row, 0] : tensor<128x32xf32> -> tensor<32x32xf32>
    %w1 = orch.call @fill(%x, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  } {orch.loop = #orch<loop parallel>}
  orch.return
}

// -----

// Windows whose place only a run knows may meet.

orch.func incore @fill(in tensor<32x32xf32>, out tensor<32x32xf32>) -> tensor<32x32xf32> returns [1]
orch.func orchestration @unknown_windows(in %x : tensor<32x32xf32>, in %n : index, out %b : tensor<128x32xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  scf.for %i = %zero to %four step %one {
    %row = arith.muli %i, %n : index
    %w = ptensor.slice %b[%row, 0] : tensor<128x32xf32> -> tensor<32x32xf32>
    // expected-warning @+1 {{writes %b while the same call in another trip of the loop may still write it}}
    %w1 = orch.call @fill(%x, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  } {orch.loop = #orch<loop parallel>}
  orch.return
}

// -----

// In a manual scope only the dependencies that are spelled out order tasks; an argument marked
// no_dep likewise.

orch.func incore @fill(in tensor<32x32xf32>, out tensor<32x32xf32>) -> tensor<32x32xf32> returns [1]
orch.func orchestration @by_hand(in %x : tensor<32x32xf32>, out %a : tensor<32x32xf32>, out %b : tensor<32x32xf32>, out %c : tensor<32x32xf32>) {
  %a3 = orch.task_scope manual -> (tensor<32x32xf32>) {
    // expected-note @+1 {{'fill' is launched here}}
    %a1, %t = orch.submit @fill(%x, %a) : (tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<32x32xf32>, !orch.task_id)
    %b1, %u = orch.submit @fill(%a1, %b) deps [%t] : (tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<32x32xf32>, !orch.task_id)
    orch.yield %a1 : tensor<32x32xf32>
  }
  // expected-warning @+1 {{reads %a while 'fill' may still write it: nothing orders the two}}
  %c1 = orch.call @fill(%a3, %c) no_dep [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  orch.return
}

// -----

// What the orchestrator itself waits for is done: reading an element orders what follows.

orch.func incore @fill(in tensor<32x32xf32>, out tensor<32x32xf32>) -> tensor<32x32xf32> returns [1]
orch.func orchestration @host_reads(in %x : tensor<32x32xf32>, in %y : tensor<32x32xf32>, out %a : tensor<32x32xf32>) {
  %t = ptensor.create : tensor<32x32xf32>
  %t1 = orch.call @fill(%x, %t) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %a1 = orch.call @fill(%t1, %a) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %e = ptensor.read %a1[0, 0] : tensor<32x32xf32> -> f32
  %t2 = orch.call @fill(%y, %t1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  orch.return
}

// -----

// Before the orchestrator writes what the caller passed, it waits for writers only. It does wait
// for the readers of what it allocated itself, and the elements that it writes may be others.

orch.func incore @fill(in tensor<32x32xf32>, out tensor<32x32xf32>) -> tensor<32x32xf32> returns [1]
orch.func orchestration @host_writes(inout %x : tensor<32x32xf32>, inout %y : tensor<64x32xf32>, out %a : tensor<32x32xf32>, out %b : tensor<32x32xf32>, in %f : f32) {
  // expected-note @+1 {{'fill' is launched here}}
  %a1 = orch.call @fill(%x, %a) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  // expected-warning @+1 {{'ptensor.write' op writes %x while 'fill' may still read it: nothing orders the two: the orchestrator does not wait for who only reads what the caller passed}}
  %x1 = ptensor.write %f, %x[0, 0] : f32, tensor<32x32xf32>
  %t = ptensor.create : tensor<32x32xf32>
  %t1 = orch.call @fill(%x1, %t) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %a2 = orch.call @fill(%t1, %a1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %t2 = ptensor.write %f, %t1[0, 0] : f32, tensor<32x32xf32>
  %top = ptensor.slice %y[0, 0] : tensor<64x32xf32> -> tensor<32x32xf32>
  %b1 = orch.call @fill(%top, %b) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %y1 = ptensor.write %f, %y[32, 0] : f32, tensor<64x32xf32>
  orch.return
}

// -----

// The orchestrator does not see what a task of a manual scope writes.

orch.func incore @fill(in tensor<32x32xf32>, out tensor<32x32xf32>) -> tensor<32x32xf32> returns [1]
orch.func orchestration @host_after_manual(in %x : tensor<32x32xf32>, out %a : tensor<32x32xf32>) {
  %a2 = orch.task_scope manual -> (tensor<32x32xf32>) {
    // expected-note @+1 {{'fill' is launched here}}
    %a1, %t = orch.submit @fill(%x, %a) : (tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<32x32xf32>, !orch.task_id)
    orch.yield %a1 : tensor<32x32xf32>
  }
  // expected-warning @+1 {{'ptensor.read' op reads %a while 'fill' may still write it: nothing orders the two: a task of a manual scope is waited for by deps only}}
  %e = ptensor.read %a2[0, 0] : tensor<32x32xf32> -> f32
  orch.return
}

// -----

// The tasks of a graph are derived without regard to its callers: its first writer of an `out`
// parameter does not wait for what its caller had written there. Declared `inout`, it does.

orch.func incore @fill(in tensor<32x32xf32>, out tensor<32x32xf32>) -> tensor<32x32xf32> returns [1]
orch.func graph @writes(in %x : tensor<32x32xf32>, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-warning @+1 {{'orch.call' op writes %a while 'fill' may still write it: nothing orders the two: an output_existing argument does not wait}}
  %o1 = orch.call @fill(%x, %o) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  orch.return %o : tensor<32x32xf32>
}
orch.func graph @updates(in %x : tensor<32x32xf32>, inout %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %o1 = orch.call @fill(%x, %o) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  orch.return %o : tensor<32x32xf32>
}
orch.func orchestration @calls_graphs(in %x : tensor<32x32xf32>, out %a : tensor<32x32xf32>, out %b : tensor<32x32xf32>) {
  // expected-note @+1 {{'fill' is launched here}}
  %a1 = orch.call @fill(%x, %a) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %a2 = orch.call @writes(%x, %a1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %b1 = orch.call @fill(%x, %b) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %b2 = orch.call @updates(%x, %b1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  orch.return
}
