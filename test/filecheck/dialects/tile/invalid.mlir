// Each way in which an op on tiles is wrong, with what was found and what was wanted.

// RUN: pypto-opt --split-input-file --verify-diagnostics %s

// Types.

// expected-error @+1 {{unknown word 'vek' in a tile type; expected one of}}
"test.op"() : () -> !tile.tile<16x64xf32, vek>

// -----

// expected-error @+1 {{a valid extent of 20 lies outside 0..16}}
"test.op"() : () -> !tile.tile<16x64xf32, vec, valid = [20, 64]>

// -----

// expected-error @+1 {{the valid region has 1 extents, the tile has 2 dimensions}}
"test.op"() : () -> !tile.tile<16x64xf32, vec, valid = [16]>

// -----

// expected-error @+1 {{the block layout of a tile is row_major or col_major}}
"test.op"() : () -> !tile.tile<16x64xf32, vec, blayout = none_box>

// -----

// expected-error @+1 {{'valid' stands at the wrong place or twice}}
"test.op"() : () -> !tile.tile<16x64xf32, valid = [8, 64], valid = [8, 64]>

// -----

// Elementwise ops.

orch.func incore @elementwise(in %k : f32) {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  %h = tile.create : !tile.tile<16x64xf16, vec>
  %s = tile.create : !tile.tile<16x48xf32, vec>
  %p = tile.create : !tile.tile<16x64xf32, vec, valid = [8, 64]>
  %b = tile.create : !tile.tile<16x64xbf16, vec>
  // expected-error @+1 {{'tile.add' op shapes [16, 64] and [16, 48] do not broadcast}}
  %0 = tile.add %t, %s : !tile.tile<16x64xf32, vec>, !tile.tile<16x48xf32, vec> -> !tile.tile<16x64xf32, vec>
  // The wider element type is the result's, and the valid region the first operand's (L12).
  // expected-error @+1 {{'tile.add' op result 0 should be !tile.tile<16x64xf32, vec>, got !tile.tile<16x64xf16, vec>}}
  %1 = tile.add %h, %t : !tile.tile<16x64xf16, vec>, !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xf16, vec>
  // expected-error @+1 {{result 0 should be !tile.tile<16x64xf32, vec, valid = [8, 64]>, got !tile.tile<16x64xf32, vec>}}
  %2 = tile.exp %p : !tile.tile<16x64xf32, vec, valid = [8, 64]> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.add' op result should be in vec memory, got !tile.tile<16x64xf32, mat>}}
  %3 = tile.add %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xf32, mat>
  // expected-error @+1 {{'tile.and' op expected integers, got f32}}
  %4 = tile.and %t, %t : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.ands' op expected integers, got f32}}
  %5 = tile.ands %t, %k : !tile.tile<16x64xf32, vec>, f32
  // expected-error @+1 {{'tile.div' op operands should have one element type, got f32 and f16}}
  %6 = tile.div %t, %h : !tile.tile<16x64xf32, vec>, !tile.tile<16x64xf16, vec> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.div' op operands should have one shape and one valid region}}
  %7 = tile.div %t, %p : !tile.tile<16x64xf32, vec>, !tile.tile<16x64xf32, vec, valid = [8, 64]> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.log' op operand dtype should be one of f16, f32, got bf16}}
  %8 = tile.log %b : !tile.tile<16x64xbf16, vec>
  // expected-error @+1 {{a cast from f32 to itself changes nothing}}
  %9 = tile.cast %t, target_type = f32 : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.prelu' op slope should agree with the operand}}
  %10 = tile.prelu %t, %p, %t : !tile.tile<16x64xf32, vec>, !tile.tile<16x64xf32, vec, valid = [8, 64]>, !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{tmp should have a bit for each element and one more row}}
  %11 = tile.prelu %t, %t, %t : !tile.tile<16x64xf32, vec>
  orch.return
}

// -----

// Reductions and expansions.

