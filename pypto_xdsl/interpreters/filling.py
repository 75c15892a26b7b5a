"""Padding, sequences, triangles, concatenation and plain repetition, of tiles and of tensors."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ShapedType, TensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.ptensor.attributes import PadValue
from pypto_xdsl.interpreters.blocks import full_mask, make_block, read_valid
from pypto_xdsl.interpreters.elements import number_of
from pypto_xdsl.interpreters.elementwise import result_element, tensor_region
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import known
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.values import Block, Tensor, leading


def _static_shape(op: Operation) -> tuple[int, ...]:
    type = op.results[0].type
    assert isinstance(type, ShapedType)
    shape = type.get_shape()
    if not known(shape):
        raise ProgramError("needs a result whose extents are known")
    return shape


def _padded(
    interpreter: Interpreter,
    op: Operation,
    source: Block,
    shape: tuple[int, ...],
    pad: PadValue,
) -> Block:
    stored, mask = read_valid(source)
    array = np.full(shape, source.element.pad(pad), source.element.storage)
    window = leading(source.region)
    array[window] = stored
    defined = None
    if mask is not None:
        defined = np.ones(shape, np.bool_)
        defined[window] = mask
    return make_block(interpreter, op, array, defined, shape)


def _sequence(
    interpreter: Interpreter, op: tile.CiOp | ptensor.CiOp, args: PythonValues
) -> PythonValues:
    shape = _static_shape(op)
    element = result_element(op)
    steps = np.arange(shape[-1], dtype=np.int64)
    start = int(number_of(args[0]))
    numbers = start - steps if op.descending.value.data else start + steps
    stored = numbers.astype(element.storage).reshape(shape)
    return (make_block(interpreter, op, stored, None, shape),)


def _concatenated(
    interpreter: Interpreter, op: tile.ConcatOp | ptensor.ConcatOp, args: PythonValues
) -> PythonValues:
    lhs, rhs = args
    (left, left_mask), (right, right_mask) = read_valid(lhs), read_valid(rhs)
    if left.shape[0] != right.shape[0]:
        raise ProgramError(f"puts {left.shape[0]} rows beside {right.shape[0]}")
    stored = np.concatenate([left, right], axis=1)
    mask = None
    if left_mask is not None or right_mask is not None:
        parts = [full_mask(left_mask, left.shape), full_mask(right_mask, right.shape)]
        mask = np.concatenate(parts, axis=1)
    shape = (lhs.shape[0], lhs.shape[1] + rhs.shape[1])
    return (make_block(interpreter, op, stored, mask, shape, stored.shape),)


def _expanded(
    interpreter: Interpreter, op: tile.ExpandsOp | ptensor.ExpandsOp, args: PythonValues
) -> PythonValues:
    target: Block = args[0]
    element = result_element(op)
    value = element.narrow(element.number(number_of(args[1])))
    region = target.region
    if isinstance(target, Tensor):
        region = tensor_region(op, target, target.shape)
    stored = np.full(region, value, element.storage)
    return (make_block(interpreter, op, stored, None, target.shape, region),)


@register_impls
class FillFunctions(InterpreterFunctions):
    @impl(tile.FillpadOp)
    def run_tile_fillpad(
        self, interpreter: Interpreter, op: tile.FillpadOp, args: PythonValues
    ) -> PythonValues:
        return (_padded(interpreter, op, args[0], args[0].shape, op.pad_value.data),)

    @impl(tile.FillpadInplaceOp)
    def run_tile_fillpad_inplace(
        self, interpreter: Interpreter, op: tile.FillpadInplaceOp, args: PythonValues
    ) -> PythonValues:
        return (_padded(interpreter, op, args[0], args[0].shape, op.pad_value.data),)

    @impl(tile.FillpadExpandOp)
    def run_tile_fillpad_expand(
        self, interpreter: Interpreter, op: tile.FillpadExpandOp, args: PythonValues
    ) -> PythonValues:
        return (_padded(interpreter, op, args[0], _static_shape(op), op.pad_value.data),)

    @impl(ptensor.FillpadOp)
    def run_tensor_fillpad(
        self, interpreter: Interpreter, op: ptensor.FillpadOp, args: PythonValues
    ) -> PythonValues:
        return (_padded(interpreter, op, args[0], args[0].shape, op.pad_value.data),)

    @impl(ptensor.FillpadExpandOp)
    def run_tensor_fillpad_expand(
        self, interpreter: Interpreter, op: ptensor.FillpadExpandOp, args: PythonValues
    ) -> PythonValues:
        return (_padded(interpreter, op, args[0], _static_shape(op), op.pad_value.data),)

    @impl(tile.CiOp)
    def run_tile_ci(
        self, interpreter: Interpreter, op: tile.CiOp, args: PythonValues
    ) -> PythonValues:
        return _sequence(interpreter, op, args)

    @impl(ptensor.CiOp)
    def run_tensor_ci(
        self, interpreter: Interpreter, op: ptensor.CiOp, args: PythonValues
    ) -> PythonValues:
        return _sequence(interpreter, op, args)

    @impl(tile.TriOp)
    def run_tri(self, interpreter: Interpreter, op: tile.TriOp, args: PythonValues) -> PythonValues:
        shape = _static_shape(op)
        element = result_element(op)
        type = tile.TileType.of(op.result.type)
        region = type.valid_shape if known(type.valid_shape) else shape
        row, column = np.indices(region)
        edge = row + int(number_of(args[0]))
        ones = column >= edge if op.upper.value.data else column <= edge
        stored = ones.astype(element.storage)
        return (make_block(interpreter, op, stored, None, shape, region),)

    @impl(tile.ConcatOp)
    def run_tile_concat(
        self, interpreter: Interpreter, op: tile.ConcatOp, args: PythonValues
    ) -> PythonValues:
        return _concatenated(interpreter, op, args)

    @impl(ptensor.ConcatOp)
    def run_tensor_concat(
        self, interpreter: Interpreter, op: ptensor.ConcatOp, args: PythonValues
    ) -> PythonValues:
        return _concatenated(interpreter, op, args)

    @impl(tile.ExpandsOp)
    def run_tile_expands(
        self, interpreter: Interpreter, op: tile.ExpandsOp, args: PythonValues
    ) -> PythonValues:
        return _expanded(interpreter, op, args)

    @impl(ptensor.ExpandsOp)
    def run_tensor_expands(
        self, interpreter: Interpreter, op: ptensor.ExpandsOp, args: PythonValues
    ) -> PythonValues:
        return _expanded(interpreter, op, args)

    @impl(ptensor.ExpandCloneOp)
    def run_expand_clone(
        self, interpreter: Interpreter, op: ptensor.ExpandCloneOp, args: PythonValues
    ) -> PythonValues:
        source, target = args
        stored, mask = source.read()
        machine_of(interpreter).require_defined(op, mask, "stores undefined elements")
        element = target.element
        values = element.narrow(element.compute_from(stored, source.element))
        target.write((), np.broadcast_to(values, target.shape).copy())
        return (target,)

    @impl(ptensor.CreateL1Op)
    def run_create_l1(
        self, interpreter: Interpreter, op: ptensor.CreateL1Op, args: PythonValues
    ) -> PythonValues:
        assert isinstance(op.result.type, TensorType)
        return (machine_of(interpreter).undefined_tensor(_static_shape(op), result_element(op)),)
