"""A tensor written in nested loops under another name, and read after them."""

import pypto.language as pl


@pl.program
class NestedLoops:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        for i in pl.range(4):
            for j in pl.range(2):
                t = pl.load(x, [i * 16, j * 32], [16, 32])
                result = pl.store(t, [i * 16, j * 32], out)
        again = pl.load(out, [0, 0], [16, 32])
        result = pl.store(pl.neg(again), [0, 0], out)
        return result
