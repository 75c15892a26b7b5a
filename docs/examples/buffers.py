"""Tiles in named buffers: two slots in turn, and one at an address."""

import pypto.language as pl


PING = pl.MemRef("ping", slots=2)


@pl.program
class Buffers:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        scratch: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)
        for i in pl.range(4):
            t: pl.Tile[[16, 64], pl.FP32, PING[i % 2], pl.Mem.Vec] = pl.load(
                x, [i * 16, 0], [16, 64]
            )
            u: pl.Tile[[16, 64], pl.FP32, pl.MemRef(scratch, 0, 4096), pl.Mem.Vec] = pl.neg(t)
            y = pl.store(u, [i * 16, 0], y)
        return y
