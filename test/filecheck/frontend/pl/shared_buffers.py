# RUN: pypto-opt %s --program Views | filecheck %s
# RUN: pypto-opt %s --program Views -t pl | filecheck %s --check-prefix DSL
# RUN: pypto-opt %s --program Loops | filecheck %s --check-prefix LOOPS
# RUN: pypto-opt %s --program Calls | filecheck %s --check-prefix CALLS
# RUN: not pypto-opt %s --program Kernel 2>&1 | filecheck %s --check-prefix KERNEL

import pypto.language as pl


# A name that is read after a write through a view gets its next name first, outside of the scope
# that reads it; a name that nobody reads gets none.
@pl.program
class Views:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.InOut[pl.Tensor[[4, 8], pl.FP32]], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]
    ) -> pl.Tensor[[4, 8], pl.FP32]:
        flat = pl.reshape(x, [32])
        unread = pl.reshape(x, [8, 4])
        with pl.at(level=pl.Level.CORE_GROUP):
            t = pl.load(flat, [0], [32])
            flat = pl.store(pl.add(t, t), [0], flat)
        with pl.at(level=pl.Level.CORE_GROUP):
            u = pl.load(x, [0, 0], [4, 8])
            y = pl.store(u, [0, 0], y)
        return y


# CHECK:      %flat = ptensor.reshape %x
# CHECK:      %flat_1 = orch.incore
# CHECK:      %x_1 = ptensor.updated %x, %flat_1 : tensor<4x8xf32>, tensor<32xf32>
# CHECK-NEXT: %y_1 = orch.incore
# CHECK-NEXT:   tile.load %x_1[0, 0]
# CHECK-NOT:  ptensor.updated
# DSL:        x_1: pl.Tensor[[4, 8], pl.FP32] = x
# DSL-NEXT:   with pl.at(level=pl.Level.CORE_GROUP):


# A loop carries what its own views are of, and the views that it writes.
@pl.program
class Loops:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.InOut[pl.Tensor[[64], pl.FP32]], y: pl.Out[pl.Tensor[[64], pl.FP32]]
    ) -> pl.Tensor[[64], pl.FP32]:
        for i in pl.range(4):
            w = pl.slice(x, [16], [i * 16])
            pl.tensor.write(w, [0], 1.0)
        rows = pl.reshape(x, [4, 16])
        for i in pl.range(4):
            pl.tensor.write(rows, [i, 1], 2.0)
        y[:] = x
        return y


# LOOPS:      %x_1 = scf.for {{.*}} iter_args(%x_2 = %x)
# LOOPS:        %w = ptensor.slice %x_2
# LOOPS:        ptensor.write {{.*}}, %w[0]
# LOOPS:        %x_3 = ptensor.updated %x_2, %{{.*}} : tensor<64xf32>, tensor<16xf32>
# LOOPS:        scf.yield %x_3
# LOOPS:      %rows = ptensor.reshape %x_1
# LOOPS:      %rows_1, %x_4 = scf.for {{.*}} iter_args(%rows_2 = %rows, %x_5 = %x_1)
# LOOPS:        %[[ROWS:.*]] = ptensor.write {{.*}}, %rows_2
# LOOPS-NEXT:   %x_6 = ptensor.updated %x_5, %[[ROWS]]
# LOOPS-NEXT:   scf.yield %[[ROWS]], %x_6
# LOOPS:      ptensor.assemble %x_4, %y[0]


# A function whose body is elsewhere gives no names for what it writes beside its result.
@pl.jit.extern(core_type="aiv", source="attention.cpp")
def attend(cache: pl.InOut[pl.Tensor[[64], pl.FP32]], y: pl.Out[pl.Tensor[[64], pl.FP32]]): ...


@pl.program
class Calls:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.InOut[pl.Tensor[[64], pl.FP32]], y: pl.Out[pl.Tensor[[64], pl.FP32]]
    ) -> pl.Tensor[[64], pl.FP32]:
        attend(x, y)
        attend(x, y)
        return y


# CALLS:      orch.call @attend(%x, %y)
# CALLS-NEXT: %x_1 = ptensor.updated %x : tensor<64xf32>
# CALLS-NEXT: %y_1 = ptensor.updated %y : tensor<64xf32>
# CALLS-NEXT: orch.call @attend(%x_1, %y_1)


# A view that a kernel makes may be loaded there: nobody can tell what is read later.
@pl.program
class Kernel:
    @pl.function(type=pl.FunctionType.InCore)
    def main(
        self, x: pl.Tensor[[64], pl.FP32], y: pl.InOut[pl.Tensor[[64], pl.FP32]]
    ) -> pl.Tensor[[64], pl.FP32]:
        old = pl.slice(y, [64], [0])
        y[:] = x
        y[:] = pl.add(old, x)
        return y


# KERNEL: shared_buffers.py:[[#]]:16: error: 'ptensor.add' op reads %old, which is older than a write
