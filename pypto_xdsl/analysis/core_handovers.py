"""
Where the halves of a mixed kernel have to wait for each other, because of what both do to the same
buffers of global memory.

    %y1 = tile.store %product, %y[0, 0]      of the cube core
    %v = tile.load %y1[0, 0]                 of a vector core: not before the store is done

The cores of a group run at the same time, and nothing orders what they do in global memory. Where
an op of one half may touch bytes that the other half has touched before, and one of the two
writes, the half that was first has to hand over: a flag that it raises once it is done, and that
the other half waits for. Both halves follow the same control flow, so that a handover at one place
of the kernel is raised as often as it is waited for.

Pipes of a core run at the same time as well. The flag is raised by the pipe that stores tiles, and
waited for by the one that loads them. Where other pipes have part in it, and where they will have
in something that is handed over later, the core waits for all of its pipes (`Handover.settles`,
`Order.waits`). A tile that passes between the halves orders what
comes before its push and after its pop just so, and a `tile.syncall` of both kinds of cores orders
everything.

Scalar units read and write global memory through caches that know nothing of the other core: what
one half writes cannot be handed over where either is a scalar unit.

The kernel is walked in the order of the text; what is pending between the halves at the start of a
loop grows until it stays, so that a loop is walked again as often as there are buffers in it at
most. A handover for what was before a loop stands before the loop, and one for what only one half
knows whether it does, as it has the number that decides, before the branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from xdsl.dialects import scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from pypto_xdsl.analysis.buffer_roots import BufferRoots
from pypto_xdsl.analysis.core_lanes import CORES, Lane
from pypto_xdsl.analysis.kernel_halves import crossing, half_of
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError, note
from pypto_xdsl.dialects import orch, ptensor, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.ptensor.window_writes import WindowWriteOp
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.dialects.tile.attributes import CoreType


@dataclass(eq=False)
class Handover:
    """One half tells the other that it is done with what came before."""

    start: Lane
    """The half that tells."""
    settles: bool = False
    """Whether it waits for all of its pipes first."""


@dataclass(eq=False)
class Order:
    """What the halves do before an op of the kernel."""

    handovers: dict[Lane, Handover] = field(default_factory=dict[Lane, Handover])
    """By the half that hands over."""
    waits: set[Lane] = field(default_factory=set[Lane])
    """The halves all of whose pipes wait for what was handed over to them."""


class _Way(IntEnum):
    """How an op reaches global memory."""

    STORE = 0
    """By the pipe that also pushes tiles."""
    LOAD = 1
    """By the pipe that also pops tiles."""
    OTHER = 2
    """By another pipe."""
    SCALAR = 3
    """By the scalar unit."""


class _Level(IntEnum):
    """How far an access of one half is behind what the other one does."""

    HANDED = 0
    """The other half's loads come after it."""
    OPEN = 1
    """Nothing orders it."""


@dataclass(frozen=True, slots=True)
class _Access:
    root: SSAValue
    half: Lane
    writes: bool
    way: _Way

    def in_conflict(self) -> Iterable[_Access]:
        """What the other half may do that has to be in order with it."""
        for writes in (True,) if not self.writes else (True, False):
            for way in _Way:
                yield _Access(self.root, self.half.other, writes, way)


_State = dict[_Access, _Level]
"""What is pending between the halves."""


def core_orders(kernel: orch.FuncOp, roots: BufferRoots) -> Mapping[Operation, Order]:
    """
    What the halves of a mixed kernel do before some of its ops, so that what they do in global
    memory is in the order of the text.

    Raises `OpError` for what cannot be handed over.
    """
    steps = _Walk(kernel, roots)
    if steps.contested:
        steps.block(kernel.body.block, {})
    return steps.orders


