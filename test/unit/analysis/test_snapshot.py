"""A snapshot notices every kind of change to a module, and only changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import IntAttr, ModuleOp, StringAttr, i32, i64
from xdsl.ir import Block, Operation, Region

from pypto_xdsl.analysis.snapshot import Snapshot


class Program:
    """A small module, its parts at hand."""

    def __init__(self):
        self.first = test.TestOp(result_types=[i32, i32])
        self.second = test.TestOp(
            operands=[self.first.results[0]],
            attributes={"a": IntAttr(1)},
            properties={"p": IntAttr(2)},
        )
        self.inner = test.TestTermOp()
        self.block = Block([self.inner], arg_types=[i32])
        self.around = test.TestOp(regions=[Region([self.block, Block([test.TestTermOp()])])])
        self.module = ModuleOp([self.first, self.second, self.around])


def swap(a: Operation, b: Operation) -> None:
    block = a.parent
    assert block is not None
    b.detach()
    block.insert_op_before(b, a)


def move_out(program: Program) -> None:
    """The ops stay in the same order of the text, in other regions."""
    program.inner.detach()
    program.block.add_op(test.TestTermOp())
    program.module.body.block.insert_op_after(program.inner, program.around)


CHANGES: dict[str, Callable[[Program], object]] = {
    "operand": lambda p: setattr(p.second, "operands", [p.first.results[1]]),
    "attribute": lambda p: p.second.attributes.update(a=IntAttr(3)),
    "attribute of the same value": lambda p: p.second.attributes.update(a=IntAttr(1)),
    "new attribute": lambda p: p.first.attributes.update(b=IntAttr(1)),
    "lost attribute": lambda p: p.second.attributes.clear(),
    "property": lambda p: p.second.properties.update(p=StringAttr("x")),
    "result type": lambda p: setattr(p.first.results[1], "_type", i64),
    "erased op": lambda p: (p.second.detach(), p.second.erase()),
    "new op": lambda p: p.module.body.block.add_op(test.TestOp()),
    "order": lambda p: swap(p.second, p.around),
    "argument": lambda p: p.block.insert_arg(i64, 1),
    "another region": move_out,
    "new block": lambda p: p.around.regions[0].add_block(Block([test.TestTermOp()])),
}


@pytest.mark.parametrize("change", CHANGES)
def test_notices(change: str):
    program = Program()
    snapshot = Snapshot(program.module)
    CHANGES[change](program)
    assert not snapshot.is_current(program.module)


def test_nothing_changed():
    program = Program()
    snapshot = Snapshot(program.module)
    program.first.results[0].name_hint = "named"
    assert snapshot.is_current(program.module)
    assert not snapshot.is_current(program.module.clone())


def test_a_recycled_address_is_no_alibi():
    """Attributes freed and made anew often get the same address in memory."""
    program = Program()
    for number in range(1_000):
        snapshot = Snapshot(program.module)
        program.second.attributes["a"] = IntAttr(number)
        program.second.attributes["a"] = IntAttr(number + 1)
        assert not snapshot.is_current(program.module)
