"""
auto-tile-matmul-l0: takes products apart that are larger than the memories beside the cube.

The operands of a product lie in L1, and go to L0A and L0B; its result gathers in L0C. Where one
of them does not fit, the product becomes loops over blocks:

    %p = tile.matmul %a, %b : !tile.tile<128x512xbf16, mat>, !tile.tile<512x128xbf16, mat> -> ...

becomes

    %l = tile.extract %a[0, 0] : !tile.tile<128x512xbf16, mat> -> !tile.tile<128x128xbf16, left>
    %r = tile.extract %b[0, 0] : !tile.tile<512x128xbf16, mat> -> !tile.tile<128x128xbf16, right>
    %first = tile.matmul %l, %r : ...
    %p = scf.for %k = %c128 to %c512 step %c128 iter_args(%sum = %first) -> (...) {
      %l = tile.extract %a[0, %k] : ...
      %r = tile.extract %b[%k, 0] : ...
      %next = tile.matmul_acc %sum, %l, %r : ...
      scf.yield %next : ...
    }

Blocks are those that take the fewest cycles (`backend.product_unit`). A result that is itself too
large is made block by block, each of which goes where all of it would: to global memory where a
`tile.store` is its only use, or, rounded by a `tile.cast` to nearest even, to a tile in L1 where
only products read it. Any other use of such a result is an error.

A product that fits, and is rounded for other products alone, is drained to L1 too: rounding it on
the way is what the cube core can do without the vector core.

A product of which only parts are used is made part by part, since a part of L0C is nothing that
can be stored or passed on:

    %p = tile.matmul %a, %b : ... -> !tile.tile<64x128xf32>
    %top = tile.slice %p[0, 0] : !tile.tile<64x128xf32> -> !tile.tile<32x128xf32>

becomes

    %l = tile.extract %a[0, 0] : ... -> !tile.tile<32x64xbf16, left>
    %top = tile.matmul %l, %b : ... -> !tile.tile<32x128xf32>
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.backend.product_unit import ProductBlocks, ProductUnit
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError, note
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.element_types import byte_width
from pypto_xdsl.dialects.ptensor import RoundMode
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.dialects.tile.base import made_in
from pypto_xdsl.dialects.tile.matmul import ProductOp
from pypto_xdsl.dialects.tile.types import BOX_ROWS
from pypto_xdsl.properties.backend_pass import BackendPass, no_target
from pypto_xdsl.rewriting.counted_loops import over_blocks
from pypto_xdsl.rewriting.index_sums import add as add_indices
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.syntax.lists import Index


@dataclass(frozen=True)
class AutoTileMatmulL0Pass(BackendPass):
    """Take products apart that are larger than the memories beside the cube."""

    name = "auto-tile-matmul-l0"
    required = ("SSAForm", "SplitIncoreOrch", "IncoreTileOps", "TileOps2D")
    produced = ("SSAForm", "IncoreTileOps", "TileOps2D")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        backend = self.backend_of(module)
        errors: list[Diagnostic] = []
        for kernel in kernels(module):
            if kernel.is_declaration:
                continue
            for op in list(walk(kernel)):
                if not isinstance(op, ProductOp):
                    continue
                if backend is None:
                    raise no_target(op)
                try:
                    take_apart(op, backend)
                except OpError as error:
                    errors += error.diagnostics
        if errors:
            raise DiagnosticsError(errors)


def take_apart(op: ProductOp, backend: Backend) -> None:
    """
    Make a product compute in blocks, if it does not fit; and bring its rounded result to L1 where
    that is all that is asked of it.

    Raises `OpError` where it does not fit and there is no way to take it apart.
    """
    product = _product_of(op, backend.product_unit)
    if product is None:
        return
    parts = product.parts_used()
    if parts:
        product.make_parts(parts)
        return
    rounding = _rounding_for_products(op)
    if product.fits and rounding is None:
        return
    blocks = ProductBlocks(*product.extents) if product.fits else product.blocks()
    product.bring_operands_to_l1()
    if rounding is not None:
        _drain_to_l1(product, blocks, rounding)
    elif blocks.rows >= product.rows and blocks.columns >= product.columns:
        whole = product.rows, product.columns
        old = op.results[0]
        result = product.block((0, 0), whole, blocks.depth, Inserter(op), stands_for=old)
        result.name_hint = old.name_hint
        Rewriter.replace_op(op, [], [result])
    else:
        _store_blocks(product, blocks)
    product.erase_moves()


@dataclass
class _Product:
    """A product whose operands come from L1, or may."""

    op: ProductOp
    unit: ProductUnit
    lhs: SSAValue
    rhs: SSAValue
    moves: Sequence[tile.MoveOp]
    """The moves that brought all of the operands to L0A and L0B."""

    def __post_init__(self) -> None:
        lhs, rhs = TileType.of(self.lhs.type), TileType.of(self.rhs.type)
        self.rows, self.depth = lhs.get_shape()
        self.columns = rhs.get_shape()[1]
        self.element_bytes = byte_width(lhs.element_type)

    @property
    def extents(self) -> tuple[int, int, int]:
        """Rows, columns and depth."""
        return self.rows, self.columns, self.depth

    @property
    def fits(self) -> bool:
        """Whether the memories beside the cube hold all of it."""
        return self.unit.holds(*self.extents, self.element_bytes)

    def blocks(self) -> ProductBlocks:
        """The blocks that it becomes. Raises `OpError` where there are none."""
        size = f"of {self.rows}x{self.depth} by {self.depth}x{self.columns}"
        blocks = self.unit.blocks(*self.extents, self.element_bytes)
        if blocks is None:
            granule = self.unit.depth_granule(self.element_bytes)
            raise OpError(
                self.op,
                f"is a product {size}, which the memories beside the cube do not hold, and which "
                f"has no blocks: its columns and depth should be multiples of {granule}",
            )
        lhs, rhs = TileType.of(self.lhs.type), TileType.of(self.rhs.type)
        cut = (
            ("rows of lhs", blocks.rows < self.rows, lhs, 0),
            ("columns of lhs", True, lhs, 1),
            ("rows of rhs", True, rhs, 0),
            ("columns of rhs", blocks.columns < self.columns, rhs, 1),
        )
        for what, is_cut, type, axis in cut:
            valid = type.valid_shape[axis]
            if is_cut and valid != type.get_shape()[axis]:
                raise OpError(
                    self.op,
                    f"is a product {size}, which the memories beside the cube do not hold, and "
                    f"which is not taken apart where not all {what} are valid: {type}",
                )
        if isinstance(self.op, tile.MatmulBiasOp | tile.GemvBiasOp) and (
            blocks.columns < self.columns
        ):
            raise OpError(
                self.op,
                f"is a product {size} whose columns do not fit beside the cube, and the row that "
                "is added to it is not taken apart: add it to the stored product",
            )
        return blocks

    def parts_used(self) -> Sequence[tile.SliceOp]:
        """
        The parts that are used of it, if all of it is not; none where a part does not consist of
        whole boxes, or where they are more work than the whole.
        """
        parts: list[tile.SliceOp] = []
        whole = self.rows, self.columns
        for use in self.op.results[0].uses:
            part = use.operation
            if not isinstance(part, tile.SliceOp) or part.parent is not self.op.parent:
                return []
            extents = TileType.of(part.result.type).get_shape()
            for offset, extent in zip(part.window_offsets, extents, strict=True):
                if not isinstance(offset, int) or offset % BOX_ROWS or extent % BOX_ROWS:
                    return []
            parts.append(part)
        types = [TileType.of(value.type) for value in (self.lhs, self.rhs)]
        if (
            not isinstance(self.op, tile.MatmulOp)
            or any(type.valid_shape != type.get_shape() for type in types)
            or sum(prod(TileType.of(part.result.type).get_shape()) for part in parts) > prod(whole)
        ):
            return []
        return parts

    def make_parts(self, parts: Sequence[tile.SliceOp]) -> None:
        """Make each part where it is taken; of the whole nothing is left."""
        self.bring_operands_to_l1()
        for part in parts:
            rows, columns = TileType.of(part.result.type).get_shape()
            row, column = part.window_offsets
            extents = rows, columns, self.depth
            if self.unit.holds(*extents, self.element_bytes):
                depth = self.depth
            else:
                blocks = self.unit.blocks(*extents, self.element_bytes)
                if blocks is None or blocks.rows < rows or blocks.columns < columns:
                    raise OpError(
                        part, "is a part of a product that is more than the cube core holds"
                    )
                depth = blocks.depth
            start = row, column
            made = self.block(start, (rows, columns), depth, Inserter(part), stands_for=part.result)
            made.name_hint = part.result.name_hint
            Rewriter.replace_op(part, [], [made])
        Rewriter.erase_op(self.op)
        self.erase_moves()

    def block(
        self,
        start: tuple[Index, Index],
        extents: tuple[int, int],
        depth: int,
        inserter: Inserter,
        stands_for: SSAValue | None = None,
    ) -> SSAValue:
        """
        The part of the product that starts at a row and a column, summed in L0C. What it stands
        for may not say yet where it lives, for branches and loops that hand it on.
        """
        hint = self.op.results[0].name_hint
        (row, column), (rows, columns) = start, extents

        def operands(at: Index, length: int, inside: Inserter) -> tuple[SSAValue, SSAValue]:
            return (
                self._part(self.lhs, (row, at), (rows, length), MemorySpace.LEFT, inside),
                self._part(self.rhs, (at, column), (length, columns), MemorySpace.RIGHT, inside),
            )

        def add(
            at: Index, length: int, sums: Sequence[SSAValue], inside: Inserter
        ) -> Sequence[SSAValue]:
            return [inside.insert(self._sum(sums[0], *operands(at, length, inside)), hint)]

        if isinstance(self.op, tile.MatmulAccOp | tile.GemvAccOp):
            begun, total = 0, self.op.acc
        else:
            begun = min(depth, self.depth)
            first = inserter.insert(self._first(*operands(0, begun, inserter)), hint)
            space = TileType.of((first if stands_for is None else stands_for).type).memory_space
            type = TileType.of(first.type).with_space(space)
            total = Rewriter.replace_value_with_new_type(first, type)
        (total,) = over_blocks((begun, self.depth), depth, [total], add, inserter, "depth")
        return total

    def _part(
        self,
        source: SSAValue,
        offsets: tuple[Index, Index],
        extents: tuple[int, int],
        space: MemorySpace,
        inserter: Inserter,
    ) -> SSAValue:
        type = TileType.of(source.type)
        valid = [min(pair) for pair in zip(extents, type.valid_shape, strict=True)]
        result = TileType.of(self.op.results[0].type)
        part = TileType(extents, type.element_type, space, valid=valid)
        if offsets == (0, 0) and type.get_shape() == extents:
            if result.memory_space is None:
                return source
            return inserter.insert(tile.MoveOp(source, part), source.name_hint)
        return inserter.insert(tile.ExtractOp(source, offsets, part), source.name_hint)

    def _first(self, left: SSAValue, right: SSAValue) -> Operation:
        op = self.op
        match op:
            case tile.MatmulBiasOp():
                return tile.MatmulBiasOp(left, right, op.bias)
            case tile.GemvBiasOp():
                return tile.GemvBiasOp(left, right, op.bias)
            case tile.GemvOp():
                return tile.GemvOp(left, right)
            case _:
                return tile.MatmulOp(left, right)

    def _sum(self, total: SSAValue, left: SSAValue, right: SSAValue) -> Operation:
        if isinstance(self.op, tile.GemvOp | tile.GemvBiasOp | tile.GemvAccOp):
            return tile.GemvAccOp(total, left, right)
        return tile.MatmulAccOp(total, left, right)

    def bring_operands_to_l1(self) -> None:
        """
        Say of operands that are loaded, nobody said where, that they are in L1; move there what the
        vector unit makes.
        """
        placed: dict[SSAValue, SSAValue] = {}
        for value in dict.fromkeys((self.lhs, self.rhs)):
            type = TileType.of(value.type)
            if _is_made_by_vectors(value):
                move = tile.MoveOp(value, tile.MoveOp.moved(type, MemorySpace.MAT))
                hint = None if value.name_hint is None else f"{value.name_hint}_mat"
                placed[value] = Inserter(self.op).insert(move, hint)
            elif type.memory_space is None:
                new = type.with_space(MemorySpace.MAT)
                placed[value] = Rewriter.replace_value_with_new_type(value, new)
        self.lhs, self.rhs = (placed.get(value, value) for value in (self.lhs, self.rhs))

    def erase_moves(self) -> None:
        """Forget the moves of whole operands that nothing uses any more."""
        for move in self.moves:
            if move.parent is not None and not move.result.uses:
                Rewriter.erase_op(move)


def _product_of(op: ProductOp, unit: ProductUnit) -> _Product | None:
    """The product of an op on matrices of constant extents that are in L1, or may be."""
    if isinstance(op, tile.BatchMatmulOp | tile.BatchMatmulAccOp):
        return None
    if isinstance(op, tile.MatmulAccOp) and op.init_cond is not None:
        return None
    operands: list[SSAValue] = []
    moves: list[tile.MoveOp] = []
    for value in (op.lhs, op.rhs):
        owner = value.owner
        if isinstance(owner, tile.MoveOp):
            moves.append(owner)
            value = owner.source
        type = TileType.of(value.type)
        in_l1 = (
            type.memory_space is MemorySpace.MAT
            or (type.memory_space is None and isinstance(value.owner, tile.LoadOp))
            or _is_made_by_vectors(value)
        )
        if not in_l1 or DYNAMIC_INDEX in type.get_shape():
            return None
        operands.append(value)
    lhs, rhs = operands
    return _Product(op, unit, lhs, rhs, moves)


def _is_made_by_vectors(value: SSAValue) -> bool:
    """Whether a tile is in the vector buffer, or will be as the result of its op."""
    space = TileType.of(value.type).memory_space
    return (made_in(value) if space is None else space) is MemorySpace.VEC


def _rounding_for_products(op: ProductOp) -> tile.CastOp | None:
    """The cast of a result to what products read, if it has no other use."""
    users = [use.operation for use in op.results[0].uses]
    if len(users) != 1 or not isinstance(users[0], tile.CastOp):
        return None
    cast = users[0]
    if cast.mode.data is not RoundMode.RINT or byte_width(cast.target_type) != 2:
        return None
    uses = list(cast.result.uses)
    readers = {use.operation for use in uses}
    while any(isinstance(reader, tile.MoveOp) for reader in readers):
        moved = [reader for reader in readers if isinstance(reader, tile.MoveOp)]
        readers -= set(moved)
        readers |= {use.operation for move in moved for use in move.result.uses}
    if not readers or not all(isinstance(reader, ProductOp) for reader in readers):
        return None
    return cast


def _drain_to_l1(product: _Product, blocks: ProductBlocks, cast: tile.CastOp) -> None:
    """Round the product into a tile in L1, block by block."""
    op = product.op
    inserter = Inserter(op)
    result = TileType.of(cast.result.type)
    scratch = TileType(
        result.get_shape(), result.element_type, MemorySpace.MAT, valid=result.valid_shape
    )
    hint = cast.result.name_hint
    drained = inserter.insert(tile.CreateOp(scratch), hint)

    def drain(
        offsets: tuple[Index, Index], part: SSAValue, to: SSAValue, inside: Inserter
    ) -> SSAValue:
        return inside.insert(tile.AssembleOp(part, to, offsets, scratch), hint)

    drained = _for_each_block(product, blocks, drained, drain, inserter)
    for use in list(cast.result.uses):
        # Moves of a tile whose memory was not known bring it to the cube already.
        use.operation.operands[use.index] = drained
    Rewriter.erase_op(cast)
    Rewriter.erase_op(op)


def _store_blocks(product: _Product, blocks: ProductBlocks) -> None:
    """Store the product block by block, where its store stands."""
    op = product.op
    result = op.results[0]
    users = [use.operation for use in result.uses]
    store = users[0] if len(users) == 1 else None
    type = TileType.of(result.type)
    if (
        not isinstance(store, tile.StoreOp)
        or store.parent is not op.parent
        or len(store.window_offsets) != 2
    ):
        size = product.unit.result_bytes(product.rows, product.columns, product.element_bytes)
        raise OpError(
            op,
            f"has a result {type} of {size} bytes, more than acc holds "
            f"({product.unit.accumulator_size}): it can only be stored to a matrix in the block "
            "that computes it, or rounded to nearest even for other products",
            [note(user, "it is used here") for user in users],
        )
    base = store.window_offsets
    atomic = store.atomic.data

    def put(
        offsets: tuple[Index, Index], part: SSAValue, to: SSAValue, inside: Inserter
    ) -> SSAValue:
        place = [add_indices(*pair, inside) for pair in zip(base, offsets, strict=True)]
        stored = tile.StoreOp(part, to, place, atomic=atomic, result_type=store.result.type)
        return inside.insert(stored, store.result.name_hint)

    stored = _for_each_block(product, blocks, store.destination, put, Inserter(store))
    stored.name_hint = store.result.name_hint
    Rewriter.replace_op(store, [], [stored])
    Rewriter.erase_op(op)


_Sink = Callable[[tuple[Index, Index], SSAValue, SSAValue, Inserter], SSAValue]
"""
What takes a block of the result: where the block is, the block, what the blocks before it were
put into, and where to insert; what all of them are in then.
"""


def _for_each_block(
    product: _Product, blocks: ProductBlocks, into: SSAValue, sink: _Sink, inserter: Inserter
) -> SSAValue:
    """Compute each block of the result, and give it to `sink`."""

    def in_rows(
        row: Index, rows: int, values: Sequence[SSAValue], inserter: Inserter
    ) -> Sequence[SSAValue]:
        def in_columns(
            column: Index, columns: int, values: Sequence[SSAValue], inserter: Inserter
        ) -> Sequence[SSAValue]:
            start = row, column
            part = product.block(start, (rows, columns), blocks.depth, inserter)
            return [sink(start, part, values[0], inserter)]

        bounds = 0, product.columns
        return over_blocks(bounds, blocks.columns, values, in_columns, inserter, "column")

    (into,) = over_blocks((0, product.rows), blocks.rows, [into], in_rows, inserter, "row")
    return into
