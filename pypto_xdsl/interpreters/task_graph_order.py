"""
Running tasks in any order that the runtime's task graph allows.

The orchestrator goes on without waiting; each launched kernel becomes a task that waits for the
tasks that the runtime makes it wait for (`analysis/task_map.py`), and for no others. Tasks run
while the orchestrator waits, because it reads or writes an element, and at the end; which of those
that are ready comes next is drawn at random, or is the latest. A program whose numbers depend on
the draw, or differ from those of the order in which it launches, has a hazard.

A task whose result is a buffer of its kernel's own runs where it is launched, after what it waits
for, since only the kernel can tell the buffer; so does a scope of work that is no function yet.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation, OpResult, SSAValue

from pypto_xdsl.analysis.task_map import Access, TaskMap
from pypto_xdsl.analysis.tensor_handles import Buffer as KnownBuffer
from pypto_xdsl.analysis.tensor_handles import Handle
from pypto_xdsl.dialects.declared_op import DeclaredOp, Effect
from pypto_xdsl.dialects.orch import (
    MANUAL_DEP,
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
    waits: int
    """For so many tasks that have not run yet."""
    followers: list[int] = field(default_factory=list[int])
    """Tasks that wait for it."""


@dataclass(eq=False)
class TaskGraphOrder(Interpreter.Listener):
    """A scheduler, and the listener that hears of what the orchestrator does itself."""

    seed: int | None = None
    """Of the draw among ready tasks; None: the latest first."""
    _map: TaskMap = field(default_factory=TaskMap)
    _pending: dict[int, _Pending] = field(default_factory=dict[int, _Pending])
    _ready: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    """The pending tasks that wait for none, a heap: the first runs next."""
    _buffers: dict[int, tuple[Buffer, KnownBuffer]] = field(
        default_factory=dict[int, tuple[Buffer, KnownBuffer]]
    )
    _running: int = 0
    _manual: int = 0
    _dependencies: tuple[int, ...] = ()
    _arguments: PythonValues = ()
    """Of the op that the orchestrator does now."""
    _allocations: int = 0
    _retainers: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """The tasks that keep the buffers of a task alive."""
    _by_hand: dict[int, Tensor] = field(default_factory=dict[int, Tensor])
    """Names of tensors that are `manual_dep`."""

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
        for edge in edges:
            if edge.retains:
                self._retainers.setdefault(edge.producer, []).append(number)
        producers = {edge.producer for edge in edges}
        try:
            results = results_of_skipped(machine.lineage, callee, launch.arguments)
        except ProgramError:
            self._run_until(producers)
            return self._run_one(launch)
        self._enter(number, launch, producers)
        return results

    def finish(self, machine: Machine) -> None:
        """Run all that has not run yet."""
        self._run_until(self._pending)

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
            id(tensor) in self._by_hand,
        )

    def _known(self, buffer: Buffer, owner: int | None = None) -> KnownBuffer:
        # Holding the buffer keeps its identity from being used again.
        if id(buffer) not in self._buffers:
            known = KnownBuffer(f"buffer {len(self._buffers)}", buffer.memory.nbytes, owner=owner)
            self._buffers[id(buffer)] = buffer, known
        return self._buffers[id(buffer)][1]

    # Running.

    def _enter(self, number: int, launch: Launch | None, producers: Iterable[int]) -> None:
        """A task is launched, which waits for others."""
        waited = [self._pending[n] for n in sorted(producers) if n in self._pending]
        for pending in waited:
            pending.followers.append(number)
        self._pending[number] = _Pending(launch, len(waited))
        if not waited:
            heapq.heappush(self._ready, (self._rank(number), number))

    def _run_until(self, wanted: Iterable[int]) -> None:
        """Run pending tasks, each after those that it waits for, until all of `wanted` have run."""
        missing = {number for number in wanted if number in self._pending}
        while missing:
            _, number = heapq.heappop(self._ready)
            pending = self._pending.pop(number)
            missing.discard(number)
            if pending.launch is not None:
                self._run_one(pending.launch)
            for follower in pending.followers:
                self._pending[follower].waits -= 1
                if not self._pending[follower].waits:
                    heapq.heappush(self._ready, (self._rank(follower), follower))

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
        elif isinstance(op, DeclaredOp):
            self._arguments = args
            if op.READS_ELEMENTS and not _puts_back(op, args):
                for operand, effect in op.operand_effects():
                    value = _value_of(op, operand, args)
                    if isinstance(value, Tensor):
                        self._wait_for(value, effect)

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if self._running:
            return
        if isinstance(op, TaskScopeOp):
            self._manual -= op.mode.data is ScopeMode.MANUAL
        elif isinstance(op, TaskDummyOp):
            self._enter(results[0].number, None, set(self._dependencies))
        elif isinstance(op, DeclaredOp):
            for result, value in zip(op.results, results, strict=True):
                if isinstance(value, Tensor):
                    self._name(op, result, value)

    def _name(self, op: DeclaredOp, result: OpResult, value: Tensor) -> None:
        """Take note of a new buffer, or of a new name of one."""
        named = op.named_operand(result)
        if named is None:
            # By a task that is complete at once, and no other has its number.
            self._allocations += 1
            self._known(value.buffer, owner=-self._allocations)
            by_hand = MANUAL_DEP in op.attributes
        else:
            source = _value_of(op, named, self._arguments)
            by_hand = id(source) in self._by_hand and not op.is_view(result)
        if by_hand:
            self._by_hand[id(value)] = value

    def _wait_for(self, tensor: Tensor, effect: Effect) -> None:
        """
        The orchestrator waits for whoever allocated and wrote what it looks at, and before it
        writes also for whoever keeps the buffers of these alive.
        """
        handle = self._handle(tensor)
        wanted = [number for number, _ in self._map.writers(handle)]
        if handle.buffer.owner is not None:
            wanted.append(handle.buffer.owner)
        if effect.writes:
            wanted += [kept for number in tuple(wanted) for kept in self._retainers.pop(number, ())]
        self._run_until(wanted)


def _value_of(op: Operation, operand: SSAValue, args: PythonValues) -> object:
    return next(args[i] for i, value in enumerate(op.operands) if value is operand)


def _puts_back(op: DeclaredOp, args: PythonValues) -> bool:
    """Whether an op copies a window to where it is already: nothing moves."""
    for result in op.results:
        copied, named = op.copied_window(result), op.named_operand(result)
        if copied is None or named is None:
            continue
        source, target = _value_of(op, copied[0], args), _value_of(op, named, args)
        starts = [s if isinstance(s, int) else _value_of(op, s, args) for s in copied[1]]
        if (
            isinstance(source, Tensor)
            and isinstance(target, Tensor)
            and source.is_window_of(target, [s for s in starts if isinstance(s, int)])
        ):
            return True
    return False


def _tasks(values: Sequence[Any]) -> Iterator[Task]:
    for value in values:
        if isinstance(value, tuple):
            yield from _tasks(value)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, Task):
            yield value
