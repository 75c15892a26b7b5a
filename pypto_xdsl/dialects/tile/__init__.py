"""
The `tile` dialect: blocks of elements on chip, and what a core computes on them.

A tile is a value: no op changes one in place, and where the hardware does, the result is the
next value (`tile.write`). Global memory is reached by `tile.load` and `tile.store` alone.
"""

from xdsl.ir import Dialect

from pypto_xdsl.dialects.declared_op import ops_defined_in
from pypto_xdsl.dialects.tile import attributes, elementwise, grid, memory, reductions, selection
from pypto_xdsl.dialects.tile.attributes import *
from pypto_xdsl.dialects.tile.elementwise import *
from pypto_xdsl.dialects.tile.grid import *
from pypto_xdsl.dialects.tile.memory import *
from pypto_xdsl.dialects.tile.reductions import *
from pypto_xdsl.dialects.tile.selection import *
from pypto_xdsl.dialects.tile.types import *

Tile = Dialect(
    "tile",
    ops_defined_in(elementwise, selection, reductions, memory, grid),
    [
        TileType,
        attributes.MemorySpaceAttr,
        attributes.TileLayoutAttr,
    ],
)
