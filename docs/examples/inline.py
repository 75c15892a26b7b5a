"""Functions that are spliced into their callers, and one made by a factory."""

import pypto.language as pl


def make_scale(factor):
    @pl.inline
    def scale(a):
        doubled = pl.mul(a, factor)
        return doubled

    return scale


HALVE = make_scale(0.5)


@pl.inline
def shift(a, by):
    return pl.add(a, by)


@pl.program
class Inline:
    @pl.function
    def main(self, x: pl.Tensor[[32], pl.FP32]) -> pl.Tensor[[32], pl.FP32]:
        y = shift(x, 1.0)
        y = HALVE(y)
        return y
