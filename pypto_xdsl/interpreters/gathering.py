"""Elements collected and spread by index or by mask, of tiles and of tensors."""

from __future__ import annotations

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.ptensor.attributes import MaskPattern
from pypto_xdsl.dialects.ptensor.gather import normalized_axis
from pypto_xdsl.dialects.tile.attributes import Coalesce
from pypto_xdsl.interpreters.blocks import (
    both,
    full_mask,
    make_block,
    read_defined,
    read_valid,
)
from pypto_xdsl.interpreters.elements import Array, Mask
from pypto_xdsl.interpreters.elementwise import result_element
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import take_indices
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.values import Block, Tensor, Tile, leading, window_at

BLOCK = 32
"""Bytes that are gathered as one."""


def numbers(interpreter: Interpreter, op: Operation, block: Block) -> Array:
    """The valid elements of a block of integers, as indices."""
    return block.element.widen(read_defined(interpreter, op, block)).astype(np.int64)


def taken(block: Block, places: Array) -> tuple[Array, Mask | None]:
    """
    The elements of a block at flat places, counted row by row over its physical shape; one outside
    is undefined.
    """
    size = block.array.size
    inside = (places >= 0) & (places < size)
    stored, mask = block.read()
    flat = np.ascontiguousarray(stored).reshape(-1)
    safe = np.where(inside, places, 0)
    values = flat[safe] if size else np.zeros(places.shape, flat.dtype)
    defined = None if inside.all() else inside
    if mask is not None:
        defined = both(defined, mask.reshape(-1)[safe])
    return values, defined


def scattered(
    interpreter: Interpreter, op: Operation, flat: Array, places: Array, values: Array
) -> None:
    """`flat[places] = values` in order, so that the last of equal places wins."""
    if ((places < 0) | (places >= flat.size)).any():
        wrong = places[(places < 0) | (places >= flat.size)].flat[0]
        raise ProgramError(f"index {int(wrong)} lies outside {flat.size} elements")
    flat[places.reshape(-1)] = values.reshape(-1)


def expect_whole_blocks(starts: Array) -> None:
    """Raise unless blocks that are gathered begin where blocks of the memory do."""
    if (starts % BLOCK).any():
        wrong = int(starts[starts % BLOCK != 0].flat[0])
        raise ProgramError(f"gathers from byte {wrong}, which is no multiple of {BLOCK}")


def unsigned(indices: Array) -> Array:
    """Indices of 32 bits as they count in global memory: -1 is the largest of all."""
    return indices.astype(np.uint32).astype(np.int64)


def bounded(places: Array, count: int, policy: str, what: str) -> tuple[Array, Mask]:
    """
    The indices into so many rows or elements that are used instead of these, and which are used at
    all. Raises `ProgramError` for one out of bounds, unless the policy (`clamp`, `wrap`, `zero`,
    `skip`) says what becomes of it; `undefined` is none.
    """
    inside = places < count
    match policy:
        case "clamp":
            return np.minimum(places, count - 1), np.ones(places.shape, np.bool_)
        case "wrap":
            return places % count, np.ones(places.shape, np.bool_)
        case "zero" | "skip":
            return np.where(inside, places, 0), inside
        case _:
            pass
    if not inside.all():
        wrong = int(places[~inside].flat[0])
        signed = wrong - (1 << 32) if wrong >= 1 << 31 else wrong
        raise ProgramError(f"has index {signed}, in a tensor of {count} {what}")
    return places, inside


def _selected(pattern: MaskPattern, columns: int) -> slice:
    return slice(pattern.first, columns, pattern.stride)


