// Wrappers get the directions that their bodies imply, up only, before any use is looked at.

// RUN: pypto-opt --derive-call-directions --verify-each --split-input-file --verify-diagnostics %s | filecheck %s
// RUN: pypto-opt --derive-call-directions --derive-call-directions --split-input-file %s | filecheck %s

// C-T38, C-T39, C-T44: a group over a kernel that writes, an spmd over one that updates.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func incore @update(inout tensor<64xf32>) -> tensor<64xf32> returns [0]
orch.func group @group(in %x : tensor<64xf32>, in %o : tensor<64xf32>) -> tensor<64xf32> {
  %o1 = orch.call @kernel(%x, %o) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  orch.return %o1 : tensor<64xf32>
}
orch.func spmd @spmd(in %o : tensor<64xf32>) -> tensor<64xf32> {
  %o1, %t = orch.submit @update(%o) : (tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
  orch.return %o1 : tensor<64xf32>
}
orch.func orchestration @main(in %x : tensor<64xf32>, out %o : tensor<64xf32>) -> tensor<64xf32> {
  %o1 = orch.call @group(%x, %o) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %o2 = orch.call @spmd(%o1) : (tensor<64xf32>) -> tensor<64xf32>
  orch.return %o2 : tensor<64xf32>
}

// CHECK-LABEL: orch.func {{.*}} @group(
// CHECK-SAME:    in %x: tensor<64xf32>, out %o: tensor<64xf32>)
// CHECK-LABEL: orch.func {{.*}} @spmd(
// CHECK-SAME:    inout %o: tensor<64xf32>)
// CHECK-LABEL: orch.func {{.*}} @main(
// CHECK-NEXT:    orch.call @group(input %x, output_existing %o)
// CHECK-NEXT:    orch.call @spmd(inout %o1)

// -----

// C-T40, C-T46, D9: a wrapper around a wrapper, whichever stands first.

orch.func group @outer(in %x : tensor<64xf32>, in %o : tensor<64xf32>) {
  orch.call @inner(%o, %x) : (tensor<64xf32>, tensor<64xf32>) -> ()
  orch.return
}
orch.func group @inner(in %o : tensor<64xf32>, in %x : tensor<64xf32>) {
  %o1 = orch.call @kernel(%x, %o) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  orch.return
}
orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]

// CHECK-LABEL: orch.func {{.*}} @outer(
// CHECK-SAME:    in %x: tensor<64xf32>, out %o: tensor<64xf32>)
// CHECK-NEXT:    orch.call @inner(output_existing %o, input %x)
// CHECK-LABEL: orch.func {{.*}} @inner(
// CHECK-SAME:    out %o: tensor<64xf32>, in %x: tensor<64xf32>)

// -----

// C-T41: a declared writer stays one, though its kernels only read.

orch.func incore @reader(in tensor<64xf32>)
orch.func group @declared(out %o : tensor<64xf32>, inout %p : tensor<64xf32>) {
  orch.call @reader(%o) : (tensor<64xf32>) -> ()
  orch.call @reader(%p) : (tensor<64xf32>) -> ()
  orch.return
}

// CHECK-LABEL: orch.func {{.*}} @declared(
// CHECK-SAME:    out %o: tensor<64xf32>, inout %p: tensor<64xf32>)

// -----

// C-T42: two wrappers that call each other. In @a the second call writes after the first.

orch.func group @a(in %c : i1, in %p : tensor<64xf32>) {
  %p1 = orch.call @kernel(%p, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  scf.if %c {
    orch.call @z(%c, %p) : (i1, tensor<64xf32>) -> ()
  }
  orch.return
}
orch.func group @z(in %c : i1, in %p : tensor<64xf32>) {
  orch.call @a(%c, %p) : (i1, tensor<64xf32>) -> ()
  orch.return
}
orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]

// CHECK-LABEL: orch.func {{.*}} @a(
// CHECK-SAME:    in %c: i1, out %p: tensor<64xf32>)
// CHECK-NEXT:    orch.call @kernel(input %p, output_existing %p)
// CHECK:         orch.call @z(scalar %c, inout %p)
// CHECK-LABEL: orch.func {{.*}} @z(
// CHECK-SAME:    in %c: i1, out %p: tensor<64xf32>)

// -----

// What a loop carries from a parameter is the parameter; what another kernel wrote before is not
// what the caller passed: @update reads the result of @kernel. Host functions are no part of the
// wrapper's task.

orch.func incore @kernel(in tensor<64xf32>, out tensor<64xf32>) -> tensor<64xf32> returns [1]
orch.func incore @update(inout tensor<64xf32>) -> tensor<64xf32> returns [0]
orch.func opaque @host(out tensor<64xf32>)
orch.func group @carried(in %x : tensor<64xf32>, in %n : index, in %o : tensor<64xf32>, in %p : tensor<64xf32>, in %q : tensor<64xf32>) {
  %r = scf.for %i = %n to %n step %n iter_args(%it = %o) -> (tensor<64xf32>) {
    %o1 = orch.call @update(%it) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %o1 : tensor<64xf32>
  }
  %p1 = orch.call @kernel(%x, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %p2 = orch.call @update(%p1) : (tensor<64xf32>) -> tensor<64xf32>
  orch.call @host(%q) : (tensor<64xf32>) -> ()
  orch.return
}

// CHECK-LABEL: orch.func {{.*}} @carried(
// CHECK-SAME:    in %x: tensor<64xf32>, in %n: index, inout %o: tensor<64xf32>, out %p: tensor<64xf32>, in %q: tensor<64xf32>)

// -----

// D6: what a wrapper writes itself counts as what its kernels write; atomic additions read as well.

orch.func spmd @assembles(in %a : tensor<64xf32>, in %o : tensor<128xf32>, in %p : tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
  %part = ptensor.slice %a[0] : tensor<64xf32> -> tensor<32xf32>
  %o1 = ptensor.assemble %part, %o[32] : tensor<32xf32>, tensor<128xf32>
  %p1 = ptensor.assemble %part, %p[32], atomic = add : tensor<32xf32>, tensor<128xf32>
  orch.return %o1, %p1 : tensor<128xf32>, tensor<128xf32>
}

// CHECK-LABEL: orch.func {{.*}} @assembles(
// CHECK-SAME:    in %a: tensor<64xf32>, out %o: tensor<128xf32>, inout %p: tensor<128xf32>)
