"""
Kernels of `pto` on cores, before `convert-pto-to-ascend910b`: tiles are where they are allocated,
or in bytes of their own before they have an address.

A kernel of a group cannot run without the others of its group, so it runs on a core at any level.
"""

from __future__ import annotations

from typing import Any

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.ascend910b import FlagMode
from pypto_xdsl.dialects.pto import MultiTileBufType, TileBufType
from pypto_xdsl.dialects.pto.cross_core_sync import CrossCoreOp
from pypto_xdsl.interpreters.ascend910b.core import Core
from pypto_xdsl.interpreters.ascend910b.functions import core_of
from pypto_xdsl.interpreters.ascend910b.memory import CoreMemory, CoreTile
from pypto_xdsl.interpreters.pto.memory import Memory, valid_extents
from pypto_xdsl.interpreters.pto.operands import named


def _tile(core: Core, op: Any, args: PythonValues, type: TileBufType, slot: int = 0) -> CoreTile:
    """The tile that an allocation makes, or one of its slots."""
    operands = named(op, args)
    given = (operands.get(name) for name in ("valid_row", "valid_col"))
    rows, columns = (None if value is None else value.value.data for value in given)
    valid = valid_extents(type, (rows, columns))
    address = operands.get("addr")
    core.op = op
    size = type.size_in_bytes
    if address is not None:
        return core.view(type, address.value.data + slot * size, valid)
    undefined = Memory.undefined(type.space, size)
    memory = CoreMemory(type.space, undefined.bytes, undefined.defined, core)
    return CoreTile(memory, 0, core.keep(type), valid)


def _flag(op: CrossCoreOp, args: PythonValues) -> int:
    known = op.known_flag
    return args[0].value.data if known is None else known


@register_impls
class AllocationFunctions(InterpreterFunctions):
    """What `convert-pto-to-ascend910b` spells otherwise."""

    @impl(pto.AllocTileOp)
    def run_alloc_tile(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        type = op.results[0].type
        assert isinstance(type, TileBufType)
        return (_tile(core_of(interpreter), op, args, type),)

    @impl(pto.AllocMultiTileOp)
    def run_alloc_multi_tile(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        core = core_of(interpreter)
        multi = op.results[0].type
        assert isinstance(multi, MultiTileBufType)
        return (tuple(_tile(core, op, args, multi.slot_type, k) for k in range(multi.count)),)

    @impl(pto.SyncSetOp)
    def run_sync_set(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        core, pipe, number = core_of(interpreter), op.properties["pipe"].data, _flag(op, args)
        lane = core.lane_of(pipe)
        mode = FlagMode(op.mode)
        core.give(pipe, op, lambda: core.group.raise_flag(core, op, lane, number, mode=mode))
        return ()

    @impl(pto.SyncWaitOp)
    def run_sync_wait(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        core, pipe, number = core_of(interpreter), op.properties["pipe"].data, _flag(op, args)
        lane = core.lane_of(pipe)
        core.give(
            pipe,
            op,
            lambda: core.group.take_flag(core, lane, number),
            lambda: core.group.is_raised(core, number),
        )
        return ()
