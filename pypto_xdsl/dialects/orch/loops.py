"""
The kind of an `scf.for`, carried as a discardable attribute:

    scf.for %i = %a to %b step %c { ... } {orch.loop = #orch<loop pipeline>, orch.stages = 2 : i64}

A loop without it is sequential, which is always safe.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.orch.attributes import LoopKind, LoopKindAttr

LOOP_KIND = "orch.loop"
PIPELINE_STAGES = "orch.stages"
"""How many iterations of a pipelined loop overlap."""


def loop_kind(loop: Operation) -> LoopKind | None:
    """The kind of a loop, None for a sequential one."""
    attribute = loop.attributes.get(LOOP_KIND)
    if attribute is None:
        return None
    if not isinstance(attribute, LoopKindAttr):
        raise VerifyException(f"{LOOP_KIND} should be a loop kind, got {attribute}")
    return attribute.data


def is_sequential(loop: Operation) -> bool:
    """Whether the iterations of a loop run one after the other."""
    return loop_kind(loop) is not LoopKind.PARALLEL


def pipeline_stages(loop: Operation) -> int | None:
    """How many iterations of a pipelined loop overlap."""
    attribute = loop.attributes.get(PIPELINE_STAGES)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None
