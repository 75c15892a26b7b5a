// The direction of a parameter: what the body does with it, through every name it has there.

// RUN: pypto-opt --outline-incore-scopes --split-input-file %s | filecheck %s

// E-T17, D5, A4: only the destination of an assemble: the untouched part is not moved in.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(in %a: tensor<16x64xf32>, out %out: tensor<64x64xf32>)
orch.func opaque @main(in %a : tensor<16x64xf32>, out %out : tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = orch.incore -> (tensor<64x64xf32>) {
    %t = ptensor.add %a, %a : tensor<16x64xf32>
    %o = ptensor.assemble %t, %out[16, 0] : tensor<16x64xf32>, tensor<64x64xf32>
    orch.yield %o : tensor<64x64xf32>
  }
  orch.return %r : tensor<64x64xf32>
}

// -----

// E-T18: a slice is read as well.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(inout %out: tensor<64x64xf32>)
orch.func opaque @main(inout %out : tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = orch.incore -> (tensor<64x64xf32>) {
    %s = ptensor.slice %out[0, 0] : tensor<64x64xf32> -> tensor<16x64xf32>
    %t = ptensor.add %s, %s : tensor<16x64xf32>
    %o = ptensor.assemble %t, %out[16, 0] : tensor<16x64xf32>, tensor<64x64xf32>
    orch.yield %o : tensor<64x64xf32>
  }
  orch.return %r : tensor<64x64xf32>
}

// -----

