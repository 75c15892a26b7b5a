"""UnrollResolved: no loop is left that is to be unrolled."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import LoopKind, loop_kind
from pypto_xdsl.properties.registry import Property


def _left_loops(module: ModuleOp) -> Iterable[Diagnostic]:
    for op in walk(module):
        if isinstance(op, scf.ForOp) and loop_kind(op) is LoopKind.UNROLL:
            yield diagnose(op, "should have been unrolled")


PROPERTY = Property("UnrollResolved", "no loop is left that is to be unrolled", _left_loops)
