# Arguments by the names that PyPTO gives them: a function for tensors and tiles has names of its own.

# RUN: pypto-opt %s | filecheck %s
# RUN: pypto-opt %s -t pl > %t.py
# RUN: pypto-opt %t.py | filecheck %s

import pypto.language as pl


# CHECK-LABEL: @kernel(
# CHECK:         %m = tile.row_max %t, %tmp
# CHECK-NEXT:    %e = tile.row_expand_sub %t, %m
# CHECK-NEXT:    %s = tile.reshape %e : !tile.tile<16x64xf32> -> !tile.tile<32x32xf32>
# CHECK-NEXT:    %r = tile.reshape %s : !tile.tile<32x32xf32> -> !tile.tile<16x64xf32>
# CHECK-NEXT:    %v = ptensor.read %w[0]
# CHECK-NEXT:    [[W:%.*]] = ptensor.write %v, %w[1]
# The name of the tensor is that of what was written to it.
# CHECK-NEXT:    %u = ptensor.read [[W]][1]
# CHECK-NEXT:    %{{.*}} = ptensor.write %u, [[W]][2]
# D-T4: elements are compared for equality, if nothing else is said.
# CHECK:         %places, %counts = tile.gather_compare %r, %{{.*}}, %bits, cmp_mode = eq, out_cols = 8
@pl.program
class Keywords:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        x: pl.Tensor[[16, 64], pl.FP32],
        o: pl.Out[pl.Tensor[[16, 8], pl.INT32]],
        w: pl.InOut[pl.Tensor[[4], pl.FP32]],
    ):
        t = pl.load(x, [0, 0], [16, 64])
        tmp = pl.tile.create([16, 64], dtype=pl.FP32)
        m = pl.row_max(input=t, tmp_tile=tmp)
        e = pl.row_expand_sub(lhs=t, rhs=m)
        s = pl.reshape(input=e, shape=[32, 32])
        r = pl.tile.reshape(tile=s, shape=[16, 64])
        v = pl.read(src=w, offset=[0])
        pl.write(dst=w, offset=[1], value=v)
        u = pl.read(w, [1])
        pl.write(value=u, dst=w, offset=[2])
        bits = pl.tile.create([16, 64], dtype=pl.UINT8)
        places, counts = pl.tile.gather_compare(r, 0.5, bits, out_cols=8)
        o = pl.store(places, [0, 0], o)
        return o, w

    # CHECK-LABEL: @tensors(
    # CHECK:         ptensor.slice %x[0, 32] : tensor<16x64xf32> -> tensor<16x32xf32>
    # CHECK:         ptensor.mrgsort_format2 %a, %b : tensor<1x64xf32> -> tensor<1x128xf32>
    @pl.function(type=pl.FunctionType.Orchestration)
    def tensors(
        self,
        x: pl.Tensor[[16, 64], pl.FP32],
        a: pl.Tensor[[1, 64], pl.FP32],
        b: pl.Tensor[[1, 64], pl.FP32],
    ):
        with pl.at(level=pl.Level.CORE_GROUP):
            s = pl.slice(input=x, shape=[16, 32], offset=[0, 32])
            y = pl.exp(s)
            m = pl.mrgsort(src0=a, src1=b)
        return y, m
