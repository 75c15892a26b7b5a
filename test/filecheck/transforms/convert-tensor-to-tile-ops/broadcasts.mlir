// A row or a column that meets a matrix: no operand is read beyond its end, none changes its side.

// RUN: pypto-opt --convert-tensor-to-tile-ops %s | filecheck %s

// A column on the right: the fused op. On the left it may swap sides only where the op commutes;
// `column - matrix` is not `matrix - column`, and so the column is expanded first.
// CHECK-LABEL: orch.func incore @column(in %m: tensor<32x64xf32>, in %c: tensor<32x1xf32>, out %o: tensor<128x64xf32>) -> tensor<128x64xf32> {
// CHECK-NEXT:    %m_tile = tile.load %m[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
// CHECK-NEXT:    %c_tile = tile.load %c[0, 0] : tensor<32x1xf32> -> !tile.tile<32x1xf32>
// CHECK-NEXT:    %a = tile.row_expand_sub %m_tile, %c_tile : !tile.tile<32x64xf32>, !tile.tile<32x1xf32>
// CHECK-NEXT:    %c_tile_expanded = tile.row_expand %m_tile, %c_tile : !tile.tile<32x64xf32>, !tile.tile<32x1xf32>
// CHECK-NEXT:    %b = tile.sub %c_tile_expanded, %m_tile : !tile.tile<32x64xf32>
// CHECK-NEXT:    %d = tile.row_expand_max %m_tile, %c_tile : !tile.tile<32x64xf32>, !tile.tile<32x1xf32>
// CHECK-NEXT:    %e = tile.row_expand_div %m_tile, %c_tile : !tile.tile<32x64xf32>, !tile.tile<32x1xf32>
// CHECK-NEXT:    %o1 = tile.store %a, %o[0, 0] : !tile.tile<32x64xf32>, tensor<128x64xf32>
// CHECK-NEXT:    %o2 = tile.store %b, %o1[32, 0] : !tile.tile<32x64xf32>, tensor<128x64xf32>
// CHECK-NEXT:    %o3 = tile.store %d, %o2[64, 0] : !tile.tile<32x64xf32>, tensor<128x64xf32>
// CHECK-NEXT:    %o4 = tile.store %e, %o3[96, 0] : !tile.tile<32x64xf32>, tensor<128x64xf32>
// CHECK-NEXT:    orch.return %o4 : tensor<128x64xf32>
orch.func incore @column(in %m : tensor<32x64xf32>, in %c : tensor<32x1xf32>, out %o : tensor<128x64xf32>) -> tensor<128x64xf32> {
  %a = ptensor.sub %m, %c : tensor<32x64xf32>, tensor<32x1xf32>
  %b = ptensor.sub %c, %m : tensor<32x1xf32>, tensor<32x64xf32> -> tensor<32x64xf32>
  %d = ptensor.maximum %c, %m : tensor<32x1xf32>, tensor<32x64xf32> -> tensor<32x64xf32>
  %e = ptensor.div %m, %c : tensor<32x64xf32>, tensor<32x1xf32>
  %o1 = ptensor.assemble %a, %o[0, 0] : tensor<32x64xf32>, tensor<128x64xf32>
  %o2 = ptensor.assemble %b, %o1[32, 0] : tensor<32x64xf32>, tensor<128x64xf32>
  %o3 = ptensor.assemble %d, %o2[64, 0] : tensor<32x64xf32>, tensor<128x64xf32>
  %o4 = ptensor.assemble %e, %o3[96, 0] : tensor<32x64xf32>, tensor<128x64xf32>
  orch.return %o4 : tensor<128x64xf32>
}

// A row likewise, also one of a dimension less.
// CHECK-LABEL: orch.func incore @row(in %m: tensor<32x64xf32>, in %r: tensor<1x64xf32>, in %v: tensor<64xf32>, out %a_out: tensor<32x64xf32>, out %b_out: tensor<32x64xf32>, out %d_out: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
// CHECK-NEXT:    %m_tile = tile.load %m[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
// CHECK-NEXT:    %r_tile = tile.load %r[0, 0] : tensor<1x64xf32> -> !tile.tile<1x64xf32>
// CHECK-NEXT:    %v_tile = tile.load %v[0] : tensor<64xf32> -> !tile.tile<64xf32>
// CHECK-NEXT:    %a = tile.col_expand_add %m_tile, %r_tile : !tile.tile<32x64xf32>, !tile.tile<1x64xf32>
// CHECK-NEXT:    %r_tile_expanded = tile.col_expand %m_tile, %r_tile : !tile.tile<32x64xf32>, !tile.tile<1x64xf32>
// CHECK-NEXT:    %b = tile.div %r_tile_expanded, %m_tile : !tile.tile<32x64xf32>
// CHECK-NEXT:    %v_tile_1 = tile.reshape %v_tile : !tile.tile<64xf32> -> !tile.tile<1x64xf32>
// CHECK-NEXT:    %d = tile.col_expand_mul %m_tile, %v_tile_1 : !tile.tile<32x64xf32>, !tile.tile<1x64xf32>
// CHECK-NEXT:    %a_stored = tile.store %a, %a_out[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
// CHECK-NEXT:    %b_stored = tile.store %b, %b_out[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
// CHECK-NEXT:    %d_stored = tile.store %d, %d_out[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
// CHECK-NEXT:    orch.return %a_stored, %b_stored, %d_stored : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
orch.func incore @row(in %m : tensor<32x64xf32>, in %r : tensor<1x64xf32>, in %v : tensor<64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %a = ptensor.add %r, %m : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<32x64xf32>
  %b = ptensor.div %r, %m : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<32x64xf32>
  %d = ptensor.mul %m, %v : tensor<32x64xf32>, tensor<64xf32>
  orch.return %a, %b, %d : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}

