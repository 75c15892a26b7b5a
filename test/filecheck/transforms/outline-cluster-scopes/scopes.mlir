// Clusters become groups, spmd scopes become spmd functions; the function around keeps its kind.

// RUN: pypto-opt --outline-cluster-scopes --split-input-file %s | filecheck %s
// RUN: pypto-opt --outline-cluster-scopes --outline-cluster-scopes --split-input-file %s | filecheck %s

// C1, C3, C8: clusters with an output, in a row, and one without.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:    orch.func group @main_cluster_0(in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:      %y = ptensor.add %x, %x : tensor<64xf32>
// CHECK-NEXT:      orch.return %y : tensor<64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.func group @main_cluster_1(in %y: tensor<64xf32>) -> tensor<64xf32> {
// CHECK:         orch.func group @main_cluster_2(in %x: tensor<64xf32>) {
// CHECK-NEXT:      %dead = ptensor.add
// CHECK-NEXT:      orch.return
// CHECK:         orch.func opaque @main(in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:      %y = orch.call @main_cluster_0(%x) : (tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT:      %z = orch.call @main_cluster_1(%y) : (tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT:      orch.call @main_cluster_2(%x) : (tensor<64xf32>) -> ()
// CHECK-NEXT:      orch.return %z
orch.func opaque @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = orch.cluster -> (tensor<64xf32>) {
    %y = ptensor.add %x, %x : tensor<64xf32>
    orch.yield %y : tensor<64xf32>
  }
  %z = orch.cluster -> (tensor<64xf32>) {
    %z = ptensor.mul %y, %y : tensor<64xf32>
    orch.yield %z : tensor<64xf32>
  }
  orch.cluster {
    %dead = ptensor.add %x, %x : tensor<64xf32>
  }
  orch.return %z : tensor<64xf32>
}

// -----

// C2, C5: in-core scopes are not this pass's work: inside a cluster they come along, outside they
// stay.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func group @main_cluster_0(in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:      [[Y:%.*]] = orch.incore -> (tensor<64xf32>) {
// CHECK:           orch.return [[Y]]
// CHECK:         orch.func opaque @main(
// CHECK-NEXT:      %y = orch.call @main_cluster_0(%x)
// CHECK-NEXT:      %z = orch.incore -> (tensor<64xf32>) {
orch.func opaque @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = orch.cluster -> (tensor<64xf32>) {
    %y1 = orch.incore -> (tensor<64xf32>) {
      %y2 = ptensor.add %x, %x : tensor<64xf32>
      orch.yield %y2 : tensor<64xf32>
    }
    orch.yield %y1 : tensor<64xf32>
  }
  %z = orch.incore -> (tensor<64xf32>) {
    %z1 = ptensor.add %y, %x : tensor<64xf32>
    orch.yield %z1 : tensor<64xf32>
  }
  orch.return %z : tensor<64xf32>
}

// -----

// C4: nothing to do.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:    orch.func opaque @main(in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:      orch.return %x : tensor<64xf32>
orch.func opaque @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
  orch.return %x : tensor<64xf32>
}

// -----

// C6, C7, C28: an spmd scope on its own, in an orchestration function. The wrapper returns its
// parameter, which the kernel writes; the width is the launch's.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func spmd @main_spmd_0(in %x: tensor<64xf32>, out %out: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:      %o = orch.call @kernel(%x, %out) :
// CHECK-NEXT:      orch.return %out : tensor<64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.func orchestration @main(
// CHECK-NEXT:      %c4 = arith.constant 4
// CHECK-NEXT:      %r = orch.call @main_spmd_0(%x, %out) launch %c4 sync_start :
// CHECK-NEXT:      orch.return %r
orch.func incore @kernel(in %x : tensor<64xf32>, out %out : tensor<64xf32>) -> tensor<64xf32> {
  %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
  %o = tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
  orch.return %o : tensor<64xf32>
}
orch.func orchestration @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>) -> tensor<64xf32> {
  %c4 = arith.constant 4 : index
  %r = orch.spmd launch %c4 sync_start -> (tensor<64xf32>) {
    %o = orch.call @kernel(%x, %out) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    orch.yield %o : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}

// -----

// C10: several outputs.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func group @main_cluster_0(in %x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK:           orch.return %y, %z
// CHECK:           %y, %z = orch.call @main_cluster_0(%x)
orch.func opaque @main(in %x : tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %y, %z = orch.cluster -> (tensor<64xf32>, tensor<64xf32>) {
    %y = ptensor.add %x, %x : tensor<64xf32>
    %z = ptensor.mul %x, %x : tensor<64xf32>
    orch.yield %y, %z : tensor<64xf32>, tensor<64xf32>
  }
  orch.return %z, %y : tensor<64xf32>, tensor<64xf32>
}

// -----

// C14, C15: an spmd scope in a cluster gives the group's launch its width, and is unwrapped.
// C26, O9 (#1550): a width computed before the cluster; C24: per round of a loop.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func group @main_cluster_0(in %x: tensor<64xf32>, out %out: tensor<64xf32>) -> tensor<64xf32> attributes {orch.spmd_unwrapped} {
// CHECK-NEXT:      %o = orch.call @kernel(%x, %out) :
// CHECK-NEXT:      orch.return %out
// CHECK:         orch.func orchestration @main(
// CHECK-NEXT:      %c8 = arith.constant 8 : index
// CHECK-NEXT:      %r = orch.call @main_cluster_0(%x, %out) launch %c8 sync_start :
// CHECK-NEXT:      %c16 = arith.constant 16 : index
// CHECK-NEXT:      [[R:%.*]] = scf.for %b = %n to %c16 step %c16 iter_args([[I:%.*]] = %r)
// CHECK-NEXT:        %w = arith.divui %b, %n
// CHECK-NEXT:        [[N:%.*]] = orch.call @main_cluster_1(%x, [[I]]) launch %w :
// CHECK-NEXT:        scf.yield [[N]]
// CHECK:           orch.return [[R]]
orch.func incore @kernel(in %x : tensor<64xf32>, out %out : tensor<64xf32>) -> tensor<64xf32> {
  %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
  %o = tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
  orch.return %o : tensor<64xf32>
}
orch.func orchestration @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>, in %n : index)
    -> tensor<64xf32> {
  %r = orch.cluster -> (tensor<64xf32>) {
    // A constant is known outside as well.
    %c8 = arith.constant 8 : index
    %r1 = orch.spmd launch %c8 sync_start -> (tensor<64xf32>) {
      %o = orch.call @kernel(%x, %out) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      orch.yield %o : tensor<64xf32>
    }
    orch.yield %r1 : tensor<64xf32>
  }
  %c16 = arith.constant 16 : index
  scf.for %b = %n to %c16 step %c16 {
    %w = arith.divui %b, %n : index
    orch.cluster {
      orch.spmd launch %w {
        orch.call @kernel(%x, %r) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      }
    }
  }
  orch.return %r : tensor<64xf32>
}

