"""
The memories of a core as bytes that know who touched them.

Every byte knows whether it is defined; every range of bytes that was touched as one knows who
wrote it last and which pipes read it since. A tile finds its elements as a strided view of the
bytes, or, where its layout has boxes of which only a part counts, by an index array; both are
computed once for a layout and a region.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from pypto_xdsl.dialects.pto import BLayout, SLayout, TileBufType
from pypto_xdsl.interpreters.elements import Array, Element, Mask, element_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.pto.memory import LocalTile, Memory, element_places

if TYPE_CHECKING:
    from pypto_xdsl.interpreters.ascend910b.core import Core

_MOST_SPANS = 8192
"""How many regions of views a memory remembers."""

Runs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Where stretches of bytes start and end, in order."""


@dataclass(eq=False)
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
    is_defined: bool = False
    """Whether all its bytes are known to be."""
    is_spoiled: bool = False
    """Whether all its bytes hold what scratch leaves."""


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

    def read(self) -> Array:
        """The elements; a view where they lie in rows or columns."""
        if self.values is None:
            raise AssertionError
        return self.values if self.values.ndim == 2 else self.values.reshape(self.shape)

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

    @property
    def _core_memory(self) -> CoreMemory:
        return cast(CoreMemory, self.memory)

    def _span(self, region: tuple[int, int]) -> Span:
        memory = self._core_memory
        key = self.address, id(self.type), self.pitch, self.origin, region
        span = memory.spans.get(key)
        if span is None:
            if len(memory.spans) >= _MOST_SPANS:
                memory.spans.clear()
            # The type must outlive its identity: the tile, which has it, may not.
            span = memory.spans[key] = _make_span(self, region)
            memory.core.keep(self.type)
        return span

    def read(self, region: tuple[int, int] | None = None) -> tuple[Array, Mask | None]:
        span = self._span(self.valid if region is None else region)
        memory = self._core_memory
        memory.core.touch(memory, span, is_write=False)
        segment = span.segment
        if segment.is_defined:
            return span.read(), None
        if span.places is not None:
            defined = np.asarray(span.flags[span.places].all(axis=-1))
            values = memory.bytes[self.address :][: self._size()].view(span.element.storage)
            result: Array = values[span.places]
            mask = None if defined.all() else defined
        else:
            result = span.read()
            if span.flags.all():
                mask = None
                segment.is_defined = span.is_whole
            else:
                mask = _by_element(span)
        if mask is not None:
            memory.core.undefined(memory, span, mask)
        return result, mask

    def write(self, stored: Array, defined: Mask | None = None) -> None:
        rows, columns = stored.shape
        span = self._span((rows, columns))
        memory = self._core_memory
        memory.core.touch(memory, span, is_write=True)
        if span.places is not None:
            values = memory.bytes[self.address :][: self._size()].view(span.element.storage)
            values[span.places] = stored
        else:
            assert span.values is not None
            span.values[...] = (
                stored if span.values.ndim == 2 else stored.reshape(span.values.shape)
            )
        segment = span.segment
        for other in segment.neighbours:
            other.is_spoiled = False
        if defined is not None:
            for other in segment.neighbours:
                other.is_defined = False
            if span.places is not None:
                span.flags[span.places] = defined[..., None]
            else:
                _set_by_element(span, defined)
        elif not segment.is_defined:
            if span.places is not None:
                span.flags[span.places] = True
            else:
                span.flags[...] = True
            segment.is_defined = span.is_whole

    def spoil(self) -> None:
        span = self._span(self.type.get_shape())
        memory = self._core_memory
        memory.core.touch(memory, span, is_write=True)
        segment = span.segment
        if segment.is_spoiled:
            return
        _fill_with_poison(self, span)
        for other in segment.neighbours:
            other.is_defined = other.is_spoiled = False
        segment.is_spoiled = span.is_whole

    def _size(self) -> int:
        rows, columns = self.pitch or self.type.get_shape()
        return rows * columns * self.element.storage.itemsize

    def flat(self) -> tuple[Array, Mask]:
        raise AssertionError("elements are read one by one")

    def take(self, places: npt.NDArray[np.int64]) -> tuple[Array, Mask | None]:
        span = self._scattered(places)
        memory = self._core_memory
        memory.core.touch(memory, span, is_write=False)
        values = memory.bytes[self.address :][: self._size()].view(span.element.storage)
        defined = np.asarray(span.flags[places].all(axis=-1))
        mask = None if defined.all() else defined
        if mask is not None:
            memory.core.undefined(memory, span, mask)
        return values[places], mask

    def put(self, places: npt.NDArray[np.int64], stored: Array) -> None:
        span = self._scattered(places)
        memory = self._core_memory
        memory.core.touch(memory, span, is_write=True)
        values = memory.bytes[self.address :][: self._size()].view(span.element.storage)
        values[places] = stored
        span.flags[places] = True
        for other in span.segment.neighbours:
            other.is_spoiled = False

    def _scattered(self, places: npt.NDArray[np.int64]) -> Span:
        """Elements at places, counted from the address in the order of the addresses."""
        self._check_places(places)
        memory = self._core_memory
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
        )

    def at(self, place: int) -> CoreTile:
        """The element at a place, counted in the order of the addresses."""
        element = self.type.element_type
        shape = self.pitch or self.type.get_shape()
        count = shape[0] * shape[1]
        if not 0 <= place < count:
            raise ProgramError(f"element {place} lies outside a tile of {count}")
        one = TileBufType((1, 1), element, self.type.space)
        size = self.element.storage.itemsize
        # One element is no tile that an instruction takes; the scalar unit does.
        return replace(
            self,
            address=self.address + place * size,
            type=self._core_memory.core.keep(one),
            valid=(1, 1),
            pitch=None,
            origin=(0, 0),
        )


