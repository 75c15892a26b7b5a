# A tensor whose tasks the user orders by hand is created with a mark, which comes back, and which
# the runtime's graph knows: nothing orders the two tasks.

# RUN: pypto-opt %s | filecheck %s
# RUN: pypto-opt -t pl %s | filecheck %s --check-prefix PL
# RUN: pypto-opt -t pl %s > %t.py && pypto-opt %t.py | filecheck %s
# RUN: pypto-opt %s --derive-call-directions --report-hazards 2>&1 | filecheck %s --check-prefix HAZARD

# CHECK: ptensor.create {orch.manual_dep} : tensor<32x32xf32>
# CHECK: ptensor.create : tensor<32x32xf32>

# PL:     pl.tensor.create([32, 32], dtype=pl.FP32, layout=pl.TensorLayout.ND, manual_dep=True)
# PL:     pl.tensor.create([32, 32], dtype=pl.FP32, layout=pl.TensorLayout.ND)

# HAZARD: warning: 'orch.call' op reads %t while 'k' may still write it: nothing orders the two: a tensor that is manual_dep makes nobody wait
# HAZARD-NOT: warning

import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[32, 32], pl.FP32], o: pl.Out[pl.Tensor[[32, 32], pl.FP32]]
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        t = pl.load(x, [0, 0], [32, 32])
        return pl.store(t, [0, 0], o)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[32, 32], pl.FP32],
        a: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
        b: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ) -> tuple[pl.Tensor[[32, 32], pl.FP32], pl.Tensor[[32, 32], pl.FP32]]:
        t = pl.create_tensor([32, 32], dtype=pl.FP32, manual_dep=True)
        t = self.k(x, t)
        a = self.k(t, a)
        u = pl.create_tensor([32, 32], dtype=pl.FP32, manual_dep=False)
        u = self.k(x, u)
        b = self.k(u, b)
        return a, b
