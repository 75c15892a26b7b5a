"""Views of global memory, the tiles that are allocated, and the views of tiles.

Views compute no data. Those of tiles are other names for the same bytes; `alloc_tile` makes the
bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.attributes import LayoutAttr
from pypto_xdsl.dialects.pto.declaration import (
    OperandConstraint,
    PropertyConstraint,
    PtoOp,
    Role,
    declare,
    has_integer_type,
    word,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Compact, Pipe, SLayout
from pypto_xdsl.dialects.pto.literals import parse_integer
from pypto_xdsl.dialects.pto.operands import (
    GM_VIEW_TYPES,
    I64,
    INDEX,
    POINTER,
    VIEW_TILE,
)
from pypto_xdsl.dialects.pto.rules import constant_value, dtype_name, shape_text
from pypto_xdsl.dialects.pto.syntax import (
    FormattedOp,
    Grammar,
    build,
    grammar_of,
    parse_operand_list,
    parse_type_of,
    print_attributes,
)
from pypto_xdsl.dialects.pto.types import (
    DYNAMIC,
    MultiTileBufType,
    PartitionTensorViewType,
    PtrType,
    TensorViewType,
    TileBufType,
    element_bytes,
)

INDEX_TYPE = IndexType()
TENSOR_VIEW = OperandConstraint((TensorViewType,), Role.VIEW, "a !pto.tensor_view")
ANY_GM_VIEW = OperandConstraint(GM_VIEW_TYPES, Role.VIEW, "a view of global memory")
MULTI_TILE = OperandConstraint((MultiTileBufType,), Role.VIEW, "a !pto.multi_tile_buf")

BLOCK_BYTES = 32
"""A core's memories are addressed in blocks of this size."""

ADDRESS_ALIGNMENT = {
    AddressSpace.VEC: BLOCK_BYTES,
    AddressSpace.MAT: BLOCK_BYTES,
    AddressSpace.BIAS: BLOCK_BYTES,
    AddressSpace.SCALING: BLOCK_BYTES,
    AddressSpace.LEFT: 512,
    AddressSpace.RIGHT: 512,
    AddressSpace.ACC: 512,
}
"""What the byte address of a tile in each memory is a multiple of."""


def parse_index_list(parser: Parser, keyword: str) -> list[UnresolvedOperand]:
    """`shape = [%a, %b]`"""
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )


def resolve_indices(parser: Parser, names: Sequence[UnresolvedOperand]) -> list[SSAValue]:
    """The index values of these names."""
    return [parser.resolve_operand(name, INDEX_TYPE) for name in names]