// -----

// C16, E-S15: what a callee overwrites and the body reads is read and written. E-S14: one callee
// reads it, another writes it. E-S16: a submit's `out` argument is no read.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func group @main_cluster_0(inout %a: tensor<64xf32>, in %x: tensor<64xf32>)
// CHECK:         orch.func group @main_cluster_1(inout %b: tensor<64xf32>, in %x: tensor<64xf32>)
// CHECK:         orch.func group @main_cluster_2(in %x: tensor<64xf32>, out %c: tensor<64xf32>)
orch.func incore @helper(in %src : tensor<64xf32>, out %dst : tensor<64xf32>) -> tensor<64xf32> {
  %t = tile.load %src[0] : tensor<64xf32> -> !tile.tile<64xf32>
  %o = tile.store %t, %dst[0] : !tile.tile<64xf32>, tensor<64xf32>
  orch.return %o : tensor<64xf32>
}
orch.func incore @reader(in %src : tensor<64xf32>) {
  %t = tile.load %src[0] : tensor<64xf32> -> !tile.tile<64xf32>
  orch.return
}
orch.func opaque @main(in %x : tensor<64xf32>, inout %a : tensor<64xf32>, inout %b : tensor<64xf32>,
                       out %c : tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %a3 = orch.cluster -> (tensor<64xf32>) {
    %back = tile.load %a[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %keep = tile.exp %back : !tile.tile<64xf32>
    %a1 = tile.store %keep, %a[0] : !tile.tile<64xf32>, tensor<64xf32>
    %a2 = orch.call @helper(%x, %a1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    orch.yield %a2 : tensor<64xf32>
  }
  %b2 = orch.cluster -> (tensor<64xf32>) {
    orch.call @reader(%b) : (tensor<64xf32>) -> ()
    %b1 = orch.call @helper(%x, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    orch.yield %b1 : tensor<64xf32>
  }
  %c2 = orch.cluster -> (tensor<64xf32>) {
    %c1, %t = orch.submit @helper(%x, %c) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
    orch.yield %c1 : tensor<64xf32>
  }
  orch.return %a3, %b2, %c2 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// C17, C29: a store target is an output of a group and of an spmd function too, which return the
// parameter.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func group @main_cluster_0(out %buf: tensor<64xf32>) -> tensor<64xf32> {
// CHECK:           orch.return %buf
// CHECK:         orch.func opaque @main(
// CHECK:           [[B:%.*]] = orch.call @main_cluster_0(%buf) :
// CHECK-NEXT:      %r = ptensor.reshape [[B]]
orch.func opaque @main() -> tensor<8x8xf32> {
  %buf = ptensor.create : tensor<64xf32>
  orch.cluster {
    %zero = arith.constant 0.0 : f32
    %t = tile.full %zero : f32 -> !tile.tile<64xf32>
    tile.store %t, %buf[0] : !tile.tile<64xf32>, tensor<64xf32>
  }
  %r = ptensor.reshape %buf : tensor<64xf32> -> tensor<8x8xf32>
  orch.return %r : tensor<8x8xf32>
}

// -----

// C18: a name given twice; C12: the name of an spmd scope is its function's.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func group @grp(
// CHECK:         orch.func group @grp_0(
// CHECK:         orch.func spmd @grp_1(
orch.func opaque @main(in %x : tensor<64xf32>, in %n : index) {
  orch.cluster "grp" { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.cluster "grp" { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.spmd "grp" launch %n { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}

// -----

// C20, C21, C22, C23: a task, dependencies, early resolve: the launch is a submit with the width.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func orchestration @main(
// CHECK-NEXT:      %t0 = orch.submit @stage1(%x) launch %n : (tensor<64xf32>) -> !orch.task_id
// CHECK-NEXT:      %t1 = orch.submit @stage2(%x) deps [%t0] launch %n sync_start : (tensor<64xf32>) -> !orch.task_id
// CHECK-NEXT:      {{%.*}} = orch.submit @stage3(%x) launch %n early_resolve : (tensor<64xf32>) -> !orch.task_id
orch.func orchestration @main(in %x : tensor<64xf32>, in %n : index) {
  %t0 = orch.spmd "stage1" launch %n as task { %y = ptensor.add %x, %x : tensor<64xf32> }
  %t1 = orch.spmd "stage2" deps [%t0] launch %n sync_start as task {
    %y = ptensor.add %x, %x : tensor<64xf32>
  }
  orch.spmd "stage3" launch %n early_resolve { %y = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}
