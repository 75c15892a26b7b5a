"""Task scopes: automatic ones by hand, a manual one inside; directions written at a call."""

import pypto.language as pl


@pl.program
class RuntimeScopes:
    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[16, 16], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        o = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration, auto_scope=False)
    def main(
        self, x: pl.Tensor[[16, 16], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        with pl.scope():
            o = self.k(pl.no_dep(x), o)
            with pl.manual_scope():
                o, task = pl.submit(
                    self.k,
                    x,
                    o,
                    attrs={"arg_directions": [pl.adir.input, pl.adir.output_existing]},
                )
        return o
