// What a kernel gets and what comes back.

// RUN: pypto-opt --outline-incore-scopes --split-input-file %s | filecheck %s
// RUN: pypto-opt --outline-incore-scopes --outline-incore-scopes --split-input-file %s | filecheck %s

// E-T1, E-T7: one input, one output: the kernel's own tensor comes back.
// CHECK-LABEL: builtin.module
// CHECK:      orch.func incore @main_incore_0(in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:   %y1 = ptensor.add %x, %x : tensor<64xf32>
// CHECK-NEXT:   orch.return %y1 : tensor<64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: orch.func orchestration @main(in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:   %y = orch.call @main_incore_0(%x) : (tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT:   orch.return %y : tensor<64xf32>
// CHECK-NEXT: }
orch.func opaque @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = orch.incore -> (tensor<64xf32>) {
    %y1 = ptensor.add %x, %x : tensor<64xf32>
    orch.yield %y1 : tensor<64xf32>
  }
  orch.return %y : tensor<64xf32>
}

// -----

// E-T2, E-T8: scopes are numbered in each function.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @f_incore_0(in %x:
// CHECK:       orch.func incore @f_incore_1(in %y:
// CHECK:       orch.func orchestration @f(
// CHECK-NEXT:    %y = orch.call @f_incore_0(%x)
// CHECK-NEXT:    %z = orch.call @f_incore_1(%y)
// CHECK:       orch.func incore @g_incore_0(in %x:
// CHECK:       orch.func orchestration @g(
// CHECK-NEXT:    %y = orch.call @g_incore_0(%x)
orch.func opaque @f(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = orch.incore -> (tensor<64xf32>) {
    %y1 = ptensor.add %x, %x : tensor<64xf32>
    orch.yield %y1 : tensor<64xf32>
  }
  %z = orch.incore -> (tensor<64xf32>) {
    %z1 = ptensor.mul %y, %y : tensor<64xf32>
    orch.yield %z1 : tensor<64xf32>
  }
  orch.return %z : tensor<64xf32>
}
orch.func orchestration @g(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = orch.incore -> (tensor<64xf32>) {
    %y1 = ptensor.add %x, %x : tensor<64xf32>
    orch.yield %y1 : tensor<64xf32>
  }
  orch.return %y : tensor<64xf32>
}

// -----

// E-T3: a kernel that is one already is left alone, also if it has no scope around it.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:    orch.func incore @kernel(in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:      %y = ptensor.add %x, %x : tensor<64xf32>
// CHECK-NEXT:      orch.return %y : tensor<64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.func opaque @main(in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:      %y = orch.call @kernel(%x)
orch.func incore @kernel(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = ptensor.add %x, %x : tensor<64xf32>
  orch.return %y : tensor<64xf32>
}
orch.func opaque @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = orch.call @kernel(%x) : (tensor<64xf32>) -> tensor<64xf32>
  orch.return %y : tensor<64xf32>
}

// -----

// E-T4: inputs stand in the order of first use, not of their definition; constants are repeated.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %c: tensor<64xf32>, in %b: tensor<64xf32>, in %s: f32, in %a: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:    %k = arith.constant 3.000000e+00 : f32
// CHECK-NEXT:    %t = ptensor.sub %c, %b : tensor<64xf32>
// CHECK-NEXT:    %u = ptensor.muls %t, %s : tensor<64xf32>, f32
// CHECK-NEXT:    %v = ptensor.adds %u, %k : tensor<64xf32>, f32
// CHECK-NEXT:    %w1 = ptensor.add %v, %a : tensor<64xf32>
// CHECK-NEXT:    orch.return %w1 : tensor<64xf32>
// CHECK:         orch.call @main_incore_0(%c, %b, %s, %a)
orch.func opaque @main(in %a : tensor<64xf32>, in %b : tensor<64xf32>, in %c : tensor<64xf32>,
                       in %s : f32) -> tensor<64xf32> {
  %k = arith.constant 3.0 : f32
  %w = orch.incore -> (tensor<64xf32>) {
    %t = ptensor.sub %c, %b : tensor<64xf32>
    %u = ptensor.muls %t, %s : tensor<64xf32>, f32
    %v = ptensor.adds %u, %k : tensor<64xf32>, f32
    %w1 = ptensor.add %v, %a : tensor<64xf32>
    orch.yield %w1 : tensor<64xf32>
  }
  orch.return %w : tensor<64xf32>
}

// -----

