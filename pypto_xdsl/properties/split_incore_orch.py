"""
SplitIncoreOrch: the work of cores is in functions of its own.

No in-core scope is left outside functions of kind `incore`. Computing on tensors in a function
that only launches tasks is no violation, but probably not what was meant: it is warned about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation

from pypto_xdsl.analysis.kernels import with_functions
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import FuncOp, FunctionKind, IncoreOp
from pypto_xdsl.properties.registry import Property


def _unsplit(module: ModuleOp) -> Iterable[Diagnostic]:
    for op, function in with_functions(module):
        if function is not None:
            yield from _errors(op, function)
        elif isinstance(op, IncoreOp):
            yield diagnose(op, "becomes no kernel here: a scope belongs in an 'orch.func'")


def _errors(op: Operation, function: FuncOp) -> Iterator[Diagnostic]:
    kind = function.kind.data
    if isinstance(op, IncoreOp):
        if kind is not FunctionKind.INCORE:
            yield diagnose(
                op,
                f"is left in {kind.value} function '{function.sym_name.data}', "
                "but should have become an incore function",
            )
    elif kind.is_orchestration_like and computes_tensor(op):
        yield diagnose(
            op,
            f"computes in {kind.value} function '{function.sym_name.data}', "
            "which only launches tasks",
            severity="warning",
        )


def computes_tensor(op: Operation) -> bool:
    """Whether an op computes a tensor of its own from the elements of others."""
    if not isinstance(op, DeclaredOp) or not op.READS_ELEMENTS:
        return False
    makes_tensor = any(
        isinstance(result.type, TensorType) and op.named_operand(result) is None
        for result in op.results
    )
    return makes_tensor and any(
        isinstance(operand.type, TensorType) and effect.reads
        for operand, effect in op.operand_effects()
    )


PROPERTY = Property(
    "SplitIncoreOrch", "no in-core scope is left outside incore functions", _unsplit
)
