"""
KernelsLowered: what cores run is in the language of PTO.

Passes on buffers and on what a core executes see nothing of a kernel on tensors or tiles; they
would leave it as it is without a word.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.kernels import with_functions
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import FuncOp, IncoreOp
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.properties.registry import Property
from pypto_xdsl.properties.split_incore_orch import computes_tensor


def _not_lowered(module: ModuleOp) -> Iterable[Diagnostic]:
    for op, function in with_functions(module):
        if isinstance(op, FuncOp):
            if op.kind.data.is_in_core and not op.is_declaration:
                yield diagnose(op, f"kernel '{op.sym_name.data}' computes on tensors or tiles")
        elif function is None and _computes(op):
            yield diagnose(
                op, "computes on tensors or tiles in no 'orch.func', which alone becomes a kernel"
            )
        elif isinstance(op, IncoreOp) and not (function and function.kind.data.is_in_core):
            yield diagnose(op, "computes on tensors or tiles, in no kernel of its own")


def _computes(op: Operation) -> bool:
    values = (*op.operands, *op.results)
    return any(isinstance(value.type, TileType) for value in values) or computes_tensor(op)


PROPERTY = Property(
    "KernelsLowered", "no kernel computes on tensors or tiles any more", _not_lowered
)
