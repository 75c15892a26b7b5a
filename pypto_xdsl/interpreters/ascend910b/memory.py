"""
The memories of a core as bytes that know who touched them.

Every byte knows whether it is defined; every range of bytes that was touched as one knows who
wrote it last and which pipes read it since. A tile finds its elements as a strided view of the
bytes, or, where its layout has boxes of which only a part counts, by an index array; both are
computed once for a layout and a region.

What was written as a matrix is kept as one, and becomes bytes only when they are looked at in
another way: most of what is written is read as it was written, or as a window of it. Such arrays
are never changed, so that a move between memories of different layouts copies nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pypto_xdsl.dialects.pto import AddressSpace, BLayout, SLayout, TileBufType
from pypto_xdsl.interpreters.ascend910b.copy_on_write import Lender, owner_of
from pypto_xdsl.interpreters.elements import Array, Element, Mask, element_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.pto.memory import LocalTile, Memory, element_places

if TYPE_CHECKING:
    from pypto_xdsl.interpreters.ascend910b.core import Core

GARBAGE = 0xA5
"""What bytes hold that nobody wrote."""

_MOST_SPANS = 8192
"""How many regions of views a memory remembers."""

Runs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Where stretches of bytes start and end, in order."""


@dataclass(eq=False, slots=True)
class Touch:
    """What a lane did to a range of bytes."""

    lane: int
    number: int
    """Of the instruction in its lane."""
    span: Span
    when: int
    """Counts all writes of the memory."""


@dataclass(eq=False)
class Segment:
    """A range of bytes that is touched as one."""

    start: int
    end: int
    neighbours: list[Segment] = field(default_factory=list["Segment"])
    """The segments that share bytes with it, itself among them."""
    write: Touch | None = None
    reads: dict[int, Touch] = field(default_factory=dict[int, Touch])
    """By lane, since the last write."""
    spans: list[Span] = field(default_factory=list["Span"])
    """The regions of views whose bytes these are."""
    held: Span | None = None
    """The one whose `value` is known. Nothing that shares bytes with it was written since."""
    is_stale: bool = False
    """Whether the bytes lack that value yet. No other segment that shares bytes does."""
    is_spoiled: bool = False
    """Whether all its bytes hold what scratch leaves."""
    has_bytes: bool = False
    """Whether any of its bytes were ever written, and not only held as a value."""
    has_flags: bool = False
    """Whether any of its bytes were ever defined."""

    def reset(self) -> None:
        """As if nobody had touched it."""
        self.release()
        self.write = None
        self.has_bytes = self.has_flags = False
        self.reads.clear()
        self.is_spoiled = False
        for span in self.spans:
            span.is_defined = False

    def release(self) -> None:
        """Forget the value: the bytes have it, or are about to be overwritten."""
        if self.held is not None:
            self.held.value = self.held.lender = self.held = None
            self.is_stale = False

    def flush(self) -> None:
        """Bring the value into the bytes."""
        if self.is_stale:
            assert self.held is not None
            assert self.held.value is not None
            self.held.put(self.held.value)
            self.is_stale = False


