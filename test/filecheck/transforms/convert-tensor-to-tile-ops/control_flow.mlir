// Loops and branches carry a tile where any of the values that meet is one.

// RUN: pypto-opt --convert-tensor-to-tile-ops %s | filecheck %s
// RUN: pypto-opt --convert-tensor-to-tile-ops --convert-tensor-to-tile-ops %s | filecheck %s

// A loop that starts from a parameter and yields what it computed carries a tile: the parameter is
// loaded before it.
// CHECK-LABEL: orch.func incore @accumulate(in %x: tensor<16x32xf32>, in %y: tensor<16x32xf32>, in %n: index, out %r_out: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %y_tile = tile.load %y[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x_tile) -> (!tile.tile<16x32xf32>) {
// CHECK-NEXT:      %s = tile.add %acc, %y_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:      scf.yield %s : !tile.tile<16x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_stored = tile.store %r, %r_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %r_stored : tensor<16x32xf32>
orch.func incore @accumulate(in %x : tensor<16x32xf32>, in %y : tensor<16x32xf32>, in %n : index) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<16x32xf32>) {
    %s = ptensor.add %acc, %y : tensor<16x32xf32>
    scf.yield %s : tensor<16x32xf32>
  }
  orch.return %r : tensor<16x32xf32>
}

// A buffer that the kernel only fills, block by block, and returns is the caller's from the start:
// the loop carries its name, and no tile has its size.
// CHECK-LABEL: orch.func incore @fill(in %x: tensor<1024x1024xf32>, out %o_out: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c16 = arith.constant 16 : index
// CHECK-NEXT:    %c1024 = arith.constant 1024 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %c1024 step %c16 iter_args(%p = %o_out) -> (tensor<1024x1024xf32>) {
// CHECK-NEXT:      %w_tile = tile.load %x[%i, 0] : tensor<1024x1024xf32> -> !tile.tile<16x1024xf32>
// CHECK-NEXT:      %e = tile.exp %w_tile : !tile.tile<16x1024xf32>
// CHECK-NEXT:      %q = tile.store %e, %p[%i, 0] : !tile.tile<16x1024xf32>, tensor<1024x1024xf32>
// CHECK-NEXT:      scf.yield %q : tensor<1024x1024xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return %r : tensor<1024x1024xf32>
orch.func incore @fill(in %x : tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  %o = ptensor.create : tensor<1024x1024xf32>
  %r = scf.for %i = %c0 to %c1024 step %c16 iter_args(%p = %o) -> (tensor<1024x1024xf32>) {
    %w = ptensor.slice %x[%i, 0] : tensor<1024x1024xf32> -> tensor<16x1024xf32>
    %e = ptensor.exp %w : tensor<16x1024xf32>
    %q = ptensor.assemble %e, %p[%i, 0] : tensor<16x1024xf32>, tensor<1024x1024xf32>
    scf.yield %q : tensor<1024x1024xf32>
  }
  orch.return %r : tensor<1024x1024xf32>
}

// A buffer that is carried and written stays one: the loop carries a tensor.
// CHECK-LABEL: orch.func incore @store_blocks(in %x: tensor<16x32xf32>, out %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c16 = arith.constant 16 : index
// CHECK-NEXT:    %c64 = arith.constant 64 : index
// CHECK-NEXT:    %e = tile.exp %x_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:    %r = scf.for %i = %c0 to %c64 step %c16 iter_args(%p = %o) -> (tensor<64x32xf32>) {
// CHECK-NEXT:      %q = tile.store %e, %p[%i, 0] : !tile.tile<16x32xf32>, tensor<64x32xf32>
// CHECK-NEXT:      scf.yield %q : tensor<64x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return %r : tensor<64x32xf32>
orch.func incore @store_blocks(in %x : tensor<16x32xf32>, out %o : tensor<64x32xf32>) -> tensor<64x32xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %e = ptensor.exp %x : tensor<16x32xf32>
  %r = scf.for %i = %c0 to %c64 step %c16 iter_args(%p = %o) -> (tensor<64x32xf32>) {
    %q = ptensor.assemble %e, %p[%i, 0] : tensor<16x32xf32>, tensor<64x32xf32>
    scf.yield %q : tensor<64x32xf32>
  }
  orch.return %r : tensor<64x32xf32>
}

// Of a branch that computes and one that passes a parameter on, the second loads it.
// CHECK-LABEL: orch.func incore @branches(in %x: tensor<16x32xf32>, in %c: i1, out %r_out: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %r = scf.if %c -> (!tile.tile<16x32xf32>) {
// CHECK-NEXT:      %e = tile.exp %x_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:      scf.yield %e : !tile.tile<16x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %x_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_stored = tile.store %r, %r_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %r_stored : tensor<16x32xf32>
orch.func incore @branches(in %x : tensor<16x32xf32>, in %c : i1) -> tensor<16x32xf32> {
  %r = scf.if %c -> (tensor<16x32xf32>) {
    %e = ptensor.exp %x : tensor<16x32xf32>
    scf.yield %e : tensor<16x32xf32>
  } else {
    scf.yield %x : tensor<16x32xf32>
  }
  orch.return %r : tensor<16x32xf32>
}

