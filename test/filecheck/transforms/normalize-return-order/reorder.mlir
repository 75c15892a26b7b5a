// Kernels return their written parameters in the parameters' order, and every use follows.

// RUN: pypto-opt --normalize-return-order --verify-each --split-input-file --verify-diagnostics %s | filecheck %s
// RUN: pypto-opt --normalize-return-order --normalize-return-order --split-input-file %s | filecheck %s

// A-T1, A-T15: swapped. The stores stay where they are; the caller's values are the same buffers.

orch.func incore @swapped(in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %b1 = tile.store %t, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %b1, %a1 : tensor<16xf32>, tensor<16xf32>
}
orch.func orchestration @swapped_caller(in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %first, %second = orch.call @swapped(%x, %a, %b) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  orch.return %first, %second : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @swapped(
// CHECK-NEXT:    %t = tile.load %x[0]
// CHECK-NEXT:    %b1 = tile.store %t, %b[0]
// CHECK-NEXT:    %a1 = tile.store %t, %a[0]
// CHECK-NEXT:    orch.return %a, %b :
// CHECK-LABEL: @swapped_caller(
// CHECK-NEXT:    %second, %first = orch.call @swapped(%x, %a, %b)
// CHECK-NEXT:    orch.return %first, %second :

// -----

// A-T2: already ordered. The caller stays as it is.

orch.func incore @ordered(in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  %b1 = tile.store %t, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %a1, %b1 : tensor<16xf32>, tensor<16xf32>
}
orch.func orchestration @ordered_caller(in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %first, %second = orch.call @ordered(%x, %a, %b) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  orch.return %first, %second : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @ordered(
// CHECK:         orch.return %a, %b :
// CHECK-LABEL: @ordered_caller(
// CHECK-NEXT:    %first, %second = orch.call @ordered(%x, %a, %b)

// -----

// A-T3: a single result needs no order.

orch.func incore @single(in %x : tensor<16xf32>, out %a : tensor<16xf32>) -> tensor<16xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %a1 : tensor<16xf32>
}

// CHECK-LABEL: @single(
// CHECK:         orch.return %a :

// -----

// A-T4: functions that are no kernels, wrappers or graphs keep what they return.

orch.func opaque @opaque(out %a : tensor<16xf32>, out %b : tensor<16xf32>, in %s : f32)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %b1 = ptensor.write %s, %b[0] : f32, tensor<16xf32>
  %a1 = ptensor.write %s, %a[0] : f32, tensor<16xf32>
  orch.return %b1, %a1 : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @opaque(
// CHECK:         orch.return %b1, %a1 :

// -----

// A-T5, A-T6: three results, two dimensions.

orch.func aiv @three(in %x : tensor<16x8xf32>, out %a : tensor<16x8xf32>, out %b : tensor<16x8xf32>, out %c : tensor<16x8xf32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  %t = tile.load %x[0, 0] : tensor<16x8xf32> -> !tile.tile<16x8xf32>
  %c1 = tile.store %t, %c[0, 0] : !tile.tile<16x8xf32>, tensor<16x8xf32>
  %a1 = tile.store %t, %a[0, 0] : !tile.tile<16x8xf32>, tensor<16x8xf32>
  %b1 = tile.store %t, %b[0, 0] : !tile.tile<16x8xf32>, tensor<16x8xf32>
  orch.return %c1, %a1, %b1 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
orch.func orchestration @three_caller(in %x : tensor<16x8xf32>, out %a : tensor<16x8xf32>, out %b : tensor<16x8xf32>, out %c : tensor<16x8xf32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  %c1, %a1, %b1 = orch.call @three(%x, %a, %b, %c) : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>)
  orch.return %c1, %a1, %b1 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}

// CHECK-LABEL: @three(
// CHECK:         orch.return %a, %b, %c :
// CHECK-LABEL: @three_caller(
// CHECK-NEXT:    %a1, %b1, %c1 = orch.call @three(%x, %a, %b, %c)
// CHECK-NEXT:    orch.return %c1, %a1, %b1 :

// -----

// A-T7: parameters that are updated take part.

orch.func aic @updated(inout %a : tensor<16xf32>, inout %b : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %t = tile.load %a[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %u = tile.load %b[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %b1 = tile.store %t, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  %a1 = tile.store %u, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %b1, %a1 : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @updated(
// CHECK:         orch.return %a, %b :

// -----

// A-T8, A-T17, A-T30: a submit stays one, its task last; each result has the type of its buffer.
// Dependencies, launch and marks stay.

orch.func incore @types(in %x : tensor<16xf32>, out %b : tensor<16xf32>, out %a : tensor<8xi32>)
    -> (tensor<8xi32>, tensor<16xf32>) {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %b1 = tile.store %t, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %a, %b1 : tensor<8xi32>, tensor<16xf32>
}
orch.func orchestration @types_caller(in %x : tensor<16xf32>, out %b : tensor<16xf32>, out %a : tensor<8xi32>, in %n : index)
    -> (tensor<8xi32>, tensor<16xf32>) {
  %t0 = orch.task_invalid
  %ints, %floats, %tid = orch.submit @types(input %x, inout %b, output_existing %a) no_dep [0] deps [%t0] launch %n sync_start early_resolve {mark = 1 : i32} : (tensor<16xf32>, tensor<16xf32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>, !orch.task_id)
  %t1 = orch.task_dummy deps [%tid]
  orch.return %ints, %floats : tensor<8xi32>, tensor<16xf32>
}

// CHECK-LABEL: @types(
// CHECK-SAME:    -> (tensor<16xf32>, tensor<8xi32>)
// CHECK:         orch.return %b, %a : tensor<16xf32>, tensor<8xi32>
// CHECK-LABEL: @types_caller(
// CHECK:         %floats, %ints, %tid = orch.submit @types(input %x, inout %b, output_existing %a) no_dep [0] deps [%t0] launch %n sync_start early_resolve {mark = 1 : i32} : (tensor<16xf32>, tensor<16xf32>, tensor<8xi32>) -> (tensor<16xf32>, tensor<8xi32>, !orch.task_id)
// CHECK-NEXT:    %t1 = orch.task_dummy deps [%tid]
// CHECK-NEXT:    orch.return %ints, %floats : tensor<8xi32>, tensor<16xf32>

// -----

// A-T10: a submit of a kernel that is in order stays as it is.

orch.func incore @ordered(out %a : tensor<16xf32>, out %b : tensor<8xi32>) -> (tensor<16xf32>, tensor<8xi32>) {
  orch.return %a, %b : tensor<16xf32>, tensor<8xi32>
}
orch.func orchestration @ordered_caller(out %a : tensor<16xf32>, out %b : tensor<8xi32>) {
  %p, %q, %t = orch.submit @ordered(%a, %b) : (tensor<16xf32>, tensor<8xi32>) -> (tensor<16xf32>, tensor<8xi32>, !orch.task_id)
  orch.return
}

// CHECK-LABEL: @ordered_caller(
// CHECK-NEXT:    %p, %q, %t = orch.submit @ordered(%a, %b) : (tensor<16xf32>, tensor<8xi32>) -> (tensor<16xf32>, tensor<8xi32>, !orch.task_id)

// -----

// A-T18, A-T19: results that nobody uses change their types.

orch.func incore @types(out %b : tensor<16xf32>, out %a : tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>) {
  orch.return %a, %b : tensor<8xi32>, tensor<16xf32>
}
orch.func orchestration @discarded(out %b : tensor<16xf32>, out %a : tensor<8xi32>) {
  %r:2 = orch.call @types(%b, %a) : (tensor<16xf32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>)
  %s:3 = orch.submit @types(%b, %a) : (tensor<16xf32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>, !orch.task_id)
  orch.return
}

// CHECK-LABEL: @discarded(
// CHECK-NEXT:    orch.call @types({{.*}}) -> (tensor<16xf32>, tensor<8xi32>)
// CHECK-NEXT:    orch.submit @types({{.*}}) -> (tensor<16xf32>, tensor<8xi32>, !orch.task_id)

// -----

// A-T21: uses in loops, branches, scopes and kernels follow as well.

orch.func incore @types(out %b : tensor<16xf32>, out %a : tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>) {
  orch.return %a, %b : tensor<8xi32>, tensor<16xf32>
}
orch.func graph @everywhere(in %c : i1, in %n : index, out %b : tensor<16xf32>, out %a : tensor<8xi32>) -> tensor<8xi32> {
  %r:2 = scf.for %i = %n to %n step %n iter_args(%p = %a, %q = %b) -> (tensor<8xi32>, tensor<16xf32>) {
    %m:2 = scf.if %c -> (tensor<8xi32>, tensor<16xf32>) {
      %y:2 = orch.call @types(%q, %p) : (tensor<16xf32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>)
      scf.yield %y#0, %y#1 : tensor<8xi32>, tensor<16xf32>
    } else {
      scf.yield %p, %q : tensor<8xi32>, tensor<16xf32>
    }
    scf.yield %m#0, %m#1 : tensor<8xi32>, tensor<16xf32>
  }
  %s = orch.task_scope manual -> (tensor<8xi32>) {
    %z, %w = orch.call @types(%r#1, %r#0) : (tensor<16xf32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>)
    orch.yield %z : tensor<8xi32>
  }
  orch.return %s : tensor<8xi32>
}
orch.func incore @inner(out %b : tensor<16xf32>, out %a : tensor<8xi32>) -> (tensor<16xf32>, tensor<8xi32>) {
  %z, %w = orch.call @types(%b, %a) : (tensor<16xf32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>)
  orch.return %w, %z : tensor<16xf32>, tensor<8xi32>
}

// CHECK-LABEL: @everywhere(
// CHECK:         %y, %y_1 = orch.call @types(%q, %p) : {{.*}} -> (tensor<16xf32>, tensor<8xi32>)
// CHECK-NEXT:    scf.yield %y_1, %y : tensor<8xi32>, tensor<16xf32>
// CHECK:         %w, %z = orch.call @types
// CHECK-NEXT:    orch.yield %z : tensor<8xi32>
// CHECK-LABEL: @inner(
// CHECK-NEXT:    %w, %z = orch.call
// CHECK-NEXT:    orch.return %b, %a

// -----

// A declaration that says what it returns takes part: lowering keeps it that way.

orch.func incore @declared(in tensor<16xf32>, out tensor<16xf32>, out tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>) returns [2, 1] implemented_by @unit::@declared
orch.func orchestration @declared_caller(in %x : tensor<16xf32>, out %b : tensor<16xf32>, out %a : tensor<8xi32>) -> tensor<8xi32> {
  %r:2 = orch.call @declared(%x, %b, %a) : (tensor<16xf32>, tensor<16xf32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>)
  orch.return %r#0 : tensor<8xi32>
}

// CHECK-LABEL: @declared(
// CHECK-SAME:    -> (tensor<16xf32>, tensor<8xi32>) returns [1, 2] implemented_by @unit::@declared
// CHECK-LABEL: @declared_caller(
// CHECK-NEXT:    %r, %r_1 = orch.call @declared({{.*}}) -> (tensor<16xf32>, tensor<8xi32>)
// CHECK-NEXT:    orch.return %r_1 : tensor<8xi32>

// -----

// A-T33: a buffer of the kernel's own behind the written parameters stays there.

orch.func aiv @more(out %a : tensor<16xf32>, out %b : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<4xf32>) {
  %own = ptensor.create : tensor<4xf32>
  orch.return %b, %a, %own : tensor<16xf32>, tensor<16xf32>, tensor<4xf32>
}

// CHECK-LABEL: @more(
// CHECK:         orch.return %a, %b, %own :

// -----

// R6: results go by what they are, not by what they are called: two calls whose results print by
// one name, and which are used crosswise.

orch.func incore @swapped(out %a : tensor<16xf32>, out %b : tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>) {
  orch.return %b, %a : tensor<8xi32>, tensor<16xf32>
}
orch.func orchestration @crosswise(out %a : tensor<16xf32>, out %b : tensor<8xi32>, out %c : tensor<16xf32>, out %d : tensor<8xi32>) -> (tensor<16xf32>, tensor<8xi32>, tensor<16xf32>, tensor<8xi32>) {
  %r:2 = orch.call @swapped(%a, %b) : (tensor<16xf32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>)
  %r_1:2 = orch.call @swapped(%c, %d) : (tensor<16xf32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xf32>)
  orch.return %r_1#1, %r#0, %r#1, %r_1#0 : tensor<16xf32>, tensor<8xi32>, tensor<16xf32>, tensor<8xi32>
}

// CHECK-LABEL: @crosswise(
// CHECK-NEXT:    [[A:%.*]], [[B:%.*]] = orch.call @swapped(%a, %b)
// CHECK-NEXT:    [[C:%.*]], [[D:%.*]] = orch.call @swapped(%c, %d)
// CHECK-NEXT:    orch.return [[C]], [[B]], [[A]], [[D]] :

// -----

// R9: a result that is an updated parameter is one like any other, and of use later.

orch.func incore @updates(in %x : tensor<16xf32>, out %c : tensor<16xf32>, inout %s : tensor<8xf32>) -> (tensor<8xf32>, tensor<16xf32>) {
  orch.return %s, %c : tensor<8xf32>, tensor<16xf32>
}
orch.func incore @uses(in %s : tensor<8xf32>) {
  orch.return
}
orch.func orchestration @later(in %x : tensor<16xf32>, out %c : tensor<16xf32>, inout %s : tensor<8xf32>) {
  %s1, %c1 = orch.call @updates(%x, %c, %s) : (tensor<16xf32>, tensor<16xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<16xf32>)
  orch.call @uses(%s1) : (tensor<8xf32>) -> ()
  orch.return
}

// CHECK-LABEL: @later(
// CHECK-NEXT:    %c1, %s1 = orch.call @updates(%x, %c, %s)
// CHECK-NEXT:    orch.call @uses(%s1)