// Where both stretch, both are expanded over a tile that only gives the shape.
// CHECK-LABEL: orch.func incore @both(in %c: tensor<32x1xf32>, in %r: tensor<1x64xf32>, out %a_out: tensor<32x64xf32>) -> tensor<32x64xf32> {
// CHECK-NEXT:    %c_tile = tile.load %c[0, 0] : tensor<32x1xf32> -> !tile.tile<32x1xf32>
// CHECK-NEXT:    %r_tile = tile.load %r[0, 0] : tensor<1x64xf32> -> !tile.tile<1x64xf32>
// CHECK-NEXT:    %shape = tile.create : !tile.tile<32x64xf32>
// CHECK-NEXT:    %c_tile_expanded = tile.row_expand %shape, %c_tile : !tile.tile<32x64xf32>, !tile.tile<32x1xf32>
// CHECK-NEXT:    %r_tile_expanded = tile.col_expand %shape, %r_tile : !tile.tile<32x64xf32>, !tile.tile<1x64xf32>
// CHECK-NEXT:    %a = tile.mul %c_tile_expanded, %r_tile_expanded : !tile.tile<32x64xf32>
// CHECK-NEXT:    %a_stored = tile.store %a, %a_out[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
// CHECK-NEXT:    orch.return %a_stored : tensor<32x64xf32>
orch.func incore @both(in %c : tensor<32x1xf32>, in %r : tensor<1x64xf32>) -> tensor<32x64xf32> {
  %a = ptensor.mul %c, %r : tensor<32x1xf32>, tensor<1x64xf32> -> tensor<32x64xf32>
  orch.return %a : tensor<32x64xf32>
}

// Ops without a fused form, and precise divisions, expand first too.
// CHECK-LABEL: orch.func incore @unfused(in %m: tensor<32x64xi32>, in %c: tensor<32x1xi32>, in %f: tensor<32x64xf32>, in %g: tensor<32x1xf32>, out %a_out: tensor<32x64xi32>, out %b_out: tensor<32x64xf32>) -> (tensor<32x64xi32>, tensor<32x64xf32>) {
// CHECK-NEXT:    %m_tile = tile.load %m[0, 0] : tensor<32x64xi32> -> !tile.tile<32x64xi32>
// CHECK-NEXT:    %c_tile = tile.load %c[0, 0] : tensor<32x1xi32> -> !tile.tile<32x1xi32>
// CHECK-NEXT:    %f_tile = tile.load %f[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
// CHECK-NEXT:    %g_tile = tile.load %g[0, 0] : tensor<32x1xf32> -> !tile.tile<32x1xf32>
// CHECK-NEXT:    %c_tile_expanded = tile.row_expand %m_tile, %c_tile : !tile.tile<32x64xi32>, !tile.tile<32x1xi32>
// CHECK-NEXT:    %a = tile.and %m_tile, %c_tile_expanded : !tile.tile<32x64xi32>
// CHECK-NEXT:    %g_tile_expanded = tile.row_expand %f_tile, %g_tile : !tile.tile<32x64xf32>, !tile.tile<32x1xf32>
// CHECK-NEXT:    %b = tile.div %f_tile, %g_tile_expanded, high_precision = true : !tile.tile<32x64xf32>
// CHECK-NEXT:    %a_stored = tile.store %a, %a_out[0, 0] : !tile.tile<32x64xi32>, tensor<32x64xi32>
// CHECK-NEXT:    %b_stored = tile.store %b, %b_out[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
// CHECK-NEXT:    orch.return %a_stored, %b_stored : tensor<32x64xi32>, tensor<32x64xf32>
orch.func incore @unfused(in %m : tensor<32x64xi32>, in %c : tensor<32x1xi32>, in %f : tensor<32x64xf32>, in %g : tensor<32x1xf32>) -> (tensor<32x64xi32>, tensor<32x64xf32>) {
  %a = ptensor.and %m, %c : tensor<32x64xi32>, tensor<32x1xi32>
  %b = ptensor.div %f, %g, high_precision = true : tensor<32x64xf32>, tensor<32x1xf32>
  orch.return %a, %b : tensor<32x64xi32>, tensor<32x64xf32>
}
