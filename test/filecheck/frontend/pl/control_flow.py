# RUN: pypto-opt %s | filecheck %s

import pypto.language as pl


@pl.program
class ControlFlow:
    # The rest of the body moves to the other branch; the flag says that the loop is left.
    @pl.function(type=pl.FunctionType.InCore)
    def leave(
        self, t: pl.Tensor[[256], pl.INT32], out: pl.Out[pl.Tensor[[256], pl.INT32]]
    ) -> pl.Tensor[[256], pl.INT32]:
        found: pl.Scalar[pl.INT32] = 0
        for i in pl.range(256):
            if t[i] == pl.const(7, pl.INT32):
                break
            found = found + pl.const(1, pl.INT32)
        pl.tensor.write(out, [0], found)
        return out

    # CHECK-LABEL: orch.func incore @leave
    # CHECK: scf.while
    # CHECK: scf.condition
    # CHECK: scf.if
    # CHECK-NEXT: %{{.*}} = arith.constant true
    # CHECK: } else {
    # CHECK: arith.addi

    # A loop that goes down runs up, with a computed index.
    @pl.function(type=pl.FunctionType.InCore)
    def down(
        self,
        t: pl.Tensor[[16], pl.INT32],
        n: pl.Scalar[pl.INDEX],
        out: pl.Out[pl.Tensor[[16], pl.INT32]],
    ) -> pl.Tensor[[16], pl.INT32]:
        for i in pl.range(n, 0, -2):
            pl.tensor.write(out, [i], t[i])
        return out

    # CHECK-LABEL: orch.func incore @down
    # CHECK: %[[UP:.*]] = arith.addi %n, %{{.*}} : index
    # CHECK: %[[TRIPS:.*]] = arith.floordivsi %[[UP]], %{{.*}} : index
    # CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[TRIPS]] step
    # CHECK: %[[BACK:.*]] = arith.muli %[[K]], %{{.*}} : index
    # CHECK-NEXT: %i = arith.addi %n, %[[BACK]] : index

    # Both returns become one.
    @pl.function
    def early(
        self, x: pl.Tensor[[8, 8], pl.FP32], n: pl.Scalar[pl.INDEX]
    ) -> pl.Tensor[[8, 8], pl.FP32]:
        if n > 4:
            return pl.mul(x, 2.0)
        return pl.mul(x, 3.0)

    # CHECK-LABEL: orch.func opaque @early
    # CHECK: %[[BOTH:.*]] = scf.if
    # CHECK: orch.return %[[BOTH]]

    # `continue` carries on what the iteration began with.
    @pl.function
    def skipped(
        self, x: pl.Tensor[[8], pl.FP32], n: pl.Scalar[pl.INDEX]
    ) -> pl.Tensor[[8], pl.FP32]:
        for i, (acc,) in pl.range(8, init_values=(x,)):
            if i < n:
                continue
            total = pl.yield_(pl.mul(acc, 2.0))
        return total

    # CHECK-LABEL: orch.func opaque @skipped
    # CHECK: %[[TOTAL:.*]] = scf.for %i = {{.*}} iter_args(%[[ACC:.*]] = %x) -> (tensor<8xf32>)
    # CHECK: %[[END:.*]] = scf.if
    # CHECK-NEXT: scf.yield %[[ACC]]
    # CHECK: } else {
    # CHECK: %[[TWICE:.*]] = ptensor.muls %[[ACC]]
    # CHECK-NEXT: scf.yield %[[TWICE]]
    # CHECK: scf.yield %[[END]]
    # CHECK: orch.return %[[TOTAL]]

    # A step that is known at run time only has to be positive: the number of blocks is.
    @pl.function(type=pl.FunctionType.InCore)
    def strided(
        self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        for i in pl.range(pl.tile.get_block_idx(), 64, pl.tile.get_block_num()):
            out = pl.store(pl.load(x, [i, 0], [1, 64]), [i, 0], out)
        return out

    # CHECK-LABEL: orch.func incore @strided
    # CHECK-DAG: %[[ID:.*]] = tile.get_block_idx : index
    # CHECK-DAG: %[[BLOCKS:.*]] = tile.get_block_num : index
    # CHECK: scf.for %i = %[[ID]] to %{{.*}} step %[[BLOCKS]]
