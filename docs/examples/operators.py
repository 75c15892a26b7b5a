"""
Operators on tensors and tiles, short for calls: `x * 2.0` is `pl.mul(x, 2.0)`.

PyPTO's own parser has operators for scalars only; `pypto-opt -t pl` writes the calls out for it.
"""

import pypto.language as pl


@pl.program
class Operators:
    @pl.function(type=pl.FunctionType.InCore)
    def blend(
        self,
        x: pl.Tensor[[32, 64], pl.FP32],
        y: pl.Tensor[[32, 64], pl.FP32],
        share: pl.Scalar[pl.FP32],
        out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    ) -> pl.Tensor[[32, 64], pl.FP32]:
        a = pl.load(x, [0, 0], [32, 64])
        b = pl.load(y, [0, 0], [32, 64])
        mixed = a * share - -b / 2.0
        mixed += 1.0
        return pl.store(mixed, [0, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[32, 64], pl.FP32],
        w: pl.Tensor[[64, 64], pl.FP32],
        share: pl.Scalar[pl.FP32],
        out: pl.Tensor[[32, 64], pl.FP32],
    ) -> pl.Tensor[[32, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
            y = 0.5 * (x @ w) + x
        out = self.blend(x, y, share, out)
        return out
