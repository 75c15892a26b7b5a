"""A kernel: load, compute, store."""

import pypto.language as pl


@pl.program
class VectorAdd:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        a: pl.Tensor[[128, 64], pl.FP32],
        b: pl.Tensor[[128, 64], pl.FP32],
        scale: pl.Scalar[pl.FP32],
        out: pl.Out[pl.Tensor[[128, 64], pl.FP32]],
    ) -> pl.Tensor[[128, 64], pl.FP32]:
        for row in pl.range(0, 128, 32):
            left = pl.load(a, [row, 0], [32, 64])
            right = pl.load(b, [row, 0], [32, 64])
            right = pl.add(pl.mul(left, scale), right)
            out = pl.store(right, [row, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[128, 64], pl.FP32],
        b: pl.Tensor[[128, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[128, 64], pl.FP32]],
    ) -> pl.Tensor[[128, 64], pl.FP32]:
        out = self.kernel(a, b, 2.0, out)
        return out
