"""
For which earlier tasks the runtime lets a task wait.

`TaskMap` is told of each task when it is launched, in program order, and answers with its edges:

* **explicit**: tasks named in `deps`;
* **creator**: whoever allocated the buffer of an argument, whatever its direction;
* **map**: the writers of what an `input` or `inout` argument overlaps. An `inout` or
  `output_existing` argument is entered as a write; an `inout` that contains an earlier write
  takes its place, since whoever waits for it waits for that one too.

A handle that says `manual_dep` makes creator edges only, and inside a manual scope there are
explicit edges only. Nothing orders a write after the reads that
came before it: `analysis/hazards.py` looks for those.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from pypto_xdsl.analysis.tensor_handles import Buffer, Handle, HandleIndex, Overlapping
from pypto_xdsl.dialects.orch import ArgDirection

PREDICATE = "the predicate"
"""The name of the access to the element that a predicate looks at: nothing waits because of it."""


class EdgeKind(Enum):
    """Why a task waits for another."""

    EXPLICIT = "explicit"
    CREATOR = "creator"
    MAP = "map"


@dataclass(frozen=True)
class Access:
    """What a task does to one of its arguments."""

    handle: Handle
    direction: ArgDirection
    reads: bool
    writes: bool
    name: str
    """Of the argument, as the program has it."""
    is_certain: bool = True
    """False: the argument may be another tensor instead."""


@dataclass(frozen=True)
class Edge:
    """That a task waits for an earlier one."""

    producer: int
    consumer: int
    kind: EdgeKind
    buffer: str = ""
    """The buffer that makes the edge; empty for an explicit one."""
    why: str = ""
    is_certain: bool = True
    retains: bool = False
    """The producer's buffers stay until the consumer is done: of explicit and creator edges, also
    where the map is another reason."""


@dataclass(frozen=True)
class _Entry:
    """A write that the runtime knows of."""

    task: int
    is_certain: bool


class TaskMap:
    """The writes that the runtime knows of."""

    def __init__(self) -> None:
        self._writes: dict[Buffer, HandleIndex[_Entry]] = {}

    def writers(self, handle: Handle) -> list[tuple[int, bool]]:
        """The tasks whose writes a handle may meet, each with whether it certainly does."""
        writes = self._writes.get(handle.buffer)
        near = () if writes is None else writes.near(handle)
        return [
            (entry.task, entry.is_certain and handle.is_known and found.is_known)
            for found, entry in near
            if handle.touches(found)
        ]

    def submit(
        self,
        number: int,
        accesses: Sequence[Access],
        deps: Iterable[tuple[int, bool]] = (),
        *,
        is_manual: bool = False,
        is_conditional: bool = False,
    ) -> list[Edge]:
        """
        The edges to a task that is launched now, by producer; `deps` are tasks that it names, each
        with whether it certainly does.
        """
        edges = _Edges(number)
        for producer, certain in deps:
            edges.add(producer, EdgeKind.EXPLICIT, "", "named in deps", certain)
        if not is_manual:
            for access in accesses:
                if access.name != PREDICATE:
                    self._wait(access, edges, is_conditional)
            for access in accesses:
                enters = access.direction in (ArgDirection.INOUT, ArgDirection.OUTPUT_EXISTING)
                if enters and not access.handle.is_manual:
                    entry = _Entry(number, access.is_certain and not is_conditional)
                    writes = self._writes.setdefault(access.handle.buffer, HandleIndex())
                    writes.add(access.handle, entry)
        return [edges.found[producer] for producer in sorted(edges.found)]

    def _wait(self, access: Access, edges: _Edges, is_conditional: bool) -> None:
        handle, buffer = access.handle, access.handle.buffer
        if buffer.owner is not None:
            edges.add(buffer.owner, EdgeKind.CREATOR, buffer.name, f"allocates {buffer.name}", True)
        if access.direction not in (ArgDirection.INPUT, ArgDirection.INOUT) or handle.is_manual:
            return
        is_update = access.direction is ArgDirection.INOUT
        why = f"{'updates' if is_update else 'reads'} {access.name}, which it writes"
        writes = self._writes.get(buffer)
        for found, entry in () if writes is None else writes.near(handle):
            overlap = handle.overlap(found)
            if overlap is Overlapping.NONE:
                continue
            known = handle.is_known and found.is_known
            certain = known and entry.is_certain and access.is_certain
            edges.add(entry.task, EdgeKind.MAP, buffer.name, why, certain)
            covered = overlap is Overlapping.COVERED and is_update
            if covered and access.is_certain and not is_conditional and writes is not None:
                writes.remove(found, entry)


class _Edges:
    """The edges to one task. The runtime keeps a producer once: the first reason is told."""

    def __init__(self, consumer: int):
        self._consumer = consumer
        self.found: dict[int, Edge] = {}

    def add(self, producer: int, kind: EdgeKind, buffer: str, why: str, certain: bool) -> None:
        known = self.found.get(producer)
        retains = kind is not EdgeKind.MAP or (known is not None and known.retains)
        if known is None or (certain and not known.is_certain):
            edge = Edge(producer, self._consumer, kind, buffer, why, certain, retains)
            self.found[producer] = edge
        elif retains and not known.retains:
            self.found[producer] = replace(known, retains=True)
