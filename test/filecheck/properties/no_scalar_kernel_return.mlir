// NoScalarKernelReturn: device functions return tensors only.

// RUN: pypto-opt --verify-property=NoScalarKernelReturn --split-input-file --verify-diagnostics %s

// E-T94, E-T99: tensors, and scalars of functions that run on the host side.
orch.func incore @k(out %x : tensor<64xf32>) -> tensor<64xf32> { orch.return %x : tensor<64xf32> }
orch.func orchestration @o(in %n : index, in %t : !orch.task_id) -> (index, !orch.task_id) {
  orch.return %n, %t : index, !orch.task_id
}
orch.func graph @g(in %n : index) -> index { orch.return %n : index }
orch.func inline @i(in %n : index) -> index { orch.return %n : index }
orch.func opaque @p(in %n : f32) -> f32 { orch.return %n : f32 }

// -----

// E-T95, E-T98: every kind of device function, and every place; a declaration, too.
// expected-error @+1 {{'orch.func' op result #1 of incore function 'a' is a scalar (index), but a task returns tensors only: write it to a tensor of one element and read that with ptensor.read, or compute it in the caller}}
orch.func incore @a(in %n : index, out %x : tensor<64xf32>) -> (tensor<64xf32>, index) {
  orch.return %x, %n : tensor<64xf32>, index
}
// expected-error @+1 {{result #0 of aic function 'b' is a scalar (f32)}}
orch.func aic @b(in f32) -> f32
// expected-error @+1 {{result #0 of aiv function 'c' is a scalar (i1)}}
orch.func aiv @c() -> i1
// expected-error @+1 {{result #0 of group function 'd' is a scalar (i32)}}
orch.func group @d() -> i32
// expected-error @+1 {{result #0 of spmd function 'e' is a scalar (index)}}
orch.func spmd @e() -> index

// -----

// E-T96, E-T97: the identity of a task.
// expected-error @+1 {{result #1 of group function 'f' is the identity of a task, which only the function that launches it knows: take it from the orch.submit there}}
orch.func group @f() -> (tensor<64xf32>, !orch.task_id)
