"""Values that print under one name are one value when they are read again (X1, A12)."""

from __future__ import annotations

import io
import sys

import pytest
from support.programs import program
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.dialects.test import TestTermOp as AnyEnd
from xdsl.ir import Block, Operation, Region, SSAValue

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.rewriting.value_names import settle_hints
from pypto_xdsl.tools import pypto_opt

HINTS = ("v", "v", "v_1", "v_1", "v_1_1", None, "_1", "v_", "v_01", "w_2_3", "w", "w_2")
COLLIDING = """
func.func @f(%v: i32) {
  %v_1 = arith.addi %v, %v : i32
  %v_2 = arith.addi %v_1, %v : i32
  %v_1_1 = arith.muli %v_2, %v : i32
  scf.if %c {
    %v_1_2 = arith.subi %v_1_1, %v_1 : i32
    "test.op"(%v_1_2) : (i32) -> ()
  }
  "test.op"(%v_1, %v_2, %v_1_1) : (i32, i32, i32) -> ()
  cf.br ^v_1_1
^v_1_1:
  cf.br ^v_1
^v_1:
  func.return
}
"""


def uses(module: ModuleOp) -> list[list[int]]:
    """Of each op the ops that define its operands, by their place in the text."""
    places: dict[Operation | Block, int] = {}
    for op in walk(module):
        places[op] = len(places)
        for region in op.regions:
            for block in region.blocks:
                places[block] = len(places)
    return [[places[operand.owner] for operand in op.operands] for op in walk(module)]


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_the_same_graph_is_read_again(depth: int):
    values: list[SSAValue] = []
    block = inner = Block()
    module = ModuleOp(Region(block))
    for level in range(depth + 1):
        for hint in HINTS:
            constant = ConstantOp(IntegerAttr(len(values), i32))
            if hint is not None:
                # The setter takes off one number only, and what is given here comes as it is.
                constant.result._name = hint  # pyright: ignore[reportPrivateUsage]
            inner.add_op(constant)
            values.append(constant.result)
        if level < depth:
            nested = Block()
            inner.add_op(AnyOp(regions=[Region(nested)]))
            inner = nested
    inner.add_op(AnyOp(operands=values))
    while inner is not block:
        inner.add_op(AnyEnd())
        outer = inner.parent_block()
        assert outer is not None
        inner = outer
    before = uses(module)
    settle_hints(module)
    assert uses(program(str(module))) == before


def test_what_the_tool_prints_it_reads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def run(text: str, *flags: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert pypto_opt.main(flags) == 0
        captured = capsys.readouterr()
        assert "--print-ir-after-all" not in flags or captured.out in captured.err
        return captured.out

    text = COLLIDING.replace("(%v: i32)", "(%v: i32, %c: i1)")
    for flags in ([], ["--print-op-generic"], ["--cse", "--print-ir-after-all"]):
        printed = run(text, *flags)
        assert uses(program(printed)) == uses(program(text))
        assert run(printed, *flags) == printed