// E-T19, A4: a read by the name after the write needs what came in: it may lie beside the write.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(inout %out: tensor<64x64xf32>, in %a: tensor<16x64xf32>, out %b: tensor<64x64xf32>)
orch.func opaque @main(in %a : tensor<16x64xf32>, inout %out : tensor<64x64xf32>,
                       out %b : tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %r, %q = orch.incore -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %o = ptensor.assemble %a, %out[16, 0] : tensor<16x64xf32>, tensor<64x64xf32>
    %o1 = ptensor.assemble %a, %o[32, 0] : tensor<16x64xf32>, tensor<64x64xf32>
    %s = ptensor.slice %o1[0, 0] : tensor<64x64xf32> -> tensor<16x64xf32>
    // Chained writes are no reads: %b is only written.
    %b1 = ptensor.assemble %s, %b[0, 0] : tensor<16x64xf32>, tensor<64x64xf32>
    %b2 = ptensor.assemble %s, %b1[16, 0] : tensor<16x64xf32>, tensor<64x64xf32>
    orch.yield %o1, %b2 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  orch.return %r, %q : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// E-T20, E-T21: an atomic store or assemble reads what it adds to.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(in %a: tensor<16x64xf32>, inout %p: tensor<64x64xf32>, inout %q: tensor<64x64xf32>)
orch.func opaque @main(in %a : tensor<16x64xf32>, inout %p : tensor<64x64xf32>,
                       inout %q : tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %r, %s = orch.incore -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %t = tile.load %a[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
    %p1 = tile.store %t, %p[0, 0], atomic = add : !tile.tile<16x64xf32>, tensor<64x64xf32>
    %q1 = ptensor.assemble %a, %q[0, 0], atomic = add : tensor<16x64xf32>, tensor<64x64xf32>
    orch.yield %p1, %q1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  orch.return %r, %s : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// E-T22, E-T60: marking a tensor for a dump, or answering for its order, is no read.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(in %a: tensor<64xf32>, out %out: tensor<64xf32>)
// CHECK:         orch.call @main_incore_0(%a, %out) no_dep [1] dump [1] :
orch.func opaque @main(in %a : tensor<64xf32>, out %out : tensor<64xf32>) -> tensor<64xf32> {
  %r = orch.incore no_dep [%out : tensor<64xf32>] dump [%out : tensor<64xf32>] -> (tensor<64xf32>) {
    %t = tile.load %a[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %o = tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %o : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}

// -----

// E-T23 (#2415): each core of an spmd scope writes its own row: the tensor is not read.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(in %x: tensor<4x64xf32>, out %out: tensor<4x64xf32>)
orch.func orchestration @main(in %x : tensor<4x64xf32>, out %out : tensor<4x64xf32>)
    -> tensor<4x64xf32> {
  %c4 = arith.constant 4 : index
  %r = orch.spmd launch %c4 -> (tensor<4x64xf32>) {
    %r1 = orch.incore -> (tensor<4x64xf32>) {
      %i = tile.get_block_idx : index
      %s = ptensor.slice %x[%i, 0] : tensor<4x64xf32> -> tensor<1x64xf32>
      %o = ptensor.assemble %s, %out[%i, 0] : tensor<1x64xf32>, tensor<4x64xf32>
      orch.yield %o : tensor<4x64xf32>
    }
    orch.yield %r1 : tensor<4x64xf32>
  }
  orch.return %r : tensor<4x64xf32>
}

// -----

// E-S13: every op that declares a write makes the parameter an output: here ptensor.write.
// Its scalar comes from %s, which is read.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(in %s: tensor<4xf32>, out %out: tensor<4xf32>)
// CHECK:           orch.return %out
orch.func opaque @main(in %s : tensor<4xf32>, out %out : tensor<4xf32>) -> tensor<4xf32> {
  orch.incore {
    %v = ptensor.read %s[0] : tensor<4xf32> -> f32
    %o = ptensor.write %v, %out[1] : f32, tensor<4xf32>
  }
  orch.return %out : tensor<4xf32>
}

// -----

// A new valid shape names the tensor and is a read of it; writes through it are writes of it.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(in %x: tensor<64xf32>, in %n: index, inout %out: tensor<64xf32>)
orch.func opaque @main(in %x : tensor<64xf32>, inout %out : tensor<64xf32>, in %n : index)
    -> tensor<64xf32> {
  orch.incore {
    %v = ptensor.set_validshape %x, valid = [%n] : tensor<64xf32> -> tensor<64xf32, #ptensor.view<valid = [?]>>
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %w = ptensor.set_validshape %out, valid = [32] : tensor<64xf32> -> tensor<64xf32, #ptensor.view<valid = [32]>>
    %o = tile.store %t, %w[0] : !tile.tile<64xf32>, tensor<64xf32, #ptensor.view<valid = [32]>>
  }
  orch.return %out : tensor<64xf32>
}

// -----

// Asking how large a tensor is, or changing its type, is no access.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(in %x: tensor<64xf32>, out %out: tensor<?xf32>)
orch.func opaque @main(in %x : tensor<64xf32>, out %out : tensor<?xf32>) -> tensor<?xf32> {
  orch.incore {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %n = ptensor.dim %out, axis = 0 : tensor<?xf32> -> index
    %c64 = arith.constant 64 : index
    %off = arith.subi %n, %c64 : index
    %w = ptensor.type_cast %out : tensor<?xf32> -> tensor<128xf32>
    %o = tile.store %t, %w[%off] : !tile.tile<64xf32>, tensor<128xf32>
  }
  orch.return %out : tensor<?xf32>
}

// -----

// Carrying a tensor through a loop is no read; reading what the loop carries is.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(out %a: tensor<4x64xf32>, in %x: tensor<1x64xf32>, inout %b: tensor<4x64xf32>)
orch.func opaque @main(in %x : tensor<1x64xf32>, out %a : tensor<4x64xf32>,
                       inout %b : tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r, %s = orch.incore -> (tensor<4x64xf32>, tensor<4x64xf32>) {
    %a1 = scf.for %i = %c0 to %c4 step %c1 iter_args(%it = %a) -> (tensor<4x64xf32>) {
      %t = tile.load %x[0, 0] : tensor<1x64xf32> -> !tile.tile<1x64xf32>
      %n = tile.store %t, %it[%i, 0] : !tile.tile<1x64xf32>, tensor<4x64xf32>
      scf.yield %n : tensor<4x64xf32>
    }
    %b1 = scf.for %i = %c0 to %c4 step %c1 iter_args(%it = %b) -> (tensor<4x64xf32>) {
      %t = tile.load %it[0, 0] : tensor<4x64xf32> -> !tile.tile<1x64xf32>
      %n = tile.store %t, %it[%i, 0] : !tile.tile<1x64xf32>, tensor<4x64xf32>
      scf.yield %n : tensor<4x64xf32>
    }
    orch.yield %a1, %b1 : tensor<4x64xf32>, tensor<4x64xf32>
  }
  orch.return %r, %s : tensor<4x64xf32>, tensor<4x64xf32>
}

// -----

// A value that may be either of two tensors counts for both: both may be written, and read.
// CHECK-LABEL: builtin.module
// CHECK:         incore @main_incore_0(in %c: i1, inout %a: tensor<64xf32>, inout %b: tensor<64xf32>, in %x: tensor<64xf32>)
// CHECK:           orch.return %a, %b
orch.func opaque @main(inout %a : tensor<64xf32>, inout %b : tensor<64xf32>, in %x : tensor<64xf32>,
                       in %c : i1) -> (tensor<64xf32>, tensor<64xf32>) {
  orch.incore {
    %d = scf.if %c -> (tensor<64xf32>) {
      scf.yield %a : tensor<64xf32>
    } else {
      scf.yield %b : tensor<64xf32>
    }
    %t = tile.load %d[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %u = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %v = tile.add %t, %u : !tile.tile<64xf32>
    %o = tile.store %v, %d[0] : !tile.tile<64xf32>, tensor<64xf32>
  }
  orch.return %a, %b : tensor<64xf32>, tensor<64xf32>
}