class _Walk:
    def __init__(self, kernel: orch.FuncOp, roots: BufferRoots):
        self._roots = roots
        self._parameters = [p for p in kernel.parameters if isinstance(p.type, TensorType)]
        self._first: dict[_Access, Operation] = {}
        self._found: dict[Operation, tuple[_Access, ...]] = {}
        self._inside: dict[Operation, tuple[_Access, ...]] = {}
        self._entries: dict[Operation, _State] = {}
        self.orders: dict[Operation, Order] = {}
        every = set(self._within(kernel))
        self.contested = {a for a in every if not every.isdisjoint(a.in_conflict())}
        """What the other half does as well, and has to do before or after."""

    # What ops do.

    def _accesses(self, op: Operation) -> tuple[_Access, ...]:
        """What an op without regions does in global memory."""
        found = self._found.get(op)
        if found is None:
            found = self._found[op] = tuple(self._find(op))
            for access in found:
                self._first.setdefault(access, op)
        return found

    def _find(self, op: Operation) -> Iterable[_Access]:
        if not isinstance(op, DeclaredOp) or crossing(op) is not None:
            return
        half = half_of(op)
        # An element is read by both, as numbers are.
        halves = CORES if isinstance(op, ptensor.ReadOp) else () if half is None else (half,)
        for value, effect in op.operand_effects() if halves else ():
            if not isinstance(value.type, TensorType):
                continue
            place = self._roots.of(value)
            for root in place.roots if place.is_complete else (*place.roots, *self._parameters):
                for half in halves:
                    yield _Access(root, half, effect.writes, _way(op))

    def _within(self, op: Operation) -> tuple[_Access, ...]:
        """What is done in a loop, or the kernel."""
        found = self._inside.get(op)
        if found is None:
            inside = (a for inner in walk(op) if not inner.regions for a in self._accesses(inner))
            found = self._inside[op] = tuple(dict.fromkeys(inside))
        return found

    # The walk.

    def block(self, block: Block, state: _State) -> None:
        """Walk a block; `state` becomes what is pending at its end."""
        for op in block.ops:
            match op:
                case scf.ForOp():
                    self._before(op, state)
                    self._loop(op, (op.body.block,), state)
                case scf.WhileOp():
                    self._before(op, state)
                    self._loop(op, (op.before_region.block, op.after_region.block), state)
                case scf.IfOp():
                    self._branch(op, state)
                case orch.SplitAivOp():
                    self.block(op.body.block, state)
                case _ if not op.regions:
                    self._op(op, state)
                case _:
                    pass

    def _before(self, op: Operation, state: _State, half: Lane | None = None) -> None:
        """Hand over what was before a loop or a branch, for all that is done in it."""
        accesses = (
            access
            for access in self._within(op)
            if access.way is not _Way.SCALAR and half in (None, access.half)
        )
        self._order(op, tuple(accesses), state)

    def _loop(self, loop: Operation, blocks: tuple[Block, ...], state: _State) -> None:
        entry = self._entries.setdefault(loop, {})
        _join(entry, state)
        while True:
            turn = dict(entry)
            ends: list[_State] = []
            for block in blocks:
                self.block(block, turn)
                ends.append(dict(turn))
            if not _join(entry, turn):
                break
        if len(blocks) > 1:
            # It ends after its condition, which is computed at least once.
            state.clear()
        _join(state, ends[0])

    def _branch(self, op: scf.IfOp, state: _State) -> None:
        owner = self._owner(op.cond)
        if owner is not None:
            # The other half goes on without knowing which way this one takes.
            self._before(op, state, owner)
        before = dict(state)
        state.clear()
        for region in op.regions:
            arm = dict(before)
            for block in region.blocks:
                self.block(block, arm)
            _join(state, arm)

    def _owner(self, number: SSAValue) -> Lane | None:
        """The half that alone has a number, since it comes of a tile; None if both have it."""
        waiting, seen = [number], {number}
        while waiting:
            op = waiting.pop().owner
            if not isinstance(op, Operation) or op.regions:
                continue
            half = half_of(op)
            if half is not None:
                return half
            waiting += (value for value in op.operands if value not in seen)
            seen.update(op.operands)
        return None

    def _op(self, op: Operation, state: _State) -> None:
        accesses = self._accesses(op)
        self._order(op, accesses, state)
        start = crossing(op)
        if start is not None:
            _hand_over(state, start, settles=False)
        elif isinstance(op, tile.SyncallOp) and op.core_type.data is CoreType.MIX:
            state.clear()
        elif isinstance(op, tile.BarAllOp):
            for half in CORES:
                _wait(state, half)
        state.update((access, _Level.OPEN) for access in accesses if access in self.contested)

    def _order(self, op: Operation, accesses: tuple[_Access, ...], state: _State) -> None:
        """Let what is done at an op come after what the other half did to the same."""
        order = self.orders.get(op)
        if order is not None:
            _take(state, order)
        for access in accesses:
            start = access.half.other
            pending = [other for other in access.in_conflict() if other in state]
            if op.regions:
                # Scalar units are looked at where they are.
                pending = [other for other in pending if other.way is not _Way.SCALAR]
            if not pending:
                continue
            for other in pending:
                if _Way.SCALAR in (access.way, other.way) and other.writes:
                    raise self._refusal(op, access, other)
            if order is None:
                order = self.orders[op] = Order()
            if any(state[a] is _Level.OPEN for a in pending):
                handover = order.handovers.setdefault(start, Handover(start))
                # Whatever else may have to be handed over is, at once.
                handover.settles |= any(
                    a.half is start and a.way is not _Way.STORE and level is _Level.OPEN
                    for a, level in state.items()
                )
            if access.way is not _Way.LOAD:
                order.waits.add(access.half)
            _take(state, order)

    def _refusal(self, op: Operation, access: _Access, other: _Access) -> OpError:
        first = self._first[other]
        store, used = (first, op) if other.writes else (op, first)
        half = other.half if other.writes else access.half
        return OpError(
            store,
            f"is of the {half.value} core, and what it stores to is used by the "
            f"{half.other.value} core of the same kernel, where one of the two is a scalar unit, "
            "whose cache knows nothing of the other core: pass the tile itself, or make two "
            "kernels of it",
            [note(used, "it is used here")],
        )


def _way(op: Operation) -> _Way:
    match op:
        case ptensor.ReadOp() | ptensor.WriteOp():
            return _Way.SCALAR
        case tile.LoadOp() | tile.GatherRowOp():
            return _Way.LOAD
        case WindowWriteOp() if _pushes(op):
            return _Way.STORE
        case _:
            return _Way.OTHER


def _pushes(op: WindowWriteOp) -> bool:
    """Whether a tile is stored from the memory from which tiles are pushed."""
    type = op.source.type
    return isinstance(type, TileType) and type.memory_space in (MemorySpace.VEC, MemorySpace.ACC)


def _hand_over(state: _State, start: Lane, *, settles: bool) -> None:
    for access in state:
        if access.half is start and (settles or access.way is _Way.STORE):
            state[access] = _Level.HANDED


def _wait(state: _State, half: Lane) -> None:
    """All pipes of a half wait for what was handed over to it."""
    for access in [a for a in state if a.half is not half and state[a] is _Level.HANDED]:
        del state[access]


def _take(state: _State, order: Order) -> None:
    for start, handover in order.handovers.items():
        _hand_over(state, start, settles=handover.settles)
    for half in order.waits:
        _wait(state, half)


def _join(into: _State, other: _State) -> bool:
    """Take what is pending on another way here as well; whether anything is new."""
    changed = False
    for access, level in other.items():
        known = into.get(access)
        if known is None or known < level:
            into[access] = level
            changed = True
    return changed


__all__ = ["Handover", "Order", "core_orders"]
