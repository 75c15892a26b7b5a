// Kernels compute on tiles: what is read is loaded, what is computed is a tile, what is returned
// is stored to a new parameter.

// RUN: pypto-opt --convert-tensor-to-tile-ops %s | filecheck %s
// A second run finds nothing to do.
// RUN: pypto-opt --convert-tensor-to-tile-ops --convert-tensor-to-tile-ops --verify-property=IncoreTileOps %s | filecheck %s

// Loads come first, in the order of the parameters, stores last.
// CHECK-LABEL: orch.func incore @vector_add(in %x: tensor<64x128xf32>, in %y: tensor<64x128xf32>, out %sum_out: tensor<64x128xf32>) -> tensor<64x128xf32> {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<64x128xf32> -> !tile.tile<64x128xf32>
// CHECK-NEXT:    %y_tile = tile.load %y[0, 0] : tensor<64x128xf32> -> !tile.tile<64x128xf32>
// CHECK-NEXT:    %sum = tile.add %y_tile, %x_tile : !tile.tile<64x128xf32>
// CHECK-NEXT:    %sum_stored = tile.store %sum, %sum_out[0, 0] : !tile.tile<64x128xf32>, tensor<64x128xf32>
// CHECK-NEXT:    orch.return %sum_stored : tensor<64x128xf32>
orch.func incore @vector_add(in %x : tensor<64x128xf32>, in %y : tensor<64x128xf32>) -> tensor<64x128xf32> {
  %sum = ptensor.add %y, %x : tensor<64x128xf32>
  orch.return %sum : tensor<64x128xf32>
}

// What writes to a parameter stores there: no new parameter, and a parameter that nobody reads is
// not loaded.
// CHECK-LABEL: orch.func incore @into_parameter(in %x: tensor<64xf32>, out %o: tensor<128xf32>) -> tensor<128xf32> {
// CHECK-NEXT:    %x_tile = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
// CHECK-NEXT:    %e = tile.exp %x_tile : !tile.tile<64xf32>
// CHECK-NEXT:    %o1 = tile.store %e, %o[64] : !tile.tile<64xf32>, tensor<128xf32>
// CHECK-NEXT:    orch.return %o1 : tensor<128xf32>
orch.func incore @into_parameter(in %x : tensor<64xf32>, out %o : tensor<128xf32>) -> tensor<128xf32> {
  %e = ptensor.exp %x : tensor<64xf32>
  %o1 = ptensor.assemble %e, %o[64] : tensor<64xf32>, tensor<128xf32>
  orch.return %o1 : tensor<128xf32>
}

// A name later than a store is loaded after it.
// CHECK-LABEL: orch.func incore @read_back(in %x: tensor<16x32xf32>, inout %o: tensor<16x32xf32>, out %n_out: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %e = tile.exp %x_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:    %o1 = tile.store %e, %o[0, 0], atomic = add : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    %o1_tile = tile.load %o1[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %n = tile.neg %o1_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:    %n_stored = tile.store %n, %n_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %o1, %n_stored : tensor<16x32xf32>, tensor<16x32xf32>
orch.func incore @read_back(in %x : tensor<16x32xf32>, inout %o : tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %e = ptensor.exp %x : tensor<16x32xf32>
  %o1 = ptensor.assemble %e, %o[0, 0], atomic = add : tensor<16x32xf32>, tensor<16x32xf32>
  %n = ptensor.neg %o1 : tensor<16x32xf32>
  orch.return %o1, %n : tensor<16x32xf32>, tensor<16x32xf32>
}

