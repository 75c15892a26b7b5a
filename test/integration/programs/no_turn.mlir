// A loop that makes no turn returns what it started from.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %r = orch.incore -> (tensor<32x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p0 = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
    %a = scf.for %i = %c1 to %c0 step %c1 iter_args(%p = %p0) -> (!tile.tile<32x64xf32>) {
      %s = tile.add %p, %p : !tile.tile<32x64xf32>
      scf.yield %s : !tile.tile<32x64xf32>
    }
    %o = ptensor.create : tensor<32x64xf32>
    %o1 = tile.store %a, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
    orch.yield %o1 : tensor<32x64xf32>
  }
  orch.return %r : tensor<32x64xf32>
}
