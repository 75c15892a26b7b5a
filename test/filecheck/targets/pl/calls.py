# Directions, identities and marks at calls are printed, and read back.
# RUN: pypto-opt %s --outline-incore-scopes --derive-call-directions -t pl | filecheck %s
# RUN: pypto-opt %s --outline-incore-scopes --derive-call-directions -t pl -o %t.py && pypto-opt %t.py -t pl | filecheck %s

import pypto.language as pl


@pl.program
class Calls:
    @pl.function
    def main(
        self, x: pl.Tensor[[32, 32], pl.FP32], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]]
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="first") as task:
            a = pl.mul(x, 2.0)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="second", deps=[task], no_dep_args=[x]):
            y[:, :] = pl.add(a, x)
        return y


# CHECK: @pl.program(strict_ssa=True)
# CHECK-NEXT: class Calls:
# CHECK: @pl.function(type=pl.FunctionType.InCore)
# CHECK-NEXT: def first(self, x: pl.Tensor[{{\[}}32, 32], pl.FP32]) -> pl.Tensor[{{\[}}32, 32], pl.FP32]:
# CHECK: a, task = pl.submit(self.first, x, attrs={"arg_directions": [pl.adir.input]})
# CHECK: pl.submit(self.second,
# CHECK-SAME: deps=[task]
# CHECK-SAME: pl.adir.no_dep
