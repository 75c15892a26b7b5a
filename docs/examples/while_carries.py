"""A `while` loop with explicit carries."""

import pypto.language as pl


@pl.program
class WhileCarries:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[64, 32], pl.FP32], out: pl.Out[pl.Tensor[[1, 32], pl.FP32]]
    ) -> pl.Tensor[[1, 32], pl.FP32]:
        zero = pl.tile.full([1, 32], dtype=pl.FP32, value=0.0)
        for total, i in pl.while_(init_values=(zero, 0)):
            pl.cond(i < 64)
            row = pl.load(x, [i, 0], [1, 32])
            total_out, i_out = pl.yield_(pl.add(total, row), i + 1)
        out = pl.store(total_out, [0, 0], out)
        return out
