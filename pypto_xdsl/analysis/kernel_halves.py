"""
Which half of a mixed kernel does what: the cube core's, or the vector cores'.

What touches tiles is done where these live, once their memories are known. Numbers, control flow
and names of tensors are of both. A tile that is moved between the memories of the two leaves one
half and comes to the other.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Operation

from pypto_xdsl.analysis.core_lanes import Lane, lane_of_memory
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, ptensor, tile
from pypto_xdsl.dialects.tile import TileType


def half_of_type(type: Attribute) -> Lane | None:
    """The core in whose memory a tile lives; None for what is no tile."""
    if not isinstance(type, TileType) or type.memory_space is None:
        return None
    return lane_of_memory(type.memory_space)


def half_of(op: Operation) -> Lane | None:
    """
    Which cores run an op, not counting ops inside; None if all do.

    Raises `OpError` for an op on tiles of both that is no whole move.
    """
    if isinstance(op, ptensor.WriteOp):
        # An element of global memory: one of the cores is enough.
        return Lane.VECTOR
    values = (*op.operands, *op.results)
    halves = {half for value in values if (half := half_of_type(value.type)) is not None}
    if len(halves) > 1:
        raise OpError(
            op,
            "works on tiles of the cube core and of the vector cores at once: only a whole tile "
            "passes between them, by a move",
        )
    return halves.pop() if halves else None


def crossing(op: Operation) -> Lane | None:
    """The half that what passes a tile between the halves starts from; None for any other op."""
    if isinstance(op, tile.AivShardOp):
        return Lane.CUBE
    if isinstance(op, tile.AicGatherOp):
        return Lane.VECTOR
    if not isinstance(op, tile.MoveOp):
        return None
    source, target = half_of_type(op.source.type), half_of_type(op.result.type)
    return source if source is not target else None


def has_regions(kernel: orch.FuncOp) -> bool:
    """Whether a kernel has regions for one vector core each."""
    return any(isinstance(op, orch.SplitAivOp) for op in walk(kernel))
