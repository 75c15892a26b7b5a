"""The cube of a 910B: what feeding it costs, in cycles."""

from pypto_xdsl.backend.ascend910b.memories import MEMORIES
from pypto_xdsl.backend.product_unit import ProductUnit
from pypto_xdsl.dialects.tile import MemorySpace

PRODUCT_UNIT = ProductUnit(
    left_size=MEMORIES[MemorySpace.LEFT].size,
    right_size=MEMORIES[MemorySpace.RIGHT].size,
    accumulator_size=MEMORIES[MemorySpace.ACC].size,
    left_rate=129.7,
    right_rate=85.4,
    drain_rate=118.0,
    drain_start=164,
    drain_row=4.45,
    drain_odd=2.6,
    multiply_start=21,
)
