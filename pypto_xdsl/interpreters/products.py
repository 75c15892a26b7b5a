"""
Matrix products, of tiles and of tensors.

Products of floats are summed in f32, as the cube core sums them, in an order of numpy's choice: the
hardware promises none. So a sum of n products is off by at most n * 2^-24 times the sum of their
magnitudes, and exact where all partial sums are. Sums of integers are exact, and wrap in i32.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import f32, i32
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.interpreters.blocks import make_block, read_defined
from pypto_xdsl.interpreters.borrowing import keeps_nothing
from pypto_xdsl.interpreters.elements import Array, Element, Scalar, element_of, number_of
from pypto_xdsl.interpreters.elementwise import result_element
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import implements
from pypto_xdsl.interpreters.values import Block, Tile, leading


def _operands(
    interpreter: Interpreter,
    op: Operation,
    lhs: Block,
    rhs: Block,
    transposed: tuple[bool, bool] = (False, False),
) -> tuple[Array, Array]:
    """What is multiplied: the valid columns of lhs decide how many rows of rhs take part."""
    machine = machine_of(interpreter)
    left = lhs.element.widen(read_defined(interpreter, op, lhs))
    if transposed[0]:
        left = np.swapaxes(left, -1, -2)
    depth = left.shape[-1]
    region = list(rhs.region)
    axis = -1 if transposed[1] or len(region) == 1 else -2
    if rhs.shape[axis] < depth:
        raise ProgramError(f"multiplies {depth} columns with {rhs.shape[axis]} rows")
    region[axis] = depth
    stored, mask = rhs.read(leading(region))
    machine.require_defined(op, mask)
    right = rhs.element.widen(stored)
    if transposed[1]:
        right = np.swapaxes(right, -1, -2)
    return left, right


_EXACT = ((np.float32, 1 << 24), (np.float64, 1 << 53))
"""Types of floats, and up to where they hold all integers."""


def accumulator(element: Element) -> Element:
    """In what the products of such elements are summed."""
    return element_of(f32) if element.is_float else element_of(i32)


def multiply(element: Element, left: Array, right: Array) -> Array:
    """The product of arrays of computed elements, as the accumulator computes it."""
    total = accumulator(element)
    if element.is_float:
        return np.matmul(
            left.astype(total.compute, copy=False), right.astype(total.compute, copy=False)
        )
    # Floats that hold every partial sum exactly, since numpy multiplies no integers fast.
    largest = left.shape[-1] << 2 * element.bits
    wide = next((type for type, limit in _EXACT if largest <= limit), np.int64)
    product = np.matmul(left.astype(wide), right.astype(wide))
    return np.asarray(product).astype(np.int64, copy=False).astype(total.compute)


def _shape(op: Operation) -> tuple[int, ...]:
    return tile.TileType.of(op.results[0].type).get_shape()


def _tile_product(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
    lhs, rhs = args[:2]
    product = multiply(lhs.element, *_operands(interpreter, op, lhs, rhs))
    if len(args) > 2:
        bias: Tile = args[2]
        row = bias.element.widen(read_defined(interpreter, op, bias))
        product = product + row[:, : product.shape[-1]]
    return (make_block(interpreter, op, product, None, _shape(op), product.shape),)


def _tile_accumulation(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
    acc, lhs, rhs = args[:3]
    product = multiply(lhs.element, *_operands(interpreter, op, lhs, rhs))
    window = leading(product.shape)
    if not _starts_afresh(args[3:]):
        stored, mask = acc.read(window)
        machine_of(interpreter).require_defined(op, mask, "adds to undefined elements")
        out = product if product.dtype == acc.element.compute else None
        product = np.add(acc.element.widen(stored), product, out=out)
    if product.shape == acc.shape:
        return (Tile(acc.element.narrow(product), acc.element, acc.valid, acc.shape),)
    array = acc.array.copy()
    array[window] = acc.element.narrow(product)
    defined = acc.full_mask().copy()
    defined[window] = True
    return (Tile(array, acc.element, acc.valid, acc.shape if defined.all() else defined),)


def _starts_afresh(condition: tuple[Scalar, ...]) -> bool:
    return bool(condition) and bool(number_of(condition[0]))


_PRODUCTS = (
    tile.MatmulOp,
    tile.MatmulBiasOp,
    tile.GemvOp,
    tile.GemvBiasOp,
    tile.BatchMatmulOp,
)
_ACCUMULATIONS = (tile.MatmulAccOp, tile.GemvAccOp, tile.BatchMatmulAccOp)


@register_impls
@implements(dict.fromkeys(_PRODUCTS, _tile_product), lambda _, run: keeps_nothing(run))
@implements(dict.fromkeys(_ACCUMULATIONS, _tile_accumulation), lambda _, run: keeps_nothing(run))
class ProductFunctions(InterpreterFunctions):
    @impl(ptensor.MatmulOp)
    def run_matmul(
        self, interpreter: Interpreter, op: ptensor.MatmulOp, args: PythonValues
    ) -> PythonValues:
        lhs, rhs = args
        flags = (bool(op.a_trans.value.data), bool(op.b_trans.value.data))
        product = multiply(lhs.element, *_operands(interpreter, op, lhs, rhs, flags))
        element = result_element(op)
        stored = np.asarray(element.compute_from(product, accumulator(lhs.element)))
        shape = _product_shape(lhs, rhs, flags)
        narrowed = np.asarray(element.narrow(stored))
        return (make_block(interpreter, op, narrowed, None, shape, product.shape),)

    @impl(ptensor.MatmulAccOp)
    def run_matmul_acc(
        self, interpreter: Interpreter, op: ptensor.MatmulAccOp, args: PythonValues
    ) -> PythonValues:
        acc, lhs, rhs = args[:3]
        flags = (bool(op.a_trans.value.data), bool(op.b_trans.value.data))
        product = multiply(lhs.element, *_operands(interpreter, op, lhs, rhs, flags))
        if not _starts_afresh(args[3:]):
            stored, mask = acc.read(leading(product.shape))
            machine_of(interpreter).require_defined(op, mask, "adds to undefined elements")
            product = acc.element.widen(stored) + product
        return (make_block(interpreter, op, product, None, acc.shape, product.shape),)


def _product_shape(lhs: Block, rhs: Block, transposed: tuple[bool, bool]) -> tuple[int, ...]:
    """The shape of a product, of which only a part may be valid."""
    left, right = list(lhs.shape), list(rhs.shape)
    if transposed[0]:
        left[-2:] = reversed(left[-2:])
    if transposed[1]:
        right[-2:] = reversed(right[-2:])
    batch = np.broadcast_shapes(tuple(left[:-2]), tuple(right[:-2]))
    return (*batch, *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
