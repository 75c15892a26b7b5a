"""
flatten-tile-nd-to-2d: makes kernels compute on tiles of at most two dimensions.

A core computes on matrices. A tile of more dimensions is seen as the matrix of its last dimension
by all others, whose elements lie at the same places:

    %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
    %e = tile.exp %t : !tile.tile<2x16x64xf32>
    %m = tile.row_max %e, %tmp : ... -> !tile.tile<2x16x1xf32>

becomes

    %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
    %t_2d = tile.reshape %t : !tile.tile<2x16x64xf32> -> !tile.tile<32x64xf32>
    %e = tile.exp %t_2d : !tile.tile<32x64xf32>
    %m = tile.row_max %e, %tmp : ... -> !tile.tile<32x1xf32>

Only loads and stores keep the dimensions of the tensor; the reshapes beside them move nothing.
What works element by element, or on rows, means the same on the matrix. A part of consecutive rows
is one of the matrix, too. Products of batches are taken apart, one pair of matrices at a time
(`rewriting/batch_products.py`), and so are transposes, each of which gets the scratch that it
needs; loops and branches that hand on a batch of sums hand on each of them
(`rewriting/carried_batches.py`). An op along any other axis does not mean the same, and is an
error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import blocks_inside, walk
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import Direction, FuncOp
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.dialects.tile.matrix import matrix_type
from pypto_xdsl.properties.backend_pass import BackendPass
from pypto_xdsl.rewriting.batch_products import (
    Pages,
    Place,
    exceeds_l1,
    gather_pages,
    load_as_matrix,
    load_page_by_page,
    multiplied,
    store_pages,
    windows,
)
from pypto_xdsl.rewriting.carried_batches import (
    ControlFlow,
    carried_sums,
    carry_sums,
    is_of_sums,
    page_type,
    split,
)
from pypto_xdsl.rewriting.index_sums import is_run_of_rows, multiply, row_of
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.syntax.lists import Index


@dataclass(frozen=True)
class FlattenTileNdTo2dPass(BackendPass):
    """Make kernels compute on tiles of at most two dimensions."""

    name = "flatten-tile-nd-to-2d"
    required = ("SSAForm", "SplitIncoreOrch", "IncoreTileOps")
    produced = ("SSAForm", "IncoreTileOps", "TileOps2D")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        backend = self.backend_of(module)
        errors: list[Diagnostic] = []
        for kernel in kernels(module):
            if kernel.kind.data.is_in_core and not kernel.is_declaration:
                try:
                    _Kernel(kernel, backend).flatten()
                except OpError as error:
                    errors += error.diagnostics
        if errors:
            raise DiagnosticsError(errors)


class _Kernel:
    """One kernel while its tiles are flattened."""

    def __init__(self, kernel: FuncOp, backend: Backend | None) -> None:
        self._kernel = kernel
        self._backend = backend
        self._was: dict[SSAValue, TileType] = {}
        """The types that flattened tiles had."""
        self._pages: dict[SSAValue, Pages] = {}
        """The matrices of batches that lie in no one matrix, or side by side in one."""
        self._dead: list[Operation] = []
        self._sums = carried_sums(kernel)
        """The batches of sums that control flow hands on, each sum for itself."""
        self._ends: dict[Operation, Sequence[int]] = {}
        """Which operands of what ends regions are such batches."""
        self._arguments: list[BlockArgument] = []
        """Such batches, inside control flow that hands on their sums."""

    def flatten(self) -> None:
        for op in list(walk(self._kernel)):
            try:
                self._flatten(op)
            except VerifyException as error:
                raise OpError(op, str(error)) from error
        for op in reversed(self._dead):
            _erase(op)
        for argument in self._arguments:
            argument.block.erase_arg(argument)

    def _flatten(self, op: Operation) -> None:
        if isinstance(op, ControlFlow):
            op = self._carry_sums(op)
        for block in blocks_inside(op):
            for argument in tuple(block.args):
                if argument not in self._pages:
                    self._retype(op, argument)
        if isinstance(op, tile.TransposeOp) and not _is_deep(op.result) and op.tmp is None:
            _give_scratch(op)
        if not self._is_concerned(op):
            return
        match op:
            case tile.LoadOp():
                self._after_load(op)
            case tile.StoreOp() if op.source in self._pages:
                store_pages(op, self._pages[op.source])
            case tile.StoreOp():
                self._before_store(op)
            case tile.BatchMatmulOp() | tile.BatchMatmulAccOp():
                self._multiply(op)
            case scf.YieldOp() | scf.ConditionOp() if op in self._ends:
                op.operands = split(op.operands, self._ends[op], self._pages, Inserter(op))
            case tile.CreateOp() if op.result in self._sums:
                self._create_sums(op)
            case tile.TransposeViewOp():
                self._transpose_view(op)
            case tile.TransposeOp():
                self._transpose(op)
            case tile.SliceOp():
                self._slice(op)
            case tile.AssembleOp():
                self._assemble(op)
            case tile.ReshapeOp() if _is_for_stores(op):
                pass
            case _:
                if isinstance(op, DeclaredOp):
                    self._expect_same_on_matrix(op)
                for result in tuple(op.results):
                    self._retype(op, result)

    def _become(self, op: Operation, flat: SSAValue) -> None:
        """`flat` stands for the tile that `op` makes, which is done with."""
        (result,) = op.results
        self._was[flat] = TileType.of(result.type)
        result.replace_all_uses_with(flat)
        self._dead.append(op)

    # Parts.

    def _slice(self, op: tile.SliceOp) -> None:
        """A window of consecutive rows of the matrix."""
        window, outer = TileType.of(op.result.type), self._deep_type(op.source)
        inserter = Inserter(op)
        offsets = self._matrix_offsets(op, op.window_offsets, window, outer, inserter)
        valid: Sequence[Index] = ()
        if len(op.valid_extents) > 0:
            rows: Index = 1
            for extent in op.valid_extents[:-1]:
                rows = multiply(rows, extent, inserter)
            valid = (rows, op.valid_extents[-1])
        new = tile.SliceOp(op.source, offsets, self._matrix_type(op, window), valid)
        self._become(op, inserter.insert(new, op.result.name_hint))

    def _assemble(self, op: tile.AssembleOp) -> None:
        """Consecutive rows of the matrix are written."""
        window, outer = self._deep_type(op.source), self._deep_type(op.destination)
        inserter = Inserter(op)
        offsets = self._matrix_offsets(op, op.window_offsets, window, outer, inserter)
        flat = self._matrix_type(op, TileType.of(op.result.type))
        new = tile.AssembleOp(op.source, op.destination, offsets, flat)
        self._become(op, inserter.insert(new, op.result.name_hint))

    def _matrix_offsets(
        self,
        op: Operation,
        offsets: Sequence[Index],
        window: TileType,
        outer: TileType,
        inserter: Inserter,
    ) -> tuple[Index, Index]:
        outer_rows, window_rows = outer.get_shape()[:-1], window.get_shape()[:-1]
        if len(window_rows) != len(outer_rows) or not is_run_of_rows(window_rows, outer_rows):
            raise OpError(
                op,
                f"takes a part of {outer} whose rows do not follow each other, but a core computes "
                "on matrices; take it apart along the first dimensions",
            )
        return row_of(offsets[:-1], outer_rows, inserter), offsets[-1]

    def _deep_type(self, value: SSAValue) -> TileType:
        return self._was.get(value) or TileType.of(value.type)

    # Batches.

    def _pages_of(self, value: SSAValue) -> Pages:
        return self._pages.get(value) or windows(value, self._deep_type(value))

    def _multiply(self, op: tile.BatchMatmulOp | tile.BatchMatmulAccOp) -> None:
        type = TileType.of(op.result.type)
        acc = None
        if isinstance(op, tile.BatchMatmulAccOp):
            acc = self._pages_of(op.acc)
            if op.acc not in self._pages and prod(acc.batch) != 1:
                raise OpError(
                    op,
                    "adds to a batch of sums that no batch of products right before it begins; "
                    "take the batch apart",
                )
        pages = multiplied(op, self._pages_of(op.lhs), self._pages_of(op.rhs), acc)
        if op.result in self._sums:
            self._sum(op.result, pages, Inserter(op))
            self._dead.append(op)
        elif all(_takes_pages(use) and _is_beside(use.operation, op) for use in op.result.uses):
            self._pages[op.result] = pages
            self._dead.append(op)
        else:
            hint = op.result.name_hint
            self._become(op, gather_pages(Inserter(op), pages, type, hint))

    def _create_sums(self, op: tile.CreateOp) -> None:
        """Sums that nothing was added to yet."""
        type = TileType.of(op.result.type)

        def make(place: Place, inserter: Inserter) -> SSAValue:
            return inserter.insert(tile.CreateOp(page_type(type)), op.result.name_hint)

        self._sum(op.result, Pages(type.get_shape()[:-2], make), Inserter(op))
        self._dead.append(op)

    def _sum(self, value: SSAValue, pages: Pages, inserter: Inserter) -> None:
        """
        Make the sums of a batch here, and one tile of all of them for what does not use them one by
        one.
        """
        made = {place: pages.page(place, inserter) for place in pages.places}
        self._pages[value] = Pages(pages.batch, lambda place, inserter: made[place])
        others = [use for use in value.uses if not is_of_sums(use)]
        if not others:
            return
        type = TileType.of(value.type)
        whole = gather_pages(inserter, self._pages[value], type, value.name_hint)
        self._was[whole] = type
        for use in others:
            use.operation.operands[use.index] = whole

    def _carry_sums(self, op: ControlFlow) -> ControlFlow:
        """The control flow, which hands on each sum of the batches of sums that it handed on."""
        carried = carry_sums(op, self._sums, self._pages, Inserter(op))
        if carried is None:
            return op
        self._dead.append(op)
        self._ends |= carried.ends
        self._arguments += carried.arguments
        after = InsertPoint.after(carried.op)
        for batch, pages in carried.pages.items():
            owner = batch.owner
            point = InsertPoint.at_start(owner) if isinstance(owner, Block) else after
            self._sum(batch, pages, Inserter(carried.op, point))
        return carried.op

    def _transpose_view(self, op: tile.TransposeViewOp) -> None:
        type = TileType.of(op.result.type)
        for use in op.result.uses:
            if not isinstance(use.operation, tile.BatchMatmulOp | tile.BatchMatmulAccOp):
                raise OpError(
                    use.operation, "uses matrices seen transposed, which only products take"
                )
        source = self._pages.get(op.source)
        if source is None:
            flat = Inserter(op).insert(tile.TransposeViewOp(op.source), op.result.name_hint)
            self._pages[op.result] = windows(flat, type, side_by_side=True)
        else:

            def make(place: Place, inserter: Inserter) -> SSAValue:
                inserter = Inserter(op, inserter.point)
                page = tile.TransposeViewOp(source.page(place, inserter))
                return inserter.insert(page, op.result.name_hint)

            self._pages[op.result] = Pages(source.batch, make)
        self._dead.append(op)

    def _transpose(self, op: tile.TransposeOp) -> None:
        """Transpose one matrix at a time."""
        type = TileType.of(op.result.type)
        rank = type.get_num_dims()
        if {op.axis1.value.data, op.axis2.value.data} != {rank - 2, rank - 1}:
            raise OpError(
                op,
                "swaps other axes of a tile than the last two, but a core computes on matrices",
            )
        if type.valid_shape != type.get_shape():
            raise OpError(op, f"transposes a batch of matrices that are not wholly valid: {type}")
        inserter = Inserter(op)
        pages = windows(op.source, self._deep_type(op.source))
        rows = type.get_shape()[-2]
        whole: SSAValue | None = None
        for number, place in enumerate(pages.places):
            page = pages.page(place, inserter)
            scratch = inserter.insert(tile.CreateOp(TileType.of(page.type)), "tmp")
            turned = inserter.insert(tile.TransposeOp(page, scratch), op.result.name_hint)
            if len(pages.places) == 1:
                whole = turned
                break
            if whole is None:
                whole = inserter.insert(
                    tile.CreateOp(self._matrix_type(op, type)), op.result.name_hint
                )
            assembled = tile.AssembleOp(turned, whole, (number * rows, 0))
            whole = inserter.insert(assembled, op.result.name_hint)
        assert whole is not None
        self._become(op, whole)

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
        if op.COLUMNWISE and self._is_one_matrix(op):
            return
        if not (op.ELEMENTWISE or op.ROWWISE):
            raise OpError(
                op,
                "works along an axis of a tile of more than two dimensions, but a core computes on "
                "matrices; reshape the tile",
            )

    def _is_one_matrix(self, op: Operation) -> bool:
        """Whether all tiles of an op are single matrices, of however many dimensions."""
        tiles = [self._deep_type(v) for v in (*op.operands, *op.results) if _is_tile(v)]
        return all(prod(type.get_shape()[:-2]) == 1 for type in tiles)

    def _is_concerned(self, op: Operation) -> bool:
        known = any(operand in self._was or operand in self._pages for operand in op.operands)
        return known or any(_is_deep(result) for result in op.results)

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
        products = _products_of(op.result)
        if products is not None:
            # Only the cube core reads it, and it does so in L1.
            type = type.with_space(MemorySpace.MAT)
            Rewriter.replace_value_with_new_type(op.result, type)
        if type.memory_space is MemorySpace.MAT:
            pairs = [(TileType.of(p.lhs.type), TileType.of(p.rhs.type)) for p in products or ()]
            fits = not any(exceeds_l1(pair, self._backend) for pair in pairs)
            flat = load_as_matrix(op) if fits else None
            if flat is not None:
                self._become(op, flat)
                return
            if products is not None:
                later = self._never_changes(op.source) and all(_is_beside(p, op) for p in products)
                self._pages[op.result] = load_page_by_page(op, at_op=not later)
                self._dead.append(op)
                return
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

    def _never_changes(self, tensor: SSAValue) -> bool:
        """Whether nothing in the kernel writes a tensor, under whatever name."""
        parameters = self._kernel.parameters
        if not isinstance(tensor, BlockArgument) or tensor not in parameters:
            return False
        return self._kernel.parameter_directions[tensor.index] is Direction.IN

    def _before_store(self, op: tile.StoreOp) -> None:
        source = op.source
        hint = None if source.name_hint is None else f"{source.name_hint}_nd"
        type = self._was[source]
        if (space := TileType.of(source.type).memory_space) is not None:
            # Of what a product is put into, the product says so.
            type = type.with_space(space)
        deep = Inserter(op).insert(tile.ReshapeOp(source, type), hint)
        op.operands[next(i for i, operand in enumerate(op.operands) if operand is source)] = deep


def _give_scratch(op: tile.TransposeOp) -> None:
    """A core needs scratch to transpose a matrix."""
    scratch = Inserter(op).insert(
        tile.CreateOp(TileType.of(op.source.type).with_valid(None)), "tmp"
    )
    op.operands = [op.source, scratch]


def _is_tile(value: SSAValue) -> bool:
    return isinstance(value.type, TileType)


def _is_deep(value: SSAValue) -> bool:
    return isinstance(value.type, TileType) and value.type.get_num_dims() > 2


def _is_flattening(op: Operation) -> bool:
    return isinstance(op, tile.ReshapeOp) and not _is_deep(op.result)


def _is_for_stores(op: tile.ReshapeOp) -> bool:
    return all(isinstance(use.operation, tile.StoreOp) for use in op.result.uses)


def _products_of(value: SSAValue) -> list[tile.BatchMatmulOp | tile.BatchMatmulAccOp] | None:
    """The products of batches that a tile is multiplied in, if that is all it is used for."""
    found: list[tile.BatchMatmulOp | tile.BatchMatmulAccOp] = []
    for use in value.uses:
        op = use.operation
        if isinstance(op, tile.BatchMatmulOp | tile.BatchMatmulAccOp):
            found.append(op)
        elif isinstance(op, tile.TransposeViewOp):
            inner = _products_of(op.result)
            if inner is None:
                return None
            found += inner
        else:
            return None
    return found or None


def _takes_pages(use: Use) -> bool:
    """Whether a batch of products that control flow does not hand on is used page by page."""
    handed_on = isinstance(use.operation, ControlFlow | scf.YieldOp | scf.ConditionOp)
    return is_of_sums(use) and not handed_on


def _is_beside(op: Operation, other: Operation) -> bool:
    return op.parent is other.parent


def _erase(op: Operation) -> None:
    block = op.parent_block()
    assert block is not None
    block.erase_op(op)