def _fill_with_poison(tile: CoreTile, span: Span) -> None:
    """Fill a view with what means nothing."""
    poison = span.element.poison(())
    if span.values is not None:
        span.values[...] = poison
        span.flags[...] = False
        return
    assert span.places is not None
    memory = tile.memory
    size = span.element.storage.itemsize
    rows, columns = tile.pitch or tile.type.get_shape()
    end = tile.address + rows * columns * size
    memory.bytes[tile.address : end].view(span.element.storage)[span.places] = poison
    span.flags[span.places] = False


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
    memory = cast(CoreMemory, tile.memory)
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
    is_empty = not height or not width
    if is_empty:
        none = np.zeros((height, width), element.storage)
        segment = Segment(tile.address, tile.address)
        return Span(
            segment, element, region, none, np.zeros((0, 1), np.bool_), None, True, tile.address
        )
    if type.slayout is SLayout.NONE_BOX:
        by_row = type.blayout is BLayout.ROW_MAJOR
        pitch = (columns if by_row else rows) * size
        outer, inner = (row, column) if by_row else (column, row)
        lines, length = (height, width) if by_row else (width, height)
        start = tile.address + outer * pitch + inner * size
        strides = (pitch, size) if by_row else (size, pitch)
        values = np.ndarray(region, element.storage, memory.bytes.data, start, strides)
        flags = np.ndarray((lines, length * size), np.bool_, memory.defined.data, start, (pitch, 1))
        end = start + (lines - 1) * pitch + length * size
        whole = lines == 1 or length * size == pitch
        return Span(memory.segment(start, end), element, region, values, flags, None, whole, start)
    end = tile.address + rows * columns * size
    if region == shape and rows % box[0] == 0 and columns % box[1] == 0:
        values = _boxes(memory, tile.address, element, type, shape)
        flags = memory.defined[tile.address : end].reshape(1, -1)
        segment = memory.segment(tile.address, end)
        return Span(segment, element, region, values, flags, None, True, tile.address)
    places = element_places(shape, type.blayout, type.slayout, box)[
        row : row + height, column : column + width
    ]
    first = tile.address + int(places.min()) * size
    last = tile.address + (int(places.max()) + 1) * size
    flags = memory.defined[tile.address : end].reshape(-1, size)
    whole = places.size * size == last - first
    return Span(
        memory.segment(first, last), element, region, None, flags, places, whole, tile.address
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
