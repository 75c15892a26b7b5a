"""Reductions of tiles over their valid region; what each means stands in `reductions.py`."""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import tile
from pypto_xdsl.interpreters.borrowing import keeps_nothing
from pypto_xdsl.interpreters.elementwise import finished, result_element, tile_of_region
from pypto_xdsl.interpreters.execution import Prepared, by_preparing
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements, table_by_name
from pypto_xdsl.interpreters.reductions import COLUMN_REDUCTIONS, ROW_REDUCTIONS, Reduction
from pypto_xdsl.interpreters.values import Tile, leading


def _along(axis: int, reduction: Reduction) -> Run:
    def prepare(interpreter: Interpreter, op: Operation) -> Prepared:
        element = result_element(op)
        machine = machine_of(interpreter)

        def run(args: PythonValues) -> PythonValues:
            source: Tile = args[0]
            is_whole = source.valid == source.array.shape
            stored, mask = source.read(() if is_whole else leading(source.valid))
            if mask is not None:
                machine.require_defined(op, mask)
            result = reduction(source.element, source.element.widen(stored), axis)
            shape, region = list(source.shape), list(source.valid)
            shape[axis] = region[axis] = 1
            stored, mask = finished(result, None, element, tuple(region))
            return (tile_of_region(stored, mask, element, tuple(shape), tuple(region)),)

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
