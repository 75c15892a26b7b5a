"""
Where the tiles lie that the program places itself (`tile.alloc`, `tile.place`).

Buffers follow each other in their memory, from its start, in the order of the text; a tile lies at
its offset, or slot, in its buffer. Where a tile reaches beyond the size that its buffer was
declared with, addresses have been assigned before, as in programs that PyPTO prints late: then all
offsets of the kernel are addresses. Everything else of the kernel is allocated around
(`allocate-memory-addr`).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.tile_storage import TileStorage
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.diagnostics import OpError, note
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.element_types import byte_width
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
    place: int
    """The offset in the buffer, or the slot."""


def explicit_addresses(storage: TileStorage, backend: Backend) -> Mapping[SSAValue, int]:
    """
    The byte address of each storage that the program places, by the tile that stands for it.

    Raises `OpError` for a place that is known at run time only, does not suit the tile, or is in
    use by another one.
    """
    places = [op for op in storage.order.ops if isinstance(op, tile.PlaceOp)]
    placed = [_placed(op) for op in places if not storage.is_part(op.source)]
    if not placed:
        return {}
    slot_sizes: dict[tile.AllocOp, int] = {}
    for each in placed:
        slot_sizes[each.alloc] = max(slot_sizes.get(each.alloc, 0), each.size)
    absolute = any(_reaches_beyond(each) for each in placed)
    bases = {} if absolute else _bases(storage.order.ops, placed, slot_sizes, backend)
    addresses: dict[SSAValue, int] = {}
    first: dict[SSAValue, _Placed] = {}
    for each in placed:
        slot = slot_sizes[each.alloc] if each.op.by_slot is not None else 1
        address = bases.get(each.alloc, 0) + each.place * slot
        alignment = backend.memories[each.space].alignment
        if address % alignment:
            raise OpError(each.op, f"keeps a tile at {address}, no multiple of {alignment} bytes")
        root = storage.storage(each.op.source)
        if addresses.setdefault(root, address) != address:
            raise OpError(
                each.op,
                f"keeps a tile at {address} that shares its storage with one at {addresses[root]}",
                [note(first[root].op, "kept there by this")],
            )
        first.setdefault(root, each)
    _expect_apart(storage, first, addresses)
    return addresses


def _placed(op: tile.PlaceOp) -> _Placed:
    alloc, (place,) = op.buffer.owner, op.place
    type = TileType.of(op.source.type)
    if not isinstance(alloc, tile.AllocOp):
        raise OpError(op, "keeps a tile in a buffer that no 'tile.alloc' here makes")
    if isinstance(place, SSAValue):
        raise OpError(
            op,
            f"keeps a tile at a place in buffer '{alloc.buffer.data}' that is known at run time "
            "only: unroll the loop that it depends on",
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
        if each.op.by_slot is None:
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
    storage: TileStorage, placed: Mapping[SSAValue, _Placed], addresses: Mapping[SSAValue, int]
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
            low, high = addresses[root], addresses[root] + new.size
            if addresses[other_root] < high and low < addresses[other_root] + old.size:
                raise OpError(
                    new.op,
                    f"keeps a tile at {low} where another one is still needed",
                    [note(old.op, f"at {addresses[other_root]} since here: {old.size} bytes")],
                )
        heapq.heappush(live, (end, number))
