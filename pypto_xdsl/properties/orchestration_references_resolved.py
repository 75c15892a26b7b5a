"""OrchestrationReferencesResolved: every function that orchestration uses is in the program."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.properties.registry import Property
from pypto_xdsl.syntax.spelling import did_you_mean


def _unresolved(module: ModuleOp) -> Iterable[Diagnostic]:
    calls = CallGraph(module)
    names: list[str] | None = None
    for function in calls.functions:
        if function.kind.data is not FunctionKind.ORCHESTRATION:
            continue
        for dispatch in calls.uses_in(function):
            if calls.callee(dispatch) is None:
                if names is None:
                    names = [known.sym_name.data for known in calls.functions]
                hint = did_you_mean(dispatch.callee_name, names)
                yield diagnose(
                    dispatch, f"uses '{dispatch.callee_name}', which is no function here{hint}"
                )


PROPERTY = Property(
    "OrchestrationReferencesResolved",
    "every function that an orchestration function uses is in the program",
    _unresolved,
)
