"""
The tiles that pass between the halves of a mixed kernel for the sake of their flags.

Nobody reads them. They hold zeros, since only what was written passes, and are as small as what is
both a product and what products are of: one fractal of f32.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.ir import Operation

from pypto_xdsl.analysis.core_lanes import Lane
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import orch, tile
from pypto_xdsl.dialects.ptensor import TransportSplit
from pypto_xdsl.dialects.tile import MemorySpace, TileType

_EXTENT = 16


def handover_tile(memory: MemorySpace, split: TransportSplit) -> TileType:
    """The tile in a memory; of a vector core, its part where tiles pass by parts."""
    shape = [_EXTENT, _EXTENT]
    if memory is MemorySpace.VEC and split.axis is not None:
        shape[split.axis] //= 2
    return TileType(shape, f32, memory)


def make_handover_tile(half: Lane, split: TransportSplit) -> Sequence[Operation]:
    """The ops that make a tile to be pushed by one of the halves; it is the result of the last."""
    zero = arith.ConstantOp(FloatAttr(0.0, f32))
    memory = MemorySpace.VEC if half is Lane.VECTOR else MemorySpace.MAT
    full = tile.FullOp(zero, handover_tile(memory, split))
    if half is Lane.VECTOR:
        return zero, full
    # A cube core pushes products.
    sides = [
        tile.MoveOp(full.result, handover_tile(memory, split))
        for memory in (MemorySpace.LEFT, MemorySpace.RIGHT)
    ]
    product = tile.MatmulOp.create(
        operands=[side.result for side in sides],
        result_types=[handover_tile(MemorySpace.ACC, split)],
    )
    return zero, full, *sides, product


def split_of_handovers(kernel: orch.FuncOp) -> TransportSplit:
    """How tiles pass to and from the regions of a kernel for one vector core each."""
    passing = (tile.AivShardOp, tile.AicGatherOp)
    found = (op.split.data for op in walk(kernel) if isinstance(op, passing))
    return next(found, TransportSplit.NONE)