// E-T5: outputs that are used come back, in the order of their definition; %dead does not.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK-NEXT:    %y = ptensor.add
// CHECK-NEXT:    %dead = ptensor.sub
// CHECK-NEXT:    %z = ptensor.mul
// CHECK-NEXT:    orch.return %y, %z : tensor<64xf32>, tensor<64xf32>
// CHECK:         %y, %z = orch.call @main_incore_0(%x) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
// CHECK-NEXT:    %w = ptensor.add %z, %y
orch.func opaque @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %z, %dead, %y = orch.incore -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %y = ptensor.add %x, %x : tensor<64xf32>
    %dead = ptensor.sub %x, %x : tensor<64xf32>
    %z = ptensor.mul %x, %x : tensor<64xf32>
    orch.yield %z, %dead, %y : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  %w = ptensor.add %z, %y : tensor<64xf32>
  orch.return %w : tensor<64xf32>
}

// -----

// E-T9: a scope in an arm of an if: the call stands in that arm.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    %y = scf.if %c -> (tensor<64xf32>) {
// CHECK-NEXT:      [[R:%.*]] = orch.call @main_incore_0(%x) : (tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT:      scf.yield [[R]] : tensor<64xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %x : tensor<64xf32>
orch.func opaque @main(in %x : tensor<64xf32>, in %c : i1) -> tensor<64xf32> {
  %y = scf.if %c -> (tensor<64xf32>) {
    %y1 = orch.incore -> (tensor<64xf32>) {
      %y2 = ptensor.add %x, %x : tensor<64xf32>
      orch.yield %y2 : tensor<64xf32>
    }
    scf.yield %y1 : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  orch.return %y : tensor<64xf32>
}

// -----

// E-T10: a kernel with an if inside that has results; O5: one of them is not used and does not
// come back.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %c: i1, in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:    [[C:%.*]] = arith.constant 1 : i32
// CHECK-NEXT:    [[Y:%.*]], %dead = scf.if %c -> (tensor<64xf32>, i32) {
// CHECK:         orch.return [[Y]] : tensor<64xf32>
// CHECK:         %y = orch.call @main_incore_0(%c, %x) : (i1, tensor<64xf32>) -> tensor<64xf32>
orch.func opaque @main(in %x : tensor<64xf32>, in %c : i1) -> tensor<64xf32> {
  %c1 = arith.constant 1 : i32
  %y, %dead = orch.incore -> (tensor<64xf32>, i32) {
    %y1, %dead = scf.if %c -> (tensor<64xf32>, i32) {
      %y2 = ptensor.add %x, %x : tensor<64xf32>
      scf.yield %y2, %c1 : tensor<64xf32>, i32
    } else {
      %y2 = ptensor.mul %x, %x : tensor<64xf32>
      scf.yield %y2, %c1 : tensor<64xf32>, i32
    }
    orch.yield %y1, %dead : tensor<64xf32>, i32
  }
  orch.return %y : tensor<64xf32>
}

// -----

// E-T11: what stands before, inside and after.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %a: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:    %b1 = ptensor.mul %a, %a
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    %a = ptensor.create
// CHECK-NEXT:    %b = orch.call @main_incore_0(%a)
// CHECK-NEXT:    %c = ptensor.reshape %b : tensor<64xf32> -> tensor<8x8xf32>
orch.func opaque @main() -> tensor<8x8xf32> {
  %a = ptensor.create : tensor<64xf32>
  %b = orch.incore -> (tensor<64xf32>) {
    %b1 = ptensor.mul %a, %a : tensor<64xf32>
    orch.yield %b1 : tensor<64xf32>
  }
  %c = ptensor.reshape %b : tensor<64xf32> -> tensor<8x8xf32>
  orch.return %c : tensor<8x8xf32>
}

// -----

// E-T12a: a store whose result goes nowhere: the tensor is an output all the same, and what
// follows uses the result of the call.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(out %buf: tensor<64xf32>) -> tensor<64xf32> {
// CHECK:         tile.store %t, %buf[0]
// CHECK-NEXT:    orch.return %buf : tensor<64xf32>
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    %buf = ptensor.create
// CHECK-NEXT:    [[NEXT:%buf.*]] = orch.call @main_incore_0(%buf) : (tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT:    %r = ptensor.reshape [[NEXT]] :
orch.func opaque @main() -> tensor<8x8xf32> {
  %buf = ptensor.create : tensor<64xf32>
  orch.incore {
    %zero = arith.constant 0.0 : f32
    %t = tile.full %zero : f32 -> !tile.tile<64xf32>
    tile.store %t, %buf[0] : !tile.tile<64xf32>, tensor<64xf32>
  }
  %r = ptensor.reshape %buf : tensor<64xf32> -> tensor<8x8xf32>
  orch.return %r : tensor<8x8xf32>
}

// -----

// E-T12: two store targets, neither yielded: both come back, in the order of the parameters
// (%b is loaded first, and so is the first parameter).
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(inout %b: tensor<64xf32>, out %a: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK:         orch.return %b, %a : tensor<64xf32>, tensor<64xf32>
// CHECK:         [[B:%b.*]], [[A:%a.*]] = orch.call @main_incore_0(%b, %a)
// CHECK-NEXT:    orch.return [[A]], [[B]] :
orch.func opaque @main(out %a : tensor<64xf32>, inout %b : tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>) {
  orch.incore {
    %t = tile.load %b[0] : tensor<64xf32> -> !tile.tile<64xf32>
    tile.store %t, %a[0] : !tile.tile<64xf32>, tensor<64xf32>
    tile.store %t, %b[0] : !tile.tile<64xf32>, tensor<64xf32>
  }
  orch.return %a, %b : tensor<64xf32>, tensor<64xf32>
}

// -----

// E-T13 (#1462): four scopes write one tensor: each call takes the name before.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    [[O1:%.*]] = orch.call @main_incore_0(%x, %out)
// CHECK-NEXT:    [[O2:%.*]] = orch.call @main_incore_1(%x, [[O1]])
// CHECK-NEXT:    [[O3:%.*]] = orch.call @main_incore_2(%x, [[O2]])
// CHECK-NEXT:    [[O4:%.*]] = orch.call @main_incore_3(%x, [[O3]])
// CHECK-NEXT:    orch.return [[O4]] : tensor<4x64xf32>
orch.func opaque @main(in %x : tensor<1x64xf32>, out %out : tensor<4x64xf32>) -> tensor<4x64xf32> {
  orch.incore {
    %t = tile.load %x[0, 0] : tensor<1x64xf32> -> !tile.tile<1x64xf32>
    tile.store %t, %out[0, 0] : !tile.tile<1x64xf32>, tensor<4x64xf32>
  }
  orch.incore {
    %t = tile.load %x[0, 0] : tensor<1x64xf32> -> !tile.tile<1x64xf32>
    tile.store %t, %out[1, 0] : !tile.tile<1x64xf32>, tensor<4x64xf32>
  }
  // This one says itself what it writes.
  %o = orch.incore -> (tensor<4x64xf32>) {
    %t = tile.load %x[0, 0] : tensor<1x64xf32> -> !tile.tile<1x64xf32>
    %o = tile.store %t, %out[2, 0] : !tile.tile<1x64xf32>, tensor<4x64xf32>
    orch.yield %o : tensor<4x64xf32>
  }
  orch.incore {
    %t = tile.load %x[0, 0] : tensor<1x64xf32> -> !tile.tile<1x64xf32>
    tile.store %t, %o[3, 0] : !tile.tile<1x64xf32>, tensor<4x64xf32>
  }
  orch.return %o : tensor<4x64xf32>
}

// -----

// E-T14, E-T15 (#369): the kernel gets what the loop around it carries, %acc, and not what that
// starts from; a loop inside starts from it. Each round makes a new tensor, so what comes back is
// not %acc but the result of the loop.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %acc: tensor<64xf32>, in %y: tensor<64xf32>) -> tensor<64xf32> {
// CHECK:         [[R:%.*]] = scf.for %j = {{.*}} iter_args([[IN:%.*]] = %acc)
// CHECK-NEXT:      [[NEXT:%.*]] = ptensor.add [[IN]], %y
// CHECK-NEXT:      scf.yield [[NEXT]]
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return [[R]] : tensor<64xf32>
// CHECK:         scf.for {{.*}} iter_args(%acc = %x)
// CHECK-NEXT:      [[U:%.*]] = orch.call @main_incore_0(%acc, %y)
// CHECK-NEXT:      scf.yield [[U]]
orch.func opaque @main(in %x : tensor<64xf32>, in %y : tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %x) -> (tensor<64xf32>) {
    %u = orch.incore -> (tensor<64xf32>) {
      %s = scf.for %j = %c0 to %c4 step %c1 iter_args(%inner = %acc) -> (tensor<64xf32>) {
        %n = ptensor.add %inner, %y : tensor<64xf32>
        scf.yield %n : tensor<64xf32>
      }
      orch.yield %s : tensor<64xf32>
    }
    scf.yield %u : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}

// -----

// E-T16: the same in a while loop.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %now: tensor<64xf32>) -> tensor<64xf32> {
// CHECK:         scf.while
// CHECK:           scf.condition
// CHECK:         ^bb0(%now: tensor<64xf32>):
// CHECK-NEXT:      [[U:%.*]] = orch.call @main_incore_0(%now)
// CHECK-NEXT:      scf.yield [[U]]
orch.func opaque @main(in %x : tensor<64xf32>, in %c : i1) -> tensor<64xf32> {
  %r = scf.while (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    scf.condition(%c) %a : tensor<64xf32>
  } do {
  ^bb0(%now : tensor<64xf32>):
    %u = orch.incore -> (tensor<64xf32>) {
      %n = ptensor.add %now, %now : tensor<64xf32>
      orch.yield %n : tensor<64xf32>
    }
    scf.yield %u : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}

// -----

// A value from outside that is yielded as it is is no output; nor is a constant.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0() {
// CHECK-NEXT:    orch.return
// CHECK:         orch.call @main_incore_0() : () -> ()
// CHECK-NEXT:    orch.return %x, %k : tensor<64xf32>, i32
orch.func opaque @main(in %x : tensor<64xf32>) -> (tensor<64xf32>, i32) {
  %k = arith.constant 7 : i32
  %y, %n = orch.incore -> (tensor<64xf32>, i32) {
    orch.yield %x, %k : tensor<64xf32>, i32
  }
  orch.return %y, %n : tensor<64xf32>, i32
}

// -----

// A scalar expression is read where it is used: %a before what the offset is computed from.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %a: tensor<64xf32>, in %j: index, in %i: index, out %out: tensor<64xf32>)
orch.func opaque @main(in %a : tensor<64xf32>, out %out : tensor<64xf32>, in %i : index,
                       in %j : index) -> tensor<64xf32> {
  %r = orch.incore -> (tensor<64xf32>) {
    %twice = arith.addi %i, %i : index
    %off = arith.addi %j, %twice : index
    %t = tile.load %a[%off] : tensor<64xf32> -> !tile.tile<16xf32>
    %o = tile.store %t, %out[%i] : !tile.tile<16xf32>, tensor<64xf32>
    orch.yield %o : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}

// -----

// E-T81, E-T82, E-T83: a graph function stays one, with a scope and without; an opaque function
// with a scope becomes orchestration, without it stays opaque.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func graph @with(in %x
// CHECK:       orch.func graph @without(in %x
// CHECK:       orch.func opaque @opaque(in %x
orch.func graph @with(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %y = orch.incore -> (tensor<64xf32>) {
    %y1 = ptensor.add %x, %x : tensor<64xf32>
    orch.yield %y1 : tensor<64xf32>
  }
  orch.return %y : tensor<64xf32>
}
orch.func graph @without(in %x : tensor<64xf32>) -> tensor<64xf32> {
  orch.return %x : tensor<64xf32>
}
orch.func opaque @opaque(in %x : tensor<64xf32>) -> tensor<64xf32> {
  orch.return %x : tensor<64xf32>
}

// -----

// The order of reading is that of PyPTO's calls: the destination of an assemble and of a write
// comes first, that of a store after its offsets.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(out %a: tensor<64xf32>, in %x: tensor<8xf32>, in %i: index, out %b: tensor<64xf32>, in %j: index, in %v: f32, in %k: index, out %c: tensor<64xf32>)
orch.func opaque @main(in %x : tensor<8xf32>, in %v : f32, in %i : index, in %j : index, in %k : index,
                       out %a : tensor<64xf32>, out %b : tensor<64xf32>, out %c : tensor<64xf32>) {
  orch.incore {
    %a1 = ptensor.assemble %x, %a[%i] : tensor<8xf32>, tensor<64xf32>
    %b1 = ptensor.write %v, %b[%j] : f32, tensor<64xf32>
    %t = tile.load %x[0] : tensor<8xf32> -> !tile.tile<8xf32>
    %c1 = tile.store %t, %c[%k] : !tile.tile<8xf32>, tensor<64xf32>
  }
  orch.return
}

// -----

// A buffer on chip is the kernel's: it is declared there.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<16x64xf32>, out %out: tensor<16x64xf32>) -> tensor<16x64xf32> {
// CHECK-NEXT:    %ping = tile.alloc buffer = "ping", pinned : !tile.buffer
// CHECK:         %p = tile.place %t, %ping[0]
// CHECK:       orch.func orchestration @main(
// CHECK-NEXT:    %r = orch.call @main_incore_0(%x, %out)
orch.func opaque @main(in %x : tensor<16x64xf32>, out %out : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %ping = tile.alloc buffer = "ping", pinned : !tile.buffer
  %r = orch.incore -> (tensor<16x64xf32>) {
    %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
    %p = tile.place %t, %ping[0] : !tile.tile<16x64xf32, vec>, !tile.buffer
    %o = tile.store %p, %out[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
    orch.yield %o : tensor<16x64xf32>
  }
  orch.return %r : tensor<16x64xf32>
}
