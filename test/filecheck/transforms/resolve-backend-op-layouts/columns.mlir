// A column [N, 1] is seen as the row [1, N], which has the same bytes: no element moves.

// RUN: pypto-opt --resolve-backend-op-layouts %s | filecheck %s
// The repair is idempotent (B-T16) and leaves nothing to repair.
// RUN: pypto-opt --resolve-backend-op-layouts --resolve-backend-op-layouts --verify-property=BackendLayoutsSatisfied %s | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// B-T2: each op that wants rows is wrapped on its own, an intermediate column is turned again.
// The reduction and the creation take columns as they are. (L2: the sum of partial row sums.)
// CHECK-LABEL: orch.func incore @repro
// CHECK-NEXT:    %zero = arith.constant
// CHECK-NEXT:    %acc = tile.create : !tile.tile<16x1xf32, vec>
// CHECK-NEXT:    [[ROW0:%\S+]] = tile.reshape %acc : !tile.tile<16x1xf32, vec> -> !tile.tile<1x16xf32, vec>
// CHECK-NEXT:    [[MULS:%\S+]] = tile.muls [[ROW0]], %zero : !tile.tile<1x16xf32, vec>, f32
// CHECK-NEXT:    [[ACC1:%\S+]] = tile.reshape [[MULS]] : !tile.tile<1x16xf32, vec> -> !tile.tile<16x1xf32, vec>
// CHECK-NEXT:    %chunk = tile.load
// CHECK-NEXT:    %tmp = tile.create
// CHECK-NEXT:    %partial = tile.row_sum %chunk, %tmp : !tile.tile<16x256xf32, vec> -> !tile.tile<16x1xf32, vec>
// CHECK-NEXT:    [[ROW1:%\S+]] = tile.reshape [[ACC1]] : !tile.tile<16x1xf32, vec> -> !tile.tile<1x16xf32, vec>
// CHECK-NEXT:    [[ROW2:%\S+]] = tile.reshape %partial : !tile.tile<16x1xf32, vec> -> !tile.tile<1x16xf32, vec>
// CHECK-NEXT:    [[SUM:%\S+]] = tile.add [[ROW1]], [[ROW2]] : !tile.tile<1x16xf32, vec>
// CHECK-NEXT:    %updated = tile.reshape [[SUM]] : !tile.tile<1x16xf32, vec> -> !tile.tile<16x1xf32, vec>
// CHECK-NEXT:    %stored = tile.store %updated, %out[0, 0] : !tile.tile<16x1xf32, vec>, tensor<16x1xf32>
// CHECK-NEXT:    orch.return %stored
orch.func incore @repro(in %data : tensor<16x256xf32>, out %out : tensor<16x1xf32>) -> tensor<16x1xf32> {
  %zero = arith.constant 0.0 : f32
  %acc = tile.create : !tile.tile<16x1xf32, vec>
  %acc_1 = tile.muls %acc, %zero : !tile.tile<16x1xf32, vec>, f32
  %chunk = tile.load %data[0, 0] : tensor<16x256xf32> -> !tile.tile<16x256xf32, vec>
  %tmp = tile.create : !tile.tile<16x256xf32, vec>
  %partial = tile.row_sum %chunk, %tmp : !tile.tile<16x256xf32, vec> -> !tile.tile<16x1xf32, vec>
  %updated = tile.add %acc_1, %partial : !tile.tile<16x1xf32, vec>
  %stored = tile.store %updated, %out[0, 0] : !tile.tile<16x1xf32, vec>, tensor<16x1xf32>
  orch.return %stored : tensor<16x1xf32>
}

