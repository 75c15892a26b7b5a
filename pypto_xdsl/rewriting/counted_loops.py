"""Loops with constant bounds that lowerings make: over rows, and over blocks of an extent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.rewriting.locating import locate
from pypto_xdsl.syntax.lists import Index

RowBody = Callable[[tuple[SSAValue, ...], SSAValue, Inserter], SSAValue]
"""What is done for a row: its indices, what is carried, and where to insert; what is carried on."""
BlockBody = Callable[[Index, int, Sequence[SSAValue], Inserter], Sequence[SSAValue]]
"""
What is done for a block: its start and extent, what is carried, and where to insert; what is
carried on.
"""


def over_rows(
    extents: Sequence[Index], carried: SSAValue, body: RowBody, inserter: Inserter
) -> SSAValue:
    """
    Do `body` for each place in `extents`, by a loop a dimension, the last one innermost. The
    result is what is carried in the end.
    """

    def along(
        rest: Sequence[Index], indices: tuple[SSAValue, ...], value: SSAValue, inside: Inserter
    ) -> SSAValue:
        if not rest:
            return body(indices, value, inside)

        def row(index: SSAValue, values: Sequence[SSAValue], deeper: Inserter) -> list[SSAValue]:
            return [along(rest[1:], (*indices, index), values[0], deeper)]

        (result,) = _loop((0, rest[0], 1), [value], row, inside, "i")
        return result

    return along(extents, (), carried, inserter)


def over_blocks(
    bounds: tuple[int, int],
    block: int,
    carried: Sequence[SSAValue],
    body: BlockBody,
    inserter: Inserter,
    hint: str,
) -> Sequence[SSAValue]:
    """
    Do `body` for each block of `[start, stop)`, in order; `hint` names where a block starts.

    Blocks that are alike become a loop, unless there is one alone; a smaller block at the end
    stands after it.
    """
    start, stop = bounds
    count, rest = divmod(stop - start, block)
    if count == 1:
        carried = body(start, block, carried, inserter)
    elif count > 1:

        def each(
            index: SSAValue, values: Sequence[SSAValue], inside: Inserter
        ) -> Sequence[SSAValue]:
            return body(index, block, values, inside)

        carried = _loop((start, stop - rest, block), carried, each, inserter, hint)
    if rest:
        carried = body(stop - rest, rest, carried, inserter)
    return carried


def _loop(
    range_: tuple[Index, Index, Index],
    carried: Sequence[SSAValue],
    body: Callable[[SSAValue, Sequence[SSAValue], Inserter], Sequence[SSAValue]],
    inserter: Inserter,
    hint: str,
) -> Sequence[SSAValue]:
    """A loop from a start to a stop by a step."""
    start, stop, step = (
        constant(bound, inserter) if isinstance(bound, int) else bound for bound in range_
    )
    block = Block(arg_types=[IndexType(), *(value.type for value in carried)])
    hints = hint, *(value.name_hint for value in carried)
    for argument, name in zip(block.args, hints, strict=True):
        argument.name_hint = name
        argument.location = inserter.origin.location
    index, *inner = block.args
    inside = Inserter(inserter.origin, InsertPoint.at_end(block))
    values = body(index, inner, inside)
    end = scf.YieldOp(*values)
    locate(inserter.origin.location, end)
    block.add_op(end)
    loop = scf.ForOp(start, stop, step, carried, Region(block))
    inserter.insert(loop)
    for result, value in zip(loop.results, carried, strict=True):
        result.name_hint = value.name_hint
    return loop.results


def constant(value: int, inserter: Inserter, type: Attribute | None = None) -> SSAValue:
    """A constant of integer type, by default an index."""
    op = arith.ConstantOp.from_int_and_width(value, type or IndexType())  # pyright: ignore
    return inserter.insert(op)