// Reductions get scratch of at least 128 columns, arg-reductions of the operand's shape; precise
// square roots get scratch, plain ones none.
// CHECK-LABEL: orch.func incore @scratch(in %x: tensor<16x32xf32>, out %m_out: tensor<16x1xf32>, out %a_out: tensor<16x1xi32>, out %r_out: tensor<16x32xf32>, out %p_out: tensor<16x32xf32>) -> (tensor<16x1xf32>, tensor<16x1xi32>, tensor<16x32xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %tmp = tile.create : !tile.tile<16x128xf32>
// CHECK-NEXT:    %m = tile.row_max %x_tile, %tmp : !tile.tile<16x32xf32>, !tile.tile<16x128xf32> -> !tile.tile<16x1xf32>
// CHECK-NEXT:    %tmp_1 = tile.create : !tile.tile<16x32xf32>
// CHECK-NEXT:    %a = tile.row_argmax %x_tile, %tmp_1 : !tile.tile<16x32xf32> -> !tile.tile<16x1xi32>
// CHECK-NEXT:    %r = tile.rsqrt %x_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:    %tmp_2 = tile.create : !tile.tile<16x32xf32>
// CHECK-NEXT:    %p = tile.rsqrt %x_tile, %tmp_2 : !tile.tile<16x32xf32>
// CHECK-NEXT:    %m_stored = tile.store %m, %m_out[0, 0] : !tile.tile<16x1xf32>, tensor<16x1xf32>
// CHECK-NEXT:    %a_stored = tile.store %a, %a_out[0, 0] : !tile.tile<16x1xi32>, tensor<16x1xi32>
// CHECK-NEXT:    %r_stored = tile.store %r, %r_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    %p_stored = tile.store %p, %p_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %m_stored, %a_stored, %r_stored, %p_stored : tensor<16x1xf32>, tensor<16x1xi32>, tensor<16x32xf32>, tensor<16x32xf32>
orch.func incore @scratch(in %x : tensor<16x32xf32>) -> (tensor<16x1xf32>, tensor<16x1xi32>, tensor<16x32xf32>, tensor<16x32xf32>) {
  %m = ptensor.row_max %x : tensor<16x32xf32> -> tensor<16x1xf32>
  %a = ptensor.row_argmax %x : tensor<16x32xf32> -> tensor<16x1xi32>
  %r = ptensor.rsqrt %x : tensor<16x32xf32>
  %p = ptensor.rsqrt %x, high_precision = true : tensor<16x32xf32>
  orch.return %m, %a, %r, %p : tensor<16x1xf32>, tensor<16x1xi32>, tensor<16x32xf32>, tensor<16x32xf32>
}

// Operands are promoted by a cast; a scalar promotes too.
// CHECK-LABEL: orch.func incore @promotion(in %x: tensor<16x32xf16>, in %y: tensor<16x32xf32>, in %i: tensor<16x32xi32>, in %k: f32, out %a_out: tensor<16x32xf32>, out %b_out: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf16> -> !tile.tile<16x32xf16>
// CHECK-NEXT:    %y_tile = tile.load %y[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %i_tile = tile.load %i[0, 0] : tensor<16x32xi32> -> !tile.tile<16x32xi32>
// CHECK-NEXT:    %x_tile_cast = tile.cast %x_tile, target_type = f32, mode = rint : !tile.tile<16x32xf16> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %a = tile.add %x_tile_cast, %y_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:    %i_tile_cast = tile.cast %i_tile, target_type = f32, mode = rint : !tile.tile<16x32xi32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %b = tile.adds %i_tile_cast, %k : !tile.tile<16x32xf32>, f32
// CHECK-NEXT:    %a_stored = tile.store %a, %a_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    %b_stored = tile.store %b, %b_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %a_stored, %b_stored : tensor<16x32xf32>, tensor<16x32xf32>
orch.func incore @promotion(in %x : tensor<16x32xf16>, in %y : tensor<16x32xf32>, in %i : tensor<16x32xi32>, in %k : f32) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %a = ptensor.add %x, %y : tensor<16x32xf16>, tensor<16x32xf32> -> tensor<16x32xf32>
  %b = ptensor.adds %i, %k : tensor<16x32xi32>, f32 -> tensor<16x32xf32>
  orch.return %a, %b : tensor<16x32xf32>, tensor<16x32xf32>
}

