"""Ops that create tiles, bring them in and out, and move or reshape them."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.ptensor.attributes import AtomicKind
from pypto_xdsl.interpreters.blocks import read_element, valid_inside
from pypto_xdsl.interpreters.borrowing import is_borrowed, keeps_nothing
from pypto_xdsl.interpreters.elements import Array, Element, element_of, number_of
from pypto_xdsl.interpreters.elementwise import result_element, tile_of_region
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.execution import Prepared, by_preparing
from pypto_xdsl.interpreters.indices import (
    given,
    index_taker,
    index_value,
    known,
    solved,
    take_indices,
    window_taker,
)
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import implements
from pypto_xdsl.interpreters.values import Tensor, Tile, leading, window_at


@lru_cache(maxsize=256)
def _poison(shape: tuple[int, ...], element: Element) -> Array:
    """Undefined elements; tiles never change, so that all undefined ones share them."""
    array = element.poison(shape)
    array.flags.writeable = False
    return array


def physical_shape(type: tile.TileType, valid: tuple[int, ...]) -> tuple[int, ...]:
    """The physical shape; where the type leaves it to run time it is that of the valid region."""
    shape = given(type.get_shape(), valid)
    if any(inner > outer or inner < 0 for inner, outer in zip(valid, shape, strict=True)):
        raise ProgramError(f"a valid region of {list(valid)} lies outside a tile of {list(shape)}")
    return shape


def write_region(
    op: tile.StoreOp,
    interpreter: Interpreter,
    source: Tile,
    destination: Tensor,
    offsets: tuple[int, ...],
) -> None:
    """Write the valid region of a tile to a tensor, adding to what is there if the op says so."""
    machine = machine_of(interpreter)
    stored, mask = source.read(leading(source.valid))
    machine.require_defined(op, mask, "stores undefined elements")
    element = destination.element
    if source.element is not element:
        stored = element.narrow(element.compute_from(stored, source.element))
    missing = len(destination.shape) - len(source.valid)
    extents = (1,) * missing + source.valid
    window = window_at("the tensor", offsets, extents, destination.shape)
    if missing:
        stored = stored.reshape(extents)
        mask = None if mask is None else mask.reshape(extents)
    machine.is_adding = op.atomic.data is AtomicKind.ADD
    if machine.is_adding:
        before, held = destination.read(window)
        machine.require_defined(op, held, "adds to undefined elements")
        stored = element.narrow(element.widen(before) + element.widen(stored))
        mask = held if mask is None else mask if held is None else mask & held
    destination.write(window, stored, mask)
    machine.is_adding = False


def _load(interpreter: Interpreter, op: tile.LoadOp) -> Prepared:
    type = tile.TileType.of(op.result.type)

    def run(args: PythonValues) -> PythonValues:
        source: Tensor = args[0]
        offsets, rest = take_indices(op.static_offsets, args[1:])
        listed, _ = take_indices(op.static_valid, rest)
        valid = given(valid_shape, listed)
        shape = physical_shape(type, valid)
        view, mask = source.read(window_at("the tensor", offsets, valid, source.shape))
        # A tile is a value: later writes to the tensor do not reach it.
        stored = view.copy() if shape == valid else view
        return (tile_of_region(stored, mask, source.element, shape, valid),)

    def run_known(args: PythonValues) -> PythonValues:
        source: Tensor = args[0]
        array, buffer = source.array, source.buffer
        window = take_window(args, 1, array.shape)
        if buffer.defined is None and buffer.observer is None:
            view, mask = array[window], None
        else:
            view, mask = source.read(window)
        stored = view if borrows else view.copy()
        return (Tile(stored, source.element, shape, shape if mask is None else mask),)

    valid_shape, shape = type.valid_shape, type.get_shape()
    if known(shape) and valid_shape == shape and not op.static_valid.get_values():
        take_window = window_taker("the tensor", op.static_offsets, shape)
        borrows = is_borrowed(machine_of(interpreter), op.result)
        return run_known
    return run


def _store(interpreter: Interpreter, op: tile.StoreOp) -> Prepared:
    take_offsets = index_taker(op.static_offsets)
    machine = machine_of(interpreter)
    adds = op.atomic.data is AtomicKind.ADD
    type: Any = op.source.type
    whole = tuple(type.get_shape()) if isinstance(type, tile.TileType) else ()
    take_window = window_taker("the tensor", op.static_offsets, whole)

    def run(args: PythonValues) -> PythonValues:
        source: Tile = args[0]
        destination: Tensor = args[1]
        if (
            source.valid == whole
            and source.is_defined
            and not adds
            and source.element is destination.element
            and len(whole) == destination.array.ndim
        ):
            window = take_window(args, 2, destination.array.shape)
            destination.write(window, source.array)
            return (destination,)
        offsets = take_offsets(args, 2)
        if (
            adds
            or source.element is not destination.element
            or source.array.ndim != destination.array.ndim
        ):
            write_region(op, machine, source, destination, offsets)
            return (destination,)
        valid = source.valid
        stored, mask = source.read(() if source.array.shape == valid else leading(valid))
        if mask is not None:
            machine.require_defined(op, mask, "stores undefined elements")
        window = window_at("the tensor", offsets, valid, destination.array.shape)
        destination.write(window, stored, mask)
        return (destination,)

    return run


@register_impls
@implements({tile.LoadOp: _load}, lambda _, prepare: by_preparing(prepare))
@implements({tile.StoreOp: _store}, lambda _, prepare: keeps_nothing(by_preparing(prepare)))
class TileMemoryFunctions(InterpreterFunctions):
    @impl(tile.CreateOp)
    def run_create(
        self, interpreter: Interpreter, op: tile.CreateOp, args: PythonValues
    ) -> PythonValues:
        type = tile.TileType.of(op.result.type)
        listed, _ = take_indices(op.static_valid, args)
        valid = given(type.valid_shape, listed)
        shape = physical_shape(type, valid)
        element = element_of(type.element_type)
        return (Tile(_poison(shape, element), element, valid, (0,) * len(shape)),)

    @impl(tile.FullOp)
    def run_full(
        self, interpreter: Interpreter, op: tile.FullOp, args: PythonValues
    ) -> PythonValues:
        type = tile.TileType.of(op.result.type)
        element = element_of(type.element_type)
        value = element.narrow(element.number(number_of(args[0])))
        if not known((*type.get_shape(), *type.valid_shape)):
            raise ProgramError("needs a result whose extents are known")
        region = type.valid_shape
        stored = np.broadcast_to(value, region)
        return (tile_of_region(stored, None, element, type.get_shape(), region),)

    @impl(tile.ReshapeOp)
    def run_reshape(
        self, interpreter: Interpreter, op: tile.ReshapeOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        type = tile.TileType.of(op.result.type)
        shape = solved(type.get_shape(), source.array.size)
        valid = type.valid_shape
        if not known(valid):
            whole = source.valid == source.shape
            valid = shape if whole else solved(valid, prod(source.valid))
        array = source.array.reshape(shape)
        if source.is_defined:
            return (Tile(array, source.element, valid, shape),)
        return (Tile(array, source.element, valid, source.full_mask().reshape(shape)),)

    @impl(tile.MoveOp)
    def run_move(
        self, interpreter: Interpreter, op: tile.MoveOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        element = result_element(op)
        if source.element is element:
            return (source,)
        array = element.narrow(element.compute_from(source.array, source.element))
        return (Tile(array, element, source.valid, source.defined),)

    @impl(tile.SetValidShapeOp)
    def run_set_validshape(
        self, interpreter: Interpreter, op: tile.SetValidShapeOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        valid, _ = take_indices(op.static_valid, args[1:])
        valid_inside(source, valid)
        return (Tile(source.array, source.element, valid, source.defined),)

    @impl(tile.ValidDimOp)
    def run_valid_dim(
        self, interpreter: Interpreter, op: tile.ValidDimOp, args: PythonValues
    ) -> PythonValues:
        return (index_value(args[0].valid[op.axis.value.data]),)

    @impl(tile.ReadOp)
    def run_read(
        self, interpreter: Interpreter, op: tile.ReadOp, args: PythonValues
    ) -> PythonValues:
        return read_element(interpreter, op, args)

    @impl(tile.WriteOp)
    def run_write(
        self, interpreter: Interpreter, op: tile.WriteOp, args: PythonValues
    ) -> PythonValues:
        destination: Tile = args[1]
        place, _ = take_indices(op.static_indices, args[2:])
        window = window_at("the tile", place, (1,) * len(place), destination.shape)
        element = destination.element
        array = destination.array.copy()
        array[window] = element.narrow(element.number(number_of(args[0])))
        defined = destination.defined
        if not isinstance(defined, tuple) or any(
            index >= extent for index, extent in zip(place, defined, strict=True)
        ):
            defined = destination.full_mask().copy()
            defined[window] = True
        return (Tile(array, element, destination.valid, defined),)
