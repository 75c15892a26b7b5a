"""
What becomes of ops on whole tensors that pick and place elements by index.

The vector unit gathers from one tile by flat indices. So a gather goes row by row of its index:
the part of the source that a row can reach is loaded, unless all of it is on chip, and the rows of
the result are put together:

    %out = ptensor.gather %inp, %idx : tensor<4x16xf32>, tensor<4x8xi32> -> tensor<4x8xf32>

    %acc = tile.create : !tile.tile<4x8xf32>
    %out = scf.for %i = 0 to 4 step 1 iter_args(%a = %acc) {
      %inp_row = tile.load %inp[%i, 0] : tensor<4x16xf32> -> !tile.tile<1x16xf32>
      %idx_row = tile.load %idx[%i, 0] : tensor<4x8xi32> -> !tile.tile<1x8xi32>
      %row = tile.gather %inp_row, %idx_row, %tmp : ...
      %next = tile.assemble %row, %a[%i, 0] : ...
      scf.yield %next
    }

A scatter clears its destination first, so that it is done twice, once with the elements and once
with ones: where the ones are, the elements are taken, and what was there elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    BoolAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    bf16,
    f16,
    f32,
    i16,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.element_types import UI8, ElementType, byte_width
from pypto_xdsl.dialects.ptensor import (
    CompareMode,
    CompareModeAttr,
    RoundMode,
    valid_shape_of,
)
from pypto_xdsl.dialects.ptensor.gather import normalized_axis
from pypto_xdsl.dialects.tile import Layout, MemorySpace, TileLayout, TileType
from pypto_xdsl.rewriting.counted_loops import constant, over_rows
from pypto_xdsl.rewriting.index_sums import multiply, row_of
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.rewriting.loaded_windows import is_reshaped_window, load_tensor
from pypto_xdsl.rewriting.tensor_parts import Parts, reshaped
from pypto_xdsl.rewriting.tensor_to_tile import tile_type_of
from pypto_xdsl.rewriting.tile_merges import brought_to
from pypto_xdsl.syntax.lists import Index

_Put = Callable[[SSAValue, SSAValue], Operation]
"""Puts a tile, the second, into places of another one."""

_LARGEST_I16 = 1 << 15
_COUNTS_IN_BLOCK = 8
"""How many i32 there are in a block of 32 bytes, of which rows consist on every target."""
_NOT_EQUAL = CompareModeAttr(CompareMode.NE)


def gather(
    op: ptensor.GatherOp, tiles: Mapping[SSAValue, SSAValue], inserter: Inserter
) -> SSAValue:
    """
    Gather from tiles, or from global memory what is not in `tiles`, as `op` does from tensors.

    Raises `OpError` at `op` where only a part of the index is valid, or extents are known at run
    time only.
    """
    _expect_constant_extents(op, op.source)
    _expect_whole(op, op.index)
    source = _tensor(op.source)
    *outer, columns = _tensor(op.index).get_shape()
    rank = source.get_num_dims()
    axis = normalized_axis(op.dim, rank)
    shape = source.get_shape()
    loaded = {
        value: load_tensor(value, None, op, inserter)
        for value in dict.fromkeys((op.source, op.index))
        if value not in tiles and (_is_partly_valid(value) or is_reshaped_window(value))
    }
    tiles = {**tiles, **loaded}
    on_chip = tiles.get(op.source)
    if on_chip is not None and _is_partly_valid(op.source):
        # What is not valid is not loaded, but may be picked: it is not defined then.
        on_chip = brought_to(on_chip, TileType.of(on_chip.type).with_valid(None), inserter)
    parts = Parts(tiles)
    result = tile_type_of(op.result.type, op)
    hint = op.result.name_hint
    acc = inserter.insert(tile.CreateOp(result.with_shape((prod(outer), columns))), hint)
    everything = None if on_chip is None else reshaped(on_chip, (1, prod(shape)), inserter)

    def row(indices: tuple[SSAValue, ...], carried: SSAValue, inside: Inserter) -> SSAValue:
        line = (*(1 for _ in outer), columns)
        index = parts.part(op.index, (*indices, 0), line, inside, _hint(op.index, "row"))
        index = _as(reshaped(index, (1, columns), inside), i32, inside)
        others = [0 if place == axis else i for place, i in enumerate(indices)]
        if everything is None:
            # All that the row can reach: the axis, and its own columns.
            reach = (*(shape[p] if p == axis else 1 for p in range(rank - 1)), shape[-1])
            elements = parts.part(op.source, (*others, 0), reach, inside, _hint(op.source, "row"))
            elements = reshaped(elements, (1, prod(reach)), inside)
            step, start = shape[-1], 0
        else:
            elements = everything
            step = prod(shape[axis + 1 :])
            start = multiply(row_of(others, shape[:-1], inside), shape[-1], inside)
        if axis != rank - 1:
            if step != 1:
                index = inside.insert(tile.MulsOp(index, constant(step, inside, i32)), "flat")
            if columns > 1:
                index = inside.insert(tile.AddOp(index, _count(columns, inside)), "flat")
        if start != 0:
            assert isinstance(start, SSAValue)
            offset = inside.insert(arith.IndexCastOp(start, i32))
            index = inside.insert(tile.AddsOp(index, offset), "flat")
        scratch = inside.insert(tile.CreateOp(TileType.of(index.type)), "tmp")
        picked = inside.insert(tile.GatherOp(elements, index, scratch), "row")
        number = row_of(indices, outer, inside)
        return inside.insert(tile.AssembleOp(picked, carried, (number, 0)), hint)

    try:
        return reshaped(over_rows(outer, acc, row, inserter), result.get_shape(), inserter)
    except VerifyException as error:
        raise OpError(op, f"does not fit 'tile.gather': {error}") from error


def create_l1(
    op: ptensor.CreateL1Op, tiles: Mapping[SSAValue, SSAValue], inserter: Inserter
) -> SSAValue:
    """Make a tile in L1, as `op` makes a tensor there."""
    return inserter.insert(tile.CreateOp(_in_l1(op, op.transpose)), op.result.name_hint)


def gather_row(
    op: ptensor.GatherRowOp, tiles: Mapping[SSAValue, SSAValue], inserter: Inserter
) -> SSAValue:
    """Load a window of a tensor into a tile; raises `OpError` at `op` where it is on chip."""
    _expect_in_global_memory(op, tiles, op.source)
    try:
        new = tile.GatherRowOp(
            tiles[op.destination],
            op.target_offsets,
            op.source,
            op.window_offsets,
            op.window,
            op.valid_extents,
            transpose=bool(op.transpose.value.data),
        )
        new.verify_()
    except VerifyException as error:
        raise OpError(op, f"does not fit 'tile.gather_row': {error}") from error
    return inserter.insert(new, op.result.name_hint)


def paged_gather(
    op: ptensor.PagedGatherOp, tiles: Mapping[SSAValue, SSAValue], inserter: Inserter
) -> SSAValue:
    """
    Load rows of a paged cache one by one, straight to L1; raises `OpError` at `op` where the cache
    or what says which rows is on chip.
    """
    for value in (op.source, op.indices, op.block_table):
        _expect_in_global_memory(op, tiles, value)
    index, table = _tensor(op.indices), _tensor(op.block_table)
    if index.get_num_dims() != 1 or table.get_num_dims() != 1:
        raise OpError(op, "takes its indices and its page table as vectors: reshape them to lines")
    turned, size = bool(op.is_trans.value.data), op.size.value.data
    page = constant(op.block_size.value.data, inserter)
    acc = inserter.insert(tile.CreateOp(_in_l1(op, op.is_trans)), op.result.name_hint)
    count: Index = min(index.get_shape()[0], op.max_indices.value.data)
    if count == DYNAMIC_INDEX:
        extent = inserter.insert(ptensor.DimOp(op.indices, 0), "count")
        most = constant(op.max_indices.value.data, inserter)
        count = inserter.insert(arith.MinSIOp(extent, most), "count")

    def row(indices: tuple[SSAValue, ...], carried: SSAValue, inside: Inserter) -> SSAValue:
        (place,) = indices
        logical = _read_index(op.indices, place, inside)
        number = inside.insert(arith.DivSIOp(logical, page), "page")
        first = _read_index(op.block_table, number, inside)
        start = inside.insert(arith.MuliOp(first, page))
        within = inside.insert(arith.RemSIOp(logical, page))
        physical = inside.insert(arith.AddiOp(start, within), "physical")
        into = (0, place) if turned else (place, 0)
        gathered = tile.GatherRowOp(
            carried,
            into,
            op.source,
            (physical, op.col_off.value.data),
            (1, size),
            transpose=turned,
        )
        return inside.insert(gathered, op.result.name_hint)

    return over_rows((count,), acc, row, inserter)


def _read_index(tensor: SSAValue, place: SSAValue, inserter: Inserter) -> SSAValue:
    """An element of a vector of numbers in global memory."""
    number = inserter.insert(ptensor.ReadOp(tensor, (place,)))
    return inserter.insert(arith.IndexCastOp(number, IndexType()))


def _in_l1(op: ptensor.CreateL1Op | ptensor.PagedGatherOp, transposed: BoolAttr) -> TileType:
    """The tile in L1 for a result; transposed as the right operand of a product is."""
    type = tile_type_of(op.result.type, op).with_space(MemorySpace.MAT)
    if not transposed.value.data:
        return type
    return type.with_layout(Layout(TileLayout.ROW_MAJOR, TileLayout.COL_MAJOR, type.layout.fractal))


def _expect_in_global_memory(
    op: Operation, tiles: Mapping[SSAValue, SSAValue], value: SSAValue
) -> None:
    if value in tiles or isinstance(value.type, TileType):
        raise OpError(op, "takes rows from a computed tensor, which exists on chip only")


def scatter(
    op: ptensor.ScatterOp, tiles: Mapping[SSAValue, SSAValue], inserter: Inserter
) -> SSAValue:
    """Put elements at columns of each row, as `op` does; raises `OpError` as `gather` does."""
    _expect_all_whole(op, (op.destination, op.index, op.source))
    destination, index = tiles[op.destination], tiles[op.index]
    rows, columns = TileType.of(destination.type).get_shape()
    flat = _as(index, i32, inserter)
    if rows > 1:
        flat = inserter.insert(tile.AddOp(flat, _row_starts(flat, columns, inserter)), "flat")
    return _place(op, destination, tiles[op.source], flat, inserter)


def scatter_update(
    op: ptensor.ScatterUpdateOp, tiles: Mapping[SSAValue, SSAValue], inserter: Inserter
) -> SSAValue:
    """Replace rows, as `op` does; raises `OpError` as `gather` does."""
    _expect_all_whole(op, (op.destination, op.index, op.source))
    return _update_rows(op, tiles[op.destination], tiles[op.index], tiles[op.source], inserter)


def update_rows(op: tile.ScatterUpdateOp, inserter: Inserter) -> SSAValue:
    """Replace rows of a tile, likewise."""
    _expect_all_whole(op, op.operands)
    return _update_rows(op, op.destination, op.indices, op.source, inserter)


def _update_rows(
    op: Operation,
    destination: SSAValue,
    indices: SSAValue,
    source: SSAValue,
    inserter: Inserter,
) -> SSAValue:
    type = TileType.of(destination.type)
    *outer, columns = type.get_shape()
    if byte_width(type.element_type) == 1 and columns % 2 == 0:
        # Elements of one byte are not selected; rows are moved as wholes.
        into, given = (_read_as(value, i16, inserter) for value in (destination, source))
        result = _update_rows(op, into, indices, given, inserter)
        return _read_as(result, type.element_type, inserter)
    count = prod(TileType.of(source.type).get_shape()[:-1])
    if prod(TileType.of(indices.type).get_shape()) != count:
        raise OpError(op, f"lists other rows than the {count} of {source.type}: {indices.type}")
    index = _as(reshaped(indices, (1, count), inserter), i32, inserter)
    starts = reshaped(index, (count, 1), inserter)
    starts = inserter.insert(tile.MulsOp(starts, constant(columns, inserter, i32)), "starts")
    shape = inserter.insert(tile.CreateOp(TileType((count, columns), i32)), "shape")
    if columns > 1:
        along = inserter.insert(tile.ColExpandVectorOp(shape, _count(columns, inserter)), "along")
        flat: SSAValue = inserter.insert(tile.RowExpandAddOp(along, starts), "flat")
    else:
        flat = starts
    matrix = reshaped(destination, (prod(outer), columns), inserter)
    result = _place(op, matrix, reshaped(source, (count, columns), inserter), flat, inserter)
    return reshaped(result, type.get_shape(), inserter)


def scatter_mask(
    op: ptensor.ScatterMaskOp, tiles: Mapping[SSAValue, SSAValue], inserter: Inserter
) -> SSAValue:
    """Put columns where a pattern selects, as `op` does; raises `OpError` as `gather` does."""
    _expect_whole(op, op.destination)
    _expect_whole(op, op.source)
    destination, source = tiles[op.destination], tiles[op.source]

    def put(target: SSAValue, what: SSAValue) -> Operation:
        pattern = {"mask_pattern": op.mask_pattern}
        return tile.ScatterMaskOp(target, what, properties=pattern)

    return _blend(op, destination, source, put, inserter)


def _expect_all_whole(op: Operation, values: Iterable[SSAValue]) -> None:
    for value in values:
        _expect_whole(op, value)


def _place(
    op: Operation,
    destination: SSAValue,
    source: SSAValue,
    flat: SSAValue,
    inserter: Inserter,
) -> SSAValue:
    """Put each element of a matrix where the flat index of it says."""
    type = TileType.of(destination.type)
    if byte_width(type.element_type) < 4:
        size = prod(type.get_shape())
        if size > _LARGEST_I16:
            raise OpError(
                op, f"places elements in {type}, but an i16 counts no more than {_LARGEST_I16}"
            )
        flat = _as(flat, i16, inserter)

    def put(target: SSAValue, what: SSAValue) -> Operation:
        return tile.ScatterOp(target, what, flat)

    return _blend(op, destination, source, put, inserter)


def _blend(
    op: Operation, destination: SSAValue, source: SSAValue, put: _Put, inserter: Inserter
) -> SSAValue:
    """The destination with what `put` puts there."""
    type = TileType.of(destination.type)
    if type.element_type == bf16:
        # The vector unit selects among others, and of these the bytes alone matter.
        into, bits = (_read_as(value, i16, inserter) for value in (destination, source))
        return _read_as(_blend(op, into, bits, put, inserter), bf16, inserter)
    given = TileType.of(source.type)
    marks: dict[int, ElementType] = {4: f32, 2: f16}
    mark = marks.get(byte_width(type.element_type))
    if mark is None:
        raise OpError(
            op, f"places elements of {type.element_type}, but those of 2 or 4 bytes are placed"
        )
    # What is placed in has no fewer rows than what is placed: those behind stay empty.
    rows, *inner = type.get_shape()
    large = type.with_shape((max(rows, given.get_shape()[0]), *inner))

    def placed(what: SSAValue, names: tuple[str, str]) -> SSAValue:
        element = TileType.of(what.type).element_type
        nothing = _full(0, large.with_element_type(element), inserter, names[0])
        result = inserter.insert(put(nothing, what), names[1])
        if large == type:
            return result
        first = type.with_element_type(element)
        return inserter.insert(tile.SliceOp(result, (0, 0), first), names[1])

    try:
        values = placed(source, ("nothing", "values"))
        ones = _full(1, given.with_element_type(mark), inserter, "ones")
        marked = placed(ones, ("unmarked", "marked"))
        zero = _number(0, mark, inserter)
        taken = tile.CmpsOp(marked, zero, properties={"cmp_type": _NOT_EQUAL})
        mask = inserter.insert(taken, "mask")
        scratch = inserter.insert(tile.CreateOp(TileType((1, 32), UI8)), "tmp")
        return inserter.insert(
            tile.SelOp(mask, values, destination, scratch), op.results[0].name_hint
        )
    except VerifyException as error:
        raise OpError(op, f"does not fit the vector unit: {error}") from error


def expand_clone(
    op: ptensor.ExpandCloneOp, tiles: Mapping[SSAValue, SSAValue], inserter: Inserter
) -> SSAValue:
    """
    Write a stretched tensor of three dimensions to global memory, as `op` does; the result is the
    tensor's next name.
    """
    _expect_whole(op, op.source)
    source, target = (_tensor(value) for value in (op.source, op.target))
    shape, wanted = source.get_shape(), target.get_shape()
    if DYNAMIC_INDEX in wanted:
        raise OpError(op, f"fills {target}, whose extents are known at run time only")
    axis = next((i for i in range(3) if shape[i] != wanted[i]), None)
    parts = Parts(tiles)
    hint = op.result.name_hint

    def store(what: SSAValue, into: SSAValue, first: SSAValue | int, where: Inserter) -> SSAValue:
        what = _as(what, target.element_type, where)
        return where.insert(tile.StoreOp(what, into, (first, 0, 0)), hint)

    def whole(where: Inserter) -> SSAValue:
        return parts.part(op.source, (0, 0, 0), shape, where, _hint(op.source, "tile"))

    if axis is None:
        return store(whole(inserter), op.target, 0, inserter)
    if axis == 0:
        loaded = whole(inserter)
        return over_rows(
            wanted[:1],
            op.target,
            lambda indices, carried, inside: store(loaded, carried, indices[0], inside),
            inserter,
        )
    if axis == 1:

        def page(indices: tuple[SSAValue, ...], into: SSAValue, inside: Inserter) -> SSAValue:
            corner = (indices[0], 0, 0)
            row = parts.part(op.source, corner, (1, 1, shape[2]), inside, _hint(op.source, "row"))
            type = TileType.of(row.type).with_shape((1, *wanted[1:]))
            like = inside.insert(tile.CreateOp(type), "shape")
            stretched = inside.insert(tile.ColExpandVectorOp(like, row), "page")
            return store(stretched, into, indices[0], inside)

        return over_rows(wanted[:1], op.target, page, inserter)
    column = whole(inserter)
    like = inserter.insert(tile.CreateOp(tile_type_of(op.target.type, op)), "shape")
    if TileType.of(column.type).element_type != TileType.of(like.type).element_type:
        column = _as(column, target.element_type, inserter)
    return store(
        inserter.insert(tile.RowExpandVectorOp(like, column), "pages"), op.target, 0, inserter
    )


def _tensor(value: SSAValue) -> TensorType[Attribute]:
    """The type of a tensor; what control flow hands on is the tile for it already."""
    if isinstance(value.type, TileType):
        type = value.type
        return ptensor.tensor_type(type.get_shape(), type.element_type, valid=type.valid_shape)
    return ptensor.tensor_of(value.type)


def _expect_constant_extents(op: Operation, value: SSAValue) -> None:
    tensor = _tensor(value)
    if DYNAMIC_INDEX in tensor.get_shape():
        raise OpError(op, f"takes {tensor}, whose extents are known at run time only")


def _is_partly_valid(value: SSAValue) -> bool:
    tensor = _tensor(value)
    return valid_shape_of(tensor) != tensor.get_shape()


def _expect_whole(op: Operation, value: SSAValue) -> None:
    _expect_constant_extents(op, value)
    if _is_partly_valid(value):
        raise OpError(
            op, f"takes {value.type}, of which only a part is valid; take a slice of that"
        )


def _hint(value: SSAValue, suffix: str) -> str | None:
    return None if value.name_hint is None else f"{value.name_hint}_{suffix}"


def _count(extent: int, inserter: Inserter) -> SSAValue:
    """0, 1, 2, ... in a row."""
    return inserter.insert(
        tile.CiOp(constant(0, inserter, i32), TileType((1, extent), i32)), "count"
    )


def _row_starts(like: SSAValue, step: int, inserter: Inserter) -> SSAValue:
    """0 in the first row of a matrix like another one, `step` in the second, and so on."""
    rows, columns = TileType.of(like.type).get_shape()
    # The rows of what is counted in have to be whole blocks, be it a column or all of them.
    if rows % _COUNTS_IN_BLOCK == 0:
        starts = reshaped(_count(rows, inserter), (rows, 1), inserter)
        starts = inserter.insert(tile.MulsOp(starts, constant(step, inserter, i32)), "starts")
        return inserter.insert(tile.RowExpandVectorOp(like, starts), "starts")
    numbers = reshaped(_count(rows * columns, inserter), (rows, columns), inserter)
    numbers = inserter.insert(tile.DivsOp(numbers, constant(columns, inserter, i32)), "numbers")
    return inserter.insert(tile.MulsOp(numbers, constant(step, inserter, i32)), "starts")


def _as(value: SSAValue, type: Attribute, inserter: Inserter) -> SSAValue:
    """A tile in another element type."""
    if TileType.of(value.type).element_type == type:
        return value
    return inserter.insert(tile.CastOp(value, type, RoundMode.RINT), value.name_hint)


def _read_as(value: SSAValue, type: ElementType, inserter: Inserter) -> SSAValue:
    """The bytes of a tile as elements of another type."""
    read = tile.ReinterpretViewOp.reinterpreted(TileType.of(value.type), type)
    return inserter.insert(tile.ReinterpretViewOp(value, read), value.name_hint)


def _number(value: int, type: ElementType, inserter: Inserter) -> SSAValue:
    if isinstance(type, AnyFloat):
        return inserter.insert(arith.ConstantOp(FloatAttr(value, type)))
    # Constants have no sign.
    plain = IntegerType(8 * byte_width(type))
    number = inserter.insert(arith.ConstantOp(IntegerAttr(value, plain)))
    return number if plain == type else inserter.insert(arith.BitcastOp(number, type))


def _full(value: int, type: TileType, inserter: Inserter, hint: str) -> SSAValue:
    return inserter.insert(tile.FullOp(_number(value, type.element_type, inserter), type), hint)
