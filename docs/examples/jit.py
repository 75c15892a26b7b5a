"""`@pl.jit`: kernels specialised on the types of their arguments, shapes read from them."""

import pypto.language as pl


@pl.jit.incore
def scale_rows(x: pl.Tensor, factor: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor]):
    rows, columns = x.shape
    for row in pl.range(0, rows, 16):
        t = pl.load(x, [row, 0], [16, columns])
        y = pl.store(pl.mul(t, factor), [row, 0], y)
    return y


@pl.jit.inline
def twice(x: pl.Tensor):
    return pl.add(x, x)


@pl.jit
def main(a: pl.Tensor[[64, 32], pl.FP32], b: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        doubled = twice(a)
    b = scale_rows(doubled, 3.0, b)
    return b