// A kernel cannot choose between two buffers, but it can load either.
// CHECK-LABEL: orch.func incore @choose(in %x: tensor<16x32xf32>, in %y: tensor<16x32xf32>, in %c: i1, out %n_out: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %y_tile = tile.load %y[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %r = scf.if %c -> (!tile.tile<16x32xf32>) {
// CHECK-NEXT:      scf.yield %x_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %y_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %n = tile.neg %r : !tile.tile<16x32xf32>
// CHECK-NEXT:    %n_stored = tile.store %n, %n_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %n_stored : tensor<16x32xf32>
orch.func incore @choose(in %x : tensor<16x32xf32>, in %y : tensor<16x32xf32>, in %c : i1) -> tensor<16x32xf32> {
  %r = scf.if %c -> (tensor<16x32xf32>) {
    scf.yield %x : tensor<16x32xf32>
  } else {
    scf.yield %y : tensor<16x32xf32>
  }
  %n = ptensor.neg %r : tensor<16x32xf32>
  orch.return %n : tensor<16x32xf32>
}

// While loops alike, with what they hand from the condition to the body.
// CHECK-LABEL: orch.func incore @while(in %x: tensor<16x32xf32>, in %n: index, out %r_out: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %r, %k = scf.while (%a = %x_tile, %i = %n) : (!tile.tile<16x32xf32>, index) -> (!tile.tile<16x32xf32>, index) {
// CHECK-NEXT:      %more = arith.cmpi sgt, %i, %c1 : index
// CHECK-NEXT:      scf.condition(%more) %a, %i : !tile.tile<16x32xf32>, index
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%b: !tile.tile<16x32xf32>, %j: index):
// CHECK-NEXT:      %e = tile.abs %b : !tile.tile<16x32xf32>
// CHECK-NEXT:      %less = arith.subi %j, %c1 : index
// CHECK-NEXT:      scf.yield %e, %less : !tile.tile<16x32xf32>, index
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_stored = tile.store %r, %r_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %r_stored : tensor<16x32xf32>
orch.func incore @while(in %x : tensor<16x32xf32>, in %n : index) -> tensor<16x32xf32> {
  %c1 = arith.constant 1 : index
  %r, %k = scf.while (%a = %x, %i = %n) : (tensor<16x32xf32>, index) -> (tensor<16x32xf32>, index) {
    %more = arith.cmpi sgt, %i, %c1 : index
    scf.condition(%more) %a, %i : tensor<16x32xf32>, index
  } do {
  ^bb0(%b : tensor<16x32xf32>, %j : index):
    %e = ptensor.abs %b : tensor<16x32xf32>
    %less = arith.subi %j, %c1 : index
    scf.yield %e, %less : tensor<16x32xf32>, index
  }
  orch.return %r : tensor<16x32xf32>
}

// The first product of a sum has fewer valid rows than the sum, whose type says that all of it is.
// CHECK-LABEL: orch.func incore @first_of_a_sum(in %x: tensor<16x64xf32>, in %w: tensor<64x32xf32>, in %acc: tensor<16x32xf32>, in %first: i1, out %o: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %w_mat = tile.load %w[0, 0] : tensor<64x32xf32> -> !tile.tile<64x32xf32, mat>
// CHECK-NEXT:    %acc_tile = tile.load %acc[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %v = ptensor.set_validshape %x, valid = [8, 64] : tensor<16x64xf32> -> tensor<16x64xf32, #ptensor.view<valid = [8, 64]>>
// CHECK-NEXT:    %v_mat = tile.load %v[0, 0] : tensor<16x64xf32, #ptensor.view<valid = [8, 64]>> -> !tile.tile<16x64xf32, mat, valid = [8, 64]>
// CHECK-NEXT:    %r = scf.if %first -> (!tile.tile<16x32xf32>) {
// CHECK-NEXT:      %p = tile.matmul %v_mat, %w_mat : !tile.tile<16x64xf32, mat, valid = [8, 64]>, !tile.tile<64x32xf32, mat> -> !tile.tile<16x32xf32, valid = [8, 32], compact>
// CHECK-NEXT:      %p_1 = tile.set_validshape %p, valid = [16, 32] : !tile.tile<16x32xf32, valid = [8, 32], compact> -> !tile.tile<16x32xf32>
// CHECK-NEXT:      scf.yield %p_1 : !tile.tile<16x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %p_2 = tile.exp %acc_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:      scf.yield %p_2 : !tile.tile<16x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %s = tile.store %r, %o[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %s : tensor<16x32xf32>
orch.func incore @first_of_a_sum(in %x : tensor<16x64xf32>, in %w : tensor<64x32xf32>, in %acc : tensor<16x32xf32>, in %first : i1, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %v = ptensor.set_validshape %x, valid = [8, 64] : tensor<16x64xf32> -> tensor<16x64xf32, #ptensor.view<valid = [8, 64]>>
  %r = scf.if %first -> (tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>) {
    %p = ptensor.matmul %v, %w, out_dtype = f32 : tensor<16x64xf32, #ptensor.view<valid = [8, 64]>>, tensor<64x32xf32> -> tensor<16x32xf32, #ptensor.view<valid = [8, 32]>>
    %q = ptensor.type_cast %p : tensor<16x32xf32, #ptensor.view<valid = [8, 32]>> -> tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
    scf.yield %q : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
  } else {
    %p = ptensor.exp %acc : tensor<16x32xf32>
    %q = ptensor.type_cast %p : tensor<16x32xf32> -> tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
    scf.yield %q : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
  }
  %all = ptensor.type_cast %r : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>> -> tensor<16x32xf32>
  %s = ptensor.assemble %all, %o[0, 0] : tensor<16x32xf32>
  orch.return %s : tensor<16x32xf32>
}