def _gather_mask(
    interpreter: Interpreter,
    op: tile.GatherMaskOp | ptensor.GatherMaskOp,
    args: PythonValues,
) -> PythonValues:
    source: Block = args[0]
    pattern = op.mask_pattern.data
    stored, mask = read_valid(source)
    chosen = (..., _selected(pattern, stored.shape[-1]))
    element = result_element(op)
    values = np.ascontiguousarray(stored[chosen]).view(element.storage)
    shape = (*source.shape[:-1], source.shape[-1] // pattern.stride)
    return (
        make_block(
            interpreter, op, values, None if mask is None else mask[chosen], shape, values.shape
        ),
    )


def _row_window(
    interpreter: Interpreter, op: tile.GatherRowOp | ptensor.GatherRowOp, args: PythonValues
) -> tuple[Block, tuple[slice, ...], Array, Mask | None]:
    """The destination of `gather_row`, where in it the window goes, and the window."""
    destination: Block = args[0]
    to, rest = take_indices(op.static_destination_offsets, args[1:])
    source: Tensor = rest[0]  # pyright: ignore[reportAssignmentType]
    origin, rest = take_indices(op.static_source_offsets, rest[1:])
    sizes, rest = take_indices(op.static_sizes, rest)
    valid, _ = take_indices(op.static_valid, rest)
    extents = valid or sizes
    if any(inner > outer for inner, outer in zip(extents, sizes, strict=True)):
        raise ProgramError(f"loads {list(extents)} of a window of {list(sizes)}")
    stored, mask = source.read(window_at("the tensor", origin, extents, source.shape))
    if op.transpose.value.data:
        stored = np.swapaxes(stored, -1, -2)
        mask = None if mask is None else np.swapaxes(mask, -1, -2)
    window = window_at("the destination", to, stored.shape, destination.shape)
    return destination, window, stored, mask


def _replaced(
    interpreter: Interpreter,
    op: Operation,
    block: Block,
    array: Array,
    mask: Mask | None,
) -> Block:
    """A block like another one with other elements, given for its whole physical shape."""
    if isinstance(block, Tile):
        defined = block.shape if mask is None or mask.all() else mask
        return Tile(array, block.element, block.valid, defined)
    result = machine_of(interpreter).new_tensor(array, block.element, mask)
    result.valid = block.valid
    return result


def _copy(block: Block) -> tuple[Array, Mask]:
    stored, mask = block.read()
    return stored.copy(), full_mask(mask, block.shape).copy()


@register_impls
class GatherFunctions(InterpreterFunctions):
    @impl(tile.GatherOp)
    def run_tile_gather(
        self, interpreter: Interpreter, op: tile.GatherOp, args: PythonValues
    ) -> PythonValues:
        indices: Tile = args[1]
        values, mask = taken(args[0], numbers(interpreter, op, indices))
        return (make_block(interpreter, op, values, mask, indices.shape, indices.valid),)

    @impl(ptensor.GatherOp)
    def run_tensor_gather(
        self, interpreter: Interpreter, op: ptensor.GatherOp, args: PythonValues
    ) -> PythonValues:
        source, index = args
        axis = normalized_axis(op.dim, len(source.shape))
        places = numbers(interpreter, op, index)
        extent = source.shape[axis]
        if ((places < 0) | (places >= extent)).any():
            raise ProgramError(f"gathers outside an extent of {extent}")
        window = list(leading(places.shape))
        window[axis] = slice(None)
        stored, mask = source.read(tuple(window))
        values = np.take_along_axis(stored, places, axis)
        defined = None if mask is None else np.take_along_axis(mask, places, axis)
        return (make_block(interpreter, op, values, defined, index.shape, places.shape),)

    @impl(tile.GatherMaskOp)
    def run_tile_gather_mask(
        self, interpreter: Interpreter, op: tile.GatherMaskOp, args: PythonValues
    ) -> PythonValues:
        return _gather_mask(interpreter, op, args)

    @impl(ptensor.GatherMaskOp)
    def run_tensor_gather_mask(
        self, interpreter: Interpreter, op: ptensor.GatherMaskOp, args: PythonValues
    ) -> PythonValues:
        return _gather_mask(interpreter, op, args)

    @impl(tile.GatherbOp)
    def run_gatherb(
        self, interpreter: Interpreter, op: tile.GatherbOp, args: PythonValues
    ) -> PythonValues:
        source, offsets = args
        element = result_element(op)
        starts = numbers(interpreter, op, offsets)
        expect_whole_blocks(starts)
        places = (starts[..., None] + np.arange(BLOCK)).reshape(*starts.shape[:-1], -1)
        stored, mask = source.read()
        octets = np.ascontiguousarray(stored).view(np.uint8).reshape(-1)
        if ((places < 0) | (places >= octets.size)).any():
            raise ProgramError(f"a block lies outside the {octets.size} bytes of the source")
        values = np.ascontiguousarray(octets[places]).view(element.storage)
        defined: Mask | None = None
        if mask is not None:
            known = np.repeat(mask.reshape(-1), stored.itemsize)[places]
            octets_of = known.reshape(*values.shape, element.storage.itemsize)
            defined = np.asarray(np.all(octets_of, axis=-1))
        scale = BLOCK // element.storage.itemsize
        shape = (*offsets.shape[:-1], offsets.shape[-1] * scale)
        return (make_block(interpreter, op, values, defined, shape, values.shape),)

    @impl(tile.GatherRowOp)
    def run_tile_gather_row(
        self, interpreter: Interpreter, op: tile.GatherRowOp, args: PythonValues
    ) -> PythonValues:
        return self._gather_row(interpreter, op, args)

    @impl(ptensor.GatherRowOp)
    def run_tensor_gather_row(
        self, interpreter: Interpreter, op: ptensor.GatherRowOp, args: PythonValues
    ) -> PythonValues:
        return self._gather_row(interpreter, op, args)

    def _gather_row(
        self,
        interpreter: Interpreter,
        op: tile.GatherRowOp | ptensor.GatherRowOp,
        args: PythonValues,
    ) -> PythonValues:
        block, window, stored, mask = _row_window(interpreter, op, args)
        array, defined = _copy(block)
        array[window] = stored
        defined[window] = full_mask(mask, stored.shape)
        return (_replaced(interpreter, op, block, array, defined),)

    @impl(ptensor.PagedGatherOp)
    def run_paged_gather(
        self, interpreter: Interpreter, op: ptensor.PagedGatherOp, args: PythonValues
    ) -> PythonValues:
        source, indices, table = args
        chosen = numbers(interpreter, op, indices).reshape(-1)
        pages = numbers(interpreter, op, table).reshape(-1)
        rows, size = op.max_indices.value.data, op.size.value.data
        page, offset = op.block_size.value.data, op.col_off.value.data
        chosen = chosen[:rows]
        if ((chosen < 0) | (chosen // page >= pages.size)).any():
            raise ProgramError(f"an index lies outside the {pages.size} pages of {page} rows")
        places = pages[chosen // page] * page + chosen % page
        if ((places < 0) | (places >= source.shape[0])).any():
            raise ProgramError(f"a page lies outside the {source.shape[0]} rows of the source")
        stored, mask = source.read((slice(None), slice(offset, offset + size)))
        values = stored[places]
        defined = None if mask is None else mask[places]
        shape, region = (rows, size), values.shape
        if op.is_trans.value.data:
            values, shape, region = values.T, (size, rows), (size, len(chosen))
            defined = None if defined is None else defined.T
        return (make_block(interpreter, op, values, defined, shape, region),)

    @impl(tile.MgatherOp)
    def run_mgather(
        self, interpreter: Interpreter, op: tile.MgatherOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        indices: Block = args[1]
        by_row = op.coalesce.data is Coalesce.ROW
        extent = int(np.prod(source.shape[:-1])) if by_row else source.array.size
        found = unsigned(numbers(interpreter, op, indices))
        places, used = bounded(
            found, extent, op.gather_oob.data.value, "rows" if by_row else "elements"
        )
        stored, mask = source.read()
        type = tile.TileType.of(op.result.type)
        if by_row:
            places, used = places.reshape(-1), used.reshape(-1, 1)
            table = stored.reshape(extent, -1)
            values = table[places]
            defined = None if mask is None else mask.reshape(table.shape)[places]
        else:
            values = np.ascontiguousarray(stored).reshape(-1)[places]
            defined = None if mask is None else mask.reshape(-1)[places]
        if not used.all():
            used = np.broadcast_to(used, values.shape)
            values = np.where(used, values, np.zeros((), values.dtype))
            defined = None if defined is None else defined | ~used
        if isinstance(indices, Tensor) and op.scratch is not None:
            # What is left there means nothing.
            scratch: Tensor = args[2]
            poison = scratch.element.poison(scratch.shape)
            scratch.write((), poison, np.zeros(scratch.shape, np.bool_))
        return (make_block(interpreter, op, values, defined, type.get_shape(), values.shape),)


@register_impls
class ScatterFunctions(InterpreterFunctions):
    @impl(tile.ScatterOp)
    def run_tile_scatter(
        self, interpreter: Interpreter, op: tile.ScatterOp, args: PythonValues
    ) -> PythonValues:
        destination, source, indices = args
        places = numbers(interpreter, op, indices)
        stored, mask = source.read(leading(indices.valid))
        # The hardware clears the destination first.
        array = np.zeros_like(destination.array)
        scattered(interpreter, op, array.reshape(-1), places, stored)
        defined = None
        if mask is not None:
            defined = np.ones(array.shape, np.bool_)
            scattered(interpreter, op, defined.reshape(-1), places, mask)
        return (_replaced(interpreter, op, destination, array, defined),)

    @impl(tile.ScatterMaskOp)
    def run_tile_scatter_mask(
        self, interpreter: Interpreter, op: tile.ScatterMaskOp, args: PythonValues
    ) -> PythonValues:
        destination, source = args
        pattern = op.mask_pattern.data
        stored, mask = source.read()
        array = np.zeros_like(destination.array)
        defined = np.ones(array.shape, np.bool_)
        chosen = (..., _selected(pattern, array.shape[-1]))
        array[chosen] = stored
        defined[chosen] = full_mask(mask, stored.shape)
        return (_replaced(interpreter, op, destination, array, defined),)

    @impl(ptensor.ScatterMaskOp)
    def run_tensor_scatter_mask(
        self, interpreter: Interpreter, op: ptensor.ScatterMaskOp, args: PythonValues
    ) -> PythonValues:
        source, destination = args
        pattern = op.mask_pattern.data
        stored, mask = source.read()
        array, defined = _copy(destination)
        chosen = (..., _selected(pattern, array.shape[-1]))
        array[chosen] = stored
        defined[chosen] = full_mask(mask, stored.shape)
        return (_replaced(interpreter, op, destination, array, defined),)

    @impl(tile.ScatterUpdateOp)
    def run_tile_scatter_update(
        self, interpreter: Interpreter, op: tile.ScatterUpdateOp, args: PythonValues
    ) -> PythonValues:
        destination, indices, source = args
        return (_updated_rows(interpreter, op, destination, indices, source),)

    @impl(ptensor.ScatterUpdateOp)
    def run_tensor_scatter_update(
        self, interpreter: Interpreter, op: ptensor.ScatterUpdateOp, args: PythonValues
    ) -> PythonValues:
        destination, indices, source = args
        return (_updated_rows(interpreter, op, destination, indices, source),)

    @impl(ptensor.ScatterOp)
    def run_tensor_scatter(
        self, interpreter: Interpreter, op: ptensor.ScatterOp, args: PythonValues
    ) -> PythonValues:
        destination: Tensor = args[0]
        index: Tensor = args[1]
        source: Tensor = args[2]
        columns = numbers(interpreter, op, index)
        stored, mask = source.read(leading(columns.shape))
        array, defined = _copy(destination)
        width = array.shape[-1]
        if ((columns < 0) | (columns >= width)).any():
            raise ProgramError(f"scatters outside {width} columns")
        rows: Array = np.arange(len(columns), dtype=np.int64)[:, None]
        flat = rows * width + columns
        scattered(interpreter, op, array.reshape(-1), flat, stored)
        known = full_mask(mask, stored.shape)
        scattered(interpreter, op, defined.reshape(-1), flat, known)
        return (_replaced(interpreter, op, destination, array, defined),)

    @impl(tile.MscatterOp)
    def run_mscatter(
        self, interpreter: Interpreter, op: tile.MscatterOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        indices: Tile = args[1]
        destination: Tensor = args[2]
        found = unsigned(numbers(interpreter, op, indices).reshape(-1))
        stored, mask = source.read(leading(indices.valid))
        machine_of(interpreter).require_defined(op, mask, "stores undefined elements")
        places, _ = bounded(found, destination.array.size, "undefined", "elements")
        destination.write_elements(
            np.unravel_index(places, destination.shape),
            stored.reshape(-1),
            None if mask is None else mask.reshape(-1),
        )
        return (destination,)


def _updated_rows(
    interpreter: Interpreter, op: Operation, destination: Block, indices: Block, source: Block
) -> Block:
    rows = numbers(interpreter, op, indices).reshape(-1)
    stored, mask = source.read()
    array, defined = _copy(destination)
    table = array.reshape(-1, array.shape[-1])
    given = stored.reshape(-1, array.shape[-1])
    known = full_mask(mask, stored.shape).reshape(given.shape)
    if len(rows) > len(given):
        raise ProgramError(f"{len(rows)} indices for {len(given)} rows")
    if ((rows < 0) | (rows >= len(table))).any():
        raise ProgramError(f"updates a row outside the {len(table)} of the destination")
    table[rows] = given[: len(rows)]
    defined.reshape(table.shape)[rows] = known[: len(rows)]
    return _replaced(interpreter, op, destination, array, defined)
