# A file with several programs, in functions and classes.
# RUN: pypto-opt %s --list-programs | filecheck %s --check-prefix LIST
# RUN: pypto-opt %s --program TestIt.test_a.P | filecheck %s --check-prefix A
# RUN: pypto-opt %s --program build.P --define 'rows=8' | filecheck %s --check-prefix BUILD
# RUN: not pypto-opt %s 2>&1 | filecheck %s --check-prefix CHOOSE
# RUN: not pypto-opt %s --program Q 2>&1 | filecheck %s --check-prefix UNKNOWN
# RUN: not pypto-opt %s --program build.P 2>&1 | filecheck %s --check-prefix UNSETTLED
# RUN: pypto-opt %s --program entry --arg-type a=4x4xf32 --arg-type n=3 | filecheck %s --check-prefix ENTRY
# RUN: not pypto-opt %s --program entry 2>&1 | filecheck %s --check-prefix SHAPE

import pypto.language as pl

# LIST: TestIt.test_a.P
# LIST-NEXT: build.P
# LIST-NEXT: entry
# CHOOSE: programs.py:1:1: error: the file holds 3 programs: choose one with --program NAME, of TestIt.test_a.P, build.P, entry
# UNKNOWN: error: the file holds no program 'Q'
# UNSETTLED: error: extent 'rows' 'rows' is a parameter of the function around


class TestIt:
    def test_a(self):
        width = 2**3

        @pl.program
        class P:
            @pl.function
            def f(self, x: pl.Tensor[[4, width], pl.FP32]) -> pl.Tensor[[4, width], pl.FP32]:
                return x

    # A: orch.func opaque @f(in %x: tensor<4x8xf32>) -> tensor<4x8xf32>


def build(rows):
    @pl.program
    class P:
        @pl.function
        def f(self, x: pl.Tensor[[rows, 2], pl.FP32]) -> pl.Tensor[[rows, 2], pl.FP32]:
            return x

    return P


# BUILD: orch.func opaque @f(in %x: tensor<8x2xf32>) -> tensor<8x2xf32>


@pl.jit
def entry(a: pl.Tensor, n: pl.INDEX):
    rows, columns = a.shape
    b = pl.create_tensor([rows * n, columns], dtype=a.dtype)
    return b


# ENTRY: orch.func orchestration @entry(in %a: tensor<4x4xf32>, in %n: index) -> tensor<12x4xf32>
# SHAPE: programs.py:48:11: error: the type of 'a' is not known, neither a call in the file nor a function that is given it settles it: give --arg-type a=128x128xf32
