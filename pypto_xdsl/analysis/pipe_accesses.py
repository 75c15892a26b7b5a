"""
Which bytes the instructions of a core touch, as far as the text tells.

An access is a range of bytes of one memory. Of a tile it is all of the view that it is or is
part of; where an address is known at run time only, all that it may be in; of global memory, all
that is reached through one pointer argument. Distinct pointer arguments are distinct memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.ir import BlockArgument, Operation, SSAValue

from pypto_xdsl.analysis.control_flow import forwarded
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import ascend910b
from pypto_xdsl.dialects.pto import AddressSpace, PtoOp, TileBufType
from pypto_xdsl.dialects.pto.queue import AllocEntryOp, PopOp, number_of
from pypto_xdsl.dialects.pto.queue_buffer import ReserveBase
from pypto_xdsl.dialects.pto.queue_initialize import InitializeOp
from pypto_xdsl.dialects.pto.rules import constant_value

_EVERYWHERE = 1 << 62


@dataclass(frozen=True)
class Place:
    """A range of bytes of one memory."""

    memory: Hashable
    """A memory of the core, the pointer into global memory, or None for any global memory."""
    start: int
    end: int


ANYWHERE = Place(None, 0, _EVERYWHERE)
"""Some global memory."""


@dataclass(frozen=True)
class PipeAccess:
    """What one operand of an instruction does."""

    place: Place
    is_write: bool


class PipeAccesses:
    """Answers for the instructions of one function."""

    def __init__(self) -> None:
        self._accesses: dict[PtoOp, tuple[PipeAccess, ...]] = {}
        self._places: dict[SSAValue, tuple[Place, ...]] = {}
        self._queues: dict[Operation, dict[int, InitializeOp]] = {}

    def of(self, op: PtoOp) -> tuple[PipeAccess, ...]:
        """The accesses of an instruction."""
        found = self._accesses.get(op)
        if found is None:
            found = self._accesses[op] = tuple(dict.fromkeys(self._of(op)))
        return found

    def _of(self, op: PtoOp) -> Iterator[PipeAccess]:
        for _, role, value in op.roles():
            if not (role.reads or role.writes):
                continue
            for place in self.places(value):
                yield PipeAccess(place, role.writes)
        if isinstance(op, PopOp) and isinstance(op.results[0].type, TileBufType):
            for place in self.places(op.results[0]):
                yield PipeAccess(place, is_write=True)

    def places(self, value: SSAValue) -> tuple[Place, ...]:
        """The bytes that a tile, a view or a pointer may name."""
        found = self._places.get(value)
        if found is None:
            # What a loop carries back to itself adds nothing.
            self._places[value] = ()
            self._places[value] = found = tuple(dict.fromkeys(self._find(value)))
        return found

    def _find(self, value: SSAValue) -> Iterator[Place]:
        sources = tuple(forwarded(value))
        owner = value.owner
        if sources:
            for source in sources:
                yield from self.places(source)
        elif isinstance(value, BlockArgument):
            yield Place(value, 0, _EVERYWHERE)
        elif isinstance(owner, ascend910b.ViewOp):
            type, address = owner.type, owner.known_address
            if address is None:
                yield Place(type.space, *(owner.within or (0, _EVERYWHERE)))
            else:
                yield Place(type.space, address, address + type.size_in_bytes)
        elif isinstance(owner, PopOp) and isinstance(value.type, TileBufType):
            yield self._local_slots(owner)
        elif isinstance(owner, PopOp | AllocEntryOp):
            queue = self._queues_around(owner).get(owner.queue_id)
            slots = None if queue is None else queue.gm_slot_tensor
            yield from (ANYWHERE,) if slots is None else self.places(slots)
        elif isinstance(owner, PtoOp) and owner.aliased is not None:
            yield from self.places(owner.aliased)
        elif isinstance(value.type, TileBufType):
            yield Place(value.type.space, 0, _EVERYWHERE)
        else:
            yield ANYWHERE

    def _local_slots(self, op: PopOp) -> Place:
        """Where tiles that are taken of a queue are brought to."""
        type = op.results[0].type
        assert isinstance(type, TileBufType)
        queue = self._queues_around(op).get(op.queue_id)
        local = None if queue is None else queue.consumer_buffer(op.DIRECTION)
        base = None if local is None else _address(local)
        if queue is None or base is None:
            return Place(type.space, 0, _EVERYWHERE)
        return Place(type.space, base, base + queue.local_slots * queue.bytes_of_slot)

    def _queues_around(self, op: Operation) -> dict[int, InitializeOp]:
        """The queues of the function that an op is in, by number."""
        function = op.parent_op()
        while function is not None and not isinstance(function, func.FuncOp):
            function = function.parent_op()
        if function is None:
            return {}
        found = self._queues.get(function)
        if found is None:
            found = self._queues[function] = {}
            for inside in walk(function):
                if isinstance(inside, InitializeOp):
                    found.setdefault(inside.queue_id, inside)
        return found


def _address(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, ReserveBase) and owner.base is not None:
        return number_of(owner.base)
    return constant_value(value)


def overlaps(places: Iterable[Place]) -> dict[Place, tuple[Place, ...]]:
    """For each place those that share a byte with it, itself among them."""
    found: dict[Place, list[Place]] = {place: [] for place in places}
    somewhere = Place(None, 0, _EVERYWHERE)
    by_memory: dict[Hashable, list[Place]] = {}
    for place in found:
        by_memory.setdefault(place.memory, []).append(place)
    for memory, inside in by_memory.items():
        inside.sort(key=lambda place: place.start)
        still_open: list[Place] = []
        for place in inside:
            still_open = [other for other in still_open if other.end > place.start]
            for other in still_open:
                found[other].append(place)
                found[place].append(other)
            found[place].append(place)
            still_open.append(place)
            if memory is not None and not isinstance(memory, AddressSpace) and somewhere in found:
                # Some global memory: it may be any.
                found[place].append(somewhere)
                found[somewhere].append(place)
    return {place: tuple(others) for place, others in found.items()}


__all__ = ["ANYWHERE", "PipeAccess", "PipeAccesses", "Place", "overlaps"]
