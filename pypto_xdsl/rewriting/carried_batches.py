"""
Batches of sums that loops carry: a loop carries each sum for itself.

    %s = scf.for %i = ... iter_args(%a = %p) -> (!tile.tile<2x16x32xf32>) {
      %q = tile.batch_matmul_acc %a, %x, %y : ...
      scf.yield %q
    }

    %s0, %s1 = scf.for %i = ... iter_args(%a0 = %p0, %a1 = %p1) -> (!tile.tile<16x32xf32>, ...) {
      ...
    }

The accumulator holds matrices, and a batch of them in no one tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import scf
from xdsl.ir import BlockArgument, SSAValue

from pypto_xdsl.analysis.control_flow import terminator
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.rewriting.batch_products import Pages, Place, number_of
from pypto_xdsl.rewriting.inserter import Inserter

_BOUNDS = 3
"""The operands of `scf.for` before the inits."""


@dataclass
class CarriedBatches:
    """A loop that carries batches of sums, once it carries the sums instead."""

    loop: scf.ForOp
    places: Sequence[int]
    """Which of what the loop carried were batches."""
    arguments: Sequence[BlockArgument]
    """The batches, in the body, to be erased once nothing uses them."""
    pages: dict[SSAValue, Pages]
    """The sums of each batch, in the body and after the loop."""


def init_place(op: scf.ForOp, operand: int) -> int:
    """Which carried value an operand of a loop starts; negative for a bound."""
    return operand - _BOUNDS


def is_carried_sum(op: scf.ForOp, place: int) -> bool:
    """Whether all that a loop does with a batch of matrices that it carries is to add to them."""
    if not op.regions:
        # Another loop carries the sums in its place already.
        return True
    value: SSAValue = op.body.block.args[1 + place]
    if not isinstance(value.type, TileType) or prod(value.type.get_shape()[:-2]) == 1:
        return False
    end = terminator(op.body)
    while True:
        uses = list(value.uses)
        if len(uses) != 1 or uses[0].operation.parent is not op.body.block:
            return False
        user, index = uses[0].operation, uses[0].index
        if user is end:
            return index == place
        if isinstance(user, tile.BatchMatmulAccOp) and index == 0:
            value = user.result
        elif isinstance(user, scf.ForOp) and index >= _BOUNDS:
            if not is_carried_sum(user, init_place(user, index)):
                return False
            value = user.results[init_place(user, index)]
        else:
            return False


def carry_sums(op: scf.ForOp, starts: dict[int, Pages], inserter: Inserter) -> CarriedBatches:
    """
    Let a loop carry the sums of batches, which start as given, after all else that it carries. The
    loop itself is done with, and its results that are no batches are replaced; what is yielded
    stays to be split.
    """
    inits = [init for place, init in enumerate(op.iter_args) if place not in starts]
    kept = len(inits)
    block = op.body.block
    batches = {place: block.args[1 + place] for place in starts}
    pages: dict[SSAValue, Pages] = {}
    first: dict[int, int] = {}
    for place, start in starts.items():
        first[place] = len(inits)
        inits += [start.page(each, inserter) for each in start.places]
        arguments: list[SSAValue] = []
        for value in inits[first[place] :]:
            argument = block.insert_arg(value.type, len(block.args))
            argument.name_hint = batches[place].name_hint
            argument.location = batches[place].location
            arguments.append(argument)
        pages[batches[place]] = _of(start.batch, arguments)
    loop = scf.ForOp(op.lb, op.ub, op.step, inits, op.detach_region(op.body))
    loop.attributes |= op.attributes
    inserter.insert(loop)
    others = iter(loop.results[:kept])
    for place, result in enumerate(op.results):
        if place not in starts:
            new = next(others)
            new.name_hint = result.name_hint
            result.replace_all_uses_with(new)
            continue
        batch = starts[place].batch
        made = loop.results[first[place] : first[place] + prod(batch)]
        for each in made:
            each.name_hint = result.name_hint
        pages[result] = _of(batch, made)
    return CarriedBatches(loop, tuple(starts), tuple(batches.values()), pages)


def _of(batch: Sequence[int], values: Sequence[SSAValue]) -> Pages:
    def one(place: Place, inserter: Inserter) -> SSAValue:
        return values[number_of(place, batch)]

    return Pages(batch, one)


def is_carried_on(end: scf.YieldOp, index: int) -> bool:
    """Whether what a region yields is a batch of sums that its loop carries on."""
    loop = end.parent_op()
    return isinstance(loop, scf.ForOp) and is_carried_sum(loop, index)
