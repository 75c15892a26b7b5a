"""Elementwise ops on tiles; what each means stands in `interpreters/arithmetic.py`."""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import tile
from pypto_xdsl.interpreters.arithmetic import MEANINGS, PARTIAL_MEANINGS
from pypto_xdsl.interpreters.casts import cast
from pypto_xdsl.interpreters.elementwise import (
    finished,
    result_element,
    tile_elementwise,
    tile_of_region,
    tile_part,
)
from pypto_xdsl.interpreters.op_tables import implements, table_by_name
from pypto_xdsl.interpreters.values import Tile, leading


@register_impls
@implements(table_by_name(tile.Tile.operations, MEANINGS), tile_elementwise)
@implements(table_by_name(tile.Tile.operations, PARTIAL_MEANINGS), tile_part)
class TileElementwiseFunctions(InterpreterFunctions):
    @impl(tile.CastOp)
    def run_cast(
        self, interpreter: Interpreter, op: tile.CastOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        element = result_element(op)
        stored, mask = source.read(leading(source.valid))
        converted = cast(stored, source.element, element, op.mode.data)
        stored, mask = finished(converted, mask, element, source.valid)
        return (tile_of_region(stored, mask, element, source.shape, source.valid),)
