"""Scopes with a task identity, dependencies and marks."""

import pypto.language as pl


@pl.program
class ScopesAsTasks:
    @pl.function
    def main(
        self, x: pl.Tensor[[32, 32], pl.FP32], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]]
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="first") as first:
            a = pl.mul(x, 2.0)
        with pl.at(
            level=pl.Level.CORE_GROUP,
            optimizations=[pl.split(pl.SplitMode.UP_DOWN), pl.cross_core_slot(slot_num=4)],
            name_hint="second",
            deps=[first],
            no_dep_args=[a],
            allow_early_resolve=True,
        ):
            y[:, :] = pl.add(a, 1.0)
        return y
