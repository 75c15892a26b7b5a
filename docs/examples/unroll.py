"""Compile-time Python around and inside a program; an unrolled loop."""

import pypto.language as pl


SIZE = 64
CHUNK = SIZE // 2
BIASES = [1.0, 2.0]


@pl.program
class Unroll:
    @pl.function
    def main(
        self, x: pl.Tensor[[SIZE, SIZE], pl.FP32], y: pl.Out[pl.Tensor[[SIZE, SIZE], pl.FP32]]
    ) -> pl.Tensor[[SIZE, SIZE], pl.FP32]:
        pl.static_assert(SIZE % 8 == 0, "rows come in eights")
        for i in pl.unroll(2):
            start = i * CHUNK
            y[start : start + CHUNK, :] = pl.add(x[start : start + CHUNK, :], BIASES[i])
        return y
