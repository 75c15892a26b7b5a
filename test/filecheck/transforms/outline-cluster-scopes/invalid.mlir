// What cannot be launched as one task, and what to write instead.

// RUN: pypto-opt --outline-cluster-scopes --verify-diagnostics --split-input-file %s

orch.func orchestration @main(in %x : tensor<64xf32>, in %m : index) {
  orch.cluster { // expected-note {{the cluster is here}}
    %n = arith.addi %m, %m : index // expected-note {{it is computed here}}
    // expected-error @+1 {{'orch.spmd' op is launched on %n cores, which is computed inside the cluster, but the cluster as a whole is launched: compute the width before the cluster}}
    orch.spmd launch %n { %y = ptensor.add %x, %x : tensor<64xf32> }
  }
  orch.return
}

// -----

orch.func orchestration @main(in %x : tensor<64xf32>, in %n : index) {
  orch.cluster { // expected-note {{the cluster is here}}
    orch.spmd launch %n { } // expected-note {{the first is here}}
    // expected-error @+1 {{is the second spmd scope in one cluster, which has one launch width}}
    orch.spmd launch %n { }
  }
  orch.return
}

// -----

orch.func orchestration @main(in %c : i1, in %n : index) {
  orch.cluster { // expected-note {{the cluster is here}}
    scf.if %c {
      // expected-error @+1 {{stands in 'scf.if' in a cluster, which is launched once: put the spmd scope directly in the cluster, and what is around it inside}}
      orch.spmd launch %n { }
    }
  }
  orch.return
}

// -----

orch.func orchestration @main(in %x : tensor<64xf32>, in %n : index) {
  orch.cluster { // expected-note {{the cluster is here}}
    // expected-error @+1 {{lists tensors for no_dep, dump or cache inside a cluster, which is the task: list them on the cluster}}
    orch.spmd launch %n dump [%x : tensor<64xf32>] { %y = ptensor.add %x, %x : tensor<64xf32> }
  }
  orch.return
}

// -----

// A task, dependencies, early resolve, a predicate inside one task.
orch.func incore @k(in %x : tensor<64xf32>) { orch.return }
orch.func orchestration @main(in %x : tensor<64xf32>, in %n : index, in %t : !orch.task_id) {
  orch.cluster { // expected-note {{this is the task}}
    // expected-error @+1 {{'orch.spmd' op asks for a task of its own inside 'orch.cluster', which is one task: its dependencies, predicate, early_resolve and identity would be ignored; put them on the 'orch.cluster' instead}}
    %u = orch.spmd launch %n as task { }
  }
  orch.spmd launch %n { // expected-note {{this is the task}}
    // expected-error @+1 {{'orch.submit' op asks for a task of its own inside 'orch.spmd'}}
    %v = orch.submit @k(%x) deps [%t] : (tensor<64xf32>) -> !orch.task_id
  }
  orch.return
}

// -----

// A scope that cannot be outlined: what is around it is not tried.
orch.func orchestration @main(in %x : tensor<4xi32>, in %n : index) {
  orch.spmd launch %n { // expected-note {{this is the task}}
    // expected-error @+1 {{'orch.cluster' op has a predicate inside 'orch.spmd', which is one task}}
    orch.cluster predicate(%x[0] gt 0 : tensor<4xi32>) { }
  }
  orch.return
}
