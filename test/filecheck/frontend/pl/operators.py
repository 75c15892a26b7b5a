# RUN: pypto-opt %s | filecheck %s
"""Operators on tensors and tiles are the calls that they are short for."""

import pypto.language as pl


@pl.program
class P:
    # A product binds closer than a sum, a sign closest; a scalar on the left commutes.
    # CHECK-LABEL: @tiles
    # CHECK-SAME: %s: f32
    # CHECK: %[[A:.*]] = tile.load %x
    # CHECK: %[[B:.*]] = tile.load %y
    # CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
    # CHECK: %[[L:.*]] = tile.muls %[[A]], %[[TWO]]
    # CHECK: %[[Q:.*]] = tile.div %[[B]], %[[A]]
    # CHECK: %[[S:.*]] = tile.add %[[L]], %[[Q]]
    # CHECK: %[[N:.*]] = tile.neg %[[B]]
    # CHECK: %[[P:.*]] = tile.muls %[[N]], %s
    # CHECK: %[[C:.*]] = tile.sub %[[S]], %[[P]]
    # CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
    # CHECK: %[[D:.*]] = tile.adds %[[C]], %[[ONE]]
    # `0.5 < c` is `c > 0.5`.
    # CHECK: tile.cmps %[[D]], %{{.*}}, cmp_type = gt
    # CHECK: tile.cmp %[[A]], %[[B]], cmp_type = le
    # CHECK: tile.store %[[D]]
    @pl.function(type=pl.FunctionType.InCore)
    def tiles(
        self,
        x: pl.Tensor[[16, 16], pl.FP32],
        y: pl.Tensor[[16, 16], pl.FP32],
        s: pl.Scalar[pl.FP32],
        o: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        a = pl.load(x, [0, 0], [16, 16])
        b = pl.load(y, [0, 0], [16, 16])
        c = 2.0 * a + b / a - -b * s
        c += 1.0
        _above = 0.5 < c
        _below = a <= b
        return pl.store(c, [0, 0], o)

    # CHECK-LABEL: @tensors
    # CHECK: %[[M:.*]] = ptensor.matmul %x, %x
    # CHECK: ptensor.add %[[M]], %x
    # CHECK: %[[U:.*]] = ptensor.ands %n
    # CHECK: %[[V:.*]] = ptensor.shls %n
    # CHECK: %[[W:.*]] = ptensor.or %[[U]], %[[V]]
    # CHECK: ptensor.not %[[W]]
    # CHECK: %[[X:.*]] = ptensor.xor %n, %n
    # CHECK: ptensor.shrs %[[X]]
    # CHECK: ptensor.cmp{{s?}} %n, %{{.*}}, cmp_type = ne
    @pl.function
    def tensors(
        self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Tensor[[16, 16], pl.INT32]
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        z = x @ x + x
        _bits = ~(n & 7 | n << 2)
        _high = (n ^ n) >> 4
        _other = n != 3
        return z
