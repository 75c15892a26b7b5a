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


@irdl_attr_definition
class PadValueAttr(EnumAttribute[PadValue], SpacedOpaqueSyntaxAttribute):
    name = "ptensor.pad"


@irdl_attr_definition
class RoundModeAttr(EnumAttribute[RoundMode], SpacedOpaqueSyntaxAttribute):
    name = "ptensor.round"


@irdl_attr_definition
class CompareModeAttr(EnumAttribute[CompareMode], SpacedOpaqueSyntaxAttribute):
    name = "ptensor.cmp_mode"


@irdl_attr_definition
class AtomicKindAttr(EnumAttribute[AtomicKind], SpacedOpaqueSyntaxAttribute):
    name = "ptensor.atomic"
