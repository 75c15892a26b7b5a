"""
Loops whose iterations all do the same to what a core checks.

A kernel mostly walks over large arrays: each iteration loads a block, computes, and stores one, at
the same places on the core, with the same events. Once an iteration has been checked that leaves
what the checks depend on as it found it, but for numbers that count on (`check_state.py`), all
iterations that follow pass the same checks. They run as what is left of them: a Python function
from windows of global memory to windows of global memory (`loop_code.py`).

An iteration is one of these if its instructions have array forms, its events are known, and only
windows of global memory depend on the index. Whatever does not fit, is undefined, or lies outside
ends it: the iteration runs as every other, and tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls

from pypto_xdsl.interpreters.ascend910b.check_state import CheckState, Motion
from pypto_xdsl.interpreters.ascend910b.core import Core
from pypto_xdsl.interpreters.ascend910b.functions import core_of
from pypto_xdsl.interpreters.ascend910b.loop_code import BoundLoop, LoopCode, Ops
from pypto_xdsl.interpreters.ascend910b.loop_iteration import LoopIteration
from pypto_xdsl.interpreters.ascend910b.loop_shape import LoopNest, Step
from pypto_xdsl.interpreters.control_flow import (
    index_maker,
    loop_iterations,
    run_loop,
    told,
)
from pypto_xdsl.interpreters.execution import Prepared, by_preparing
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.op_tables import implements

_FEWEST = 6
"""How many iterations a loop must have for it to pay."""

_FAILURES = 3
"""After how many runs that were not steady there is no other try."""

_TRIES = 4
"""How many iterations are compared with the one before."""

_AT_ONCE = 1024
"""After how many iterations what they did to global memory is filed."""


def _run_for(interpreter: Interpreter, op: scf.ForOp) -> Prepared:
    core = core_of(interpreter)

    def run_any(args: PythonValues) -> PythonValues:
        return run_loop(interpreter, op, args)

    if not isinstance(interpreter, Machine) or core.settings.seed is not None:
        return run_any
    machine = interpreter
    nests: list[LoopNest | None] = []

    def steps_of(loop: scf.ForOp) -> Sequence[Step]:
        return machine.region_plan(loop.body).steps()

    def run(args: PythonValues) -> PythonValues:
        iterations = loop_iterations(args)
        if len(iterations) < _FEWEST or machine.listeners:
            return run_any(args)
        if not nests:
            nests.append(LoopNest.of(op, steps_of))
        (nest,) = nests
        if nest is None or nest.failures >= _FAILURES:
            return run_any(args)
        return _Run(machine, core, op, nest).run(iterations, args[3:])

    return run


@dataclass(frozen=True)
class _Known:
    """What one run of a loop has shown."""

    code: LoopCode
    ops: Ops
    """What each lane is given in an iteration."""
    first: int
    """The iterations before the first of `states`."""
    states: Sequence[CheckState]
    """The states after each of some iterations, of which none gave the lanes anything else."""
    motion: Motion
    """How each iteration moves the numbers after the last of them."""
    histories: Sequence[int]
    """The buffers that are accessed, by their places among those of the group."""

    def after(self, iterations: int) -> CheckState:
        """The state after so many iterations."""
        place = iterations - self.first
        if place < len(self.states):
            return self.states[place]
        return self.states[-1].moved(self.motion, place - len(self.states) + 1)


class _Run:
    """One run of a loop that may be steady."""

    def __init__(self, machine: Machine, core: Core, op: scf.ForOp, nest: LoopNest) -> None:
        self._machine, self._core, self._op, self._nest = machine, core, op, nest
        self._plan = machine.region_plan(op.body)
        self._index = index_maker(op)

    def run(self, iterations: range, carried: PythonValues) -> PythonValues:
        """Run all iterations; what the last one returns."""
        progress = self._machine.progress
        if progress is None:
            return self._run(iterations, carried)
        progress.enter(self._op, len(iterations))
        try:
            return self._run(iterations, carried)
        finally:
            progress.leave()

    def _run(self, iterations: range, carried: PythonValues) -> PythonValues:
        known, place = self._nest.known, 0
        if known is not None and known.first < len(iterations):
            place, carried = self._repeat(known, iterations, carried)
        if known is None or place == known.first:
            place, carried = self._learn(iterations, place, carried)
        return self._iterations(iterations[place:], carried) if place < len(iterations) else carried

    def _iterations(self, iterations: range, carried: PythonValues) -> PythonValues:
        indices = map(self._index, iterations)
        if self._machine.progress is not None:
            indices = told(self._machine.progress, indices)
        return self._plan.repeat(indices, len(iterations), carried)

    def _iteration(self, index: int, carried: PythonValues) -> LoopIteration | None:
        return LoopIteration.of(self._machine, self._core, self._nest, self._index(index), carried)

    def _repeat(
        self, known: _Known, iterations: range, carried: PythonValues
    ) -> tuple[int, PythonValues]:
        """Run iterations like those of a run before; how many were run."""
        core, first = self._core, known.first
        carried = self._iterations(iterations[:first], carried)
        motion = known.states[0].moved_to(CheckState.of(core))
        iteration = None if motion is None else self._iteration(iterations[first], carried)
        if motion is None or iteration is None:
            return first, carried
        bound = known.code.bind(iteration)
        if bound is None or known.histories != _histories(core, bound):
            return first, carried
        return self._steady(
            bound, iterations, first, carried, known.ops, lambda n: known.after(n).seen_from(motion)
        )

    def _learn(
        self, iterations: range, place: int, carried: PythonValues
    ) -> tuple[int, PythonValues]:
        """Run iterations until they are steady, then as what is left of them; how many were run."""
        core, nest = self._core, self._nest
        if not place:
            place, carried = 1, self._iterations(iterations[:1], carried)
        first = place
        states = [CheckState.of(core)]
        ops: list[Ops] = []
        for _ in range(min(_TRIES, len(iterations) - place - 1)):
            counts = [len(lane.ops) for lane in core.lanes]
            carried = self._iterations(iterations[place : place + 1], carried)
            place += 1
            states.append(CheckState.of(core))
            ops.append([lane.ops[n:] for lane, n in zip(core.lanes, counts, strict=True)])
            motion = states[-2].moved_to(states[-1])
            if motion is not None and states[-2].looks == states[-1].looks:
                break
        else:
            nest.failures += 1
            return place, carried
        iteration = self._iteration(iterations[place], carried)
        code = None if iteration is None else LoopCode.of(iteration, ops[-1])
        bound = None if code is None or iteration is None else code.bind(iteration)
        if code is None or bound is None or not any(motion.steps):
            nest.failures += 1
            return place, carried
        last, start = states[-1], place
        found = self._steady(
            bound, iterations, place, carried, ops[-1], lambda n: last.moved(motion, n - start)
        )
        # What has not been like the last ones is no part of what may be repeated.
        skipped = _unlike(states, ops, motion)
        nest.known = _Known(
            code, ops[-1], first + skipped, states[skipped:], motion, _histories(core, bound)
        )
        return found

    def _steady(
        self,
        loop: BoundLoop,
        iterations: range,
        place: int,
        carried: PythonValues,
        ops: Ops,
        state_after: Callable[[int], CheckState],
    ) -> tuple[int, PythonValues]:
        """Run iterations from a place on, as long as they are steady; how many were run then."""
        progress = self._machine.progress
        while place < len(iterations):
            some = iterations[place : place + _AT_ONCE]
            done, carried = loop.run(some, carried)
            place += done
            if done:
                state_after(place).restore(self._core, ops, done)
            if progress is not None:
                for _ in range(done):
                    progress.advance()
            if done < len(some):
                break
        return place, carried


def _unlike(states: Sequence[CheckState], ops: Sequence[Ops], motion: Motion) -> int:
    """How many states come before those between which all iterations did as the last one did."""
    last = states[-1]
    for place in range(len(ops) - 1, -1, -1):
        before, after = states[place], states[place + 1]
        if (
            ops[place] != ops[-1]
            or before.structure != last.structure
            or before.looks != last.looks
            or [b - a for a, b in zip(before.counts, after.counts, strict=True)] != motion.steps
        ):
            return place + 1
    return 0


def _histories(core: Core, loop: BoundLoop) -> list[int]:
    """The places of the buffers that a loop accesses among all that a group knows."""
    places = {id(history): n for n, history in enumerate(core.group.histories.values())}
    return [places[id(access.history)] for access in loop.accesses]


@register_impls
@implements({scf.ForOp: _run_for}, lambda _, prepare: by_preparing(prepare))
class CoreLoopFunctions(InterpreterFunctions):
    """Loops of a core's program."""