@dataclass(eq=False)
class Span:
    """A region of a view: the elements, and the bytes they are."""

    segment: Segment
    element: Element
    shape: tuple[int, int]
    values: Array | None
    """The elements as a strided view, of `shape`, or of four dimensions where there are boxes."""
    flags: Mask
    """The flags of the bytes as a strided view, or those of all elements, where `places` is."""
    places: npt.NDArray[np.int64] | None
    """Of the elements, counted from the start of the view."""
    is_whole: bool
    """Whether the bytes are all those from the first to the last."""
    start: int
    elements: Array
    """All elements from the start of the view on, which `places` counts."""
    grid: tuple[Any, ...] = ()
    """The tile that this is a part of: where, of what shape, layout and elements."""
    origin: tuple[int, int] = (0, 0)
    """Where in it."""
    value: Array | None = None
    """What the elements are, where the segment holds that; read only."""
    lender: Lender | None = None
    """Whose window the value is, where it is one of global memory."""
    is_defined: bool = False
    """Whether all elements are known to be."""

    def get(self) -> Array:
        """The elements as the bytes say, copied."""
        if self.places is not None:
            return self.elements[self.places]
        assert self.values is not None
        return self.values.copy().reshape(self.shape)

    def put(self, stored: Array) -> None:
        """Write elements to the bytes."""
        self.segment.has_bytes = True
        if self.places is not None:
            self.elements[self.places] = stored
            return
        assert self.values is not None
        self.values[...] = stored if self.values.ndim == 2 else stored.reshape(self.values.shape)

    def part_of(self, other: Span) -> Array | None:
        """The value, where it is a window of that of another region of the same tile."""
        if self.grid != other.grid or other.value is None:
            return None
        row, column = (a - b for a, b in zip(self.origin, other.origin, strict=True))
        height, width = self.shape
        if (
            row < 0
            or column < 0
            or row + height > other.shape[0]
            or column + width > other.shape[1]
        ):
            return None
        return other.value[row : row + height, column : column + width]

    def defined_mask(self) -> Mask | None:
        """Which elements are defined; None: all."""
        if self.places is not None:
            defined = np.asarray(self.flags[self.places].all(axis=-1))
            return None if defined.all() else defined
        return None if self.flags.all() else _by_element(self)

    def define(self, defined: Mask | None) -> None:
        """Set the flags: of all elements, or of those of a mask."""
        self.segment.has_flags = True
        if self.places is not None:
            self.flags[self.places] = True if defined is None else defined[..., None]
        elif defined is None:
            self.flags[...] = True
        else:
            _set_by_element(self, defined)

    def spoil(self) -> None:
        """Write what undefined elements hold, and set the flags so."""
        poison = self.element.poison(())
        segment = self.segment
        segment.has_bytes = segment.has_flags = True
        if self.places is not None:
            self.elements[self.places] = poison
            self.flags[self.places] = False
        else:
            assert self.values is not None
            self.values[...] = poison
            self.flags[...] = False

    @cached_property
    def runs(self) -> Runs:
        """The stretches of bytes."""
        if self.is_whole:
            return np.array([self.segment.start]), np.array([self.segment.end])
        size = self.element.storage.itemsize
        if self.places is not None:
            first: npt.NDArray[np.int64] = np.sort(self.places, axis=None) * size + self.start
            return first, first + size
        rows, width = self.flags.shape
        pitch: int = self.flags.strides[0]
        start, stop = self.segment.start, self.segment.start + rows * pitch
        lines = np.arange(start, max(stop, start + 1), max(pitch, 1), dtype=np.int64)[:rows]
        return lines, lines + width

    def shares_bytes_with(self, other: Span) -> bool:
        """Whether there is a byte in both."""
        if self.is_whole and other.is_whole:
            return True
        starts, ends = self.runs
        other_starts, other_ends = other.runs
        following = np.searchsorted(other_ends, starts, side="right")
        within = following < len(other_starts)
        return bool((other_starts[following[within]] < ends[within]).any())