orch.func incore @reductions() {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  %s = tile.create : !tile.tile<8x64xf32, vec>
  %c = tile.create : !tile.tile<8x1xf32, vec>
  %r = tile.create : !tile.tile<1x32xf32, vec>
  %v = tile.create : !tile.tile<16xf32, vec>
  // expected-error @+1 {{scratch !tile.tile<8x64xf32, vec> is smaller than the operand !tile.tile<16x64xf32, vec>}}
  %0 = tile.row_sum %t, %s : !tile.tile<16x64xf32, vec>, !tile.tile<8x64xf32, vec> -> !tile.tile<16x1xf32, vec>
  // A row sum is a column, never a row (M1, L8).
  // expected-error @+1 {{result 0 should be !tile.tile<16x1xf32, vec>, got !tile.tile<1x16xf32, vec>}}
  %1 = tile.row_sum %t, %t : !tile.tile<16x64xf32, vec> -> !tile.tile<1x16xf32, vec>
  // expected-error @+1 {{expected a tile of at least two dimensions}}
  %2 = tile.col_max %v : !tile.tile<16xf32, vec>
  // expected-error @+1 {{vector should have one column and the rows of}}
  %3 = tile.row_expand_mul %t, %c : !tile.tile<16x64xf32, vec>, !tile.tile<8x1xf32, vec>
  // expected-error @+1 {{vector should have one row and the columns of}}
  %4 = tile.col_expand_mul %t, %r : !tile.tile<16x64xf32, vec>, !tile.tile<1x32xf32, vec>
  orch.return
}

// -----

// Memory.

orch.func incore @memory(in %x : tensor<128x64xf32>, out %y : tensor<128x64xf32>, in %n : index, in %h : f16) -> tensor<128x64xf32> {
  // expected-error @+1 {{run-time extents need `valid = [...]`}}
  %0 = tile.create : !tile.tile<16x64xf32, vec, valid = [?, 64]>
  // expected-error @+1 {{valid lists a value where the type says 64}}
  %1 = tile.create valid = [%n, %n] : !tile.tile<16x64xf32, vec, valid = [?, 64]>
  // expected-error @+1 {{valid repeats extents that the type already says}}
  %2 = tile.create valid = [16, 64] : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.load' op a window of 16 at 120 lies outside an extent of 128 of the tensor}}
  %3 = tile.load %x[120, 0] : tensor<128x64xf32> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{expected 2 offsets into the tensor, got 1}}
  %4 = tile.load %x[0] : tensor<128x64xf32> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{result should hold f32, as the tensor, got f16}}
  %5 = tile.load %x[0, 0] : tensor<128x64xf32> -> !tile.tile<16x64xf16, vec>
  %t = tile.create : !tile.tile<16x64xf32, vec>
  %w = tile.create : !tile.tile<16x64xf16, vec>
  // expected-error @+1 {{tile should hold f32, as the tensor, got f16}}
  %6 = tile.store %w, %y[0, 0] : !tile.tile<16x64xf16, vec>, tensor<128x64xf32>
  // expected-error @+1 {{an offset of -1 lies outside the tensor}}
  %7 = tile.store %t, %y[-1, 0] : !tile.tile<16x64xf32, vec>, tensor<128x64xf32>
  // expected-error @+1 {{value should be f32, got f16}}
  %8 = tile.full %h : f16 -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{a move keeps the shape [16, 64], got [64, 16]}}
  %9 = tile.move %t : !tile.tile<16x64xf32, vec> -> !tile.tile<64x16xf32, mat>
  // expected-error @+1 {{a move says in its result's type where it moves the tile}}
  %10 = tile.move %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xf32>
  // expected-error @+1 {{only the valid region of}}
  %11 = tile.set_validshape %t, valid = [8, 64] : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xf32, mat, valid = [8, 64]>
  // expected-error @+1 {{axis 2 of a tile of 2 dimensions}}
  %12 = tile.valid_dim %t, axis = 2 : !tile.tile<16x64xf32, vec> -> index
  // expected-error @+1 {{a window of 1 at 16 lies outside an extent of 16 of the tile}}
  %13 = tile.read %t[16, 0] : !tile.tile<16x64xf32, vec> -> f32
  // expected-error @+1 {{value should be f32, got f16}}
  %14 = tile.write %h, %t[0, 0] : f16, !tile.tile<16x64xf32, vec>
  orch.return %y : tensor<128x64xf32>
}

