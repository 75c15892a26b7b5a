"""
Visiting every op of a program without recursion.

xDSL's own `Operation.walk` nests one generator a level, which costs the depth for each op and
ends at Python's recursion limit; these cost the same for each op at any depth.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation


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
        block = region.first_block
        while block is not None:
            inner = block.first_op
            while inner is not None:
                following = inner.next_op
                yield inner
                inner = following
            block = block.next_block


def blocks_inside(op: Operation) -> Iterator[Block]:
    """The blocks directly inside the regions of an op, in the order of the text."""
    for region in op.regions:
        block = region.first_block
        while block is not None:
            yield block
            block = block.next_block
