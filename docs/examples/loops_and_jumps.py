"""`while`, `break`, `continue`, and a loop that goes down."""

import pypto.language as pl


@pl.program
class LoopsAndJumps:
    @pl.function(type=pl.FunctionType.InCore)
    def find(
        self, t: pl.Tensor[[256], pl.INT32], out: pl.Out[pl.Tensor[[256], pl.INT32]]
    ) -> pl.Tensor[[256], pl.INT32]:
        i: pl.Scalar[pl.INDEX] = 0
        while i < 256:
            value = t[i]
            if value == pl.const(7, pl.INT32):
                break
            i = i + 1
        pl.tensor.write(out, [0], pl.cast(i, pl.INT32))
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def count(
        self, t: pl.Tensor[[256], pl.INT32], out: pl.Out[pl.Tensor[[256], pl.INT32]]
    ) -> pl.Tensor[[256], pl.INT32]:
        found: pl.Scalar[pl.INT32] = 0
        for i in pl.range(255, -1, -1):
            if t[i] < pl.const(0, pl.INT32):
                continue
            found = found + pl.const(1, pl.INT32)
        pl.tensor.write(out, [1], found)
        return out