// -----

// Reshape: the elements, their order and the valid region.

orch.func incore @reshape() {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  %p = tile.create : !tile.tile<16x64xf32, vec, valid = [5, 64]>
  %q = tile.create : !tile.tile<16x64xf32, vec, valid = [16, 20]>
  %m = tile.create : !tile.tile<16x64xf32, vec, blayout = col_major>
  %w = tile.create : !tile.tile<16x64xf32, vec, valid = [4, 64]>
  // expected-error @+1 {{a tile of 1024 elements does not reshape to 512}}
  %0 = tile.reshape %t : !tile.tile<16x64xf32, vec> -> !tile.tile<8x64xf32, vec>
  // expected-error @+1 {{result should be in the memory space of the operand}}
  %1 = tile.reshape %t : !tile.tile<16x64xf32, vec> -> !tile.tile<32x32xf32, mat>
  // expected-error @+1 {{result should have the valid region of !tile.tile<8x128xf32, vec, valid = [2, 128]>, got !tile.tile<8x128xf32, vec>}}
  %2 = tile.reshape %w : !tile.tile<16x64xf32, vec, valid = [4, 64]> -> !tile.tile<8x128xf32, vec>
  // expected-error @+1 {{the valid region [5, 64] of [16, 64] is no rectangle in [8, 128]}}
  %3 = tile.reshape %p : !tile.tile<16x64xf32, vec, valid = [5, 64]> -> !tile.tile<8x128xf32, vec>
  // expected-error @+1 {{the valid region [16, 20] of [16, 64] is no rectangle in [1, 1024]}}
  %4 = tile.reshape %q : !tile.tile<16x64xf32, vec, valid = [16, 20]> -> !tile.tile<1x1024xf32, vec>
  // expected-error @+1 {{the bytes of !tile.tile<16x64xf32, vec, blayout = col_major> are not in the order of its rows}}
  %5 = tile.reshape %m : !tile.tile<16x64xf32, vec, blayout = col_major> -> !tile.tile<32x32xf32, vec>
  orch.return
}

// -----

// Windows.

orch.func incore @windows(in %i : index) {
  %t = tile.create : !tile.tile<16x64xf32, vec, valid = [12, 64]>
  // expected-error @+1 {{a window of 8 at 12 lies outside an extent of 16 of the tile}}
  %0 = tile.slice %t[12, 0] : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<8x64xf32, vec>
  // expected-error @+1 {{the window counts 8 elements as valid where the source has 4}}
  %1 = tile.slice %t[8, 0] : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<8x64xf32, vec>
  // A column of a row-major tile is still stored by rows (L7).
  // expected-error @+1 {{a window keeps the layout of}}
  %2 = tile.slice %t[0, 3] : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<8x1xf32, vec>
  // expected-error @+1 {{a window keeps the element type of}}
  %3 = tile.slice %t[0, 0] : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<8x64xi32, vec>
  %s = tile.create : !tile.tile<8x64xf16, vec>
  // expected-error @+1 {{source should hold f32, got f16}}
  %4 = tile.assemble %s, %t[0, 0] : !tile.tile<8x64xf16, vec>, !tile.tile<16x64xf32, vec, valid = [12, 64]>
  // expected-error @+1 {{result should hold f32, as the tile, got f16}}
  %5 = tile.extract %t[0, 0] : !tile.tile<16x64xf32, vec, valid = [12, 64]> -> !tile.tile<8x64xf16, vec>
  orch.return
}

// -----

// Rearrangement and fills.

