"""
Running tasks in any order that the runtime's task graph allows.

The orchestrator goes on without waiting; each launched kernel becomes a task that waits for the
tasks that the runtime makes it wait for (`analysis/task_map.py`), and for no others. Tasks run
when the orchestrator needs them, because it reads an element, and at the end; which of those that
are ready comes next is drawn at random, or is the latest. A program whose numbers depend on the
draw has a hazard.

A task whose result is a buffer of its kernel's own runs where it is launched, after what it waits
for, since only the kernel can tell the buffer; so does a scope of work that is no function yet.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from pypto_xdsl.analysis.task_map import Access, TaskMap
from pypto_xdsl.analysis.tensor_handles import Buffer as KnownBuffer
from pypto_xdsl.analysis.tensor_handles import Handle
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import (
    ArgDirection,
    DispatchOp,
    ScopeMode,
    TaskDummyOp,
    TaskScopeOp,
)
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.skipped import results_of_skipped
from pypto_xdsl.interpreters.tasks import Launch, Task
from pypto_xdsl.interpreters.values import Buffer, Tensor


@dataclass
class _Pending:
    """A task that has not run yet."""

    launch: Launch | None
    """None for a task that does nothing."""
    waits_for: frozenset[int]
    """Tasks that were pending when it was launched."""


@dataclass(eq=False)
class TaskGraphOrder(Interpreter.Listener):
    """A scheduler, and the listener that hears of what the orchestrator does itself."""

    seed: int | None = None
    """Of the draw among ready tasks; None: the latest first."""
    _map: TaskMap = field(default_factory=TaskMap)
    _pending: dict[int, _Pending] = field(default_factory=dict[int, _Pending])
    _buffers: dict[int, tuple[Buffer, KnownBuffer]] = field(
        default_factory=dict[int, tuple[Buffer, KnownBuffer]]
    )
    _running: int = 0
    _manual: int = 0
    _dependencies: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    # As a scheduler.

    def launch(self, machine: Machine, launch: Launch) -> PythonValues:
        """Take note of a task; its results are names of its arguments."""
        callee = launch.callee
        if self._running:
            return launch.run()
        if callee is None:
            self.finish(machine)
            return self._run_one(launch)
        if not callee.kind.data.is_device:
            return launch.run()
        op = launch.op
        assert isinstance(op, DispatchOp)
        number = launch.task.number
        for value in launch.arguments[len(op.arguments) :]:
            # The runtime allocates what is left out, with the task.
            if isinstance(value, Tensor):
                self._known(value.buffer, owner=number)
        edges = self._map.submit(
            number,
            tuple(self._accesses(op, launch.arguments)),
            [(task.number, True) for task in launch.dependencies],
            is_manual=self._manual > 0,
        )
        waits_for = frozenset(edge.producer for edge in edges if edge.producer in self._pending)
        self._pending[number] = _Pending(launch, waits_for)
        try:
            return results_of_skipped(machine.lineage, callee, launch.arguments)
        except ProgramError:
            self._run_all(self._needed([number]) - {number})
            del self._pending[number]
            return self._run_one(launch)

    def finish(self, machine: Machine) -> None:
        """Run all that has not run yet."""
        self._run_all(set(self._pending))

    def _accesses(self, op: DispatchOp, arguments: PythonValues) -> Iterator[Access]:
        directions = op.directions
        if directions is None and op.arguments:
            raise ProgramError("has no directions of its arguments: run 'derive-call-directions'")
        for index, direction in enumerate(directions or ()):
            value = arguments[index]
            if isinstance(value, Tensor):
                reads = direction in (ArgDirection.INPUT, ArgDirection.INOUT)
                yield Access(self._handle(value), direction, reads, not reads, f"argument {index}")

    def _handle(self, tensor: Tensor) -> Handle:
        size = tensor.array.itemsize
        place = tensor.array.__array_interface__["data"][0] - tensor.buffer.address
        return Handle(
            self._known(tensor.buffer),
            place // size,
            tuple(tensor.array.shape),
            tuple(stride // size for stride in tensor.array.strides),
            size,
        )

    def _known(self, buffer: Buffer, owner: int | None = None) -> KnownBuffer:
        # Holding the buffer keeps its identity from being used again.
        if id(buffer) not in self._buffers:
            known = KnownBuffer(f"buffer {len(self._buffers)}", buffer.memory.nbytes, owner=owner)
            self._buffers[id(buffer)] = buffer, known
        return self._buffers[id(buffer)][1]

    # Running.

    def _needed(self, wanted: Sequence[int]) -> set[int]:
        """The pending tasks among `wanted`, and those that they wait for."""
        needed: set[int] = set()
        todo = list(wanted)
        while todo:
            number = todo.pop()
            if number in self._pending and number not in needed:
                needed.add(number)
                todo.extend(self._pending[number].waits_for)
        return needed

    def _run_all(self, numbers: set[int]) -> None:
        """Run pending tasks, each after those that it waits for."""
        open_waits = {n: len(self._pending[n].waits_for & numbers) for n in numbers}
        followers: dict[int, list[int]] = {}
        for number in numbers:
            for producer in self._pending[number].waits_for & numbers:
                followers.setdefault(producer, []).append(number)
        ready = [(self._rank(n), n) for n in sorted(numbers) if not open_waits[n]]
        heapq.heapify(ready)
        while ready:
            _, number = heapq.heappop(ready)
            pending = self._pending.pop(number)
            if pending.launch is not None:
                self._run_one(pending.launch)
            for follower in sorted(followers.get(number, ())):
                open_waits[follower] -= 1
                if not open_waits[follower]:
                    heapq.heappush(ready, (self._rank(follower), follower))

    def _rank(self, number: int) -> float:
        return -number if self.seed is None else self._random.random()

    def _run_one(self, launch: Launch) -> PythonValues:
        self._running += 1
        try:
            return launch.run()
        finally:
            self._running -= 1

    # As a listener: what the orchestrator does itself.

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        if self._running:
            return
        if isinstance(op, TaskScopeOp):
            self._manual += op.mode.data is ScopeMode.MANUAL
        elif isinstance(op, TaskDummyOp):
            self._dependencies = tuple(task.number for task in _tasks(args))
        elif isinstance(op, DeclaredOp) and op.READS_ELEMENTS:
            for operand, _ in op.operand_effects():
                place = next(i for i, value in enumerate(op.operands) if value is operand)
                if isinstance(args[place], Tensor):
                    self._wait_for_writers(args[place])

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if self._running:
            return
        if isinstance(op, TaskScopeOp):
            self._manual -= op.mode.data is ScopeMode.MANUAL
        elif isinstance(op, TaskDummyOp):
            waits_for = frozenset(n for n in self._dependencies if n in self._pending)
            self._pending[results[0].number] = _Pending(None, waits_for)

    def _wait_for_writers(self, tensor: Tensor) -> None:
        """The orchestrator waits for whoever allocated and wrote what it looks at."""
        handle = self._handle(tensor)
        wanted = self._map.writers(handle)
        if handle.buffer.owner is not None:
            wanted.append(handle.buffer.owner)
        self._run_all(self._needed(wanted))


def _tasks(values: Sequence[Any]) -> Iterator[Task]:
    for value in values:
        if isinstance(value, tuple):
            yield from _tasks(value)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, Task):
            yield value
