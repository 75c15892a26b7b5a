"""Tasks by hand: identities in an array, a fence, dependencies."""

import pypto.language as pl


@pl.program
class Submit:
    @pl.function(type=pl.FunctionType.InCore)
    def step(
        self, x: pl.Tensor[[16, 16], pl.FP32], o: pl.InOut[pl.Tensor[[16, 16], pl.FP32]]
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        o = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[16, 16], pl.FP32],
        flags: pl.Tensor[[4], pl.INT32],
        o: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        with pl.manual_scope():
            ids = pl.array.create(4, pl.TASK_ID)
            last = None
            for i in pl.range(4):
                o, task = pl.submit(self.step, pl.no_dep(x), o, deps=[last])
                ids[i] = task
                last = task
            fence = pl.system.task_dummy(deps=[ids])
            o, wide = pl.spmd_submit(
                self.step, x, o, core_num=2, deps=[fence], predicate=(flags[0] > 0)
            )
            o, end = pl.submit(self.step, x, o, deps=[wide], allow_early_resolve=True)
        return o