// B-T3, B-T18: a unary op, in a function of a vector core.
// CHECK-LABEL: orch.func aiv @unary
// CHECK:         [[ROW:%\S+]] = tile.reshape %t : {{.*}} -> !tile.tile<1x16xf32, vec>
// CHECK-NEXT:    [[ABS:%\S+]] = tile.abs [[ROW]] : !tile.tile<1x16xf32, vec>
// CHECK-NEXT:    %r = tile.reshape [[ABS]] : !tile.tile<1x16xf32, vec> -> !tile.tile<16x1xf32, vec>
orch.func aiv @unary(in %x : tensor<16x1xf32>, out %out : tensor<16x1xf32>) -> tensor<16x1xf32> {
  %t = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
  %r = tile.abs %t : !tile.tile<16x1xf32, vec>
  %s = tile.store %r, %out[0, 0] : !tile.tile<16x1xf32, vec>, tensor<16x1xf32>
  orch.return %s : tensor<16x1xf32>
}

// B-T4, L3: a cast, whose result holds other elements.
// CHECK-LABEL: orch.func incore @cast
// CHECK:         [[ROW:%\S+]] = tile.reshape %t : !tile.tile<16x1xi32, vec> -> !tile.tile<1x16xi32, vec>
// CHECK-NEXT:    [[CAST:%\S+]] = tile.cast [[ROW]], target_type = i16, mode = trunc : !tile.tile<1x16xi32, vec> -> !tile.tile<1x16xi16, vec>
// CHECK-NEXT:    %r = tile.reshape [[CAST]] : !tile.tile<1x16xi16, vec> -> !tile.tile<16x1xi16, vec>
orch.func incore @cast(in %x : tensor<16x1xi32>, out %out : tensor<16x1xi16>) -> tensor<16x1xi16> {
  %t = tile.load %x[0, 0] : tensor<16x1xi32> -> !tile.tile<16x1xi32, vec>
  %r = tile.cast %t, target_type = i16, mode = trunc : !tile.tile<16x1xi32, vec> -> !tile.tile<16x1xi16, vec>
  %s = tile.store %r, %out[0, 0] : !tile.tile<16x1xi16, vec>, tensor<16x1xi16>
  orch.return %s : tensor<16x1xi16>
}

// B-T5, B-T6, L4: a scalar operand stays as it is and does not stop the repair.
// CHECK-LABEL: orch.func incore @scalars
// CHECK:         tile.muls %{{\S+}}, %k : !tile.tile<1x16xf32, vec>, f32
// CHECK:         tile.subs %{{\S+}}, %k : !tile.tile<1x16xf32, vec>, f32
orch.func incore @scalars(in %x : tensor<16x1xf32>, in %k : f32) {
  %t = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
  %m = tile.muls %t, %k : !tile.tile<16x1xf32, vec>, f32
  %r = tile.subs %m, %k : !tile.tile<16x1xf32, vec>, f32
  orch.return
}

// B-T14: a value used twice is turned twice.
// CHECK-LABEL: orch.func incore @twice
// CHECK:         [[A:%\S+]] = tile.reshape %t
// CHECK-NEXT:    [[B:%\S+]] = tile.reshape %t
// CHECK-NEXT:    tile.add [[A]], [[B]] : !tile.tile<1x16xf32, vec>
orch.func incore @twice(in %x : tensor<16x1xf32>) {
  %t = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
  %r = tile.add %t, %t : !tile.tile<16x1xf32, vec>
  orch.return
}

