"""Reductions of tiles over their valid region; what each means stands in `reductions.py`."""

from __future__ import annotations

from typing import Any

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import tile
from pypto_xdsl.interpreters.arithmetic import Partial
from pypto_xdsl.interpreters.borrowing import keeps_nothing
from pypto_xdsl.interpreters.elements import element_of
from pypto_xdsl.interpreters.elementwise import finished, result_element, tile_of_region
from pypto_xdsl.interpreters.execution import Prepared, by_preparing
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements, table_by_name
from pypto_xdsl.interpreters.reductions import (
    COLUMN_REDUCTIONS,
    ROW_REDUCTIONS,
    Reduction,
    stored_reduction,
)
from pypto_xdsl.interpreters.values import Tile, leading


def _along(axis: int, reduction: Reduction) -> Run:
    def prepare(interpreter: Interpreter, op: Operation) -> Prepared:
        element = result_element(op)
        machine = machine_of(interpreter)
        type: Any = op.operands[0].type
        element_in = element_of(type.element_type)
        reduce = stored_reduction(reduction, element_in, element, axis)

        def run(args: PythonValues) -> PythonValues:
            source: Tile = args[0]
            own, array = source.element, source.array
            if source.valid == array.shape and source.is_defined and own is element_in:
                result = reduce(array)
                if not isinstance(result, Partial):
                    shape = result.shape
                    return (Tile(result, element, shape, shape),)
            stored, mask = source.read(leading(source.valid))
            if mask is not None:
                machine.require_defined(op, mask)
            stored, mask = finished(reduction(own, own.widen(stored), axis), None, element)
            extents = list(array.shape)
            extents[axis] = 1
            return (tile_of_region(stored, mask, element, tuple(extents), stored.shape),)

        return run

    return keeps_nothing(by_preparing(prepare))


@register_impls
@implements(
    table_by_name(tile.Tile.operations, ROW_REDUCTIONS), lambda _, meaning: _along(-1, meaning)
)
@implements(
    table_by_name(tile.Tile.operations, COLUMN_REDUCTIONS), lambda _, meaning: _along(0, meaning)
)
class TileReductionFunctions(InterpreterFunctions):
    pass
