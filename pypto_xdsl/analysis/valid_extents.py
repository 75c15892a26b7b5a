"""How much of a tile is valid along an axis, as a number or the value that says it at run time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, OpResult, SSAValue

from pypto_xdsl.analysis.control_flow import forwarded
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.dialects.tile.base import ReifiesValidShapeInterface
from pypto_xdsl.dialects.typed_op import TypedOp
from pypto_xdsl.syntax.lists import Index

Known: TypeAlias = dict[tuple[SSAValue, int], Index | None]
"""What was asked before of a program that does not change."""


def valid_extent(value: SSAValue, axis: int, known: Known | None = None) -> Index | None:
    """
    The valid extent of a tile along an axis; None if no one value says it. `known` is of use where
    many tiles are asked for that are made from each other.

    A value that says it may be one that is not visible where the tile is.
    """
    known = {} if known is None else known
    if (value, axis) not in known:
        known[value, axis] = _traced(value, axis, known)
    return known[value, axis]


def _traced(value: SSAValue, axis: int, known: Known) -> Index | None:
    found: set[Index] = set()
    seen: set[tuple[SSAValue, int]] = set()
    waiting = [(value, axis)]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        said = known.get(node)
        if said is None:
            said = _said(*node)
        if said is not None:
            found.add(said)
            continue
        sources = list(_sources(*node))
        if not sources:
            return None
        waiting += sources
    return found.pop() if len(found) == 1 else None


def _said(value: SSAValue, axis: int) -> Index | None:
    extent = TileType.of(value.type).valid_shape[axis]
    if extent != DYNAMIC_INDEX:
        return extent
    op = value.owner
    if isinstance(op, ReifiesValidShapeInterface) and op.valid_extents:
        return op.valid_extents[axis]
    return None


def _sources(value: SSAValue, axis: int) -> Iterator[tuple[SSAValue, int]]:
    """The tiles, and axes, of which as much is valid."""
    handed_on = forwarded(value)
    if handed_on or not isinstance(value, OpResult):
        yield from ((source, axis) for source in handed_on)
        return
    op = value.op
    if not isinstance(op, TypedOp):
        return
    scratch = op.workspaces()
    for cut in op.cut_together():
        if (value, axis) in cut:
            # Of several, the first says it, as in what the op infers.
            yield from [node for node in cut if node[0] in op.operands and node[0] not in scratch][
                :1
            ]
            return


def is_visible(value: SSAValue, op: Operation) -> bool:
    """Whether a value is of a block around an op."""
    owner = value.owner
    block = owner.parent_block() if isinstance(owner, Operation) else owner
    around: Operation | None = op
    while around is not None:
        if around.parent_block() is block:
            return True
        around = around.parent_op()
    return False
