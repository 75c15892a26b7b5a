# RUN: pypto-opt %s | filecheck %s

import pypto.language as pl


@pl.program
class Carries:
    # A name that the loop rebinds and somebody reads again is carried; `t` is not.
    @pl.function(type=pl.FunctionType.InCore)
    def rebound(
        self, x: pl.Tensor[[128, 64], pl.FP32], out: pl.Out[pl.Tensor[[128, 64], pl.FP32]]
    ) -> pl.Tensor[[128, 64], pl.FP32]:
        t = pl.load(x, [0, 0], [32, 64])
        for row in pl.range(0, 128, 32):
            t = pl.load(x, [row, 0], [32, 64])
            out = pl.store(t, [row, 0], out)
        return out

    # CHECK-LABEL: orch.func incore @rebound
    # CHECK: scf.for %row = {{.*}} iter_args(%[[ARG:.*]] = %out) -> (tensor<128x64xf32>)
    # CHECK: %[[STORED:.*]] = tile.store %{{.*}}, %[[ARG]][%row, 0]
    # CHECK-NEXT: scf.yield %[[STORED]] : tensor<128x64xf32>

    # A write moves all names of the tensor on: what is read is what was written.
    @pl.function(type=pl.FunctionType.InCore)
    def written(
        self, x: pl.Tensor[[16, 64], pl.FP32], out: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]
    ) -> pl.Tensor[[16, 64], pl.FP32]:
        other = out
        pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], out)
        t = pl.load(other, [0, 0], [16, 64])
        pl.store(pl.neg(t), [0, 0], out)
        return out

    # CHECK-LABEL: orch.func incore @written
    # CHECK: %[[FIRST:.*]] = tile.store %{{.*}}, %out[0, 0]
    # CHECK-NEXT: %t = tile.load %[[FIRST]][0, 0]
    # CHECK: tile.store %{{.*}}, %[[FIRST]][0, 0]
    # CHECK-NEXT: orch.return %out

    # So does the write of an element of a tile, through loops and branches.
    @pl.function(type=pl.FunctionType.InCore)
    def elements(
        self,
        x: pl.Tensor[[8], pl.FP32],
        n: pl.Scalar[pl.INDEX],
        out: pl.Out[pl.Tensor[[8], pl.FP32]],
    ) -> pl.Tensor[[8], pl.FP32]:
        t = pl.load(x, [0], [8])
        pl.tile.write(t, [0], 1.0)
        for i in pl.range(n):
            if i > 2:
                pl.tile.write(t, [i], 2.0)
        out = pl.store(t, [0], out)
        return out

    # CHECK-LABEL: orch.func incore @elements
    # CHECK: %[[WRITTEN:.*]] = tile.write %{{.*}}, %t[0]
    # CHECK: %[[ALL:.*]] = scf.for %i = {{.*}} iter_args(%[[CARRIED:.*]] = %[[WRITTEN]]) -> (!tile.tile<8xf32>)
    # CHECK: scf.if
    # CHECK: tile.write %{{.*}}, %[[CARRIED]][%i]
    # CHECK: tile.store %[[ALL]], %out[0]

    # Explicit carries come first, in their order, then those by name.
    @pl.function(type=pl.FunctionType.InCore)
    def explicit(
        self, x: pl.Tensor[[64, 32], pl.FP32], out: pl.Out[pl.Tensor[[64, 32], pl.FP32]]
    ) -> pl.Tensor[[64, 32], pl.FP32]:
        zero = pl.tile.full([1, 32], dtype=pl.FP32, value=0.0)
        for i, (total,) in pl.range(64, init_values=(zero,)):
            row = pl.load(x, [i, 0], [1, 32])
            out = pl.store(row, [i, 0], out)
            total_out = pl.yield_(pl.add(total, row))
        out = pl.store(total_out, [0, 0], out)
        return out

    # CHECK-LABEL: orch.func incore @explicit
    # CHECK: %total_out, %out_1 = scf.for %i = {{.*}} iter_args(%total = %zero, %out_2 = %out)
    # CHECK: tile.store %total_out, %out_1[0, 0]

    # Two names of one tensor part in the loop: `acc` is carried, `x` stays.
    @pl.function
    def parted(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
        acc = x
        for _i in pl.range(4):
            acc = pl.add(acc, x)
        return pl.mul(acc, x)

    # CHECK-LABEL: orch.func opaque @parted
    # CHECK: %[[ACC:.*]] = scf.for {{.*}} iter_args(%[[IN:.*]] = %x) -> (tensor<64xf32>)
    # CHECK-NEXT: %[[NEXT:.*]] = ptensor.add %[[IN]], %x
    # CHECK-NEXT: scf.yield %[[NEXT]]
    # CHECK: ptensor.mul %[[ACC]], %x
