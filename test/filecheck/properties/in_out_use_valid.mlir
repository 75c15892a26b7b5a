// InOutUseValid: what a call or a submit writes is read by its next name afterwards. It is the part
// of NoStaleRead about calls and submits, which is checked at all times: here it is not.

// RUN: pypto-opt --disable-verify --verify-property=InOutUseValid --split-input-file --verify-diagnostics %s

// Accepted: the next name is read; the old one is only returned; arms do not see each other. A write
// by an op is not its concern.

orch.func incore @kernel(in %x: tensor<16xf32>, out %o: tensor<16xf32>) -> tensor<16xf32> {
  orch.return %o : tensor<16xf32>
}
orch.func orchestration @next_names(in %x: tensor<16xf32>, in %c: i1, out %o: tensor<16xf32>) -> tensor<16xf32> {
  %o1 = orch.call @kernel(%x, %o) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %o2 = orch.call @kernel(%x, %o1) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %own = ptensor.create : tensor<16xf32>
  %own1, %task = orch.submit @kernel(%o2, %own) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  %m = scf.if %c -> (tensor<16xf32>) {
    %a = orch.call @kernel(%own1, %o2) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    scf.yield %a : tensor<16xf32>
  } else {
    %other = ptensor.create : tensor<16xf32>
    %a = orch.call @kernel(%o2, %other) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    scf.yield %o2 : tensor<16xf32>
  }
  orch.return %o : tensor<16xf32>
}
orch.func incore @stored(in %x : tensor<16xf32>, out %a : tensor<16xf32>) -> tensor<16xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  %u = tile.load %a[0] : tensor<16xf32> -> !tile.tile<16xf32>
  orch.return %a1 : tensor<16xf32>
}

// -----

orch.func incore @kernel(in %x: tensor<16xf32>, inout %o: tensor<16xf32>) -> tensor<16xf32> {
  orch.return %o : tensor<16xf32>
}
orch.func orchestration @after_a_call(in %x: tensor<16xf32>, inout %o: tensor<16xf32>) -> tensor<16xf32> {
  // expected-note @+1 {{the buffer may be written here, which gives it a new name}}
  %o1 = orch.call @kernel(%x, %o) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-error @+1 {{'orch.call' op reads %o, which is older than a write}}
  %o2 = orch.call @kernel(%o, %o1) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return %o2 : tensor<16xf32>
}

// -----

// A submit writes as well; and so does one in an arm, for what comes after.

orch.func incore @kernel(in %x: tensor<16xf32>, out %o: tensor<16xf32>) -> tensor<16xf32> {
  orch.return %o : tensor<16xf32>
}
orch.func orchestration @after_a_submit(in %x: tensor<16xf32>, in %c: i1, in %i: index, out %o: tensor<16xf32>, out %p: tensor<16xf32>) -> f32 {
  // expected-note @+1 {{the buffer may be written here, which gives it a new name}}
  %o1, %t = orch.submit @kernel(%x, %o) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  scf.if %c {
    // expected-note @+1 {{the buffer may be written here, which gives it a new name}}
    %p1 = orch.call @kernel(%o1, %p) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  }
  // expected-error @+1 {{'ptensor.read' op reads %o, which is older than a write}}
  %s = ptensor.read %o[%i] : tensor<16xf32> -> f32
  // expected-error @+1 {{'ptensor.read' op reads %p, which is older than a write}}
  %u = ptensor.read %p[%i] : tensor<16xf32> -> f32
  %v = arith.addf %s, %u : f32
  orch.return %v : f32
}
