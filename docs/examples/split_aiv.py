"""A cube kernel whose result two vector cores share."""

import pypto.language as pl


@pl.program
class SplitAiv:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        a: pl.Tensor[[64, 64], pl.FP16],
        b: pl.Tensor[[64, 64], pl.FP16],
        c: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        left = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        right = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        product = pl.matmul(left, right)
        for core in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            half = pl.aiv_shard(product)
            half = pl.mul(half, 0.5)
            c = pl.store(half, [core * 32, 0], c)
        return c