class MakeTensorViewBase(PtoOp):
    """A tensor in global memory, from its first element, shape and strides (in elements)"""

    traits = traits_def(Pure())
    ALIASES: ClassVar[str | None] = "ptr"

    ptr = operand_def(POINTER)
    shape = var_operand_def(INDEX)
    strides = var_operand_def(INDEX)
    layout = opt_prop_def(word(LayoutAttr))
    result = result_def(TensorViewType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        shape = parse_index_list(parser, "shape")
        parser.parse_punctuation(",")
        strides = parse_index_list(parser, "strides")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        result = parse_type_of(parser, TensorViewType)
        values = {
            "ptr": parser.resolve_operand(ptr, PtrType(result.element_type)),
            "shape": resolve_indices(parser, shape),
            "strides": resolve_indices(parser, strides),
        }
        return build(cls, values, attributes, (result,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.ptr)
        printer.print_string(", shape = [")
        printer.print_list(self.shape, printer.print_ssa_value)
        printer.print_string("], strides = [")
        printer.print_list(self.strides, printer.print_ssa_value)
        printer.print_string("]")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        super().verify_()
        pointer = self.ptr.type
        assert isinstance(pointer, PtrType)
        view = self.result.type
        if pointer.element_type != view.element_type:
            raise VerifyException(
                "ptr element type must match tensor_view element type, but got "
                f"ptr={pointer.element_type} view={view.element_type}"
            )
        rank = view.get_num_dims()
        if len(self.shape) != rank or len(self.strides) != rank:
            raise VerifyException(
                f"shape/strides operand counts must match tensor_view rank={rank}, "
                f"got {len(self.shape)} and {len(self.strides)}"
            )


MakeTensorViewOp = declare(
    MakeTensorViewBase,
    "MakeTensorViewOp",
    "make_tensor_view",
    "a view of the tensor that starts at ptr",
)


class PartitionViewBase(PtoOp):
    """A window of a tensor view"""

    # What lies outside is an error where the program looks at it, and nowhere else: not `Pure`.
    traits = traits_def(NoMemoryEffect())
    ALIASES: ClassVar[str | None] = "source"

    source = operand_def(TENSOR_VIEW)
    offsets = var_operand_def(INDEX)
    sizes = var_operand_def(INDEX)
    result = result_def(PartitionTensorViewType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @staticmethod
    def result_type(source: TensorViewType, sizes: Sequence[SSAValue]) -> PartitionTensorViewType:
        """The type of a window of these sizes: static where they are constants."""
        known = (constant_value(size) for size in sizes)
        shape = [DYNAMIC if size is None or size < 0 else size for size in known]
        return PartitionTensorViewType(shape, source.element_type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offsets = parse_index_list(parser, "offsets")
        parser.parse_punctuation(",")
        sizes = parse_index_list(parser, "sizes")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source_type = parse_type_of(parser, TensorViewType)
        extents = resolve_indices(parser, sizes)
        values = {
            "source": parser.resolve_operand(source, source_type),
            "offsets": resolve_indices(parser, offsets),
            "sizes": extents,
        }
        if parser.parse_optional_punctuation("->") is not None:
            result = parse_type_of(parser, PartitionTensorViewType)
        else:
            result = cls.result_type(source_type, extents)
        return build(cls, values, attributes, (result,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(", offsets = [")
        printer.print_list(self.offsets, printer.print_ssa_value)
        printer.print_string("], sizes = [")
        printer.print_list(self.sizes, printer.print_ssa_value)
        printer.print_string("]")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        super().verify_()
        source, result = self.source.type, self.result.type
        assert isinstance(source, TensorViewType)
        if source.element_type != result.element_type:
            raise VerifyException(
                "element type mismatch between source and result: "
                f"src={source.element_type} result={result.element_type}"
            )
        rank = source.get_num_dims()
        for what, values in (("offset", self.offsets), ("size", self.sizes)):
            if len(values) != rank:
                raise VerifyException(
                    f"{what} count ({len(values)}) must match source rank ({rank})"
                )
        result_shape = result.get_shape() if result.get_num_dims() == rank else (DYNAMIC,) * rank
        for i, (offset, size, source_dim, result_dim) in enumerate(
            zip(self.offsets, self.sizes, source.get_shape(), result_shape, strict=True)
        ):
            at, extent = constant_value(offset), constant_value(size)
            if at is not None and at < 0:
                raise VerifyException(f"offset at dim {i} must be non-negative, got {at}")
            if extent is None:
                continue
            if extent <= 0:
                raise VerifyException(f"size at dim {i} must be positive, got {extent}")
            if result_dim not in (DYNAMIC, extent):
                raise VerifyException(
                    f"size/result mismatch at dim {i}: size operand={extent} "
                    f"result type dim={result_dim}"
                )
            if source_dim != DYNAMIC and (at or 0) + extent > source_dim:
                raise VerifyException(
                    f"offset+size at dim {i} ({(at or 0) + extent}) exceeds static source dim "
                    f"({source_dim})"
                )


PartitionViewOp = declare(
    PartitionViewBase, "PartitionViewOp", "partition_view", "a window of a tensor view"
)


class ViewExtentOp(FormattedOp):
    """A number of a tensor view"""

    traits = traits_def(Pure())

    tensor_view = operand_def(ANY_GM_VIEW)
    dim_index = operand_def(INDEX)
    result = result_def(INDEX_TYPE)
    FORMAT: ClassVar[str] = (
        "$tensor_view `,` $dim_index attr-dict `:` type($tensor_view) `->` type($result)"
    )

    def verify_(self) -> None:
        super().verify_()
        view = self.tensor_view.type
        assert isinstance(view, GM_VIEW_TYPES)
        dim = constant_value(self.dim_index)
        if dim is not None and not 0 <= dim < view.get_num_dims():
            raise VerifyException(
                f"dimension {dim} is out of range for a view of rank {view.get_num_dims()}"
            )


GetTensorViewDimOp = declare(
    ViewExtentOp, "GetTensorViewDimOp", "get_tensor_view_dim", "elements along one dimension"
)
GetTensorViewStrideOp = declare(
    ViewExtentOp,
    "GetTensorViewStrideOp",
    "get_tensor_view_stride",
    "elements between two neighbours along one dimension",
)


def verify_tile_layout(tile: TileBufType, name: str) -> None:
    """A tile's box is made of whole blocks. Raises `VerifyException`."""
    rows, cols = tile.get_shape()
    size = element_bytes(tile.element_type)
    if tile.slayout == SLayout.NONE_BOX:
        by_row = tile.blayout == "row_major"
        stretch = (cols if by_row else rows) * size
        if stretch % BLOCK_BYTES:
            what = "row-major none_box tile row" if by_row else "col-major none_box tile column"
            raise VerifyException(
                f"expects {name} {what} byte size to be 32-byte aligned, but got {stretch} bytes"
            )
        return
    if tile.fractal == 512 and BLOCK_BYTES % size:
        raise VerifyException(
            f"expects {name} element byte size to divide 32 for boxed fractal-512 tile layout"
        )
    inner_rows, inner_cols = tile.inner_box
    free_rows = tile.space == AddressSpace.VEC or tile.fractal == 32 or rows == 1
    if not free_rows and rows % inner_rows:
        raise VerifyException(
            f"expects {name} boxed tile rows to be a multiple of innerRows ({inner_rows}), "
            f"but got {rows}"
        )
    if cols % inner_cols:
        raise VerifyException(
            f"expects {name} boxed tile cols to be a multiple of innerCols ({inner_cols}), "
            f"but got {cols}"
        )


def verify_address(addr: SSAValue, space: AddressSpace) -> None:
    """A byte address that is known is one a tile can have. Raises `VerifyException`."""
    known = constant_value(addr)
    alignment = ADDRESS_ALIGNMENT[space]
    if known is None:
        return
    if known < 0:
        raise VerifyException(f"addr must be non-negative, got {known}")
    if known % alignment:
        raise VerifyException(
            f"addr must be aligned to {alignment} bytes for local tile memory space, got {known}"
        )


class AllocBase(PtoOp):
    """`[addr = %a] [valid_row = %r] [valid_col = %c] : T`"""

    ALLOCATES: ClassVar[bool] = True

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        values: dict[str, SSAValue | Sequence[SSAValue]] = {}
        for name, type_ in (("addr", i64), ("valid_row", INDEX_TYPE), ("valid_col", INDEX_TYPE)):
            if parser.parse_optional_keyword(name) is not None:
                parser.parse_punctuation("=")
                values[name] = parser.resolve_operand(parser.parse_unresolved_operand(), type_)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return build(cls, values, attributes, (parser.parse_type(),))

    def print(self, printer: Printer) -> None:
        for name in ("addr", "valid_row", "valid_col"):
            if (value := self.optional_operand(name)) is not None:
                printer.print_string(f" {name} = ")
                printer.print_ssa_value(value)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_tile(self, tile: TileBufType, name: str) -> None:
        """The tile can lie at the address, and has an operand for each unknown extent."""
        verify_tile_layout(tile, name)
        if (addr := self.optional_operand("addr")) is not None:
            verify_address(addr, tile.space)
        for what, dim, extent in zip(
            ("row", "col"), tile.valid_shape, tile.get_shape(), strict=True
        ):
            value = self.optional_operand(f"valid_{what}")
            if (value is not None) != (dim == DYNAMIC):
                raise VerifyException(
                    f"valid_{what} operand {'is required' if dim == DYNAMIC else 'must be absent'} "
                    f"because result type v_{what} is {'?' if dim == DYNAMIC else dim}"
                )
            known = None if value is None else constant_value(value)
            if known is not None and not 0 <= known <= extent:
                raise VerifyException(f"valid_{what} must be between 0 and {extent}, got {known}")


class AllocTileBase(AllocBase):
    """A new tile"""

    addr = opt_operand_def(I64)
    valid_row = opt_operand_def(INDEX)
    valid_col = opt_operand_def(INDEX)
    result = result_def(TileBufType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        super().verify_()
        self.verify_tile(self.result.type, "result")


AllocTileOp = declare(
    AllocTileBase,
    "AllocTileOp",
    "alloc_tile",
    "a new tile, at a byte address or where the assembler puts it; equal addresses share bytes",
)


PLANNED_ADDRESSES = "pto.multi_buffer_addrs"
"""Where the assembler notes the addresses it gave to slots."""


class AllocMultiTileBase(AllocBase):
    """New tiles of one type, side by side"""

    addr = opt_operand_def(I64)
    valid_row = opt_operand_def(INDEX)
    valid_col = opt_operand_def(INDEX)
    result = result_def(MultiTileBufType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        super().verify_()
        slot = self.result.type.slot_type
        self.verify_tile(slot, "slot")
        if slot.compact == Compact.ROW_PLUS_ONE:
            raise VerifyException(
                "does not support row_plus_one compaction, whose footprint would overlap the "
                "next slot"
            )
        if PLANNED_ADDRESSES in self.attributes:
            raise VerifyException(f"attribute '{PLANNED_ADDRESSES}' is reserved for the assembler")


AllocMultiTileOp = declare(
    AllocMultiTileBase, "AllocMultiTileOp", "alloc_multi_tile", "new tiles of one type"
)


class MultiTileGetBase(FormattedOp):
    """One of the tiles of a `multi_tile_buf`"""

    # What lies outside is an error where the program looks at it, and nowhere else: not `Pure`.
    traits = traits_def(NoMemoryEffect())
    ALIASES: ClassVar[str | None] = "source"

    source = operand_def(MULTI_TILE)
    slot = operand_def(INDEX)
    result = result_def(TileBufType)
    FORMAT: ClassVar[str] = "$source `[` $slot `]` attr-dict `:` type($source) `->` type($result)"

    def verify_(self) -> None:
        super().verify_()
        source = self.source.type
        assert isinstance(source, MultiTileBufType)
        if source.slot_type != self.result.type:
            raise VerifyException(
                "result tile_buf must match the multi_tile_buf slot type: expected "
                f"{source.slot_type}, got {self.result.type}"
            )
        slot = constant_value(self.slot)
        if slot is not None and not 0 <= slot < source.count:
            raise VerifyException(
                f"constant slot {slot} is out of range for multi_tile_buf count={source.count}"
            )


MultiTileGetOp = declare(
    MultiTileGetBase, "MultiTileGetOp", "multi_tile_get", "the tile in one slot"
)


def _is_i64_array(attribute: Attribute) -> bool:
    elements: tuple[Attribute, ...] = getattr(attribute, "data", ())
    return all(has_integer_type(x, i64) for x in elements)


SIZES = PropertyConstraint(
    ArrayAttr,
    lambda sizes: ArrayAttr([IntegerAttr(size, i64) for size in sizes]),
    "an array of i64",
    _is_i64_array,
)


class SubViewBase(PtoOp):
    """A window of a tile"""

    # What lies outside is an error where the program looks at it, and nowhere else: not `Pure`.
    traits = traits_def(NoMemoryEffect())
    ALIASES: ClassVar[str | None] = "source"

    source = operand_def(VIEW_TILE)
    offsets = var_operand_def(INDEX)
    sizes = prop_def(SIZES)
    valid_row = opt_operand_def(INDEX)
    valid_col = opt_operand_def(INDEX)
    result = result_def(TileBufType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def window(self) -> tuple[int, ...]:
        """Rows and columns of the window, in elements."""
        sizes: Any = self.sizes
        return tuple(size.value.data for size in sizes.data)

    @staticmethod
    def result_type(
        source: TileBufType, sizes: Sequence[int], valid: Sequence[SSAValue] = ()
    ) -> TileBufType:
        """The type of a window of these sizes, all of it valid unless `valid` says less."""
        extents = list(sizes)
        for axis, value in enumerate(valid):
            known = constant_value(value)
            extents[axis] = DYNAMIC if known is None else min(max(known, 0), sizes[axis])
        return source.with_(shape=sizes, valid_shape=extents)

    @classmethod
    def parse(cls, parser: Parser) -> SubViewBase:
        source = parser.parse_unresolved_operand()
        offsets = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        parser.parse_keyword("sizes")
        position = parser.pos
        sizes = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_integer(parser, 64)
        )
        if len(sizes) != 2:
            parser.raise_error("subview expects 2D sizes", position)
        if any(size <= 0 for size in sizes):
            parser.raise_error("subview sizes must be positive", position)
        valid: list[UnresolvedOperand] = []
        if parser.parse_optional_keyword("valid") is not None:
            parser.parse_punctuation("[")
            valid = parse_operand_list(parser)
            parser.parse_punctuation("]")
            if len(valid) != 2:
                parser.raise_error("subview expects a valid row and a valid column")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source_type = parse_type_of(parser, TileBufType)
        values: dict[str, Any] = {
            "source": parser.resolve_operand(source, source_type),
            "offsets": resolve_indices(parser, offsets),
        }
        if valid:
            values["valid_row"], values["valid_col"] = resolve_indices(parser, valid)
        if parser.parse_optional_punctuation("->") is not None:
            result = parse_type_of(parser, TileBufType)
        else:
            extents = [values[name] for name in ("valid_row", "valid_col") if name in values]
            result = cls.result_type(source_type, sizes, extents)
        properties = {"sizes": SIZES.make(sizes)}
        # pto.subset is an older name of the same op.
        return build(SubViewOp, values, attributes, (result,), properties)

    def print(self, printer: Printer) -> None:
        old = grammar_of(printer) == Grammar.V0_27 and self.valid_row is None
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string("[")
        printer.print_list(self.offsets, printer.print_ssa_value)
        printer.print_string(f"] sizes [{', '.join(map(str, self.window))}]")
        if self.valid_row is not None and self.valid_col is not None:
            printer.print_string(" valid [")
            printer.print_list((self.valid_row, self.valid_col), printer.print_ssa_value)
            printer.print_string("]")
        print_attributes(printer, self, ("sizes",))
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        if not old:
            printer.print_string(" -> ")
            printer.print_attribute(self.result.type)

    def unwritable_in(self, version: str) -> str | None:
        if version == "0.27" and self.valid_row is not None:
            return "has no valid extents in PTOAS 0.27"
        return super().unwritable_in(version)

    def verify_(self) -> None:
        super().verify_()
        source, result = self.source.type, self.result.type
        assert isinstance(source, TileBufType)
        sizes = self.window
        if len(sizes) != 2 or len(self.offsets) != 2:
            raise VerifyException("subview expects 2D sizes and offsets")
        if min(sizes) <= 0:
            raise VerifyException("subview sizes must be positive")
        if (self.valid_row is None) != (self.valid_col is None):
            raise VerifyException(
                "subview expects valid_row and valid_col to be both present or both absent"
            )
        if result.get_shape() != sizes:
            raise VerifyException(
                f"expects result shape to match subview sizes {shape_text(sizes)}, "
                f"got {shape_text(result.get_shape())}"
            )
        for what, same in (
            ("element type", result.element_type == source.element_type),
            ("address space", result.space == source.space),
            ("tile config", result.config == source.config),
        ):
            if not same:
                raise VerifyException(f"expects result {what} to match source")
        self._verify_valid(sizes)
        self._verify_boxes(source, sizes)

    def _verify_valid(self, sizes: Sequence[int]) -> None:
        for axis, (name, value) in enumerate(
            (("valid_row", self.valid_row), ("valid_col", self.valid_col))
        ):
            extent = self.result.type.valid_shape[axis]
            if value is None:
                if extent == DYNAMIC:
                    raise VerifyException(
                        f"expects result valid_shape[{axis}] to match inferred/explicit {name}"
                    )
                continue
            known = constant_value(value)
            if known is not None and not 0 <= known <= sizes[axis]:
                raise VerifyException(
                    f"{name} must be between 0 and the subview size {sizes[axis]}, got {known}"
                )
            if extent != (DYNAMIC if known is None else known):
                raise VerifyException(
                    f"expects result valid_shape[{axis}] to match inferred/explicit {name}"
                )

    def _verify_boxes(self, source: TileBufType, sizes: Sequence[int]) -> None:
        box = source.inner_box
        shape = source.get_shape()
        for offset, size, inner, extent in zip(self.offsets, sizes, box, shape, strict=True):
            known = constant_value(offset)
            if known is not None and known < 0:
                raise VerifyException("subview offsets must be non-negative")
            if (known or 0) + size > extent:
                raise VerifyException(
                    f"subview expects its window to lie in the source, got {known or 0} + {size} "
                    f"of {extent}"
                )
            if size % inner:
                raise VerifyException(
                    f"boxed layout subview sizes must be multiples of inner shape {box[0]}x{box[1]}"
                )
            if known is not None and known % inner:
                raise VerifyException(
                    "boxed layout subview offsets must be multiples of inner shape "
                    f"{box[0]}x{box[1]}"
                )


SubViewOp = declare(
    SubViewBase,
    "SubViewOp",
    "subview",
    "a window of a tile, the same bytes",
    other_names={"0.27": "subset"},
)


class SetValidShapeBase(FormattedOp):
    """Changes how much of a tile is valid, from here on"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    source = operand_def(VIEW_TILE)
    valid_row = operand_def(INDEX)
    valid_col = operand_def(INDEX)
    FORMAT: ClassVar[str] = "$source `,` $valid_row `,` $valid_col attr-dict `:` type($source)"

    def verify_(self) -> None:
        super().verify_()
        tile = self.source.type
        assert isinstance(tile, TileBufType)
        if tile.valid_shape != (DYNAMIC, DYNAMIC):
            raise VerifyException("expects source tile_buf to have dynamic validShape (?, ?)")
        owner = self.source.owner
        if not isinstance(owner, Operation) or owner.name in _NOT_LOCALLY_BOUND:
            raise VerifyException(
                "requires a locally bound tile source; function arguments and views of tiles "
                "are unsupported"
            )
        for what, value, extent in zip(
            ("row", "col"), (self.valid_row, self.valid_col), tile.get_shape(), strict=True
        ):
            known = constant_value(value)
            if known is None:
                continue
            if known < 0:
                raise VerifyException(f"expects {what} operand to be non-negative, got {known}")
            if known > extent:
                raise VerifyException(
                    f"expects {what} operand <= shape dim ({extent}), got {known}"
                )


_NOT_LOCALLY_BOUND = frozenset(("pto.subview", "pto.treshape", "pto.bitcast"))

SetValidShapeOp = declare(
    SetValidShapeBase, "SetValidShapeOp", "set_validshape", "changes the valid rows and columns"
)


class GetValidShapeBase(FormattedOp):
    """How much of a tile is valid"""

    source = operand_def(VIEW_TILE)
    valid_row = result_def(INDEX_TYPE)
    valid_col = result_def(INDEX_TYPE)
    FORMAT: ClassVar[str] = "$source attr-dict `:` type($source)"
    # Reads what set_validshape changes.
    HAS_SIDE_EFFECTS: ClassVar[bool] = True


GetValidShapeOp = declare(
    GetValidShapeBase, "GetValidShapeOp", "get_validshape", "the valid rows and columns"
)


class ValidExtentOp(FormattedOp):
    """How many rows, or columns, of a tile are valid"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    src = operand_def(VIEW_TILE)
    result = result_def(INDEX_TYPE)
    FORMAT: ClassVar[str] = "$src attr-dict `:` type($src) `->` type($result)"


TileValidRowsOp = declare(
    ValidExtentOp, "TileValidRowsOp", "tile_valid_rows", "the number of valid rows"
)
TileValidColsOp = declare(
    ValidExtentOp, "TileValidColsOp", "tile_valid_cols", "the number of valid columns"
)


class ReinterpretOp(FormattedOp):
    """The same bytes under another type"""

    traits = traits_def(Pure())
    ALIASES: ClassVar[str | None] = "src"

    src = operand_def(VIEW_TILE)
    result = result_def(TileBufType)
    FORMAT: ClassVar[str] = "$src attr-dict `:` type($src) `->` type($result)"

    @property
    def tiles(self) -> tuple[TileBufType, TileBufType]:
        """The types before and after."""
        assert isinstance(self.src.type, TileBufType)
        return self.src.type, self.result.type


class ReshapeBase(ReinterpretOp):
    """The same bytes in another shape"""

    def verify_(self) -> None:
        super().verify_()
        source, result = self.tiles
        if source.space != result.space:
            raise VerifyException("expects src and dst to use the same loc")
        if source.size_in_bytes != result.size_in_bytes:
            raise VerifyException(
                "expects src and dst to have the same total byte size, got "
                f"{source.size_in_bytes} and {result.size_in_bytes}"
            )
        if source.is_boxed != result.is_boxed:
            raise VerifyException("cannot reshape between boxed and non-boxed tile layouts")


TReshapeOp = declare(
    ReshapeBase, "TReshapeOp", "treshape", "the same bytes in another shape", pipe=Pipe.S
)


class BitcastBase(ReinterpretOp):
    """The same bytes with other elements"""

    def verify_(self) -> None:
        super().verify_()
        source, result = self.tiles
        for what, same in (
            ("memorySpace", source.space == result.space),
            ("shape", source.get_shape() == result.get_shape()),
            ("validShape", source.valid_shape == result.valid_shape),
            ("tile config", source.config == result.config),
        ):
            if not same:
                raise VerifyException(f"expects src/result to have the same {what}")
        if source.element_type == result.element_type:
            raise VerifyException(
                "expects src/result to have different element types, got "
                f"{dtype_name(source.element_type)} twice"
            )
        if result.size_in_bytes > source.size_in_bytes:
            raise VerifyException("bitcast result requires more bytes than source storage")


BitcastOp = declare(BitcastBase, "BitcastOp", "bitcast", "the same bytes with other elements")


class AssignBase(FormattedOp):
    """A tile, moved to a byte address"""

    traits = traits_def(Pure())
    ALIASES: ClassVar[str | None] = None

    tile = operand_def(VIEW_TILE)
    addr = operand_def(I64)
    result = result_def(TileBufType)
    FORMAT: ClassVar[str] = "$tile `,` $addr attr-dict `:` type($tile) `->` type($result)"

    def verify_(self) -> None:
        super().verify_()
        if self.tile.type != self.result.type:
            raise VerifyException("expects tile and result to have the same type")
        verify_address(self.addr, self.result.type.space)


TAssignOp = declare(
    AssignBase, "TAssignOp", "tassign", "the tile's type at another byte address; level3 only"
)


class DeclareTileBase(FormattedOp):
    """A tile without storage, that a pop gives storage"""

    ALLOCATES: ClassVar[bool] = True

    tile = result_def(TileBufType)
    FORMAT: ClassVar[str] = "attr-dict `->` type($tile)"


DeclareTileOp = declare(
    DeclareTileBase, "DeclareTileOp", "declare_tile", "a tile without storage, for tpop to fill"
)


class DeclareGlobalBase(FormattedOp):
    """A tensor view without storage, that a queue gives storage"""

    ALLOCATES: ClassVar[bool] = True

    entry = result_def(TensorViewType)
    FORMAT: ClassVar[str] = "attr-dict `->` type($entry)"


DeclareGlobalOp = declare(
    DeclareGlobalBase,
    "DeclareGlobalOp",
    "declare_global",
    "a tensor view without storage, for talloc or tpop to fill",
)