// Two results of one op, each with a buffer; one value returned twice is stored once.
// CHECK-LABEL: orch.func incore @two_results(in %x: tensor<32x64xf32>, in %k: f32, out %c_out: tensor<1x32xi32>, out %d_out: tensor<32x8xi32>) -> (tensor<1x32xi32>, tensor<32x8xi32>, tensor<1x32xi32>) {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
// CHECK-NEXT:    %tmp = tile.create : !tile.tile<32x64xui8>
// CHECK-NEXT:    %d, %c = tile.gather_compare %x_tile, %k, %tmp, cmp_mode = gt, offset = 4, out_cols = 8 : !tile.tile<32x64xf32>, f32, !tile.tile<32x64xui8> -> !tile.tile<32x8xi32>, !tile.tile<1x32xi32>
// CHECK-NEXT:    %c_stored = tile.store %c, %c_out[0, 0] : !tile.tile<1x32xi32>, tensor<1x32xi32>
// CHECK-NEXT:    %d_stored = tile.store %d, %d_out[0, 0] : !tile.tile<32x8xi32>, tensor<32x8xi32>
// CHECK-NEXT:    orch.return %c_stored, %d_stored, %c_stored : tensor<1x32xi32>, tensor<32x8xi32>, tensor<1x32xi32>
orch.func incore @two_results(in %x : tensor<32x64xf32>, in %k : f32) -> (tensor<1x32xi32>, tensor<32x8xi32>, tensor<1x32xi32>) {
  %d, %c = ptensor.gather_compare %x, %k, cmp_mode = gt, offset = 4, out_cols = 8 : tensor<32x64xf32>, f32 -> tensor<32x8xi32>, tensor<1x32xi32>
  orch.return %c, %d, %c : tensor<1x32xi32>, tensor<32x8xi32>, tensor<1x32xi32>
}

// Views of what is computed are views of tiles; a single element is read from the tile.
// CHECK-LABEL: orch.func incore @views(in %x: tensor<16x32xf32>, in %i: index, out %f_out: tensor<512xf32>, out %u_out: tensor<16x32xf32>) -> (tensor<512xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %e = tile.exp %x_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:    %f = tile.reshape %e : !tile.tile<16x32xf32> -> !tile.tile<512xf32>
// CHECK-NEXT:    %v = tile.read %e[%i, 3] : !tile.tile<16x32xf32> -> f32
// CHECK-NEXT:    %w = tile.adds %e, %v : !tile.tile<16x32xf32>, f32
// CHECK-NEXT:    %n = arith.constant 16 : index
// CHECK-NEXT:    %u = tile.write %v, %w[0, %n] : f32, !tile.tile<16x32xf32>
// CHECK-NEXT:    %f_stored = tile.store %f, %f_out[0] : !tile.tile<512xf32>, tensor<512xf32>
// CHECK-NEXT:    %u_stored = tile.store %u, %u_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %f_stored, %u_stored : tensor<512xf32>, tensor<16x32xf32>
orch.func incore @views(in %x : tensor<16x32xf32>, in %i : index) -> (tensor<512xf32>, tensor<16x32xf32>) {
  %e = ptensor.exp %x : tensor<16x32xf32>
  %f = ptensor.reshape %e : tensor<16x32xf32> -> tensor<512xf32>
  %v = ptensor.read %e[%i, 3] : tensor<16x32xf32> -> f32
  %w = ptensor.adds %e, %v : tensor<16x32xf32>, f32
  %n = ptensor.dim %e, axis = 0 : tensor<16x32xf32> -> index
  %u = ptensor.write %v, %w[0, %n] : f32, tensor<16x32xf32>
  orch.return %f, %u : tensor<512xf32>, tensor<16x32xf32>
}

// Work of other functions, and kernels on tiles already, stay.
// CHECK-LABEL: orch.func orchestration @host(in %x: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %y = ptensor.create : tensor<16x32xf32>
// CHECK-NEXT:    orch.return %y : tensor<16x32xf32>
orch.func orchestration @host(in %x : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %y = ptensor.create : tensor<16x32xf32>
  orch.return %y : tensor<16x32xf32>
}