// How much of a tile is valid depends on the branch; what is valid everywhere says so by a number.
// CHECK-LABEL: orch.func incore @more_or_less(in %x: tensor<16x32xf32>, in %n: index, in %part: i1, out %o: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %r = scf.if %part -> (!tile.tile<16x32xf32, valid = [?, 32]>) {
// CHECK-NEXT:      %v = ptensor.set_validshape %x, valid = [%n, 32] : tensor<16x32xf32> -> tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
// CHECK-NEXT:      %v_tile = tile.load %v[0, 0], valid = [%n, 32] : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>> -> !tile.tile<16x32xf32, valid = [?, 32]>
// CHECK-NEXT:      %e = tile.exp %v_tile : !tile.tile<16x32xf32, valid = [?, 32]>
// CHECK-NEXT:      scf.yield %e : !tile.tile<16x32xf32, valid = [?, 32]>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %e_1 = tile.abs %x_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:      %0 = arith.constant 16 : index
// CHECK-NEXT:      %e_2 = tile.set_validshape %e_1, valid = [%0, 32] : !tile.tile<16x32xf32> -> !tile.tile<16x32xf32, valid = [?, 32]>
// CHECK-NEXT:      scf.yield %e_2 : !tile.tile<16x32xf32, valid = [?, 32]>
// CHECK-NEXT:    }
// CHECK-NEXT:    %s = tile.store %r, %o[0, 0] : !tile.tile<16x32xf32, valid = [?, 32]>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %s : tensor<16x32xf32>
orch.func incore @more_or_less(in %x : tensor<16x32xf32>, in %n : index, in %part : i1, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %r = scf.if %part -> (tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>) {
    %v = ptensor.set_validshape %x, valid = [%n, 32] : tensor<16x32xf32> -> tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
    %e = ptensor.exp %v : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
    scf.yield %e : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
  } else {
    %e = ptensor.abs %x : tensor<16x32xf32>
    %q = ptensor.type_cast %e : tensor<16x32xf32> -> tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
    scf.yield %q : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
  }
  %s = ptensor.assemble %r, %o[0, 0] : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>, tensor<16x32xf32>
  orch.return %s : tensor<16x32xf32>
}

// What pads a tile is forgotten where the type of what carries it does not say it.
// CHECK-LABEL: orch.func incore @carried_padding
// CHECK-NEXT:    %x_tile = tile.load
// CHECK:         %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x_tile) -> (!tile.tile<16x32xf32>) {
// CHECK-NEXT:      %v = tile.set_validshape %a, valid = [8, 32] : !tile.tile<16x32xf32> -> !tile.tile<16x32xf32, valid = [8, 32]>
// CHECK-NEXT:      %p = tile.fillpad %v : !tile.tile<16x32xf32, valid = [8, 32]> -> !tile.tile<16x32xf32, pad = zero>
// CHECK-NEXT:      %p_1 = tile.set_validshape %p, valid = [16, 32] : !tile.tile<16x32xf32, pad = zero> -> !tile.tile<16x32xf32>
// CHECK-NEXT:      scf.yield %p_1 : !tile.tile<16x32xf32>
orch.func incore @carried_padding(in %x : tensor<16x32xf32>, in %n : index) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<16x32xf32>) {
    %v = ptensor.set_validshape %a, valid = [8, 32] : tensor<16x32xf32> -> tensor<16x32xf32, #ptensor.view<valid = [8, 32]>>
    %p = ptensor.fillpad %v, pad_value = zero : tensor<16x32xf32, #ptensor.view<valid = [8, 32]>> -> tensor<16x32xf32, #ptensor.view<pad = zero>>
    %w = ptensor.type_cast %p : tensor<16x32xf32, #ptensor.view<pad = zero>> -> tensor<16x32xf32>
    scf.yield %w : tensor<16x32xf32>
  }
  orch.return %r : tensor<16x32xf32>
}
