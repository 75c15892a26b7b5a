"""
IterArgCarryClassified: each loop of orchestration says what it carries.

Every `scf.for` that carries values, in every orchestration function, says of each whether it is
rebound, and in a manual scope how many tasks it is, as `analysis/carry_classification.py` finds it
out again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from pypto_xdsl.analysis.buffer_roots import ProgramRoots
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.carry_classification import (
    UNKNOWN_SLOTS,
    CarryClassification,
    CarryNames,
)
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import rebound_carries, task_slots
from pypto_xdsl.properties.registry import Property


def classified_loops(module: ModuleOp) -> Iterator[tuple[scf.ForOp, CarryClassification]]:
    """Each loop of orchestration that carries something, inner ones first."""
    roots = ProgramRoots(ReturnLineage(CallGraph(module)))
    for function in roots.lineage.calls.functions:
        if function.is_orchestration:
            yield from CarryNames(function, roots.of(function)).loops.items()


def spell_carry(loop: scf.ForOp, index: int) -> str:
    """A carried value, as messages name it."""
    argument: SSAValue = loop.body.block.args[1 + index]
    return f"carried value {index}" + (f" (%{argument.name_hint})" if argument.name_hint else "")


def _unclassified(module: ModuleOp) -> Iterable[Diagnostic]:
    for loop, found in classified_loops(module):
        said = rebound_carries(loop)
        if said is None:
            yield diagnose(loop, "does not say which of its carried values are rebound")
            continue
        slots = task_slots(loop)
        if len(said) != len(found.rebound) or len(slots) != len(found.task_slots):
            yield diagnose(
                loop,
                f"carries {len(found.rebound)} values and speaks of {len(said)} that are rebound "
                f"and {len(slots)} with slots",
            )
            continue
        for index, (is_rebound, count) in enumerate(
            zip(found.rebound, found.task_slots, strict=True)
        ):
            name = spell_carry(loop, index)
            if said[index] != is_rebound:
                is_or_not = "is" if is_rebound else "is not"
                yield diagnose(loop, f"{name} {is_or_not} rebound, the loop says otherwise")
            if slots[index] != count:
                wanted = "an unknown number of" if count == UNKNOWN_SLOTS else count
                yield diagnose(
                    loop, f"{name} should have {wanted} slots for tasks, got {slots[index]}"
                )


PROPERTY = Property(
    "IterArgCarryClassified",
    "every loop of orchestration says which of its carried values are rebound",
    _unclassified,
)
