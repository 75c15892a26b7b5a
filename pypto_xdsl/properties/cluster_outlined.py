"""
ClusterOutlined: no cluster or spmd scope is left outside wrappers.

A cluster scope launches kernels: it can stand neither in a kernel, nor, once it should be a
group, in the function that launches it.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.kernels import with_functions
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import ClusterOp, SpmdOp
from pypto_xdsl.properties.registry import Property


def _left_scopes(module: ModuleOp) -> Iterable[Diagnostic]:
    for op, function in with_functions(module):
        if not isinstance(op, ClusterOp | SpmdOp):
            continue
        if function is None:
            yield diagnose(op, "becomes no function here: a scope belongs in an 'orch.func'")
        elif not function.kind.data.is_wrapper:
            yield diagnose(
                op,
                f"is left in {function.kind.data.value} function '{function.sym_name.data}', "
                "but should have become a group or spmd function",
            )


PROPERTY = Property(
    "ClusterOutlined",
    "no cluster or spmd scope is left outside group and spmd functions",
    _left_scopes,
)
