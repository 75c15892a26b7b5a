"""Which of the cores that run one kernel this one is."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import IndexType
from xdsl.irdl import irdl_op_definition, result_def

from pypto_xdsl.dialects.typed_op import TypedOp
from pypto_xdsl.syntax.op_syntax import INDEX


class GridOp(TypedOp, ABC):
    """A number that differs from core to core, or is common to all that run a kernel."""

    result = result_def(IndexType)

    def __init__(self):
        self._fill([INDEX])


@irdl_op_definition
class GetBlockIdxOp(GridOp):
    """The index of this block among those of an spmd launch."""

    name = "tile.get_block_idx"


@irdl_op_definition
class GetBlockNumOp(GridOp):
    """The number of blocks of an spmd launch."""

    name = "tile.get_block_num"


@irdl_op_definition
class GetSubblockIdxOp(GridOp):
    """The index of this vector core in its group, 0 or 1."""

    name = "tile.get_subblock_idx"
