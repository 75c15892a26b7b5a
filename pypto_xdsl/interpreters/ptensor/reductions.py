"""Reductions of tensors over their valid region; what each means stands in `reductions.py`."""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import ptensor
from pypto_xdsl.interpreters.elementwise import finished, result_element, tensor_of_region
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements, table_by_name
from pypto_xdsl.interpreters.reductions import COLUMN_REDUCTIONS, ROW_REDUCTIONS, Reduction
from pypto_xdsl.interpreters.values import Tensor, leading


def _along(axis: int, reduction: Reduction) -> Run:
    def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        source: Tensor = args[0]
        machine = machine_of(interpreter)
        element = result_element(op)
        stored, mask = source.read(leading(source.region))
        machine.require_defined(op, mask)
        result = reduction(source.element, source.element.widen(stored), axis)
        shape, region = list(source.shape), list(source.region)
        shape[axis] = region[axis] = 1
        stored, mask = finished(result, None, element, tuple(region))
        return (tensor_of_region(machine, stored, mask, element, tuple(shape), tuple(region)),)

    return run


@register_impls
@implements(
    table_by_name(ptensor.PTensor.operations, ROW_REDUCTIONS),
    lambda _, meaning: _along(-1, meaning),
)
@implements(
    table_by_name(ptensor.PTensor.operations, COLUMN_REDUCTIONS),
    lambda _, meaning: _along(-2, meaning),
)
class TensorReductionFunctions(InterpreterFunctions):
    pass
