"""Running a program: on a core of its own, or on a cube core and its vector cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from xdsl.dialects import func
from xdsl.interpreter import InterpreterFunctions, PythonValues
from xdsl.ir import Operation

from pypto_xdsl.analysis.kernel_cores import cores_of_lowered
from pypto_xdsl.dialects import ascend910b, pto
from pypto_xdsl.dialects.ascend910b import CORE, PROGRAM_ORDER
from pypto_xdsl.dialects.pto import AddressSpace
from pypto_xdsl.dialects.pto.queue import QueueOp
from pypto_xdsl.interpreters.ascend910b.allocations import AllocationFunctions
from pypto_xdsl.interpreters.ascend910b.core import PIPE_COUNT, Core, make_lanes
from pypto_xdsl.interpreters.ascend910b.core_barriers import CoreBarrierFunctions
from pypto_xdsl.interpreters.ascend910b.functions import (
    CoreFunctions,
    instruction_functions,
    set_core,
)
from pypto_xdsl.interpreters.ascend910b.group import Group
from pypto_xdsl.interpreters.ascend910b.queues import QueueFunctions
from pypto_xdsl.interpreters.ascend910b.steady_loops import CoreLoopFunctions
from pypto_xdsl.interpreters.core_settings import Check, CoreSettings
from pypto_xdsl.interpreters.machine import Grid, Machine

_VECTOR_MEMORIES = (AddressSpace.VEC,)

_Named = tuple[str, bool, int]
"""Name of a core, whether it is a cube core, and which vector core of its group."""
_CUBE: _Named = ("the cube core", True, 0)
_CUBE_AND_VECTOR: tuple[_Named, ...] = (_CUBE, ("the vector core", False, 0))
_CUBE_AND_TWO: tuple[_Named, ...] = (
    _CUBE,
    ("the first vector core", False, 0),
    ("the second vector core", False, 1),
)


def run_program(
    machine: Machine,
    program: func.FuncOp,
    arguments: PythonValues,
    sizes: Mapping[AddressSpace, int],
    implementations: tuple[type[InterpreterFunctions], ...],
) -> None:
    """
    Run a function of the dialect, or one of `pto` that is not yet, in the order of its text.
    `sizes` are those of all memories in bytes; `implementations` say what instructions compute.
    """
    # A core of a grid runs the same program as often as it is launched.
    key = program, machine.grid.subblock_index
    known = machine.core_programs.get(key)
    if known is None:
        in_order = CORE not in program.attributes or _has_no_events(program)
        known = _cores(program, machine.grid.subblock_index), in_order
        machine.core_programs[key] = known
    cores, in_program_order = known
    _run_on(
        machine,
        cores,
        [[(program, arguments)] for _ in cores],
        sizes,
        implementations,
        in_program_order=in_program_order,
    )


@dataclass(frozen=True)
class Part:
    """A kernel that is run together with others of its group."""

    kernel: func.FuncOp
    is_cube: bool
    """Whether the cube core runs it, or the vector cores do."""
    arguments: Callable[[int], PythonValues]
    """What it is given on which vector core."""


def run_together(
    machine: Machine,
    parts: Sequence[Part],
    sizes: Mapping[AddressSpace, int],
    implementations: tuple[type[InterpreterFunctions], ...],
    *,
    vector_cores: int,
) -> None:
    """
    Run kernels of a group, each on the cores of its kind, one after the other on the same core.
    Those of `pto` that are no programs of a core yet run in the order of their text.
    """
    cores = _CUBE_AND_VECTOR if vector_cores == 1 else _CUBE_AND_TWO
    work = [
        [(part.kernel, part.arguments(core[2])) for part in parts if part.is_cube == core[1]]
        for core in cores
    ]
    in_program_order = any(
        CORE not in part.kernel.attributes or _has_no_events(part.kernel) for part in parts
    )
    _run_on(machine, cores, work, sizes, implementations, in_program_order=in_program_order)


def _run_on(
    machine: Machine,
    cores: Sequence[_Named],
    work: Sequence[Sequence[tuple[func.FuncOp, PythonValues]]],
    sizes: Mapping[AddressSpace, int],
    implementations: tuple[type[InterpreterFunctions], ...],
    *,
    in_program_order: bool,
) -> None:
    """Run what each core does, all at the same time."""
    block = _Block(machine.grid, cores, work)
    if machine.held is not None:
        # It waits for the other blocks of the launch.
        blocks: list[_Block] = machine.held
        blocks.append(block)
        if len(blocks) == machine.grid.block_count:
            machine.held = []
            _run_blocks(machine, blocks, sizes, implementations, in_program_order=in_program_order)
        return
    _run_blocks(machine, [block], sizes, implementations, in_program_order=in_program_order)


@dataclass(frozen=True)
class _Block:
    """One block of a launch: its cores, and what each of them does."""

    grid: Grid
    cores: Sequence[_Named]
    work: Sequence[Sequence[tuple[func.FuncOp, PythonValues]]]


def _run_blocks(
    machine: Machine,
    blocks: Sequence[_Block],
    sizes: Mapping[AddressSpace, int],
    implementations: tuple[type[InterpreterFunctions], ...],
    *,
    in_program_order: bool,
) -> None:
    """Run what each core of some blocks does, all at the same time."""
    cores = [core for block in blocks for core in block.cores]
    work = [kernels for block in blocks for kernels in block.work]
    grids = [block.grid for block in blocks for _ in block.cores]
    key = tuple(cores), tuple(tuple(kernel for kernel, _ in kernels) for kernels in work)
    ready: _Ready | None = machine.core_programs.pop(key, None)
    if ready is None:
        ready = _make_ready(machine, cores, sizes, implementations, in_program_order)
    group = Group(ready.settings)
    programs: list[Callable[[], None]] = []
    several = len(blocks) > 1
    for core, (name, _, _), runner, kernels, grid in zip(
        ready.cores, cores, ready.runners, work, grids, strict=True
    ):
        core.reset(group)
        core.block = grid.block_index
        core.name = f"{name} of block {grid.block_index}" if several else name
        for lane in core.lanes:
            lane.core_name = core.name
        runner.grid = replace(grid, subblock_index=core.subblock)
        group.cores.append(core)
        group.lanes += core.lanes
        programs.append(lambda runner=runner, kernels=kernels: _run(runner, kernels))
    group.run(programs)
    # Those that failed may be in any state: they are not used again.
    machine.core_programs[key] = ready


@dataclass(frozen=True)
class _Ready:
    """The cores that run some kernels, which have planned how."""

    settings: CoreSettings
    cores: Sequence[Core]
    runners: Sequence[Machine]
    """The interpreter that is each core."""


def _make_ready(
    machine: Machine,
    cores: Sequence[_Named],
    sizes: Mapping[AddressSpace, int],
    implementations: tuple[type[InterpreterFunctions], ...],
    in_program_order: bool,
) -> _Ready:
    settings = machine.cores
    if not machine.strict:
        settings = replace(settings, lenient=frozenset(Check))
    if in_program_order:
        settings = replace(settings, seed=None)
    group = Group(settings)
    count = len(cores) * PIPE_COUNT
    made: list[Core] = []
    for place, (name, is_cube, subblock) in enumerate(cores):
        lanes = make_lanes(place * PIPE_COUNT, name, count)
        own = {
            space: size for space, size in sizes.items() if (space in _VECTOR_MEMORIES) != is_cube
        }
        made.append(Core(name, is_cube, subblock, group, own, settings, lanes, in_program_order))
    runners = [_machine_of(machine, core, implementations) for core in made]
    return _Ready(settings, made, runners)


def _has_no_events(program: func.FuncOp) -> bool:
    """Whether a program, or what it calls, waits for events to be inserted."""
    called = {op.callee.root_reference for op in program.walk() if isinstance(op, func.CallOp)}
    module = program.parent_op()
    others = () if module is None or not called else module.walk()
    return PROGRAM_ORDER in program.attributes or any(
        PROGRAM_ORDER in op.attributes and op.sym_name in called
        for op in others
        if isinstance(op, func.FuncOp)
    )


def _run(runner: Machine, kernels: Sequence[tuple[func.FuncOp, PythonValues]]) -> None:
    for kernel, arguments in kernels:
        runner.run_ssacfg_region(kernel.body, arguments, kernel.sym_name.data)


def _cores(program: func.FuncOp, subblock: int) -> Sequence[_Named]:
    """Name, kind and number of each core that runs a program."""
    attribute: Any = program.attributes.get(CORE)
    needed = cores_of_lowered(program)
    if len(needed) > 1 or (attribute is not None and attribute.data is ascend910b.Core.MIX):
        return _CUBE_AND_VECTOR if _uses_one_vector_core(program) else _CUBE_AND_TWO
    return (_CUBE,) if ascend910b.Core.AIC in needed else (("the vector core", False, subblock),)


def _uses_one_vector_core(program: Operation) -> bool:
    """Whether nothing tells the vector cores apart."""
    module = program.parent_op()
    return not any(
        isinstance(op, pto.GetSubBlockIdxOp) or (isinstance(op, QueueOp) and op.split_code)
        for op in (program if module is None else module).walk()
    )


def _machine_of(
    machine: Machine, core: Core, implementations: tuple[type[InterpreterFunctions], ...]
) -> Machine:
    """An interpreter that is a core, and otherwise what the machine is."""
    functions = (
        _instructions(implementations)(),
        AllocationFunctions(),
        CoreFunctions(),
        QueueFunctions(),
        CoreLoopFunctions(),
        CoreBarrierFunctions(),
    )
    runner = machine.with_functions(functions, replace(machine.grid, subblock_index=core.subblock))
    runner.strict = Check.UNDEFINED not in core.settings.lenient
    set_core(runner, core)
    return runner


@lru_cache(maxsize=4)
def _instructions(
    implementations: tuple[type[InterpreterFunctions], ...],
) -> type[InterpreterFunctions]:
    return instruction_functions(implementations)
