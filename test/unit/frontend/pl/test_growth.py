"""Reading and printing do linear work: four times the program costs under five times the calls."""

import cProfile
import pstats
from collections.abc import Callable

import pytest
from benchmark_dsl import calls_in_a_row

from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs
from pypto_xdsl.targets.pl.program import program_text

HEAD = """\
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[16, 16], pl.FP32], i: pl.Scalar[pl.INDEX],
          o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        o = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], o)
        return o
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
             o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
"""


def one_name_rebound(size: int) -> str:
    lines = ["        o = self.k(x, n, o)"] * size
    return HEAD + "\n".join([*lines, "        return o"])


def loops_in_a_row(size: int) -> str:
    lines = ["        for i in pl.range(4):\n            o = self.k(x, i, o)"] * size
    return HEAD + "\n".join([*lines, "        return o"])


def scopes_in_a_row(size: int) -> str:
    lines = [
        "        with pl.at(level=pl.Level.CORE_GROUP):\n            o[:, :] = pl.add(x, o)"
    ] * size
    return HEAD + "\n".join([*lines, "        return o"])


def branches_in_a_row(size: int) -> str:
    lines = ["        if n > 3:\n            o = self.k(x, n, o)"] * size
    return HEAD + "\n".join([*lines, "        return o"])


def windows_in_a_row(size: int) -> str:
    """Each task writes a window of its own, and reads the first."""
    rows = 16 * (size + 1)
    head = (
        HEAD.partition("    def main(")[0]
        + f"    def main(self, x: pl.Tensor[[{rows}, 16], pl.FP32]"
        + f") -> pl.Tensor[[{rows}, 16], pl.FP32]:\n"
        + "        v = pl.slice(x, [16, 16], [0, 0])\n"
    )
    lines = [
        f"        w = pl.slice(x, [16, 16], [{16 * (i + 1)}, 0])\n        w = self.k(v, {i}, w)"
        for i in range(size)
    ]
    return head + "\n".join([*lines, "        return x"])


def _views(rows: int, starts: list[str], calls: list[str]) -> str:
    """Views of one buffer, all made first; then tasks on them."""
    head = (
        HEAD.partition("    def main(")[0]
        + f"    def main(self, x: pl.Tensor[[{rows}, 16], pl.FP32], n: pl.Scalar[pl.INDEX]"
        + f") -> pl.Tensor[[{rows}, 16], pl.FP32]:\n"
    )
    views = [f"        v{i} = pl.slice(x, [16, 16], [{at}, 0])" for i, at in enumerate(starts)]
    return head + "\n".join([*views, *calls, "        return x"])


def overlapping_views(size: int) -> str:
    """Each is written twice, so that all others are behind it."""
    calls = [f"        v{i} = self.k(v{i}, n, v{i})" for i in range(size)] * 2
    return _views(64, [str(i % 48) for i in range(size)], calls)


def views_somewhere(size: int) -> str:
    """Each is written after another was read, and only a run knows where they are."""
    calls = [f"        v{i} = self.k(v{7 * i % size}, n, v{i})" for i in range(size)]
    return _views(64, [f"n + {i % 5}" for i in range(size)], calls)


def views_apart(size: int) -> str:
    """Each is written, then each is read."""
    calls = [f"        v{i} = self.k(v{i}, n, v{i})" for i in range(size)]
    calls += [f"        v0 = self.k(v{i}, n, v0)" for i in range(1, size)]
    return _views(16 * size, [str(16 * i) for i in range(size)], calls)


def views_of_a_kernel(size: int) -> str:
    """Each is loaded where it is made, so that none is behind another."""
    lines = [f"        v{i} = pl.slice(o, [8, 16], [{i % 8}, 0])" for i in range(size)]
    lines += [
        f"        t{i} = pl.load(x, [0, 0], [8, 16])\n        v{i} = pl.store(t{i}, [0, 0], v{i})"
        for i in range(size)
    ]
    text = HEAD.partition("        o = pl.store(")[0]
    return text + "\n".join([*lines, "        return o"])


def functions_in_a_row(size: int) -> str:
    functions = [
        f"    @pl.function\n    def f{i}(self, x: pl.Tensor[[16], pl.FP32]) "
        f"-> pl.Tensor[[16], pl.FP32]:\n        return self.f{i + 1}(x)"
        if i + 1 < size
        else f"    @pl.function\n    def f{i}(self, x: pl.Tensor[[16], pl.FP32]) "
        f"-> pl.Tensor[[16], pl.FP32]:\n        return x"
        for i in range(size)
    ]
    return HEAD + "        return o\n" + "\n".join(functions)


INLINE = """\
import pypto.language as pl
@pl.jit.inline
def f(a: pl.Tensor[[16, 16], pl.FP32], n):
    b = pl.add(a, a)
    return pl.add(b, n)
"""


def splices_in_a_row(size: int) -> str:
    lines = [f"    r{i} = f({f'r{i - 1}' if i else 'x'}, {i})" for i in range(size)]
    head = f"{INLINE}@pl.jit\ndef main(x: pl.Tensor[[16, 16], pl.FP32]):\n"
    return head + "\n".join([*lines, f"    return r{size - 1}\n"])


def a_name_outside_bound_again(size: int) -> str:
    lines = [f"    r{i} = pl.add(x, N)" for i in range(size)]
    bindings = "".join(f"N = {i}\n" for i in range(size))
    head = f"{INLINE}{bindings}@pl.jit\ndef main(x: pl.Tensor[[16, 16], pl.FP32]):\n"
    return head + "\n".join([*lines, f"    return r{size - 1}\n"])


def work_of(text: str) -> int:
    def work() -> None:
        source = read_source(text.encode(), "p.py")
        (candidate,) = find_programs(source)
        program_text(read_program(source, candidate))

    profile = cProfile.Profile()
    profile.runcall(work)
    return pstats.Stats(profile).total_calls  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownVariableType]


@pytest.mark.parametrize(
    "program",
    [
        calls_in_a_row,
        one_name_rebound,
        loops_in_a_row,
        scopes_in_a_row,
        branches_in_a_row,
        functions_in_a_row,
        windows_in_a_row,
        overlapping_views,
        views_somewhere,
        views_apart,
        views_of_a_kernel,
        splices_in_a_row,
        a_name_outside_bound_again,
    ],
)
def test_work_grows_linearly(program: Callable[[int], str]) -> None:
    work_of(program(10))
    small, large = work_of(program(200)), work_of(program(800))
    assert large < 5 * small
