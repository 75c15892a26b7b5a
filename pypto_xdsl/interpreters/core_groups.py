"""
The cube core and the vector cores of a group, on tiles: kernels that wait for each other run at
the same time, one core at a time (`turns.py`).

Each core is a machine of its own, that runs what the group calls of its kind, in order. What they
wait for are tiles and free slots of rings, and flags.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xdsl.interpreter import InterpreterFunctions, PythonValues
from xdsl.ir import Operation

from pypto_xdsl.diagnostics import (
    Diagnostic,
    DiagnosticsError,
    OpError,
    diagnose,
    file_line_col,
    note,
    warn,
)
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.orch.function_marks import runs_on_both
from pypto_xdsl.dialects.tile.cross_core import RingOp
from pypto_xdsl.dialects.tile.sync import FlagOp
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import GroupCall, Machine, called_from
from pypto_xdsl.interpreters.rings import Ring, RingShape
from pypto_xdsl.interpreters.tasks import ProgramOrder
from pypto_xdsl.interpreters.turns import Deadlock, Turns

if TYPE_CHECKING:
    from typing import TypeAlias

    RunKernel: TypeAlias = Callable[[Machine, orch.FuncOp, PythonValues], PythonValues]

TO_VECTOR, TO_CUBE = 1, 2
"""Directions of a ring, as in its `dir_mask`."""

_CORE, _WAITS = "core", "waits"


@dataclass(eq=False)
class GroupCore:
    """One core of a group at work."""

    name: str
    place: int
    """In its group."""
    is_cube: bool
    subblock: int
    """Which of the vector cores."""
    group: CoreGroup
    call: Operation | None = None
    """On whose behalf it runs."""
    opened: dict[int, int] = field(default_factory=dict[int, int])
    """How often it has set up the ring of a number."""

    def wait(self, op: Operation, needed: Needed) -> None:
        """Go on once others have done something."""
        if needed.is_there():
            return
        group = self.group
        group.waiting[self.place] = op, needed
        group.turns.wait(self.place, needed.is_there)
        del group.waiting[self.place]

    def set_up(self, op: Operation, number: int, shape: RingShape) -> None:
        """Open this core's end of a ring; the other end has to be the same."""
        turn = self.opened.get(number, 0)
        self.opened[number] = turn + 1
        key = number, turn
        group = self.group
        known = group.rings.setdefault(key, {})
        if not known:
            group.set_up_by[key] = shape, op
            for direction in (TO_VECTOR, TO_CUBE):
                if shape.dir_mask & direction:
                    known[direction] = group.ring(number, shape, direction)
            return
        other_shape, other = group.set_up_by[key]
        if other_shape != shape:
            raise OpError(
                op,
                f"sets up ring {number} as {shape}, and its other end is {other_shape}",
                [note(other, "the other end is set up here")],
            )

    def ring(self, number: int, direction: int) -> Ring:
        """The ring of a number, in a direction. Raises `ProgramError` where there is none."""
        turn = self.opened.get(number, 0) - 1
        if turn < 0:
            raise ProgramError(f"is about ring {number}, which {self.name} has not set up")
        rings = self.group.rings[number, turn]
        if direction not in rings:
            shape, _ = self.group.set_up_by[number, turn]
            raise ProgramError(
                f"is about ring {number}, which passes nothing to the "
                f"{'vector cores' if direction == TO_VECTOR else 'cube core'}: its dir_mask is "
                f"{shape.dir_mask}"
            )
        return rings[direction]


@dataclass(frozen=True)
class Needed:
    """What a core waits for."""

    what: str
    """As in: waits for ..."""
    verb: str
    """What others do that it waits for: `pushes`."""
    is_there: Callable[[], bool]
    """Whether it goes on."""
    lacking: Callable[[], Sequence[int]]
    """The places of those who have not done it yet, where it does not."""


@dataclass(eq=False)
class CoreGroup:
    """Cores that run kernels of a group together."""

    cores: list[GroupCore] = field(default_factory=list[GroupCore])
    turns: Turns = field(init=False)
    waiting: dict[int, tuple[Operation, Needed]] = field(
        default_factory=dict[int, tuple[Operation, Needed]]
    )
    """By the place of a core."""
    rings: dict[tuple[int, int], dict[int, Ring]] = field(
        default_factory=dict[tuple[int, int], dict[int, Ring]]
    )
    """By number, and how often it was set up before; then by direction."""
    set_up_by: dict[tuple[int, int], tuple[RingShape, Operation]] = field(
        default_factory=dict[tuple[int, int], tuple[RingShape, Operation]]
    )
    """What the end that was set up first says."""

    def __post_init__(self) -> None:
        self.turns = Turns(self._deadlock)

    def places(self, *, is_cube: bool) -> Sequence[int]:
        """Where the cores of a kind are."""
        return [core.place for core in self.cores if core.is_cube == is_cube]

    def ring(self, number: int, shape: RingShape, direction: int) -> Ring:
        """A new ring between the cores of the group."""
        cube, vector = self.places(is_cube=True), self.places(is_cube=False)
        push, pop = (cube, vector) if direction == TO_VECTOR else (vector, cube)
        return Ring.between(f"ring {number}", shape, push, pop)

    def named(self, places: Iterable[int]) -> str:
        """The names of cores, in a list."""
        return " and ".join(self.cores[place].name for place in places)

    def left_over(self) -> Sequence[tuple[Operation, str]]:
        """What was pushed and nobody popped."""
        found: list[tuple[Operation, str]] = []
        for rings in self.rings.values():
            for ring in rings.values():
                count = max(ring.pushed.values(), default=0)
                late = [place for place, popped in ring.popped.items() if popped < count]
                if ring.last_push is not None and (late or not ring.popped):
                    who = f"{self.named(late)} never" if late else "nobody"
                    found.append((ring.last_push, f"pushes a tile that {who} takes"))
        return found

    def _deadlock(self) -> Sequence[Diagnostic]:
        """One error: every core that waits, and for whom."""
        found: list[tuple[bool, tuple[int, int], GroupCore, Operation, Needed]] = []
        for place, (op, needed) in self.waiting.items():
            # What comes first is what everything else follows from: it waits for those who have
            # ended, or, where all wait for each other, is the first in the program.
            is_pending = not all(map(self.turns.is_done, needed.lacking()))
            found.append((is_pending, _position(op), self.cores[place], op, needed))
        found.sort(key=lambda one: one[:2])
        (_, _, core, op, needed), *others = found
        who = self.named(needed.lacking())
        never = f"{who} never {needed.verb}" if who else f"nobody {needed.verb}"
        notes = [note(o, f"{other.name} waits for {n.what}") for _, _, other, o, n in others]
        notes += [
            note(other.call, f"{other.name} has come to its end")
            for other in self.cores
            if self.turns.is_done(other.place) and other.call is not None
        ]
        message = f"waits forever: {core.name} waits for {needed.what}, which {never}"
        error = DiagnosticsError((diagnose(op, message, notes),))
        return _on_behalf(core, error).diagnostics


