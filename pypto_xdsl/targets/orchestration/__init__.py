"""
The C++ of orchestration functions, for the runtime's orchestrator thread:

    pypto-opt --default-pipeline -t orchestration program.py
    pypto-opt --default-pipeline -t 'orchestration{function="main"}' program.py

A file has the functions that the runtime asks for: how many arguments there are, and the entry,
which submits the tasks. It includes the runtime's header `pto_orchestration_api.h` and nothing
else of it. Comments at the top say which number stands for which kernel. Of several orchestration
functions each is a file of its own; they are parted by a line `// -----`.

* `program` writes a file, `statements` finds who writes an op.
* `tensors` writes buffers and views, `tasks` submits, `arrays` small arrays, `control_flow` loops,
  branches and scopes, `scalars` arithmetic.
* `body` knows what stands for which value and where it is visible, `names` what it is called,
  `liveness` which values are needed at all, `kernels` what a call launches, `text` lines.

What C++ or the runtime cannot do is an error at its line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.diagnostics import DiagnosticsError, diagnose
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.properties.checked_pass import CheckedTarget
from pypto_xdsl.syntax.spelling import did_you_mean
from pypto_xdsl.targets.orchestration.kernels import Kernels
from pypto_xdsl.targets.orchestration.program import function_text

FILE_BORDER = "// -----\n"


@dataclass(frozen=True)
class OrchestrationTarget(CheckedTarget):
    """Writes orchestration functions as C++."""

    name = "orchestration"
    required = (
        "NormalizedStmtStructure",
        "OrchestrationReferencesResolved",
        "CallDirectionsResolved",
        "RuntimeScopesMaterialized",
        "IterArgCarryClassified",
    )

    function: str = ""
    """The function to write; all orchestration functions if empty."""

    def write(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Raises `DiagnosticsError` where there is nothing to write, or no C++ for it."""
        lineage = ReturnLineage(CallGraph(module))
        kernels = Kernels(module, lineage)
        texts = [function_text(f, kernels) for f in self._chosen(module, lineage.calls)]
        for number, text in enumerate(texts):
            if number:
                output.write(FILE_BORDER)
            text.write(output)

    def _chosen(self, module: ModuleOp, calls: CallGraph) -> list[FuncOp]:
        functions = [function for function in calls.functions if function.is_orchestration]
        if not functions:
            raise DiagnosticsError((diagnose(module, "has no orchestration function"),))
        if not self.function:
            return functions
        for function in functions:
            if function.sym_name.data == self.function:
                return [function]
        hint = did_you_mean(self.function, (f.sym_name.data for f in functions))
        raise DiagnosticsError(
            (diagnose(module, f"has no orchestration function '{self.function}'{hint}"),)
        )
