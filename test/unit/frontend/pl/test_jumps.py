"""`break`, `continue` and `return` do what they do in Python: programs run beside Python's own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.targets.pl.program import program_text

HEAD = """\
import pypto.language as pl
DOWN = -2
@pl.program
class P:
    @pl.function
    def f(self, n: pl.Scalar[pl.INDEX],
          out: pl.InOut[pl.Tensor[[16], pl.FP32]]) -> pl.Tensor[[16], pl.FP32]:
"""
"""What a body follows. It writes a number to an element by `pl.write(out, [i], 2.0)`."""

BODIES = {
    "return in a loop": """
        for i in pl.range(16):
            if i >= n:
                return out
            pl.write(out, [i], 2.0)
        pl.write(out, [0], 3.0)
        return out
""",
    "return in a loop in a loop": """
        for i in pl.range(4):
            for j in pl.range(4):
                if i * 4 + j == n:
                    return out
                pl.write(out, [i * 4 + j], 2.0)
            pl.write(out, [i], 5.0)
        pl.write(out, [15], 3.0)
        return out
""",
    "return in a branch that may also go on": """
        if n > 2:
            pl.write(out, [1], 2.0)
            if n > 4:
                return out
            pl.write(out, [2], 4.0)
        pl.write(out, [3], 5.0)
        if n == 0:
            return out
        pl.write(out, [4], 6.0)
        return out
""",
    "return in a while loop": """
        k: pl.Scalar[pl.INDEX] = 0
        while k < 16:
            if k > n:
                return out
            pl.write(out, [k], 2.0)
            k = k + 1
        return out
""",
    "break on the way down": """
        for i in pl.range(15, 0, DOWN):
            if i < n:
                break
            pl.write(out, [i], 2.0)
        return out
""",
    "break and continue": """
        for i in pl.range(16):
            if i == 3:
                continue
            if i == n:
                break
            pl.write(out, [i], 2.0)
        return out
""",
}


def read(text: str) -> ModuleOp:
    source = read_source(text.encode(), "p.py")
    (candidate,) = find_programs(source)
    module = read_program(source, candidate)
    assert verify(module) == []
    return module


class _Pl:
    """As much of the DSL as the bodies need, in Python itself."""

    class Scalar:
        def __class_getitem__(cls, _: object) -> type:
            return int

    INDEX = int
    range = range

    @staticmethod
    def write(out: list[float], place: list[int], value: float) -> None:
        out[place[0]] = value


def in_python(body: str) -> Callable[[int, list[float]], list[float]]:
    """A body as a function of Python."""
    names = {"pl": _Pl, "DOWN": -2}
    exec("def f(n, out):\n" + body, names)
    return names["f"]  # pyright: ignore


@pytest.mark.parametrize("name", BODIES)
def test_as_in_python(name: str) -> None:
    module = read(HEAD + BODIES[name])
    again = read(program_text(module))
    python = in_python(BODIES[name])
    for n in (0, 1, 3, 5, 7, 15, 20):
        wanted = python(n, [1.0] * 16)
        for one in (module, again):
            got = run(one, "f", [n, np.ones(16, np.float32)]).parameters["out"]
            assert got.tolist() == wanted, f"n = {n}"


def test_jumps_in_a_while_loop_with_carries() -> None:
    """A jump carries on what the iteration began with, as in `pl.range`."""
    module = read(
        HEAD
        + """
        for (a, b) in pl.while_(init_values=(0, n)):
            pl.cond(a < b)
            if a == 5:
                break
            pl.write(out, [a], 2.0)
            p, q = pl.yield_(a + 1, b)
        pl.write(out, [p + 8], 7.0)
        return out
"""
    )
    for n in (0, 3, 5, 7):
        stop = min(n, 5)
        wanted = [2.0] * stop + [1.0] * (16 - stop)
        wanted[stop + 8] = 7.0
        got = run(module, "f", [n, np.ones(16, np.float32)]).parameters["out"]
        assert got.tolist() == wanted, f"n = {n}"


def refused(body: str) -> str:
    with pytest.raises(DiagnosticsError) as caught:
        read(HEAD + body)
    return str(caught.value)


def test_returns_of_different_values_stay_out_of_loops() -> None:
    message = refused(
        """
        other = pl.create_tensor([16], dtype=pl.FP32)
        for i in pl.range(4):
            if i == n:
                return other
        return out
"""
    )
    assert "p.py:12:17" in message
    assert "needs every return of the function to give the same names" in message


def test_no_jump_leaves_a_parallel_loop() -> None:
    message = refused(
        """
        for i in pl.parallel(4):
            if i == n:
                return out
        return out
"""
    )
    assert "'break', 'continue' and 'return' cannot leave a pl.parallel loop" in message


def test_no_jump_where_the_direction_is_not_known() -> None:
    message = refused(
        """
        for i in pl.range(0, 16, n):
            if i == 3:
                break
        return out
"""
    )
    assert "may be 0 or negative, and the loop is left before its end" in message
