"""
report-hazards: warns of tasks that touch the same bytes while nothing orders them.

    %t1 = orch.call @fill(input %x, output_existing %t)
    %a1 = orch.call @copy(input %t1, output_existing %a)     // reads %t
    %t2 = orch.call @fill(input %y, inout %t1)               // waits for the first, not for @copy
    // warning: writes %t while 'copy' may still read it

The graph is the one that the runtime would build (`analysis/task_graph.py`); the program is not
changed. A warning names both places, the buffer, and why the runtime does not order the two;
`deps` on the second task does. What the orchestrator reads or writes itself, element by element,
counts as well.
Needs directions (`derive-call-directions`).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.hazards import Hazard, HazardKind, hazards
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.task_graph import record
from pypto_xdsl.diagnostics import note, warn
from pypto_xdsl.properties.checked_pass import CheckedPass


@dataclass(frozen=True)
class ReportHazardsPass(CheckedPass):
    """Warn of pairs of tasks that touch the same bytes in no order."""

    name = "report-hazards"
    required = ("SplitIncoreOrch", "CallDirectionsResolved")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        lineage = ReturnLineage(CallGraph(module))
        for function in lineage.calls.functions:
            if function.is_orchestration:
                for hazard in hazards(record(function, lineage)):
                    _warn(hazard)


_SAYS = {
    HazardKind.WRITE_AFTER_READ: ("writes", "may still read it"),
    HazardKind.WRITE_AFTER_WRITE: ("writes", "may still write it"),
    HazardKind.READ_AFTER_WRITE: ("reads", "may still write it"),
}


def _warn(hazard: Hazard) -> None:
    first, second = hazard.first, hazard.second
    does, still = _SAYS[hazard.kind]
    buffer = hazard.second_access.handle.buffer.name
    why = f"nothing orders the two: {hazard.reason}"
    if first.op is second.op:
        warn(
            second.op,
            f"{does} {buffer} while the same call in another trip of the loop {still}: {why}",
        )
        return
    where = note(first.op, f"'{first.name}' is launched here")
    warn(second.op, f"{does} {buffer} while '{first.name}' {still}: {why}", [where])
