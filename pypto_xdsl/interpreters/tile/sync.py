"""
Barriers, events and flags within one program order: a tile is a value, and what is computed from
it comes after it anyway, so that they have nothing to do. (The machine of one core runs them.)
"""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import tile
from pypto_xdsl.interpreters.op_tables import implements

_ORDERED = (
    tile.BarAllOp,
    tile.BarMOp,
    tile.BarVOp,
    tile.FenceOp,
    tile.CacheinvalidOp,
    tile.SyncSrcOp,
    tile.SyncDstOp,
    tile.SetFftsOp,
)


def _nothing(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
    return ()


@register_impls
@implements(dict.fromkeys(_ORDERED, _nothing), lambda _, run: run)
class TileSyncFunctions(InterpreterFunctions):
    pass
