"""A kernel that mixes cube and vector work: a product, an activation, and a product of that."""

import pypto.language as pl


@pl.jit
def feed_forward(
    x: pl.Tensor[[64, 64], pl.FP32],
    up: pl.Tensor[[64, 64], pl.FP32],
    bias: pl.Tensor[[64, 64], pl.FP32],
    down: pl.Tensor[[64, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="block"):
        hidden = pl.add(pl.matmul(x, up, out_dtype=pl.FP32), bias)
        active = pl.maximum(hidden, 0.0)
        y[:, :] = pl.sub(pl.matmul(active, down, out_dtype=pl.FP32), bias)
    return y
