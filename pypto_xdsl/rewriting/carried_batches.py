"""
Batches of sums that control flow hands on: loops and branches hand on each sum for itself.

    %s = scf.for %i = ... iter_args(%a = %p) -> (!tile.tile<2x16x32xf32>) {
      %q = tile.batch_matmul_acc %a, %x, %y : ...
      scf.yield %q
    }

    %s0, %s1 = scf.for %i = ... iter_args(%a0 = %p0, %a1 = %p1) -> (!tile.tile<16x32xf32>, ...) {
      ...
    }

The accumulator holds matrices, and a batch of them in no one tile. What all control flow hands on
as one value, or is added to in another block, is one batch of sums (`carried_sums`) if nothing but
products, and sums of products, becomes it; it may start from a tile that nothing was written to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue, Use
from xdsl.utils.disjoint_set import DisjointSet

from pypto_xdsl.analysis.control_flow import forwarding, terminator
from pypto_xdsl.analysis.walk import blocks_inside, walk
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.rewriting.batch_products import Pages, Place, number_of
from pypto_xdsl.rewriting.inserter import Inserter

ControlFlow = scf.ForOp | scf.WhileOp | scf.IfOp
"""What hands values on in a kernel."""
_PRODUCTS = (tile.BatchMatmulOp, tile.BatchMatmulAccOp)


# Which batches.


def carried_sums(kernel: Operation) -> AbstractSet[SSAValue]:
    """
    The batches of sums of a kernel that control flow hands on or is around, under all their names.
    """
    ops = list(walk(kernel))
    blocks = chain.from_iterable(map(blocks_inside, ops))
    values = chain(
        (r for op in ops for r in op.results), (a for block in blocks for a in block.args)
    )
    batches = [value for value in values if _is_batch(value)]
    if not any(isinstance(op, _PRODUCTS) for op in ops):
        return frozenset()
    names = DisjointSet[SSAValue](batches)
    known, handed_on = set(batches), set[SSAValue]()
    for op in ops:
        if isinstance(op, tile.BatchMatmulAccOp) and op.acc in known and op.result in known:
            names.union(op.acc, op.result)
        if isinstance(op, _PRODUCTS) and op.result in known and _is_used_inside(op.result):
            handed_on.add(op.result)
        for step in forwarding(op):
            if step.target in known and step.source in known:
                names.union(step.source, step.target)
                handed_on.add(step.target)
    roots = {names.find(value) for value in handed_on}
    roots &= {names.find(value) for value in batches if _is_product(value)}
    roots -= {names.find(value) for value in batches if not _may_be_sums(value)}
    return {value for value in batches if names.find(value) in roots}


def _is_batch(value: SSAValue) -> bool:
    type = value.type
    return isinstance(type, TileType) and prod(type.get_shape()[:-2]) != 1


def _is_product(value: SSAValue) -> bool:
    return isinstance(value.owner, _PRODUCTS)


def _is_used_inside(value: OpResult) -> bool:
    """Whether a batch is used sum by sum in a block inside the one where it is made."""
    block = value.owner.parent
    return any(is_of_sums(use) and use.operation.parent is not block for use in value.uses)


def _may_be_sums(value: SSAValue) -> bool:
    """Whether what makes a batch makes matrices, or only names them."""
    type = TileType.of(value.type)
    shape, valid = type.get_shape(), type.valid_shape
    if DYNAMIC_INDEX in (*shape, *valid) or shape[:-2] != valid[:-2]:
        return False
    if type.memory_space not in (None, MemorySpace.ACC):
        return False
    owner = value.owner
    if isinstance(owner, Block):
        return isinstance(owner.parent_op(), ControlFlow)
    return isinstance(owner, (*_PRODUCTS, tile.CreateOp, ControlFlow))


def is_of_sums(use: Use) -> bool:
    """Whether a batch of sums is used sum by sum: stored, added to, or handed on."""
    op = use.operation
    match op:
        case tile.BatchMatmulAccOp():
            return use.index == 0
        case tile.StoreOp():
            return op.source is op.operands[use.index]
        case _:
            return isinstance(op, ControlFlow | scf.YieldOp | scf.ConditionOp)


# What control flow becomes.


@dataclass
class CarriedBatches:
    """Control flow that hands on the sums of batches, in the place of one that hands on these."""

    op: ControlFlow
    pages: dict[SSAValue, Pages] = field(default_factory=dict[SSAValue, Pages])
    """The sums of each batch, by its argument or result."""
    arguments: list[BlockArgument] = field(default_factory=list[BlockArgument])
    """The batches inside, to be erased once nothing uses them."""
    ends: dict[Operation, Sequence[int]] = field(default_factory=dict[Operation, Sequence[int]])
    """Which operands of what ends the regions are batches, to be split."""


def carry_sums(
    op: ControlFlow,
    sums: AbstractSet[SSAValue],
    pages: Mapping[SSAValue, Pages],
    inserter: Inserter,
) -> CarriedBatches | None:
    """
    Let control flow hand on the sums of batches, after all else that it does; None if it hands on
    no batch. `op` itself is done with, and its results that are no batches are replaced; `pages`
    has the sums that it starts from.
    """
    if not any(value in sums for value in _handed_on(op)):
        return None
    ends: dict[Operation, Sequence[int]] = {
        end: _places(end.operands, sums) for end in map(terminator, _regions(op))
    }
    match op:
        case scf.ForOp():
            body = op.detach_region(op.body)
            inits = split(op.iter_args, _places(op.iter_args, sums), pages, inserter)
            new: ControlFlow = scf.ForOp(op.lb, op.ub, op.step, inits, body)
        case scf.WhileOp():
            inits = split(op.arguments, _places(op.arguments, sums), pages, inserter)
            types = _split_types(op.results, sums)
            before, after = (op.detach_region(region) for region in op.regions)
            new = scf.WhileOp(inits, types, before, after)
        case scf.IfOp():
            types = _split_types(op.results, sums)
            true, false = (op.detach_region(region) for region in op.regions)
            new = scf.IfOp(op.cond, types, true, false)
    carried = CarriedBatches(new, ends=ends)
    for region in _regions(new):
        _split_arguments(region.block, sums, carried)
    new.attributes |= op.attributes
    inserter.put(new)
    _split_results(op, sums, carried)
    return carried


def split(
    values: Sequence[SSAValue],
    places: Sequence[int],
    pages: Mapping[SSAValue, Pages],
    inserter: Inserter,
) -> list[SSAValue]:
    """Values without those at some places, whose pages follow at the end."""
    batches = frozenset(places)
    found = [value for place, value in enumerate(values) if place not in batches]
    for place in places:
        batch = pages[values[place]]
        found += [batch.page(each, inserter) for each in batch.places]
    return found


def page_type(batch: TileType) -> TileType:
    """The type of a matrix of a batch."""
    return TileType(
        batch.get_shape()[-2:],
        batch.element_type,
        batch.memory_space,
        valid=batch.valid_shape[-2:],
        layout=batch.layout,
    )


def _regions(op: ControlFlow) -> list[Region]:
    return [region for region in op.regions if region.first_block is not None]


def _handed_on(op: ControlFlow) -> list[SSAValue]:
    arguments = [a for region in _regions(op) for a in region.block.args]
    return [*op.results, *arguments]


def _places(values: Sequence[SSAValue], sums: AbstractSet[SSAValue]) -> list[int]:
    return [place for place, value in enumerate(values) if value in sums]


def _split_types(values: Sequence[SSAValue], sums: AbstractSet[SSAValue]) -> list[Attribute]:
    types: list[Attribute] = [value.type for value in values if value not in sums]
    for value in values:
        if value in sums:
            types += _page_types(value)
    return types


def _page_types(value: SSAValue) -> list[Attribute]:
    batch = TileType.of(value.type)
    return [page_type(batch)] * prod(batch.get_shape()[:-2])


def _split_arguments(block: Block, sums: AbstractSet[SSAValue], carried: CarriedBatches) -> None:
    for argument in tuple(block.args):
        if argument not in sums:
            continue
        made: list[SSAValue] = []
        for type in _page_types(argument):
            page = block.insert_arg(type, len(block.args))
            page.name_hint = argument.name_hint
            page.location = argument.location
            made.append(page)
        carried.pages[argument] = _of(argument, made)
        carried.arguments.append(argument)


def _split_results(op: ControlFlow, sums: AbstractSet[SSAValue], carried: CarriedBatches) -> None:
    batches: list[OpResult] = []
    made = iter(carried.op.results)
    for result in op.results:
        if result in sums:
            batches.append(result)
            continue
        new = next(made)
        new.name_hint = result.name_hint
        result.replace_all_uses_with(new)
    for batch in batches:
        pages = [next(made) for _ in _page_types(batch)]
        for page in pages:
            page.name_hint = batch.name_hint
        carried.pages[batch] = _of(batch, pages)


def _of(batch: SSAValue, values: Sequence[SSAValue]) -> Pages:
    extents = TileType.of(batch.type).get_shape()[:-2]

    def one(place: Place, inserter: Inserter) -> SSAValue:
        return values[number_of(place, extents)]

    return Pages(extents, one)
