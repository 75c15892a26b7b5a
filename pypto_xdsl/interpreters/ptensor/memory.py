"""Ops that create tensors, name windows of them, and read and write them."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute

from pypto_xdsl.dialects import ptensor
from pypto_xdsl.dialects.ptensor.attributes import AtomicKind
from pypto_xdsl.dialects.ptensor.types import tensor_of, valid_shape_of
from pypto_xdsl.interpreters.blocks import read_element, valid_inside
from pypto_xdsl.interpreters.elements import Array, allocate, element_of, number_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import given, index_value, known, solved, take_indices
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.values import Tensor, leading, window_at


def valid_of(
    type: TensorType[Attribute], shape: tuple[int, ...], otherwise: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """
    The valid region of a tensor of some type; where the type leaves it to run time it is
    `otherwise` (None: all of it).
    """
    valid = valid_shape_of(type)
    if valid == type.get_shape():
        return None
    return valid if known(valid) else otherwise


def check_extents(type: TensorType[Attribute], shape: tuple[int, ...], what: str) -> None:
    """Raise unless a tensor of a run-time shape may have a type."""
    if given(type.get_shape(), shape) != shape:
        raise ProgramError(f"{what} has the extents {list(shape)}, which {type} does not allow")


def _extents(shape: tuple[int, ...]) -> tuple[int, ...]:
    if any(extent < 0 for extent in shape):
        raise ProgramError(f"extents are not negative, got {list(shape)}")
    return shape


def view_in_shape(array: Array, shape: tuple[int, ...]) -> Array:
    """The same elements row by row in another shape, never a copy."""
    if array.size != np.prod(shape, dtype=np.int64):
        raise ProgramError(f"{array.size} elements do not reshape to {list(shape)}")
    if 0 in shape:
        return array.reshape(shape)
    view = array.view()
    try:
        view = view.reshape(shape, copy=False)
    except (TypeError, ValueError):
        view = array.reshape(shape)
        if not np.shares_memory(view, array):
            raise ProgramError(
                f"the elements of this window of {list(array.shape)} do not lie in the order "
                f"that naming them as {list(shape)} needs"
            ) from None
    return view


def _overlap(source: Tensor, destination: Array) -> bool:
    return np.may_share_memory(source.array, destination)


@register_impls
class TensorMemoryFunctions(InterpreterFunctions):
    @impl(ptensor.CreateOp)
    def run_create(
        self, interpreter: Interpreter, op: ptensor.CreateOp, args: PythonValues
    ) -> PythonValues:
        type = tensor_of(op.result.type)
        listed, _ = take_indices(op.static_sizes, args)
        shape = _extents(given(type.get_shape(), listed))
        tensor = machine_of(interpreter).undefined_tensor(shape, element_of(type.element_type))
        tensor.valid = valid_of(type, shape, None)
        return (tensor,)

    @impl(ptensor.FullOp)
    def run_full(
        self, interpreter: Interpreter, op: ptensor.FullOp, args: PythonValues
    ) -> PythonValues:
        type = tensor_of(op.result.type)
        element = element_of(type.element_type)
        listed, _ = take_indices(op.static_sizes, args[1:])
        shape = _extents(given(type.get_shape(), listed))
        value = element.narrow(element.number(number_of(args[0])))
        tensor = machine_of(interpreter).new_tensor(allocate(shape, element, value), element)
        tensor.valid = valid_of(type, shape, None)
        return (tensor,)

    @impl(ptensor.SliceOp)
    def run_slice(
        self, interpreter: Interpreter, op: ptensor.SliceOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        type = tensor_of(op.result.type)
        offsets, rest = take_indices(op.static_offsets, args[1:])
        listed, _ = take_indices(op.static_sizes, rest)
        shape = given(type.get_shape(), listed)
        dropped = len(source.shape) - len(shape)
        window = window_at("the tensor", offsets, (1,) * dropped + shape, source.shape)
        view = source.array[window]
        view = view[(0,) * dropped]
        inside = tuple(
            max(0, min(extent, limit - offset))
            for extent, limit, offset in zip(
                shape, source.region[dropped:], offsets[dropped:], strict=True
            )
        )
        return (source.named(view, valid_of(type, shape, inside)),)

    @impl(ptensor.ReshapeOp)
    def run_reshape(
        self, interpreter: Interpreter, op: ptensor.ReshapeOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        type = tensor_of(op.result.type)
        listed, _ = take_indices(op.static_sizes, args[1:])
        shape = _extents(given(type.get_shape(), listed))
        view = view_in_shape(source.array, shape)
        valid = valid_shape_of(type)
        if not known(valid) and source.valid not in (None, source.shape):
            # What is valid is as many elements in either shape.
            return (source.named(view, solved(valid, prod(source.valid))),)
        return (source.named(view, valid_of(type, shape, None)),)

    @impl(ptensor.TypeCastOp)
    def run_type_cast(
        self, interpreter: Interpreter, op: ptensor.TypeCastOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        type = tensor_of(op.result.type)
        check_extents(type, source.shape, "the tensor")
        return (source.named(source.array, valid_of(type, source.shape, source.valid)),)

    @impl(ptensor.UpdatedOp)
    def run_updated(
        self, interpreter: Interpreter, op: ptensor.UpdatedOp, args: PythonValues
    ) -> PythonValues:
        return (args[0],)

    @impl(ptensor.SetValidShapeOp)
    def run_set_validshape(
        self, interpreter: Interpreter, op: ptensor.SetValidShapeOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        valid, _ = take_indices(op.static_valid, args[1:])
        valid_inside(source, valid)
        return (source.named(source.array, valid),)

    @impl(ptensor.DimOp)
    def run_dim(
        self, interpreter: Interpreter, op: ptensor.DimOp, args: PythonValues
    ) -> PythonValues:
        return (index_value(args[0].shape[op.axis.value.data]),)

    @impl(ptensor.AssembleOp)
    def run_assemble(
        self, interpreter: Interpreter, op: ptensor.AssembleOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        destination: Tensor = args[1]
        machine = machine_of(interpreter)
        element = destination.element
        offsets, _ = take_indices(op.static_offsets, args[2:])
        if op.atomic.data is AtomicKind.NONE and source.is_window_of(destination, offsets):
            # A window that is put back where it is: nothing moves.
            return (destination,)
        stored, mask = source.read(leading(source.region))
        machine.require_defined(op, mask, "stores undefined elements")
        extents = (1,) * (len(destination.shape) - len(stored.shape)) + stored.shape
        window = window_at("the destination", offsets, extents, destination.shape)
        stored = stored.reshape(extents)
        mask = None if mask is None else mask.reshape(extents)
        machine.is_adding = op.atomic.data is AtomicKind.ADD
        if machine.is_adding:
            before, held = destination.read(window)
            machine.require_defined(op, held, "adds to undefined elements")
            stored = element.narrow(element.widen(before) + element.widen(stored))
            mask = held if mask is None else mask if held is None else mask & held
        elif _overlap(source, destination.array):
            stored = stored.copy()
        destination.write(window, stored, mask)
        machine.is_adding = False
        return (destination,)

    @impl(ptensor.ReadOp)
    def run_read(
        self, interpreter: Interpreter, op: ptensor.ReadOp, args: PythonValues
    ) -> PythonValues:
        return read_element(interpreter, op, args)

    @impl(ptensor.WriteOp)
    def run_write(
        self, interpreter: Interpreter, op: ptensor.WriteOp, args: PythonValues
    ) -> PythonValues:
        destination: Tensor = args[1]
        place, _ = take_indices(op.static_indices, args[2:])
        window = window_at("the tensor", place, (1,) * len(place), destination.shape)
        element = destination.element
        destination.write(window, element.narrow(element.number(number_of(args[0]))))
        return (destination,)