orch.func incore @rearrangement(in %f : f32, in %n : i32) {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  %u = tile.create : !tile.tile<8x64xf32, vec>
  %m = tile.create : !tile.tile<16x64xf32, mat>
  // expected-error @+1 {{operands should have the same rows}}
  %0 = tile.concat %t, %u : !tile.tile<16x64xf32, vec>, !tile.tile<8x64xf32, vec> -> !tile.tile<16x128xf32, vec>
  // expected-error @+1 {{the two axes of a transpose differ}}
  %1 = tile.transpose %t, axis1 = 1 : !tile.tile<16x64xf32, vec> -> !tile.tile<64x16xf32, vec>
  // expected-error @+1 {{axis 2 of a tile of 2 dimensions}}
  %2 = tile.transpose %t, axis2 = 2 : !tile.tile<16x64xf32, vec> -> !tile.tile<64x16xf32, vec>
  // expected-error @+1 {{a tile in boxes has no other elements}}
  %3 = tile.reinterpret_view %m : !tile.tile<16x64xf32, mat> -> !tile.tile<16x128xi16, mat>
  // expected-error @+1 {{a tile of 4096 bytes is none of 2048}}
  %4 = tile.reinterpret_view %t : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xi16, vec>
  // expected-error @+1 {{pad_value should be zero, max or min}}
  %5 = tile.fillpad %t, pad_value = null : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{result should be no smaller than}}
  %6 = tile.fillpad_expand %t : !tile.tile<16x64xf32, vec> -> !tile.tile<8x64xf32, vec, pad = zero>
  // expected-error @+1 {{result dtype should be one of i16, i32, ui16, ui32, got f32}}
  %7 = tile.ci %f : f32 -> !tile.tile<1x64xf32, vec>
  // expected-error @+1 {{result should be a single row of several columns}}
  %8 = tile.ci %n : i32 -> !tile.tile<16x64xi32, vec>
  // expected-error @+1 {{expected integers, got f32}}
  %9 = tile.tri %f : f32 -> !tile.tile<16x64xf32, vec>
  orch.return
}

// -----

// Products.

orch.func incore @products() {
  %a = tile.create : !tile.tile<16x64xf16, left>
  %b = tile.create : !tile.tile<32x32xf16, right>
  %c = tile.create : !tile.tile<64x32xbf16, right>
  %d = tile.create : !tile.tile<64x32xf16, right>
  // expected-error @+1 {{the columns of lhs should be the rows of rhs, got 64 and 32}}
  %0 = tile.matmul %a, %b : !tile.tile<16x64xf16, left>, !tile.tile<32x32xf16, right> -> !tile.tile<16x32xf32, acc>
  // expected-error @+1 {{operands should have one element type, got f16 and bf16}}
  %1 = tile.matmul %a, %c : !tile.tile<16x64xf16, left>, !tile.tile<64x32xbf16, right> -> !tile.tile<16x32xf32, acc>
  // Products of halves are summed in f32.
  // expected-error @+1 {{result 0 should be !tile.tile<16x32xf32, acc>, got !tile.tile<16x32xf16, acc>}}
  %2 = tile.matmul %a, %d : !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right> -> !tile.tile<16x32xf16, acc>
  %v = tile.create : !tile.tile<16x32xf32, vec>
  // expected-error @+1 {{acc should be in acc memory}}
  %3 = tile.matmul_acc %v, %a, %d : !tile.tile<16x32xf32, vec>, !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right>
  %w = tile.create : !tile.tile<16x16xf32, acc>
  // expected-error @+1 {{acc should have shape and dtype of}}
  %4 = tile.matmul_acc %w, %a, %d : !tile.tile<16x16xf32, acc>, !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right>
  // expected-error @+1 {{lhs should be a single row}}
  %5 = tile.gemv %a, %d : !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right> -> !tile.tile<16x32xf32, acc>
  %e = tile.create : !tile.tile<1x16xf32, bias>
  // expected-error @+1 {{bias should be one row of 32 f32}}
  %6 = tile.matmul_bias %a, %d, %e : !tile.tile<16x64xf16, left>, !tile.tile<64x32xf16, right>, !tile.tile<1x16xf32, bias> -> !tile.tile<16x32xf32, acc>
  orch.return
}

// -----

// Selection, gathering, scattering, sorting.

