"""
Visiting every op of a program without recursion.

xDSL's own `Operation.walk` nests one generator a level, which costs the depth for each op and
ends at Python's recursion limit; these cost the same for each op at any depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from xdsl.ir import Block, Operation, Region


def walk(root: Operation) -> Iterator[Operation]:
    """
    The op and all ops inside, in the order of the text.

    The op last yielded may be changed or erased, and its regions filled; ops after it may not
    be erased while the walk is on.
    """
    yield root
    todo: list[Iterator[Operation]] = [ops_inside(root)]
    while todo:
        op = next(todo[-1], None)
        if op is None:
            todo.pop()
            continue
        yield op
        if op.regions:
            todo.append(ops_inside(op))


def ops_inside(op: Operation) -> Iterator[Operation]:
    """The ops directly inside the regions of an op, in the order of the text."""
    for region in op.regions:
        yield from _ops_of(region)


def blocks_inside(op: Operation) -> Iterator[Block]:
    """The blocks directly inside the regions of an op, in the order of the text."""
    for region in op.regions:
        block = region.first_block
        while block is not None:
            yield block
            block = block.next_block


class Event(Enum):
    """Where a `tour` is."""

    ENTER = "enter"
    """At an op, before its regions."""
    ENTER_REGION = "enter region"
    LEAVE_REGION = "leave region"
    LEAVE = "leave"
    """At an op with regions, after them."""


def tour(root: Operation) -> Iterator[tuple[Event, Operation, Region | None]]:
    """
    The op and all ops inside, with where each region and each op with regions ends.

    Every op gives `ENTER`; one with regions gives `ENTER_REGION` and `LEAVE_REGION` around the
    ops of each, then `LEAVE`. The region is None but for the events of regions.
    """
    yield Event.ENTER, root, None
    if not root.regions:
        return
    todo = [(root, region) for region in reversed(root.regions)]
    open_ops: list[tuple[Operation, list[tuple[Operation, Region]]]] = [(root, todo)]
    inside: list[Iterator[Operation]] = []
    open_regions: list[tuple[Operation, Region]] = []
    while open_ops:
        op, regions = open_ops[-1]
        if len(open_regions) < len(open_ops):
            if not regions:
                open_ops.pop()
                yield Event.LEAVE, op, None
                continue
            opened = regions.pop()
            open_regions.append(opened)
            inside.append(_ops_of(opened[1]))
            yield Event.ENTER_REGION, *opened
        inner = next(inside[-1], None)
        if inner is None:
            inside.pop()
            yield Event.LEAVE_REGION, *open_regions.pop()
            continue
        yield Event.ENTER, inner, None
        if inner.regions:
            open_ops.append((inner, [(inner, region) for region in reversed(inner.regions)]))


def _ops_of(region: Region) -> Iterator[Operation]:
    block = region.first_block
    while block is not None:
        inner = block.first_op
        while inner is not None:
            following = inner.next_op
            yield inner
            inner = following
        block = block.next_block
