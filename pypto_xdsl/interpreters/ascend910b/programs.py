"""Running a program: on a core of its own, or on a cube core and its vector cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from xdsl.dialects import func
from xdsl.interpreter import InterpreterFunctions, PythonValues
from xdsl.ir import Operation

from pypto_xdsl.dialects import ascend910b, pto
from pypto_xdsl.dialects.ascend910b import CORE, PROGRAM_ORDER
from pypto_xdsl.dialects.pto import AddressSpace
from pypto_xdsl.dialects.pto.queue import QueueOp
from pypto_xdsl.interpreters.ascend910b.core import PIPE_COUNT, Core, make_lanes
from pypto_xdsl.interpreters.ascend910b.functions import (
    CoreFunctions,
    instruction_functions,
    set_core,
)
from pypto_xdsl.interpreters.ascend910b.group import Group
from pypto_xdsl.interpreters.ascend910b.queues import QueueFunctions
from pypto_xdsl.interpreters.core_settings import Check
from pypto_xdsl.interpreters.machine import Machine

_VECTOR_MEMORIES = (AddressSpace.VEC,)


def run_program(
    machine: Machine,
    program: func.FuncOp,
    arguments: PythonValues,
    sizes: Mapping[AddressSpace, int],
    implementations: tuple[type[InterpreterFunctions], ...],
) -> None:
    """
    Run a function of the dialect. `sizes` are those of all memories in bytes; `implementations`
    say what instructions compute.
    """
    settings = machine.cores
    if not machine.strict:
        settings = replace(settings, lenient=frozenset(Check))
    in_program_order = _has_no_events(program)
    if in_program_order:
        settings = replace(settings, seed=None)
    group = Group(settings)
    plan = _cores(program, machine.grid.subblock_index)
    count = len(plan) * PIPE_COUNT
    programs: list[Callable[[], None]] = []
    for place, (name, is_cube, subblock) in enumerate(plan):
        lanes = make_lanes(place * PIPE_COUNT, name, count)
        own = {
            space: size for space, size in sizes.items() if (space in _VECTOR_MEMORIES) != is_cube
        }
        core = Core(name, is_cube, subblock, group, own, settings, lanes, in_program_order)
        group.cores.append(core)
        group.lanes += lanes
        runner = _machine_of(machine, core, implementations)
        programs.append(lambda runner=runner: _run(runner, program, arguments))
    group.run(programs)


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


def _run(runner: Machine, program: func.FuncOp, arguments: PythonValues) -> None:
    runner.run_ssacfg_region(program.body, arguments, program.sym_name.data)


def _cores(program: func.FuncOp, subblock: int) -> list[tuple[str, bool, int]]:
    """Name, kind and number of each core that runs a program."""
    attribute: Any = program.attributes[CORE]
    match attribute.data:
        case ascend910b.Core.AIC:
            return [("the cube core", True, 0)]
        case ascend910b.Core.AIV:
            return [("the vector core", False, subblock)]
        case _:
            pass
    if _uses_one_vector_core(program):
        return [("the cube core", True, 0), ("the vector core", False, 0)]
    return [
        ("the cube core", True, 0),
        ("the first vector core", False, 0),
        ("the second vector core", False, 1),
    ]


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
    functions = (_instructions(implementations)(), CoreFunctions(), QueueFunctions())
    runner = machine.with_functions(functions, replace(machine.grid, subblock_index=core.subblock))
    runner.strict = Check.UNDEFINED not in core.settings.lenient
    set_core(runner, core)
    return runner


@lru_cache(maxsize=4)
def _instructions(
    implementations: tuple[type[InterpreterFunctions], ...],
) -> type[InterpreterFunctions]:
    return instruction_functions(implementations)
