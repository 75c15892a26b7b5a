"""
The kind of an `scf.for`, carried as a discardable attribute:

    scf.for %i = %a to %b step %c { ... } {orch.loop = #orch<loop pipeline>, orch.stages = 2 : i64}

A loop without it is sequential, which is always safe.

What `classify-iter-arg-carry` finds out about what the loop carries stands beside it, an entry a
carried value:

    {orch.rebound = array<i1: true, false>, orch.task_slots = array<i64: 4, 0>}
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i1, i64
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.orch.attributes import LoopKind, LoopKindAttr

LOOP_KIND = "orch.loop"
PIPELINE_STAGES = "orch.stages"
"""How many iterations of a pipelined loop overlap."""
REBOUND_CARRIES = "orch.rebound"
"""Of each carried value whether each iteration assigns it anew."""
TASK_SLOTS = "orch.task_slots"
"""Of each carried value how many tasks the array has that it is, 0 for no array."""


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


def set_carries(loop: Operation, rebound: Sequence[bool], task_slots: Sequence[int]) -> None:
    """Say what a loop carries, an entry a carried value."""
    loop.attributes[REBOUND_CARRIES] = DenseArrayBase.from_list(i1, [int(flag) for flag in rebound])
    if any(task_slots):
        loop.attributes[TASK_SLOTS] = DenseArrayBase.from_list(i64, task_slots)
    else:
        loop.attributes.pop(TASK_SLOTS, None)


def rebound_carries(loop: Operation) -> tuple[bool, ...] | None:
    """Of each carried value whether each iteration assigns it anew; None if nobody has said."""
    values = _integers(loop, REBOUND_CARRIES)
    return None if values is None else tuple(bool(value) for value in values)


def task_slots(loop: Operation) -> tuple[int, ...]:
    """Of each carried value how many tasks the array has that it is, 0 for no array."""
    return _integers(loop, TASK_SLOTS) or (0,) * len(loop.results)


def _integers(loop: Operation, name: str) -> tuple[int, ...] | None:
    attribute = loop.attributes.get(name)
    if not isinstance(attribute, DenseArrayBase):
        return None
    return tuple(int(value) for value in attribute.get_values())
