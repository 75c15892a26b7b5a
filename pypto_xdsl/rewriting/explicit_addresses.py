"""
Where the tiles lie that the program places itself (`tile.alloc`, `tile.place`).

Buffers follow each other in their memory, from its start, in the order of the text; a tile lies at
its offset, or slot, in its buffer. Which slot that is may be known at run time only, if all that
is kept in such slots is as large as they are. Where a tile reaches beyond the size that its buffer
was declared with, addresses have been assigned before, as in programs that PyPTO prints late: then
all offsets of the kernel are addresses. Everything else of the kernel is allocated around
(`allocate-memory-addr`).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.tile_storage import TileStorage
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.diagnostics import OpError, note
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.element_types import byte_width
from pypto_xdsl.dialects.pto.tile_types import MULTI_TILE_COUNT
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.dialects.tile.storage import size_of


@dataclass(frozen=True)
class _Placed:
    """A tile in a buffer."""

    op: tile.PlaceOp
    alloc: tile.AllocOp
    space: MemorySpace
    size: int
    """In bytes."""
    place: int | SSAValue
    """The offset in the buffer, or the slot, which may be known at run time only."""


@dataclass(frozen=True)
class Slot:
    """One of the slots of a buffer, known at run time only."""

    op: tile.PlaceOp
    """What keeps a tile there."""
    index: SSAValue
    address: int
    """Of the buffer, in bytes."""
    count: int
    """How many slots it has."""


@dataclass(frozen=True)
class Places:
    """Where each storage is that the program places, by the tile that stands for it."""

    addresses: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """In bytes."""
    slots: Mapping[SSAValue, Slot] = field(default_factory=dict[SSAValue, Slot])


def explicit_places(storage: TileStorage, backend: Backend) -> Places:
    """
    Where the program places tiles.

    Raises `OpError` for a place that is an offset known at run time only, does not suit the tile,
    or is in use by another one.
    """
    places = [op for op in storage.order.ops if isinstance(op, tile.PlaceOp)]
    placed = [_placed(op) for op in places if not storage.is_part(op.source)]
    if not placed:
        return Places()
    slot_sizes: dict[tile.AllocOp, int] = {}
    for each in placed:
        slot_sizes[each.alloc] = max(slot_sizes.get(each.alloc, 0), each.size)
    absolute = any(_reaches_beyond(each) for each in placed)
    bases = {} if absolute else _bases(storage.order.ops, placed, slot_sizes, backend)
    addresses: dict[SSAValue, int] = {}
    slots: dict[SSAValue, Slot] = {}
    first: dict[SSAValue, _Placed] = {}
    ends: dict[SSAValue, int] = {}
    for each in placed:
        slot = slot_sizes[each.alloc] if each.op.by_slot is not None else 1
        address, size = bases.get(each.alloc, 0), each.size
        if isinstance(each.place, SSAValue):
            _expect_whole_slot(each, slot, absolute=absolute)
            size = slot * each.alloc.slots.value.data
        else:
            address += each.place * slot
        alignment = backend.memories[each.space].alignment
        if address % alignment:
            raise OpError(each.op, f"keeps a tile at {address}, no multiple of {alignment} bytes")
        root = storage.storage(each.op.source)
        if isinstance(each.place, SSAValue):
            made = Slot(each.op, each.place, address, each.alloc.slots.value.data)
            known = slots.setdefault(root, made)
            if known.index is not each.place:
                raise OpError(
                    each.op,
                    "keeps a tile in a slot known at run time only that shares its storage with "
                    "one in another",
                    [note(known.op, "kept there by this")],
                )
        if addresses.setdefault(root, address) != address or (root in slots) != isinstance(
            each.place, SSAValue
        ):
            raise OpError(
                each.op,
                f"keeps a tile at {address} that shares its storage with one at {addresses[root]}",
                [note(first[root].op, "kept there by this")],
            )
        first.setdefault(root, each)
        ends[root] = max(ends.get(root, 0), address + size)
    _expect_apart(storage, first, addresses, ends)
    return Places({root: at for root, at in addresses.items() if root not in slots}, slots)


def _expect_whole_slot(each: _Placed, slot: int, *, absolute: bool) -> None:
    """Raise unless a tile fills the slot that is known at run time only."""
    name = each.alloc.buffer.data
    if absolute:
        raise OpError(
            each.op,
            f"keeps a tile in a slot of buffer '{name}' that is known at run time only, in a "
            "program whose tiles have addresses already",
        )
    fewest, most = MULTI_TILE_COUNT
    if not fewest <= each.alloc.slots.value.data <= most:
        raise OpError(
            each.op,
            f"keeps a tile in one of {each.alloc.slots.value.data} slots that is known at run "
            f"time only, of {fewest} to {most}",
        )
    if each.size != slot:
        raise OpError(
            each.op,
            f"keeps {each.size} bytes in a slot of {slot} that is known at run time only: what is "
            "kept in such slots is of one size",
        )


def _placed(op: tile.PlaceOp) -> _Placed:
    alloc, (place,) = op.buffer.owner, op.place
    type = TileType.of(op.source.type)
    if not isinstance(alloc, tile.AllocOp):
        raise OpError(op, "keeps a tile in a buffer that no 'tile.alloc' here makes")
    if isinstance(place, SSAValue) and op.by_slot is None:
        raise OpError(
            op,
            f"keeps a tile at an offset in buffer '{alloc.buffer.data}' that is known at run time "
            "only: give the buffer slots, or unroll the loop that it depends on",
        )
    assert type.memory_space is not None
    if alloc.space is not None and alloc.space.data is not type.memory_space:
        raise OpError(
            op,
            f"keeps a tile in {type.memory_space} in buffer '{alloc.buffer.data}', which is in "
            f"{alloc.space.data}",
        )
    size = prod(type.get_shape()) * byte_width(type.element_type)
    return _Placed(op, alloc, type.memory_space, size, place)


def _reaches_beyond(each: _Placed) -> bool:
    declared = size_of(each.alloc)
    return (
        declared is not None
        and each.op.by_slot is None
        and isinstance(each.place, int)
        and each.place + each.size > declared * each.alloc.slots.value.data
    )


def _bases(
    ops: Sequence[Operation],
    placed: Sequence[_Placed],
    slot_sizes: Mapping[tile.AllocOp, int],
    backend: Backend,
) -> dict[tile.AllocOp, int]:
    """The address of each buffer."""
    spaces: dict[tile.AllocOp, MemorySpace] = {}
    ends: dict[tile.AllocOp, int] = {}
    for each in placed:
        known = spaces.setdefault(each.alloc, each.space)
        if known is not each.space:
            raise OpError(each.op, f"keeps a tile in {each.space} in a buffer of tiles in {known}")
        if each.op.by_slot is None and isinstance(each.place, int):
            ends[each.alloc] = max(ends.get(each.alloc, 0), each.place + each.size)
    bases: dict[tile.AllocOp, int] = {}
    free: dict[MemorySpace, int] = {}
    for alloc in ops:
        if not isinstance(alloc, tile.AllocOp) or alloc not in spaces:
            continue
        memory = backend.memories[spaces[alloc]]
        base = -(-free.get(spaces[alloc], 0) // memory.alignment) * memory.alignment
        bases[alloc] = base
        slots = alloc.slots.value.data
        used = max(ends.get(alloc, 0), slots * slot_sizes[alloc], slots * (size_of(alloc) or 0))
        free[spaces[alloc]] = base + used
        if base + used > memory.size:
            raise OpError(
                alloc,
                f"is a buffer of {used} bytes at {base} in {spaces[alloc]}, which has "
                f"{memory.size}",
            )
    return bases


def _expect_apart(
    storage: TileStorage,
    placed: Mapping[SSAValue, _Placed],
    addresses: Mapping[SSAValue, int],
    ends: Mapping[SSAValue, int],
) -> None:
    """Raise where two tiles that are needed at the same time lie in the same bytes."""
    ranges = sorted(
        (start, end, number)
        for number, root in enumerate(placed)
        for start, end in storage.live(root)
    )
    each = list(placed.items())
    live: list[tuple[int, int]] = []
    """(end of use, number)."""
    for start, end, number in ranges:
        while live and live[0][0] < start:
            heapq.heappop(live)
        root, new = each[number]
        for _, other in live:
            other_root, old = each[other]
            if old.space is not new.space or other == number:
                continue
            low = addresses[root]
            if addresses[other_root] < ends[root] and low < ends[other_root]:
                raise OpError(
                    new.op,
                    f"keeps a tile at {_shown(new, low)} where another one is still needed",
                    [
                        note(
                            old.op,
                            f"at {_shown(old, addresses[other_root])} since here: {old.size} bytes",
                        )
                    ],
                )
        heapq.heappush(live, (end, number))


def _shown(each: _Placed, address: int) -> str:
    if isinstance(each.place, SSAValue):
        return f"some slot of buffer '{each.alloc.buffer.data}'"
    return str(address)
