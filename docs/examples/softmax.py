"""Tensor code in a scope: symbolic rows, windows by subscript."""

import pypto.language as pl


ROWS = pl.dynamic("ROWS")


@pl.program
class Softmax:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.Tensor[[ROWS, 128], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, 128], pl.FP32]]
    ) -> pl.Tensor[[ROWS, 128], pl.FP32]:
        rows = pl.tensor.dim(x, 0)
        for block in pl.parallel(rows // 16):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="softmax"):
                window = x[block * 16 : block * 16 + 16, :]
                shifted = pl.row_expand_sub(window, pl.row_max(window))
                power = pl.exp(shifted)
                y[block * 16 : (block + 1) * 16, :] = pl.row_expand_div(power, pl.row_sum(power))
        return y
