"""Windows of tiles, transposes, other elements in the same bytes."""

from __future__ import annotations

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import tile
from pypto_xdsl.interpreters.elements import Array, Mask
from pypto_xdsl.interpreters.elementwise import result_element
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import given, known, take_indices
from pypto_xdsl.interpreters.values import Tile, Window, window_at


def _part(source: Tile, window: Window, valid: tuple[int, ...] | None, offsets: tuple[int, ...]):
    """A window of a tile as a tile; its valid region, if not given, is the source's part in it."""
    array = source.array[window]
    mask = source.defined_mask(window)
    if valid is None:
        valid = tuple(
            max(0, min(extent, inner - offset))
            for extent, inner, offset in zip(array.shape, source.valid, offsets, strict=True)
        )
    return Tile(array, source.element, valid, array.shape if mask is None else mask)


def _swapped(source: Tile, axis1: int, axis2: int) -> Tile:
    order = list(range(len(source.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    defined = (
        tuple(source.defined[axis] for axis in order)
        if isinstance(source.defined, tuple)
        else source.defined.transpose(order)
    )
    valid = tuple(source.valid[axis] for axis in order)
    array = np.ascontiguousarray(source.array.transpose(order))
    return Tile(array, source.element, valid, defined)


@register_impls
class TileRearrangementFunctions(InterpreterFunctions):
    @impl(tile.SliceOp)
    def run_slice(
        self, interpreter: Interpreter, op: tile.SliceOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        type = tile.TileType.of(op.result.type)
        offsets, rest = take_indices(op.static_offsets, args[1:])
        listed, _ = take_indices(op.static_valid, rest)
        shape = given(type.get_shape(), listed)
        valid = given(type.valid_shape, listed)
        window = window_at("the tile", offsets, shape, source.shape)
        return (_part(source, window, valid if known(valid) else None, offsets),)

    @impl(tile.ExtractOp)
    def run_extract(
        self, interpreter: Interpreter, op: tile.ExtractOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        type = tile.TileType.of(op.result.type)
        offsets, _ = take_indices(op.static_offsets, args[1:])
        window = window_at("the tile", offsets, type.get_shape(), source.shape)
        valid = type.valid_shape
        part = _part(source, window, valid if known(valid) else None, offsets)
        element = result_element(op)
        if element is source.element:
            return (part,)
        array = element.narrow(element.compute_from(part.array, source.element))
        return (Tile(array, element, part.valid, part.defined),)

    @impl(tile.AssembleOp)
    def run_assemble(
        self, interpreter: Interpreter, op: tile.AssembleOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        destination: Tile = args[1]
        offsets, _ = take_indices(op.static_offsets, args[2:])
        window = window_at("the destination", offsets, source.shape, destination.shape)
        element = destination.element
        array = destination.array.copy()
        stored = source.array
        if source.element is not element:
            stored = element.narrow(element.compute_from(stored, source.element))
        array[window] = stored
        defined = destination.full_mask().copy()
        defined[window] = source.full_mask()
        type = tile.TileType.of(op.result.type)
        valid = type.valid_shape if known(type.valid_shape) else destination.valid
        return (Tile(array, element, valid, array.shape if defined.all() else defined),)

    @impl(tile.TransposeOp)
    def run_transpose(
        self, interpreter: Interpreter, op: tile.TransposeOp, args: PythonValues
    ) -> PythonValues:
        return (_swapped(args[0], op.axis1.value.data, op.axis2.value.data),)

    @impl(tile.TransposeViewOp)
    def run_transpose_view(
        self, interpreter: Interpreter, op: tile.TransposeViewOp, args: PythonValues
    ) -> PythonValues:
        rank = len(args[0].shape)
        return (_swapped(args[0], rank - 2, rank - 1),)

    @impl(tile.ReinterpretViewOp)
    def run_reinterpret_view(
        self, interpreter: Interpreter, op: tile.ReinterpretViewOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        type = tile.TileType.of(op.result.type)
        element = result_element(op)
        shape, valid = type.get_shape(), type.valid_shape
        if not known(valid) and shape[:-1] == source.shape[:-1]:
            row = source.valid[-1] * source.array.itemsize
            if row % element.storage.itemsize:
                raise ProgramError(f"reads {row} valid bytes as elements of {type.element_type}")
            valid = (*source.valid[:-1], row // element.storage.itemsize)
        if not known((*shape, *valid)):
            raise ProgramError("needs a result whose extents are known")
        array = reinterpreted(source.array, element.storage).reshape(shape)
        mask = reinterpreted_mask(source.full_mask(), source.array, array)
        return (Tile(array, element, valid, shape if mask.all() else mask),)


def reinterpreted(array: Array, storage: np.dtype[np.generic]) -> Array:
    """The bytes of elements as elements of another width, flat."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).view(storage)


def reinterpreted_mask(mask: Mask, source: Array, result: Array) -> Mask:
    """Which elements are defined after the bytes are read as others: those of defined bytes."""
    octets = np.repeat(mask.reshape(-1), source.itemsize)
    return np.asarray(np.all(octets.reshape(*result.shape, result.itemsize), axis=-1))
