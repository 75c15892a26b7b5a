"""What a file itself calls its functions with settles types of entries, and extents of programs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.frontend.pl import parse_defines, read_program, read_source
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
    return function_of(text, program, program.rpartition(".")[2])


HARNESS = """\
def build_specs(rows):
    return [
        TensorSpec("o", [rows, 32], torch.float32, is_output=True),
        TensorSpec("a", [rows, 32], torch.float16, init_value=lambda: torch.zeros(1)),
    ]

def main():
    run_jit(fn=entry, specs=build_specs(SIZE), golden_fn=golden)
"""
APPENDED = """\
def build_specs(inputs):
    specs = [TensorSpec(n, list(inputs[n].shape), inputs[n].dtype) for n in ("a",)]
    specs.append(TensorSpec("o", (SIZE, 32), torch.float32))
    return specs

run_jit(entry, build_specs({"a": torch.ones(64, 32).half()}))
"""
MAKERS = """\
def inputs(initialize, dtype=torch.float16):
    def tensor(shape, dtype, *, scale=1.0):
        value = torch.empty(shape, dtype=dtype)
        if not initialize:
            return value
        return value.normal_(std=scale)
    return [tensor([SIZE, 32], dtype), torch.zeros(SIZE * 32).reshape(-1, 32) * 2 + 1]

entry(*inputs(initialize=flag()))
"""


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
        # A harness is given the function and what to call it with.
        (HARNESS, F16, F32),
        (APPENDED, F16, F32),
        # Functions that make the arguments are followed.
        (MAKERS, F16, F32),
        ("def f():\n    return torch.ones(64, 32)\nentry(f(), f().to(torch.float32))", F32, F32),
        # What is bound to a name last is what it is.
        ("n = 2\nn += 62\na = torch.ones(n, 32)\nentry(a, a)", F32, F32),
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


def test_what_a_class_builds_its_programs_with() -> None:
    builder = (
        "    def _build(self, shape, dtype=pl.FP32):\n"
        "        rows, columns = shape\n"
        "        @pl.program\n"
        "        class P:\n"
        "            @pl.function\n"
        "            def f(self, x: pl.Tensor[[rows, columns], dtype]):\n"
        "                pass\n"
        "        return P\n"
    )
    text = (
        "import pypto.language as pl\n"
        f"class A:\n{builder}    def test(self):\n        self._build([2, 4])\n"
        f"class B:\n{builder}"
        "    def test(self):\n        self._build(dtype=getattr(pl, 'BF16'), shape=[3, 5])\n"
    )
    assert "in %x: tensor<2x4xf32>" in function_of(text, "A._build.P", "f")
    assert "in %x: tensor<3x5xbf16>" in function_of(text, "B._build.P", "f")


def function_of(text: str, program: str, name: str) -> str:
    """The line of the `orch.func` of a name in a program."""
    source = read_source(text.encode(), "p.py")
    module = read_program(source, choose(source, find_programs(source), program))
    (line,) = (line for line in str(module).splitlines() if f"@{name}(" in line)
    return line.strip()


def refusal(text: str) -> str:
    with pytest.raises(DiagnosticsError) as caught:
        signature(text)
    return str(caught.value)


@pytest.mark.parametrize(
    "calls",
    [
        # A method of which nothing is known.
        "entry(*(torch.ones(64, 32).sum(0),) * 2)",
        # A function that returns one or the other, or itself.
        "def f():\n    if g():\n        return torch.ones(64, 32)\n    return torch.ones(32)\n"
        "entry(f(), f())",
        "def f():\n    return f()\nentry(f(), f())",
        # A division of integers gives floats.
        "a = torch.arange(4) / 2\nentry(a, a)",
        # Shapes that do not fit.
        "a = torch.ones(64, 32) + torch.ones(5)\nentry(a, a)",
        "a = torch.ones(64, 32).view(7, 7)\nentry(a, a)",
        "n = 64\nfor i in x:\n    n += i\na = torch.ones(n, 32)\nentry(a, a)",
    ],
)
def test_what_is_not_certain_stays_unknown(calls: str) -> None:
    assert "are not known" in refusal(ENTRY + calls + "\n")


def test_functions_that_follow_each_other_are_bounded() -> None:
    chain = "def f0(x):\n    return torch.ones(64, 32)\n" + "".join(
        f"def f{i}(x):\n    a = f{i - 1}(x)\n    return f{i - 1}(a)\n" for i in range(1, 40)
    )
    start = time.perf_counter()
    assert "are not known" in refusal(ENTRY + chain + "entry(f39(0), f39(0))\n")
    assert time.perf_counter() - start < 10


HANDED_ON = """\
import pypto.language as pl
ROWS = pl.dynamic("ROWS")
@pl.jit.inline
def inner(x: pl.Tensor[[ROWS, 8], pl.FP16], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    return y
@pl.jit.inline
def middle(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    return inner(y=y, x=x)
"""


def test_what_functions_declare_that_parameters_are_handed_to() -> None:
    text = HANDED_ON + (
        "@pl.jit\ndef entry(a: pl.Tensor, o: pl.Out[pl.Tensor]):\n    return middle(a, o)\n"
    )
    line = signature(text)
    assert "in %a: tensor<?x8xf16, #ptensor.view<dims = [ROWS, _]>>" in line
    assert "out %o: tensor<4x8xf32>" in line


def test_functions_that_hand_parameters_round_are_bounded() -> None:
    text = (
        "import pypto.language as pl\n"
        "@pl.jit.inline\ndef f(x: pl.Tensor):\n    return g(x)\n"
        "@pl.jit.inline\ndef g(x: pl.Tensor):\n    return f(x)\n"
        "@pl.jit\ndef entry(a: pl.Tensor):\n    return f(a)\n"
    )
    assert "p.py:9:11: error: the type of 'a' is not known" in refusal(text)


def test_a_function_that_the_user_names(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(HANDED_ON)
    host = tmp_path / "host.py"
    host.write_text(
        "import pypto.language as pl\n"
        "kernel = None\n"
        "@pl.jit.host\n"
        "def host(a: pl.Tensor, o: pl.Out[pl.Tensor]):\n"
        "    return kernel(a, o)\n"
    )
    source = read_source(host.read_bytes(), str(host))
    (candidate,) = find_programs(source)

    def read(value: str) -> str:
        return str(read_program(source, candidate, parse_defines(source, [f"kernel={value}"])))

    assert "out %o: tensor<4x8xf32>" in read("kernels.middle")
    with pytest.raises(DiagnosticsError, match=r"host\.py:4:10: error: the types of 'a' and 'o'"):
        read("kernels.outer")
    with pytest.raises(DiagnosticsError, match="'other' is no constant, no dtype"):
        read("other")


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
