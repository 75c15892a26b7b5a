"""
Kernels that groups call, on tiles: those that wait for each other are called first, and run
together when all of them are.

Each core is a machine of its own, that runs what is called of its kind, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from xdsl.interpreter import InterpreterFunctions, PythonValues
from xdsl.ir import Operation, Region

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import DiagnosticsError, OpError, warn
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.ascend910b import FlagMode
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.orch.function_marks import runs_on_both
from pypto_xdsl.dialects.tile.cross_core import RingOp
from pypto_xdsl.dialects.tile.sync import FlagOp, SyncallOp, SyncSetOp
from pypto_xdsl.interpreters.core_clocks import SharedMemory
from pypto_xdsl.interpreters.core_groups import CoreGroup, GroupCore, flag_mode, on_behalf, set_core
from pypto_xdsl.interpreters.elements import Array
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import index_value
from pypto_xdsl.interpreters.machine import Grid, GroupCall, Machine
from pypto_xdsl.interpreters.pto import kernels
from pypto_xdsl.interpreters.tasks import ProgramOrder
from pypto_xdsl.interpreters.turns import Deadlock
from pypto_xdsl.interpreters.values import Buffer, Tensor

RunKernel: TypeAlias = Callable[[Machine, orch.FuncOp, PythonValues], PythonValues]
"""Runs a function on arguments, on one core."""

_ORDER = ("first", "second")


@dataclass(frozen=True)
class _Waiting:
    """What a function waits for, with all that it calls."""

    for_cores: bool = False
    for_blocks: bool = False
    for_blocks_below: bool = False
    """A kernel that was lowered waits for the other blocks of its launch."""


def waits_for_cores(machine: Machine, function: orch.FuncOp) -> bool:
    """Whether a function, or one that it calls, waits for other cores, or they for it."""
    return _waiting(machine, function).for_cores


def waits_for_blocks(machine: Machine, function: orch.FuncOp) -> bool:
    """Whether a function, or one that it calls, waits for the other blocks of its launch."""
    return _waiting(machine, function).for_blocks


def lowered_wait_for_blocks(machine: Machine, function: orch.FuncOp) -> bool:
    """Whether a lowered kernel that a function calls waits for the other blocks of its launch."""
    return _waiting(machine, function).for_blocks_below


def _waiting(machine: Machine, function: orch.FuncOp) -> _Waiting:
    known = machine.get_data(_Calls, "waiting", dict[orch.FuncOp, _Waiting])
    found = known.get(function)
    if found is None:
        # A function that calls itself waits for no more than what it says itself.
        known[function] = _Waiting()
        inside = [_waiting_of(machine, op) for op in walk(function)]
        found = known[function] = _Waiting(
            any(each.for_cores for each in inside),
            any(each.for_blocks for each in inside),
            any(each.for_blocks_below for each in inside)
            or kernels.waits_for_blocks(machine.module, function),
        )
    return found


def _waiting_of(machine: Machine, op: Operation) -> _Waiting:
    if isinstance(op, orch.DispatchOp) and (callee := machine.calls.callee(op)) is not None:
        return _waiting(machine, callee)
    for_blocks = isinstance(op, SyncallOp) or (
        isinstance(op, SyncSetOp) and flag_mode(op) is FlagMode.ALL
    )
    return _Waiting(for_blocks or isinstance(op, RingOp | FlagOp), for_blocks)


class _Calls(InterpreterFunctions):
    """Whose data what functions wait for is."""


def calls_both_kinds(machine: Machine, group: Operation) -> bool:
    """Whether a group calls kernels of the cube core and of the vector cores, which are here."""
    known = machine.get_data(_Calls, "both", dict[Operation, bool])
    if group not in known:
        called = [machine.calls.callee(op) for op in walk(group) if isinstance(op, orch.DispatchOp)]
        kinds = {f.kind.data for f in called if f is not None and not f.is_declaration}
        known[group] = {FunctionKind.AIC, FunctionKind.AIV} <= kinds
    return known[group]


@contextmanager
def calling_together(
    machine: Machine, run: RunKernel, group: Operation | None = None
) -> Generator[None]:
    """
    Kernels are called: those that wait for each other run when all are called, and all that a
    group calls of both kinds.
    """
    if machine.group_calls is not None:
        yield
        return
    before = machine.scheduler, machine.calls_parts_later
    machine.group_calls, machine.scheduler = [], ProgramOrder()
    machine.calls_parts_later = group is not None and calls_both_kinds(machine, group)
    try:
        yield
        run_called(machine, run)
    finally:
        machine.group_calls = None
        machine.scheduler, machine.calls_parts_later = before


def run_called(machine: Machine, run: RunKernel) -> Sequence[PythonValues]:
    """Run what was called so far; the results of those whose bodies are here."""
    calls = machine.group_calls or []
    machine.group_calls = []
    own = [call for call in calls if not call.function.is_declaration]
    results = _run_together(machine, own, run) if own else ()
    lowered = [call for call in calls if call.function.is_declaration]
    if lowered:
        assert machine.run_group is not None
        machine.run_group(machine, lowered)
    return results


def run_on_both(machine: Machine, region: Region) -> PythonValues:
    """Run a region on both vector cores, which give each other tiles; what the second returns."""
    group = CoreGroup(seed=machine.cores.seed, passes_halves=True)
    results: PythonValues = ()
    idle: list[Machine] = machine.core_programs.pop(_Lanes, [])
    busy: list[Machine] = []
    programs: list[Callable[[], None]] = []
    for number, name in enumerate(_ORDER):
        core = GroupCore(
            f"the {name} vector core", number, False, machine.grid.block_index, number, group
        )
        group.add(core)
        runner = idle.pop() if idle else machine.another()
        busy.append(runner)
        runner.grid = replace(machine.grid, subblock_index=number)
        # Each has the values around as they are, and its own of the region.
        runner.layout, runner.values = machine.layout, list(machine.values)
        runner.call_depth = machine.call_depth
        set_core(runner, core)

        def program(number: int = number, runner: Machine = runner) -> None:
            nonlocal results
            found = runner.region_plan(region)((index_value(number),))
            if number == len(_ORDER) - 1:
                results = found

        programs.append(program)
    group.turns.run(programs)
    machine.core_programs[_Lanes] = busy
    return results


class _Lanes:
    """What the machines of vector cores that run regions are known by."""


@contextmanager
def _watching(
    machine: Machine, group: CoreGroup, runners: Sequence[Machine], calls: Sequence[GroupCall]
) -> Generator[None]:
    """Look for elements of what cores are given that they access in no order."""
    if len(group.cores) == 1 or not machine.strict:
        yield
        return
    memory = SharedMemory(group.clocks)

    def observe(kind: Literal["read", "write"], buffer: Buffer, view: Array) -> None:
        memory.tell_others(kind, buffer, view)
        place = group.turns.at_work
        if runners[place].is_adding:
            # In whatever order.
            return
        found = memory.touch(place, kind, buffer, view)
        if found is not None:
            other, earlier = found
            raise ProgramError(
                f"{_DOES[kind]} elements of global memory that {group.cores[other].name} "
                f"{_DID[earlier]}, and nothing orders the two"
            )

    memory.watch(
        (value.buffer for call in calls for value in call.arguments if isinstance(value, Tensor)),
        observe,
    )
    try:
        yield
    finally:
        memory.release()


_DOES = {"read": "reads", "write": "writes"}
_DID = {"read": "has read", "write": "has written"}


@dataclass(frozen=True)
class _Share:
    """What one core does."""

    name: str
    is_cube: bool | None
    grid: Grid
    calls: list[tuple[int, GroupCall]] = field(default_factory=list[tuple[int, GroupCall]])
    """With their places among all calls."""


def _shares(calls: Sequence[GroupCall]) -> Sequence[_Share]:
    """The cores that run some calls."""
    blocks: dict[int, list[tuple[int, GroupCall]]] = {}
    for place, call in enumerate(calls):
        blocks.setdefault(call.grid.block_index, []).append((place, call))
    found: list[_Share] = []
    for block in blocks.values():
        of_kind: dict[FunctionKind, list[tuple[int, GroupCall]]] = {}
        for place, call in block:
            of_kind.setdefault(call.function.kind.data, []).append((place, call))
        grid = block[0][1].grid
        cube = of_kind.pop(FunctionKind.AIC, None)
        if cube:
            found.append(_Share("the cube core", True, grid, cube))
        vector = of_kind.pop(FunctionKind.AIV, None)
        if vector and any(runs_on_both(call.function) for _, call in vector):
            for core, name in enumerate(_ORDER):
                own = replace(grid, subblock_index=core)
                found.append(_Share(f"the {name} vector core", False, own, vector))
        elif vector:
            found.append(_Share("the vector core", False, grid, vector))
        for others in of_kind.values():
            name = f"the core of '{others[0][1].function.sym_name.data}'"
            found.append(_Share(name, None, grid, others))
    if len(blocks) == 1 and calls[0].grid.block_count == 1:
        return found
    return [replace(s, name=f"{s.name} of block {s.grid.block_index}") for s in found]


def _run_together(
    machine: Machine, calls: Sequence[GroupCall], run: RunKernel
) -> Sequence[PythonValues]:
    """Run kernels on the cores of their kinds; the results of each."""
    group = CoreGroup(calls[0].grid.block_count, machine.cores.seed)
    results: list[PythonValues] = [()] * len(calls)
    programs: list[Callable[[], None]] = []
    idle: list[Machine] = machine.core_programs.pop(_Calls, [])
    busy: list[Machine] = []
    for place, share in enumerate(_shares(calls)):
        grid = share.grid
        core = GroupCore(
            share.name, place, share.is_cube, grid.block_index, grid.subblock_index, group
        )
        group.add(core)
        runner = idle.pop() if idle else machine.another()
        busy.append(runner)
        runner.grid = grid
        set_core(runner, core)

        def program(
            core: GroupCore = core, runner: Machine = runner, share: _Share = share
        ) -> None:
            for place, call in share.calls:
                core.call = call.site
                try:
                    results[place] = run(runner, call.function, call.arguments)
                except Deadlock:
                    raise
                except DiagnosticsError as e:
                    raise on_behalf(core, e) from e

        programs.append(program)
    with _watching(machine, group, busy, calls):
        group.turns.run(programs)
    # Those that failed may be in any state: they are not used again.
    machine.core_programs[_Calls] = [*idle, *reversed(busy)]
    for op, problem in group.left_over():
        if machine.strict:
            raise OpError(op, problem)
        warn(op, problem)
    return results
