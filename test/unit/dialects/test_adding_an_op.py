"""docs/adding-an-op.md, run: its ops are declared, parsed, repaired, checked and run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from support.programs import context
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import InterpreterFunctions, register_impls
from xdsl.ir import Dialect, Operation
from xdsl.printer import Printer

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.backend.ascend910b import BACKEND
from pypto_xdsl.dialects import orch, tile
from pypto_xdsl.interpreters.elementwise import tile_elementwise
from pypto_xdsl.interpreters.op_tables import implements
from pypto_xdsl.interpreters.run import machine_for, run_on
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.transforms.resolve_backend_op_layouts import resolve_layouts
from pypto_xdsl.transforms.verify_target import illegal_ops

PAGE = Path(__file__).parents[3] / "docs" / "adding-an-op.md"


def blocks(language: str, section: str) -> Iterator[str]:
    """The code of one language in a section of the page."""
    text = PAGE.read_text()
    start = text.index(f"## {section}")
    end = text.find("\n## ", start + 1)
    found = re.findall(
        rf"^ *```{language}\n(.*?)^ *```$", text[start : None if end < 0 else end], re.M | re.S
    )
    yield from map(dedent, found)


def executed(section: str) -> dict[str, Any]:
    """What the section's Python defines."""
    names: dict[str, Any] = {"__name__": "page"}
    for code in blocks("python", section):
        exec(compile(code, str(PAGE), "exec"), names)
    return names


def context_with(*ops: type[Operation]) -> Context:
    ctx = context()
    ctx.load_dialect(Dialect("toy_page", list(ops)))
    return ctx


def parsed(ctx: Context, text: str) -> ModuleOp:
    module = parse_module(ctx, text, "page.mlir")
    assert not verify(module)
    return module


def assert_round_trips(ctx: Context, module: ModuleOp) -> None:
    assert str(parsed(ctx, str(module))) == str(module)
    generic = StringIO()
    Printer(generic, print_generic_format=True).print_op(module)
    assert str(parsed(ctx, generic.getvalue())) == str(module)


def run_kernel(
    module: ModuleOp, functions: type[InterpreterFunctions], *arguments: Any
) -> np.ndarray[Any, Any]:
    machine = machine_for(module)
    machine.register_implementations(functions())
    (function,) = (op for op in module.ops if isinstance(op, orch.FuncOp))
    return run_on(machine, function, arguments).results[0]


def test_the_elementwise_op():
    names = executed("An elementwise op")
    square = names["SquareOp"]
    (text,) = blocks("mlir", "An elementwise op")
    ctx = context_with(square)
    module = parsed(ctx, text)
    assert_round_trips(ctx, module)

    @register_impls
    @implements({square: names["square"]}, tile_elementwise)
    class Functions(InterpreterFunctions):
        pass

    x = np.linspace(-2, 2, 16, dtype=np.float32).reshape(16, 1)
    np.testing.assert_array_equal(run_kernel(module, Functions, x), x * x)

    backend = replace(
        BACKEND,
        layouts={**BACKEND.layouts, square: names["LAYOUT"]},
        rules={**BACKEND.rules, square: names["RULES"]},
    )
    assert not list(illegal_ops(module, backend))
    resolve_layouts(module, backend)
    assert "tile.square %s_arg0_turned : !tile.tile<1x16xf32, vec>" in str(module)
    np.testing.assert_array_equal(run_kernel(module, Functions, x), x * x)

    integers = parsed(ctx, text.replace("f32", "i32"))
    (refusal,) = illegal_ops(integers, backend)
    assert "(element types): operand 'operand' holds i32, expected f16 or f32" in refusal.message


def test_the_op_with_several_results():
    names = executed("An op with several results")
    extremes = names["RowExtremesOp"]
    (text,) = blocks("mlir", "An op with several results")
    ctx = context_with(extremes)
    module = parsed(ctx, text)
    assert_round_trips(ctx, module)
    x = np.random.default_rng(0).standard_normal((16, 8), np.float32)
    result = run_kernel(module, names["RowExtremesFunctions"], x)
    np.testing.assert_array_equal(result, x.max(axis=1, keepdims=True))
    assert [name for name, _ in extremes.declaration().results] == ["least", "greatest"]
    assert tile.Tile.name == "tile"


@pytest.mark.parametrize("section", ["An elementwise op", "An op with several results"])
def test_sections_have_code(section: str):
    assert list(blocks("python", section))
    assert list(blocks("mlir", section))
