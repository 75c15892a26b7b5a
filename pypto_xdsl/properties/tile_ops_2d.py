"""
TileOps2D: kernels compute on tiles of at most two dimensions, as the hardware does.

In functions of the kinds `incore`, `aic` and `aiv` only ops between tiles and tensors, and ops
that give a tile another shape, have tiles of more.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp, TensorType

from pypto_xdsl.analysis.kernels import with_functions
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.properties.registry import Property


def _ops_of_more_dimensions(module: ModuleOp) -> Iterable[Diagnostic]:
    for op, function in with_functions(module):
        if function is None or not function.kind.data.is_in_core:
            continue
        if isinstance(op, DeclaredOp) and not _changes_shape(op):
            tile = next(
                (
                    value.type
                    for value in (*op.operands, *op.results)
                    if isinstance(value.type, TileType) and value.type.get_num_dims() > 2
                ),
                None,
            )
            if tile is not None:
                yield diagnose(
                    op,
                    f"has a tile of {tile.get_num_dims()} dimensions, {tile}, "
                    "but a core computes on two",
                )


def _changes_shape(op: DeclaredOp) -> bool:
    """Whether an op stands between a tile and a tensor, or between two shapes of a tile."""
    if any(isinstance(value.type, TensorType) for value in (*op.operands, *op.results)):
        return True
    return any(op.is_view(result) and op.window_start(result) is None for result in op.results)


PROPERTY = Property(
    "TileOps2D",
    "in kernels only loads, stores and reshapes have tiles of more than two dimensions",
    _ops_of_more_dimensions,
)
