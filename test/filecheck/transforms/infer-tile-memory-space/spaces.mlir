// Every tile gets the memory that what makes it and what uses it declare.

// RUN: pypto-opt --infer-tile-memory-space %s | filecheck %s
// A second run finds nothing to do.
// RUN: pypto-opt --infer-tile-memory-space --infer-tile-memory-space --verify-property=TileMemoryInferred %s | filecheck %s

// Vector work is in the vector buffer, and so is what is loaded for it; a column stays one.
// CHECK-LABEL: orch.func incore @vector(in %x: tensor<32x64xf32>, out %o: tensor<32x1xf32>) -> tensor<32x1xf32> {
// CHECK-NEXT:    %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32, vec>
// CHECK-NEXT:    %tmp = tile.create : !tile.tile<32x128xf32, vec>
// CHECK-NEXT:    %m = tile.row_max %t, %tmp : !tile.tile<32x64xf32, vec>, !tile.tile<32x128xf32, vec> -> !tile.tile<32x1xf32, vec>
// CHECK-NEXT:    %r = tile.reshape %m : !tile.tile<32x1xf32, vec> -> !tile.tile<1x32xf32, vec>
// CHECK-NEXT:    %c = tile.reshape %r : !tile.tile<1x32xf32, vec> -> !tile.tile<32x1xf32, vec>
// CHECK-NEXT:    %o1 = tile.store %c, %o[0, 0] : !tile.tile<32x1xf32, vec>, tensor<32x1xf32>
// CHECK-NEXT:    orch.return %o1 : tensor<32x1xf32>
orch.func incore @vector(in %x : tensor<32x64xf32>, out %o : tensor<32x1xf32>) -> tensor<32x1xf32> {
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %tmp = tile.create : !tile.tile<32x128xf32>
  %m = tile.row_max %t, %tmp : !tile.tile<32x64xf32>, !tile.tile<32x128xf32> -> !tile.tile<32x1xf32>
  %r = tile.reshape %m : !tile.tile<32x1xf32> -> !tile.tile<1x32xf32>
  %c = tile.reshape %r : !tile.tile<1x32xf32> -> !tile.tile<32x1xf32>
  %o1 = tile.store %c, %o[0, 0] : !tile.tile<32x1xf32>, tensor<32x1xf32>
  orch.return %o1 : tensor<32x1xf32>
}

// What goes to a matmul is loaded to L1, in that memory's implicit layout, and moved on; the
// product is in the accumulator, from where it is stored.
// CHECK-LABEL: orch.func incore @cube(in %a: tensor<32x64xf16>, in %b: tensor<64x32xf16>, out %o: tensor<32x32xf32>) -> tensor<32x32xf32> {
// CHECK-NEXT:    %l = tile.load %a[0, 0] : tensor<32x64xf16> -> !tile.tile<32x64xf16, mat>
// CHECK-NEXT:    %r = tile.load %b[0, 0] : tensor<64x32xf16> -> !tile.tile<64x32xf16, mat>
// CHECK-NEXT:    %l_left = tile.move %l : !tile.tile<32x64xf16, mat> -> !tile.tile<32x64xf16, left>
// CHECK-NEXT:    %r_right = tile.move %r : !tile.tile<64x32xf16, mat> -> !tile.tile<64x32xf16, right>
// CHECK-NEXT:    %p = tile.matmul %l_left, %r_right : !tile.tile<32x64xf16, left>, !tile.tile<64x32xf16, right> -> !tile.tile<32x32xf32, acc>
// CHECK-NEXT:    %o1 = tile.store %p, %o[0, 0] : !tile.tile<32x32xf32, acc>, tensor<32x32xf32>
// CHECK-NEXT:    orch.return %o1 : tensor<32x32xf32>
orch.func incore @cube(in %a : tensor<32x64xf16>, in %b : tensor<64x32xf16>, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %l = tile.load %a[0, 0] : tensor<32x64xf16> -> !tile.tile<32x64xf16>
  %r = tile.load %b[0, 0] : tensor<64x32xf16> -> !tile.tile<64x32xf16>
  %p = tile.matmul %l, %r : !tile.tile<32x64xf16>, !tile.tile<64x32xf16> -> !tile.tile<32x32xf32>
  %o1 = tile.store %p, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}

