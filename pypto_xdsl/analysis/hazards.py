"""
Tasks that touch the same bytes with nothing between them that orders them.

The runtime orders a task after writers of what it reads or updates. It does not order a writer
after earlier readers, nor two writers that both say that they need not wait, nor anything in a
manual scope or marked `no_dep` beyond the dependencies that are spelled out. A pair of tasks is a
hazard if both touch a byte, at least one writes, and no path of the graph leads from one to the
other.

So is a task and an element that the orchestrator reads or writes itself while the task may not be
done: it does not wait for who only reads what the caller passed, nor for tasks of manual scopes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from xdsl.ir import Operation

from pypto_xdsl.analysis.task_graph import HostAccess, TaskGraph, TaskNode
from pypto_xdsl.analysis.task_map import PREDICATE, Access
from pypto_xdsl.analysis.tensor_handles import Buffer, HandleIndex, Overlapping
from pypto_xdsl.dialects.orch import ArgDirection


class HazardKind(Enum):
    """What the second does while the first may not be done."""

    WRITE_AFTER_READ = "write after read"
    WRITE_AFTER_WRITE = "write after write"
    READ_AFTER_WRITE = "read after write"


@dataclass(frozen=True)
class Hazard:
    """Two tasks, or a task and the orchestrator, in the order of launch, that nothing orders."""

    first: TaskNode
    second: TaskNode | HostAccess
    first_access: Access
    second_access: Access
    kind: HazardKind

    @property
    def reason(self) -> str:
        """Why the second does not wait for the first."""
        first, second = self.first_access, self.second_access
        if self.first.is_manual:
            return "a task of a manual scope is waited for by deps only"
        if PREDICATE in (first.name, second.name):
            return "nothing waits because of a predicate"
        if isinstance(self.second, HostAccess):
            if self.kind is HazardKind.WRITE_AFTER_READ:
                return "the orchestrator does not wait for who only reads what the caller passed"
            return "the orchestrator does not see this write"
        if self.second.is_manual:
            return "a task of a manual scope waits because of deps only"
        if ArgDirection.NO_DEP in (first.direction, second.direction):
            return "an argument that is no_dep makes nobody wait"
        if first.handle.is_manual or second.handle.is_manual:
            return "a tensor that is manual_dep makes nobody wait"
        if self.kind is HazardKind.WRITE_AFTER_READ:
            return "a write does not wait for earlier reads"
        return "an output_existing argument does not wait"


_Accesses = HandleIndex[tuple[TaskNode, Access]]


def ancestors(graph: TaskGraph) -> list[int]:
    """
    Of each task the set of tasks that are certainly done before it starts, as the bits of a number.
    """
    producers = graph.producers()
    found: list[int] = []
    for task, on_host in _with_host(graph, found):
        if isinstance(task, HostAccess):
            continue
        before = on_host
        for edge in producers.get(task.number, ()):
            if edge.is_certain:
                before |= found[edge.producer] | 1 << edge.producer
        found.append(before)
    return found


def _with_host(
    graph: TaskGraph, before: Sequence[int]
) -> Iterator[tuple[TaskNode | HostAccess, int]]:
    """
    The tasks and what the orchestrator does itself, in order, each with what the orchestrator
    certainly waited for until then; `before` gives what is done before a task, once it was shown.
    """
    accesses = iter(graph.host_accesses)
    access = next(accesses, None)
    waited = 0
    for task in (*graph.tasks, None):
        while access is not None and (task is None or access.launched <= task.number):
            now = waited
            for number in access.waits_for:
                now |= before[number] | 1 << number
            yield access, now
            if not access.is_conditional:
                waited = now
            access = next(accesses, None)
        if task is not None:
            yield task, waited


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
    for task, on_host in _with_host(graph, before):
        found: list[Hazard] = []
        # An uncertain edge is there exactly if the two meet; nothing follows from it for others.
        if isinstance(task, HostAccess):
            accesses, done = (task.access,), on_host
            direct = sum(1 << number for number in task.may_wait_for)
        else:
            accesses, done = task.accesses, before[task.number]
            direct = sum(1 << edge.producer for edge in producers.get(task.number, ()))
        for access in accesses:
            buffer = access.handle.buffer
            rivals = [writes, reads] if access.writes else [writes]
            for index in (rival[buffer] for rival in rivals if buffer in rival):
                found += _rivals(task, access, index, done, direct)
        for hazard in sorted(found, key=lambda hazard: hazard.first.number):
            buffer = hazard.second_access.handle.buffer
            key = (hazard.first.op, task.op, buffer, hazard.kind)
            if key not in told:
                told.add(key)
                yield hazard
        if isinstance(task, HostAccess):
            # What is launched later comes after it.
            continue
        for access in accesses:
            # Who reads and writes is compared as a writer.
            index = writes if access.writes else reads
            index.setdefault(access.handle.buffer, HandleIndex()).add(access.handle, (task, access))


def _rivals(
    task: TaskNode | HostAccess, access: Access, index: _Accesses, before: int, direct: int
) -> Iterator[Hazard]:
    """The hazards of an access with earlier ones; takes out those that it stands for from now."""
    stands_for = access.writes and access.is_certain and not task.is_conditional
    # Whatever comes after the orchestrator comes after what it waited for.
    ends = isinstance(task, HostAccess) and not task.is_conditional
    for handle, entry in index.near(access.handle):
        first, earlier = entry
        is_ordered = before >> first.number & 1
        if not is_ordered:
            if direct >> first.number & 1:
                continue
            kind = _kind(earlier, access)
            if kind is not None and access.handle.touches(handle):
                yield Hazard(first, task, earlier, access, kind)
        covers = stands_for and access.handle.overlap(handle) is Overlapping.COVERED
        if covers or (ends and is_ordered):
            index.remove(handle, entry)


def _kind(first: Access, second: Access) -> HazardKind | None:
    """What a pair of accesses is, if nothing orders it; None if both only read."""
    if first.writes:
        return HazardKind.WRITE_AFTER_WRITE if second.writes else HazardKind.READ_AFTER_WRITE
    return HazardKind.WRITE_AFTER_READ if second.writes else None
