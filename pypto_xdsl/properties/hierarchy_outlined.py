"""HierarchyOutlined: no hierarchy scope is left in an opaque function."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import FuncOp, FunctionKind, HierarchyOp
from pypto_xdsl.properties.registry import Property


def _left_scopes(module: ModuleOp) -> Iterable[Diagnostic]:
    function: FuncOp | None = None
    for op in walk(module):
        if isinstance(op, FuncOp):
            function = op
        elif (
            isinstance(op, HierarchyOp)
            and function is not None
            and function.kind.data is FunctionKind.OPAQUE
        ):
            yield diagnose(
                op,
                f"is left in opaque function '{function.sym_name.data}', "
                f"but should have become a function of level {op.level.data.value}",
            )


PROPERTY = Property(
    "HierarchyOutlined", "no hierarchy scope is left in an opaque function", _left_scopes
)
