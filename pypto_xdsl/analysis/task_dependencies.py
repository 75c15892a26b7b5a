"""
Which tasks of an orchestration function have to wait for which, by what they touch.

Unlike `analysis/task_graph.py`, which follows a run trip by trip and says what the runtime will
do, this reads the text once and says what has to be: for each call and submit the earlier ones
that touch the same bytes, at least one of the two writing.

* A task that writes all that an earlier one touches, and waits for it, stands for it afterwards.
* What is touched in a branch or a loop counts for what follows, as it may have happened; nothing
  that may not happen stands for anything.
* In a sequential loop a task also waits for tasks of earlier iterations (`carried`), where the
  runtime does not see to it: it never lets a writer wait for readers. Iterations of a parallel
  loop are independent, as the user says.

Tasks of manual scopes are the user's, and so are arguments marked `no_dep`. Each name of a buffer
is found by `BufferRoots`. A buffer of which more than `MOST_WAITS` tasks are in the way of one is
left to the runtime, so that the analysis stays linear in the function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.buffer_roots import BufferRoots, Place
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.control_flow import Shape, constant_trip_count
from pypto_xdsl.analysis.task_names import Names, TaskNames, task_shape
from pypto_xdsl.analysis.tensor_handles import Buffer, Handle, HandleIndex
from pypto_xdsl.analysis.walk import Event, tour
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import (
    ArgDirection,
    ArrayGetOp,
    ArrayUpdateOp,
    DispatchOp,
    FuncOp,
    ScopeMode,
    TaskDummyOp,
    TaskScopeOp,
    is_sequential,
)
from pypto_xdsl.dialects.ptensor.types import packed_strides, tensor_of

MOST_WAITS = 64
"""So many tasks are looked at that one may have to wait for because of one buffer."""

NO_ARGUMENT = -1


@dataclass(eq=False)
class Touch:
    """What a task does to a buffer."""

    task: DispatchOp
    argument: int
    """Which argument; `NO_ARGUMENT` for the predicate and for buffers that the task allocates."""
    place: Place
    handle: Handle
    is_exact: bool
    """Whether it touches all of the handle, for certain."""
    reads: bool
    writes: bool
    order: int
    level: int
    """How many loops and branches are around."""
    loops: tuple[Operation, ...]
    is_task: bool
    """False: what is called launches tasks of its own, which have no name here."""
    hidden: int = 0
    """In so many of the loops around, the outer ones, something that comes before it in each
    iteration, and writes all of it, keeps earlier iterations out of the way."""
    waits: int = 0
    """For how many tasks it waits."""
    is_covered: bool = True
    """Whether all that it has to wait for is named."""

    @property
    def direction(self) -> ArgDirection | None:
        """How the runtime is told to treat it."""
        directions = self.task.directions
        return None if directions is None or self.argument < 0 else directions[self.argument]


@dataclass(frozen=True)
class Carried:
    """That a task waits for another one of earlier iterations."""

    task: DispatchOp
    producer: DispatchOp
    loop: scf.ForOp


@dataclass
class TaskDependencies:
    """What the tasks of a function have to wait for."""

    waits: dict[DispatchOp, dict[DispatchOp, None]] = field(
        default_factory=dict[DispatchOp, dict[DispatchOp, None]]
    )
    """Task -> the earlier tasks that it does not wait for yet by name, in the order of the text."""
    carried: list[Carried] = field(default_factory=list[Carried])
    touches: list[Touch] = field(default_factory=list[Touch])
    left: list[tuple[DispatchOp, DispatchOp, str]] = field(
        default_factory=list[tuple[DispatchOp, DispatchOp, str]]
    )
    """Task, what it has to wait for, and why it cannot by name."""
    in_order: set[tuple[Operation, DispatchOp]] = field(
        default_factory=set[tuple[Operation, DispatchOp]]
    )
    """Loop and task in it of which the runtime lets each wait for the one before."""
    is_complete: bool = True
    """Whether the waits that are named are all that orders the tasks."""


def task_dependencies(function: FuncOp, calls: CallGraph, roots: BufferRoots) -> TaskDependencies:
    """What the tasks of an orchestration function, whose calls have directions, wait for."""
    return _Analysis(function, calls, roots).run()


@dataclass
class _Branch:
    """A branch that is being read: what its finished arms have touched."""

    first: int
    aside: list[tuple[SSAValue, Touch]] = field(default_factory=list[tuple[SSAValue, Touch]])


class _Analysis:
    def __init__(self, function: FuncOp, calls: CallGraph, roots: BufferRoots):
        self._function = function
        self._calls = calls
        self._roots = roots
        self._found = TaskDependencies()
        self._live: dict[bool, dict[SSAValue, HandleIndex[Touch]]] = {False: {}, True: {}}
        """Whether it is written -> buffer -> what touches it, as far as that still matters."""
        self._log: list[tuple[SSAValue, Touch]] = []
        """What was entered into `_live`, in order."""
        self._removed: set[tuple[SSAValue, Touch]] = set()
        self._buffers: dict[SSAValue, Buffer] = {}
        self._left_alone: set[SSAValue] = set()
        """Buffers that too many tasks touch."""
        self._may_be_any = False
        """Some task may touch any buffer."""
        self._order = count()
        self._opened: list[int] = [0]
        """The orders at which the loops and branches around were entered."""
        self._around: list[Operation] = []
        """The loops and branches around."""
        self._in_loop: dict[Operation, list[Touch]] = {}
        self._names = TaskNames()
        self._waits_for: dict[DispatchOp, Names] = {}

    def run(self) -> TaskDependencies:
        manual = 0
        branches: list[_Branch] = []
        starts: list[int] = []
        for event, op, _ in tour(self._function):
            shape = task_shape(op)
            if event is Event.ENTER:
                manual += _is_manual(op)
                if isinstance(op, TaskScopeOp) or shape is Shape.UNKNOWN:
                    self._found.is_complete = False
                if isinstance(op, DispatchOp):
                    if not manual:
                        self._dispatch(op)
                elif isinstance(op, TaskDummyOp | ArrayUpdateOp | ArrayGetOp):
                    self._names.name(op)
                elif isinstance(op, DeclaredOp) and self._is_read_by_host(op):
                    # The orchestrator waits for what the runtime knows.
                    self._found.is_complete = False
                if shape in (Shape.BRANCH, Shape.LOOP, Shape.UNKNOWN):
                    self._around.append(op)
                    self._opened.append(next(self._order))
                    starts.append(len(self._log))
                    if shape is Shape.BRANCH:
                        branches.append(_Branch(len(self._log)))
                    else:
                        self._in_loop[op] = []
            elif event is Event.LEAVE_REGION and shape is Shape.BRANCH:
                self._put_aside(branches[-1])
            elif event is Event.LEAVE:
                manual -= _is_manual(op)
                if shape in (Shape.BRANCH, Shape.LOOP, Shape.UNKNOWN):
                    self._around.pop()
                    self._opened.pop()
                    start = starts.pop()
                    if shape is Shape.BRANCH:
                        self._names.name_results_of_branch(op)
                        for root, touch in branches.pop().aside:
                            self._enter(root, touch)
                    else:
                        self._close_loop(op, start)
        if self._may_be_any:
            for touch in self._found.touches:
                touch.is_covered = False
        return self._found

    def _is_read_by_host(self, op: DeclaredOp) -> bool:
        """Whether the orchestrator itself looks into tensors, or writes there."""
        for result in op.results:
            copied, named = op.copied_window(result), op.named_operand(result)
            if copied is not None and named is not None:
                # Of a window that is put back where it is nothing moves.
                return self._roots.of(copied[0]).roots != self._roots.of(named).roots
        return op.READS_ELEMENTS and any(
            isinstance(operand.type, TensorType) for operand in op.operands
        )

    # Tasks.

    def _dispatch(self, dispatch: DispatchOp) -> None:
        callee = self._calls.callee(dispatch)
        is_task = callee is None or callee.kind.data.is_device or callee.is_declaration
        if not is_task:
            self._found.is_complete = False
        touches = list(self._touches(dispatch, callee, is_task))
        if dispatch.task is not None:
            self._names.name(dispatch)
        known = self._waits_for[dispatch] = self._names.all_of(dispatch.deps)
        for touch in touches:
            self._wait(touch, known)
        for touch in touches:
            # All that a task waits for comes before anything that waits for it.
            for root in touch.place.roots:
                if root not in self._left_alone:
                    self._enter(root, touch)
            self._found.touches.append(touch)
            for loop in touch.loops:
                self._in_loop[loop].append(touch)

    def _touches(
        self, dispatch: DispatchOp, callee: FuncOp | None, is_task: bool
    ) -> Iterator[Touch]:
        directions = dispatch.directions or ()
        declared = () if callee is None else callee.parameter_directions
        marked = dispatch.no_dep_arguments
        for index, argument in enumerate(dispatch.arguments):
            if not isinstance(argument.type, TensorType) or index in marked:
                continue
            direction = directions[index] if index < len(directions) else ArgDirection.INOUT
            if index < len(declared):
                reads, writes = declared[index].reads, declared[index].writes
            else:
                reads = direction in (ArgDirection.INPUT, ArgDirection.INOUT)
                writes = direction is not ArgDirection.INPUT
            yield self._touch(dispatch, argument, index, reads, writes, is_task)
        if dispatch.predicate_tensor is not None:
            yield self._touch(
                dispatch, dispatch.predicate_tensor, NO_ARGUMENT, True, False, is_task
            )
        for result in dispatch.callee_results:
            if isinstance(result.type, TensorType) and result in self._roots.of(result).roots:
                yield self._touch(dispatch, result, NO_ARGUMENT, False, True, is_task)

    def _touch(
        self,
        dispatch: DispatchOp,
        value: SSAValue,
        index: int,
        reads: bool,
        writes: bool,
        is_task: bool,
    ) -> Touch:
        place = self._roots.of(value)
        loops = tuple(op for op in self._around if task_shape(op) is not Shape.BRANCH)
        handle, is_exact = self._handle(value, place)
        return Touch(
            dispatch,
            index,
            place,
            handle,
            is_exact,
            reads,
            writes,
            next(self._order),
            len(self._around),
            loops,
            is_task,
        )

    def _handle(self, value: SSAValue, place: Place) -> tuple[Handle, bool]:
        """Where a value is in its buffer, and whether that is all of it and nothing else."""
        root = place.roots[0] if place.roots else value
        buffer = self._buffers.setdefault(root, Buffer("", None, root))
        shape = tensor_of(root.type).get_shape()
        window = place.window
        if place.is_ambiguous or window is None or len(window.bounds) != len(shape):
            return Handle(buffer, None, (None,), (None,), 1), False
        if any(extent < 0 for extent in shape):
            whole = value.type == root.type and self._is_whole(value)
            return Handle(buffer, None, (None,), (None,), 1), whole
        steps = packed_strides(shape)
        start = sum(first * step for (first, _), step in zip(window.bounds, steps, strict=True))
        extents = [end - first for first, end in window.bounds]
        last = sum((n - 1) * step for n, step in zip(extents, steps, strict=True))
        own = tensor_of(value.type).get_shape()
        is_exact = all(window.starts) and -1 not in own and prod(own) == prod(extents)
        return Handle(buffer, start, (last + 1,), (1,), 1), is_exact

    def _is_whole(self, value: SSAValue) -> bool:
        """Whether a tensor is all of its buffer, under another name at most."""
        sources = self._roots.sources(value)
        while len(sources) == 1 and self._roots.view(value) is None:
            (value,) = sources
            sources = self._roots.sources(value)
        return not sources

    def _wait(self, touch: Touch, known: Names) -> None:
        """Find what a task waits for because of one thing that it touches."""
        place = touch.place
        if place.is_ambiguous:
            touch.is_covered = False
            self._found.is_complete = False
        if not place.is_complete:
            self._may_be_any = True
            self._found.left.append((touch.task, touch.task, "it may touch any buffer"))
        before: dict[Touch, None] = {}
        for root in place.roots:
            if root in self._left_alone:
                touch.is_covered = False
                continue
            met = [
                earlier
                for writes in (True, False)
                if (touch.writes or writes) and root in self._live[writes]
                for _, earlier in self._live[writes][root].near(touch.handle)
                if place.may_overlap(earlier.place)
            ]
            if len(met) > MOST_WAITS:
                self._leave_alone(root, touch, met[-1])
                continue
            before.update(dict.fromkeys(met))
        for earlier in sorted(before, key=lambda earlier: earlier.order):
            self._wait_for(touch, earlier, known)

    def _leave_alone(self, root: SSAValue, touch: Touch, earlier: Touch) -> None:
        self._left_alone.add(root)
        for live in self._live.values():
            live.pop(root, None)
        touch.is_covered = False
        self._found.is_complete = False
        name = f"%{root.name_hint}" if root.name_hint else "one buffer"
        reason = f"more than {MOST_WAITS} tasks that touch {name} are in the way"
        self._found.left.append((touch.task, earlier.task, reason))

    def _wait_for(self, touch: Touch, earlier: Touch, known: Names) -> None:
        touch.waits += 1
        if any(
            loop not in touch.loops and constant_trip_count(loop) is None for loop in earlier.loops
        ):
            # Whoever follows the graph cannot tell how far the name of such a loop's tasks reaches.
            touch.is_covered = False
            self._found.is_complete = False
        if earlier.task not in known:
            reason = self._unnameable(earlier, touch)
            if reason is None:
                waits = self._found.waits.setdefault(touch.task, {})
                waits[earlier.task] = None
            else:
                touch.is_covered = False
                self._found.is_complete = False
                if not self._is_seen_by_runtime(touch, earlier):
                    self._found.left.append((touch.task, earlier.task, reason))
                return
        if earlier.writes and earlier.is_exact and _covers(earlier, touch):
            # In each iteration of the loops around both, that one comes first.
            around = [loop for loop in earlier.loops if loop in touch.loops]
            if earlier.level == _level_inside(self._around, around):
                touch.hidden = max(touch.hidden, len(around))
        if (
            touch.writes
            and touch.is_exact
            and earlier.order >= self._opened[-1]
            and _covers(touch, earlier)
        ):
            for root in earlier.place.roots:
                self._remove(root, earlier)

    def _is_seen_by_runtime(self, touch: Touch, earlier: Touch) -> bool:
        """Whether the runtime lets a task wait for an earlier one anyway."""
        if not (touch.is_task and earlier.is_task):
            return False
        looks = touch.direction in (ArgDirection.INPUT, ArgDirection.INOUT)
        return looks and earlier.direction in (ArgDirection.INOUT, ArgDirection.OUTPUT_EXISTING)

    def _unnameable(self, earlier: Touch, touch: Touch) -> str | None:
        """Why a task cannot wait for an earlier one by name."""
        if not earlier.is_task:
            return "it launches tasks of its own"
        if not touch.is_task:
            return "what waits launches tasks of its own"
        for loop in earlier.loops:
            if loop not in touch.loops and not isinstance(loop, scf.ForOp):
                return f"it is launched again and again by '{loop.name}'"
        return None

    # What is live.

    def _enter(self, root: SSAValue, touch: Touch) -> None:
        if root in self._left_alone:
            return
        self._live[touch.writes].setdefault(root, HandleIndex()).add(touch.handle, touch)
        self._log.append((root, touch))
        self._removed.discard((root, touch))

    def _remove(self, root: SSAValue, touch: Touch) -> None:
        live = self._live[touch.writes]
        if (root, touch) not in self._removed and root in live:
            self._removed.add((root, touch))
            live[root].remove(touch.handle, touch)

    def _put_aside(self, branch: _Branch) -> None:
        """What an arm has touched does not count for another, but for what follows both."""
        for root, touch in self._log[branch.first :]:
            if (root, touch) not in self._removed and root not in self._left_alone:
                self._remove(root, touch)
                branch.aside.append((root, touch))
        del self._log[branch.first :]

    # Loops.

    def _close_loop(self, loop: Operation, start: int) -> None:
        """Find what tasks of a loop have to do with those of earlier iterations."""
        level = len(self._around) + 1
        ends: dict[SSAValue, list[Touch]] = {}
        for root, touch in self._log[start:]:
            if (root, touch) not in self._removed and not _is_inside(root, loop):
                ends.setdefault(root, []).append(touch)
        depth = sum(task_shape(op) is not Shape.BRANCH for op in self._around)
        touches = self._in_loop.pop(loop)
        for touch in touches:
            self._note_order(loop, level, touch)
        if isinstance(loop, scf.ForOp):
            self._names.name_results_of_loop(loop, self._found.in_order)
        for touch in touches:
            if depth >= touch.hidden:
                self._meet_earlier(loop, touch, ends)

    def _meet_earlier(
        self, loop: Operation, touch: Touch, ends: dict[SSAValue, list[Touch]]
    ) -> None:
        """What a task of a loop has to do with those of earlier iterations."""
        for root in touch.place.roots:
            if _is_inside(root, loop):
                continue
            rivals = ends.get(root, ())
            if root in self._left_alone or len(rivals) > MOST_WAITS:
                touch.is_covered = False
                self._found.is_complete = False
                continue
            for earlier in rivals:
                if not (touch.writes or earlier.writes):
                    continue
                if not touch.place.may_overlap(earlier.place):
                    continue
                touch.is_covered = False
                self._found.is_complete = False
                if not is_sequential(loop) or self._is_seen_by_runtime(touch, earlier):
                    continue
                if any(
                    earlier.task in self._names.every(name)
                    for name in self._waits_for[touch.task]
                    if isinstance(name, SSAValue)
                ):
                    continue
                reason = self._unnameable_within(loop, earlier, touch)
                if reason is None and isinstance(loop, scf.ForOp):
                    self._found.carried.append(Carried(touch.task, earlier.task, loop))
                else:
                    self._found.left.append(
                        (touch.task, earlier.task, reason or f"'{loop.name}' carries it")
                    )

    def _unnameable_within(self, loop: Operation, earlier: Touch, touch: Touch) -> str | None:
        if not earlier.is_task or not touch.is_task:
            return "tasks are launched by what is called"
        place = earlier.loops.index(loop)
        for inner in earlier.loops[place:]:
            if not isinstance(inner, scf.ForOp):
                return f"it is launched again and again by '{inner.name}'"
        return None

    def _note_order(self, loop: Operation, level: int, touch: Touch) -> None:
        """Whether each task of a loop waits for the one before, by what the runtime does."""
        if (
            touch.level == level
            and touch.direction is ArgDirection.INOUT
            and touch.is_exact
            and not touch.place.is_ambiguous
            and not _is_inside(touch.place.roots[0], loop)
        ):
            touch.is_covered = False
            self._found.in_order.add((loop, touch.task))


def _covers(touch: Touch, other: Touch) -> bool:
    """Whether an exact touch is of all that another may touch."""
    if len(touch.place.roots) != 1 or touch.place.is_ambiguous or other.place.is_ambiguous:
        return False
    if touch.place.roots != other.place.roots:
        return False
    mine, theirs = touch.place.window, other.place.window
    if mine is None or theirs is None or len(mine.bounds) != len(theirs.bounds):
        return False
    return all(
        first <= start and end <= last
        for (first, last), (start, end) in zip(mine.bounds, theirs.bounds, strict=True)
    )


def _level_inside(around: list[Operation], loops: list[Operation]) -> int:
    """How many loops and branches are around what stands in the innermost of some loops."""
    return around.index(loops[-1]) + 1 if loops else 0


def _is_inside(root: SSAValue, loop: Operation) -> bool:
    """Whether a buffer is allocated, or handed in, inside an op."""
    owner = root.owner
    op: Operation | None = owner if isinstance(owner, Operation) else owner.parent_op()
    while op is not None and op is not loop:
        op = op.parent_op()
    return op is loop


def _is_manual(op: Operation) -> bool:
    return isinstance(op, TaskScopeOp) and op.mode.data is ScopeMode.MANUAL