def core_of(machine: Machine) -> GroupCore:
    """The core that a machine is. Raises `ProgramError` where it is none of a group."""
    core = machine.get_data(_Cores, _CORE, lambda: None)
    if core is None:
        raise ProgramError(
            "is about another core, and its kernel runs alone: have a group call it, together with "
            "the kernel of the other core"
        )
    return core


def waits_for_cores(machine: Machine, function: orch.FuncOp) -> bool:
    """Whether a function, or one that it calls, waits for another core of its group."""
    known = machine.get_data(_Cores, _WAITS, dict[orch.FuncOp, bool])
    if function not in known:
        known[function] = False
        known[function] = any(
            isinstance(op, RingOp | FlagOp)
            or (
                isinstance(op, orch.DispatchOp)
                and (callee := machine.calls.callee(op)) is not None
                and waits_for_cores(machine, callee)
            )
            for op in function.walk()
        )
    return known[function]


@contextmanager
def calling_together(machine: Machine, run: RunKernel) -> Generator[None]:
    """A group calls its kernels: those that wait for each other run when all are called."""
    if machine.group_calls is not None:
        yield
        return
    scheduler = machine.scheduler
    machine.group_calls, machine.scheduler = [], ProgramOrder()
    try:
        yield
        run_called(machine, run)
    finally:
        machine.group_calls, machine.scheduler = None, scheduler


def run_called(machine: Machine, run: RunKernel) -> Sequence[PythonValues]:
    """Run what a group has called so far; the results of those whose bodies are here."""
    calls = machine.group_calls or []
    machine.group_calls = []
    own = [call for call in calls if not call.function.is_declaration]
    results = _run_together(machine, own, run) if own else ()
    lowered = [call for call in calls if call.function.is_declaration]
    if lowered:
        assert machine.run_group is not None
        machine.run_group(machine, lowered)
    return results


def _run_together(
    machine: Machine, calls: Sequence[GroupCall], run: RunKernel
) -> Sequence[PythonValues]:
    """Run kernels on the cores of their kinds; the results of each."""
    group = CoreGroup()
    results: list[PythonValues] = [()] * len(calls)
    places = [(call, place) for place, call in enumerate(calls)]
    cube = [(c, p) for c, p in places if c.function.kind.data is FunctionKind.AIC]
    vector = [(c, p) for c, p in places if c.function.kind.data is not FunctionKind.AIC]
    work = [(-1, cube)] if cube else []
    if any(runs_on_both(call.function) for call, _ in vector):
        work += [(0, vector), (1, vector)]
    elif vector:
        work.append((machine.grid.subblock_index, vector))
    programs: list[Callable[[], None]] = []
    ready: list[tuple[object, Machine]] = []
    for subblock, share in work:
        name = "the cube core"
        if subblock >= 0:
            name = "the vector core" if len(work) < 3 else f"the {_ORDER[subblock]} vector core"
        if machine.grid.block_count > 1:
            name += f" of block {machine.grid.block_index}"
        core = GroupCore(name, len(group.cores), subblock < 0, max(0, subblock), group)
        group.cores.append(core)
        runner = machine.core_programs.pop((_Cores, subblock), None) or machine.another()
        ready.append(((_Cores, subblock), runner))
        runner.grid = replace(machine.grid, subblock_index=core.subblock)
        runner.set_data(_Cores, _CORE, core)

        def program(
            core: GroupCore = core,
            runner: Machine = runner,
            share: Sequence[tuple[GroupCall, int]] = share,
        ) -> None:
            for call, place in share:
                core.call = call.site
                try:
                    results[place] = run(runner, call.function, call.arguments)
                except Deadlock:
                    raise
                except DiagnosticsError as e:
                    raise _on_behalf(core, e) from e

        programs.append(program)
    group.turns.run(programs)
    # Those that failed may be in any state: they are not used again.
    machine.core_programs.update(ready)
    for op, problem in group.left_over():
        if machine.strict:
            raise OpError(op, problem)
        warn(op, problem)
    return results


_ORDER = ("first", "second")


class _Cores(InterpreterFunctions):
    """Whose data the core is that a machine runs."""


def _on_behalf(core: GroupCore, error: DiagnosticsError) -> DiagnosticsError:
    if isinstance(core.call, orch.DispatchOp):
        return called_from(error, core.call, core.call.callee_name)
    return error


def _position(op: Operation) -> tuple[int, int]:
    position = file_line_col(op.location)
    return (0, 0) if position is None else position[1:]
