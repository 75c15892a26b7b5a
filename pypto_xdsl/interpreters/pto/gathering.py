"""
How elements are picked and placed within the memory of a core: by index, by mask, in blocks, or
where a comparison holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.ptensor.attributes import CompareMode
from pypto_xdsl.dialects.pto.enumerations import MaskPattern
from pypto_xdsl.dialects.pto.gather_scatter import MASK_FIRST, MASK_STRIDE
from pypto_xdsl.interpreters.elements import Array, Mask, number_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.gathering import BLOCK, expect_whole_blocks
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.pto.memory import LocalTile
from pypto_xdsl.interpreters.pto.operands import named
from pypto_xdsl.interpreters.selection import COMPARISONS, compacted_columns


def _read(
    interpreter: Interpreter, op: Any, tile: LocalTile, region: tuple[int, int] | None = None
) -> Array:
    """Elements of a tile; they must be defined."""
    stored, defined = tile.read(region)
    machine_of(interpreter).require_defined(op, defined)
    return stored


def _expect_flat(tile: LocalTile) -> None:
    """Places count elements in the order of their addresses, which must be that of the rows."""
    if tile.type.is_boxed:
        raise ProgramError(f"counts the elements of {tile.type}, which lie in boxes")


def _masked(op: Any, extent: int) -> tuple[slice, int]:
    """Which places along the axis a mask keeps of so many, and the axis."""
    mask: Any = op.properties["maskPattern"]
    axis: Any = op.properties.get("axis")
    along = 0 if axis is not None and axis.data == "col" else 1
    return slice(MASK_FIRST[mask.data], extent, MASK_STRIDE[mask.data]), along


@register_impls
class PtoGatherFunctions(InterpreterFunctions):
    @impl(pto.TGatherOp)
    def run_tgather(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        if op.is_mask:
            _gather_mask(op, operands)
        elif op.is_compare:
            _gather_compare(interpreter, op, operands)
        else:
            _gather_index(interpreter, op, operands)
        return ()

    @impl(pto.TGatherBOp)
    def run_tgatherb(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        _expect_flat(source)
        rows, columns = destination.valid
        size = destination.element.storage.itemsize
        each = BLOCK // size
        # What is left of a row that ends within a block is not written.
        blocks = columns // each
        offsets = _read(interpreter, op, operands["offsets"], (rows, blocks)).astype(np.int64)
        expect_whole_blocks(offsets)
        own = source.element.storage.itemsize
        # In elements of the source: the two widths may differ.
        places = (offsets[..., None] // own + np.arange(BLOCK // own)).reshape(rows, -1)
        taken, defined = source.take(places)
        octets = np.ascontiguousarray(taken).view(np.uint8).reshape(rows, -1)
        mask = None
        if defined is not None:
            by_block = defined.reshape(rows, blocks, -1).all(axis=-1)
            mask = np.repeat(by_block, each, axis=-1)
        destination.write(octets.view(destination.element.storage), mask)
        return ()

    @impl(pto.TScatterOp)
    def run_tscatter(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        if "indexes" not in operands:
            _scatter_mask(op, source, destination)
            return ()
        values = _read(interpreter, op, source)
        places = _read(interpreter, op, operands["indexes"], source.valid).astype(np.int64)
        _expect_flat(destination)
        _clear(destination)
        destination.put(places, values)
        return ()


def _gather_mask(op: Any, operands: dict[str, Any]) -> None:
    source: LocalTile = operands["src"]
    stored, defined = source.read()
    kept, axis = _masked(op, stored.shape[1 if _is_along_rows(op) else 0])
    window = (slice(None), kept) if axis == 1 else (kept, slice(None))
    destination: LocalTile = operands["dst"]
    # Bits are moved, whatever type they have on either side.
    bits = np.ascontiguousarray(stored[window]).view(destination.element.storage)
    destination.write(bits, None if defined is None else defined[window])


def _is_along_rows(op: Any) -> bool:
    axis: Any = op.properties.get("axis")
    return axis is None or axis.data == "row"


def _clear(tile: LocalTile) -> None:
    """What a scatter begins with: all of the tile is 0, valid or not."""
    tile.write(np.zeros(tile.type.get_shape(), tile.element.storage))


def _scatter_mask(op: Any, source: LocalTile, destination: LocalTile) -> None:
    stored, defined = source.read()
    mask: Any = op.properties["maskPattern"]
    if mask.data is MaskPattern.P1111:
        destination.write(stored, defined)
        return
    rows, columns = destination.valid
    kept, axis = _masked(op, columns if _is_along_rows(op) else rows)
    window = (slice(None), kept) if axis == 1 else (kept, slice(None))
    places = destination.places((rows, columns))[window]
    if places.shape != stored.shape:
        raise ProgramError(
            f"places {list(stored.shape)} elements where the mask keeps {list(places.shape)}"
        )
    if defined is not None:
        raise ProgramError("scatters elements that nobody wrote")
    _clear(destination)
    destination.put(places, stored)


def _gather_compare(interpreter: Interpreter, op: Any, operands: dict[str, Any]) -> None:
    source: LocalTile = operands["src"]
    element = source.element
    stored = _read(interpreter, op, source)
    mode = op.properties.get("cmpMode")
    comparison = CompareMode.EQ if mode is None else CompareMode(mode.data.value)
    threshold = element.number(number_of(operands["k_value"]))
    chosen = np.asarray(COMPARISONS[comparison](element.widen(stored), threshold))
    offset = op.properties.get("offset")
    operands["tmp"].spoil()
    places: LocalTile = operands["dst"]
    counted: LocalTile = operands["cdst"]
    indices, written, counts = compacted_columns(
        chosen, places.valid[1], 0 if offset is None else offset.value.data
    )
    places.write(np.asarray(places.element.narrow(indices)), written)
    counted.write(np.asarray(counted.element.narrow(counts[None, :])))


def _gather_index(interpreter: Interpreter, op: Any, operands: dict[str, Any]) -> None:
    """Indices count the elements of the source in the order of their addresses."""
    source: LocalTile = operands["src"]
    destination: LocalTile = operands["dst"]
    _expect_flat(source)
    places = _read(interpreter, op, operands["indices"], destination.valid).astype(np.int64)
    taken, known = source.take(places)
    operands["tmp"].spoil()
    destination.write(taken, _full(known, taken))


def _full(known: Mask | None, taken: Array) -> Mask | None:
    return None if known is None else known.reshape(taken.shape)
