"""
What ops on tiles and on tensors have in common when they run: both read *blocks*, and make one of
their own kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.interpreters.elements import Array, Element, Mask
from pypto_xdsl.interpreters.elementwise import result_element, tensor_of_region, tile_of_region
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import take_indices
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.values import Block, Tile, Window, leading, window_at


def make_block(
    interpreter: Interpreter,
    op: Operation,
    stored: Array,
    mask: Mask | None,
    shape: Sequence[int],
    region: Sequence[int] | None = None,
    *,
    element: Element | None = None,
    result: int = 0,
) -> Block:
    """
    The result of an op, tile or tensor as its type says: `stored` in its valid region (None: all
    of its shape), defined where `mask` says (None: everywhere).
    """
    shape = tuple(shape)
    region = shape if region is None else tuple(region)
    element = element or result_element(op, result)
    if isinstance(op.results[result].type, TensorType):
        machine = machine_of(interpreter)
        return tensor_of_region(machine, stored, mask, element, shape, region)
    return tile_of_region(stored, mask, element, shape, region)


def read_valid(block: Block) -> tuple[Array, Mask | None]:
    """The valid elements of a block, as stored, and which of them are defined."""
    return block.read(leading(block.region))


def read_defined(interpreter: Interpreter, op: Operation, block: Block) -> Array:
    """The valid elements of a block, as stored; that one is undefined is an error."""
    stored, mask = read_valid(block)
    machine_of(interpreter).require_defined(op, mask)
    return stored


def read_element(
    interpreter: Interpreter, op: ptensor.ReadOp | tile.ReadOp, args: PythonValues
) -> PythonValues:
    """One element of a block, as a number."""
    source: Block = args[0]
    place, _ = take_indices(op.static_indices, args[1:])
    window = window_at(f"the {_kind(source)}", place, (1,) * len(place), source.shape)
    stored, mask = source.read(window)
    machine_of(interpreter).require_defined(op, mask, "reads an undefined element")
    return (source.element.scalar(stored.reshape(())),)


def valid_inside(block: Block, valid: Sequence[int]) -> None:
    """Raise `ProgramError` if extents are none that the valid region of a block can have."""
    if any(extent > limit or extent < 0 for extent, limit in zip(valid, block.shape, strict=True)):
        raise ProgramError(
            f"a valid region of {list(valid)} lies outside a {_kind(block)} of {list(block.shape)}"
        )


def _kind(block: Block) -> str:
    return "tile" if isinstance(block, Tile) else "tensor"


def full_mask(mask: Mask | None, shape: Sequence[int]) -> Mask:
    """Which elements are defined, as an array."""
    return np.ones(tuple(shape), np.bool_) if mask is None else mask


def both(first: Mask | None, second: Mask | None) -> Mask | None:
    """Where both are defined."""
    if first is None or second is None:
        return first if second is None else second
    return first & second


def window_of(mask: Mask | None, window: Window) -> Mask | None:
    """A part of a mask."""
    return None if mask is None else mask[window]