// B-T19: the valid region turns with the tile, a run-time extent too; a pad value stays.
// CHECK-LABEL: orch.func incore @valid
// CHECK:         [[ROW:%\S+]] = tile.reshape %t : {{.*}} -> !tile.tile<1x16xf32, vec, valid = [1, 8], pad = zero>
// CHECK-NEXT:    [[ABS:%\S+]] = tile.abs [[ROW]] : !tile.tile<1x16xf32, vec, valid = [1, 8], pad = zero>
// CHECK-NEXT:    %a = tile.reshape [[ABS]] : {{.*}} -> !tile.tile<16x1xf32, vec, valid = [8, 1], pad = zero>
// CHECK:         [[ROW:%\S+]] = tile.reshape %u : {{.*}} -> !tile.tile<1x16xf32, vec, valid = [1, ?]>
// CHECK-NEXT:    [[ABS:%\S+]] = tile.abs [[ROW]] : !tile.tile<1x16xf32, vec, valid = [1, ?]>
// CHECK-NEXT:    %b = tile.reshape [[ABS]] : {{.*}} -> !tile.tile<16x1xf32, vec, valid = [?, 1]>
orch.func incore @valid(in %x : tensor<16x1xf32>, in %n : index) {
  %t = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec, valid = [8, 1], pad = zero>
  %a = tile.abs %t : !tile.tile<16x1xf32, vec, valid = [8, 1], pad = zero>
  %u = tile.load %x[0, 0], valid = [%n, 1] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec, valid = [?, 1]>
  %b = tile.abs %u : !tile.tile<16x1xf32, vec, valid = [?, 1]>
  orch.return
}

// B-T13: inside loops and branches the repair stays where the op is, and what they carry keeps
// its type.
// CHECK-LABEL: orch.func incore @nested
// CHECK:         %{{\S+}} = scf.for %i = %lo to %hi step %one iter_args(%acc = %t) -> (!tile.tile<16x1xf32, vec>)
// CHECK-NEXT:      %{{\S+}} = scf.if %c -> (!tile.tile<16x1xf32, vec>) {
// CHECK-NEXT:        [[ROW:%\S+]] = tile.reshape %acc
// CHECK-NEXT:        [[EXP:%\S+]] = tile.exp [[ROW]] : !tile.tile<1x16xf32, vec>
// CHECK-NEXT:        %e = tile.reshape [[EXP]]
// CHECK-NEXT:        scf.yield %e : !tile.tile<16x1xf32, vec>
orch.func incore @nested(in %x : tensor<16x1xf32>, in %lo : index, in %hi : index, in %c : i1) {
  %one = arith.constant 1 : index
  %t = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
  %r = scf.for %i = %lo to %hi step %one iter_args(%acc = %t) -> (!tile.tile<16x1xf32, vec>) {
    %s = scf.if %c -> (!tile.tile<16x1xf32, vec>) {
      %e = tile.exp %acc : !tile.tile<16x1xf32, vec>
      scf.yield %e : !tile.tile<16x1xf32, vec>
    } else {
      scf.yield %acc : !tile.tile<16x1xf32, vec>
    }
    scf.yield %s : !tile.tile<16x1xf32, vec>
  }
  orch.return
}