@dataclass(eq=False)
class CoreMemory(Memory):
    """One memory of a core."""

    core: Core = None  # type: ignore[assignment]
    segments: dict[tuple[int, int], Segment] = field(default_factory=dict[tuple[int, int], Segment])
    spans: dict[Any, Span] = field(default_factory=dict[Any, Span])
    writes: int = 0
    generation: int = 0
    """Counts how often the regions of views were forgotten."""

    @classmethod
    def of(cls, core: Core, space: AddressSpace, size: int) -> CoreMemory:
        """A memory that nobody has written."""
        return cls(space, np.full(size, GARBAGE, np.uint8), np.zeros(size, np.bool_), core)

    def reset(self) -> None:
        """As if nobody had written it. What is known of views stays."""
        for segment in self.segments.values():
            if segment.has_flags:
                self.defined[segment.start : segment.end] = False
            if segment.has_bytes:
                self.bytes[segment.start : segment.end] = GARBAGE
            segment.reset()

    def load(self, span: Span) -> tuple[Array, Mask | None]:
        """The elements of a span whose value is not held, and which are defined."""
        segment = span.segment
        for other in segment.neighbours:
            held = other.held
            if held is None:
                continue
            part = span.part_of(held)
            if part is not None:
                self._hold(span, part, held.lender)
                return part, None
            other.flush()
        value = span.get()
        mask = None if span.is_defined else span.defined_mask()
        if mask is not None:
            self.core.undefined(self, span, mask)
            return value, mask
        value.flags.writeable = False
        self._hold(span, value, None)
        span.is_defined = True
        return value, None

    def _hold(self, span: Span, value: Array, lender: Lender | None) -> None:
        """Keep what the elements of a span are, where the segment has nothing newer to keep."""
        segment = span.segment
        if not segment.is_stale and span.grid:
            segment.release()
            segment.held, span.value, span.lender = span, value, lender
            if lender is not None:
                lender.borrowers.add(span)

    def store(self, span: Span, stored: Array, defined: Mask | None) -> None:
        """Overwrite the elements of a span, of which some may be undefined from now on."""
        self.overwrite(span)
        if defined is not None:
            span.put(stored)
            span.define(defined)
            self._undefine(span)
            return
        if not span.is_defined:
            span.define(None)
            span.is_defined = True
        segment = span.segment
        segment.held, segment.is_stale = span, True
        self.keep(span, stored)

    def keep(self, span: Span, stored: Array) -> None:
        """
        Make stored elements the value of a span, which nobody changes: the same array where
        nobody else can, or where whoever can has it copied before.
        """
        storage = span.element.storage
        span.lender = None
        if stored.dtype is not storage and stored.dtype != storage:
            stored = stored.astype(storage)
        elif stored.base is not None:
            owner = owner_of(stored)
            lender = self.core.group.lenders.find(owner)
            if lender is not None:
                # The window itself may be written through.
                stored = stored.view()
                span.lender = lender
                lender.borrowers.add(span)
            elif owner.base is not None or owner.flags.writeable:
                # What is no array is the memory of a core.
                stored = stored.copy()
        stored.flags.writeable = False
        span.value = stored

    def spoil(self, span: Span) -> None:
        """Leave nothing that means anything."""
        self.overwrite(span)
        span.spoil()
        self._undefine(span)
        span.segment.is_spoiled = span.is_whole

    def _undefine(self, span: Span) -> None:
        """No longer know of what shares bytes with a span whether it is defined."""
        for other in span.segment.neighbours:
            for touched in other.spans:
                touched.is_defined = False

    def overwrite(self, span: Span) -> None:
        """What is held of the bytes of a span is no longer true."""
        segment = span.segment
        for other in segment.neighbours:
            other.is_spoiled = False
            held = other.held
            if held is None:
                continue
            if other.is_stale and held is not span:
                is_covered = segment.start <= other.start and other.end <= segment.end
                if not (is_covered and span.is_whole):
                    other.flush()
            other.release()

    def forget_spans(self) -> None:
        """Make room for regions of other views."""
        for segment in self.segments.values():
            segment.flush()
            segment.release()
            segment.spans.clear()
        self.spans.clear()
        self.generation += 1

    def segment(self, start: int, end: int) -> Segment:
        """The segment of a range of bytes."""
        found = self.segments.get((start, end))
        if found is None:
            found = Segment(start, end)
            for other in self.segments.values():
                if other.start < end and start < other.end:
                    other.neighbours.append(found)
                    found.neighbours.append(other)
            found.neighbours.append(found)
            self.segments[start, end] = found
        return found

    def writer_of(self, place: int) -> Touch | None:
        """Who wrote a byte last."""
        found: Touch | None = None
        for segment in self.segments.values():
            touch = segment.write
            if touch is None or not segment.start <= place < segment.end:
                continue
            starts, ends = touch.span.runs
            run = int(np.searchsorted(ends, place, side="right"))
            if (
                run < len(starts)
                and starts[run] <= place
                and (found is None or touch.when > found.when)
            ):
                found = touch
        return found


