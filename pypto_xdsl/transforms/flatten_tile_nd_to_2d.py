"""
flatten-tile-nd-to-2d: makes kernels compute on tiles of at most two dimensions.

A core computes on matrices. A tile of more dimensions is seen as the matrix of its last dimension
by all others, whose elements lie at the same places:

    %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
    %e = tile.exp %t : !tile.tile<2x16x64xf32>
    %m = tile.row_max %e, %tmp : ... -> !tile.tile<2x16x1xf32>

    %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
    %t_2d = tile.reshape %t : !tile.tile<2x16x64xf32> -> !tile.tile<32x64xf32>
    %e = tile.exp %t_2d : !tile.tile<32x64xf32>
    %m = tile.row_max %e, %tmp : ... -> !tile.tile<32x1xf32>

Only loads and stores keep the dimensions of the tensor; the reshapes beside them move nothing.
What works element by element, or on rows, means the same on the matrix. An op along any other
axis does not, and is an error.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import blocks_inside, walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.dialects.tile.matrix import matrix_type
from pypto_xdsl.dialects.tile.reductions import RowReductionOp
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.tensor_to_tile import Inserter

_ON_ROWS = (
    RowReductionOp,
    tile.RowExpandOp,
    tile.CmpOp,
    tile.CmpsOp,
    tile.SelOp,
    tile.SelsOp,
    tile.CreateOp,
    tile.ExpandsOp,
    tile.MoveOp,
    tile.FillpadOp,
    tile.FillpadInplaceOp,
    tile.ReshapeOp,
)
"""Ops that treat each row for itself, besides those that work element by element."""


@dataclass(frozen=True)
class FlattenTileNdTo2dPass(CheckedPass):
    """Make kernels compute on tiles of at most two dimensions."""

    name = "flatten-tile-nd-to-2d"
    required = ("SSAForm", "IncoreTileOps")
    produced = ("SSAForm", "IncoreTileOps", "TileOps2D")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        errors: list[Diagnostic] = []
        for kernel in kernels(module):
            if kernel.kind.data.is_in_core and not kernel.is_declaration:
                try:
                    _Kernel().flatten(kernel)
                except OpError as error:
                    errors += error.diagnostics
        if errors:
            raise DiagnosticsError(errors)


class _Kernel:
    """One kernel while its tiles are flattened."""

    def __init__(self) -> None:
        self._was: dict[SSAValue, TileType] = {}
        """The types that flattened tiles had."""

    def flatten(self, kernel: FuncOp) -> None:
        for op in list(walk(kernel)):
            self._flatten(op)

    def _flatten(self, op: Operation) -> None:
        for block in blocks_inside(op):
            for argument in tuple(block.args):
                self._retype(op, argument)
        if not self._is_concerned(op):
            return
        if isinstance(op, tile.LoadOp):
            self._after_load(op)
        elif isinstance(op, tile.StoreOp):
            self._before_store(op)
        elif isinstance(op, tile.ReshapeOp) and _is_for_stores(op):
            pass
        else:
            if isinstance(op, DeclaredOp):
                self._expect_same_on_matrix(op)
            for result in tuple(op.results):
                self._retype(op, result)

    def _expect_same_on_matrix(self, op: DeclaredOp) -> None:
        if any(isinstance(value.type, TensorType) for value in (*op.operands, *op.results)):
            raise OpError(
                op, "moves a tile of more than two dimensions, which is not flattened yet"
            )
        if isinstance(op, tile.CreateOp) and len(op.valid_extents) > 0:
            raise OpError(
                op,
                "makes a tile of more than two dimensions whose valid region is known at run time",
            )
        if not op.ELEMENTWISE and not isinstance(op, _ON_ROWS):
            raise OpError(
                op,
                "works along an axis of a tile of more than two dimensions, but a core computes on "
                "matrices; reshape the tile",
            )

    def _is_concerned(self, op: Operation) -> bool:
        return any(operand in self._was for operand in op.operands) or any(
            _is_deep(result) for result in op.results
        )

    def _matrix_type(self, op: Operation, type: TileType) -> TileType:
        try:
            return matrix_type(type)
        except VerifyException as error:
            raise OpError(op, str(error)) from error

    def _retype(self, op: Operation, value: SSAValue) -> None:
        type = value.type
        if isinstance(type, TileType) and type.get_num_dims() > 2:
            flat = self._matrix_type(op, type)
            self._was[Rewriter.replace_value_with_new_type(value, flat)] = type

    def _after_load(self, op: tile.LoadOp) -> None:
        type = TileType.of(op.result.type)
        hint = None if op.result.name_hint is None else f"{op.result.name_hint}_2d"
        uses = [use for use in op.result.uses if not _is_flattening(use.operation)]
        if not uses:
            return
        reshape = tile.ReshapeOp(op.result, self._matrix_type(op, type))
        try:
            reshape.verify_()
        except VerifyException as error:
            raise OpError(op, str(error)) from error
        flat = Inserter(op, InsertPoint.after(op)).insert(reshape, hint)
        self._was[flat] = type
        for use in uses:
            use.operation.operands[use.index] = flat

    def _before_store(self, op: tile.StoreOp) -> None:
        source = op.source
        hint = None if source.name_hint is None else f"{source.name_hint}_nd"
        deep = Inserter(op).insert(tile.ReshapeOp(source, self._was[source]), hint)
        op.operands[next(i for i, operand in enumerate(op.operands) if operand is source)] = deep


def _is_deep(value: SSAValue) -> bool:
    return isinstance(value.type, TileType) and value.type.get_num_dims() > 2


def _is_flattening(op: Operation) -> bool:
    return isinstance(op, tile.ReshapeOp) and not _is_deep(op.result)


def _is_for_stores(op: tile.ReshapeOp) -> bool:
    return all(isinstance(use.operation, tile.StoreOp) for use in op.result.uses)
