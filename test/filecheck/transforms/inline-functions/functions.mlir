// Inline functions are spliced into their callers.

// RUN: pypto-opt --inline-functions --split-input-file %s | filecheck %s
// RUN: pypto-opt --inline-functions --inline-functions --split-input-file %s | filecheck %s

// A helper of a helper, called twice; what nobody calls goes as well.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:    orch.func opaque @main(in %a: tensor<64xf32>, in %k: f32) -> tensor<64xf32> {
// CHECK-NEXT:      [[A1:%.*]] = ptensor.muls %a, %k
// CHECK-NEXT:      [[B1:%.*]] = ptensor.add [[A1]], %a
// CHECK-NEXT:      [[A2:%.*]] = ptensor.muls [[B1]], %k
// CHECK-NEXT:      [[B2:%.*]] = ptensor.add [[A2]], [[B1]]
// CHECK-NEXT:      orch.return [[B2]] : tensor<64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:  }
orch.func opaque @main(in %a : tensor<64xf32>, in %k : f32) -> tensor<64xf32> {
  %r = orch.call @outer(%a, %k) : (tensor<64xf32>, f32) -> tensor<64xf32>
  %s = orch.call @outer(%r, %k) : (tensor<64xf32>, f32) -> tensor<64xf32>
  orch.return %s : tensor<64xf32>
}
orch.func inline @outer(in %x : tensor<64xf32>, in %f : f32) -> tensor<64xf32> {
  %y = orch.call @inner(%f, %x) : (f32, tensor<64xf32>) -> tensor<64xf32>
  %z = ptensor.add %y, %x : tensor<64xf32>
  orch.return %z : tensor<64xf32>
}
orch.func inline @inner(in %f : f32, in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = ptensor.muls %x, %f : tensor<64xf32>, f32
  orch.return %y : tensor<64xf32>
}
orch.func inline @nobody(in %x : tensor<64xf32>) { orch.return }

// -----

// R10: a parameter that is written back: the result is the write's.
// Several results, one a parameter as it came; a loop inside; a call in a loop, where each round
// has its own.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func orchestration @main(
// CHECK:           {{%.*}} = scf.for %i = {{.*}} iter_args([[O:%.*]] = %out, [[P:%.*]] = %x)
// CHECK-NEXT:        [[Q:%.*]] = ptensor.assemble %x, [[O]][0]
// CHECK-NEXT:        scf.yield [[Q]], [[P]]
// CHECK-NEXT:      }
orch.func orchestration @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%o = %out, %p = %x) -> (tensor<64xf32>, tensor<64xf32>) {
    %q, %s = orch.call @put(%x, %o, %p) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
    scf.yield %q, %s : tensor<64xf32>, tensor<64xf32>
  }
  orch.return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}
orch.func inline @put(in %v : tensor<64xf32>, in %o : tensor<64xf32>, in %p : tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>) {
  %o1 = ptensor.assemble %v, %o[0] : tensor<64xf32>, tensor<64xf32>
  orch.return %o1, %p : tensor<64xf32>, tensor<64xf32>
}

// -----

// A10 (#1456): a task's identity comes out of a helper, and the dependency stays.
// What the call marks is marked on what uses it: calls and scopes, at any depth.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func orchestration @main(
// CHECK-NEXT:      [[Y:%.*]], [[T:%.*]] = orch.submit @k(%x, %out) no_dep [1] dump [0]
// CHECK-NEXT:      scf.if %c {
// CHECK-NEXT:        orch.incore dump [%x : tensor<64xf32>] {
// CHECK:           orch.incore {
// CHECK:           {{%.*}} = orch.task_dummy deps [[[T]]]
orch.func incore @k(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func orchestration @main(in %x : tensor<64xf32>, out %out : tensor<64xf32>, in %c : i1) -> tensor<64xf32> {
  %y, %t = orch.call @stage(%x, %out, %c) no_dep [1] dump [0] : (tensor<64xf32>, tensor<64xf32>, i1) -> (tensor<64xf32>, !orch.task_id)
  %d = orch.task_dummy deps [%t]
  orch.return %y : tensor<64xf32>
}
orch.func inline @stage(in %a : tensor<64xf32>, in %b : tensor<64xf32>, in %c : i1) -> (tensor<64xf32>, !orch.task_id) {
  %y, %t = orch.submit @k(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
  scf.if %c {
    orch.incore { %z = ptensor.add %a, %a : tensor<64xf32> }
  }
  orch.incore { %z = ptensor.add %y, %y : tensor<64xf32> }
  orch.return %y, %t : tensor<64xf32>, !orch.task_id
}

// -----

// Symbols: where the argument has one, the helper's types say that; where the extent is a
// constant, the helper's symbol gets a name that the caller has not, and a cast says that the
// tensor is the same.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func opaque @main(
// CHECK-NEXT:      %y = ptensor.add %a, %a : tensor<?xf32, #ptensor.view<dims = [M]>>
// CHECK-NEXT:      [[C:%.*]] = ptensor.type_cast %b : tensor<64xf32> -> tensor<?xf32, #ptensor.view<dims = [N_0]>>
// CHECK-NEXT:      [[D:%.*]] = ptensor.add [[C]], [[C]] : tensor<?xf32, #ptensor.view<dims = [N_0]>>
// CHECK-NEXT:      [[E:%.*]] = ptensor.type_cast [[D]] : tensor<?xf32, #ptensor.view<dims = [N_0]>> -> tensor<64xf32>
// CHECK-NEXT:      orch.return %y, [[E]]
orch.func opaque @main(in %a : tensor<?xf32, #ptensor.view<dims = [M]>>, in %b : tensor<64xf32>,
                       in %c : tensor<?xf32, #ptensor.view<dims = [N]>>)
    -> (tensor<?xf32, #ptensor.view<dims = [M]>>, tensor<64xf32>) {
  %r = orch.call @double(%a) : (tensor<?xf32, #ptensor.view<dims = [M]>>) -> tensor<?xf32, #ptensor.view<dims = [M]>>
  %s = orch.call @double(%b) : (tensor<64xf32>) -> tensor<64xf32>
  orch.return %r, %s : tensor<?xf32, #ptensor.view<dims = [M]>>, tensor<64xf32>
}
orch.func inline @double(in %x : tensor<?xf32, #ptensor.view<dims = [N]>>) -> tensor<?xf32, #ptensor.view<dims = [N]>> {
  %y = ptensor.add %x, %x : tensor<?xf32, #ptensor.view<dims = [N]>>
  orch.return %y : tensor<?xf32, #ptensor.view<dims = [N]>>
}
