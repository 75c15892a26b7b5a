"""InlineFunctionsEliminated: there is no inline function, and so no call of one."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import FuncOp, FunctionKind
from pypto_xdsl.properties.registry import Property


def _inline_functions(module: ModuleOp) -> Iterable[Diagnostic]:
    for op in walk(module):
        if isinstance(op, FuncOp) and op.kind.data is FunctionKind.INLINE:
            yield diagnose(op, f"'{op.sym_name.data}' should have been spliced into its callers")


PROPERTY = Property("InlineFunctionsEliminated", "there is no inline function", _inline_functions)