// What a loop carries is in one memory: the tile it starts from is created in the accumulator.
// Each operand is moved once a block.
// CHECK-LABEL: orch.func incore @carried(in %a: tensor<32x32xf16>, in %b: tensor<32x32xf16>, in %n: index, out %o: tensor<32x32xf32>) -> tensor<32x32xf32> {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %l = tile.load %a[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:    %r = tile.load %b[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:    %z = tile.create : !tile.tile<32x32xf32, acc>
// CHECK-NEXT:    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!tile.tile<32x32xf32, acc>) {
// CHECK-NEXT:      %l_left = tile.move %l : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, left>
// CHECK-NEXT:      %r_right = tile.move %r : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, right>
// CHECK-NEXT:      %p = tile.matmul_acc %acc, %l_left, %r_right : !tile.tile<32x32xf32, acc>, !tile.tile<32x32xf16, left>, !tile.tile<32x32xf16, right>
// CHECK-NEXT:      %q = tile.matmul_acc %p, %l_left, %r_right : !tile.tile<32x32xf32, acc>, !tile.tile<32x32xf16, left>, !tile.tile<32x32xf16, right>
// CHECK-NEXT:      scf.yield %q : !tile.tile<32x32xf32, acc>
// CHECK-NEXT:    }
// CHECK-NEXT:    %o1 = tile.store %s, %o[0, 0] : !tile.tile<32x32xf32, acc>, tensor<32x32xf32>
// CHECK-NEXT:    orch.return %o1 : tensor<32x32xf32>
orch.func incore @carried(in %a : tensor<32x32xf16>, in %b : tensor<32x32xf16>, in %n : index, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = tile.load %a[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16>
  %r = tile.load %b[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16>
  %z = tile.create : !tile.tile<32x32xf32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!tile.tile<32x32xf32>) {
    %p = tile.matmul_acc %acc, %l, %r : !tile.tile<32x32xf32>, !tile.tile<32x32xf16>, !tile.tile<32x32xf16>
    %q = tile.matmul_acc %p, %l, %r : !tile.tile<32x32xf32>, !tile.tile<32x32xf16>, !tile.tile<32x32xf16>
    scf.yield %q : !tile.tile<32x32xf32>
  }
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}

// The memory that the author wrote stays, with the layout that the author wrote.
// CHECK-LABEL: orch.func incore @written(in %x: tensor<16x32xf32>, out %o: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32, vec>
// CHECK-NEXT:    %b = tile.move %t : !tile.tile<16x32xf32, vec> -> !tile.tile<16x32xf32, vec, blayout = col_major, slayout = row_major>
// CHECK-NEXT:    %n = tile.neg %b : !tile.tile<16x32xf32, vec, blayout = col_major, slayout = row_major>
// CHECK-NEXT:    %c = tile.move %n : !tile.tile<16x32xf32, vec, blayout = col_major, slayout = row_major> -> !tile.tile<16x32xf32, vec>
// CHECK-NEXT:    %o1 = tile.store %c, %o[0, 0] : !tile.tile<16x32xf32, vec>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %o1 : tensor<16x32xf32>
orch.func incore @written(in %x : tensor<16x32xf32>, out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32, vec>
  %b = tile.move %t : !tile.tile<16x32xf32, vec> -> !tile.tile<16x32xf32, vec, blayout = col_major, slayout = row_major>
  %n = tile.neg %b : !tile.tile<16x32xf32, vec, blayout = col_major, slayout = row_major> -> !tile.tile<16x32xf32, blayout = col_major, slayout = row_major>
  %c = tile.move %n : !tile.tile<16x32xf32, blayout = col_major, slayout = row_major> -> !tile.tile<16x32xf32, vec>
  %o1 = tile.store %c, %o[0, 0] : !tile.tile<16x32xf32, vec>, tensor<16x32xf32>
  orch.return %o1 : tensor<16x32xf32>
}

// What an op makes in the memory of an operand is where the operand is moved to, if it is not taken
// where it is made.
// CHECK-LABEL: orch.func incore @filled
// CHECK:         %p_vec = tile.move %p : !tile.tile<32x32xf32, acc, valid = [20, 32], compact> -> !tile.tile<32x32xf32, vec, valid = [20, 32]>
// CHECK-NEXT:    %f = tile.fillpad %p_vec : !tile.tile<32x32xf32, vec, valid = [20, 32]> -> !tile.tile<32x32xf32, vec, pad = zero>
// CHECK-NEXT:    %n = tile.neg %f : !tile.tile<32x32xf32, vec, pad = zero>
orch.func incore @filled(in %a : tensor<32x32xf16>, in %b : tensor<32x32xf16>, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %l = tile.load %a[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16, valid = [20, 32]>
  %r = tile.load %b[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16>
  %p = tile.matmul %l, %r : !tile.tile<32x32xf16, valid = [20, 32]>, !tile.tile<32x32xf16> -> !tile.tile<32x32xf32, valid = [20, 32], compact>
  %f = tile.fillpad %p : !tile.tile<32x32xf32, valid = [20, 32], compact> -> !tile.tile<32x32xf32, pad = zero>
  %n = tile.neg %f : !tile.tile<32x32xf32, pad = zero>
  %o1 = tile.store %n, %o[0, 0] : !tile.tile<32x32xf32, pad = zero>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}

// A part of a sum that is used elsewhere is taken from where the sum is drained to.
// CHECK-LABEL: orch.func incore @part_of_a_sum(in %x: tensor<32x128xf16>, in %w: tensor<128x64xf16>, in %n: index, out %o: tensor<16x64xf32>) -> tensor<16x64xf32> {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %one = arith.constant 1 : index
// CHECK-NEXT:    %a = tile.load %x[0, 0] : tensor<32x128xf16> -> !tile.tile<32x128xf16, mat>
// CHECK-NEXT:    %b = tile.load %w[0, 0] : tensor<128x64xf16> -> !tile.tile<128x64xf16, mat>
// CHECK-NEXT:    %a_left = tile.move %a : !tile.tile<32x128xf16, mat> -> !tile.tile<32x128xf16, left>
// CHECK-NEXT:    %b_right = tile.move %b : !tile.tile<128x64xf16, mat> -> !tile.tile<128x64xf16, right>
// CHECK-NEXT:    %p = tile.matmul %a_left, %b_right : !tile.tile<32x128xf16, left>, !tile.tile<128x64xf16, right> -> !tile.tile<32x64xf32, acc>
// CHECK-NEXT:    %s = scf.for %i = %zero to %n step %one iter_args(%c = %p) -> (!tile.tile<32x64xf32, acc>) {
// CHECK-NEXT:      %q = tile.matmul_acc %c, %a_left, %b_right : !tile.tile<32x64xf32, acc>, !tile.tile<32x128xf16, left>, !tile.tile<128x64xf16, right>
// CHECK-NEXT:      scf.yield %q : !tile.tile<32x64xf32, acc>
// CHECK-NEXT:    }
// CHECK-NEXT:    %s_vec = tile.move %s : !tile.tile<32x64xf32, acc> -> !tile.tile<32x64xf32, vec>
// CHECK-NEXT:    %t = tile.slice %s_vec[16, 0] : !tile.tile<32x64xf32, vec> -> !tile.tile<16x64xf32, vec>
// CHECK-NEXT:    %e = tile.abs %t : !tile.tile<16x64xf32, vec>
// CHECK-NEXT:    %r = tile.store %e, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
// CHECK-NEXT:    orch.return %r : tensor<16x64xf32>
orch.func incore @part_of_a_sum(in %x : tensor<32x128xf16>, in %w : tensor<128x64xf16>, in %n : index, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = tile.load %x[0, 0] : tensor<32x128xf16> -> !tile.tile<32x128xf16>
  %b = tile.load %w[0, 0] : tensor<128x64xf16> -> !tile.tile<128x64xf16>
  %p = tile.matmul %a, %b : !tile.tile<32x128xf16>, !tile.tile<128x64xf16> -> !tile.tile<32x64xf32>
  %s = scf.for %i = %zero to %n step %one iter_args(%c = %p) -> (!tile.tile<32x64xf32>) {
    %q = tile.matmul_acc %c, %a, %b : !tile.tile<32x64xf32>, !tile.tile<32x128xf16>, !tile.tile<128x64xf16>
    scf.yield %q : !tile.tile<32x64xf32>
  }
  %t = tile.slice %s[16, 0] : !tile.tile<32x64xf32> -> !tile.tile<16x64xf32>
  %e = tile.abs %t : !tile.tile<16x64xf32>
  %r = tile.store %e, %o[0, 0] : !tile.tile<16x64xf32>, tensor<16x64xf32>
  orch.return %r : tensor<16x64xf32>
}

// A product that a loop starts from, and one that a branch yields, are drained where they are handed
// on among vector tiles.
// CHECK-LABEL: orch.func incore @handed_on
// CHECK:         %p_vec = tile.move %p : !tile.tile<32x32xf32, acc> -> !tile.tile<32x32xf32, vec>
// CHECK-NEXT:    %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %p_vec) -> (!tile.tile<32x32xf32, vec>) {
// CHECK-NEXT:      %e = scf.if %c -> (!tile.tile<32x32xf32, vec>) {
// CHECK:             %q_vec = tile.move %q : !tile.tile<32x32xf32, acc> -> !tile.tile<32x32xf32, vec>
// CHECK-NEXT:        scf.yield %q_vec : !tile.tile<32x32xf32, vec>
orch.func incore @handed_on(in %a : tensor<32x32xf16>, in %n : index, in %c : i1, out %o : tensor<32x32xf32>) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = tile.load %a[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16>
  %p = tile.matmul %l, %l : !tile.tile<32x32xf16> -> !tile.tile<32x32xf32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %p) -> (!tile.tile<32x32xf32>) {
    %e = scf.if %c -> (!tile.tile<32x32xf32>) {
      %q = tile.matmul %l, %l : !tile.tile<32x32xf16> -> !tile.tile<32x32xf32>
      scf.yield %q : !tile.tile<32x32xf32>
    } else {
      %h = tile.neg %t : !tile.tile<32x32xf32>
      scf.yield %h : !tile.tile<32x32xf32>
    }
    scf.yield %e : !tile.tile<32x32xf32>
  }
  %o1 = tile.store %s, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}

// A product goes into a vector tile from where it is drained to, rounded as it would be on its way
// into a tile of L1.
// CHECK-LABEL: orch.func incore @into_a_vector_tile
// CHECK:         %p_vec = tile.move %p : !tile.tile<32x32xf32, acc> -> !tile.tile<32x32xf32, vec>
// CHECK-NEXT:    %d1 = tile.assemble %p_vec, %d[0, 32] : !tile.tile<32x32xf32, vec>, !tile.tile<32x64xf32, vec>
// CHECK:         [[ROUNDED:%.*]] = tile.cast %p_vec, target_type = f16, mode = rint : !tile.tile<32x32xf32, vec> -> !tile.tile<32x32xf16, vec>
// CHECK-NEXT:    %h1 = tile.assemble [[ROUNDED]], %h[0, 32] : !tile.tile<32x32xf16, vec>, !tile.tile<32x64xf16, vec>
orch.func incore @into_a_vector_tile(in %a : tensor<32x32xf16>, in %k : f32, in %j : f16, out %o : tensor<32x64xf32>, out %w : tensor<32x64xf16>) -> (tensor<32x64xf32>, tensor<32x64xf16>) {
  %l = tile.load %a[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16>
  %p = tile.matmul %l, %l : !tile.tile<32x32xf16> -> !tile.tile<32x32xf32>
  %d = tile.full %k : f32 -> !tile.tile<32x64xf32>
  %d1 = tile.assemble %p, %d[0, 32] : !tile.tile<32x32xf32>, !tile.tile<32x64xf32>
  %h = tile.full %j : f16 -> !tile.tile<32x64xf16>
  %h1 = tile.assemble %p, %h[0, 32] : !tile.tile<32x32xf32>, !tile.tile<32x64xf16>
  %o1 = tile.store %d1, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  %w1 = tile.store %h1, %w[0, 0] : !tile.tile<32x64xf16>, tensor<32x64xf16>
  orch.return %o1, %w1 : tensor<32x64xf32>, tensor<32x64xf16>
}

// A tile is written where its op takes it: the next name of what is moved there is there, too.
// CHECK-LABEL: orch.func incore @written_elsewhere(
// CHECK:         [[V:%.*]] = tile.move %t : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, vec, blayout = col_major, slayout = row_major>
// CHECK-NEXT:    %u = tile.write %f, [[V]][0, 0] : f32, !tile.tile<16x16xf32, vec, blayout = col_major, slayout = row_major>
orch.func incore @written_elsewhere(in %x : tensor<16x16xf32>, in %f : f32) {
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %u = tile.write %f, %t[0, 0] : f32, !tile.tile<16x16xf32, mat>
  orch.return
}
