"""
OnCores: every function of instructions says which core of a 910B runs it.

Events between pipes are a matter of one core's program. A function without instructions, such as
one that only computes an index for others, needs none.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.ascend910b import CORE
from pypto_xdsl.dialects.pto import PtoOp
from pypto_xdsl.properties.registry import Property


def _on_no_core(module: ModuleOp) -> Iterable[Diagnostic]:
    for function in walk(module):
        if not isinstance(function, func.FuncOp) or CORE in function.attributes:
            continue
        if any(isinstance(op, PtoOp) and op.pipe is not None for op in walk(function)):
            yield diagnose(
                function, f"'{function.sym_name.data}' does not say which core of a 910B runs it"
            )


PROPERTY = Property(
    "OnCores", "every function of instructions says which core of a 910B runs it", _on_no_core
)
