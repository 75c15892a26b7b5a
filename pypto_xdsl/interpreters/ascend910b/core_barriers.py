"""Barriers of cores: all of a kind, in all blocks of a launch, wait for each other."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from xdsl.dialects import func
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import ascend910b, pto
from pypto_xdsl.dialects.ascend910b import FlagMode
from pypto_xdsl.interpreters.ascend910b.functions import core_of
from pypto_xdsl.interpreters.ascend910b.group import is_of_kind
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.pto.operands import named


@register_impls
class CoreBarrierFunctions(InterpreterFunctions):
    @impl(pto.SyncAllOp)
    def run_sync_all(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        core, kind = core_of(interpreter), op.core_type.data
        if not is_of_kind(core.is_cube, kind):
            return ()
        used = named(op, args).get("used_cores")
        count = None
        if used is not None:
            count = used.value.data
            if count < 0:
                raise ProgramError(f"waits for {count} cores")
        core.group.core_barrier(core, op, kind, count or None)
        return ()


def waits_for_blocks(kernel: func.FuncOp) -> bool:
    """Whether a kernel, or one that it may call, waits for other blocks of its launch."""
    module = kernel.parent_op()
    return any(_is_between_blocks(op) for op in walk(kernel if module is None else module))


def _is_between_blocks(op: Operation) -> bool:
    if isinstance(op, ascend910b.SetCrossFlagOp):
        return op.flag_mode is FlagMode.ALL
    if isinstance(op, pto.SyncSetOp):
        return op.mode == FlagMode.ALL
    return isinstance(op, pto.SyncAllOp)


@contextmanager
def blocks_together(machine: Machine) -> Generator[None]:
    """Until its end, the blocks of a launch run when all of them are there."""
    before, machine.held = machine.held, []
    try:
        yield
    finally:
        machine.held = before


__all__ = ["CoreBarrierFunctions", "blocks_together", "waits_for_blocks"]
