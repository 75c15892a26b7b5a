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

from pypto_xdsl.analysis.task_graph import TaskGraph, TaskNode
from pypto_xdsl.analysis.task_map import Access
from pypto_xdsl.analysis.tensor_handles import Buffer, HandleIndex, Overlapping


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


_Accesses = HandleIndex[tuple[TaskNode, Access]]


def ancestors(graph: TaskGraph) -> list[int]:
    """
    Of each task the set of tasks that are certainly done before it starts, as the bits of a number.
    """
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
            if edge.is_certain:
                before |= found[edge.producer] | 1 << edge.producer
        found.append(before)
    return found


def hazards(graph: TaskGraph) -> Iterator[Hazard]:
    """
    The hazards of a graph, in the order of the second task; of the tasks that one pair of calls
    makes in a loop, the first pair only.

    A task that writes all of what an earlier one touches stands for it from then on: who comes
    later and is in no order with the earlier one is in none with this one, or is so only because
    the two are a hazard themselves, and with that the later one is mended too.
    """
    before = ancestors(graph)
    producers = graph.producers()
    reads: dict[Buffer, _Accesses] = {}
    writes: dict[Buffer, _Accesses] = {}
    told: set[tuple[Operation, Operation, Buffer, HazardKind]] = set()
    for task in graph.tasks:
        found: list[Hazard] = []
        # An uncertain edge is there exactly if the two meet; nothing follows from it for others.
        direct = sum(1 << edge.producer for edge in producers.get(task.number, ()))
        for access in task.accesses:
            buffer = access.handle.buffer
            rivals = [writes, reads] if access.writes else [writes]
            for index in (rival[buffer] for rival in rivals if buffer in rival):
                found += _rivals(task, access, index, before[task.number], direct)
        for hazard in sorted(found, key=lambda hazard: hazard.first.number):
            buffer = hazard.second_access.handle.buffer
            key = (hazard.first.op, task.op, buffer, hazard.kind)
            if key not in told:
                told.add(key)
                yield hazard
        for access in task.accesses:
            # Who reads and writes is compared as a writer.
            index = writes if access.writes else reads
            accesses = index.setdefault(access.handle.buffer, HandleIndex())
            accesses.add(access.handle, (task, access))


def _rivals(
    task: TaskNode, access: Access, index: _Accesses, before: int, direct: int
) -> Iterator[Hazard]:
    """The hazards of an access with earlier ones; takes out those that it stands for from now."""
    stands_for = access.writes and access.is_certain and not task.is_conditional
    for handle, entry in index.near(access.handle):
        first, earlier = entry
        is_ordered = before >> first.number & 1
        if not is_ordered:
            if direct >> first.number & 1:
                continue
            kind = _kind(earlier, access)
            if kind is not None and access.handle.touches(handle):
                yield Hazard(first, task, earlier, access, kind)
        if stands_for and access.handle.overlap(handle) is Overlapping.COVERED:
            index.remove(handle, entry)


def _kind(first: Access, second: Access) -> HazardKind | None:
    """What a pair of accesses is, if nothing orders it; None if both only read."""
    if first.writes:
        return HazardKind.WRITE_AFTER_WRITE if second.writes else HazardKind.READ_AFTER_WRITE
    return HazardKind.WRITE_AFTER_READ if second.writes else None
