"""Declared properties are checked under every driver, and derived no more often than needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from typing import IO

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith, MuliOp
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr
from xdsl.dialects.func import Func, FuncOp
from xdsl.passes import PassPipeline
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, collecting, diagnose
from pypto_xdsl.properties import checked_pass
from pypto_xdsl.properties.checked_pass import CheckedPass, CheckedTarget
from pypto_xdsl.properties.holding import not_checking, remembering, violations
from pypto_xdsl.properties.registry import PROPERTIES, Property, module_name
from pypto_xdsl.syntax.parser import parse_module

TEXT = """
func.func @f(%a: i32, %b: i32) -> (i32, i32) {
  %c = arith.muli %a, %b : i32
  %d = arith.muli %b, %a : i32
  func.return %c, %d : i32, i32
}"""


class Toy:
    """A property that no `arith.muli` is left, and how often it was derived."""

    def __init__(self):
        self.derived = 0

    def find(self, module: ModuleOp) -> Iterable[Diagnostic]:
        self.derived += 1
        for op in module.walk():
            if isinstance(op, MuliOp):
                yield diagnose(op, "multiplies")
            if "odd" in op.attributes:
                yield diagnose(op, "is odd", severity="warning")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    toy = Toy()
    found = Property("NoMul", "no product is left", toy.find)
    producers = {"NoMul": ["lower-mul"]}
    monkeypatch.setitem(PROPERTIES, "NoMul", lambda: found)
    monkeypatch.setattr(checked_pass, "passes_producing", producers.get)
    return toy


@dataclass(frozen=True)
class NeedsNoMul(CheckedPass):
    name = "needs-no-mul"
    required = ("NoMul",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        module.attributes["ran"] = StringAttr("yes")


@dataclass(frozen=True)
class LowerMul(CheckedPass):
    name = "lower-mul"
    produced = ("NoMul",)
    works: bool = True

    def run(self, ctx: Context, module: ModuleOp) -> None:
        for op in list(module.walk()):
            if isinstance(op, MuliOp) and self.works:
                op.result.replace_all_uses_with(op.lhs)
                op.detach()
                op.erase()


@dataclass(frozen=True)
class ForgetsNoMul(CheckedPass):
    name = "forgets-no-mul"
    required = ("NoMul",)
    invalidated = ("NoMul",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        return None


@dataclass(frozen=True)
class NeedsNoMulTarget(CheckedTarget):
    name = "toy"
    required = ("NoMul",)

    def write(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write("written")


def program() -> tuple[Context, ModuleOp]:
    ctx = Context()
    for dialect in (Builtin, Arith, Func):
        ctx.load_dialect(dialect)
    return ctx, parse_module(ctx, TEXT, "a.mlir")


REQUIRED = [
    "a.mlir:3:8: error: pass 'needs-no-mul' requires property NoMul: 'arith.muli' op multiplies",
    "a.mlir:3:8: note: property NoMul holds if no product is left",
    "a.mlir:3:8: note: run 'lower-mul' first",
    "a.mlir:4:8: error: pass 'needs-no-mul' requires property NoMul: 'arith.muli' op multiplies",
]


def test_a_violated_requirement(toy: Toy):
    ctx, module = program()
    with pytest.raises(DiagnosticsError) as raised:
        NeedsNoMul().apply(ctx, module)
    assert str(raised.value).splitlines() == REQUIRED
    assert "ran" not in module.attributes


def test_in_a_python_pipeline_between_passes_of_xdsl(toy: Toy):
    ctx, module = program()
    xdsl_passes = (CanonicalizePass(), CommonSubexpressionElimination())
    with pytest.raises(DiagnosticsError, match=r"a\.mlir:3:8: error: pass 'needs"):
        PassPipeline((*xdsl_passes, NeedsNoMul(), CanonicalizePass())).apply(ctx, module)
    PassPipeline((*xdsl_passes, LowerMul(), CanonicalizePass(), NeedsNoMul())).apply(ctx, module)
    assert module.attributes["ran"] == StringAttr("yes")


def test_a_pass_that_does_not_keep_its_word(toy: Toy):
    ctx, module = program()
    with pytest.raises(DiagnosticsError) as raised:
        LowerMul(works=False).apply(ctx, module)
    assert [d.message for d in raised.value.diagnostics] == [
        "pass 'lower-mul' did not establish property NoMul: 'arith.muli' op multiplies"
    ] * 2


@dataclass(frozen=True)
class Spoil(CheckedPass):
    name = "spoil"
    produced = ("NoMul",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        module.body.block.add_op(FuncOp("f", ((), ())))
        module.attributes["odd"] = StringAttr("breaks the property's verifier")


def test_a_pass_that_leaves_invalid_ir(monkeypatch: pytest.MonkeyPatch):
    def stumbles(module: ModuleOp) -> Iterable[Diagnostic]:
        raise KeyError("f")

    found = Property("NoMul", "no product is left", stumbles)
    monkeypatch.setitem(PROPERTIES, "NoMul", lambda: found)
    with pytest.raises(DiagnosticsError, match="pass 'spoil' left invalid IR: 'func"):
        Spoil().apply(*program())
    # With valid IR it is the property's own fault.
    with pytest.raises(KeyError):
        LowerMul().apply(*program())


def test_warnings_do_not_violate(toy: Toy):
    ctx, module = program()
    LowerMul().apply(ctx, module)
    module.attributes["odd"] = StringAttr("yes")
    with collecting() as found:
        NeedsNoMul().apply(ctx, module)
    assert [d.message for d in found] == ["'builtin.module' op is odd"]


def test_a_target(toy: Toy):
    ctx, module = program()
    out = StringIO()
    with pytest.raises(DiagnosticsError, match="target 'toy' requires property NoMul"):
        NeedsNoMulTarget().emit(ctx, module, out)
    assert out.getvalue() == ""
    LowerMul().apply(ctx, module)
    NeedsNoMulTarget().emit(ctx, module, out)
    assert out.getvalue() == "written"


def test_verdicts_are_kept_until_the_module_changes(toy: Toy):
    ctx, module = program()
    with remembering():
        LowerMul().apply(ctx, module)
        assert toy.derived == 1
        # Nothing happened since: the pass before has just established it.
        NeedsNoMulTarget().emit(ctx, module, StringIO())
        NeedsNoMul().apply(ctx, module)
        assert toy.derived == 1
        # That pass marked the module.
        NeedsNoMul().apply(ctx, module)
        assert toy.derived == 2
        # Another module is another story.
        with pytest.raises(DiagnosticsError):
            NeedsNoMul().apply(*program())
        assert toy.derived == 3


def test_what_a_pass_invalidates_is_derived_again(toy: Toy):
    ctx, module = program()
    with remembering():
        LowerMul().apply(ctx, module)
        ForgetsNoMul().apply(ctx, module)
        assert toy.derived == 1
        ForgetsNoMul().apply(ctx, module)
        assert toy.derived == 2


def test_without_a_memory_each_check_derives(toy: Toy):
    ctx, module = program()
    LowerMul().apply(ctx, module)
    NeedsNoMul().apply(ctx, module)
    assert toy.derived == 2


def test_not_checking(toy: Toy):
    ctx, module = program()
    with not_checking():
        NeedsNoMul().apply(ctx, module)
    assert toy.derived == 0


def test_a_verdict_does_not_outlive_its_run(toy: Toy):
    ctx, module = program()
    LowerMul().apply(ctx, module)
    with remembering():
        violations(["NoMul"], module)
    with remembering():
        violations(["NoMul"], module)
    assert toy.derived == 3


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("SSAForm", "ssa_form"),
        ("NoNestedInCore", "no_nested_in_core"),
        ("TileOps2D", "tile_ops_2d"),
        ("NormalizedStmtStructure", "normalized_stmt_structure"),
        ("SplitIncoreOrch", "split_incore_orch"),
    ],
)
def test_the_file_of_a_property(name: str, file: str):
    assert module_name(name) == file


@pytest.mark.parametrize("name", PROPERTIES)
def test_registered_properties_go_by_their_names(name: str):
    found = PROPERTIES[name]()
    assert found.name == name
    assert found.summary
    _, module = program()
    assert list(found.verifier(module)) == []


def test_ssa_form_is_dominance():
    ctx, _ = program()
    text = TEXT.replace("%c = arith.muli %a, %b", "%c = arith.muli %d, %b")
    module = parse_module(ctx, text, "a.mlir")
    (error,) = violations(["SSAForm"], module)["SSAForm"]
    assert str(error).startswith("a.mlir:3:8: error: 'arith.muli' op operand #0 (%d) does not")
