// What has no repair is an error at the op, all of them at once.

// RUN: pypto-opt --split-input-file --verify-diagnostics --resolve-backend-op-layouts %s

builtin.module attributes {pto.target_arch = "a2a3"} {
  orch.func incore @no_view(in %k : f32) {
    %c = tile.create : !tile.tile<16x1xf32, vec>
    %m = tile.create : !tile.tile<16x16xf32, vec>
    // Seen as a row, the column would meet other elements of the matrix.
    // expected-error @+1 {{'tile.add' op needs row_major tiles, and a 16x1 tile cannot be turned where operand 'lhs' is !tile.tile<16x16xf32, vec>}}
    %a = tile.add %m, %c : !tile.tile<16x16xf32, vec>, !tile.tile<16x1xf32, vec> -> !tile.tile<16x16xf32, vec>
    // A packed mask of a column has a byte for each row.
    // expected-error @+1 {{'tile.cmps' op needs row_major tiles, and a 16x1 tile cannot be turned here}}
    %r = tile.cmps %c, %k, cmp_type = gt : !tile.tile<16x1xf32, vec>, f32 -> !tile.tile<16x32xui8, vec, valid = [16, 1]>
    orch.return
  }
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
  orch.func incore @no_space() {
    %m = tile.create : !tile.tile<16x32xf32, blayout = col_major>
    // expected-error @+1 {{'tile.exp' op needs row_major tiles, but the memory space of !tile.tile<16x32xf32, blayout = col_major> is not known}}
    %e = tile.exp %m : !tile.tile<16x32xf32, blayout = col_major>
    orch.return
  }
}

// -----

// expected-error @+1 {{'builtin.module' op has the target "a9", which is none of a2a3}}
builtin.module attributes {pto.target_arch = "a9"} {
}
