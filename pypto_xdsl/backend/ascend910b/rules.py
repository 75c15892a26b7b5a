"""
What ops must meet to be instructions of the 910B.

Sources: PTOAS's verifiers for A2/A3, PTO's instruction set, PyPTO's backend checks. Ops that are
taken apart before code is made (`sin`, `batch_matmul`, `scatter_update`) have no rule here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    bf16,
    f16,
    f32,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.backend.ascend910b.casts import CASTS
from pypto_xdsl.backend.ascend910b.memories import MEMORIES, MOVES
from pypto_xdsl.backend.cast_chains import cast_chain
from pypto_xdsl.backend.rule import (
    Check,
    Holds,
    Rule,
    TileRule,
    never,
    one_element_type,
    one_valid_region,
    words,
)
from pypto_xdsl.dialects import orch, tile
from pypto_xdsl.dialects.element_types import UI8, UI16, UI32, bit_width, byte_width
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.ptensor import AtomicKind, CompareMode, PadValue
from pypto_xdsl.dialects.ptensor.types import tensor_of
from pypto_xdsl.dialects.tile import MemorySpace, TileLayout, TileType

_BLOCK = 32
"""The bytes of a block of the vector unit, and of the rows of an unboxed tile."""
_FLAG_WORDS = 256
"""What the flags between cores take."""
_LARGEST_PRODUCT = 4095
"""Of each extent of a matrix product."""

FLOATS: tuple[Attribute, ...] = (f16, f32)
ARITHMETIC: tuple[Attribute, ...] = (i16, i32, f16, f32)
BITWISE: tuple[Attribute, ...] = (i8, i16, UI8, UI16)
SHIFTED: tuple[Attribute, ...] = (i8, i16, i32, UI8, UI16, UI32)
STORED: tuple[Attribute, ...] = (i8, i16, i32, i64, UI8, UI16, UI32, f16, bf16, f32)
GATHERED: tuple[Attribute, ...] = (i16, i32, UI16, UI32, f16, f32)
SCATTERED: tuple[Attribute, ...] = (i8, i16, i32, UI8, UI16, UI32, f16, bf16, f32)
SELECTED: tuple[Attribute, ...] = (i16, i32, UI16, UI32, f16, f32)
MULTIPLIED: tuple[Attribute, ...] = (i8, f16, bf16, f32)
ADDED_ATOMICALLY: tuple[Attribute, ...] = (f32, f16, bf16, i32, i16, i8)

_DTYPES = "element types"
_REGION = Rule("one valid region", one_valid_region)
_ONE_TYPE = Rule("one element type", one_element_type)


def _typed(types: Sequence[Attribute], at: Sequence[str] | None = None) -> Rule:
    return Rule(_DTYPES, Holds(tuple(types), None if at is None else tuple(at)))


# Moves, loads, stores.

DRAINS: tuple[tuple[Attribute, Attribute], ...] = ((f32, f32), (f32, f16), (f32, bf16), (i32, i32))
"""What the accumulator holds, and what it becomes on its way to global memory."""


def _kind_of(op: Operation) -> FunctionKind | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, orch.FuncOp):
        parent = parent.parent_op()
    return None if parent is None else parent.kind.data


_CUBE = (
    MemorySpace.MAT,
    MemorySpace.LEFT,
    MemorySpace.RIGHT,
    MemorySpace.ACC,
    MemorySpace.BIAS,
)


def _legal_move(op: tile.MoveOp) -> Iterator[str]:
    source, result = TileType.of(op.source.type), TileType.of(op.result.type)
    start, end = source.memory_space, result.memory_space
    if start is None or end is None or (start, end) in MOVES:
        return
    crosses = (start in _CUBE) != (end in _CUBE)
    if crosses and _kind_of(op) is FunctionKind.INCORE:
        # The cores of a group pass tiles on through global memory, once kernels are expanded.
        return
    yield f"there is no way from {start} to {end}"


def _accumulator_drain(op: tile.MoveOp) -> Iterator[str]:
    source, result = TileType.of(op.source.type), TileType.of(op.result.type)
    if source.memory_space is not MemorySpace.ACC or result.memory_space is not MemorySpace.MAT:
        return
    if source.element_type != f32 or result.element_type not in (f16, bf16):
        yield (
            f"the accumulator drains into mat from f32 to f16 or bf16, "
            f"not from {source.element_type} to {result.element_type}"
        )


def _bias_row(op: tile.MoveOp) -> Iterator[str]:
    result = TileType.of(op.result.type)
    if result.memory_space is not MemorySpace.BIAS:
        return
    rows, columns = result.get_shape()[-2:]
    if rows != 1:
        yield f"the bias table takes one row, got {rows}"
    if columns != DYNAMIC_INDEX and columns * byte_width(result.element_type) % 64:
        yield f"a row of the bias table is a multiple of 64 bytes, got {result}"
    if result.element_type not in (f32, i32, f16):
        yield f"the bias table holds f32, i32 or f16, got {result.element_type}"


def _loaded_space(op: tile.LoadOp) -> Iterator[str]:
    space = TileType.of(op.result.type).memory_space
    if space not in (None, MemorySpace.VEC, MemorySpace.MAT):
        yield f"global memory is loaded into vec or mat, not {space}"


def _stored(op: tile.StoreOp) -> Iterator[str]:
    source, target = TileType.of(op.source.type), tensor_of(op.destination.type)
    if source.memory_space is MemorySpace.ACC:
        if (source.element_type, target.element_type) not in DRAINS:
            yield (
                f"the accumulator drains f32 to f32, f16 or bf16, and i32 to i32, "
                f"not {source.element_type} to {target.element_type}"
            )
        columns = source.valid_shape[-1]
        if columns > _LARGEST_PRODUCT:
            yield f"the accumulator drains at most {_LARGEST_PRODUCT} columns, got {columns}"
    elif source.memory_space not in (None, MemorySpace.VEC):
        yield f"global memory is written from vec or acc, not {source.memory_space}"
    if op.atomic.data is AtomicKind.ADD and target.element_type not in ADDED_ATOMICALLY:
        yield f"{target.element_type} is not added atomically, {words(ADDED_ATOMICALLY)} is"


# Conversions.


def _cast_pair(op: tile.CastOp) -> Iterator[str]:
    source = TileType.of(op.operand.type).element_type
    target = TileType.of(op.result.type).element_type
    if (source, target) in CASTS:
        return
    by_way_of = cast_chain(CASTS, source, target)
    advice = f"; convert by way of {' and '.join(map(str, by_way_of))}" if by_way_of else ""
    yield f"no instruction converts {source} to {target}{advice}"


# Products.


def _product_extents(op: Any) -> Iterator[str]:
    lhs, rhs = TileType.of(op.lhs.type), TileType.of(op.rhs.type)
    extents = (("m", lhs.valid_shape[0]), ("k", lhs.valid_shape[1]), ("n", rhs.valid_shape[1]))
    for name, extent in extents:
        if extent != DYNAMIC_INDEX and not 1 <= extent <= _LARGEST_PRODUCT:
            yield f"{name} is 1 to {_LARGEST_PRODUCT}, got {extent}"


_PRODUCT = (_typed(MULTIPLIED, ("lhs", "rhs")), Rule("extents of a product", _product_extents))


# Selection, gathering, sorting.


def _compared(op: tile.GatherCompareOp) -> Iterator[str]:
    mode = op.cmp_mode.data
    element_type = TileType.of(op.source.type).element_type
    if mode not in (CompareMode.EQ, CompareMode.GT):
        yield f"elements are compared by eq or gt, not {mode}"
    elif element_type == i32 and mode is not CompareMode.EQ:
        yield f"i32 is compared by eq only, not {mode}"
    if op.count_dtype != i32:
        yield f"the counts have the type of the indices, i32, not {op.count_dtype}"


def _sorted_run(op: tile.MrgsortFormat1Op) -> Iterator[str]:
    source = TileType.of(op.source.type)
    *rows, columns = source.get_shape()
    if prod(rows) != 1:
        yield f"one row is merged, got {source}"
    length = _constant(op.block_len)
    if length is None:
        return
    if length <= 0 or length % 64:
        yield f"a run is a multiple of 64 columns, got {length}"
    elif columns != DYNAMIC_INDEX and columns % (4 * length):
        yield f"{columns} columns are no whole number of groups of four runs of {length}"


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def _shift_count(op: tile.ShlsOp | tile.ShrsOp) -> Iterator[str]:
    count = _constant(op.rhs)
    if count is not None and count < 0:
        yield f"the count is not negative, got {count}"


def _padding(op: tile.FillpadOp | tile.FillpadInplaceOp) -> Iterator[str]:
    if TileType.of(op.source.type).memory_space is not MemorySpace.MAT:
        return
    if op.pad_value.data is not PadValue.ZERO:
        yield f"mat is padded with zero, not {op.pad_value.data}"
    if isinstance(op, tile.FillpadOp):
        yield "mat is padded in place: use tile.fillpad_inplace"


def _event_pipes(op: tile.SyncSrcOp | tile.SyncDstOp) -> Iterator[str]:
    source, target = op.set_pipe.data, op.wait_pipe.data
    if source is target:
        yield f"an event is between two pipes, and {source} is in order by itself"
    elif tile.Pipe.ALL in (source, target):
        yield "an event is between two pipes; for all of them there is tile.bar_all"


def _flag_workspace(op: tile.SetFftsOp) -> Iterator[str]:
    type = tensor_of(op.workspace.type)
    shape = type.get_shape()
    if type.element_type != i64 or len(shape) != 1 or shape[0] < _FLAG_WORDS:
        yield f"the flags between cores are in a row of at least {_FLAG_WORDS} i64, not in {type}"


def _rows_of_vector(op: Any) -> Iterator[str]:
    target, vector = TileType.of(op.target.type), TileType.of(op.vector.type)
    if target.layout.blayout is not TileLayout.ROW_MAJOR:
        yield f"operand 'target' is row_major, got {target}"
    if vector.layout.slayout is not TileLayout.NONE_BOX:
        yield f"operand 'vector' is not in boxes, got {vector}"


def _unary(types: Sequence[Attribute]) -> tuple[Rule, ...]:
    return (_typed(types), _REGION)


def _binary(types: Sequence[Attribute]) -> tuple[Rule, ...]:
    return (_typed(types), _ONE_TYPE, _REGION)


def _expansion(types: Sequence[Attribute]) -> tuple[Rule, ...]:
    return (_typed(types), _ONE_TYPE, Rule("row of an expansion", _rows_of_vector))


def _rule(name: str, check: Callable[[Any], Iterator[str]]) -> Rule:
    checked: Check = check
    return Rule(name, checked)


RULES: dict[type[Operation], tuple[Rule, ...]] = {
    # Two tiles.
    tile.AddOp: _binary(ARITHMETIC),
    tile.SubOp: _binary(ARITHMETIC),
    tile.MulOp: _binary(ARITHMETIC),
    tile.DivOp: _binary(FLOATS),
    tile.MaximumOp: _binary(ARITHMETIC),
    tile.MinimumOp: _binary(ARITHMETIC),
    tile.FmodOp: _binary((f32,)),
    tile.RemOp: _binary((i32, f32)),
    tile.AndOp: _binary(BITWISE),
    tile.OrOp: _binary(BITWISE),
    tile.XorOp: _binary(BITWISE),
    tile.ShlOp: _binary(SHIFTED),
    tile.ShrOp: _binary(SHIFTED),
    tile.PartAddOp: (_typed(ARITHMETIC), _ONE_TYPE),
    tile.PartMulOp: (_typed(ARITHMETIC), _ONE_TYPE),
    tile.PartMaxOp: (_typed(ARITHMETIC), _ONE_TYPE),
    tile.PartMinOp: (_typed(ARITHMETIC), _ONE_TYPE),
    # A tile and a scalar.
    tile.AddsOp: _unary(ARITHMETIC),
    tile.SubsOp: _unary(ARITHMETIC),
    tile.MulsOp: _unary(ARITHMETIC),
    tile.DivsOp: _unary(ARITHMETIC),
    tile.MaximumsOp: _unary(ARITHMETIC),
    tile.MinimumsOp: _unary(ARITHMETIC),
    tile.FmodsOp: _unary((f32,)),
    tile.RemsOp: _unary((i32, f32)),
    tile.LreluOp: _unary(FLOATS),
    tile.AndsOp: _unary(BITWISE),
    tile.OrsOp: _unary(BITWISE),
    tile.XorsOp: _unary(BITWISE),
    tile.ShlsOp: (*_unary(SHIFTED), _rule("shift count", _shift_count)),
    tile.ShrsOp: (*_unary((i16, i32, UI16, UI32)), _rule("shift count", _shift_count)),
    # Three operands.
    tile.AddcOp: (_ONE_TYPE, _REGION),
    tile.SubcOp: (_ONE_TYPE, _REGION),
    tile.AddscOp: (_ONE_TYPE, _REGION),
    tile.SubscOp: (_ONE_TYPE, _REGION),
    tile.PreluOp: _binary(FLOATS),
    # One tile.
    tile.AbsOp: _unary(FLOATS),
    tile.ExpOp: _unary(FLOATS),
    tile.LogOp: _unary(FLOATS),
    tile.NegOp: _unary(ARITHMETIC),
    tile.NotOp: _unary((i16, UI16)),
    tile.RecipOp: _unary(FLOATS),
    tile.ReluOp: _unary((i32, f16, f32)),
    tile.SqrtOp: _unary(FLOATS),
    tile.RsqrtOp: _unary(FLOATS),
    tile.CastOp: (_rule("native conversion", _cast_pair),),
    # Reductions and expansions.
    **{
        op: (_typed(ARITHMETIC),)
        for op in (
            tile.RowSumOp,
            tile.RowMaxOp,
            tile.RowMinOp,
            tile.RowProdOp,
            tile.RowArgmaxOp,
            tile.RowArgminOp,
            tile.ColSumOp,
            tile.ColMaxOp,
            tile.ColMinOp,
            tile.ColProdOp,
        )
    },
    tile.ColArgmaxOp: (_typed(FLOATS),),
    tile.ColArgminOp: (_typed(FLOATS),),
    **{
        op: _expansion(ARITHMETIC)
        for op in (
            tile.RowExpandAddOp,
            tile.RowExpandSubOp,
            tile.RowExpandMulOp,
            tile.RowExpandMaxOp,
            tile.RowExpandMinOp,
            tile.ColExpandAddOp,
            tile.ColExpandSubOp,
            tile.ColExpandMulOp,
            tile.ColExpandMaxOp,
            tile.ColExpandMinOp,
        )
    },
    **{
        op: _expansion(FLOATS)
        for op in (
            tile.RowExpandDivOp,
            tile.RowExpandExpdifOp,
            tile.ColExpandDivOp,
            tile.ColExpandExpdifOp,
        )
    },
    tile.RowExpandVectorOp: _expansion(SCATTERED),
    tile.ColExpandVectorOp: _expansion(SCATTERED),
    tile.ExpandsOp: (
        Rule("instruction set", never("there is no such instruction; tile.full makes the tile")),
    ),
    # Comparison and selection.
    tile.CmpOp: (_typed((i32, f16, f32), ("lhs", "rhs")),),
    tile.CmpsOp: (_typed(ARITHMETIC, ("lhs",)),),
    tile.SelOp: (_typed(SELECTED, ("lhs", "rhs")),),
    tile.SelsOp: (_typed(SELECTED, ("source",)),),
    tile.GatherCompareOp: (
        _typed((f16, f32, i32), ("source",)),
        _rule("comparison", _compared),
    ),
    # Gathering, scattering, sorting.
    tile.GatherOp: (_typed(GATHERED, ("source",)), _typed((i32,), ("indices",))),
    tile.GatherMaskOp: (_typed((*GATHERED, bf16), ("source",)),),
    tile.GatherbOp: (_typed(SCATTERED, ("source",)),),
    tile.ScatterOp: (_typed(SCATTERED, ("source",)),),
    tile.ScatterMaskOp: (_typed(SCATTERED, ("source",)),),
    tile.MgatherOp: (_typed(SCATTERED, ("result",)),),
    tile.MscatterOp: (_typed(SCATTERED, ("source",)),),
    tile.MrgsortFormat1Op: (_rule("sorted runs", _sorted_run),),
    # Matrix products.
    tile.MatmulOp: _PRODUCT,
    tile.MatmulAccOp: _PRODUCT,
    tile.MatmulBiasOp: _PRODUCT,
    tile.GemvOp: _PRODUCT,
    tile.GemvAccOp: _PRODUCT,
    tile.GemvBiasOp: _PRODUCT,
    # Fills.
    tile.FullOp: (_typed((*ARITHMETIC, bf16, UI16, UI32)),),
    tile.CiOp: (_typed((i16, i32, UI16, UI32)),),
    tile.FillpadOp: (_typed(SCATTERED), _rule("padding of L1", _padding)),
    tile.FillpadInplaceOp: (_typed(SCATTERED), _rule("padding of L1", _padding)),
    tile.FillpadExpandOp: (_typed(SCATTERED),),
    # Memory.
    tile.LoadOp: (_typed(STORED), _rule("ways between memories", _loaded_space)),
    tile.StoreOp: (_rule("ways between memories", _stored),),
    tile.MoveOp: (
        _rule("ways between memories", _legal_move),
        _rule("drain of the accumulator", _accumulator_drain),
        _rule("bias table", _bias_row),
    ),
    tile.ConcatOp: (_typed((i8, i16, i32, f16, f32, bf16)),),
    # Synchronization.
    tile.SyncSrcOp: (_rule("pipes of an event", _event_pipes),),
    tile.SyncDstOp: (_rule("pipes of an event", _event_pipes),),
    tile.SetFftsOp: (_rule("flags between cores", _flag_workspace),),
}
"""Op class -> what it must meet."""


# Every tile.


def _existing_elements(type: TileType) -> Iterator[str]:
    if type.element_type not in STORED:
        yield f"a tile holds {words(STORED)}, got {type}"


def _whole_blocks(type: TileType) -> Iterator[str]:
    """A tile consists of whole blocks, or of whole boxes."""
    shape, layout = type.get_shape(), type.layout
    if type.memory_space is None or len(shape) > 2 or DYNAMIC_INDEX in shape:
        return
    # A vector lies in one row.
    rows, columns = (1, *shape)[-2:]
    width = byte_width(type.element_type)
    if layout.slayout is TileLayout.NONE_BOX:
        row_major = layout.blayout is TileLayout.ROW_MAJOR
        line, what = (columns, "row") if row_major else (rows, "column")
        if line * width % _BLOCK:
            yield (
                f"each {what} of a tile is a multiple of {_BLOCK} bytes, "
                f"got {line * width} in {type}"
            )
        return
    box_rows, box_columns = box(type)
    if columns % box_columns:
        yield f"the columns of boxes of {box_rows}x{box_columns} divide those of {type}"
    if rows % box_rows and rows != 1 and type.memory_space is not MemorySpace.VEC:
        yield f"the rows of boxes of {box_rows}x{box_columns} divide those of {type}"


def box(type: TileType) -> tuple[int, int]:
    """The rows and columns of a box of a tile in boxes."""
    if type.layout.fractal == 1024:
        return 16, 16
    other = _BLOCK * 8 // bit_width(type.element_type)
    return (16, other) if type.layout.slayout is TileLayout.ROW_MAJOR else (other, 16)


def _fits(type: TileType) -> Iterator[str]:
    memory = MEMORIES.get(type.memory_space) if type.memory_space is not None else None
    shape = type.get_shape()
    if memory is None or DYNAMIC_INDEX in shape:
        return
    size = prod(shape) * byte_width(type.element_type)
    if size > memory.size:
        yield f"{type} takes {size} bytes, {type.memory_space} has {memory.size}"


TILE_RULES: tuple[TileRule, ...] = (
    TileRule(_DTYPES, _existing_elements),
    TileRule("whole blocks", _whole_blocks),
    TileRule("size of a memory", _fits),
)
"""What every tile in a kernel must meet."""
