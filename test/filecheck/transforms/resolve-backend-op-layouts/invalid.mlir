// What has no repair is an error at the op, all of them at once.

// RUN: pypto-opt --split-input-file --verify-diagnostics --resolve-backend-op-layouts %s

builtin.module attributes {pto.target_arch = "a2a3"} {
  orch.func incore @no_view(in %k : f32, out %y : tensor<16x32xui8>) -> tensor<16x32xui8> {
    %c = tile.create : !tile.tile<16x1xf32, vec>
    %m = tile.create : !tile.tile<16x16xf32, vec>
    // Seen as a row, the column would meet other elements of the matrix.
    // expected-error @+1 {{'tile.add' op needs row_major tiles, and a 16x1 tile cannot be turned where operand 'lhs' is !tile.tile<16x16xf32, vec>}}
    %a = tile.add %m, %c : !tile.tile<16x16xf32, vec>, !tile.tile<16x1xf32, vec> -> !tile.tile<16x16xf32, vec>
    // A packed mask of a column has a byte for each row, and somebody looks at the bytes.
    // expected-error @+1 {{'tile.cmps' op needs row_major tiles, and the mask of a 16x1 tile is used where it cannot be that of a turned one}}
    %r = tile.cmps %c, %k, cmp_type = gt : !tile.tile<16x1xf32, vec>, f32 -> !tile.tile<16x32xui8, vec, valid = [16, 1]>
    %y1 = tile.store %r, %y[0, 0] : !tile.tile<16x32xui8, vec, valid = [16, 1]>, tensor<16x32xui8>
    // A mask from elsewhere.
    %l = tile.create : !tile.tile<16x32xui8, vec>
    %t = tile.create : !tile.tile<1x32xui8, vec>
    // expected-error @+1 {{'tile.sels' op needs row_major tiles, and its mask of a 16x1 tile is no result of a comparison of such tiles}}
    %s = tile.sels %l, %c, %t, %k : !tile.tile<16x32xui8, vec>, !tile.tile<16x1xf32, vec>, !tile.tile<1x32xui8, vec>, f32 -> !tile.tile<16x1xf32, vec>
    // An op whose meaning hangs on the shape.
    %i = arith.constant 0 : i32
    // expected-error @+1 {{'tile.tri' op needs row_major tiles, and a 16x1 tile cannot be turned here}}
    %u = tile.tri %i : i32 -> !tile.tile<16x1xf32, vec>
    orch.return %y1 : tensor<16x32xui8>
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

// expected-error @+1 {{'builtin.module' op has the target "a9", which is none of a2a3, a2, a3}}
builtin.module attributes {pto.target_arch = "a9"} {
}
