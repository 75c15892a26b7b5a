// Columns of one element a row are carried around a loop, and change places.

orch.func orchestration @main(in %x: tensor<32x64xf32>) -> tensor<32x1xf32> {
  %RR = orch.incore -> (tensor<32x1xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %a = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
    %tmp = tile.create : !tile.tile<32x64xf32>
    %m0 = tile.row_max %a, %tmp : !tile.tile<32x64xf32> -> !tile.tile<32x1xf32>
    %s0 = tile.row_sum %a, %tmp : !tile.tile<32x64xf32> -> !tile.tile<32x1xf32>
    %r, %q = scf.for %i = %c0 to %c3 step %c1 iter_args(%w = %m0, %v = %s0) -> (!tile.tile<32x1xf32>, !tile.tile<32x1xf32>) {
      %t1 = tile.add %w, %v : !tile.tile<32x1xf32>
      %t2 = tile.abs %t1 : !tile.tile<32x1xf32>
      %t3 = tile.sqrt %t2 : !tile.tile<32x1xf32>
      %b = tile.row_expand_mul %a, %t3 : !tile.tile<32x64xf32>, !tile.tile<32x1xf32>
      %n = tile.row_min %b, %tmp : !tile.tile<32x64xf32> -> !tile.tile<32x1xf32>
      scf.yield %v, %n : !tile.tile<32x1xf32>, !tile.tile<32x1xf32>
    }
    %z = tile.sub %r, %q : !tile.tile<32x1xf32>
    %o = ptensor.create : tensor<32x1xf32>
    %o1 = tile.store %z, %o[0, 0] : !tile.tile<32x1xf32>, tensor<32x1xf32>
    orch.yield %o1 : tensor<32x1xf32>
  }
  orch.return %RR : tensor<32x1xf32>
}
