"""
Live ranges in structured code: the ops of a function numbered in the order of the text.

Time goes in steps of two an op: an op reads its operands at an even time and writes its results
at the odd one after it. An op with regions has a time before them and another after them. A range
`(start, end)` includes both ends, so that two ranges overlap unless one ends before the other
starts. What is defined outside a loop and used inside it is live to the loop's end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from xdsl.ir import Block, Operation

from pypto_xdsl.analysis.control_flow import is_loop
from pypto_xdsl.analysis.walk import ops_inside

Range: TypeAlias = tuple[int, int]
"""First and last time at which something is live."""


class ProgramOrder:
    """The times of the ops inside a function."""

    def __init__(self, root: Operation):
        self._start: dict[Operation, int] = {}
        self._end: dict[Operation, int] = {}
        self.ops: list[Operation] = []
        """The ops inside, in the order of the text."""
        time = 0
        todo: list[tuple[Operation, Iterator[Operation]]] = [(root, ops_inside(root))]
        while todo:
            parent, inside = todo[-1]
            op = next(inside, None)
            time += 2
            if op is None:
                todo.pop()
                self._end[parent] = time
                continue
            self.ops.append(op)
            self._start[op] = self._end[op] = time
            if op.regions:
                todo.append((op, ops_inside(op)))
        self._start[root] = 0

    def read(self, op: Operation) -> int:
        """When an op reads its operands."""
        return self._start[op]

    def write(self, op: Operation) -> int:
        """When an op writes; of an op with regions, when it is done."""
        return self._end[op] + 1

    def leave(self, op: Operation) -> int:
        """When control leaves the regions of an op for the last time."""
        return self._end[op]

    def ranges(self, home: Block, start: int, uses: Iterable[tuple[Operation, int]]) -> LiveRanges:
        """
        When something defined in `home` at `start` is live that ops use at times: `(op, time)`.

        Of a branch it is live only in the blocks that use it, from their start, unless it is used
        after the branch too.
        """
        ends: dict[Block, int] = {home: start}
        for op, time in uses:
            inner: list[tuple[Block, int]] = []
            while (block := op.parent) is not home:
                assert isinstance(block, Block)
                parent = block.parent_op()
                assert parent is not None, "a use is dominated by its definition"
                inner.append((block, time))
                op = parent
                if is_loop(op):
                    inner.clear()
                    time = self._end[op]
                else:
                    time = self._start[op]
            for block, end in (*inner, (home, time)):
                ends[block] = max(ends.get(block, 0), end)
        return LiveRanges(
            (start if block is home else self.block_start(block), end)
            for block, end in ends.items()
        )

    def block_start(self, block: Block) -> int:
        """When control enters a block."""
        first = block.first_op
        assert first is not None
        return self._start[first] - 1

    def at(self, time: int) -> Operation | None:
        """The op that reads or writes at a time, if one does."""
        place = bisect_left(self.ops, time & ~1, key=self._start.__getitem__)
        if place < len(self.ops) and self._start[self.ops[place]] == time & ~1:
            return self.ops[place]
        return None


class LiveRanges:
    """When one thing is live: ranges that do not overlap, in order."""

    __slots__ = ("_ranges",)

    def __init__(self, ranges: Iterable[Range] = ()):
        self._ranges: list[Range] = []
        for range in ranges:
            self.add(range)

    def __iter__(self) -> Iterator[Range]:
        return iter(self._ranges)

    def __len__(self) -> int:
        return len(self._ranges)

    def add(self, range: Range) -> None:
        """Be live in another range too, which may overlap those there are."""
        start, end = range
        place = bisect_left(self._ranges, (start,))
        if place and self._ranges[place - 1][1] >= start:
            place -= 1
            start = self._ranges[place][0]
        last = place
        while last < len(self._ranges) and self._ranges[last][0] <= end:
            end = max(end, self._ranges[last][1])
            last += 1
        self._ranges[place:last] = [(start, end)]

    def overlaps(self, other: LiveRanges) -> bool:
        """Whether both are live at some time; takes the logarithm of the longer a range."""
        few, many = (self, other) if len(self) <= len(other) else (other, self)
        for start, end in few:
            place = bisect_left(many._ranges, (start,))
            if place and many._ranges[place - 1][1] >= start:
                return True
            if place < len(many) and many._ranges[place][0] <= end:
                return True
        return False

    def merge(self, other: LiveRanges) -> LiveRanges:
        """Both together; `self` and `other` may not be used after it."""
        few, many = (self, other) if len(self) <= len(other) else (other, self)
        for range in few:
            many.add(range)
        return many