// The operands of an op are repaired together: a [16, 1] that claims to be row-major is turned
// with the other, and scratch too.
// CHECK-LABEL: orch.func incore @together
// CHECK:         tile.add %{{\S+}}, %{{\S+}} : !tile.tile<1x16xf32, vec>
// CHECK:         tile.rem %{{\S+}}, %{{\S+}}, %{{\S+}} : !tile.tile<1x16xf32, vec>
orch.func incore @together(in %x : tensor<16x1xf32>, in %y : tensor<16x1xf32>) {
  %t = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
  %u = tile.load %y[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec, blayout = row_major>
  %a = tile.add %t, %u : !tile.tile<16x1xf32, vec>, !tile.tile<16x1xf32, vec, blayout = row_major> -> !tile.tile<16x1xf32, vec>
  %tmp = tile.create : !tile.tile<16x1xf32, vec>
  %r = tile.rem %t, %a, %tmp : !tile.tile<16x1xf32, vec>
  orch.return
}

// A generator makes the row, which is then seen as the column.
// CHECK-LABEL: orch.func incore @generator
// CHECK:         [[ROW:%\S+]] = tile.full %k : f32 -> !tile.tile<1x16xf32, vec>
// CHECK-NEXT:    %f = tile.reshape [[ROW]] : !tile.tile<1x16xf32, vec> -> !tile.tile<16x1xf32, vec>
orch.func incore @generator(in %k : f32) {
  %f = tile.full %k : f32 -> !tile.tile<16x1xf32, vec>
  orch.return
}

// B-T15: a selection between columns. Its mask has a byte for each row; between rows it has a bit
// for each column, so the comparison is done on rows as well, and the first one goes. The scalar
// stays as it is.
// CHECK-LABEL: orch.func incore @select
// CHECK:         %t = tile.load
// CHECK-NEXT:    %tmp = tile.create
// CHECK-NEXT:    [[T:%\S+]] = tile.reshape %t
// CHECK-NEXT:    [[M:%\S+]] = tile.cmps [[T]], %k, cmp_type = gt : !tile.tile<1x16xf32, vec>, f32 -> !tile.tile<1x32xui8, vec, valid = [1, 2]>
// CHECK-NEXT:    [[U:%\S+]] = tile.reshape %t
// CHECK-NEXT:    [[S:%\S+]] = tile.sels [[M]], [[U]], %tmp, %k : {{.*}} -> !tile.tile<1x16xf32, vec>
// CHECK-NEXT:    %s = tile.reshape [[S]] : !tile.tile<1x16xf32, vec> -> !tile.tile<16x1xf32, vec>
// CHECK-NEXT:    orch.return
orch.func incore @select(in %x : tensor<16x1xf32>, in %k : f32) {
  %t = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
  %tmp = tile.create : !tile.tile<1x32xui8, vec>
  %m = tile.cmps %t, %k, cmp_type = gt : !tile.tile<16x1xf32, vec>, f32 -> !tile.tile<16x32xui8, vec, valid = [16, 1]>
  %s = tile.sels %m, %t, %tmp, %k : !tile.tile<16x32xui8, vec, valid = [16, 1]>, !tile.tile<16x1xf32, vec>, !tile.tile<1x32xui8, vec>, f32 -> !tile.tile<16x1xf32, vec>
  orch.return
}

// A comparison that takes columns as they are stays for those who need its mask as it is.
// CHECK-LABEL: orch.func incore @mask_of_columns
// CHECK:         %m = tile.cmp %t, %t : !tile.tile<16x1xf32, vec> -> !tile.tile<16x32xui8, vec, valid = [16, 1]>
// CHECK:         tile.cmp %{{\S+}}, %{{\S+}} : !tile.tile<1x16xf32, vec> -> !tile.tile<1x32xui8, vec, valid = [1, 2]>
// CHECK:         tile.store %m
orch.func incore @mask_of_columns(in %x : tensor<16x1xf32>, out %y : tensor<16x32xui8>) -> tensor<16x32xui8> {
  %t = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
  %tmp = tile.create : !tile.tile<1x32xui8, vec>
  %m = tile.cmp %t, %t, cmp_type = eq : !tile.tile<16x1xf32, vec> -> !tile.tile<16x32xui8, vec, valid = [16, 1]>
  %s = tile.sel %m, %t, %t, %tmp : !tile.tile<16x32xui8, vec, valid = [16, 1]>, !tile.tile<16x1xf32, vec>, !tile.tile<16x1xf32, vec>, !tile.tile<1x32xui8, vec> -> !tile.tile<16x1xf32, vec>
  %y1 = tile.store %m, %y[0, 0] : !tile.tile<16x32xui8, vec, valid = [16, 1]>, tensor<16x32xui8>
  orch.return %y1 : tensor<16x32xui8>
}

// Attributes of the op survive.
// CHECK-LABEL: orch.func incore @attributes
// CHECK:         tile.log %{{\S+}}, high_precision = true {note = "kept"} : !tile.tile<1x16xf32, vec>
orch.func incore @attributes(in %x : tensor<16x1xf32>) {
  %t = tile.load %x[0, 0] : tensor<16x1xf32> -> !tile.tile<16x1xf32, vec>
  %r = tile.log %t, high_precision = true {note = "kept"} : !tile.tile<16x1xf32, vec>
  orch.return
}

}
