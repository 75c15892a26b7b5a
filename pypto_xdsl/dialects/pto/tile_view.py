"""Ops that look at tiles: windows, how much is valid, the same bytes under another type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.declaration import PropertyConstraint, PtoOp, declare, has_integer_type
from pypto_xdsl.dialects.pto.enumerations import Pipe
from pypto_xdsl.dialects.pto.literals import parse_integer
from pypto_xdsl.dialects.pto.operands import INDEX, INDEX_TYPE, VIEW_TILE
from pypto_xdsl.dialects.pto.rules import constant_value, dtype_name, shape_text
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC
from pypto_xdsl.dialects.pto.syntax import (
    FormattedOp,
    Grammar,
    build,
    grammar_of,
    parse_operand_list,
    parse_type_of,
    print_attributes,
    resolve_indices,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType


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
        if version == "0.27":
            if self.valid_row is not None:
                return "has no valid extents in PTOAS 0.27"
            inferred = tuple(map(self._inferred_extent, range(2)))
            result = self.result.type
            assert isinstance(result, TileBufType)
            if inferred != result.valid_shape:
                return (
                    f"is valid in {shape_text(inferred)} for PTOAS 0.27, which infers it, not in "
                    f"{shape_text(result.valid_shape)}"
                )
        return super().unwritable_in(version)

    def _inferred_extent(self, axis: int) -> int:
        """What PTOAS 0.27 takes to be valid along an axis; its text has no type of the result."""
        source = self.source.type
        assert isinstance(source, TileBufType)
        valid, size = source.valid_shape[axis], self.window[axis]
        offset = constant_value(self.offsets[axis])
        if valid == DYNAMIC or offset is None:
            return DYNAMIC
        # Windows of a tile that is wider than its valid region begin anew behind it.
        return min(size, valid - offset % valid) if valid else 0

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
    GetValidShapeBase,
    "GetValidShapeOp",
    "get_validshape",
    "the valid rows and columns",
    SINCE="0.57",
)


class ValidExtentOp(FormattedOp):
    """How many rows, or columns, of a tile are valid"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    src = operand_def(VIEW_TILE)
    result = result_def(INDEX_TYPE)
    FORMAT: ClassVar[str] = "$src attr-dict `:` type($src) `->` type($result)"


TileValidRowsOp = declare(
    ValidExtentOp, "TileValidRowsOp", "tile_valid_rows", "the number of valid rows", SINCE="0.57"
)
TileValidColsOp = declare(
    ValidExtentOp, "TileValidColsOp", "tile_valid_cols", "the number of valid columns", SINCE="0.57"
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
