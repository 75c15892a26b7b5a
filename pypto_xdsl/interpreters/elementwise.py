"""
How an elementwise op runs, on tiles and on tensors alike: operands are promoted to the element
type of the result, broadcast, and computed over the valid region only. Where an operand is
undefined, so is the result; everything outside the region is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Attribute, Operation

from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.ptensor.types import tensor_of, valid_shape_of
from pypto_xdsl.interpreters.arithmetic import (
    Meaning,
    Partial,
    function_of,
    repeat,
    shift_left,
    shift_right,
)
from pypto_xdsl.interpreters.borrowing import keeps_nothing
from pypto_xdsl.interpreters.elements import Array, Element, Mask, Scalar, element_of, number_of
from pypto_xdsl.interpreters.execution import Prepared, by_preparing
from pypto_xdsl.interpreters.machine import Machine, machine_of
from pypto_xdsl.interpreters.op_tables import Run
from pypto_xdsl.interpreters.values import Block, Tensor, Tile, Window, leading

Operand: TypeAlias = Block | Scalar

_COUNTING = (shift_left, shift_right)
"""Meanings whose second operand is a count: it is not converted to the result's type."""


def operand_window(region: Sequence[int], shape: Sequence[int]) -> Window:
    """The part of an operand that a region of the result depends on, by numpy's broadcasting."""
    skipped = len(region) - len(shape)
    return tuple(
        slice(extent if size != 1 else 1)
        for extent, size in zip(region[skipped:], shape, strict=True)
    )


def computed_operands(
    element: Element, region: tuple[int, ...], operands: Sequence[Operand]
) -> tuple[list[Array], Mask | None]:
    """
    The operands over a region of the result, as computed elements of type `element`, and where
    all of them are defined (None: everywhere).
    """
    arrays: list[Array] = []
    mask: Mask | None = None
    for operand in operands:
        if isinstance(operand, Attribute):
            arrays.append(element.number(number_of(operand)))
            continue
        window = () if operand.array.shape == region else operand_window(region, operand.shape)
        values, defined = operand.read(window)
        if defined is not None:
            mask = defined if mask is None else mask & defined
        if operand.element is element:
            arrays.append(element.widen(values))
        else:
            arrays.append(element.compute_from(values, operand.element))
    return arrays, mask


def compute(
    meaning: Meaning, element: Element, region: tuple[int, ...], operands: Sequence[Operand]
) -> tuple[Array, Mask | None]:
    """
    The stored elements of a region of the result, and which of them are defined (None: all).
    """
    arrays, mask = computed_operands(element, region, operands)
    if meaning is repeat:
        # The first operand only gives the shape: nobody looks at its elements.
        _, mask = computed_operands(element, region, operands[1:])
    if meaning in _COUNTING:
        arrays[1] = _counts(operands[1], region, element)
    return finished(meaning(element, *arrays), mask, element, region)


def finished(
    result: Array | Partial,
    mask: Mask | None,
    element: Element,
    region: tuple[int, ...] | None = None,
) -> tuple[Array, Mask | None]:
    """
    What a meaning gave, as stored elements of a region (None: as many as there are) and where they
    are defined.
    """
    if isinstance(result, Partial):
        mask = result.defined if mask is None else mask & result.defined
        result = result.values
    stored = np.asarray(element.narrow(result))
    if region is None:
        return stored, mask
    if stored.shape != region:
        stored = np.broadcast_to(stored, region)
    if mask is not None and mask.shape != region:
        mask = np.broadcast_to(mask, region)
    return stored, mask


def _counts(operand: Operand, region: tuple[int, ...], element: Element) -> Array:
    """Shift counts; what does not fit the type of the shifted elements is out of range anyway."""
    if isinstance(operand, Attribute):
        wide = np.asarray(number_of(operand), np.int64)
    else:
        wide = operand.element.widen(operand.array[operand_window(region, operand.shape)])
    return np.minimum(np.maximum(wide, 0) - (wide < 0), element.bits).astype(
        element.compute if element.is_signed else np.int64
    )


def tile_of_region(
    stored: Array,
    mask: Mask | None,
    element: Element,
    shape: tuple[int, ...],
    region: tuple[int, ...],
) -> Tile:
    """A tile whose valid region holds `stored`, defined where `mask` says; undefined elsewhere."""
    if region == shape:
        return Tile(stored, element, region, shape if mask is None else mask)
    array = element.poison(shape)
    array[leading(region)] = stored
    if mask is None:
        return Tile(array, element, region, region)
    full = np.zeros(shape, np.bool_)
    full[leading(region)] = mask
    return Tile(array, element, region, full)


def tensor_of_region(
    machine: Machine,
    stored: Array,
    mask: Mask | None,
    element: Element,
    shape: tuple[int, ...],
    region: tuple[int, ...],
) -> Tensor:
    """Likewise a tensor of its own."""
    if region == shape:
        # What was computed may still be a view of an operand.
        owned = stored if stored.flags.c_contiguous and stored.base is None else stored.copy()
        return machine.new_tensor(owned, element, mask)
    tensor = machine.undefined_tensor(shape, element)
    tensor.write(leading(region), stored, mask)
    tensor.valid = region
    return tensor


def result_element(op: Operation, index: int = 0) -> Element:
    """The element type of a result that is a tile or a tensor."""
    type: Any = op.results[index].type
    return element_of(type.element_type)


