# E-T23, E-T24: rows that parallel tasks put into one tensor; it is written only, for the kernel, for
# what wraps it and for whoever launches that, and stays so when the kernel computes on tiles.

# RUN: pypto-opt %s --outline-incore-scopes --outline-cluster-scopes --convert-tensor-to-tile-ops \
# RUN:   --derive-call-directions | filecheck %s

import pypto.language as pl


# CHECK:      orch.func incore @main_incore_0(in %a: tensor<64x64xf32>, out %out: tensor<64x64xf32>)
# CHECK:      orch.func spmd @main_spmd_0(in %a: tensor<64x64xf32>, out %out: tensor<64x64xf32>)
# CHECK-NEXT:   orch.call @main_incore_0(input %a, output_existing %out)
# CHECK:      orch.func orchestration @main(in %a: tensor<64x64xf32>, out %out: tensor<64x64xf32>)
# CHECK:        orch.call @main_spmd_0(input %a, output_existing %out) launch
@pl.program
class Rows:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        for i in pl.spmd(4):
            row = pl.exp(pl.slice(a, [16, 64], [i * 16, 0]))
            out = pl.assemble(out, row, [i * 16, 0])
        return out
