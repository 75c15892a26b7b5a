"""
Loops whose turns all do the same to what a core checks.

A kernel mostly walks over large arrays: each turn loads a block, computes, and stores one, at the
same places on the core, with the same events. Once a turn has been checked that leaves what the
checks depend on as it found it, but for numbers that count on (`check_state.py`), all turns that
follow pass the same checks. They run as what is left of them: a Python function from windows of
global memory to windows of global memory (`loop_code.py`).

A turn is one of these if its instructions have array forms, its events are known, and only windows
of global memory depend on the index. Whatever does not fit, is undefined, or lies outside ends it:
the turn runs as every other, and tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.interpreters.ascend910b.check_state import CheckState, Motion
from pypto_xdsl.interpreters.ascend910b.core import Core
from pypto_xdsl.interpreters.ascend910b.functions import core_of
from pypto_xdsl.interpreters.ascend910b.loop_code import LoopCode, LoopShape
from pypto_xdsl.interpreters.control_flow import (
    index_maker,
    loop_turns,
    run_loop,
    told,
)
from pypto_xdsl.interpreters.execution import Prepared, by_preparing
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.op_tables import implements

_FEWEST = 16
"""How many turns a loop must have for it to pay."""

_FAILURES = 3
"""After how many runs that were not steady there is no other try."""

_TRIES = 4
"""How many turns are compared with the one before."""

_AT_ONCE = 1024
"""After how many turns what they did to global memory is filed."""


def _run_for(interpreter: Interpreter, op: scf.ForOp) -> Prepared:
    core = core_of(interpreter)

    def run_any(args: PythonValues) -> PythonValues:
        return run_loop(interpreter, op, args)

    if not isinstance(interpreter, Machine) or core.settings.seed is not None:
        return run_any
    machine = interpreter
    shapes: list[LoopShape | None] = []

    def run(args: PythonValues) -> PythonValues:
        turns = loop_turns(args)
        if len(turns) < _FEWEST or machine.listeners:
            return run_any(args)
        if not shapes:
            shapes.append(LoopShape.of(op, machine.region_plan(op.body).steps()))
        (shape,) = shapes
        if shape is None or shape.failures >= _FAILURES:
            return run_any(args)
        return _Run(machine, core, op, shape).run(turns, args[3:])

    return run


class _Run:
    """One run of a loop that may be steady."""

    def __init__(self, machine: Machine, core: Core, op: scf.ForOp, shape: LoopShape) -> None:
        self._machine, self._core, self._op, self._shape = machine, core, op, shape
        self._plan = machine.region_plan(op.body)
        self._index = index_maker(op)

    def run(self, turns: range, carried: PythonValues) -> PythonValues:
        """Run all turns; what the last one returns."""
        progress = self._machine.progress
        if progress is None:
            return self._run(turns, carried)
        progress.enter(self._op, len(turns))
        try:
            return self._run(turns, carried)
        finally:
            progress.leave()

    def _run(self, turns: range, carried: PythonValues) -> PythonValues:
        # What is done ahead of its turn, or after it, takes a turn to begin.
        place = 2
        carried = self._turns(turns[:2], carried)
        before = CheckState.of(self._core)
        for _ in range(_TRIES):
            counts = [len(lane.ops) for lane in self._core.lanes]
            carried = self._turns(turns[place : place + 1], carried)
            place += 1
            after = CheckState.of(self._core)
            motion = before.moved_to(after)
            if motion is not None and any(motion.steps):
                start = place
                place, carried = self._steady(turns, place, carried, motion, counts)
                self._shape.failures += place == start
                break
            before = after
        else:
            self._shape.failures += 1
        return self._turns(turns[place:], carried) if place < len(turns) else carried

    def _turns(self, turns: range, carried: PythonValues) -> PythonValues:
        indices = map(self._index, turns)
        if self._machine.progress is not None:
            indices = told(self._machine.progress, indices)
        return self._plan.repeat(indices, len(turns), carried)

    def _steady(
        self,
        turns: range,
        place: int,
        carried: PythonValues,
        motion: Motion,
        counts: Sequence[int],
    ) -> tuple[int, PythonValues]:
        """Run turns from a place on, as long as they only move numbers."""
        core = self._core
        ops = [lane.ops[count:] for lane, count in zip(core.lanes, counts, strict=True)]
        code = LoopCode.of(
            self._machine, core, self._shape, self._index(turns[place]), carried, ops
        )
        if code is None:
            return place, carried
        while place < len(turns):
            some = turns[place : place + _AT_ONCE]
            done, carried = code.run(some, carried)
            place += done
            self._count(ops, motion, done)
            self._tell(done)
            if done < len(some):
                break
        return place, carried

    def _tell(self, turns: int) -> None:
        if self._machine.progress is not None:
            for _ in range(turns):
                self._machine.progress.advance()

    def _count(self, ops: Sequence[list[Operation]], motion: Motion, turns: int) -> None:
        """So many turns were run."""
        core = self._core
        for lane, each in zip(core.lanes, ops, strict=True):
            lane.ops.extend(each * turns)
        first = len(core.group.lanes)
        for memory, step in zip(core.memories.values(), motion.steps[first:], strict=True):
            memory.writes += step * turns
        motion.apply(core, turns)


@register_impls
@implements({scf.ForOp: _run_for}, lambda _, prepare: by_preparing(prepare))
class CoreLoopFunctions(InterpreterFunctions):
    """Loops of a core's program."""
