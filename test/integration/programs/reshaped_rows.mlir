// Rows of a tensor, seen in other shapes: without an extent of 1, in longer and in shorter rows, as
// a column.

orch.func incore @kernel(in %x: tensor<4x8x32xf32>, in %i: index, out %flat: tensor<8x32xf32>, out %long: tensor<4x64xf32>, out %short: tensor<8x16xf32>, out %column: tensor<32x1xf32>)
    -> (tensor<8x32xf32>, tensor<4x64xf32>, tensor<8x16xf32>, tensor<32x1xf32>) {
  %w = ptensor.slice %x[%i, 0, 0] : tensor<4x8x32xf32> -> tensor<1x8x32xf32>
  %f = ptensor.reshape %w : tensor<1x8x32xf32> -> tensor<8x32xf32>
  %f_tile = tile.load %f[0, 0] : tensor<8x32xf32> -> !tile.tile<8x32xf32>
  %flat1 = tile.store %f_tile, %flat[0, 0] : !tile.tile<8x32xf32>, tensor<8x32xf32>
  %l = ptensor.reshape %w : tensor<1x8x32xf32> -> tensor<4x64xf32>
  %l_tile = tile.load %l[0, 0] : tensor<4x64xf32> -> !tile.tile<4x64xf32>
  %long1 = tile.store %l_tile, %long[0, 0] : !tile.tile<4x64xf32>, tensor<4x64xf32>
  %some = ptensor.slice %x[%i, 2, 0] : tensor<4x8x32xf32> -> tensor<1x4x32xf32>
  %s = ptensor.reshape %some : tensor<1x4x32xf32> -> tensor<8x16xf32>
  %s_tile = tile.load %s[0, 0] : tensor<8x16xf32> -> !tile.tile<8x16xf32>
  %short1 = tile.store %s_tile, %short[0, 0] : !tile.tile<8x16xf32>, tensor<8x16xf32>
  %one = ptensor.slice %x[%i, %i, 0] : tensor<4x8x32xf32> -> tensor<1x1x32xf32>
  %c = ptensor.reshape %one : tensor<1x1x32xf32> -> tensor<32x1xf32>
  %c_tile = tile.load %c[0, 0] : tensor<32x1xf32> -> !tile.tile<32x1xf32>
  %column1 = tile.store %c_tile, %column[0, 0] : !tile.tile<32x1xf32>, tensor<32x1xf32>
  orch.return %flat1, %long1, %short1, %column1 : tensor<8x32xf32>, tensor<4x64xf32>, tensor<8x16xf32>, tensor<32x1xf32>
}

orch.func orchestration @main(in %x: tensor<4x8x32xf32>, in %i: index)
    -> (tensor<8x32xf32>, tensor<4x64xf32>, tensor<8x16xf32>, tensor<32x1xf32>) {
  %flat = ptensor.create : tensor<8x32xf32>
  %long = ptensor.create : tensor<4x64xf32>
  %short = ptensor.create : tensor<8x16xf32>
  %column = ptensor.create : tensor<32x1xf32>
  %r0, %r1, %r2, %r3 = orch.call @kernel(%x, %i, %flat, %long, %short, %column)
      : (tensor<4x8x32xf32>, index, tensor<8x32xf32>, tensor<4x64xf32>, tensor<8x16xf32>, tensor<32x1xf32>)
      -> (tensor<8x32xf32>, tensor<4x64xf32>, tensor<8x16xf32>, tensor<32x1xf32>)
  orch.return %r0, %r1, %r2, %r3 : tensor<8x32xf32>, tensor<4x64xf32>, tensor<8x16xf32>, tensor<32x1xf32>
}
