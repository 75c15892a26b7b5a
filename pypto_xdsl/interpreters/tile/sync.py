"""
Barriers, events and flags.

Within one core a tile is a value, and what is computed from it comes after it anyway, so that
barriers and events have nothing to do. (The machine of one core runs them.) Flags order cores.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.ascend910b import FLAG_COUNT
from pypto_xdsl.dialects.tile.sync import FlagOp
from pypto_xdsl.interpreters.core_groups import core_if_any, core_of, flag_mode
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements

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


def _number(op: FlagOp, args: PythonValues) -> int:
    if op.event_id_dyn is None:
        return op.event_id.value.data
    number: int = args[0].value.data
    if not 0 <= number < FLAG_COUNT:
        raise ProgramError(f"names flag {number}; there are {FLAG_COUNT}")
    return number


def _raise(interpreter: Interpreter, op: tile.SyncSetOp, args: PythonValues) -> PythonValues:
    core = core_of(machine_of(interpreter))
    core.raise_flag(op, _number(op, args), flag_mode(op))
    return ()


def _take(interpreter: Interpreter, op: tile.SyncWaitOp, args: PythonValues) -> PythonValues:
    core_of(machine_of(interpreter)).take_flag(op, _number(op, args))
    return ()


def _meet(interpreter: Interpreter, op: tile.SyncallOp, args: PythonValues) -> PythonValues:
    machine = machine_of(interpreter)
    core = core_if_any(machine)
    if core is None:
        # Nobody else is there, unless there are more blocks.
        if machine.grid.block_count > 1:
            raise ProgramError("waits for the other blocks of its launch, which run later")
        return ()
    count = None
    if op.used_cores is not None:
        count = args[-1].value.data
        if count < 0:
            raise ProgramError(f"waits for {count} cores")
    core.core_barrier(op, op.core_type.data, count or None)
    return ()


_OF_CORES: Mapping[type[Operation], Run] = {
    tile.SyncSetOp: _raise,
    tile.SyncWaitOp: _take,
    tile.SyncallOp: _meet,
}


@register_impls
@implements(dict.fromkeys(_ORDERED, _nothing), lambda _, run: run)
@implements(_OF_CORES, lambda _, run: run)
class TileSyncFunctions(InterpreterFunctions):
    """What orders others."""
