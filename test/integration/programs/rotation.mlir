// Three carried tiles rotate: each is overwritten by the next before it is read.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %y: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %RR, %RR_1 = orch.incore -> (tensor<32x64xf32>, tensor<32x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %a = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
    %b = tile.load %y[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
    %k = tile.exp %a : !tile.tile<32x64xf32>
    %r0, %r1, %r2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %a, %q = %b, %s = %k) -> (!tile.tile<32x64xf32>, !tile.tile<32x64xf32>, !tile.tile<32x64xf32>) {
      scf.yield %q, %s, %p : !tile.tile<32x64xf32>, !tile.tile<32x64xf32>, !tile.tile<32x64xf32>
    }
    %o = ptensor.create : tensor<32x64xf32>
    %o1 = tile.store %r0, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
    %v = ptensor.create : tensor<32x64xf32>
    %v1 = tile.store %r2, %v[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
    orch.yield %o1, %v1 : tensor<32x64xf32>, tensor<32x64xf32>
  }
  orch.return %RR, %RR_1 : tensor<32x64xf32>, tensor<32x64xf32>
}
