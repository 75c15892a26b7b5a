"""The words of the `tile` dialect: memory spaces and layouts."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class MemorySpace(StrEnum):
    """Where a tile lives on a core. Global memory holds tensors, never tiles."""

    VEC = "vec"
    """The unified buffer of a vector core."""
    MAT = "mat"
    """L1, the staging buffer of a cube core."""
    LEFT = "left"
    """L0A, the left operand of a matmul."""
    RIGHT = "right"
    """L0B, the right operand of a matmul."""
    ACC = "acc"
    """L0C, the accumulator of a matmul."""
    BIAS = "bias"
    """The bias table of a cube core."""


class TileLayout(StrEnum):
    """An order of elements: of the blocks of a tile, or inside each block."""

    NONE_BOX = "none_box"
    """Not blocked. Only legal as the inner layout."""
    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"


class AccPhase(StrEnum):
    """Which of the partial sums of a product a `gemv` computes."""

    UNSPECIFIED = "unspecified"
    PARTIAL = "partial"
    """More follow."""
    FINAL = "final"
    """The last one."""


class CachePolicy(StrEnum):
    """How loads of a tensor go through the cache."""

    DEFAULT = "default"
    BYPASS = "bypass"
    """Past it: what is loaded is used once."""


class Coalesce(StrEnum):
    """What an index of `mgather` selects."""

    ROW = "row"
    ELEM = "elem"


class OutOfBounds(StrEnum):
    """What `mgather` reads where an index lies outside the tensor."""

    UNDEFINED = "undefined"
    CLAMP = "clamp"
    """The nearest element."""
    WRAP = "wrap"
    """The element at the index modulo the extent."""
    ZERO = "zero"


class Pipe(StrEnum):
    """A queue of instructions of a core."""

    MTE1 = "mte1"
    """L1 to L0A, L0B and the bias table."""
    MTE2 = "mte2"
    """Global memory to the chip."""
    MTE3 = "mte3"
    """The vector buffer to global memory."""
    M = "m"
    """Matrix products."""
    V = "v"
    """The vector unit."""
    S = "s"
    """The scalar unit."""
    FIX = "fix"
    """L0C to global memory and L1."""
    ALL = "all"


class CoreType(StrEnum):
    """Which cores take part in a synchronisation."""

    CUBE = "cube"
    VECTOR = "vector"
    MIX = "mix"
    """Both kinds."""


class SyncMode(StrEnum):
    """How `syncall` waits for all cores."""

    HARD = "hard"
    """By the flags between cores: each core must run."""
    SOFT = "soft"
    """By counters in global memory."""


@irdl_attr_definition
class MemorySpaceAttr(EnumAttribute[MemorySpace], SpacedOpaqueSyntaxAttribute):
    """`#tile<space vec>`"""

    name = "tile.space"


@irdl_attr_definition
class TileLayoutAttr(EnumAttribute[TileLayout], SpacedOpaqueSyntaxAttribute):
    """`#tile<layout none_box>`"""

    name = "tile.layout"


@irdl_attr_definition
class AccPhaseAttr(EnumAttribute[AccPhase], SpacedOpaqueSyntaxAttribute):
    """`#tile<acc_phase unspecified>`"""

    name = "tile.acc_phase"


@irdl_attr_definition
class CachePolicyAttr(EnumAttribute[CachePolicy], SpacedOpaqueSyntaxAttribute):
    """`#tile<cache default>`"""

    name = "tile.cache"


@irdl_attr_definition
class CoalesceAttr(EnumAttribute[Coalesce], SpacedOpaqueSyntaxAttribute):
    """`#tile<coalesce row>`"""

    name = "tile.coalesce"


@irdl_attr_definition
class OutOfBoundsAttr(EnumAttribute[OutOfBounds], SpacedOpaqueSyntaxAttribute):
    """`#tile<oob undefined>`"""

    name = "tile.oob"


@irdl_attr_definition
class PipeAttr(EnumAttribute[Pipe], SpacedOpaqueSyntaxAttribute):
    """`#tile<pipe mte1>`"""

    name = "tile.pipe"


@irdl_attr_definition
class CoreTypeAttr(EnumAttribute[CoreType], SpacedOpaqueSyntaxAttribute):
    """`#tile<core_type cube>`"""

    name = "tile.core_type"


@irdl_attr_definition
class SyncModeAttr(EnumAttribute[SyncMode], SpacedOpaqueSyntaxAttribute):
    """`#tile<sync_mode hard>`"""

    name = "tile.sync_mode"
