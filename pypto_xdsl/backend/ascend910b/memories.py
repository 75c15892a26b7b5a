"""
The memories of a 910B's cores, and the ways between them.

An AIC (cube core) has all but the vector buffer, an AIV (vector core) has that alone. The two
kinds share no on-chip memory: what goes from one to the other goes through global memory, by a
ring of slots.
"""

from __future__ import annotations

from pypto_xdsl.backend.backend import Cores, Memory
from pypto_xdsl.dialects.tile import MemorySpace

_KIB = 1024

MEMORIES: dict[MemorySpace, Memory] = {
    # 192 KiB, of which instructions use the top 8 as scratch of their own.
    MemorySpace.VEC: Memory(184 * _KIB, 32),
    MemorySpace.MAT: Memory(512 * _KIB, 32),
    MemorySpace.LEFT: Memory(64 * _KIB, 512),
    MemorySpace.RIGHT: Memory(64 * _KIB, 512),
    MemorySpace.ACC: Memory(128 * _KIB, 512),
    MemorySpace.BIAS: Memory(1 * _KIB, 32),
}

SCALE_BUFFER = Memory(2 * _KIB, 32)
"""The fixpipe buffer."""

MOVES: frozenset[tuple[MemorySpace, MemorySpace]] = frozenset(
    {
        (MemorySpace.MAT, MemorySpace.LEFT),
        (MemorySpace.MAT, MemorySpace.RIGHT),
        (MemorySpace.MAT, MemorySpace.BIAS),
        (MemorySpace.ACC, MemorySpace.MAT),
        (MemorySpace.VEC, MemorySpace.VEC),
    }
)
"""What one core moves with one instruction."""

CORES = Cores(cube=24, vector=48)
