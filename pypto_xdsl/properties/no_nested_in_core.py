"""
NoNestedInCore: no in-core scope is inside another, at any depth.

A core group runs one kernel at a time: a kernel cannot launch a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose, note
from pypto_xdsl.dialects.orch import FuncOp, IncoreOp
from pypto_xdsl.properties.registry import Property


def _nested_scopes(module: ModuleOp) -> Iterable[Diagnostic]:
    enclosing: dict[Operation, IncoreOp] = {}
    """The in-core scope around what stands inside an op."""
    for op in walk(module):
        parent = op.parent_op()
        scope = None if parent is None or isinstance(op, FuncOp) else enclosing.get(parent)
        if isinstance(op, IncoreOp):
            if scope is not None:
                yield diagnose(
                    op,
                    "is inside another in-core scope, but a kernel cannot launch a kernel",
                    [note(scope, "the enclosing scope is here")],
                )
            scope = op
        if op.regions and scope is not None:
            enclosing[op] = scope


PROPERTY = Property("NoNestedInCore", "no in-core scope is inside another", _nested_scopes)
