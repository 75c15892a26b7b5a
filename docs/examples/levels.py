"""Work of other levels of the machine, and a cluster."""

import pypto.language as pl


@pl.program
class Levels:
    @pl.function
    def main(
        self, x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]
    ) -> pl.Tensor[[64], pl.FP32]:
        with pl.at(level=pl.Level.CHIP):
            a = pl.add(x, x)
        with pl.cluster(name_hint="pair"):
            with pl.at(level=pl.Level.CORE_GROUP):
                y = pl.assemble(y, pl.mul(a, a), [0])
        return y
