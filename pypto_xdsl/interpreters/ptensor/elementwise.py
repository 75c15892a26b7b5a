"""Elementwise ops on tensors; what each means stands in `interpreters/arithmetic.py`."""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import ptensor
from pypto_xdsl.interpreters.arithmetic import MEANINGS, PARTIAL_MEANINGS
from pypto_xdsl.interpreters.casts import cast
from pypto_xdsl.interpreters.elementwise import (
    finished,
    result_element,
    tensor_elementwise,
    tensor_of_region,
    tensor_part,
    tensor_region,
)
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import implements, table_by_name
from pypto_xdsl.interpreters.values import Tensor, leading


@register_impls
@implements(table_by_name(ptensor.PTensor.operations, MEANINGS), tensor_elementwise)
@implements(table_by_name(ptensor.PTensor.operations, PARTIAL_MEANINGS), tensor_part)
class TensorElementwiseFunctions(InterpreterFunctions):
    @impl(ptensor.CastOp)
    def run_cast(
        self, interpreter: Interpreter, op: ptensor.CastOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        element = result_element(op)
        region = tensor_region(op, source, source.shape)
        stored, mask = source.read(leading(region))
        converted = cast(stored, source.element, element, op.mode.data)
        stored, mask = finished(converted, mask, element, region)
        machine = machine_of(interpreter)
        return (tensor_of_region(machine, stored, mask, element, source.shape, region),)
