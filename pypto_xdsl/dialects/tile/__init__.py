"""
The `tile` dialect: blocks of elements on chip, and what a core computes on them.

A tile is a value: no op changes one in place, and where the hardware does, the result is the
next value (`tile.write`). Global memory is reached by `tile.load` and `tile.store` alone.
"""

from xdsl.ir import Dialect

from pypto_xdsl.dialects.declaration_checks import declared_ops
from pypto_xdsl.dialects.tile import (
    attributes,
    cross_core,
    elementwise,
    elementwise_scalar,
    fill,
    gather,
    grid,
    matmul,
    memory,
    rearrangement,
    reductions,
    scatter,
    selection,
    sort,
    storage,
    sync,
    windows,
)
from pypto_xdsl.dialects.tile.attributes import *
from pypto_xdsl.dialects.tile.cross_core import *
from pypto_xdsl.dialects.tile.elementwise import *
from pypto_xdsl.dialects.tile.elementwise_scalar import *
from pypto_xdsl.dialects.tile.fill import *
from pypto_xdsl.dialects.tile.gather import *
from pypto_xdsl.dialects.tile.grid import *
from pypto_xdsl.dialects.tile.matmul import *
from pypto_xdsl.dialects.tile.memory import *
from pypto_xdsl.dialects.tile.rearrangement import *
from pypto_xdsl.dialects.tile.reductions import *
from pypto_xdsl.dialects.tile.scatter import *
from pypto_xdsl.dialects.tile.selection import *
from pypto_xdsl.dialects.tile.sort import *
from pypto_xdsl.dialects.tile.storage import *
from pypto_xdsl.dialects.tile.sync import *
from pypto_xdsl.dialects.tile.types import *
from pypto_xdsl.dialects.tile.windows import *

Tile = Dialect(
    "tile",
    declared_ops(
        elementwise,
        elementwise_scalar,
        selection,
        reductions,
        memory,
        windows,
        rearrangement,
        fill,
        matmul,
        gather,
        scatter,
        sort,
        cross_core,
        sync,
        grid,
        storage,
    ),
    [
        TileType,
        BufferType,
        attributes.MemorySpaceAttr,
        attributes.TileLayoutAttr,
        attributes.AccPhaseAttr,
        attributes.CachePolicyAttr,
        attributes.CoalesceAttr,
        attributes.OutOfBoundsAttr,
        attributes.PipeAttr,
        attributes.CoreTypeAttr,
        attributes.SyncModeAttr,
    ],
)