@dataclass(eq=False)
class CoreTile(LocalTile):
    """A view of a memory of a core. Every read and write is checked."""

    memory: CoreMemory  # pyright: ignore[reportIncompatibleVariableOverride]
    _region: tuple[int, int] | None = field(default=None, init=False)
    _found: Span | None = field(default=None, init=False)
    """The span of that region, as long as the memory remembers it."""
    _generation: int = field(default=0, init=False)

    def span(self, region: tuple[int, int]) -> Span:
        memory = self.memory
        if region == self._region and self._generation == memory.generation:
            assert self._found is not None
            return self._found
        key = self.address, id(self.type), self.pitch, self.origin, region
        span = memory.spans.get(key)
        if span is None:
            if len(memory.spans) >= _MOST_SPANS:
                memory.forget_spans()
            # The type must outlive its identity: the tile, which has it, may not.
            span = memory.spans[key] = _make_span(self, region)
            span.segment.spans.append(span)
            memory.core.keep(self.type)
        self._region, self._found, self._generation = region, span, memory.generation
        return span

    def read(self, region: tuple[int, int] | None = None) -> tuple[Array, Mask | None]:
        """The elements of a region (the valid one), read only, and which are defined."""
        span = self.span(self.valid if region is None else region)
        memory = self.memory
        memory.core.touch(memory, span, is_write=False)
        if span.value is not None:
            return span.value, None
        return memory.load(span)

    def write(self, stored: Array, defined: Mask | None = None) -> None:
        span = self.span(stored.shape)  # pyright: ignore[reportArgumentType]
        memory = self.memory
        memory.core.touch(memory, span, is_write=True)
        memory.store(span, stored, defined)

    def spoil(self) -> None:
        span = self.span(self.type.get_shape())
        memory = self.memory
        memory.core.touch(memory, span, is_write=True)
        if not span.segment.is_spoiled:
            memory.spoil(span)

    def _size(self) -> int:
        rows, columns = self.pitch or self.type.get_shape()
        return rows * columns * self.element.storage.itemsize

    def flat(self) -> tuple[Array, Mask]:
        raise AssertionError("elements are read one by one")

    def take(self, places: npt.NDArray[np.int64]) -> tuple[Array, Mask | None]:
        span = self._scattered(places)
        memory = self.memory
        memory.core.touch(memory, span, is_write=False)
        return memory.load(span)

    def put(self, places: npt.NDArray[np.int64], stored: Array) -> None:
        span = self._scattered(places)
        memory = self.memory
        memory.core.touch(memory, span, is_write=True)
        memory.overwrite(span)
        span.put(stored)
        span.define(None)

    def _scattered(self, places: npt.NDArray[np.int64]) -> Span:
        """Elements at places, counted from the first in the order of the addresses."""
        self._check_places(places)
        first, _ = self.extent()
        places = places + first if first else places
        memory = self.memory
        size = self.element.storage.itemsize
        end = self.address + self._size()
        # One segment a tile: places differ from one run of an instruction to the next.
        return Span(
            memory.segment(self.address, end),
            self.element,
            (places.shape[0], places.shape[1]),
            None,
            memory.defined[self.address : end].reshape(-1, size),
            places,
            False,
            self.address,
            memory.bytes[self.address : end].view(self.element.storage),
        )

    def at(self, place: int) -> CoreTile:
        """The element at a place, counted from the first in the order of the addresses."""
        element = self.type.element_type
        first, count = self.extent()
        if not 0 <= place < count:
            raise ProgramError(f"element {place} lies outside a tile of {count}")
        one = TileBufType((1, 1), element, self.type.space)
        size = self.element.storage.itemsize
        # One element is no tile that an instruction takes; the scalar unit does.
        return replace(
            self,
            address=self.address + (first + place) * size,
            type=self.memory.core.keep(one),
            valid=(1, 1),
            pitch=None,
            origin=(0, 0),
        )


