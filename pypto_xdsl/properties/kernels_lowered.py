"""
KernelsLowered: what cores run is in the language of PTO.

Passes on buffers and on what a core executes see nothing of a kernel on tensors or tiles; they
would leave it as it is without a word.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import FuncOp, IncoreOp
from pypto_xdsl.properties.registry import Property


def _not_lowered(module: ModuleOp) -> Iterable[Diagnostic]:
    for op in walk(module):
        if isinstance(op, FuncOp) and op.kind.data.is_in_core and not op.is_declaration:
            yield diagnose(op, f"kernel '{op.sym_name.data}' computes on tensors or tiles")
        elif isinstance(op, IncoreOp) and not _is_in_kernel(op):
            yield diagnose(op, "computes on tensors or tiles, in no kernel of its own")


def _is_in_kernel(op: IncoreOp) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    return parent is not None and parent.kind.data.is_in_core


PROPERTY = Property(
    "KernelsLowered", "no kernel computes on tensors or tiles any more", _not_lowered
)
