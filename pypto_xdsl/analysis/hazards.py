"""
Tasks that touch the same bytes with nothing between them that orders them.

The runtime orders a task after writers of what it reads or updates.  It does not order a writer
after earlier readers, nor two writers that both say that they need not wait, nor anything in a
manual scope or marked `no_dep` beyond the dependencies that are spelled out.  A pair of tasks is a
hazard if both touch a byte, at least one writes, and no path of the graph leads from one to the
other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from xdsl.ir import Operation

from pypto_xdsl.analysis.task_graph import Access, TaskGraph, TaskNode
from pypto_xdsl.analysis.tensor_handles import Buffer


class HazardKind(Enum):
    """What the second task does while the first may not be done."""

    WRITE_AFTER_READ = "write after read"
    WRITE_AFTER_WRITE = "write after write"
    READ_AFTER_WRITE = "read after write"


@dataclass(frozen=True)
class Hazard:
    """Two tasks, in the order of launch, that nothing orders."""

    first: TaskNode
    second: TaskNode
    first_access: Access
    second_access: Access
    kind: HazardKind


def ancestors(graph: TaskGraph) -> list[int]:
    """Of each task the set of tasks that are done before it starts, as the bits of a number."""
    producers = graph.producers()
    found: list[int] = []
    waits = iter(graph.host_waits)
    wait = next(waits, None)
    on_host = 0
    """What the orchestrator has waited for, with all that comes before."""
    for task in graph.tasks:
        while wait is not None and wait[0] <= task.number:
            for number in wait[1]:
                on_host |= found[number] | 1 << number
            wait = next(waits, None)
        before = on_host
        for edge in producers.get(task.number, ()):
            before |= found[edge.producer] | 1 << edge.producer
        found.append(before)
    return found


def hazards(graph: TaskGraph) -> Iterator[Hazard]:
    """
    The hazards of a graph, in the order of the second task; of the tasks that one pair of calls
    makes in a loop, the first pair only.
    """
    before = ancestors(graph)
    readers: dict[Buffer, int] = {}
    writers: dict[Buffer, int] = {}
    told: set[tuple[Operation, Operation, Buffer, HazardKind]] = set()
    for task in graph.tasks:
        for access in task.accesses:
            buffer = access.handle.buffer
            rivals = writers.get(buffer, 0)
            if access.writes:
                rivals |= readers.get(buffer, 0)
            rivals &= ~before[task.number]
            while rivals:
                lowest = rivals & -rivals
                rivals ^= lowest
                first = graph.tasks[lowest.bit_length() - 1]
                for hazard in _between(first, task, access):
                    key = (first.op, task.op, buffer, hazard.kind)
                    if key not in told:
                        told.add(key)
                        yield hazard
        for access in task.accesses:
            buffer = access.handle.buffer
            if access.reads:
                readers[buffer] = readers.get(buffer, 0) | 1 << task.number
            if access.writes:
                writers[buffer] = writers.get(buffer, 0) | 1 << task.number


def _between(first: TaskNode, second: TaskNode, access: Access) -> Iterator[Hazard]:
    for earlier in first.accesses:
        if not (earlier.writes or access.writes):
            continue
        if not access.handle.touches(earlier.handle):
            continue
        if earlier.writes and access.writes:
            kind = HazardKind.WRITE_AFTER_WRITE
        elif access.writes:
            kind = HazardKind.WRITE_AFTER_READ
        else:
            kind = HazardKind.READ_AFTER_WRITE
        yield Hazard(first, second, earlier, access, kind)
