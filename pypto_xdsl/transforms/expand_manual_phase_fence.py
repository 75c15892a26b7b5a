"""
expand-manual-phase-fence: puts one task to wait for between many that end and many that start.

In a manual scope each task waits for the tasks that it names. Where all tasks of a loop wait for
all tasks of an array, N tasks times M waits become N + M by way of a task that does nothing:

    scf.for ... {                          %fence = orch.task_dummy deps [%all]
      orch.submit @k(...) deps [%all]      scf.for ... {
    }                              ->        orch.submit @k(...) deps [%fence]
                                           }

Only in functions of kind `orchestration`. A task counts if the array is all that it waits for.
Tasks in loops inside count as often as these run; where that is not known, they are looked at
with their own loop. An outer loop is decided before the loops in it, so that the fence stands as
far out as it pays: N * M - (N + M) >= 1.

A parallel loop must be known to run; a sequential one whose trips are not known counts as one. A
loop that never runs is left alone, and so are tasks that wait for a different array in each
iteration (one that is carried, or made in the body): there is nothing in front of the loop to wait
for. Where the body updates the array, through whichever name, the tasks stay as they are: in
PyPTO's programs these names are one array. A remark says so, as it does of a parallel loop whose
trips are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from pypto_xdsl.analysis.control_flow import constant_trip_count, forwarding, is_loop
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import note, remark
from pypto_xdsl.dialects.orch import (
    TASK_ID,
    ArrayUpdateOp,
    FuncOp,
    LaunchingOp,
    ScopeMode,
    TaskDummyOp,
    TaskScopeOp,
    is_array,
    is_sequential,
)
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.locating import at

LEAST_SAVING = 1
"""A fence is put where so many waits are saved."""


@dataclass(frozen=True)
class ExpandManualPhaseFencePass(CheckedPass):
    """Let the tasks of a loop wait for one task instead of for each of an array."""

    name = "expand-manual-phase-fence"
    required = ("SplitIncoreOrch", "NormalizedStmtStructure", "CallDirectionsResolved")
    produced = ("NormalizedStmtStructure", "CallDirectionsResolved")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        functions = [op for op in walk(module) if isinstance(op, FuncOp) and op.is_orchestration]
        for function in functions:
            _Fences(function).run()


@dataclass(frozen=True)
class _Fence:
    """A task to put before a loop."""

    loop: scf.ForOp
    array: SSAValue
    consumers: Sequence[LaunchingOp]


@dataclass
class _Loop:
    """A loop around tasks that wait for one array."""

    op: scf.ForOp
    parent: _Loop | None
    tasks: list[LaunchingOp] = field(default_factory=list[LaunchingOp])
    """Those that have no other loop around."""
    inside: list[_Loop] = field(default_factory=list["_Loop"])
    waits: int = 0
    """How often a task waits for the array, each time the loop runs."""
    is_counted: bool = False
    """Whether the loops around count these waits too."""


class _Fences:
    """The fences of one function."""

    def __init__(self, function: FuncOp):
        self._order: dict[Operation, int] = {}
        """Loops and the tasks that wait for one array -> their place in the text."""
        self._consumers: dict[SSAValue, list[LaunchingOp]] = {}
        self._updates: dict[SSAValue, list[ArrayUpdateOp]] = {}
        """Storage of an array -> what updates it."""
        storage = _Storage()
        updates: list[ArrayUpdateOp] = []
        for op in walk(function):
            if isinstance(op, LaunchingOp):
                if len(op.deps) == 1 and _is_task_array(op.deps[0]):
                    self._order[op] = len(self._order)
                    self._consumers.setdefault(op.deps[0], []).append(op)
            elif isinstance(op, ArrayUpdateOp):
                storage.join(op.array, op.result)
                updates.append(op)
            elif is_loop(op):
                self._order[op] = len(self._order)
                for step in forwarding(op):
                    if step.op is op and is_array(step.target.type):
                        storage.join(step.source, step.target)
        for update in updates:
            self._updates.setdefault(storage.of(update.array), []).append(update)
        self._storage = storage

    def run(self) -> None:
        found = [fence for array in self._consumers for fence in self._fences(array)]
        found.sort(key=lambda fence: (self._order[fence.loop], self._order[fence.consumers[0]]))
        for number, fence in enumerate(found):
            dummy = at(fence.loop, TaskDummyOp([fence.array]))
            dummy.task.name_hint = f"phase_fence_barrier_{number}_tid"
            block = fence.loop.parent
            assert block is not None
            block.insert_op_before(dummy, fence.loop)
            for task in fence.consumers:
                task.set_deps([dummy.task])

    def _fences(self, array: SSAValue) -> Iterator[_Fence]:
        """The fences for the tasks that wait for one array."""
        loops = _loops_around(self._consumers[array], array)
        if not loops:
            return
        updating = self._updating(array)
        todo = [loop for loop in reversed(loops) if loop.parent is None]
        while todo:
            loop = todo.pop()
            if constant_trip_count(loop.op) == 0:
                continue
            if self._pays(loop, array) and _is_manual(loop.op):
                if loop.op not in updating:
                    covered = sorted(_covered(loop), key=self._order.__getitem__)
                    yield _Fence(loop.op, array, covered)
                    # The tasks that are not counted have a loop of their own inside.
                    todo += [inner for inner in _inside(loop) if not inner.is_counted]
                    continue
                self._say_updated(loop, array, updating[loop.op])
            elif _may_pay(loop, array) and _is_manual(loop.op):
                remark(
                    loop.op,
                    f"{_spelled(loop, array)} each: a fence may pay, but how often the parallel "
                    "loop runs is not known",
                )
            todo += reversed(loop.inside)

    def _updating(self, array: SSAValue) -> dict[Operation, ArrayUpdateOp]:
        """The ops around what updates an array, where the array can be seen."""
        home = _home(array)
        found: dict[Operation, ArrayUpdateOp] = {}
        for update in self._updates.get(self._storage.of(array), ()):
            around: Operation | None = update
            while around is not None and around not in found:
                found[around] = update
                around = None if around.parent is home else around.parent_op()
        return found

    def _pays(self, loop: _Loop, array: SSAValue) -> bool:
        producers = _extent(array)
        return producers * loop.waits - (producers + loop.waits) >= LEAST_SAVING

    def _say_updated(self, loop: _Loop, array: SSAValue, update: ArrayUpdateOp) -> None:
        remark(
            loop.op,
            f"{_spelled(loop, array)} each: a fence would pay, but the loop updates the array",
            [note(update, "it is updated here")],
        )


class _Storage:
    """Which arrays are one on the stack."""

    def __init__(self) -> None:
        self._parents: dict[SSAValue, SSAValue] = {}

    def of(self, array: SSAValue) -> SSAValue:
        """The array that stands for all that share the storage of one."""
        parents = self._parents
        while (parent := parents.get(array, array)) is not array:
            parents[array] = parents.get(parent, parent)
            array = parent
        return array

    def join(self, one: SSAValue, other: SSAValue) -> None:
        """Two arrays are one on the stack."""
        one, other = self.of(one), self.of(other)
        if one is not other:
            self._parents[other] = one


def _loops_around(tasks: Iterable[LaunchingOp], array: SSAValue) -> list[_Loop]:
    """The loops around tasks in which an array can be seen, outer ones first."""
    home = _home(array)
    known: dict[scf.ForOp, _Loop] = {}
    for task in tasks:
        chain: list[scf.ForOp] = []
        around: Operation | None = task
        while around is not None and around.parent is not home:
            around = around.parent_op()
            if isinstance(around, scf.ForOp):
                chain.append(around)
                if around in known:
                    break
        parent: _Loop | None = None
        for op in reversed(chain):
            loop = known.get(op)
            if loop is None:
                loop = known[op] = _Loop(op, parent)
                if parent is not None:
                    parent.inside.append(loop)
            parent = loop
        if parent is not None:
            parent.tasks.append(task)
    loops = list(known.values())
    for loop in reversed(loops):
        each = len(loop.tasks) + sum(inner.waits for inner in loop.inside if inner.is_counted)
        trips = constant_trip_count(loop.op)
        if trips is None:
            trips = 1 if is_sequential(loop.op) else 0
        else:
            loop.is_counted = True
        loop.waits = each * trips
    return loops


def _covered(loop: _Loop) -> Iterator[LaunchingOp]:
    """The tasks whose waits are counted for a loop."""
    todo = [loop]
    while todo:
        one = todo.pop()
        yield from one.tasks
        todo += [inner for inner in one.inside if inner.is_counted]


def _inside(loop: _Loop) -> Iterator[_Loop]:
    """The loops inside, outer ones first; not those inside of one that is not counted."""
    todo = loop.inside[::-1]
    while todo:
        one = todo.pop()
        yield one
        if one.is_counted:
            todo += one.inside[::-1]


def _may_pay(loop: _Loop, array: SSAValue) -> bool:
    """Whether a fence pays if a parallel loop runs often enough."""
    unknown = not is_sequential(loop.op) and constant_trip_count(loop.op) is None
    return unknown and _extent(array) > 1 and bool(loop.tasks)


def _is_manual(op: Operation) -> bool:
    """Whether the program orders the tasks around an op."""
    around = op.parent_op()
    while around is not None and not isinstance(around, TaskScopeOp):
        around = around.parent_op()
    return around is not None and around.mode.data is ScopeMode.MANUAL


def _is_task_array(value: SSAValue) -> bool:
    return is_array(value.type) and value.type.element_type == TASK_ID


def _extent(array: SSAValue) -> int:
    assert is_array(array.type)
    return array.type.extent.data


def _home(value: SSAValue) -> Block | None:
    """The block in which a value is defined."""
    owner = value.owner
    return owner if isinstance(owner, Block) else owner.parent


def _spelled(loop: _Loop, array: SSAValue) -> str:
    name = f" of %{array.name_hint}" if array.name_hint else ""
    return f"its tasks wait for {_extent(array)} tasks{name}"
