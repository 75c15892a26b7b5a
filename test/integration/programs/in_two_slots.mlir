// Each turn computes in one of the two slots of a buffer, by turns.

orch.func orchestration @main(in %x : tensor<64x32xf32>) -> tensor<64x32xf32> {
  %RR = orch.incore -> (tensor<64x32xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %two = tile.alloc buffer = "two", slots = 2, pinned : !tile.buffer
    %o = ptensor.create : tensor<64x32xf32>
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %o) -> (tensor<64x32xf32>) {
      %at = arith.muli %i, %c16 : index
      %t0 = tile.load %x[%at, 0] : tensor<64x32xf32> -> !tile.tile<16x32xf32, vec>
      %k = arith.remsi %i, %c2 : index
      %t = tile.place %t0, %two[%k], by_slot : !tile.tile<16x32xf32, vec>, !tile.buffer
      %e = tile.exp %t : !tile.tile<16x32xf32, vec>
      %z = tile.store %e, %y[%at, 0] : !tile.tile<16x32xf32, vec>, tensor<64x32xf32>
      scf.yield %z : tensor<64x32xf32>
    }
    orch.yield %r : tensor<64x32xf32>
  }
  orch.return %RR : tensor<64x32xf32>
}
