"""
IncoreTileOps: kernels compute on tiles, not on tensors.

In a function of kind `incore` nothing makes a tensor of its own and nothing moves elements from
tensor to tensor. What remains of tensors there: loads and stores, single elements read and
written by the scalar unit, and names for windows, shapes and types of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation

from pypto_xdsl.analysis.kernels import with_functions
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.properties.registry import Property


def _tensor_ops(module: ModuleOp) -> Iterable[Diagnostic]:
    for op, function in with_functions(module):
        if function is None or function.kind.data is not FunctionKind.INCORE:
            continue
        if _works_on_tensors(op):
            yield diagnose(
                op,
                f"works on whole tensors in kernel '{function.sym_name.data}', "
                "but a core computes on tiles",
            )


def _works_on_tensors(op: Operation) -> bool:
    """Whether an op makes a tensor, or fills one from the elements of another."""
    if not isinstance(op, DeclaredOp):
        return False
    tensors = [result for result in op.results if isinstance(result.type, TensorType)]
    if any(op.named_operand(result) is None for result in tensors):
        return True
    return bool(tensors and op.READS_ELEMENTS) and any(
        isinstance(operand.type, TensorType) and effect.reads and not effect.writes
        for operand, effect in op.operand_effects()
    )


PROPERTY = Property(
    "IncoreTileOps",
    "no incore function makes a tensor or moves elements between tensors",
    _tensor_ops,
)
