"""What a file itself calls its functions with settles types of entries, and extents of programs."""

from __future__ import annotations

import time

import pytest

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import choose, find_programs

ENTRY = """\
import pypto.language as pl
import torch

SIZE = 64

@pl.jit.incore
def double(a: pl.Tensor, o: pl.Out[pl.Tensor]):
    return pl.store(pl.add(pl.load(a, [0, 0], [16, 16]), 1.0), [0, 0], o)

@pl.jit
def entry(a: pl.Tensor, o: pl.Out[pl.Tensor], n: pl.INDEX = 3):
    return double(a, o)

"""


def signature(text: str, program: str = "entry") -> str:
    """The line of the `orch.func` of a program."""
    source = read_source(text.encode(), "p.py")
    module = read_program(source, choose(source, find_programs(source), program))
    name = program.rpartition(".")[2]
    (line,) = (line for line in str(module).splitlines() if f"@{name}(" in line)
    return line.strip()


F32, F16 = "tensor<64x32xf32>", "tensor<64x32xf16>"


@pytest.mark.parametrize(
    ("calls", "first", "second"),
    [
        ("a = torch.zeros(SIZE, 32)\nentry(a, torch.empty_like(a))", F32, F32),
        ("entry(torch.rand((SIZE, 32)).half(), o=torch.zeros([64, 32]))", F16, F32),
        (
            "def main():\n    x = torch.full((64, 32), 1, dtype=torch.float16)\n    entry(x, x)",
            F16,
            F16,
        ),
        ("entry.lower(*(torch.ones(64, 32), torch.ones(64, 32)))", F32, F32),
        ("for f, d in ((entry, torch.ones(64, 32)),):\n    f(d, d)", F32, F32),
        # Of two calls the first counts.
        ("x = torch.ones(64, 32)\nentry(x, x)\ny = torch.ones(8, 8)\nentry(y, y)", F32, F32),
    ],
)
def test_tensors_of_torch(calls: str, first: str, second: str) -> None:
    assert f"in %a: {first}, out %o: {second}" in signature(ENTRY + calls + "\n")


def test_what_another_entry_hands_on() -> None:
    text = ENTRY + (
        "@pl.jit.host\n"
        "def host(x: pl.Tensor[[64, 32], pl.FP16], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):\n"
        "    return entry(x, y)\n"
    )
    assert f"in %a: {F16}, out %o: {F32}" in signature(text)


def test_what_a_host_function_that_is_called_hands_on() -> None:
    text = ENTRY + (
        "@pl.jit.host\n"
        "def host(x: pl.Tensor, y: pl.Out[pl.Tensor]):\n"
        "    return entry(x, y)\n"
        "host(torch.ones(64, 32), torch.ones(64, 32))\n"
    )
    assert f"in %a: {F32}, out %o: {F32}" in signature(text)


def test_what_builds_a_program() -> None:
    text = (
        "import pypto.language as pl\n"
        "def build(rows, dtype):\n"
        "    @pl.program\n"
        "    class P:\n"
        "        @pl.function\n"
        "        def f(self, x: pl.Tensor[[rows, 2], dtype]):\n"
        "            pass\n"
        "    return P\n"
        "program = build(rows=4 * 2, dtype=pl.BF16)\n"
    )
    source = read_source(text.encode(), "p.py")
    (candidate,) = find_programs(source)
    assert "in %x: tensor<8x2xbf16>" in str(read_program(source, candidate))
    # The user's word is above the file's.
    assert "tensor<5x2xbf16>" in str(read_program(source, candidate, {"rows": 5}))


def refusal(text: str) -> str:
    with pytest.raises(DiagnosticsError) as caught:
        signature(text)
    return str(caught.value)


def test_calls_that_settle_nothing() -> None:
    message = refusal(ENTRY + "entry(*load('weights'))\n")
    assert "p.py:11:11: error: the types of 'a' and 'o' are not known" in message
    assert "give each, like --arg-type a=128x128xf32" in message


def test_a_parameter_hides_a_name_of_the_module() -> None:
    text = ENTRY + "a = torch.ones(64, 32)\ndef g(a):\n    entry(a, a)\n"
    assert "are not known" in refusal(text)


def test_loops_in_loops_are_bounded() -> None:
    rounds = f"({', '.join(map(str, range(60)))},)"
    loops = "".join(f"{' ' * i}for i{i} in {rounds}:\n" for i in range(6))
    start = time.perf_counter()
    assert "are not known" in refusal(ENTRY + loops + " " * 6 + "entry(i0, i1)\n")
    assert time.perf_counter() - start < 10
