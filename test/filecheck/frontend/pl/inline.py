# RUN: pypto-opt %s | filecheck %s

import pypto.language as pl


# What an inline function writes has a new name where it is called, whether it says so or not: the
# second call reads what the first one wrote.
@pl.jit.inline
def copy(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.load(x, [0, 0], [32, 32])
        pl.store(t, [0, 0], y)
    return y


@pl.jit
def main(x: pl.Tensor[[32, 32], pl.FP32], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
    between = pl.create_tensor([32, 32], dtype=pl.FP32)
    between = copy(x, between)
    y = copy(between, y)
    return y


# CHECK:      orch.func orchestration @main
# CHECK-NEXT:   %between = ptensor.create
# CHECK-NEXT:   %between_1 = orch.incore -> (tensor<32x32xf32>) {
# CHECK-NEXT:     %t = tile.load %x[0, 0]
# CHECK-NEXT:     %0 = tile.store %t, %between[0, 0]
# CHECK-NEXT:     orch.yield %0
# CHECK-NEXT:   }
# CHECK-NEXT:   %y_1 = orch.incore -> (tensor<32x32xf32>) {
# CHECK-NEXT:     %t_1 = tile.load %between_1[0, 0]
# CHECK-NEXT:     %1 = tile.store %t_1, %y[0, 0]
# CHECK-NEXT:     orch.yield %1
# CHECK-NEXT:   }
# CHECK-NEXT:   orch.return %y_1
