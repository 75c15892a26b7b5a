"""Other ways to look at a buffer; none moves an element."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute

from pypto_xdsl.dialects import ptensor
from pypto_xdsl.dialects.ptensor.types import TensorLayout, layout_of, tensor_of
from pypto_xdsl.interpreters.elements import Array, element_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import given, take_indices
from pypto_xdsl.interpreters.ptensor.memory import valid_of, view_in_shape
from pypto_xdsl.interpreters.values import Tensor


def in_memory_order(array: Array, type: TensorType[Attribute]) -> Array:
    """A view of a tensor's elements in the order of its layout."""
    if layout_of(type) is TensorLayout.DN and array.ndim >= 2:
        return np.swapaxes(array, -1, -2)
    return array


@register_impls
class TensorAliasFunctions(InterpreterFunctions):
    @impl(ptensor.TransposeOp)
    def run_transpose(
        self, interpreter: Interpreter, op: ptensor.TransposeOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        axes = op.axis1.value.data, op.axis2.value.data
        valid = None
        if source.valid is not None:
            swapped = list(source.valid)
            swapped[axes[0]], swapped[axes[1]] = swapped[axes[1]], swapped[axes[0]]
            valid = tuple(swapped)
        return (source.named(np.swapaxes(source.array, *axes), valid),)

    @impl(ptensor.LayoutViewOp)
    def run_view(
        self, interpreter: Interpreter, op: ptensor.LayoutViewOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        type = tensor_of(op.result.type)
        listed, _ = take_indices(op.static_sizes, args[1:])
        shape = given(type.get_shape(), listed)
        ordered = in_memory_order(source.array, tensor_of(op.source.type))
        if layout_of(type) is TensorLayout.DN and len(shape) >= 2:
            view = view_in_shape(ordered, (*shape[:-2], shape[-1], shape[-2]))
            view = np.swapaxes(view, -1, -2)
        else:
            view = view_in_shape(ordered, shape)
        return (source.named(view, valid_of(type, shape, None)),)

    @impl(ptensor.ReinterpretViewOp)
    def run_reinterpret_view(
        self, interpreter: Interpreter, op: ptensor.ReinterpretViewOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        type = tensor_of(op.result.type)
        listed, _ = take_indices(op.static_sizes, args[1:])
        shape = given(type.get_shape(), listed)
        element = element_of(type.element_type)
        if not source.array.flags.c_contiguous:
            raise ProgramError("a window whose rows are apart has no other elements")
        flat = source.array.reshape(-1).view(element.storage)
        view = view_in_shape(flat, shape)
        return (Tensor(view, element, source.buffer, valid_of(type, shape, None)),)
