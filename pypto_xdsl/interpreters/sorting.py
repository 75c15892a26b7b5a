"""
Sorting into and merging of lists of pairs. A pair is eight bytes: the value, then its index in the
last four; between them are zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.ptensor.sort import PAIR_BYTES, SORTED_BLOCK
from pypto_xdsl.interpreters.blocks import make_block, read_defined
from pypto_xdsl.interpreters.elements import Array, Element, number_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.values import Block


def pairs_of(element: Element, values: Array, indices: Array) -> Array:
    """Pairs as elements of the values' type, side by side in the last dimension."""
    octets = np.zeros((*values.shape, PAIR_BYTES), np.uint8)
    value_bytes = np.ascontiguousarray(values).view(np.uint8)
    octets[..., : element.storage.itemsize] = value_bytes.reshape(*values.shape, -1)
    index_bytes = np.ascontiguousarray(indices.astype(np.uint32)).view(np.uint8)
    octets[..., 4:] = index_bytes.reshape(*indices.shape, 4)
    flat = octets.reshape(*values.shape[:-1], -1)
    return np.ascontiguousarray(flat).view(element.storage)


def pair_values(element: Element, pairs: Array) -> Array:
    """The values of pairs, one a pair, to compare."""
    return element.widen(pairs[..., :: PAIR_BYTES // element.storage.itemsize])


def descending(values: Array) -> Array:
    """In which order values go from the largest to the smallest, equal ones as they stand."""
    return np.argsort(-values.astype(np.float64), axis=-1, kind="stable")


def reordered(element: Element, pairs: Array, order: Array) -> Array:
    """Pairs in another order, along the last dimension."""
    width = PAIR_BYTES // element.storage.itemsize
    grouped = pairs.reshape(*pairs.shape[:-1], -1, width)
    return np.take_along_axis(grouped, order[..., None], -2).reshape(pairs.shape)


def sorted_blocks(element: Element, values: Array, labels: Array) -> Array:
    """
    Each 32 elements along the last dimension as pairs, from the largest value to the smallest;
    of equal ones, that of the smaller index first.
    """
    columns = values.shape[-1]
    parts: list[Array] = []
    for start in range(0, columns, SORTED_BLOCK):
        block = (..., slice(start, min(start + SORTED_BLOCK, columns)))
        keys = -element.widen(values[block]).astype(np.float64)
        order = np.lexsort((labels[block].astype(np.int64), keys), axis=-1)
        parts.append(
            pairs_of(
                element,
                np.take_along_axis(values[block], order, -1),
                np.take_along_axis(labels[block], order, -1),
            )
        )
    empty = np.zeros((*values.shape[:-1], 0), element.storage)
    return np.concatenate([empty, *parts], -1)


def _sort32(
    interpreter: Interpreter, op: tile.Sort32Op | ptensor.Sort32Op, args: PythonValues
) -> PythonValues:
    source: Block = args[0]
    indices: Block = args[1]
    values = read_defined(interpreter, op, source)
    labels = indices.element.widen(read_defined(interpreter, op, indices))
    if labels.shape != values.shape:
        labels = np.broadcast_to(labels, values.shape)
    pairs = sorted_blocks(source.element, values, labels)
    width = PAIR_BYTES // source.element.storage.itemsize
    shape = (*source.shape[:-1], source.shape[-1] * width)
    return (make_block(interpreter, op, pairs, None, shape, pairs.shape),)


def _merge_groups(
    interpreter: Interpreter,
    op: tile.MrgsortFormat1Op | ptensor.MrgsortFormat1Op,
    args: PythonValues,
) -> PythonValues:
    source: Block = args[0]
    group = 4 * int(number_of(args[1]))
    pairs = read_defined(interpreter, op, source)
    element = source.element
    if group <= 0 or pairs.shape[-1] % group:
        raise ProgramError(f"{pairs.shape[-1]} columns are no whole number of groups of {group}")
    grouped = pairs.reshape(*pairs.shape[:-1], -1, group)
    order = descending(pair_values(element, grouped))
    merged = reordered(element, grouped, order).reshape(pairs.shape)
    return (make_block(interpreter, op, merged, None, source.shape, pairs.shape),)


def _merge_lists(
    interpreter: Interpreter,
    op: tile.MrgsortFormat2Op | ptensor.MrgsortFormat2Op,
    lists: Sequence[Block],
    shape: tuple[int, ...],
) -> PythonValues:
    element = lists[0].element
    stored = [read_defined(interpreter, op, block) for block in lists]
    pairs = np.concatenate(stored, -1)
    values = pair_values(element, pairs)
    order = descending(values)
    merged = reordered(element, pairs, order)
    width = PAIR_BYTES // element.storage.itemsize
    if op.exhausted.value.data:
        merged = merged[..., : width * until_exhausted(stored, order, width)]
    if merged.shape[-1] > shape[-1]:
        raise ProgramError(f"{merged.shape[-1]} columns do not fit in {list(shape)}")
    region = (*shape[:-1], merged.shape[-1])
    block = make_block(interpreter, op, merged, None, shape, region)
    if isinstance(op, tile.MrgsortFormat2Op):
        # All of the tile counts as valid; what was not merged is undefined.
        return (tile_as_wide(block, shape),)
    return (block,)


def tile_as_wide(block: Block, shape: tuple[int, ...]) -> Block:
    """The same elements, the whole shape valid."""
    from pypto_xdsl.interpreters.values import Tile

    assert isinstance(block, Tile)
    return Tile(block.array, block.element, shape, block.defined)


def until_exhausted(lists: Sequence[Array], order: Array, width: int) -> int:
    """After how many pairs the first list is used up, in the row where that is first."""
    ends = np.cumsum([stored.shape[-1] // width for stored in lists])
    counts: list[int] = []
    for row in order.reshape(-1, order.shape[-1]):
        places = [int(np.flatnonzero(row == end - 1)[0]) + 1 for end in ends if end]
        counts.append(min(places))
    return min(counts, default=0)


@register_impls
class SortFunctions(InterpreterFunctions):
    @impl(tile.Sort32Op)
    def run_tile_sort32(
        self, interpreter: Interpreter, op: tile.Sort32Op, args: PythonValues
    ) -> PythonValues:
        return _sort32(interpreter, op, args)

    @impl(ptensor.Sort32Op)
    def run_tensor_sort32(
        self, interpreter: Interpreter, op: ptensor.Sort32Op, args: PythonValues
    ) -> PythonValues:
        return _sort32(interpreter, op, args)

    @impl(tile.MrgsortFormat1Op)
    def run_tile_format1(
        self, interpreter: Interpreter, op: tile.MrgsortFormat1Op, args: PythonValues
    ) -> PythonValues:
        return _merge_groups(interpreter, op, args)

    @impl(ptensor.MrgsortFormat1Op)
    def run_tensor_format1(
        self, interpreter: Interpreter, op: ptensor.MrgsortFormat1Op, args: PythonValues
    ) -> PythonValues:
        return _merge_groups(interpreter, op, args)

    @impl(tile.MrgsortFormat2Op)
    def run_tile_format2(
        self, interpreter: Interpreter, op: tile.MrgsortFormat2Op, args: PythonValues
    ) -> PythonValues:
        first, second, tmp, *more = args
        return _merge_lists(interpreter, op, [first, second, *more], tmp.shape)

    @impl(ptensor.MrgsortFormat2Op)
    def run_tensor_format2(
        self, interpreter: Interpreter, op: ptensor.MrgsortFormat2Op, args: PythonValues
    ) -> PythonValues:
        columns = sum(block.shape[-1] for block in args)
        return _merge_lists(interpreter, op, args, (*args[0].shape[:-1], columns))
