// What there is nothing to repair in stays as it is.

// RUN: pypto-opt --resolve-backend-op-layouts %s | filecheck %s --check-prefixes CHECK,NONE
// The option names the target of a program that does not.
// RUN: pypto-opt --resolve-backend-op-layouts='backend=ascend910b' %s | filecheck %s --check-prefixes CHECK,SOME

// B-T10: no target, nothing to do.
// CHECK-LABEL: orch.func incore @column
// NONE:          %r = tile.abs %t : !tile.tile<16x1xf32, vec>
// SOME:          tile.abs %{{\S+}} : !tile.tile<1x16xf32, vec>
orch.func incore @column() {
  %t = tile.create : !tile.tile<16x1xf32, vec>
  %r = tile.abs %t : !tile.tile<16x1xf32, vec>
  orch.return
}

// B-T1: an expansion means its column to be a column.
// CHECK-LABEL: orch.func incore @row_expand_add
// CHECK-NEXT:    %m = tile.create
// CHECK-NEXT:    %v = tile.create
// CHECK-NEXT:    %r = tile.row_expand_add %m, %v : !tile.tile<16x32xf32, vec>, !tile.tile<16x1xf32, vec>
// CHECK-NEXT:    orch.return
orch.func incore @row_expand_add() {
  %m = tile.create : !tile.tile<16x32xf32, vec>
  %v = tile.create : !tile.tile<16x1xf32, vec>
  %r = tile.row_expand_add %m, %v : !tile.tile<16x32xf32, vec>, !tile.tile<16x1xf32, vec>
  orch.return
}

// B-T9: only kernels compute on tiles.
// CHECK-LABEL: orch.func group @group
// CHECK-NEXT:    %t = tile.create
// CHECK-NEXT:    %r = tile.abs %t : !tile.tile<16x1xf32, vec>
orch.func group @group() {
  %t = tile.create : !tile.tile<16x1xf32, vec>
  %r = tile.abs %t : !tile.tile<16x1xf32, vec>
  orch.return
}

// B-T11, B-T12: an op that takes any layout; one whose tiles are all row-major, [1, 1] and rows
// of a number known only at run time among them.
// CHECK-LABEL: orch.func incore @nothing_to_repair
// CHECK-NEXT:    %c = tile.create
// CHECK-NEXT:    %neg = tile.neg %c : !tile.tile<16x1xf32, vec>
// CHECK-NEXT:    %m = tile.create
// CHECK-NEXT:    %a = tile.add %m, %m : !tile.tile<16x32xf32, vec>
// CHECK-NEXT:    %o = tile.create
// CHECK-NEXT:    %p = tile.abs %o : !tile.tile<1x1xf32, vec>
// CHECK-NEXT:    %dyn = tile.load
// CHECK-NEXT:    %d = tile.abs %dyn : !tile.tile<?x1xf32, vec>
// CHECK-NEXT:    orch.return
orch.func incore @nothing_to_repair(in %x : tensor<16x1xf32>, in %n : index) {
  %c = tile.create : !tile.tile<16x1xf32, vec>
  %neg = tile.neg %c : !tile.tile<16x1xf32, vec>
  %m = tile.create : !tile.tile<16x32xf32, vec>
  %a = tile.add %m, %m : !tile.tile<16x32xf32, vec>
  %o = tile.create : !tile.tile<1x1xf32, vec>
  %p = tile.abs %o : !tile.tile<1x1xf32, vec>
  %dyn = tile.load %x[0, 0], valid = [%n, 1] : tensor<16x1xf32> -> !tile.tile<?x1xf32, vec>
  %d = tile.abs %dyn : !tile.tile<?x1xf32, vec>
  orch.return
}
