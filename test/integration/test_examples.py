"""
The examples run to numpy's numbers at every level, and leave as text that the assembler reads.

Each program of `docs/examples` that a function of numpy describes is run as written, and after
each pass of the default pipeline, down to bytes. Every line of its `.pto` text is matched to a form
that PTOAS, old and new, was seen to accept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.programs import context
from xdsl.passes import ModulePass, PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.interpreters.run import run
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.syntax.parser import parse_module

EXAMPLES = Path(__file__).parent.parent.parent / "docs" / "examples"


@dataclass(frozen=True)
class Example:
    """What a program takes and computes."""

    shapes: tuple[tuple[int, ...], ...]
    numbers: tuple[float, ...]
    wanted: Callable[..., Sequence[Any]]


def softmax(x: Any) -> Sequence[Any]:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True),)


def add(x: Any, y: Any) -> Sequence[Any]:
    return (x + y,)


def row_mean(x: Any) -> Sequence[Any]:
    return (x.mean(axis=1, keepdims=True),)


def exponential(x: Any) -> Sequence[Any]:
    return (np.exp(x),)


def gather_compare(x: Any, threshold: float) -> Sequence[Any]:
    chosen = x > threshold
    columns = np.stack([np.flatnonzero(row)[:8] for row in chosen]).astype(np.int32)
    return columns, chosen.sum(axis=1, dtype=np.int32)[None, :]


def loop_carry(x: Any, y: Any, count: int) -> Sequence[Any]:
    value = x
    for _ in range(count):
        value = value / 2 + y
    return (value - x,)


def if_yield(x: Any, y: Any, n: int) -> Sequence[Any]:
    return (np.exp(x if n < 4 else x * y),)


WHOLE = (64, 128)
CASES = {
    "vector_add": [Example((WHOLE, WHOLE), (), add)],
    "softmax": [Example(((32, 128),), (), softmax)],
    "column_accumulate": [Example(((16, 256),), (), row_mean)],
    "matrix_layout_move": [Example(((16, 256),), (), exponential)],
    # Every row has eight such columns: what lies behind them is undefined.
    "gather_compare": [Example(((32, 64),), (-0.5,), gather_compare)],
    "loop_carry": [Example((WHOLE, WHOLE), (n,), loop_carry) for n in (0, 1, 5)],
    "if_yield": [Example((WHOLE, WHOLE), (n,), if_yield) for n in (3, 4)],
}


def pipeline() -> Sequence[ModulePass]:
    """The passes of the default pipeline."""
    passes = Universe.get_multiverse().all_passes
    return PassPipeline.parse_spec(passes, expand_pipelines("default-pipeline")).passes


@pytest.mark.parametrize(
    ("name", "example"), [(name, case) for name, cases in CASES.items() for case in cases]
)
def test_numbers_at_every_level(name: str, example: Example) -> None:
    path = EXAMPLES / f"{name}.mlir"
    module = parse_module(context(), path.read_text(), str(path))
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in example.shapes]
    arguments = [*arrays, *example.numbers]
    wanted = example.wanted(*(a.astype(np.float64) for a in arrays), *example.numbers)
    exact: Sequence[Any] | None = None
    for level in (None, *pipeline()):
        if level is not None:
            level.apply(context(), module)
        results = run(module, "main", arguments).results
        for got, expected in zip(results, wanted, strict=True):
            np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)
        if exact is not None:
            for got, before in zip(results, exact, strict=True):
                np.testing.assert_array_equal(got, before)
        exact = results


# Forms of text that PTOAS reads: a value, a tile, a view, an index, a number.
V = r"%[\w.$-]+"
TILE = (
    r"!pto\.tile_buf<loc=vec, dtype=\w+, rows=\d+, cols=\d+, v_row=(?:\d+|\?), v_col=(?:\d+|\?), "
    r"blayout=(?:row|col)_major, slayout=(?:none_box|row_major), fractal=512, pad=0>"
)
VIEW = r"!pto\.tensor_view<\?x\?x\w+>"
PART = r"!pto\.partition_tensor_view<(?:\d+|\?)x(?:\d+|\?)x\w+>"
NUMBER = r"(?:f32|f16|i32|index)"


def instruction(name: str, *ins: str, outs: str = TILE, attributes: str = "") -> str:
    """`pto.name ins(%a, ... : T, ...) outs(%b : T)`."""
    values = ", ".join([V] * len(ins))
    return rf"pto\.{name} ins\({values} : {', '.join(ins)}\) outs\({V} : {outs}\){attributes}"


FORMS = [
    r"module attributes \{pto\.target_arch = \"a2a3\"\} \{",
    rf"func\.func @\w+\((?:{V}: (?:!pto\.ptr<\w+>|{NUMBER})(?:, )?)+\) \{{",
    r"return",
    r"\}",
    r"\} else \{",
    rf"{V} = arith\.constant -?[\d.e+-]+ : (?:index|i64|f32)",
    rf"{V} = arith\.cmpi slt, {V}, {V} : index",
    rf"scf\.for {V} = {V} to {V} step {V} \{{",
    rf"scf\.if {V} \{{",
    rf"{V} = pto\.make_tensor_view {V}, shape = \[{V}, {V}\], strides = \[{V}, {V}\] "
    rf"\{{layout = #pto\.layout<(?:nd|dn)>\}} : {VIEW}",
    rf"{V} = pto\.partition_view {V}, offsets = \[{V}, {V}\], sizes = \[{V}, {V}\] : "
    rf"{VIEW} -> {PART}",
    rf"{V} = pto\.alloc_tile addr = {V} : {TILE}",
    rf"{V} = pto\.treshape {V} : {TILE} -> {TILE}",
    instruction("tload", PART),
    instruction("tstore", TILE, outs=PART),
    instruction("tmov", TILE),
    instruction("texpands", NUMBER),
    instruction("(?:texp|trecip)", TILE),
    instruction("(?:tadd|tsub|tmul)", TILE, TILE),
    instruction("tmuls", TILE, NUMBER),
    instruction("(?:trowmax|trowsum)", TILE, TILE),
    instruction("(?:trowexpandsub|trowexpandmul)", TILE, TILE),
    rf"pto\.tgather ins\({V}, {V}, {V} : {TILE}, f32, {TILE}\) "
    rf"outs\({V}, {V} : {TILE}, {TILE}\) \{{cmpMode = #pto<cmp gt>, offset = 0 : i32\}}",
]


@pytest.mark.parametrize("name", CASES)
def test_each_line_has_an_accepted_form(name: str) -> None:
    path = EXAMPLES / f"{name}.mlir"
    module = parse_module(context(), path.read_text(), str(path))
    for level in pipeline():
        level.apply(context(), module)
    text = StringIO()
    Universe.get_multiverse().all_targets["pto"]()().emit(context(), module, text)
    forms = [re.compile(form) for form in FORMS]
    for line in text.getvalue().splitlines():
        assert any(form.fullmatch(line.strip()) for form in forms), line
