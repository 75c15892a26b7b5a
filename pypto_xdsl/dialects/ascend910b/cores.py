"""Which core runs a program, and the memories it has."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from pypto_xdsl.dialects.pto import KernelKind

CORE = "ascend910b.core"
"""The attribute of a `func.func` that is a program of this dialect; holds a `CoreAttr`."""


PROGRAM_ORDER = "ascend910b.program_order"
"""The attribute of a program that nobody has given events yet: its instructions take effect in the
order of the text. `insert-sync` gives it events and takes the attribute away."""


class Core(StrEnum):
    """What executes a program."""

    AIC = "aic"
    """A cube core."""
    AIV = "aiv"
    """A vector core."""
    MIX = "mix"
    """A cube core and its two vector cores, each all but the sections of the other kind."""


CORE_OF_KIND = {KernelKind.CUBE: Core.AIC, KernelKind.VECTOR: Core.AIV}
"""The core that `pto` says by a kind of kernel."""


@irdl_attr_definition
class CoreAttr(EnumAttribute[Core], SpacedOpaqueSyntaxAttribute):
    """`#ascend910b<core aiv>`"""

    name = "ascend910b.core"
