# What a Python program gets wrong is expected in its comments, as in MLIR.

# RUN: pypto-opt --verify-diagnostics %s

import pypto.language as pl


@pl.program
class Wrong:
    @pl.function
    def main(self, x: pl.Tensor[[16], pl.FP32]) -> pl.Tensor[[16], pl.FP32]:
        # expected-error @+1 {{pl.tensor.exq}}
        return pl.tensor.exq(x)
