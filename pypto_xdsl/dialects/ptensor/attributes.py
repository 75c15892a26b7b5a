"""The words that ops on tensors and on tiles share: pad values, rounding, comparison, atomics."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class PadValue(StrEnum):
    """What stands outside the valid region: nothing known, or the named extreme of the dtype."""

    NULL = "null"
    ZERO = "zero"
    MAX = "max"
    """+infinity for floats, the largest value for integers."""
    MIN = "min"
    """-infinity for floats, the smallest value for integers."""


class RoundMode(StrEnum):
    """How `cast` rounds."""

    NONE = "none"
    """The hardware's default for the pair of dtypes."""
    RINT = "rint"
    """To nearest, ties to even."""
    ROUND = "round"
    """To nearest, ties away from zero."""
    FLOOR = "floor"
    CEIL = "ceil"
    TRUNC = "trunc"
    ODD = "odd"
    """To odd (von Neumann)."""


class CompareMode(StrEnum):
    """The comparison of `cmp`, `cmps` and `gather_compare`."""

    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"


class AtomicKind(StrEnum):
    """How `store` and `assemble` combine with what the destination holds."""

    NONE = "none"
    """Overwrite."""
    ADD = "add"
    """Accumulate atomically: the destination is read as well as written."""


class MaskPattern(StrEnum):
    """Which columns `gather_mask` and `scatter_mask` select, of each 2 or 4; read right to left."""

    P0101 = "p0101"
    """0, 2, 4, ..."""
    P1010 = "p1010"
    """1, 3, 5, ..."""
    P0001 = "p0001"
    """0, 4, 8, ..."""
    P0010 = "p0010"
    """1, 5, 9, ..."""
    P0100 = "p0100"
    """2, 6, 10, ..."""
    P1000 = "p1000"
    """3, 7, 11, ..."""
    P1111 = "p1111"
    """All."""

    @property
    def first(self) -> int:
        """The first column selected."""
        return self.value[::-1].index("1")

    @property
    def stride(self) -> int:
        """The distance of the columns selected."""
        return 4 // self.value.count("1")

    def selected(self, columns: int) -> int:
        """How many of the first `columns` columns are selected."""
        return max(0, -(-(columns - self.first) // self.stride))


class TransportSplit(StrEnum):
    """How what a cube core makes is shared out to the two vector cores of its group."""

    NONE = "none"
    """Each gets all of it."""
    UP_DOWN = "up_down"
    """The first gets the upper rows."""
    LEFT_RIGHT = "left_right"
    """The first gets the left columns."""
    UP_DOWN_ODD = "up_down_odd"
    """As `up_down`, the first gets the middle row."""
    LEFT_RIGHT_ODD = "left_right_odd"
    """As `left_right`, the first gets the middle column."""

    @property
    def axis(self) -> int | None:
        """The axis that is halved, if one is."""
        if self is TransportSplit.NONE:
            return None
        return 0 if self in (TransportSplit.UP_DOWN, TransportSplit.UP_DOWN_ODD) else 1

    @property
    def odd(self) -> TransportSplit:
        """The same for an odd number of rows, or columns, of which the first gets one more."""
        return _ODD.get(self, self)


_ODD = {
    TransportSplit.UP_DOWN: TransportSplit.UP_DOWN_ODD,
    TransportSplit.LEFT_RIGHT: TransportSplit.LEFT_RIGHT_ODD,
}


@irdl_attr_definition
class PadValueAttr(EnumAttribute[PadValue], SpacedOpaqueSyntaxAttribute):
    """`#ptensor<pad null>`"""

    name = "ptensor.pad"


@irdl_attr_definition
class RoundModeAttr(EnumAttribute[RoundMode], SpacedOpaqueSyntaxAttribute):
    """`#ptensor<round none>`"""

    name = "ptensor.round"


@irdl_attr_definition
class CompareModeAttr(EnumAttribute[CompareMode], SpacedOpaqueSyntaxAttribute):
    """`#ptensor<cmp_mode eq>`"""

    name = "ptensor.cmp_mode"


@irdl_attr_definition
class AtomicKindAttr(EnumAttribute[AtomicKind], SpacedOpaqueSyntaxAttribute):
    """`#ptensor<atomic none>`"""

    name = "ptensor.atomic"


@irdl_attr_definition
class MaskPatternAttr(EnumAttribute[MaskPattern], SpacedOpaqueSyntaxAttribute):
    """`#ptensor<mask_pattern p0101>`"""

    name = "ptensor.mask_pattern"


@irdl_attr_definition
class TransportSplitAttr(EnumAttribute[TransportSplit], SpacedOpaqueSyntaxAttribute):
    """`#ptensor<split none>`"""

    name = "ptensor.split"
