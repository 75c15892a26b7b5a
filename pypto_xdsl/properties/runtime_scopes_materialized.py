"""
RuntimeScopesMaterialized: the scopes of the runtime stand in the program.

Every orchestration function says `auto_scope = false`: nobody is to add scopes to those that are
there. This is a mark by nature: a program without any scope may be meant so.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.properties.registry import Property

AUTO_SCOPE = "auto_scope"
"""On a function: `false` if it has all its scopes already."""


def has_auto_scope(function: FuncOp) -> bool:
    """Whether scopes are still to be put into a function."""
    attribute = function.attributes.get(AUTO_SCOPE)
    return not (isinstance(attribute, IntegerAttr) and attribute.value.data == 0)


def _unscoped(module: ModuleOp) -> Iterable[Diagnostic]:
    for op in walk(module):
        if isinstance(op, FuncOp) and op.is_orchestration and has_auto_scope(op):
            yield diagnose(op, f"'{op.sym_name.data}' has no scopes of the runtime yet")


PROPERTY = Property(
    "RuntimeScopesMaterialized",
    "every orchestration function has all its scopes of the runtime",
    _unscoped,
)
