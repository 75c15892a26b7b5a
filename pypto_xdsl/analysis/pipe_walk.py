"""
Following the program of one core, to see what its pipes know of each other at each instruction.

A body that runs again and again is walked twice the first time that it is met, so that what its
next iteration does meets what this one did; then, for loops around it, once: what its iterations
do to each other has been seen. Loops in each other of which all but the innermost do nothing
themselves run the innermost body again and again, as one loop does, and are walked as one. So the
work grows with the size of the program times the depth of its loops that do something themselves.
Every way of a branch is walked; what gives the pipes nothing to do is not.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from pypto_xdsl.analysis.control_flow import Shape, runs_for_certain, shape_of
from pypto_xdsl.analysis.journal import Journal
from pypto_xdsl.analysis.pipe_order import (
    LANES,
    End,
    FirstTeachers,
    Knowledge,
    Known,
    PipeClocks,
    Told,
)
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import ascend910b
from pypto_xdsl.dialects.ascend910b import CORE, CORE_OF_KIND, Core
from pypto_xdsl.dialects.pto import PtoOp, SyncAllOp, SyncCoreType
from pypto_xdsl.dialects.pto.section import SectionOp

CORES_THAT_MEET: Mapping[SyncCoreType, tuple[Core, ...]] = {
    SyncCoreType.AIC_ONLY: (Core.AIC,),
    SyncCoreType.AIV_ONLY: (Core.AIV,),
    SyncCoreType.MIX: (Core.AIC, Core.AIV),
}
"""The cores that wait for each other, by the kind that is named."""

_THAT_ORDER = (
    ascend910b.EventOp,
    ascend910b.BarrierOp,
    ascend910b.CrossFlagOp,
    SyncAllOp,
    func.CallOp,
)
"""What does something to the order of pipes besides their instructions."""

Token = tuple[tuple[Operation, ...], Told]
"""The ops that may have set an event, and what is told by it."""


class PipeWalk:
    """One walk of a function as a core executes it; a subclass says what happens at each op."""

    def __init__(
        self,
        function: func.FuncOp,
        core: Core,
        *,
        ignored: Collection[object] = (),
        kind: type[Known[Any]] = FirstTeachers,
        told_of: Collection[object] | None = None,
    ) -> None:
        self.function = function
        self.core = core
        self.ignored = ignored
        """Waits and barriers of the program that are taken not to be there."""
        self.clocks = PipeClocks(kind, told_of)
        self.iterations: list[tuple[Operation, int]] = []
        """Of the loops around, outermost first, which iteration it is; of a nest, the innermost."""
        self.outermost: Operation | None = None
        """The loop around that no loop is around."""
        self.open: list[tuple[Operation, list[Knowledge]]] = []
        """The branches and loops around, and what may be all that is known after each."""
        self.after: dict[Operation, dict[int, Told]] = {}
        """What a pipe can tell after an op."""
        self._cores = _cores_of_functions(function)
        self._is_light = False
        self._active = _active_ops(function, core)
        self._nests: dict[Operation, _Nest] = {}
        self._tokens: Journal[Hashable, tuple[Token, ...]] = Journal()
        """What was told each time that an event was set, and is not waited for yet."""
        self.new: set[Hashable] = set()
        """Events that were made up in this walk."""
        self.unclear: dict[Hashable, None] = {}
        """Events of which it depends on the way how often they are set."""

    def run(self) -> None:
        """Walk the function."""
        self._block(self.function.body.block)

    # What happens.

    def before(self, op: Operation) -> None:
        """An op is about to be executed."""

    def done(self, op: Operation) -> None:
        """An op was executed."""

    def heard(self, wait: Operation, key: Hashable, sets: Sequence[Operation]) -> None:
        """A wait of the program took an event that one of these set."""

    def barrier(self, op: ascend910b.BarrierOp) -> None:
        """A barrier of the program."""

    def flag(self, op: ascend910b.CrossFlagOp) -> None:
        """A flag for or of another core."""

    def call(self, op: func.CallOp) -> None:
        """A call of a function that runs on this core."""

    def instruction(self, op: PtoOp, lane: int) -> None:
        """An instruction of a pipe."""

    def enter_loop(self, op: Operation) -> None:
        """A loop begins; it may not have an iteration."""

    def leave_loop(self, op: Operation) -> None:
        """A loop has ended."""

    def enter_branch(self) -> None:
        """A branch begins."""

    def leave_way(self) -> None:
        """One of its ways ends."""

    def leave_branch(self) -> None:
        """All of them have been walked."""

    # The walk.

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self.before(op)
            self._node(op)
            self.done(op)

    def _region(self, region: Region) -> None:
        for block in region.blocks:
            self._block(block)

    def _node(self, op: Operation) -> None:
        if isinstance(op, ascend910b.EventOp):
            self._event(op)
        elif isinstance(op, ascend910b.BarrierOp):
            if op.is_of_all and op not in self.ignored:
                self.barrier(op)
        elif isinstance(op, ascend910b.CrossFlagOp):
            self.flag(op)
        elif isinstance(op, SyncAllOp):
            # Cores wait for their pipes before they meet, and are told what all have done.
            kind: Any = op.core_type
            if self.core in CORES_THAT_MEET[kind.data]:
                self.clocks.finish_all(None)
        elif isinstance(op, func.CallOp):
            callee = self._cores.get(op.callee.root_reference.data)
            if callee in (None, self.core, Core.MIX):
                self.call(op)
        elif op.regions:
            if any(region in self._active for region in op.regions):
                self._inside(op)
        elif isinstance(op, PtoOp) and (pipe := op.pipe) in LANES:
            assert pipe is not None
            self.instruction(op, LANES[pipe])

    def remember(self, op: Operation) -> None:
        """Keep what pipes can tell after an op with regions."""
        self.after[op] = {lane: self.clocks.snapshot(lane) for lane in LANES.values()}

    def _event(self, op: ascend910b.EventOp) -> None:
        number = op.known_event
        if number is None:
            # Which event it is, is known at run time only: it orders nothing for certain.
            return
        source, destination = LANES[op.source], LANES[op.destination]
        key = source, destination, number
        if isinstance(op, ascend910b.SetFlagOp):
            self.clocks.begin(source)
            self.put(key, source, op)
            return
        self.clocks.begin(destination)
        token = self.take(key, destination, op)
        if token is not None:
            self.heard(op, key, token[0])

    def put(self, key: Hashable, source: int, op: Operation) -> None:
        """A pipe sets an event."""
        tokens = self._tokens.get(key) or ()
        self._tokens.set(key, (*tokens, ((op,), self.clocks.snapshot(source))))

    def take(self, key: Hashable, destination: int, teacher: object) -> Token | None:
        """A pipe waits for an event, if it is set at all."""
        tokens = self._tokens.get(key)
        if not tokens:
            return None
        self._tokens.set(key, tokens[1:])
        if teacher not in self.ignored:
            self.clocks.learn(destination, tokens[0][1], teacher)
        return tokens[0]

    def _merge_tokens(
        self,
        entry: End,
        ways: Sequence[Mapping[Hashable, tuple[Token, ...]]],
        ends: Sequence[End],
    ) -> None:
        """Merge what each way did to events that are set, which has been taken back."""
        lasts = [last for _, last in ends]
        for key in dict.fromkeys(key for way in ways for key in way):
            before = self._tokens.get(key) or ()
            found = [way.get(key, before) for way in ways]
            if all(tokens is before or not (tokens or before) for tokens in found):
                # It is as it was, so loops around need not look at it.
                continue
            if key in self.new:
                # It was not there when the walk went by where it is set first.
                self._tokens.set(key, max(found, key=len))
                continue
            if len({len(tokens) for tokens in found}) != 1:
                self.unclear[key] = None
                self._tokens.set(key, ())
                continue
            told_before = before[0][1] if before else None
            merged = tuple(
                (
                    tuple(dict.fromkeys(op for sets, _ in tokens for op in sets)),
                    self.clocks.merged(entry[1], told_before, [told for _, told in tokens], lasts),
                )
                for tokens in zip(*found, strict=True)
            )
            self._tokens.set(key, merged)

    def _inside(self, op: Operation) -> None:
        match shape_of(op):
            case _ if isinstance(op, SectionOp):
                if CORE_OF_KIND[op.kernel_kind] is self.core:
                    self._region(op.body)
            case Shape.BRANCH:
                self._branch(op)
            case Shape.LOOP:
                self._loop(op)
            case _:
                for region in op.regions:
                    self._region(region)
        self.remember(op)

    def _loop(self, op: Operation) -> None:
        self.enter_loop(op)
        states: list[Knowledge] = []
        self.open.append((op, states))
        nest = self._nest(op)
        loop, ahead = nest.innermost, self._ahead(nest.innermost)
        is_light = self._is_light
        if not self.iterations:
            self.outermost = op
        self.iterations.append((loop, 0))
        if ahead is not None:
            self._region(ahead)
        entry = self.clocks.end()
        states.append(entry[0])
        if nest.may_not_run:
            self._tokens.begin()
        for iteration in range(1 if is_light else 2):
            self.iterations[-1] = loop, iteration
            self._region(loop.regions[-1])
            self._is_light = True
            if ahead is not None:
                self.iterations[-1] = loop, iteration + 1
                self._region(ahead)
        self.iterations.pop()
        if not self.iterations:
            self.outermost = None
        self._is_light = is_light
        self.open.pop()
        if nest.may_not_run:
            ends = entry, self.clocks.end()
            changes = self._tokens.take_back()
            self._tokens.end()
            self._merge_tokens(entry, ({}, changes), ends)
            self.clocks.merge(entry, ends)
        self.leave_loop(op)

    def _nest(self, op: Operation) -> _Nest:
        """The loops that an outer one runs as if they were one."""
        found = self._nests.get(op)
        if found is None:
            loop, may_not_run = op, not runs_for_certain(op)
            while self._ahead(loop) is None:
                inside = self._active.get(loop.regions[-1], ())
                if len(inside) != 1 or shape_of(inside[0]) is not Shape.LOOP:
                    break
                if self._ahead(inside[0]) is not None:
                    break
                loop = inside[0]
                may_not_run = may_not_run or not runs_for_certain(loop)
            found = self._nests[op] = _Nest(loop, may_not_run)
        return found

    def _ahead(self, loop: Operation) -> Region | None:
        """What a loop runs once more than its body, if it does anything."""
        if isinstance(loop, scf.WhileOp) and loop.before_region in self._active:
            return loop.before_region
        return None

    def _branch(self, op: Operation) -> None:
        entry = self.clocks.end()
        states = [entry[0]]
        ends: list[End] = []
        self.open.append((op, states))
        self.enter_branch()
        self._tokens.begin()
        changes: list[Mapping[Hashable, tuple[Token, ...]]] = []
        for region in op.regions:
            self.clocks.come_back(entry[0])
            self._region(region)
            self.leave_way()
            changes.append(self._tokens.take_back())
            ends.append(self.clocks.end())
            states.append(ends[-1][0])
        self.leave_branch()
        self._tokens.end()
        self.open.pop()
        self._merge_tokens(entry, changes, ends)
        self.clocks.merge(entry, ends)


@dataclass(frozen=True)
class _Nest:
    """Loops of which each but the innermost does nothing but run the next."""

    innermost: Operation
    may_not_run: bool
    """Whether the body of the innermost may not run at all."""


def _active_ops(function: func.FuncOp, core: Core) -> Mapping[Region, Sequence[Operation]]:
    """By region, the ops directly in it that do something on a core, or hold what does."""
    found: dict[Region, list[Operation]] = {}
    todo: list[Operation] = [function]
    while todo:
        regions = todo.pop().regions
        for op in (op for region in regions for block in region.blocks for op in block.ops):
            if isinstance(op, SectionOp) and CORE_OF_KIND[op.kernel_kind] is not core:
                continue
            if op.regions:
                todo.append(op)
            elif isinstance(op, _THAT_ORDER) or (isinstance(op, PtoOp) and op.pipe in LANES):
                active: Operation | None = op
                while active is not None and active is not function:
                    region = active.parent_region()
                    assert region is not None
                    is_known = region in found
                    found.setdefault(region, []).append(active)
                    active = None if is_known else region.parent
    return found


def _cores_of_functions(function: func.FuncOp) -> Mapping[str, Core]:
    module = function.parent_op()
    if not isinstance(module, ModuleOp) or not any(
        isinstance(op, func.CallOp) for op in walk(function)
    ):
        return {}
    found: dict[str, Core] = {}
    for op in module.body.block.ops:
        core: Any = op.attributes.get(CORE)
        if isinstance(op, func.FuncOp) and core is not None:
            found[op.sym_name.data] = core.data
    return found


__all__ = ["PipeWalk"]
