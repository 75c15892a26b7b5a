"""HierarchyOutlined: no hierarchy scope is left in an opaque function."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.kernels import with_functions
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import FunctionKind, HierarchyOp
from pypto_xdsl.properties.registry import Property


def _left_scopes(module: ModuleOp) -> Iterable[Diagnostic]:
    for op, function in with_functions(module):
        if not isinstance(op, HierarchyOp):
            continue
        if function is None:
            yield diagnose(op, "becomes no function here: a scope belongs in an 'orch.func'")
        elif function.kind.data is FunctionKind.OPAQUE:
            yield diagnose(
                op,
                f"is left in opaque function '{function.sym_name.data}', "
                f"but should have become a function of level {op.level.data.value}",
            )


PROPERTY = Property(
    "HierarchyOutlined", "no hierarchy scope is left in an opaque function", _left_scopes
)
