"""
How values enter, loop in and leave the regions of structured control flow.

Control flow *forwards* values: what a loop starts from and what its body yields both become the
value that the body sees and the loop's result. `forwarding(op)` lists these steps; nobody else
knows where each op keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from pypto_xdsl.dialects import orch


@dataclass(frozen=True)
class Forwarding:
    """One step: an operand of an op becomes another value."""

    op: Operation
    """The op that has the operand: the control flow, or the end of one of its regions."""
    index: int
    """Of the operand."""
    target: SSAValue
    """A block argument of a region of the control flow, or one of its results."""

    @property
    def source(self) -> SSAValue:
        """The operand."""
        return self.op.operands[self.index]


def is_loop(op: Operation) -> bool:
    """Whether the regions of an op may run more than once."""
    return isinstance(op, scf.ForOp | scf.WhileOp)


def forwarding(op: Operation) -> Iterator[Forwarding]:
    """
    Every step in which `op` forwards a value into its regions, between them or out of them, in
    the order of the text. An op that is no control flow forwards nothing.
    """
    match op:
        case scf.ForOp():
            first = len(op.operands) - len(op.iter_args)
            arguments = op.body.block.args[1:]
            yield from _forward(op, first, arguments)
            yield from _forward(op, first, op.results)
            yield from _forward(terminator(op.body), 0, arguments)
            yield from _forward(terminator(op.body), 0, op.results)
        case scf.WhileOp():
            before, after = op.before_region.block, op.after_region.block
            condition = terminator(op.before_region)
            yield from _forward(op, 0, before.args)
            yield from _forward(condition, 1, after.args)
            yield from _forward(condition, 1, op.results)
            yield from _forward(terminator(op.after_region), 0, before.args)
        case scf.IfOp() | scf.IndexSwitchOp() | scf.ExecuteRegionOp() | orch.ScopeOp():
            for region in op.regions:
                if region.first_block is not None:
                    yield from _forward(terminator(region), 0, op.results)
        case _:
            return


def terminator(region: Region) -> Operation:
    """The op that ends a region of a single block."""
    block = region.first_block
    assert isinstance(block, Block)
    last = block.last_op
    assert last is not None
    return last


def _forward(op: Operation, first: int, targets: Sequence[SSAValue]) -> Iterator[Forwarding]:
    # The results of a scope include its task, which is not yielded.
    for place, target in enumerate(targets[: len(op.operands) - first]):
        yield Forwarding(op, first + place, target)