def _by_element(span: Span) -> Mask:
    """Which elements of a strided span are defined."""
    return np.asarray(_element_flags(span).all(axis=-1)).reshape(span.shape)


def _element_flags(span: Span) -> Mask:
    values = span.values
    assert values is not None
    size = span.element.storage.itemsize
    return np.lib.stride_tricks.as_strided(span.flags, (*values.shape, size), (*values.strides, 1))


def _set_by_element(span: Span, defined: Mask) -> None:
    flags = _element_flags(span)
    flags[...] = defined.reshape(flags.shape[:-1])[..., None]


def _make_span(tile: CoreTile, region: tuple[int, int]) -> Span:
    memory = tile.memory
    element = element_of(tile.type.element_type)
    size = element.storage.itemsize
    shape = tile.pitch or tile.type.get_shape()
    rows, columns = shape
    row, column = tile.origin
    height, width = region
    if row + height > rows or column + width > columns:
        raise ProgramError(f"reaches [{row + height}, {column + width}] of a tile of {list(shape)}")
    type = tile.type
    box = type.inner_box
    end = tile.address + rows * columns * size
    if not height or not width:
        none = np.zeros((height, width), element.storage)
        segment = Segment(tile.address, tile.address)
        flags = np.zeros((0, 1), np.bool_)
        return Span(segment, element, region, none, flags, None, True, tile.address, none)
    elements = memory.bytes[tile.address : end].view(element.storage)
    grid = tile.address, shape, type.blayout, type.slayout, box, element.name
    if type.slayout is SLayout.NONE_BOX:
        by_row = type.blayout is BLayout.ROW_MAJOR
        pitch = (columns if by_row else rows) * size
        outer, inner = (row, column) if by_row else (column, row)
        lines, length = (height, width) if by_row else (width, height)
        start = tile.address + outer * pitch + inner * size
        strides = (pitch, size) if by_row else (size, pitch)
        values = np.ndarray(region, element.storage, memory.bytes.data, start, strides)
        flags = np.ndarray((lines, length * size), np.bool_, memory.defined.data, start, (pitch, 1))
        segment = memory.segment(start, start + (lines - 1) * pitch + length * size)
        places, whole = None, lines == 1 or length * size == pitch
    elif region == shape and rows % box[0] == 0 and columns % box[1] == 0:
        start = tile.address
        values = _boxes(memory, start, element, type, shape)
        flags = memory.defined[start:end].reshape(1, -1)
        segment, places, whole = memory.segment(start, end), None, True
    else:
        start, values = tile.address, None
        places = element_places(shape, type.blayout, type.slayout, box)[
            row : row + height, column : column + width
        ]
        first, last = start + int(places.min()) * size, start + (int(places.max()) + 1) * size
        flags = memory.defined[start:end].reshape(-1, size)
        segment, whole = memory.segment(first, last), places.size * size == last - first
    return Span(
        segment, element, region, values, flags, places, whole, start, elements, grid, (row, column)
    )


def _boxes(
    memory: CoreMemory, address: int, element: Element, type: TileBufType, shape: tuple[int, int]
) -> Array:
    """All elements as (box row, row in box, box column, column in box)."""
    rows, columns = shape
    high, wide = type.inner_box
    size = element.storage.itemsize
    count = high * wide
    by_row = type.blayout is BLayout.ROW_MAJOR
    box_row, box_column = (columns * high, count) if by_row else (count, rows * wide)
    inner_row, inner_column = (wide, 1) if type.slayout is SLayout.ROW_MAJOR else (1, high)
    return np.ndarray(
        (rows // high, high, columns // wide, wide),
        element.storage,
        memory.bytes.data,
        address,
        tuple(step * size for step in (box_row, inner_row, box_column, inner_column)),
    )
