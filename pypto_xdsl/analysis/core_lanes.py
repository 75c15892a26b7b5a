"""
On which core of a group an op of a mixed kernel runs, before the kernel is taken apart.

What an op declares of its operands and results says it: what may live in the memories of a cube
core alone makes it cube work, what may live in the vector buffer alone vector work. Loads and
stores, which either core does, and ops on scalars belong to no lane. Tensor math runs where the
tile op of the same name does.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import cache

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from pypto_xdsl.dialects import ptensor
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile import AicGatherOp, AivShardOp, MemorySpace, TileType
from pypto_xdsl.dialects.tile.counterparts import counterpart_on_tiles

_BOUNDARY = (AivShardOp, AicGatherOp, ptensor.AivShardOp, ptensor.AicGatherOp)
VECTOR_SPACES = frozenset({MemorySpace.VEC})
CUBE_SPACES = frozenset(MemorySpace) - VECTOR_SPACES


class Lane(Enum):
    """Where an op runs."""

    CUBE = "cube"
    VECTOR = "vector"
    BOUNDARY = "boundary"
    """On both: it passes a tile from one to the other."""

    @property
    def other(self) -> Lane:
        """The core that a tile which leaves this one goes to."""
        return {Lane.CUBE: Lane.VECTOR, Lane.VECTOR: Lane.CUBE}[self]


CORES = (Lane.CUBE, Lane.VECTOR)
"""The lanes that are cores."""


def lane_of_memory(space: MemorySpace) -> Lane:
    """The core that a memory belongs to."""
    return Lane.VECTOR if space in VECTOR_SPACES else Lane.CUBE


def lane(op: Operation) -> Lane | None:
    """The lane of an op, None if either core can run it, or it is not known yet."""
    if isinstance(op, _BOUNDARY):
        return Lane.BOUNDARY
    if not isinstance(op, DeclaredOp):
        return None
    on_tiles = any(isinstance(v.type, TileType) for v in (*op.operands, *op.results))
    on_tensors = any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results))
    if on_tiles == on_tensors:
        # A load or a store; or nothing but scalars.
        return None
    if on_tensors:
        if not any(isinstance(result.type, TensorType) for result in op.results):
            # An element of global memory comes through the scalar unit, which every core has.
            return None
        if not op.READS_ELEMENTS or all(op.named_operand(r) is not None for r in op.results):
            return None
        counterpart = counterpart_on_tiles(op)
        return None if counterpart is None else _declared_lane(counterpart)
    # What has a memory is made there; the declaration says where it would be put.
    made = _lane_of(r.type.memory_space for r in op.results if isinstance(r.type, TileType))
    return _declared_lane(type(op)) if made is None else made


@cache
def _declared_lane(op_type: type[DeclaredOp]) -> Lane | None:
    declaration = op_type.declaration()
    for _, operand in declaration.operands:
        spaces = frozenset(map(MemorySpace, operand.spaces))
        if spaces and spaces <= CUBE_SPACES:
            return Lane.CUBE
        if spaces and spaces <= VECTOR_SPACES:
            return Lane.VECTOR
    return _lane_of(
        MemorySpace(result.space) for _, result in declaration.results if result.space is not None
    )


def _lane_of(spaces: Iterable[MemorySpace | None]) -> Lane | None:
    for space in spaces:
        if space is not None:
            return lane_of_memory(space)
    return None
