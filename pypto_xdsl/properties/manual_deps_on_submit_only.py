"""
ManualDepsOnSubmitOnly: dependencies that the user wrote stand in the `deps` of a submit.

The ops themselves see to most of it: a call has no `deps`, and those of a submit are operands.
What is left is the attribute in which PyPTO's own IR carries such edges on operators; on a call
or a submit of a function nobody would honour it.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.kernels import with_functions
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import DispatchOp
from pypto_xdsl.properties.registry import Property

MANUAL_DEP_EDGES = "manual_dep_edges"


def _stray_dependencies(module: ModuleOp) -> Iterable[Diagnostic]:
    for op, function in with_functions(module):
        if (
            function is not None
            and isinstance(op, DispatchOp)
            and MANUAL_DEP_EDGES in op.attributes
        ):
            advice = (
                "its dependencies go into deps [...]"
                if op.RETURNS_TASK
                else "launch it with orch.submit, which has deps [...]"
            )
            yield diagnose(
                op,
                f"in function '{function.sym_name.data}' carries {MANUAL_DEP_EDGES} on a use of "
                f"'{op.callee_name}', where nobody looks for them: {advice}",
            )


PROPERTY = Property(
    "ManualDepsOnSubmitOnly",
    "no call or submit of a function carries its dependencies as an attribute",
    _stray_dependencies,
)
