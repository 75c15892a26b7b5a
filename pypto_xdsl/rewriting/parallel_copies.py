"""
Copies that happen at once, put in an order.

What a loop body yields becomes the next values of the carried places all at once: `yield %b, %a`
exchanges two. One copy after the other, none may overwrite what a later one reads.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue


@dataclass(frozen=True)
class Copy:
    """One copy of a buffer to another."""

    source: SSAValue
    destination: SSAValue
    read: Hashable
    """The place that the source is in; buffers of one place overlap."""
    written: Hashable
    """The place that the destination is in."""


def sequence_copies(
    copies: Sequence[Copy], temporary: Callable[[SSAValue], SSAValue]
) -> Iterator[tuple[SSAValue, SSAValue]]:
    """
    The copies as `(source, destination)`, in an order that gives each destination what its source
    held before. All destinations are in different places. A cycle is broken by a copy to
    `temporary(source)`.
    """
    waiting = {copy.written: copy for copy in copies if copy.read != copy.written}
    readers: dict[Hashable, int] = {}
    for copy in waiting.values():
        readers[copy.read] = readers.get(copy.read, 0) + 1
    ready = [place for place in waiting if not readers.get(place)]
    while waiting:
        while ready:
            copy = waiting.pop(ready.pop())
            yield copy.source, copy.destination
            readers[copy.read] -= 1
            if not readers[copy.read] and copy.read in waiting:
                ready.append(copy.read)
        if waiting:
            # What is left are cycles, in which each place is read once: save one place for its
            # reader.
            place, copy = next((copy.read, copy) for copy in waiting.values())
            saved = temporary(copy.source)
            yield copy.source, saved
            waiting[copy.written] = Copy(saved, copy.destination, saved, copy.written)
            readers[saved] = 1
            readers[place] = 0
            ready.append(place)
