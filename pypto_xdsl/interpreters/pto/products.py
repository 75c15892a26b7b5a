"""
Matrix products of the cube core. What is multiplied is the valid region: that of the left operand
says how many rows of the right one take part.
"""

from __future__ import annotations

from typing import Any

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.interpreters.elements import Array, element_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.execution import Prepared, by_preparing
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.products import multiply
from pypto_xdsl.interpreters.pto.array_forms import ArrayForm, with_form
from pypto_xdsl.interpreters.pto.memory import LocalTile
from pypto_xdsl.interpreters.pto.operands import operand_place


def _defined(
    interpreter: Interpreter, op: Operation, tile: LocalTile, region: tuple[int, int]
) -> Array:
    rows, columns = tile.type.get_shape()
    if region[0] > rows or region[1] > columns:
        raise ProgramError(f"reads {list(region)} of a tile of {[rows, columns]}")
    stored, defined = tile.read(region)
    if defined is not None:
        machine_of(interpreter).require_defined(op, defined)
    return tile.element.widen(stored)


def _product(op_class: type[Operation], names: tuple[str, str, str | None]) -> Run:
    """`dst = left @ right`, plus the third operand: all of it, or its one row to each row."""
    left_name, right_name, third = names

    def prepare(interpreter: Interpreter, op: Any) -> Prepared:
        left_place, right_place = operand_place(op, left_name), operand_place(op, right_name)
        to_place = operand_place(op, "dst")
        third_place = None if third is None else operand_place(op, third)
        own = element_of(op.operands[left_place].type.element_type)
        element = element_of(op.operands[to_place].type.element_type)

        def run(args: PythonValues) -> PythonValues:
            left: LocalTile = args[left_place]
            right: LocalTile = args[right_place]
            destination: LocalTile = args[to_place]
            rows, depth = left.valid
            region = (rows, right.valid[1])
            product = multiply(
                own,
                _defined(interpreter, op, left, left.valid),
                _defined(interpreter, op, right, (depth, region[1])),
            )
            if third_place is not None:
                start: LocalTile = args[third_place]
                held = (1, region[1]) if third == "bias" else region
                product += _defined(interpreter, op, start, held)
            destination.write(element.narrow(product))
            return ()

        def compute(left: Array, right: Array, start: Array | None = None) -> Array:
            product = multiply(own, own.widen(left), own.widen(right))
            if start is not None:
                product += element.widen(start)
            return element.narrow(product)

        def form(args: PythonValues) -> ArrayForm | None:
            left, right = args[left_place], args[right_place]
            (rows, depth), columns = left.valid, right.valid[1]
            if depth > right.type.get_shape()[0] or third == "bias":
                return None
            reads = [(left_place, (rows, depth)), (right_place, (depth, columns))]
            if third_place is not None:
                start = args[third_place]
                shape = start.type.get_shape()
                if start.element is not element or rows > shape[0] or columns > shape[1]:
                    return None
                reads.append((third_place, (rows, columns)))
            return ArrayForm(tuple(reads), (to_place, (rows, columns)), compute)

        return with_form(run, form)

    return by_preparing(prepare)


@register_impls
@implements(dict.fromkeys((pto.TMatmulOp, pto.TGemvOp), ("lhs", "rhs", None)), _product)
@implements(dict.fromkeys((pto.TMatmulBiasOp, pto.TGemvBiasOp), ("a", "b", "bias")), _product)
@implements(dict.fromkeys((pto.TMatmulAccOp, pto.TGemvAccOp), ("lhs", "rhs", "acc_in")), _product)
class PtoProductFunctions(InterpreterFunctions):
    pass
