"""Functions outside a class, called by their names."""

import pypto.language as pl


@pl.function(type=pl.FunctionType.InCore)
def negate(
    x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
) -> pl.Tensor[[16, 16], pl.FP32]:
    y = pl.store(pl.neg(pl.load(x, [0, 0], [16, 16])), [0, 0], y)
    return y


@pl.function(type=pl.FunctionType.Orchestration)
def main(
    x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
) -> pl.Tensor[[16, 16], pl.FP32]:
    y = negate(x, y)
    return y
