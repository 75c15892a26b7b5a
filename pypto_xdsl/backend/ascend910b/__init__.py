"""The Ascend 910B ("a2a3"): what its cores demand and can do."""

from pypto_xdsl.backend.ascend910b.casts import CASTS
from pypto_xdsl.backend.ascend910b.instructions import INSTRUCTIONS
from pypto_xdsl.backend.ascend910b.layouts import LAYOUTS
from pypto_xdsl.backend.ascend910b.memories import CORES, MEMORIES, MOVES, SCALE_BUFFER
from pypto_xdsl.backend.ascend910b.product_unit import PRODUCT_UNIT
from pypto_xdsl.backend.ascend910b.rules import RULES, TILE_RULES
from pypto_xdsl.backend.backend import Backend

BACKEND = Backend(
    name="ascend910b",
    arch="a2a3",
    layouts=LAYOUTS,
    memories=MEMORIES,
    moves=MOVES,
    casts=CASTS,
    cores=CORES,
    product_unit=PRODUCT_UNIT,
    instructions=INSTRUCTIONS,
    rules=RULES,
    tile_rules=TILE_RULES,
    scale_buffer=SCALE_BUFFER,
)
