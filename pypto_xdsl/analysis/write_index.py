"""
The writes of one buffer, by when and where they were.

    index = WriteIndex[Write]()
    index.add(moment, window, key, write)
    index.after(since, window)      # those later than a moment that may overlap a window

Of writes with one key, which all are to one window, the last one stands for all. Who looks is
mostly behind few writes, which are looked at one by one; else where they are tells which of them
to look at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from pypto_xdsl.analysis.buffer_roots import Window

_ItemT = TypeVar("_ItemT")

_FEW = 32
"""So many writes are looked at one by one."""


@dataclass(frozen=True, slots=True)
class _Entry(Generic[_ItemT]):
    moment: int
    window: Window | None
    key: Hashable
    item: _ItemT


class _Axis:
    """Where windows start along one axis; those that are about as long are together."""

    def __init__(self) -> None:
        self._starts: dict[int, list[tuple[int, int]]] = {}
        """By the bits of the length: the starts, in order, each with the number of its key."""

    def add(self, start: int, end: int, number: int) -> None:
        """Enter the interval of a key."""
        insort(self._starts.setdefault((end - start).bit_length(), []), (start, number))

    def remove(self, start: int, end: int, number: int) -> None:
        """Take the interval of a key out."""
        starts = self._starts[(end - start).bit_length()]
        del starts[bisect_left(starts, (start, number))]

    def near(self, start: int, end: int) -> list[tuple[list[tuple[int, int]], int, int]]:
        """The lists, and the ranges in them, of those that an interval may meet."""
        found: list[tuple[list[tuple[int, int]], int, int]] = []
        for bits, starts in self._starts.items():
            first = bisect_right(starts, (start - (1 << bits), _LAST))
            last = bisect_left(starts, (end, -1))
            if first < last:
                found.append((starts, first, last))
        return found


_LAST = 1 << 62


class WriteIndex(Generic[_ItemT]):
    """The writes of a buffer, in the order of their moments."""

    def __init__(self) -> None:
        self._log: list[_Entry[_ItemT]] = []
        self._latest: dict[Hashable, list[_Entry[_ItemT]]] = {}
        """Of each key its writes, the last one last."""
        self._numbers: dict[Hashable, int] = {}
        self._keys: list[Hashable] = []
        """By number."""
        self._axes: list[_Axis] = []
        self._anywhere: dict[Hashable, None] = {}
        """The keys without a window, or with one of another rank than the others."""

    def __bool__(self) -> bool:
        return bool(self._log)

    @property
    def last(self) -> int:
        """The moment of the last write."""
        return self._log[-1].moment if self._log else 0

    def add(self, moment: int, window: Window | None, key: Hashable, item: _ItemT) -> None:
        """Enter a write; a key is always that of one window."""
        entry = _Entry(moment, window, key, item)
        self._log.append(entry)
        same = self._latest.setdefault(key, [])
        same.append(entry)
        if len(same) == 1:
            self._enter(key, window)

    def pop(self) -> _ItemT:
        """Take the last write out."""
        entry = self._log.pop()
        same = self._latest[entry.key]
        same.pop()
        if not same:
            del self._latest[entry.key]
            self._leave(entry.key, entry.window)
        return entry.item

    def after(self, since: int, window: Window | None) -> Iterator[_ItemT]:
        """
        The writes later than a moment that may overlap a window (None: anywhere); of a key at
        least the last. The latest come first where they are few.
        """
        for count, entry in enumerate(reversed(self._log)):
            if entry.moment <= since:
                return
            if count == _FEW:
                break
            if _may_overlap(entry.window, window):
                yield entry.item
        else:
            return
        for key in self._near(window):
            entry = self._latest[key][-1]
            if entry.moment > since and _may_overlap(entry.window, window):
                yield entry.item

    def _near(self, window: Window | None) -> Iterator[Hashable]:
        yield from tuple(self._anywhere)
        if window is None or len(window.bounds) != len(self._axes):
            yield from [key for key in self._latest if key not in self._anywhere]
            return
        near = [axis.near(*b) for axis, b in zip(self._axes, window.bounds, strict=True)]
        fewest = min(near, key=lambda ranges: sum(last - first for _, first, last in ranges))
        for starts, first, last in fewest:
            for _, number in starts[first:last]:
                yield self._keys[number]

    def _enter(self, key: Hashable, window: Window | None) -> None:
        if window is not None and not self._axes:
            self._axes = [_Axis() for _ in window.bounds]
        if window is None or len(window.bounds) != len(self._axes) or not window.bounds:
            self._anywhere[key] = None
            return
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._keys)
            self._keys.append(key)
        for axis, (start, end) in zip(self._axes, window.bounds, strict=True):
            axis.add(start, end, number)

    def _leave(self, key: Hashable, window: Window | None) -> None:
        if key in self._anywhere:
            del self._anywhere[key]
            return
        assert window is not None
        number = self._numbers[key]
        for axis, (start, end) in zip(self._axes, window.bounds, strict=True):
            axis.remove(start, end, number)


def _may_overlap(one: Window | None, other: Window | None) -> bool:
    return one is None or other is None or one.overlaps(other)
