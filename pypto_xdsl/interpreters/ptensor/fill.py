"""Fills of tensors that have no counterpart on tiles."""

from __future__ import annotations

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import ptensor
from pypto_xdsl.dialects.ptensor.types import tensor_of
from pypto_xdsl.interpreters.elements import element_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.ptensor.memory import valid_of
from pypto_xdsl.interpreters.values import Tensor


@register_impls
class TensorFillFunctions(InterpreterFunctions):
    @impl(ptensor.CreateL1Op)
    def run_create_l1(
        self, interpreter: Interpreter, op: ptensor.CreateL1Op, args: PythonValues
    ) -> PythonValues:
        type = tensor_of(op.result.type)
        shape = type.get_shape()
        tensor = machine_of(interpreter).undefined_tensor(shape, element_of(type.element_type))
        tensor.valid = valid_of(type, shape, None)
        return (tensor,)

    @impl(ptensor.ExpandCloneOp)
    def run_expand_clone(
        self, interpreter: Interpreter, op: ptensor.ExpandCloneOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        target: Tensor = args[1]
        values, mask = source.read()
        machine_of(interpreter).require_defined(op, mask, "stores undefined elements")
        element = target.element
        stored = element.narrow(element.compute_from(values, source.element)).copy()
        try:
            stretched = np.broadcast_to(stored, target.shape)
        except ValueError as e:
            raise ProgramError(
                f"{list(source.shape)} does not stretch to {list(target.shape)}"
            ) from e
        target.write((), stretched, None if mask is None else np.broadcast_to(mask, target.shape))
        return (target,)
