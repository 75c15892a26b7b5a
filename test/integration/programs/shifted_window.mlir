// A window of a tile goes into the same tile a little further down.

orch.func orchestration @main(in %x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %RR = orch.incore -> (tensor<32x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %a = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%w = %a) -> (!tile.tile<32x64xf32>) {
      %k = arith.muli %i, %c8 : index
      %k1 = arith.addi %k, %c4 : index
      %s = tile.slice %w[%k, 0] : !tile.tile<32x64xf32> -> !tile.tile<8x64xf32>
      %d = tile.assemble %s, %w[%k1, 0] : !tile.tile<8x64xf32>, !tile.tile<32x64xf32>
      %g = tile.add %d, %w : !tile.tile<32x64xf32>
      scf.yield %g : !tile.tile<32x64xf32>
    }
    %o = ptensor.create : tensor<32x64xf32>
    %o1 = tile.store %r, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
    orch.yield %o1 : tensor<32x64xf32>
  }
  orch.return %RR : tensor<32x64xf32>
}
