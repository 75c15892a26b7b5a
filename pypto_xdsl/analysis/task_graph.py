"""
The task graph that the runtime would build from an orchestration function.

`record(function, lineage)` follows the function as the orchestrator thread does: each call or
submit of a device function becomes a task, in program order, which waits for earlier ones as
`analysis/task_map.py` says.

Loops with known bounds are followed trip by trip; one whose trips would be too many is refused
before the first.  Of a loop whose bounds only a run knows, and
of a while, two trips are followed; of a branch whose condition only a run knows, both arms: such
tasks are `conditional`, and edges that depend on them are not `certain`.  The values of scalar
parameters may be given.

What the orchestrator reads or writes itself, element by element, is no task, but it waits for
tasks first: for who allocated and wrote the tensor, and before it writes, for all that keep the
buffers of these alive.  Of a tensor that the caller passed nobody keeps anything: who only reads
it is not waited for.  A window that is put back where it is moves nothing, and is no access.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from pypto_xdsl.analysis.constant_evaluation import evaluate
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.task_graph_limits import UNKNOWN_TRIPS, Limits
from pypto_xdsl.analysis.task_map import PREDICATE, Access, Edge, TaskMap
from pypto_xdsl.analysis.tensor_handles import Buffer, Extent, Handle, created, size_in_bytes
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.declared_op import DeclaredOp, Effect
from pypto_xdsl.dialects.orch import (
    MANUAL_DEP,
    ArgDirection,
    ArrayCreateOp,
    ArrayGetOp,
    ArrayUpdateOp,
    Direction,
    DispatchOp,
    FuncOp,
    ScopeMode,
    ScopeOp,
    TaskDummyOp,
    TaskInvalidOp,
    TaskScopeOp,
)
from pypto_xdsl.dialects.ptensor import ReadOp, WriteOp
from pypto_xdsl.dialects.ptensor.types import is_tensor_type, tensor_of

LAST_RING = 3
"""Tasks in deeper scopes share the ring of this depth."""


@dataclass
class TaskNode:
    """One launched task."""

    number: int
    op: Operation
    """The call, submit, dummy task, or what allocates a buffer."""
    name: str
    """The callee; `alloc` or `dummy`."""
    accesses: tuple[Access, ...] = ()
    trips: tuple[int, ...] = ()
    """The trips of the loops around, outermost first."""
    is_conditional: bool = False
    is_manual: bool = False
    ring: int = 0
    """Which of the runtime's rings holds it: the scopes around it, but `LAST_RING` at most."""

    @property
    def is_allocation(self) -> bool:
        """Whether it only allocates a buffer, and so is complete when it is launched."""
        return self.name == "alloc"


@dataclass(frozen=True)
class HostAccess:
    """What the orchestrator reads or writes itself."""

    op: Operation
    launched: int
    """So many tasks were launched before."""
    access: Access
    waits_for: frozenset[int]
    """The tasks that it certainly waits for first."""
    may_wait_for: frozenset[int]
    """Those that it waits for exactly if they touch what it touches, which only a run knows."""
    is_conditional: bool = False


@dataclass
class TaskGraph:
    """Tasks in the order of launch, and what they wait for."""

    function: FuncOp
    tasks: list[TaskNode] = field(default_factory=list[TaskNode])
    edges: list[Edge] = field(default_factory=list[Edge])
    host_accesses: list[HostAccess] = field(default_factory=list[HostAccess])
    """What is launched after one of these comes after what it waits for."""

    def producers(self) -> dict[int, list[Edge]]:
        """The edges that each task waits on."""
        found: dict[int, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.consumer, []).append(edge)
        return found


@dataclass(frozen=True)
class Tensors:
    """The handles that a tensor value may be at run time."""

    handles: tuple[Handle, ...]
    window_of: tuple[tuple[Handle, ...], tuple[Hashable, ...]] | None = None
    """What it is a window of, and where the window starts, as far as that can be told."""


@dataclass(frozen=True)
class Tasks:
    """The task that a value names, or those in an array; None for no task."""

    tasks: tuple[int | None, ...]
    is_certain: bool = True


Known: TypeAlias = "int | Tensors | Tasks | None"
"""What is known of a value; None: nothing."""


