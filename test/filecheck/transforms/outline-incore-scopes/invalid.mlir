// What cannot become a kernel, and what to write instead.

// RUN: pypto-opt --outline-incore-scopes --verify-diagnostics --split-input-file %s

// E-S10: a scalar that only the device knows.
orch.func opaque @main(in %x : tensor<4x64xf32>) -> index {
  // expected-error @+2 {{'orch.incore' op yields the scalar %n, which only the device knows: a kernel returns tensors}}
  // expected-note @+1 {{write it to a tensor of one element and read that with ptensor.read after the scope, or compute it before the scope}}
  %n = orch.incore -> (index) {
    %c1 = arith.constant 1 : index
    %i = tile.get_block_idx : index // expected-note {{%n is computed from this}}
    %j = arith.addi %i, %c1 : index
    orch.yield %j : index
  }
  orch.return %n : index
}

// -----

// E-S11: an element of a tensor; both scalars of two scopes are reported.
orch.func opaque @main(in %x : tensor<64xf32>, in %c : i1) -> (f32, i32) {
  // expected-error @+2 {{yields the scalar %v, which only the device knows}}
  // expected-note @+1 {{write it to a tensor of one element}}
  %v = orch.incore -> (f32) {
    %e = ptensor.read %x[0] : tensor<64xf32> -> f32 // expected-note {{%v is computed from this}}
    %w = arith.addf %e, %e : f32
    orch.yield %w : f32
  }
  // The result of an if is no top-level expression.
  // expected-error @+2 {{yields the scalar %n, which only the device knows}}
  // expected-note @+1 {{write it to a tensor of one element}}
  %n = orch.incore -> (i32) {
    // expected-note @+1 {{%n is computed from this}}
    %m = scf.if %c -> (i32) {
      %one = arith.constant 1 : i32
      scf.yield %one : i32
    } else {
      %two = arith.constant 2 : i32
      scf.yield %two : i32
    }
    orch.yield %m : i32
  }
  orch.return %v, %n : f32, i32
}

// -----

orch.func opaque @main(in %x : tensor<64xf32>, in %w : tensor<64xf32>) {
  // expected-error @+1 {{'orch.incore' op no_dep lists %w, which the scope does not use: only tensors that are read or written in it can be listed}}
  orch.incore no_dep [%w : tensor<64xf32>] {
    %t = ptensor.add %x, %x : tensor<64xf32>
  }
  orch.return
}

// -----

// E-T88.
orch.func opaque @main(in %x : tensor<64xf32>, in %w : tensor<64xf32>) {
  // expected-error @+1 {{sets a cache policy for %w, which the scope does not use: only a tensor that is read in it can have one}}
  orch.incore cache [default %w : tensor<64xf32>] {
    %t = ptensor.add %x, %x : tensor<64xf32>
  }
  orch.return
}

// -----

// E-T89, E-T90.
orch.func opaque @main(out %x : tensor<64xf32>, inout %y : tensor<64xf32>) {
  // expected-error @+1 {{bypasses the cache for %x, which the scope writes (out): it could read bytes older than its own writes; leave the policy at default}}
  orch.incore cache [bypass %x : tensor<64xf32>] {
    %zero = arith.constant 0.0 : f32
    %o = ptensor.write %zero, %x[0] : f32, tensor<64xf32>
  }
  // expected-error @+1 {{bypasses the cache for %y, which the scope writes (inout)}}
  orch.incore cache [bypass %y : tensor<64xf32>] {
    %v = ptensor.read %y[1] : tensor<64xf32> -> f32
    %o = ptensor.write %v, %y[0] : f32, tensor<64xf32>
  }
  orch.return
}

// -----

// E-T64.
orch.func opaque @main() {
  // expected-error @+1 {{is split up_down by the compiler and has a region that is split by hand: drop one of the two; the number of slots between the cores can be set with either, by `slots`}}
  orch.incore split up_down {
    orch.split_aiv %core mode up_down { } // expected-note {{this is the region}}
  }
  orch.return
}

// -----

// E-T92.
orch.func orchestration @main(in %flag : tensor<4xi32>, in %x : tensor<64xf32>) {
  orch.cluster { // expected-note {{this is the task}}
    // expected-error @+1 {{has a predicate inside 'orch.cluster', which is one task: a predicate decides whether a whole task runs, so put it there}}
    orch.incore predicate(%flag[0] gt 0 : tensor<4xi32>) {
      %t = ptensor.add %x, %x : tensor<64xf32>
    }
  }
  orch.return
}

// -----

orch.func orchestration @main(in %x : tensor<64xf32>) {
  %c2 = arith.constant 2 : index
  orch.spmd launch %c2 { // expected-note {{this is the task}}
    // expected-error @+1 {{has a predicate inside 'orch.spmd', which is one task}}
    orch.incore predicate(%x[0] gt 0 : tensor<64xf32>) {
      %t = ptensor.add %x, %x : tensor<64xf32>
    }
  }
  orch.return
}

// -----

// A tile lives in one kernel: it can neither go out nor come in.
orch.func orchestration @main(in %x : tensor<64xf32>) {
  // expected-error @+2 {{yields %t, a tile, which lives in one kernel: store it to a tensor and load that}}
  // expected-note @+1 {{it is defined here, outside the scope}}
  %t = orch.incore -> (!tile.tile<64xf32>) {
    // expected-note @+1 {{it is defined here, inside the scope}}
    %v = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    orch.yield %v : !tile.tile<64xf32>
  }
  // expected-error @+1 {{uses %t, a tile, which lives in one kernel: store it to a tensor and load that}}
  orch.incore {
    %u = tile.add %t, %t : !tile.tile<64xf32>
  }
  orch.return
}

// -----

// An array stays on the stack of its function; the identity of a task with who launches it.
orch.func orchestration @main(in %i : index) {
  %a = orch.array.create : !orch.array<4xi32> // expected-note {{it is defined here, outside the scope}}
  // expected-error @+1 {{uses %a, an array on the stack, which stays in its function: pass its elements one by one}}
  orch.incore {
    %v = orch.array.get_element %a[%i] : !orch.array<4xi32>
  }
  orch.return
}

// -----

orch.func orchestration @main() {
  // expected-error @+1 {{yields %t, the identity of a task, and a device function returns tensors only: use the task of the scope itself}}
  %t = orch.incore -> (!orch.task_id) {
    %d = orch.task_dummy // expected-note {{it is defined here, inside the scope}}
    orch.yield %d : !orch.task_id
  }
  %e = orch.task_dummy deps [%t]
  orch.return
}

// -----

// Control flow that hands on nothing, around a scope that writes.
orch.func orchestration @main(in %x : tensor<64xf32>,
    out %out : tensor<64xf32>) { // expected-note {{this is the tensor}}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.parallel' op stands around a scope that writes a tensor from outside, and has no way to hand on its next name: use scf.for, scf.while or scf.if}}
  "scf.parallel"(%c0, %c1, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i : index):
    orch.incore {
      %o = ptensor.assemble %x, %out[0] : tensor<64xf32>, tensor<64xf32>
    }
    scf.reduce
  }) : (index, index, index) -> ()
  orch.return
}
