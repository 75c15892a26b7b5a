// Rows of a tile are replaced in each turn, by what the turn before left there and by others.

orch.func orchestration @main(in %x : tensor<16x32xf32>, in %i : tensor<1x8xi32>, in %y : tensor<8x32xf32>) -> tensor<16x32xf32> {
  %RR = orch.incore -> (tensor<16x32xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
    %j = tile.load %i[0, 0] : tensor<1x8xi32> -> !tile.tile<1x8xi32>
    %v = tile.load %y[0, 0] : tensor<8x32xf32> -> !tile.tile<8x32xf32>
    %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%w = %t) -> (!tile.tile<16x32xf32>) {
      %h = tile.slice %w[4, 0] : !tile.tile<16x32xf32> -> !tile.tile<8x32xf32>
      %s = tile.add %h, %v : !tile.tile<8x32xf32>
      %u = tile.scatter_update %w, %j, %s : !tile.tile<16x32xf32>, !tile.tile<1x8xi32>, !tile.tile<8x32xf32>
      scf.yield %u : !tile.tile<16x32xf32>
    }
    %o = ptensor.create : tensor<16x32xf32>
    %o1 = tile.store %r, %o[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
    orch.yield %o1 : tensor<16x32xf32>
  }
  orch.return %RR : tensor<16x32xf32>
}