orch.func incore @selection(in %k : f32, in %h : f16, in %x : tensor<128x64xf32>) {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  %m = tile.create : !tile.tile<16x4xui8, vec>
  // M4: a mask is packed bits, in rows of whole blocks.
  // expected-error @+1 {{result 0 should be !tile.tile<16x32xui8, vec, valid = [16, 8]>, got !tile.tile<16x64xui8, vec>}}
  %0 = tile.cmps %t, %k : !tile.tile<16x64xf32, vec>, f32 -> !tile.tile<16x64xui8, vec>
  // expected-error @+1 {{mask should have a bit for each element of (16, 64)}}
  %1 = tile.sels %m, %t, %m, %k : !tile.tile<16x4xui8, vec>, !tile.tile<16x64xf32, vec>, !tile.tile<16x4xui8, vec>, f32 -> !tile.tile<16x64xf32, vec>
  %w = tile.create : !tile.tile<16x64xui8, vec>
  // D-T3.
  // expected-error @+1 {{kvalue dtype should be f32, got f16}}
  %2, %3 = tile.gather_compare %t, %h, %w, cmp_mode = eq, out_cols = 8 : !tile.tile<16x64xf32, vec>, f16, !tile.tile<16x64xui8, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xi32, vec>
  // D-T2.
  // expected-error @+1 {{src dtype should be one of f16, f32, i16, i32, got ui8}}
  %4, %5 = tile.gather_compare %w, %k, %w, cmp_mode = eq, out_cols = 8 : !tile.tile<16x64xui8, vec>, f32, !tile.tile<16x64xui8, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xi32, vec>
  // The counts are a row, not a column.
  // expected-error @+1 {{result 1 should be !tile.tile<1x16xi32, vec>, got !tile.tile<16x1xi32, vec>}}
  %6, %7 = tile.gather_compare %t, %k, %w, cmp_mode = eq, out_cols = 8 : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xui8, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<16x1xi32, vec>
  // expected-error @+1 {{count dtype should be one of i32, ui32, got f32}}
  %8, %9 = tile.gather_compare %t, %k, %w, cmp_mode = eq, out_cols = 8, count_dtype = f32 : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xui8, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xf32, vec>
  // expected-error @+1 {{indices dtype should be one of i32, got f32}}
  %10 = tile.gather %t, %t, %t : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{output_dtype should be as wide as f32, got i16}}
  %11 = tile.gather_mask %t, mask_pattern = p0101, output_dtype = i16 : !tile.tile<16x64xf32, vec> -> !tile.tile<16x32xi16, vec>
  %i = tile.create : !tile.tile<8x64xi32, vec>
  // expected-error @+1 {{indices should have the shape of}}
  %12 = tile.scatter %t, %t, %i : !tile.tile<16x64xf32, vec>, !tile.tile<16x64xf32, vec>, !tile.tile<8x64xi32, vec>
  // expected-error @+1 {{destination should have 2 columns for each of}}
  %13 = tile.scatter_mask %t, %t, mask_pattern = p0101 : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{result should have the shape 8x64}}
  %14 = tile.mgather %x, %i, coalesce = elem : tensor<128x64xf32>, !tile.tile<8x64xi32, vec> -> !tile.tile<16x64xf32, vec>
  %u = tile.create : !tile.tile<8x64xf32, vec>
  // expected-error @+1 {{indices dtype should be one of ui32, got i32}}
  %15 = tile.sort32 %u, %i : !tile.tile<8x64xf32, vec>, !tile.tile<8x64xi32, vec> -> !tile.tile<8x128xf32, vec>
  orch.return
}

// -----

// Gathers from global memory.