@dataclass
class _Frame:
    """A block that is being followed, and what to do with what it hands on."""

    ops: Iterator[Operation]
    finish: Callable[[list[Known]], None]


def record(
    function: FuncOp, lineage: ReturnLineage, scalars: Mapping[str, int] | None = None
) -> TaskGraph:
    """
    The graph of a function; `scalars` are values of its scalar parameters, by name.

    Raises `OpError` where the graph would be too large, or where a call has no directions.
    """
    return _Recorder(function, lineage, dict(scalars or {})).run()


class _Recorder:
    def __init__(self, function: FuncOp, lineage: ReturnLineage, scalars: dict[str, int]):
        self._lineage = lineage
        self._graph = TaskGraph(function)
        self._known: dict[SSAValue, Known] = {}
        self._map = TaskMap()
        self._frames: list[_Frame] = []
        self._trips: list[int] = []
        self._conditional = 0
        self._manual = 0
        self._scopes = 0
        self._retainers: dict[int, list[tuple[int, bool]]] = {}
        """The tasks that keep the buffers of a task alive, each with whether it certainly does."""
        for index, parameter in enumerate(function.parameters):
            name = parameter.name_hint or f"arg{index}"
            if is_tensor_type(type := parameter.type):
                buffer = Buffer(f"%{name}", size_in_bytes(type), parameter)
                self._known[parameter] = Tensors((Handle.whole(buffer, type),))
            else:
                self._known[parameter] = scalars.get(name)
        unknown = {value for value, known in self._known.items() if known is None}
        self._limits = Limits(function, lineage.calls, unknown)

    def run(self) -> TaskGraph:
        arguments = [self._known[parameter] for parameter in self._graph.function.parameters]
        self._follow(self._graph.function.body, arguments, lambda _: None)
        while self._frames:
            op = next(self._frames[-1].ops, None)
            if op is None:
                # A block of unstructured control flow, or without an end.
                self._frames.pop().finish([])
            elif op.next_op is None and not op.regions and op.parent_op() is not None:
                values = [self._known.get(operand) for operand in op.operands]
                self._frames.pop().finish(values)
            else:
                self._step(op)
        return self._graph

    def _follow(
        self, region: Region, arguments: Sequence[Known], finish: Callable[[list[Known]], None]
    ) -> None:
        """Follow the block of a region next, then what comes after it."""
        block = region.first_block
        if block is None:
            finish([])
            return
        self._set(block.args, arguments)
        self._frames.append(_Frame(iter(_ops(block)), finish))

    def _set(self, values: Sequence[SSAValue], known: Sequence[Known]) -> None:
        for index, value in enumerate(values):
            self._known[value] = known[index] if index < len(known) else None

    # Ops.

    def _step(self, op: Operation) -> None:
        self._limits.count_step(op)
        match op:
            case DispatchOp():
                self._dispatch(op)
            case TaskDummyOp():
                task = self._launch(op, "dummy", (), op.deps)
                self._known[op.task] = Tasks((task,))
            case TaskInvalidOp():
                self._known[op.task] = Tasks((None,))
            case ArrayCreateOp() | ArrayGetOp() | ArrayUpdateOp():
                self._array(op)
            case scf.ForOp():
                self._for(op)
            case scf.WhileOp():
                self._while(op)
            case scf.IfOp():
                self._if(op)
            case ScopeOp() | scf.ExecuteRegionOp():
                self._scope(op)
            case DeclaredOp():
                self._declared(op)
            case _:
                operands = [self._known.get(operand) for operand in op.operands]
                integers = [value if isinstance(value, int) else None for value in operands]
                self._set(op.results, evaluate(op, integers))

    def _declared(self, op: DeclaredOp) -> None:
        if op.READS_ELEMENTS and not self._puts_back(op):
            for operand, effect in op.operand_effects():
                if isinstance(operand.type, TensorType):
                    self._host_access(op, operand, effect)
        for result in op.results:
            if not is_tensor_type(type := result.type):
                continue
            named = op.named_operand(result)
            if named is None:
                self._known[result] = self._allocate(op, result)
                continue
            source = self._known.get(named)
            handles = source.handles if isinstance(source, Tensors) else ()
            starts = op.window_start(result) if op.is_view(result) else None
            if starts is not None:
                extents = [self._extent(start) for start in starts]
                windows = tuple(handle.window(extents, type) for handle in handles)
                self._known[result] = Tensors(windows, (handles, self._spelled(starts)))
            elif axes := op.swapped_axes(result):
                self._known[result] = Tensors(tuple(h.transposed(*axes) for h in handles))
            elif op.is_view(result):
                self._known[result] = Tensors(tuple(h.reshaped(type) for h in handles))
            else:
                self._known[result] = Tensors(handles)

    def _puts_back(self, op: DeclaredOp) -> bool:
        """Whether an op copies a window to where it is already: nothing moves."""
        for result in op.results:
            copied, named = op.copied_window(result), op.named_operand(result)
            if copied is None or named is None:
                continue
            source, target = self._known.get(copied[0]), self._known.get(named)
            if not isinstance(source, Tensors) or not isinstance(target, Tensors):
                continue
            if source.window_of == (target.handles, self._spelled(copied[1])):
                return True
        return False

    def _spelled(self, starts: Sequence[int | SSAValue]) -> tuple[Hashable, ...]:
        """Where a window starts, the same for the same place only."""
        found: list[Hashable] = []
        for start in starts:
            known = self._extent(start)
            # In another trip of a loop the same value is another number.
            found.append(known if known is not None else (start, *self._trips))
        return tuple(found)

    def _extent(self, start: int | SSAValue) -> Extent:
        if isinstance(start, int):
            return start
        known = self._known.get(start)
        return known if isinstance(known, int) else None

    def _allocate(self, op: Operation, result: SSAValue) -> Tensors:
        """A buffer that the orchestrator has allocated, by a task that is complete at once."""
        task = self._launch(op, "alloc", (), ())
        type = tensor_of(result.type)
        name = f"%{result.name_hint}" if result.name_hint else f"alloc{task}"
        buffer = created(name, type, result, task)
        return Tensors((Handle.whole(buffer, type, is_manual=MANUAL_DEP in op.attributes),))

    def _host_access(self, op: DeclaredOp, operand: SSAValue, effect: Effect) -> None:
        known = self._known.get(operand)
        handles = known.handles if isinstance(known, Tensors) else ()
        indices = op.element if isinstance(op, ReadOp | WriteOp) else None
        name = f"%{operand.name_hint}" if operand.name_hint else "the tensor"
        for handle in handles:
            touched = handle
            if indices is not None:
                touched = handle.element([self._extent(index) for index in indices])
            waited = self._waited_for(handle, effect)
            self._limits.count_edges(op, len(waited))
            is_certain = len(handles) == 1
            certain = {number for number, meets in waited if meets and is_certain}
            self._graph.host_accesses.append(
                HostAccess(
                    op,
                    len(self._graph.tasks),
                    Access(
                        touched,
                        ArgDirection.NO_DEP,
                        effect.reads,
                        effect.writes,
                        name,
                        is_certain,
                    ),
                    frozenset(certain),
                    frozenset(number for number, _ in waited if number not in certain),
                    self._conditional > 0,
                )
            )

    def _waited_for(self, handle: Handle, effect: Effect) -> list[tuple[int, bool]]:
        """What the orchestrator waits for before it reads or writes a tensor itself."""
        waited = [] if handle.buffer.owner is None else [(handle.buffer.owner, True)]
        waited += self._map.writers(handle)
        if effect.writes:
            for number, meets in tuple(waited):
                retainers = self._retainers.get(number, ())
                waited += [(retainer, meets and certain) for retainer, certain in retainers]
                if meets and not self._conditional:
                    # Whoever comes later comes after these anyway.
                    self._retainers.pop(number, None)
        return waited

    def _array(self, op: ArrayCreateOp | ArrayGetOp | ArrayUpdateOp) -> None:
        if isinstance(op, ArrayCreateOp):
            extent: int = op.result.type.extent.data  # pyright: ignore
            self._limits.expect_array(op, extent)
            self._known[op.result] = Tasks((None,) * extent)
            return
        array, index = self._known.get(op.array), self._known.get(op.index)
        if not isinstance(array, Tasks):
            self._known[op.result] = None
        elif isinstance(op, ArrayGetOp):
            if isinstance(index, int) and 0 <= index < len(array.tasks):
                self._known[op.result] = Tasks((array.tasks[index],), array.is_certain)
            else:
                self._known[op.result] = Tasks(array.tasks, False)
        else:
            value = self._known.get(op.value)
            tasks = value.tasks if isinstance(value, Tasks) else (None,)
            if isinstance(index, int) and 0 <= index < len(array.tasks) and len(tasks) == 1:
                changed = list(array.tasks)
                changed[index] = tasks[0]
                self._known[op.result] = Tasks(tuple(changed), array.is_certain)
            else:
                self._known[op.result] = Tasks((*array.tasks, *tasks), False)

    # Control flow.

    def _for(self, loop: scf.ForOp) -> None:
        lower, upper, step = (self._extent(bound) for bound in loop.operands[:3])
        if lower is None or upper is None or step is None or step <= 0:
            trips: Sequence[int | None] = [lower] + [None] * (UNKNOWN_TRIPS - 1)
            count = UNKNOWN_TRIPS
        else:
            trips = range(lower, upper, step)
            count = max(0, -((lower - upper) // step))
        self._limits.expect_trips(loop, count, len(self._graph.tasks))
        is_known = isinstance(trips, range)
        inits = [self._known.get(init) for init in loop.operands[3:]]
        remaining = iter(trips)
        self._trips.append(-1)
        self._limits.around.append(loop)
        self._conditional += not is_known

        def go_on(carried: list[Known]) -> None:
            self._trips[-1] += 1
            trip = next(remaining, self)
            if isinstance(trip, _Recorder):
                self._trips.pop()
                self._limits.around.pop()
                self._conditional -= not is_known
                # Perhaps the body never ran.
                results = carried if is_known else _either(inits, carried)
                self._set(loop.results, results)
                return
            self._limits.count_step(loop)
            self._follow(loop.body, [trip, *carried], go_on)

        go_on(inits)

    def _while(self, loop: scf.WhileOp) -> None:
        trips = 0
        self._trips.append(0)
        self._limits.around.append(loop)
        entered_unknown = False

        def decided(values: list[Known]) -> None:
            nonlocal trips, entered_unknown
            condition, *handed_on = values or [None]
            known = isinstance(condition, int)
            if not known and not entered_unknown:
                entered_unknown = True
                self._conditional += 1
            goes_on = bool(condition) if known else trips < UNKNOWN_TRIPS
            if not goes_on:
                self._trips.pop()
                self._limits.around.pop()
                self._conditional -= entered_unknown
                self._set(loop.results, handed_on)
                return
            trips += 1
            self._limits.count_step(loop)
            self._trips[-1] = trips - 1
            self._follow(
                loop.after_region,
                handed_on,
                lambda carried: self._follow(loop.before_region, carried, decided),
            )

        inits = [self._known.get(init) for init in loop.operands]
        self._follow(loop.before_region, inits, decided)

    def _if(self, branch: scf.IfOp) -> None:
        condition = self._known.get(branch.cond)
        true, false = branch.regions
        if isinstance(condition, int):
            region = true if condition else false
            self._follow(region, (), lambda values: self._set(branch.results, values))
            return
        self._conditional += 1

        def second(values: list[Known]) -> None:
            def end(others: list[Known]) -> None:
                self._conditional -= 1
                self._set(branch.results, _either(values, others))

            self._follow(false, (), end)

        self._follow(true, (), second)

    def _scope(self, op: Operation) -> None:
        is_task_scope = isinstance(op, TaskScopeOp)
        is_manual = is_task_scope and op.mode.data is ScopeMode.MANUAL
        self._manual += is_manual
        self._scopes += is_task_scope

        def end(values: list[Known]) -> None:
            self._manual -= is_manual
            self._scopes -= is_task_scope
            self._set(op.results, values)

        self._follow(op.regions[0], (), end)

    # Tasks.

    def _dispatch(self, dispatch: DispatchOp) -> None:
        callee = self._lineage.calls.callee(dispatch)
        if callee is not None and not callee.kind.data.is_device and not callee.is_declaration:
            if self._lineage.calls.is_recursive(dispatch):
                raise OpError(dispatch, "recurses: its task graph cannot be followed")
            arguments = [self._known.get(argument) for argument in dispatch.arguments]
            self._follow(callee.body, arguments, lambda values: self._set(dispatch.results, values))
            return
        accesses = tuple(self._accesses(dispatch, callee))
        task = self._launch(dispatch, dispatch.callee_name, accesses, dispatch.deps)
        for result in dispatch.callee_results:
            self._known[result] = self._result(dispatch, result, task)
        if dispatch.task is not None:
            self._known[dispatch.task] = Tasks((task,))

    def _accesses(self, dispatch: DispatchOp, callee: FuncOp | None) -> Iterator[Access]:
        directions = dispatch.directions
        if directions is None and any(isinstance(a.type, TensorType) for a in dispatch.arguments):
            raise OpError(
                dispatch, "has no directions of its arguments: run 'derive-call-directions' first"
            )
        for index, argument in enumerate(dispatch.arguments):
            known = self._known.get(argument)
            if directions is None or not isinstance(known, Tensors):
                continue
            direction = directions[index]
            declared = Direction.INOUT
            if callee is not None and index < len(callee.directions):
                declared = callee.parameter_directions[index]
            reads = direction in (ArgDirection.INPUT, ArgDirection.INOUT)
            writes = direction not in (ArgDirection.INPUT, ArgDirection.SCALAR)
            if direction is ArgDirection.NO_DEP:
                reads, writes = declared.reads, declared.writes
            name = f"%{argument.name_hint}" if argument.name_hint else f"argument {index}"
            only = len(known.handles) == 1
            for handle in known.handles:
                if handle.is_manual:
                    yield Access(handle, direction, declared.reads, declared.writes, name, only)
                else:
                    yield Access(handle, direction, reads, writes, name, only)
        if dispatch.predicate_tensor is not None:
            known = self._known.get(dispatch.predicate_tensor)
            for handle in known.handles if isinstance(known, Tensors) else ():
                yield Access(handle, ArgDirection.NO_DEP, True, False, PREDICATE)

    def _result(self, dispatch: DispatchOp, result: SSAValue, task: int) -> Known:
        """What a result of a task is: the argument it names, or a buffer that it allocated."""
        if not is_tensor_type(type := result.type):
            return None
        index = next(i for i, value in enumerate(dispatch.results) if value is result)
        lineage = self._lineage.of_result(dispatch, dispatch.results[index])
        if lineage is not None and lineage.parameter < len(dispatch.arguments):
            return self._known.get(dispatch.arguments[lineage.parameter])
        name = f"%{result.name_hint}" if result.name_hint else f"result {index}"
        return Tensors((Handle.whole(created(name, type, result, task), type),))

    def _launch(
        self, op: Operation, name: str, accesses: tuple[Access, ...], deps: Sequence[SSAValue]
    ) -> int:
        graph, number = self._graph, len(self._graph.tasks)
        self._limits.count_task(op, number)
        task = TaskNode(
            number,
            op,
            name,
            accesses,
            tuple(self._trips),
            self._conditional > 0,
            self._manual > 0,
            min(self._scopes, LAST_RING),
        )
        graph.tasks.append(task)
        named: list[tuple[int, bool]] = []
        for dep in deps:
            known = self._known.get(dep)
            if isinstance(known, Tasks):
                named += [(n, known.is_certain) for n in known.tasks if n is not None]
        edges = self._map.submit(
            number,
            accesses,
            named,
            is_manual=task.is_manual,
            is_conditional=task.is_conditional,
        )
        for edge in edges:
            if edge.retains:
                retainers = self._retainers.setdefault(edge.producer, [])
                retainers.append((number, edge.is_certain))
        self._limits.count_edges(op, len(edges))
        graph.edges += edges
        return number


def _ops(block: Block) -> Iterator[Operation]:
    op = block.first_op
    while op is not None:
        yield op
        op = op.next_op


def _either(one: Sequence[Known], other: Sequence[Known]) -> list[Known]:
    """What is known of values that are one or the other."""
    found: list[Known] = []
    for left, right in zip(one, other, strict=False):
        if isinstance(left, Tensors) and isinstance(right, Tensors):
            found.append(Tensors(tuple(dict.fromkeys((*left.handles, *right.handles)))))
        elif isinstance(left, Tasks) and isinstance(right, Tasks):
            same = left == right
            tasks = left.tasks if same else (*left.tasks, *right.tasks)
            found.append(Tasks(tasks, same and left.is_certain))
        else:
            found.append(left if left == right else None)
    return found