def broadcast_shape(operands: Sequence[Operand]) -> tuple[int, ...]:
    """The shape of an elementwise result."""
    shapes = [operand.array.shape for operand in operands if not isinstance(operand, Attribute)]
    first = shapes[0]
    for shape in shapes:
        if shape != first:
            return np.broadcast_shapes(*shapes)
    return first


def tile_elementwise(op_class: type[Operation], meaning: Meaning) -> Run:
    """Runs an elementwise op of the `tile` dialect, whose scratch comes last."""
    arity = _arity(op_class)
    is_plain = meaning is not repeat and meaning not in _COUNTING

    def prepare(interpreter: Interpreter, op: Operation) -> Prepared:
        element = result_element(op)
        function = function_of(meaning, element) if is_plain else None

        def run_directly(args: PythonValues) -> PythonValues:
            first: Tile = args[0]
            shape = first.array.shape
            if first.valid != shape or not _is_whole(first, shape, element):
                return run(args)
            arrays = [first.array]
            for other in args[1:arity]:
                if not _is_whole(other, shape, element):
                    return run(args)
                arrays.append(other.array)
            assert function is not None
            return (Tile(function(*arrays), element, shape, shape),)

        def run(args: PythonValues) -> PythonValues:
            operands = args[:arity]
            first: Tile = operands[0]
            shape = first.array.shape
            if is_plain and first.valid == shape:
                arrays = [
                    element.widen(tile.array)
                    for tile in operands
                    if _is_whole(tile, shape, element)
                ]
                if len(arrays) == arity:
                    stored, mask = finished(meaning(element, *arrays), None, element, shape)
                    return (Tile(stored, element, shape, shape if mask is None else mask),)
            shape = broadcast_shape(operands)
            region = first.valid if shape == first.array.shape else shape
            stored, mask = compute(meaning, element, region, operands)
            return (tile_of_region(stored, mask, element, shape, region),)

        return run if function is None else run_directly

    implementation = by_preparing(prepare)
    return keeps_nothing(implementation) if meaning is not repeat else implementation


def _is_whole(operand: Operand, shape: tuple[int, ...], element: Element) -> bool:
    """Whether an operand is a tile of that shape and element type, all of it defined."""
    return (
        isinstance(operand, Tile)
        and operand.element is element
        and operand.array.shape == shape
        and (operand.defined is shape or operand.is_defined)
    )


def tensor_elementwise(op_class: type[Operation], meaning: Meaning) -> Run:
    """Runs an elementwise op of the `ptensor` dialect."""
    arity = _arity(op_class)

    def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        operands = args[:arity]
        shape = broadcast_shape(operands)
        region = tensor_region(op, operands[0], shape)
        element = result_element(op)
        stored, mask = compute(meaning, element, region, operands)
        machine = machine_of(interpreter)
        return (tensor_of_region(machine, stored, mask, element, shape, region),)

    return run


def tensor_region(op: Operation, first: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The valid region of a fresh tensor: that of the first operand if its type has one."""
    type = tensor_of(op.results[0].type)
    return shape if valid_shape_of(type) == type.get_shape() else first.region


def tile_part(op_class: type[Operation], meaning: Meaning) -> Run:
    """
    Runs an op on two tiles that copies the valid operand where only one is; the valid region of
    the result is that of the first.
    """

    def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        lhs: Tile = args[0]
        shape = broadcast_shape(args[:2])
        region = lhs.valid if shape == lhs.array.shape else shape
        element = result_element(op)
        stored, mask = _part(meaning, element, region, args[0], args[1])
        return (tile_of_region(stored, mask, element, shape, region),)

    return run


def tensor_part(op_class: type[Operation], meaning: Meaning) -> Run:
    """Likewise on two tensors."""

    def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        shape = broadcast_shape(args[:2])
        region = tensor_region(op, args[0], shape)
        element = result_element(op)
        stored, mask = _part(meaning, element, region, args[0], args[1])
        machine = machine_of(interpreter)
        return (tensor_of_region(machine, stored, mask, element, shape, region),)

    return run


def _part(
    meaning: Meaning, element: Element, region: tuple[int, ...], lhs: Block, rhs: Block
) -> tuple[Array, Mask | None]:
    (left, right), _ = computed_operands(element, region, (lhs, rhs))
    left, right = np.broadcast_to(left, region), np.broadcast_to(right, region)
    in_left, in_right = (_inside(block, region) for block in (lhs, rhs))
    both = meaning(element, left, right)
    assert not isinstance(both, Partial)
    values = np.where(in_left & in_right, both, np.where(in_left, left, right))
    defined = np.ones(region, np.bool_)
    for block, inside, other in ((lhs, in_left, in_right), (rhs, in_right, in_left)):
        _, mask = block.read(operand_window(region, block.shape))
        if mask is not None:
            defined &= mask | ~inside
        defined &= inside | other
    return element.narrow(values), None if defined.all() else defined


def _inside(block: Block, region: tuple[int, ...]) -> Mask:
    """Which elements of a region are in the valid region of an operand."""
    inside = np.zeros(region, np.bool_)
    stretched = [
        full if size == 1 else extent
        for full, size, extent in zip(region, block.shape, block.region, strict=True)
    ]
    inside[leading(stretched)] = prod(block.region) > 0
    return inside


def _arity(op_class: type[Operation]) -> int:
    """How many operands count: scratch is the rest."""
    assert issubclass(op_class, DeclaredOp)
    return sum(not declared.workspace for _, declared in op_class.declaration().operands)
