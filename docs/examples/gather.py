"""Ops with several results, selection by comparison, sorting."""

import pypto.language as pl


@pl.program
class Gather:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        x: pl.Tensor[[16, 64], pl.FP32],
        places: pl.Out[pl.Tensor[[16, 8], pl.INT32]],
        counts: pl.Out[pl.Tensor[[1, 16], pl.INT32]],
    ) -> tuple[pl.Tensor[[16, 8], pl.INT32], pl.Tensor[[1, 16], pl.INT32]]:
        t = pl.load(x, [0, 0], [16, 64])
        tmp = pl.create_tile([16, 64], dtype=pl.UINT8)
        found, number = pl.tile.gather_compare(
            t, pl.const(0.5, pl.FP32), tmp, cmp_mode=4, out_cols=8
        )
        places = pl.store(found, [0, 0], places)
        counts = pl.store(number, [0, 0], counts)
        return places, counts
