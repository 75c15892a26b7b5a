"""Passes as flags: order, options of each type, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

from pypto_xdsl.tools.command_line import CommandLineError
from pypto_xdsl.tools.pass_flags import split_pass_flags


@dataclass(frozen=True)
class Options(ModulePass):
    name = "options"

    n: int = 0
    rate: float = 0.0
    path: str = ""
    dry_run: bool = False
    sizes: tuple[int, ...] = ()
    names: tuple[str, ...] | None = None
    mode: Literal["fast", "small"] = "fast"
    limit: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        return None


@dataclass(frozen=True)
class Single(ModulePass):
    name = "single"
    word: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        return None


PASSES = {
    "options": lambda: Options,
    "single": lambda: Single,
    "cse": lambda: CommonSubexpressionElimination,
}


def passes(*args: str) -> list[ModulePass]:
    found, rest = split_pass_flags(args, PASSES)
    assert rest == []
    return found


def error(*args: str) -> str:
    with pytest.raises(CommandLineError) as raised:
        split_pass_flags(args, PASSES)
    return str(raised.value)


def test_order_and_the_rest():
    args = ["in.mlir", "--cse", "-o", "x", "--options", "-p", "cse,options{n=2}", "--passes=cse"]
    found, rest = split_pass_flags(args, PASSES)
    cse = CommonSubexpressionElimination()
    assert found == [cse, Options(), cse, Options(n=2), cse]
    assert rest == ["in.mlir", "-o", "x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n=3", Options(n=3)),
        ("n=-3 rate=2", Options(n=-3, rate=2.0)),
        ("rate=1e-3", Options(rate=0.001)),
        ("path=a/b.txt", Options(path="a/b.txt")),
        ("path='a b' dry-run", Options(path="a b", dry_run=True)),
        ("path=3", Options(path="3")),
        ("path=true", Options(path="true")),
        ("path=a=b", Options(path="a=b")),
        ("dry_run=false", Options()),
        ("sizes=1,2,3", Options(sizes=(1, 2, 3))),
        ("sizes=1", Options(sizes=(1,))),
        ("names=a.b,c", Options(names=("a.b", "c"))),
        ("mode=small", Options(mode="small")),
        ("limit=7", Options(limit=7)),
        ("", Options()),
    ],
)
def test_options_of_each_type(text: str, expected: Options):
    assert passes(f"--options={text}") == [expected]


def test_the_only_option_needs_no_name():
    assert passes("--single=x") == passes("--single=word=x") == [Single("x")]


@pytest.mark.parametrize(
    ("arg", "message"),
    [
        ("--options=n=x", "pass 'options': option 'n' expects an integer, got 'x'"),
        ("--options=n=", "pass 'options': option 'n' expects an integer, got ''"),
        ("--options=rate=x", "pass 'options': option 'rate' expects a number, got 'x'"),
        (
            "--options=dry-run=maybe",
            "pass 'options': option 'dry-run' expects 'true' or 'false', got 'maybe'",
        ),
        (
            "--options=mode=slow",
            "pass 'options': option 'mode' expects 'fast' or 'small', got 'slow'",
        ),
        ("--options=sizes=1,x", "pass 'options': option 'sizes' expects an integer, got 'x'"),
        ("--options=siezs=1", "pass 'options' has no option 'siezs'; did you mean 'sizes'?"),
        ("--options=n=1 n=2", "pass 'options': option 'n' is given twice"),
        ("--options=path='x", "options of pass 'options': No closing quotation: path='x"),
        ("--cse=n=1", "pass 'cse' has no option 'n'; it takes none"),
        ("--single", "pass 'single': single requires argument \"word\""),
        ("--passes=csee", "unknown pass 'csee'; did you mean 'cse'?"),
        ("-p", "-p expects a list of passes"),
        (
            "--passes=options{mode=1}",
            "pass 'options': option 'mode' expects 'fast' or 'small', got 1; a string needs quotes",
        ),
        ("--passes=options{n=x}", "pass 'options': option 'n' expects an integer, got 'x'"),
    ],
)
def test_what_is_wrong(arg: str, message: str):
    assert error(arg) == message
