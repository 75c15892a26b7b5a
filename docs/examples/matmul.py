"""A cube kernel: operands through L1 to L0, an accumulator carried by a pipelined loop."""

import pypto.language as pl


@pl.program
class Matmul:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        a: pl.Tensor[[64, 256], pl.FP16],
        b: pl.Tensor[[256, 64], pl.FP16],
        c: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        acc = pl.tile.create([64, 64], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for k, (total,) in pl.pipeline(0, 256, 64, stage=2, init_values=(acc,)):
            left = pl.move(
                pl.load(a, [0, k], [64, 64], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left
            )
            right = pl.move(
                pl.load(b, [k, 0], [64, 64], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right
            )
            if k == 0:
                part = pl.yield_(pl.matmul(left, right))
            else:
                part = pl.yield_(pl.matmul_acc(total, left, right))
            result = pl.yield_(part)
        c = pl.store(result, [0, 0], c)
        return c
