"""
Taking products of batches of matrices apart: the cube core multiplies one pair at a time.

Each batch is a list of *pages*, its matrices, which are made when they are first asked for:

* what is loaded into L1 lies there as one matrix, page under page, if it fits and if its rows
  follow each other in global memory; its pages are windows of that. Else each page is loaded for
  itself;
* a transposed view of it has its pages side by side;
* a product has a page for each pair of pages, whose batches broadcast. Where all that is done
  with a product is to store it, its pages are multiplied and stored one by one, so that the
  accumulator holds one at a time; else they are moved into one tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import byte_width
from pypto_xdsl.dialects.extents import broadcast_shapes
from pypto_xdsl.dialects.ptensor import TensorLayout
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.rewriting.index_sums import add, is_run_of_rows, row_of
from pypto_xdsl.rewriting.inserter import Inserter

Place = tuple[int, ...]
"""Which matrix of a batch: an index for each of its dimensions."""
MakePage = Callable[[Place, Inserter], SSAValue]


class Pages:
    """The matrices of a batch."""

    def __init__(self, batch: Sequence[int], make: MakePage):
        self.batch = tuple(batch)
        """The extents of the batch; none for a single matrix."""
        self._make = make
        # What is made in one block may not be there in another.
        self._made: dict[tuple[Place, Block], SSAValue] = {}

    def page(self, place: Place, inserter: Inserter) -> SSAValue:
        """A matrix, made at `inserter` if this is the first that asks for it."""
        # Batches broadcast: a batch of extent 1 or without the dimension is used again and again.
        own = place[len(place) - len(self.batch) :]
        own = tuple(0 if extent == 1 else i for i, extent in zip(own, self.batch, strict=True))
        key = (own, inserter.point.block)
        if key not in self._made:
            self._made[key] = self._make(own, inserter)
        return self._made[key]

    @property
    def places(self) -> Sequence[Place]:
        """All places, the last dimension fastest."""
        return tuple(product(*map(range, self.batch)))


def number_of(place: Place, batch: Sequence[int]) -> int:
    """How many matrices of a batch come before one."""
    number = 0
    for index, extent in zip(place, batch, strict=True):
        number = number * extent + index
    return number


def windows(flat: SSAValue, type: TileType, *, side_by_side: bool = False) -> Pages:
    """The pages of a tile of this type, which lie in the matrix `flat`, one below the other."""
    *batch, rows, columns = type.get_shape()
    if prod(batch) == 1:
        return Pages(batch, lambda place, inserter: flat)

    def make(place: Place, inserter: Inserter) -> SSAValue:
        number = number_of(place, batch)
        offsets = (0, number * columns) if side_by_side else (number * rows, 0)
        window = tile.SliceOp.window(TileType.of(flat.type), offsets, (rows, columns))
        return inserter.insert(tile.SliceOp(flat, offsets, window), _hint(flat, "page"))

    return Pages(batch, make)


def _hint(value: SSAValue, suffix: str) -> str | None:
    return None if value.name_hint is None else f"{value.name_hint}_{suffix}"


# Loads.


def load_as_matrix(op: tile.LoadOp) -> SSAValue | None:
    """
    Load what `op` loads as the matrix of its rows, straight from a view of the tensor; None where
    the rows do not follow each other in global memory. Nothing is erased.
    """
    type, tensor = TileType.of(op.result.type), ptensor.tensor_of(op.source.type)
    if not _lies_in_rows(op) or type.valid_shape != type.get_shape():
        return None
    shape = tensor.get_shape()
    if not is_run_of_rows(type.get_shape()[:-1], shape[:-1]):
        return None
    return _load_rows(op, op.window_offsets, type.get_shape(), Inserter(op), op.result.name_hint)


def _lies_in_rows(op: tile.LoadOp) -> bool:
    tensor = ptensor.tensor_of(op.source.type)
    return (
        DYNAMIC_INDEX not in tensor.get_shape()
        and ptensor.layout_of(tensor) is TensorLayout.ND
        and ptensor.explicit_strides_of(tensor) is None
        and ptensor.valid_shape_of(tensor) == tensor.get_shape()
        and not isinstance(op.source.owner, ptensor.SliceOp)
    )


def _load_rows(
    op: tile.LoadOp,
    offsets: Sequence[int | SSAValue],
    shape: Sequence[int],
    inserter: Inserter,
    hint: str | None,
) -> SSAValue:
    """Load consecutive rows of the tensor that `op` loads from."""
    type, tensor = TileType.of(op.result.type), ptensor.tensor_of(op.source.type)
    extents = tensor.get_shape()
    seen = ptensor.tensor_type((prod(extents[:-1]), extents[-1]), tensor.element_type)
    view = inserter.insert(ptensor.LayoutViewOp(op.source, seen), _hint(op.source, "2d"))
    row = row_of(offsets[:-1], extents[:-1], inserter)
    loaded = type.with_shape((prod(shape[:-1]), shape[-1]))
    return inserter.insert(tile.LoadOp(view, (row, offsets[-1]), loaded, cache=op.cache), hint)


def load_page_by_page(op: tile.LoadOp, *, at_op: bool) -> Pages:
    """
    Load each matrix of what `op` loads for itself: at `op`, or where it is used, which needs a
    tensor that does not change.
    """
    type = TileType.of(op.result.type)
    *batch, rows, columns = type.get_shape()
    if type.valid_shape != type.get_shape():
        raise OpError(
            op, f"loads a batch of matrices of which only a part is valid: {type}; load them whole"
        )

    def load(place: Place, inserter: Inserter) -> SSAValue:
        offsets = [
            add(offset, index, inserter)
            for offset, index in zip(op.window_offsets, (*place, 0, 0), strict=True)
        ]
        ones = (1,) * len(batch)
        hint = op.result.name_hint
        if _lies_in_rows(op):
            return _load_rows(op, offsets, (rows, columns), inserter, hint)
        deep = type.with_shape((*ones, rows, columns))
        loaded = inserter.insert(tile.LoadOp(op.source, offsets, deep, cache=op.cache), hint)
        return inserter.insert(tile.ReshapeOp(loaded, deep.with_shape((rows, columns))), hint)

    if not at_op:
        return Pages(batch, lambda place, inserter: load(place, Inserter(op, inserter.point)))
    loaded = {place: load(place, Inserter(op)) for place in product(*map(range, batch))}
    return Pages(batch, lambda place, inserter: loaded[place])


# Products.


def multiplied(
    op: tile.BatchMatmulOp | tile.BatchMatmulAccOp, lhs: Pages, rhs: Pages, acc: Pages | None
) -> Pages:
    """The pages of a product."""
    space = TileType.of(op.result.type).memory_space
    # Where it lives is said of all that control flow makes of it, or of none.
    handed_on = any(not isinstance(use.operation, DeclaredOp) for use in op.result.uses)

    def make(place: Place, inserter: Inserter) -> SSAValue:
        inserter = Inserter(op, inserter.point)
        left, right = lhs.page(place, inserter), rhs.page(place, inserter)
        try:
            if acc is None:
                new = tile.MatmulOp(left, right)
            else:
                new = tile.MatmulAccOp(acc.page(place, inserter), left, right)
        except VerifyException as error:
            raise OpError(op, str(error)) from error
        page = inserter.insert(new, op.result.name_hint)
        total = TileType.of(page.type)
        if total.memory_space is space or (space is None and not handed_on):
            return page
        return Rewriter.replace_value_with_new_type(page, total.with_space(space))

    return Pages(broadcast_shapes(lhs.batch, rhs.batch), make)


def store_pages(op: tile.StoreOp, pages: Pages) -> None:
    """Store a batch of products page by page, in the place of `op`, which is erased."""
    destination: SSAValue = op.destination
    inserter = Inserter(op)
    ranks = len(op.window_offsets), len(pages.batch)
    for place in pages.places:
        page = pages.page(place, inserter)
        type = TileType.of(page.type)
        ones = (1,) * ranks[1]
        deep = type.with_shape((*ones, *type.get_shape()), (*ones, *type.valid_shape))
        shown = inserter.insert(tile.ReshapeOp(page, deep), _hint(page, "nd"))
        moved = (*(0,) * (ranks[0] - ranks[1] - 2), *place, 0, 0)
        offsets = [
            add(offset, index, inserter)
            for offset, index in zip(op.window_offsets, moved, strict=True)
        ]
        destination = inserter.insert(
            tile.StoreOp(
                shown, destination, offsets, atomic=op.atomic.data, result_type=op.result.type
            ),
            op.result.name_hint,
        )
    op.result.replace_all_uses_with(destination)
    block = op.parent_block()
    assert block is not None
    block.erase_op(op)


def gather_pages(inserter: Inserter, pages: Pages, type: TileType, hint: str | None) -> SSAValue:
    """One tile, in the vector buffer, of all pages of a product of this type, below each other."""
    *_, rows, columns = type.get_shape()
    if prod(pages.batch) == 1:
        return pages.page((0,) * len(pages.batch), inserter)
    shape = (prod(pages.batch) * rows, columns)
    whole: SSAValue = inserter.insert(
        tile.CreateOp(TileType(shape, type.element_type, MemorySpace.VEC)), hint
    )
    for number, place in enumerate(pages.places):
        page = pages.page(place, inserter)
        layout = TileType((rows, columns), type.element_type, MemorySpace.VEC).layout
        moved = tile.MoveOp.moved(TileType.of(page.type), MemorySpace.VEC, layout)
        drained = inserter.insert(tile.MoveOp(page, moved), _hint(page, "vec"))
        whole = inserter.insert(tile.AssembleOp(drained, whole, (number * rows, 0)), hint)
    return whole


def exceeds_l1(types: Sequence[TileType], backend: Backend | None) -> bool:
    """Whether tiles do not fit into L1 together."""
    if backend is None:
        return False
    sizes = [prod(type.get_shape()) * byte_width(type.element_type) for type in types]
    return sum(sizes) > backend.memories[MemorySpace.MAT].size
