// A matrix that is not row-major is copied within its memory, and the result copied back.

// RUN: pypto-opt --resolve-backend-op-layouts %s | filecheck %s
// RUN: pypto-opt --resolve-backend-op-layouts --resolve-backend-op-layouts --verify-property=BackendLayoutsSatisfied %s | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// B-T7: both layouts of the original are restored.
// CHECK-LABEL: orch.func incore @exp
// CHECK:         [[ROW:%\S+]] = tile.move %m : !tile.tile<16x256xf32, vec, blayout = col_major, slayout = row_major> -> !tile.tile<16x256xf32, vec>
// CHECK-NEXT:    [[EXP:%\S+]] = tile.exp [[ROW]] : !tile.tile<16x256xf32, vec>
// CHECK-NEXT:    %e = tile.move [[EXP]] : !tile.tile<16x256xf32, vec> -> !tile.tile<16x256xf32, vec, blayout = col_major, slayout = row_major>
orch.func incore @exp() {
  %m = tile.create : !tile.tile<16x256xf32, vec, blayout = col_major, slayout = row_major>
  %e = tile.exp %m : !tile.tile<16x256xf32, vec, blayout = col_major, slayout = row_major>
  orch.return
}

// L1: an op between that takes any layout passes the wrong one on.
// CHECK-LABEL: orch.func incore @through_neg
// CHECK:         %n = tile.neg %m : !tile.tile<16x256xf32, vec, blayout = col_major>
// CHECK-NEXT:    [[ROW:%\S+]] = tile.move %n : {{.*}} -> !tile.tile<16x256xf32, vec>
// CHECK-NEXT:    [[EXP:%\S+]] = tile.exp [[ROW]] : !tile.tile<16x256xf32, vec>
// CHECK-NEXT:    %e = tile.move [[EXP]] : {{.*}} -> !tile.tile<16x256xf32, vec, blayout = col_major>
orch.func incore @through_neg() {
  %m = tile.create : !tile.tile<16x256xf32, vec, blayout = col_major>
  %n = tile.neg %m : !tile.tile<16x256xf32, vec, blayout = col_major>
  %e = tile.exp %n : !tile.tile<16x256xf32, vec, blayout = col_major>
  orch.return
}

// Mixed operands: only those stored otherwise are copied, and a row-major result stays.
// CHECK-LABEL: orch.func incore @mixed
// CHECK:         [[ROW:%\S+]] = tile.move %c : {{.*}} -> !tile.tile<16x256xf32, vec>
// CHECK-NEXT:    %s = tile.add %r, [[ROW]] : !tile.tile<16x256xf32, vec>
// CHECK-NEXT:    orch.return
orch.func incore @mixed() {
  %r = tile.create : !tile.tile<16x256xf32, vec>
  %c = tile.create : !tile.tile<16x256xf32, vec, blayout = col_major>
  %s = tile.add %r, %c : !tile.tile<16x256xf32, vec>, !tile.tile<16x256xf32, vec, blayout = col_major> -> !tile.tile<16x256xf32, vec>
  orch.return
}

// A valid region stays, a run-time one too.
// CHECK-LABEL: orch.func incore @valid
// CHECK:         [[ROW:%\S+]] = tile.move %m : {{.*}} -> !tile.tile<16x32xf32, vec, valid = [?, 20]>
// CHECK-NEXT:    [[EXP:%\S+]] = tile.exp [[ROW]] : !tile.tile<16x32xf32, vec, valid = [?, 20]>
// CHECK-NEXT:    %e = tile.move [[EXP]] : {{.*}} -> !tile.tile<16x32xf32, vec, valid = [?, 20], blayout = col_major>
orch.func incore @valid(in %n : index) {
  %m = tile.create valid = [%n, 20] : !tile.tile<16x32xf32, vec, valid = [?, 20], blayout = col_major>
  %e = tile.exp %m : !tile.tile<16x32xf32, vec, valid = [?, 20], blayout = col_major>
  orch.return
}

// B-T15: of a selection the mask, the tiles and the scratch are repaired, the scalar is not.
// CHECK-LABEL: orch.func incore @select
// CHECK:         [[SRC:%\S+]] = tile.move %src : {{.*}} -> !tile.tile<16x32xf32, vec>
// CHECK-NEXT:    [[SEL:%\S+]] = tile.sels %mask, [[SRC]], %tmp, %k : !tile.tile<16x32xui8, vec>, !tile.tile<16x32xf32, vec>, !tile.tile<1x32xui8, vec>, f32 -> !tile.tile<16x32xf32, vec>
// CHECK-NEXT:    %r = tile.move [[SEL]] : {{.*}} -> !tile.tile<16x32xf32, vec, blayout = col_major>
orch.func incore @select(in %k : f32) {
  %mask = tile.create : !tile.tile<16x32xui8, vec>
  %src = tile.create : !tile.tile<16x32xf32, vec, blayout = col_major>
  %tmp = tile.create : !tile.tile<1x32xui8, vec>
  %r = tile.sels %mask, %src, %tmp, %k : !tile.tile<16x32xui8, vec>, !tile.tile<16x32xf32, vec, blayout = col_major>, !tile.tile<1x32xui8, vec>, f32 -> !tile.tile<16x32xf32, vec, blayout = col_major>
  orch.return
}

// A comparison wants its first operand and its mask in rows; the mask already is.
// CHECK-LABEL: orch.func incore @compare
// CHECK:         [[ROW:%\S+]] = tile.move %m : {{.*}} -> !tile.tile<16x32xf32, vec>
// CHECK-NEXT:    %r = tile.cmps [[ROW]], %k, cmp_type = gt : !tile.tile<16x32xf32, vec>, f32 -> !tile.tile<16x32xui8, vec, valid = [16, 4]>
// CHECK-NEXT:    orch.return
orch.func incore @compare(in %k : f32) {
  %m = tile.create : !tile.tile<16x32xf32, vec, blayout = col_major>
  %r = tile.cmps %m, %k, cmp_type = gt : !tile.tile<16x32xf32, vec, blayout = col_major>, f32 -> !tile.tile<16x32xui8, vec, valid = [16, 4]>
  orch.return
}

}
