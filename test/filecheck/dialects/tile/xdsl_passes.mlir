// xDSL's own passes are safe on these dialects: what ops do to memory follows from what they declare.

// RUN: pypto-opt --dce --cse --licm --canonicalize %s | filecheck %s

// Two creations are two buffers, equal as they look; computing the same twice is not two results.
// CHECK-LABEL: orch.func orchestration @buffers
// CHECK:         %a = ptensor.create
// CHECK-NEXT:    %b = ptensor.create
// CHECK-NEXT:    %a1 = ptensor.write %k, %a[0]
// CHECK-NEXT:    %b1 = ptensor.write %k, %b[1]
// CHECK-NEXT:    orch.return %a1, %b1
orch.func orchestration @buffers(in %k : f32) -> (tensor<16xf32>, tensor<16xf32>) {
  %a = ptensor.create : tensor<16xf32>
  %b = ptensor.create : tensor<16xf32>
  %a1 = ptensor.write %k, %a[0] : f32, tensor<16xf32>
  %b1 = ptensor.write %k, %b[1] : f32, tensor<16xf32>
  orch.return %a1, %b1 : tensor<16xf32>, tensor<16xf32>
}

// Two loads with a write between are two values; the tile that nobody needs goes, the stores stay.
// CHECK-LABEL: orch.func incore @loads
// CHECK-NEXT:    %t = tile.load %x[0]
// CHECK-NEXT:    %s = tile.add %t, %t
// CHECK-NEXT:    %x1 = tile.store %s, %x[0]
// CHECK-NEXT:    %u = tile.load %x1[0]
// CHECK-NEXT:    %x2 = tile.store %u, %x1[0]
// CHECK-NEXT:    orch.return %x2
orch.func incore @loads(inout %x : tensor<16xf32>) -> tensor<16xf32> {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %s = tile.add %t, %t : !tile.tile<16xf32>
  %dead = tile.mul %t, %s : !tile.tile<16xf32>
  %x1 = tile.store %s, %x[0] : !tile.tile<16xf32>, tensor<16xf32>
  %u = tile.load %x1[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %x2 = tile.store %u, %x1[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %x2 : tensor<16xf32>
}

// Tiles are values: an update in place on the hardware is a pure op here, and equal ones are one.
// CHECK-LABEL: orch.func incore @values
// CHECK:         %p = tile.fillpad_inplace %t
// CHECK-NOT:     tile.fillpad_inplace
// CHECK:         tile.add %p, %p
orch.func incore @values(in %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> {
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec, valid = [8, 16]>
  %p = tile.fillpad_inplace %t : !tile.tile<16x16xf32, vec, valid = [8, 16]> -> !tile.tile<16x16xf32, vec, pad = zero>
  %q = tile.fillpad_inplace %t : !tile.tile<16x16xf32, vec, valid = [8, 16]> -> !tile.tile<16x16xf32, vec, pad = zero>
  %s = tile.add %p, %q : !tile.tile<16x16xf32, vec, pad = zero>
  %y1 = tile.store %s, %y[0, 0] : !tile.tile<16x16xf32, vec, pad = zero>, tensor<16x16xf32>
  orch.return %y1 : tensor<16x16xf32>
}

// What a loop computes anew each time without need is hoisted; barriers and transfers stay where
// they are, as often as they are.
// CHECK-LABEL: orch.func incore @loop
// CHECK:         %e = tile.exp %t
// CHECK:         scf.for
// CHECK-NEXT:      tile.bar_v
// CHECK-NEXT:      tile.tpush_to_aic %e
// CHECK-NEXT:      tile.bar_v
orch.func incore @loop(in %x : tensor<16x16xf32>, in %n : index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  scf.for %i = %zero to %n step %one {
    %e = tile.exp %t : !tile.tile<16x16xf32, vec>
    tile.bar_v
    tile.tpush_to_aic %e : !tile.tile<16x16xf32, vec>
    tile.bar_v
  }
  orch.return
}

// A window that may lie outside is taken where the program takes it, and nowhere else: the loop may
// make no turn. What cannot fail goes in front of the loop.
// CHECK-LABEL: orch.func incore @loops
// CHECK:         %e = tile.exp %t
// CHECK:         scf.for
// CHECK-NEXT:      %s = tile.slice %e[%n, 0]
// CHECK-NEXT:      %w1 = tile.assemble %s, %w[0, 0]
orch.func incore @loops(in %x : tensor<32x64xf32>, out %y : tensor<32x64xf32>, in %n : index) -> tensor<32x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32, vec>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%w = %t) -> (!tile.tile<32x64xf32, vec>) {
    %e = tile.exp %t : !tile.tile<32x64xf32, vec>
    %s = tile.slice %e[%n, 0] : !tile.tile<32x64xf32, vec> -> !tile.tile<8x64xf32, vec>
    %w1 = tile.assemble %s, %w[0, 0] : !tile.tile<8x64xf32, vec>, !tile.tile<32x64xf32, vec> -> !tile.tile<32x64xf32, vec>
    scf.yield %w1 : !tile.tile<32x64xf32, vec>
  }
  %y1 = tile.store %r, %y[0, 0] : !tile.tile<32x64xf32, vec>, tensor<32x64xf32>
  orch.return %y1 : tensor<32x64xf32>
}
