"""
memory-reuse: lets on-chip buffers share bytes that are not in use at the same time.

    %t = pto.alloc_tile : T
    pto.tload ins(...) outs(%t : T)
    %e = pto.alloc_tile : T
    pto.texp ins(%t : T) outs(%e : T)            // %t is not used after this
    %l = pto.alloc_tile : T
    pto.trecip ins(%e : T) outs(%l : T)          // cannot write over its operand

becomes

    %t = pto.alloc_tile {pypto.buffer = 0 : i64} : T
    %e = pto.alloc_tile {pypto.buffer = 0 : i64} : T
    %l = pto.alloc_tile : T

Buffers of one number are placed at one address by `allocate-memory-addr`; nothing else changes,
so until then aliasing stays visible as SSA. It is a linear scan over the live ranges of each
memory (`analysis/buffer_liveness.py`): a buffer takes over the smallest one that is free and large
enough, else the largest free one, which grows, else a new one. What an instruction may write over
is declared on the op. Buffers that already have an address are left alone.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from pypto_xdsl.analysis.buffer_liveness import Buffer, BufferLiveness, functions_with_buffers
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.properties.checked_pass import CheckedPass

SHARED_BUFFER = "pypto.buffer"
"""The attribute of allocations that share bytes: they have one number and memory."""


@dataclass(frozen=True)
class MemoryReusePass(CheckedPass):
    """Let on-chip buffers share bytes that are not in use at the same time."""

    name = "memory-reuse"
    required = ("SSAForm", "KernelsLowered")
    produced = ("SSAForm",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        for function in tuple(functions_with_buffers(walk(module))):
            number = 0
            liveness = BufferLiveness(function)
            by_space: dict[str, list[Buffer]] = {}
            for buffer in liveness.buffers:
                buffer.op.attributes.pop(SHARED_BUFFER, None)
                if buffer.address is None:
                    by_space.setdefault(buffer.space, []).append(buffer)
            for buffers in by_space.values():
                for shared in share(buffers):
                    if len(shared) > 1:
                        for buffer in shared:
                            buffer.op.attributes[SHARED_BUFFER] = IntegerAttr(number, i64)
                        number += 1


def share(buffers: Sequence[Buffer]) -> list[list[Buffer]]:
    """Buffers of one memory, in groups that share bytes; no two of a group are in use at once."""
    groups: list[list[Buffer]] = []
    sizes: list[int] = []
    busy: list[tuple[int, int]] = []
    """(end of use, group), the first to become free first."""
    free: list[tuple[int, int]] = []
    """(size, group), sorted."""
    for buffer in sorted(buffers, key=lambda b: b.live[0]):
        start, end = buffer.live
        while busy and busy[0][0] < start:
            _, group = heapq.heappop(busy)
            insort(free, (sizes[group], group))
        if free:
            place = min(bisect_left(free, (buffer.size, -1)), len(free) - 1)
            _, group = free.pop(place)
            groups[group].append(buffer)
            sizes[group] = max(sizes[group], buffer.size)
        else:
            group = len(groups)
            groups.append([buffer])
            sizes.append(buffer.size)
        heapq.heappush(busy, (end, group))
    return groups
