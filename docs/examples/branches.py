"""Branches on scalars; a value from each branch; returns in both."""

import pypto.language as pl


@pl.program
class Branches:
    @pl.function
    def pick(
        self, x: pl.Tensor[[8, 8], pl.FP32], n: pl.Scalar[pl.INDEX], flag: pl.Scalar[pl.BOOL]
    ) -> pl.Tensor[[8, 8], pl.FP32]:
        k = pl.min(n * 2, 7)
        if flag and not (n == 3):
            y = pl.add(x, 1.0)
        elif k > 4 or n < 1:
            y = pl.sub(x, 1.0)
        else:
            y = x
        return y

    @pl.function
    def early(
        self, x: pl.Tensor[[8, 8], pl.FP32], n: pl.Scalar[pl.INDEX]
    ) -> pl.Tensor[[8, 8], pl.FP32]:
        if n > 4:
            return pl.mul(x, 2.0)
        y = pl.mul(x, 3.0)
        return y
