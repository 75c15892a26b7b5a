# RUN: pypto-opt %s | filecheck %s
# RUN: pypto-opt %s --outline-incore-scopes | filecheck %s --check-prefix OUTLINED

import pypto.language as pl


@pl.program
class Scopes:
    # A scope yields what is read after it and nothing else; a task is its identity.
    @pl.function
    def main(
        self, x: pl.Tensor[[32, 32], pl.FP32], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]]
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="first") as task:
            unused = pl.neg(x)
            a = pl.mul(x, 2.0)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="second", deps=[task], no_dep_args=[a]):
            y[:, :] = pl.add(a, 1.0)
        return y

    # CHECK-LABEL: orch.func opaque @main
    # CHECK: %a, %task = orch.incore "first" -> (tensor<32x32xf32>) as task {
    # CHECK: %y_1 = orch.incore "second" deps [%task] no_dep [%a : tensor<32x32xf32>] -> (tensor<32x32xf32>) {
    # CHECK: orch.return %y_1
    # OUTLINED: orch.func incore @first(in %x: tensor<32x32xf32>) -> tensor<32x32xf32>
    # OUTLINED: orch.func incore @second(
    # OUTLINED: orch.submit @first(%x)

    # `for` over cores is a launch around a kernel that asks for its index.
    @pl.function(type=pl.FunctionType.Orchestration)
    def cores(
        self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        for block in pl.spmd(4, name_hint="negate"):
            t = pl.load(x, [block * 16, 0], [16, 64])
            y = pl.store(pl.neg(t), [block * 16, 0], y)
        return y

    # CHECK-LABEL: orch.func orchestration @cores
    # CHECK: orch.spmd "negate_spmd" launch %{{.*}} -> (tensor<64x64xf32>) {
    # CHECK-NEXT: orch.incore "negate" -> (tensor<64x64xf32>) {
    # CHECK-NEXT: %block = tile.get_block_idx
