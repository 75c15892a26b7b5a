"""
Reads through names that are older than a write.

A tensor value names a buffer; every write gives the buffer a new name:

    %o1 = tile.store %t, %o[0, 0]
    %u  = tile.load %o[0, 0]          // stale: %o is older than the write, %o1 is the name now

Read as values, `%o` is what it was before the store; read as memory, it is what the store left.
A program without stale reads means the same either way.  Naming a buffer (returning, yielding,
carrying, passing it to be written) is no read.

Each name has the moment from which it speaks of its buffer, each buffer the moments at which it
was written; a name is current while no write after its moment may overlap it.

* A view has the moment of what it views.
* What a write returns has the moment of the write, but it is stale from the start if it was
  written through a stale name: the part that was not written is older.
* What a call returns has the moment of the call, by whatever name of the buffer it wrote, but it is
  stale from the start if the argument that it names was stale at the call.
* The result of a branch is current if every arm yields a current name; what an arm wrote counts
  after the branch, and not in the other arms.
* A window that is copied to where it is already moves nothing: the result is the name of the whole
  after what was written through the window.
* `ptensor.updated` gives a name of a buffer after what was written through other names: it is
  current if these are, and nothing else was written.
* In a loop, what any iteration writes counts from the start of the body, so that names from
  outside are stale there; what the loop carries is current if its init is and the body hands on a
  current name.

Whether a name is stale from the start follows from others, around loops too; the largest set of
names that can be current is taken.  All is linear in the function, but for names of one buffer
that overlap in many ways: what a name of the whole has is looked at once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsTerminator

from pypto_xdsl.analysis.buffer_roots import BufferRoots, Window, place_written
from pypto_xdsl.analysis.control_flow import (
    Forwarding,
    Shape,
    constant_trip_count,
    forwarding,
    runs_for_certain,
    shape_of,
)
from pypto_xdsl.analysis.overlap import Overlap
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.walk import Event, tour
from pypto_xdsl.analysis.write_index import WriteIndex
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import Direction, DispatchOp, FuncOp, LaunchingOp

LONGEST_SEARCH = 256
"""So many later writes to where a name is are compared with it; more are taken to overlap it."""


@dataclass(frozen=True, slots=True)
class StaleRead:
    """A read that may not see what the name stands for."""

    op: Operation
    """What reads."""
    operand: SSAValue
    """The name that it reads through."""
    write: Operation
    """The write that the name, or one that it was made from, is older than."""
    stale: SSAValue
    """The name that is older than the write: `operand`, or what it was made from."""


@dataclass(frozen=True, slots=True)
class _Write:
    moment: int
    name: SSAValue
    """What is written through, up to its origin."""
    part: SSAValue | None
    """The view, or the whole, that it is a name of; None where that was another in each iteration
    of a loop."""
    window: Window | None
    op: Operation


@dataclass(frozen=True, slots=True)
class _Cause:
    """Why a name is stale."""

    write: Operation
    stale: SSAValue


_Target = tuple[SSAValue | None, SSAValue, SSAValue | None, Window | None]
"""What is written: the root, or None for any; the name that it is written through, and the part
that this names; where in it."""

_Written = dict[_Target, Operation]
"""What a part of the program writes, with the first op that does."""


@dataclass(slots=True)
class _Branch:
    """A branch that the walk is in."""

    mark: int
    written: _Written


def stale_reads(function: FuncOp, lineage: ReturnLineage, roots: BufferRoots) -> list[StaleRead]:
    """Every stale read of a function, in the order of the text."""
    if function.is_declaration:
        return []
    return _Search(function, lineage, roots).run()


class _Search:
    def __init__(self, function: FuncOp, lineage: ReturnLineage, roots: BufferRoots):
        self._function = function
        self._lineage = lineage
        self._roots = roots
        self._overlap = Overlap(roots)
        self._now = 0
        self._since: dict[SSAValue, int] = {}
        """The moment from which a name speaks of its buffer; 0 if it is not there."""
        self._writes: dict[SSAValue | None, WriteIndex[_Write]] = {}
        """Root -> its writes; None -> writes to a buffer that is not known."""
        self._strays: dict[SSAValue | None, WriteIndex[_Write]] = {}
        """Those of them to what may be, but need not be, a part of the root."""
        self._outermost: dict[SSAValue, SSAValue] = {}
        """What each part is a view of a view of..."""
        self._log: list[SSAValue | None] = []
        self._branches: list[_Branch] = []
        self._written_in: dict[Operation, _Written] = {}
        """Of each loop what its iterations write."""
        self._made_from: dict[SSAValue, list[SSAValue]] = {}
        """A name -> those that are stale if it is."""
        self._causes: dict[SSAValue, _Cause] = {}
        self._reads: list[tuple[Operation, SSAValue, _Cause | None]] = []
        self._accesses: dict[Operation, list[tuple[SSAValue, Direction]]] = {}
        self._steps: list[dict[Operation, list[Forwarding]]] = []
        """Of each op around: what it and the ends of its regions hand on."""

    def run(self) -> list[StaleRead]:
        self._look_ahead()
        for event, op, region in tour(self._function):
            if op is self._function:
                continue
            if event is Event.ENTER:
                written = self._reads_and_writes(op)
                if op.regions:
                    self._enter(op)
                else:
                    self._name_results(op, written)
            elif region is None:
                self._leave(op)
            elif event is Event.ENTER_REGION:
                self._enter_region(op, region)
            else:
                self._leave_region(op, region)
        self._spread()
        found: list[StaleRead] = []
        for op, operand, cause in self._reads:
            cause = cause or self._causes.get(operand)
            if cause is not None:
                found.append(StaleRead(op, operand, cause.write, cause.stale))
        return found

    def _look_ahead(self) -> None:
        """What each op does to tensors, and what each loop writes, which counts at its start."""
        log: list[tuple[_Target, Operation]] = []
        marks: list[int] = []
        for event, op, _ in tour(self._function):
            if event is Event.ENTER:
                if _repeats(op):
                    marks.append(len(log))
                if accesses := list(self._find_accesses(op)):
                    self._accesses[op] = accesses
                for operand, direction in accesses:
                    if direction.writes:
                        log.extend((target, op) for target in self._targets(op, operand))
            elif event is Event.LEAVE and _repeats(op):
                written: _Written = {}
                mark = marks.pop()
                for (root, name, part, window), write in log[mark:]:
                    while part is not None and _is_inside(part, op):
                        # Other elements in each iteration, of something that is the same in all.
                        part = self._overlap.around(part)
                    written.setdefault((root, name, part, window), write)
                self._written_in[op] = written
                log[mark:] = written.items()

    def _find_accesses(self, op: Operation) -> Iterator[tuple[SSAValue, Direction]]:
        """What an op does to the elements of its tensor operands."""
        if not any(isinstance(operand.type, TensorType) for operand in op.operands):
            return
        if isinstance(op, LaunchingOp) and op.predicate_tensor is not None:
            yield op.predicate_tensor, Direction.IN
        if isinstance(op, DispatchOp):
            callee = self._lineage.calls.callee(op)
            directions = () if callee is None else callee.parameter_directions
            for index, argument in enumerate(op.arguments):
                if isinstance(argument.type, TensorType):
                    yield argument, directions[index] if index < len(directions) else Direction.IN
        elif isinstance(op, DeclaredOp):
            for operand, effect in op.operand_effects():
                if isinstance(operand.type, TensorType):
                    if effect.writes:
                        yield operand, Direction.INOUT if effect.reads else Direction.OUT
                    elif op.READS_ELEMENTS:
                        yield operand, Direction.IN
        elif shape_of(op) is Shape.UNKNOWN and not op.has_trait(
            IsTerminator, value_if_unregistered=False
        ):
            for operand in op.operands:
                if isinstance(operand.type, TensorType):
                    yield operand, Direction.IN

    # What is current.

    def _cause(self, value: SSAValue, told_by: Sequence[SSAValue] = ()) -> _Cause | None:
        """
        Why a name is not current now, as far as writes after its moment go; those that the names
        `told_by` have, to the parts that these are names of, do not count.
        """
        place = self._roots.of(value)
        since = self._since.get(value, 0)
        told = self._moments(told_by)
        keys = (*place.roots, None) if place.is_complete else (*self._writes,)
        for key in keys:
            write = self._newest_unknown(value, key, since, told, place.window)
            if write is not None:
                return _Cause(write.op, value)
        return None

    def _newest_unknown(
        self,
        value: SSAValue,
        key: SSAValue | None,
        since: int,
        told: Mapping[SSAValue, int],
        window: Window | None,
    ) -> _Write | None:
        """A write of a root after a moment, that may overlap a name and is not told."""
        # A name of the whole has what was written to all its parts.
        told_of_all = 0 if key is None else told.get(key, 0)
        searches = [(self._writes, max(since, told_of_all))]
        if told_of_all > since:
            searches.append((self._strays, since))
        for writes, moment in searches:
            index = writes.get(key)
            count = 0
            for write in () if index is None else index.after(moment, window):
                if told and self._is_told(write, told):
                    continue
                if count >= LONGEST_SEARCH or self._overlap.may_be_one(value, write.name):
                    return write
                count += 1
        return None

    def _moments(self, names: Sequence[SSAValue]) -> dict[SSAValue, int]:
        """Of each part that some names are of, the latest moment of these."""
        moments: dict[SSAValue, int] = {}
        for name in names:
            part = self._overlap.part(name)
            moments[part] = max(moments.get(part, 0), self._since.get(name, 0))
        return moments

    def _is_told(self, write: _Write, told: Mapping[SSAValue, int]) -> bool:
        """Whether a name that is new enough has what was written, all of it."""
        part = write.part
        while part is not None:
            if told.get(part, 0) >= write.moment:
                return True
            part = self._overlap.around(part)
        return False

    def _targets(self, op: Operation, name: SSAValue) -> Iterator[_Target]:
        """What an op writes through a name."""
        place = place_written(self._roots, op, name)
        origin, part = self._overlap.origin(name), self._overlap.part(name)
        for root in place.roots:
            yield root, origin, part, place.window
        if not place.is_complete:
            yield None, origin, part, None

    def _add(self, target: _Target, op: Operation) -> None:
        root, name, part, window = target
        write = _Write(self._now, name, part, window, op)
        self._index(self._writes, root).add(self._now, window, (name, part, window), write)
        if not self._is_part_of(part, root):
            self._index(self._strays, root).add(self._now, window, (name, part, window), write)
        self._log.append(root)

    def _index(
        self, indices: dict[SSAValue | None, WriteIndex[_Write]], root: SSAValue | None
    ) -> WriteIndex[_Write]:
        found = indices.get(root)
        if found is None:
            found = indices[root] = WriteIndex()
        return found

    def _is_part_of(self, part: SSAValue | None, root: SSAValue | None) -> bool:
        """Whether a part is one of a root for certain."""
        if part is None or root is None:
            return False
        inner: list[SSAValue] = []
        outer: SSAValue | None = part
        while outer is not None and outer not in self._outermost:
            inner.append(outer)
            outer = self._overlap.around(outer)
        last = inner[-1] if outer is None else self._outermost[outer]
        self._outermost.update(dict.fromkeys(inner, last))
        return self._outermost[part] is root

    def _add_all(self, written: _Written) -> None:
        if written:
            self._now += 1
            for target, op in written.items():
                self._add(target, op)

    # Names.

    def _name(self, value: SSAValue, *sources: SSAValue, since: int | None = None) -> None:
        """A name from now on, stale if one of its sources is stale from the start."""
        self._since[value] = self._now if since is None else since
        for source in sources:
            self._made_from.setdefault(source, []).append(value)

    def _blame(self, value: SSAValue, cause: _Cause | None) -> None:
        if cause is not None:
            self._causes.setdefault(value, cause)

    def _spread(self) -> None:
        """Names that are made from stale names are stale."""
        todo = list(self._causes)
        while todo:
            value = todo.pop()
            for made in self._made_from.get(value, ()):
                if made not in self._causes:
                    self._causes[made] = self._causes[value]
                    todo.append(made)

    # Ops.

    def _reads_and_writes(self, op: Operation) -> list[SSAValue]:
        """Take note of what an op does; gives the operands that it writes."""
        accesses = self._accesses.get(op, ())
        written = [operand for operand, direction in accesses if direction.writes]
        put_back = {operand: self._put_back(op, operand) for operand in written}
        for operand, direction in accesses:
            if direction.reads and not any(operand in windows for windows in put_back.values()):
                self._reads.append((op, operand, self._cause(operand)))
        if isinstance(op, DispatchOp):
            # What a callee returns names its buffer after the call, whatever the call wrote it by.
            for result in op.results:
                for operand in self._named(op, result):
                    if operand not in written:
                        self._blame(result, self._cause(operand))
        if written:
            for operand in written:
                cause = self._cause(operand, put_back[operand])
                for window in put_back[operand]:
                    # What is not moved is not read: it is named.
                    cause = cause or self._cause(window)
                    for result in op.results:
                        self._made_from.setdefault(window, []).append(result)
                if cause:
                    # So is what the op returns for it, where it does not write.
                    for result in op.results:
                        if operand in self._named(op, result):
                            self._blame(result, cause)
            self._now += 1
            for operand in written:
                for target in self._targets(op, operand):
                    self._add(target, op)
        return written

    def _put_back(self, op: Operation, destination: SSAValue) -> Sequence[SSAValue]:
        """
        The name of a window that an op copies to where that is, if it does:

            %w  = ptensor.slice %t[%i, 0]
            %w1 = orch.call @k(%x, %w)
            %t1 = ptensor.assemble %w1, %t[%i, 0]

        Nothing moves; %t1 is %t after what was written through %w.
        """
        if not isinstance(op, DeclaredOp):
            return ()
        for result in op.results:
            copied = op.copied_window(result)
            if copied is None or op.named_operand(result) is not destination:
                continue
            source, starts = copied
            window = self._overlap.part(source)
            view = self._roots.view(window)
            if view is None or not isinstance(window, OpResult) or window.type != source.type:
                continue
            if self._overlap.around(window) is self._overlap.part(destination) and list(
                starts
            ) == list(view.window_start(window) or ()):
                return (source,)
        return ()

    def _named(self, op: Operation, result: OpResult) -> Sequence[SSAValue]:
        """The operands that a result of an op without regions may name."""
        if not isinstance(result.type, TensorType):
            return ()
        if isinstance(op, DeclaredOp):
            named = op.named_operand(result)
            return () if named is None else (named,)
        operands: Sequence[SSAValue] = op.operands
        if isinstance(op, DispatchOp):
            operands = op.arguments
            lineage = self._lineage.of_result(op, result)
            if lineage is not None:
                return operands[lineage.parameter : lineage.parameter + 1]
        roots = self._roots.of(result).roots
        named = [o for o in operands if any(root in roots for root in self._roots.of(o).roots)]
        written = [value for value, direction in self._accesses.get(op, ()) if direction.writes]
        return [operand for operand in named if operand in written] or named

    def _name_results(self, op: Operation, written: Sequence[SSAValue]) -> None:
        for result in op.results:
            if not isinstance(result.type, TensorType):
                continue
            by = op.updated_by(result) if isinstance(op, DeclaredOp) else None
            named = self._named(op, result)
            if by is not None:
                self._update(result, named[0], by)
            else:
                older = () if isinstance(op, DispatchOp) else named
                moments = [self._since.get(value, 0) for value in older if value not in written]
                self._name(result, *named, since=min(moments, default=self._now))

    def _update(self, result: SSAValue, source: SSAValue, by: Sequence[SSAValue]) -> None:
        """
        The name of a buffer after writes through others: current if those are, and nothing else
        was written since the old name.
        """
        if not by:
            # Whatever was written before this place.
            self._name(result)
            return
        self._name(result, source, *by)
        self._blame(result, self._cause(source, by))
        since = self._since.get(source, 0)
        for value in by:
            # What was written since the source's moment is seen to already.
            if self._since.get(value, 0) < since:
                self._blame(result, self._cause(value, by))

    # Regions.

    def _enter(self, op: Operation) -> None:
        steps: dict[Operation, list[Forwarding]] = {}
        if shape_of(op) is not Shape.UNKNOWN:
            for step in forwarding(op):
                if isinstance(step.target.type, TensorType):
                    steps.setdefault(step.op, []).append(step)
        self._steps.append(steps)
        if shape_of(op) is Shape.BRANCH:
            self._branches.append(_Branch(len(self._log), {}))
        for step in steps.get(op, ()):
            # The init of a loop; of its result only if the body may never run.
            if not (isinstance(step.target, OpResult) and runs_for_certain(op)):
                self._hand_on(step)
        if _repeats(op):
            trips = constant_trip_count(op)
            if trips is None or trips > 1:
                self._add_all(self._written_in[op])

    def _enter_region(self, op: Operation, region: Region) -> None:
        for block in region.blocks:
            for argument in block.args:
                # What a loop's condition hands to its body has its moment already.
                if isinstance(argument.type, TensorType):
                    self._since.setdefault(argument, self._now)

    def _leave_region(self, op: Operation, region: Region) -> None:
        """Look at what a region hands on while it is known what is current at its end."""
        end = None if region.last_block is None else region.last_block.last_op
        for step in self._steps[-1].get(end, ()) if end is not None else ():
            passes = shape_of(op) is Shape.SEQUENCE or (
                isinstance(step.target, BlockArgument) and step.target not in self._since
            )
            if passes:
                # Nothing happens between the end of the region and what follows.
                self._name(step.target, step.source, since=self._since.get(step.source, 0))
            else:
                self._hand_on(step)
        if shape_of(op) is Shape.BRANCH:
            branch = self._branches[-1]
            for key in reversed(self._log[branch.mark :]):
                write = self._writes[key].pop()
                if not self._is_part_of(write.part, key):
                    self._strays[key].pop()
                target = (key, write.name, write.part, write.window)
                branch.written.setdefault(target, write.op)
            del self._log[branch.mark :]

    def _hand_on(self, step: Forwarding) -> None:
        """The target is stale from the start if the source is stale now, or from its start."""
        self._blame(step.target, self._cause(step.source))
        self._made_from.setdefault(step.source, []).append(step.target)

    def _leave(self, op: Operation) -> None:
        self._steps.pop()
        if shape_of(op) is Shape.BRANCH:
            self._add_all(self._branches.pop().written)
        elif _repeats(op):
            self._add_all(self._written_in[op])
        for result in op.results:
            self._since.setdefault(result, self._now)


def _is_inside(value: SSAValue, op: Operation) -> bool:
    """Whether a value is defined in a region of an op."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    while block is not None:
        around = block.parent_op()
        if around is op:
            return True
        block = None if around is None else around.parent
    return False


def _repeats(op: Operation) -> bool:
    """Whether the regions of an op may run again and again."""
    return bool(op.regions) and shape_of(op) in (Shape.LOOP, Shape.UNKNOWN)