orch.func incore @gather(in %x : tensor<128x64xf32>, in %places : tensor<16x32xi32>,
    in %rows : tensor<1x16xi32>, in %small : tensor<256xf32>, in %halves : tensor<512xf16>) {
  %i = tile.create : !tile.tile<1x16xi32, vec, valid = [1, 9]>
  %m = tile.create : !tile.tile<4x16xi32, vec>
  // expected-error @+1 {{rows of a tensor should be listed by a vector}}
  %0 = tile.mgather %x, %m : tensor<128x64xf32>, !tile.tile<4x16xi32, vec> -> !tile.tile<4x64xf32, vec>
  // expected-error @+1 {{result should be valid as far as its indices, [9, 64], got !tile.tile<16x64xf32, vec>}}
  %1 = tile.mgather %x, %i : tensor<128x64xf32>, !tile.tile<1x16xi32, vec, valid = [1, 9]> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{indices of what goes to mat are in global memory}}
  %2 = tile.mgather %x, %i : tensor<128x64xf32>, !tile.tile<1x16xi32, vec, valid = [1, 9]> -> !tile.tile<16x64xf32, mat, valid = [9, 64]>
  // expected-error @+1 {{indices of what goes to vec are on chip}}
  %3 = tile.mgather %x, %rows : tensor<128x64xf32>, tensor<1x16xi32> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{elements that go to L1 pass through scratch in global memory}}
  %4 = tile.mgather %x, %places, coalesce = elem : tensor<128x64xf32>, tensor<16x32xi32> -> !tile.tile<16x32xf32, mat>
  // expected-error @+1 {{only elements that go to L1 pass through scratch}}
  %5 = tile.mgather %x, %rows, %small : tensor<128x64xf32>, tensor<1x16xi32>, tensor<256xf32> -> !tile.tile<16x64xf32, mat>
  // expected-error @+1 {{scratch should be a tensor of its own}}
  %6 = tile.mgather %x, %places, %x, coalesce = elem : tensor<128x64xf32>, tensor<16x32xi32>, tensor<128x64xf32> -> !tile.tile<16x32xf32, mat>
  // expected-error @+1 {{scratch should hold f32, as the tensor, got tensor<512xf16>}}
  %7 = tile.mgather %x, %places, %halves, coalesce = elem : tensor<128x64xf32>, tensor<16x32xi32>, tensor<512xf16> -> !tile.tile<16x32xf32, mat>
  // expected-error @+1 {{scratch should hold all of !tile.tile<16x32xf32, mat>, got tensor<256xf32>}}
  %8 = tile.mgather %x, %places, %small, coalesce = elem : tensor<128x64xf32>, tensor<16x32xi32>, tensor<256xf32> -> !tile.tile<16x32xf32, mat>
  orch.return
}

// -----

// Text.

orch.func incore @unknown_keyword() {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.log' has no keyword 'precision'; did you mean 'high_precision'?}}
  %0 = tile.log %t, precision = true : !tile.tile<16x64xf32, vec>
  orch.return
}

// -----

orch.func incore @required_keyword(in %k : f32) {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.gather_compare' expects `cmp_mode = ...`}}
  %0, %1 = tile.gather_compare %t, %k, %t, out_cols = 8 : !tile.tile<16x64xf32, vec>, f32, !tile.tile<16x64xf32, vec> -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xi32, vec>
  orch.return
}

// -----

orch.func incore @keyword_twice() {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'mode' is given twice}}
  %0 = tile.cast %t, target_type = f16, mode = rint, mode = rint : !tile.tile<16x64xf32, vec> -> !tile.tile<16x64xf16, vec>
  orch.return
}

// -----

orch.func incore @too_few_operands() {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.add' expects an operand 'rhs'}}
  %0 = tile.add %t : !tile.tile<16x64xf32, vec>
  orch.return
}

// -----

orch.func incore @too_many_operands() {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.add' has no operand here}}
  %0 = tile.add %t, %t, %t : !tile.tile<16x64xf32, vec>
  orch.return
}

// -----

orch.func incore @types() {
  %t = tile.create : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{expected 2 operand types, or one for all, got 3}}
  %0 = tile.add %t, %t : !tile.tile<16x64xf32, vec>, !tile.tile<16x64xf32, vec>, !tile.tile<16x64xf32, vec>
  orch.return
}

// -----

// A property among the attributes would say nothing.

orch.func incore @property_in_braces(in %n: i32) {
  // expected-error @+1 {{'descending' is a property of 'tile.ci', whose form has another place for it}}
  %0 = tile.ci %n {descending = true} : i32 -> !tile.tile<1x64xi32, vec>
  orch.return
}
