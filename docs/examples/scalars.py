"""Scalars: dtypes, promotion, casts, bits."""

import pypto.language as pl


@pl.program
class Scalars:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        t: pl.Tensor[[64], pl.INT32],
        h: pl.Tensor[[64], pl.FP16],
        n: pl.Scalar[pl.INT32],
        o: pl.Out[pl.Tensor[[64], pl.INT32]],
    ) -> pl.Tensor[[64], pl.INT32]:
        a = n + 1
        b = n + pl.const(1, pl.INT32)
        c: pl.Scalar[pl.INT64] = 5
        d = c * 2
        e = t[0] + (n << pl.const(2, pl.INT32))
        g = pl.cast(h[0], pl.FP32) * 2.0
        q = pl.max(a, b)
        if pl.cast(g, pl.INT32) > e:
            pl.tensor.write(o, [q % 64], e + pl.cast(d, pl.INT32))
        return o
