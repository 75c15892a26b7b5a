"""Names of one tensor: where a text gives it another name, that is a next name of the buffer."""

from support.dsl_round_trip import assert_comes_back, read

from pypto_xdsl.dialects.ptensor.memory import UpdatedOp

THROUGH_VIEWS = """
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[16, 16], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        o = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        o: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
        z: pl.InOut[pl.Tensor[[64, 16], pl.FP32]],
        n: pl.Scalar[pl.INDEX],
    ) -> pl.Tensor[[64, 16], pl.FP32]:
        w = pl.slice(z, [16, 16], [0, 0])
        w = self.k(o, w)
        o = self.k(z[0:16, :], o)
        for i in pl.range(n):
            u = pl.slice(z, [16, 16], [i * 16, 0])
            u = self.k(o, u)
            o = self.k(z[16:32, :], o)
        if n > 2:
            v = pl.slice(z, [16, 16], [32, 0])
            v = self.k(o, v)
        o = self.k(z[32:48, :], o)
        return z
"""


def test_names_after_writes_through_views_come_back() -> None:
    module = read(THROUGH_VIEWS)
    updates = [op for op in module.walk() if isinstance(op, UpdatedOp)]
    # After the window before the loop, in the loop, and in the branch.
    assert len(updates) == 3
    text = assert_comes_back(module)
    assert "z_1: pl.Tensor[[64, 16], pl.FP32] = z\n" in text


def test_a_name_that_is_older_than_a_write_is_told_of_it() -> None:
    """In a program that only says of itself that its names are assigned once."""
    text = THROUGH_VIEWS.replace("@pl.program", "@pl.program(strict_ssa=True)")
    start, _, rest = text.partition("        w = self.k(o, w)")
    end = rest[rest.index("        return z") :]
    module = read(start + "        w1 = self.k(o, w)\n        o1 = self.k(z[0:16, :], o)\n" + end)
    assert sum(isinstance(op, UpdatedOp) for op in module.walk()) == 1


NUMBERS = """
import pypto.language as pl

@pl.program
class P:
    @pl.function
    def f(self, _9: pl.Scalar[pl.INDEX], __8: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:
        _2_3 = _9 + __8
        for _1 in pl.range(4):
            _2_3 = _2_3 + _1
        return _2_3
"""


def test_names_that_are_numbers_are_none() -> None:
    """Nothing is left of them once xDSL takes the number; what is copied has no name then."""
    module = read(NUMBERS)
    assert str(module.clone().clone()) == str(module)
    assert "def f(self, v: pl.Scalar[pl.INDEX], v_1: pl.Scalar[pl.INDEX])" in assert_comes_back(
        module
    )
