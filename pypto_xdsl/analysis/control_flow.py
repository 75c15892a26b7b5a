"""
How values enter, loop in and leave the regions of structured control flow.

Control flow *forwards* values: what a loop starts from and what its body yields both become the
value that the body sees and the loop's result. Everything else is captured implicitly. Nobody
else knows where each op keeps what; ask

* forward, `forwarding(op)`: all steps in which an op forwards values;
* backward, `forwarded(value)`: the values that may be handed over as this one;
* `shape_of(op)`: whether the regions of an op run in sequence, as alternatives, or again and
  again, and `runs_for_certain(loop)`: whether a body runs at least once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue

from pypto_xdsl.dialects import orch

_BOUNDS = 3
"""The operands of `scf.for` before the inits: lower bound, upper bound, step."""


class Shape(Enum):
    """How the regions of an op run."""

    SEQUENCE = "sequence"
    """Once, one after the other, whenever the op runs."""
    BRANCH = "branch"
    """At most one of them."""
    LOOP = "loop"
    """Again and again, or not at all."""
    DEFINITION = "definition"
    """Not here: the body of a function or a module."""
    UNKNOWN = "unknown"
    """Nobody here knows; take it for a loop."""


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
            arguments = op.body.block.args[1:]
            yield from _forward(op, _BOUNDS, arguments)
            yield from _forward(op, _BOUNDS, op.results)
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


def forwarded(value: SSAValue) -> tuple[SSAValue, ...]:
    """
    The values that control flow may hand over as `value`, inits first; empty if it comes from no
    control flow: an op computes it, or it is a parameter.
    """
    if isinstance(value, OpResult):
        return _forwarded_to_result(value.op, value.index) if value.op.regions else ()
    assert isinstance(value, BlockArgument)
    block = value.owner
    match block.parent_op():
        case scf.ForOp() as loop if value.index:
            place = value.index - 1
            return loop.operands[_BOUNDS + place], *_ends(loop.body, place)
        case scf.WhileOp() as loop:
            before, after = loop.before_region, loop.after_region
            if block.parent is before:
                return loop.operands[value.index], *_ends(after, value.index)
            return _ends(before, value.index + 1)
        case _:
            return ()


def _forwarded_to_result(op: Operation, place: int) -> tuple[SSAValue, ...]:
    match op:
        case scf.ForOp():
            yielded = _ends(op.body, place)
            return yielded if runs_for_certain(op) else (op.operands[_BOUNDS + place], *yielded)
        case scf.WhileOp():
            return _ends(op.before_region, place + 1)
        case scf.IfOp() | scf.IndexSwitchOp() | scf.ExecuteRegionOp() | orch.ScopeOp():
            return tuple(end for region in op.regions for end in _ends(region, place))
        case _:
            return ()


def _ends(region: Region, place: int) -> tuple[SSAValue, ...]:
    """The operands at a position of what ends a region; the task of a scope is at none."""
    return tuple(
        end.operands[place]
        for block in region.blocks
        if (end := block.last_op) is not None and not end.successors and place < len(end.operands)
    )


def is_merge(value: SSAValue) -> bool:
    """Whether `value` is one of several because of a branch (not because of a loop)."""
    return isinstance(value, OpResult) and isinstance(value.op, scf.IfOp | scf.IndexSwitchOp)


def shape_of(op: Operation) -> Shape:
    """How the regions of an op run."""
    match op:
        case scf.ForOp() | scf.WhileOp():
            return Shape.LOOP
        case scf.IfOp() | scf.IndexSwitchOp():
            return Shape.BRANCH
        case orch.ScopeOp():
            return Shape.SEQUENCE
        case scf.ExecuteRegionOp() if op.region.first_block is op.region.last_block:
            return Shape.SEQUENCE
        case orch.FuncOp() | ModuleOp():
            return Shape.DEFINITION
        case _:
            return Shape.UNKNOWN


def runs_for_certain(loop: Operation) -> bool:
    """Whether the body of a loop runs at least once, by its constant bounds."""
    trips = constant_trip_count(loop)
    return trips is not None and trips > 0


def constant_trip_count(loop: Operation) -> int | None:
    """How often the body of a loop runs, if its bounds are constant."""
    if not isinstance(loop, scf.ForOp):
        return None
    lower, upper, step = (constant_integer(bound) for bound in loop.operands[:_BOUNDS])
    if lower is None or upper is None or step is None or step <= 0:
        return None
    return max(0, -(-(upper - lower) // step))


def constant_integer(value: SSAValue) -> int | None:
    """The value of an integer constant."""
    if isinstance(value, OpResult) and isinstance(value.op, ConstantOp):
        constant = value.op.value
        if isinstance(constant, IntegerAttr):
            return constant.value.data
    return None
