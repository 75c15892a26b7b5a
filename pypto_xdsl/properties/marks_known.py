"""
MarksKnown: what an op says to later passes is something that passes look for.

    scf.for %i = %a to %b step %c { ... } {orch.lop = #orch<loop parallel>}   // means nothing

A discardable attribute is read whatever it says; a misspelt one, or one on an op that nobody asks
for it, would change the program in silence.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch.marks import fault_of_mark
from pypto_xdsl.properties.registry import Property


def _wrong_marks(module: ModuleOp) -> Iterable[Diagnostic]:
    for op in walk(module):
        for name, value in op.attributes.items():
            if (fault := fault_of_mark(op, name, value)) is not None:
                yield diagnose(op, fault)


PROPERTY = Property(
    "MarksKnown",
    "every attribute `orch.*` is one of the dialect's, where it belongs, and says what it may",
    _wrong_marks,
)
