"""
BackendLayoutsSatisfied: each tile in a kernel is stored as the target's instructions want it.

The target is the one that the module names (`pto.target_arch`); without one, or with one that
there is no backend for, there is nothing to satisfy.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.backend.registry import backend_of
from pypto_xdsl.diagnostics import Diagnostic, OpError, diagnose
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile import TileLayout, TileType
from pypto_xdsl.properties.registry import Property


def _misplaced_tiles(module: ModuleOp) -> Iterator[Diagnostic]:
    try:
        backend = backend_of(module)
    except OpError:
        # A target of which nothing is known, for which a pass option may stand in.
        return
    if backend is None:
        return
    for kernel in kernels(module):
        for op in walk(kernel):
            spec = backend.layout_spec(type(op))
            if spec is None or not isinstance(op, DeclaredOp):
                continue
            for name, operand, _ in op.declared_operands():
                yield from _check(op, f"operand '{name}'", operand, spec.operands.get(name))
            for name, result, _ in op.declared_results():
                yield from _check(op, f"result '{name}'", result, spec.results.get(name))


def _check(
    op: DeclaredOp, what: str, value: SSAValue, wanted: TileLayout | None
) -> Iterator[Diagnostic]:
    if wanted is None or not isinstance(value.type, TileType):
        return
    found = value.type.layout.blayout
    if found is not wanted:
        yield diagnose(op, f"{what} should be {wanted} on this target, got {value.type}")


PROPERTY = Property(
    "BackendLayoutsSatisfied",
    "each tile in a kernel is stored as the target's instructions want it",
    _misplaced_tiles,
)
