"""One kernel on several cores: around a call, and with the index of the block."""

import pypto.language as pl


@pl.program
class Spmd:
    @pl.function(type=pl.FunctionType.InCore)
    def copy(
        self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        i = pl.tile.get_block_idx()
        y = pl.store(pl.load(x, [i * 16, 0], [16, 64]), [i * 16, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.spmd(4, sync_start=True):
            z = self.copy(x, y)
        for block in pl.spmd(4, name_hint="negate"):
            t = pl.load(z, [block * 16, 0], [16, 64])
            y = pl.store(pl.neg(t), [block * 16, 0], z)
        return y
