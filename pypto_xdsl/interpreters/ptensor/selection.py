"""Selection by comparison on whole tensors."""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import ptensor
from pypto_xdsl.interpreters.elements import element_of
from pypto_xdsl.interpreters.elementwise import (
    broadcast_shape,
    computed_operands,
    finished,
    result_element,
    tensor_of_region,
    tensor_region,
)
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.selection import COMPARISONS, compacted_columns
from pypto_xdsl.interpreters.values import Tensor


def _compare(op_class: type[Operation], _: None) -> Run:
    def run(
        interpreter: Interpreter, op: ptensor.CmpOp | ptensor.CmpsOp, args: PythonValues
    ) -> PythonValues:
        shape = broadcast_shape(args)
        region = tensor_region(op, args[0], shape)
        element = result_element(op)
        (left, right), mask = computed_operands(element, region, args)
        bits = COMPARISONS[op.cmp_type.data](left, right).astype(element.compute)
        stored, mask = finished(bits, mask, element, region)
        machine = machine_of(interpreter)
        return (tensor_of_region(machine, stored, mask, element, shape, region),)

    return run


@register_impls
@implements({ptensor.CmpOp: None, ptensor.CmpsOp: None}, _compare)
class TensorSelectionFunctions(InterpreterFunctions):
    @impl(ptensor.GatherCompareOp)
    def run_gather_compare(
        self, interpreter: Interpreter, op: ptensor.GatherCompareOp, args: PythonValues
    ) -> PythonValues:
        source: Tensor = args[0]
        machine = machine_of(interpreter)
        rows, valid_rows = source.shape[0], source.region[0]
        (values, threshold), mask = computed_operands(source.element, source.region, args[:2])
        machine.require_defined(op, mask)
        chosen = COMPARISONS[op.cmp_mode.data](values, threshold)
        width = op.out_cols.value.data
        found, written, found_counts = compacted_columns(chosen, width, op.offset.value.data)
        indices = machine.undefined_tensor((rows, width), result_element(op, 0))
        indices.write((slice(valid_rows),), found, written)
        count_element = element_of(op.count_dtype)
        counts = machine.undefined_tensor((1, rows), count_element)
        counts.write((slice(1), slice(valid_rows)), count_element.narrow(found_counts[None, :]))
        return indices, counts
