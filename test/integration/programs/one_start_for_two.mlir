// Two carries start from one tile, which is used after the loop too.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %r = orch.incore -> (tensor<32x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %p0 = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
    %a, %b = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %p0, %q = %p0) -> (!tile.tile<32x64xf32>, !tile.tile<32x64xf32>) {
      %s = tile.add %p, %q : !tile.tile<32x64xf32>
      %m = tile.mul %s, %p0 : !tile.tile<32x64xf32>
      scf.yield %m, %s : !tile.tile<32x64xf32>, !tile.tile<32x64xf32>
    }
    %d = tile.sub %a, %b : !tile.tile<32x64xf32>
    %e = tile.add %d, %p0 : !tile.tile<32x64xf32>
    %o = ptensor.create : tensor<32x64xf32>
    %o1 = tile.store %e, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
    orch.yield %o1 : tensor<32x64xf32>
  }
  orch.return %r : tensor<32x64xf32>
}
