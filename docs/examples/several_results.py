"""A kernel with two results, unpacked by its caller, and one that is kept whole."""

import pypto.language as pl


@pl.program
class SeveralResults:
    @pl.function(type=pl.FunctionType.InCore)
    def extremes(
        self,
        x: pl.Tensor[[16, 64], pl.FP32],
        low: pl.Out[pl.Tensor[[16, 1], pl.FP32]],
        high: pl.Out[pl.Tensor[[16, 1], pl.FP32]],
    ) -> tuple[pl.Tensor[[16, 1], pl.FP32], pl.Tensor[[16, 1], pl.FP32]]:
        t = pl.load(x, [0, 0], [16, 64])
        tmp = pl.create_tile([16, 64], dtype=pl.FP32)
        low = pl.store(pl.row_min(t, tmp), [0, 0], low)
        high = pl.store(pl.row_max(t, tmp), [0, 0], high)
        return low, high

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[16, 64], pl.FP32],
        low: pl.Out[pl.Tensor[[16, 1], pl.FP32]],
        high: pl.Out[pl.Tensor[[16, 1], pl.FP32]],
    ) -> tuple[pl.Tensor[[16, 1], pl.FP32], pl.Tensor[[16, 1], pl.FP32]]:
        low, high = self.extremes(x, low, high)
        both = self.extremes(x, low, high)
        return both[0], both[1]
