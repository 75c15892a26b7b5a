"""Writes through views: the other names of the buffer see them, in tasks, loops and branches."""

import pypto.language as pl


@pl.program
class SharedBuffers:
    @pl.function(type=pl.FunctionType.InCore)
    def double(
        self, a: pl.Tensor[[16, 32], pl.FP32], row: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        t = pl.load(a, [0, 0], [16, 32])
        row = pl.store(pl.add(t, t), [0, 0], row)
        return row

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[64, 32], pl.FP32],
        twice: pl.Scalar[pl.BOOL],
        y: pl.Out[pl.Tensor[[64, 32], pl.FP32]],
    ) -> pl.Tensor[[64, 32], pl.FP32]:
        x = pl.create_tensor([64, 32], dtype=pl.FP32)
        flat = pl.reshape(x, [2048])
        # Each task writes its rows of x; the loop carries x, as nothing else tells what they hold.
        for i in pl.range(4):
            rows = pl.slice(x, [16, 32], [i * 16, 0])
            part = pl.slice(a, [16, 32], [i * 16, 0])
            self.double(part, rows)
        # A view of a view, written in a scope.
        half = pl.reshape(pl.slice(flat, [1024], [1024]), [32, 32])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="negate"):
            t = pl.load(half, [0, 0], [32, 32])
            half = pl.store(pl.neg(t), [0, 0], half)
        if twice:
            # Reads what the scope wrote, and is read below by two other names.
            low = pl.slice(x, [16, 32], [32, 0])
            high = pl.slice(x, [16, 32], [48, 0])
            self.double(low, high)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="add"):
            u = pl.load(x, [0, 0], [64, 32])
            y = pl.store(pl.add(u, 1.0), [0, 0], y)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="first_row"):
            first = pl.load(flat, [0], [32])
            y = pl.store(pl.reshape(first, [1, 32]), [63, 0], y)
        return y
