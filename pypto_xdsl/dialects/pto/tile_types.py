"""The type of a tile, with its layout, and of several tiles in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, ContainerType, IntAttr, ShapedType
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.attributes import AddressSpaceAttr
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, BLayout, Compact, Pad, SLayout
from pypto_xdsl.dialects.pto.interning import InternedType
from pypto_xdsl.dialects.pto.literals import parse_integer
from pypto_xdsl.dialects.pto.shaped_types import (
    DYNAMIC,
    dims_attr,
    element_bits,
    element_bytes,
    parse_shape,
)

FRACTAL_SIZES = (32, 512, 1024)
"""Bytes of one box: MX scales (A5), the operands of a matmul, its accumulator."""

MULTI_TILE_COUNT = (2, 16)
"""Fewest and most slots of a `multi_tile_buf`."""


TileConfig: TypeAlias = tuple[BLayout, SLayout, int, Pad, Compact]
"""Box order, element order in a box, bytes of a box, padding, packing."""


@irdl_attr_definition
class TileConfigAttr(Data[TileConfig]):
    """How a tile's elements lie in memory.

    `#pto.tile_config<blayout=row_major, slayout=none_box, fractal=512, pad=0, compact=0>`;
    part of a tile's type, never written on its own in a program.
    """

    name = "pto.tile_config"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TileConfig:
        with parser.in_angle_brackets():
            config = _Fields()
            while True:
                config.parse_field(parser, parser.parse_identifier())
                if parser.parse_optional_punctuation(",") is None:
                    return config.config()

    def print_parameter(self, printer: Printer) -> None:
        blayout, slayout, fractal, pad, compact = self.data
        printer.print_string(
            f"<blayout={blayout}, slayout={slayout}, fractal={fractal}, "
            f"pad={_number(pad)}, compact={_number(compact)}>"
        )


_PADS = tuple(Pad)
_COMPACTS = tuple(Compact)


def _number(word: Pad | Compact) -> int:
    return _PADS.index(word) if isinstance(word, Pad) else _COMPACTS.index(word)


DEFAULT_CONFIG = TileConfigAttr((BLayout.ROW_MAJOR, SLayout.NONE_BOX, 512, Pad.NULL, Compact.NULL))
"""Row-major elements without boxes: what the compact spelling of a tile leaves out."""

LOCAL_SPACES = (
    AddressSpace.VEC,
    AddressSpace.MAT,
    AddressSpace.LEFT,
    AddressSpace.RIGHT,
    AddressSpace.ACC,
    AddressSpace.BIAS,
    AddressSpace.SCALING,
)
"""Memories that a tile can be in."""

_SPACES = {space.value: AddressSpaceAttr(space) for space in LOCAL_SPACES}


class _Fields:
    """The fields of a tile type while they are read."""

    def __init__(self) -> None:
        self.valid: tuple[int, int] | None = None
        self.blayout, self.slayout, self.fractal, self.pad, self.compact = DEFAULT_CONFIG.data
        self.count: int | None = None
        self.seen: set[str] = set()

    def config(self) -> TileConfig:
        return (self.blayout, self.slayout, self.fractal, self.pad, self.compact)

    def parse_field(self, parser: AttrParser, key: str, allow_count: bool = False) -> None:
        """One `key=value` of the compact spelling, behind its key."""
        if key in self.seen:
            parser.raise_error(f"duplicate {key} in a tile_buf type")
        self.seen.add(key)
        parser.parse_punctuation("=")
        match key:
            case "valid":
                dims = parser.parse_dimension_list()
                if len(dims) != 2:
                    parser.raise_error("tile_buf valid must have exactly two dimensions")
                self.valid = (dims[0], dims[1])
            case "blayout":
                self.blayout = parser.parse_str_enum(BLayout)
            case "slayout":
                self.slayout = parser.parse_str_enum(SLayout)
            case "fractal":
                self.fractal = parse_integer(parser, 64)
            case "pad":
                self.pad = _PADS[_parse_number(parser, "pad", len(_PADS))]
            case "compact":
                self.compact = _COMPACTS[_parse_number(parser, "compact", len(_COMPACTS))]
            case "count" if allow_count:
                self.count = parse_integer(parser, 64)
            case _:
                parser.raise_error(f"unknown key in a tile_buf type: {key}")


def _parse_number(parser: AttrParser, key: str, count: int) -> int:
    position = parser.pos
    number = parse_integer(parser, 64)
    if not 0 <= number < count:
        parser.raise_error(f"unknown {key}: {number}", position)
    return number


def _parse_valid_dim(parser: AttrParser, key: str) -> int:
    if parser.parse_optional_punctuation("?") is not None:
        return DYNAMIC
    position = parser.pos
    dim = parse_integer(parser, 64)
    if dim < -1:
        parser.raise_error(f"{key} must be '?', -1, or a non-negative integer", position)
    return DYNAMIC if dim < 0 else dim


def _parse_keyed_tile(parser: AttrParser) -> Sequence[Attribute]:
    """The long spelling, `loc=vec, dtype=f32, rows=16, ...`, behind `loc`.

    The keys have one order today, which is the one printed; older files have others.
    """
    parser.parse_punctuation("=")
    space = _parse_space(parser)
    element_type: Attribute | None = None
    extents: dict[str, int] = {}
    fields = _Fields()
    while parser.parse_optional_punctuation(",") is not None:
        position = parser.pos
        key = parser.parse_identifier()
        if key not in _TILE_KEYS:
            fields.parse_field(parser, key)
            continue
        if key in extents or (key == "dtype" and element_type is not None):
            parser.raise_error(f"duplicate {key} in a tile_buf type", position)
        parser.parse_punctuation("=")
        if key == "dtype":
            element_type = parser.parse_type()
        elif key.startswith("v_"):
            extents[key] = _parse_valid_dim(parser, key)
        else:
            extents[key] = parse_integer(parser, 64)
    if element_type is None:
        parser.raise_error("expected dtype in a tile_buf type")
    for key in _TILE_KEYS[1:]:
        if key not in extents:
            parser.raise_error(f"expected {key} in a tile_buf type")
    for key in ("blayout", "slayout", "fractal", "pad"):
        if key not in fields.seen:
            parser.raise_error(f"expected {key} in a tile_buf type")
    return (
        space,
        dims_attr((extents["rows"], extents["cols"])),
        element_type,
        dims_attr((extents["v_row"], extents["v_col"])),
        TileConfigAttr(fields.config()),
    )


_TILE_KEYS = ("dtype", "rows", "cols", "v_row", "v_col")


def _parse_space(parser: AttrParser) -> AddressSpaceAttr:
    word = parser.parse_identifier_or_str_literal(" for the memory of a tile")
    if (space := _SPACES.get(word)) is None:
        parser.raise_error(f"unknown loc: {word}")
    return space


def _parse_compact_tile(
    parser: AttrParser, space: AddressSpaceAttr, allow_count: bool = False
) -> tuple[Sequence[Attribute], int | None]:
    """The short spelling, `vec, 16x64xf32, valid=?x?, ...`, behind the memory."""
    parser.parse_punctuation(",")
    shape, element_type = parse_shape(parser)
    if len(shape) != 2:
        parser.raise_error("tile_buf expects exactly two dimensions")
    fields = _Fields()
    while fields.count is None and parser.parse_optional_punctuation(",") is not None:
        fields.parse_field(parser, parser.parse_identifier(), allow_count)
    valid = shape if fields.valid is None else fields.valid
    params = (
        space,
        dims_attr(shape),
        element_type,
        dims_attr(valid),
        TileConfigAttr(fields.config()),
    )
    return params, fields.count


@irdl_attr_definition
class TileBufType(InternedType, ShapedType, ContainerType[Attribute]):
    """A tile: a two-dimensional buffer in one of a core's memories.

    `!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=?, v_col=?, blayout=row_major,
    slayout=none_box, fractal=512, pad=0>`, or for short `!pto.tile_buf<vec, 16x64xf32,
    valid=?x?>`. `rows x cols` is the box that is allocated, the valid shape the part of it that
    holds data; `?` is known at run time only.
    """

    name = "pto.tile_buf"
    memory_space: AddressSpaceAttr
    shape: ArrayAttr[IntAttr]
    element_type: Attribute
    valid_dims: ArrayAttr[IntAttr]
    config: TileConfigAttr

    def __init__(
        self,
        shape: Sequence[int],
        element_type: Attribute,
        space: AddressSpace = AddressSpace.VEC,
        *,
        valid_shape: Sequence[int] | None = None,
        blayout: BLayout = BLayout.ROW_MAJOR,
        slayout: SLayout = SLayout.NONE_BOX,
        fractal: int = 512,
        pad: Pad = Pad.NULL,
        compact: Compact = Compact.NULL,
    ) -> None:
        """`shape` and `valid_shape` are rows and columns in elements; `fractal` is in bytes."""
        super().__init__(
            AddressSpaceAttr(space),
            dims_attr(shape),
            element_type,
            dims_attr(shape if valid_shape is None else valid_shape),
            TileConfigAttr((blayout, slayout, fractal, pad, compact)),
        )

    def verify(self) -> None:
        if len(self.shape.data) != 2 or len(self.valid_dims.data) != 2:
            raise VerifyException("tile_buf expects exactly two dimensions")
        element_bits(self.element_type)
        for what, dim, valid in zip(
            ("row", "col"), self.get_shape(), self.valid_shape, strict=True
        ):
            if dim <= 0:
                raise VerifyException("tile_buf rows/cols must be positive")
            if valid != DYNAMIC and not 0 <= valid <= dim:
                raise VerifyException(f"tile_buf valid_{what} ({valid}) exceeds {what} ({dim})")
        if self.memory_space.data not in LOCAL_SPACES:
            raise VerifyException(f"unknown loc: {self.memory_space.data}")
        if self.fractal not in FRACTAL_SIZES:
            raise VerifyException(
                f"unsupported s_fractal_size: {self.fractal}, must be one of {{32, 512, 1024}}"
            )

    @classmethod
    def parse_body(cls, parser: AttrParser) -> Sequence[Attribute]:
        word = parser.parse_identifier_or_str_literal(" for the memory of a tile")
        if word == "loc":
            return _parse_keyed_tile(parser)
        if (space := _SPACES.get(word)) is None:
            parser.raise_error(f"unknown loc: {word}")
        return _parse_compact_tile(parser, space)[0]

    def print_parameters(self, printer: Printer) -> None:
        rows, cols = self.get_shape()
        v_row, v_col = ("?" if d == DYNAMIC else d for d in self.valid_shape)
        blayout, slayout, fractal, pad, compact = self.config.data
        printer.print_string(f"<loc={self.space}, dtype=")
        printer.print_attribute(self.element_type)
        printer.print_string(
            f", rows={rows}, cols={cols}, v_row={v_row}, v_col={v_col}, blayout={blayout}, "
            f"slayout={slayout}, fractal={fractal}, pad={_number(pad)}"
        )
        if compact != Compact.NULL:
            printer.print_string(f", compact={_number(compact)}")
        printer.print_string(">")

    def short_spelling(self) -> str:
        """The compact spelling, `!pto.tile_buf<vec, 16x64xf32, valid=?x?>`."""
        rows, cols = self.get_shape()
        text = f"!pto.tile_buf<{self.space}, {rows}x{cols}x{self.element_type}"
        if self.valid_shape != (rows, cols):
            text += ", valid=" + "x".join("?" if d == DYNAMIC else str(d) for d in self.valid_shape)
        for key, value, default in zip(
            ("blayout", "slayout", "fractal", "pad", "compact"),
            self.config.data,
            DEFAULT_CONFIG.data,
            strict=True,
        ):
            if value != default:
                word = _number(value) if isinstance(value, Pad | Compact) else value
                text += f", {key}={word}"
        return text + ">"

    def with_(
        self,
        *,
        shape: Sequence[int] | None = None,
        element_type: Attribute | None = None,
        space: AddressSpace | None = None,
        valid_shape: Sequence[int] | None = None,
        config: TileConfig | None = None,
    ) -> TileBufType:
        """This type with some of its parts replaced."""
        return TileBufType.new(
            (
                self.memory_space if space is None else AddressSpaceAttr(space),
                self.shape if shape is None else dims_attr(shape),
                self.element_type if element_type is None else element_type,
                self.valid_dims if valid_shape is None else dims_attr(valid_shape),
                self.config if config is None else TileConfigAttr(config),
            )
        )

    def get_num_dims(self) -> int:
        return 2

    def get_shape(self) -> tuple[int, int]:
        """Rows and columns of the box, in elements."""
        rows, cols = self.shape.data
        return rows.data, cols.data

    def get_element_type(self) -> Attribute:
        return self.element_type

    @property
    def space(self) -> AddressSpace:
        """The memory that the tile is in."""
        return self.memory_space.data

    @property
    def valid_shape(self) -> tuple[int, int]:
        """Rows and columns that hold data; `DYNAMIC` where known at run time only."""
        v_row, v_col = self.valid_dims.data
        return v_row.data, v_col.data

    @property
    def has_dynamic_valid(self) -> bool:
        """Whether a part of the valid shape is known at run time only."""
        return DYNAMIC in self.valid_shape

    @property
    def blayout(self) -> BLayout:
        """Order of the boxes; of the elements where there are no boxes."""
        return self.config.data[0]

    @property
    def slayout(self) -> SLayout:
        """Order of the elements in a box."""
        return self.config.data[1]

    @property
    def fractal(self) -> int:
        """Bytes of a box."""
        return self.config.data[2]

    @property
    def pad(self) -> Pad:
        """What stands outside the valid region."""
        return self.config.data[3]

    @property
    def compact(self) -> Compact:
        """Whether only the valid region is packed."""
        return self.config.data[4]

    @property
    def is_boxed(self) -> bool:
        """Whether the elements lie in boxes."""
        return self.slayout != SLayout.NONE_BOX

    @property
    def inner_box(self) -> tuple[int, int]:
        """Rows and columns of one box, in elements; (1, 1) without boxes."""
        if self.slayout == SLayout.NONE_BOX:
            return 1, 1
        if self.fractal == 1024:
            return 16, 16
        wide = max(1, 32 // element_bytes(self.element_type))
        if self.fractal == 32:
            return (16, 2) if self.slayout == SLayout.ROW_MAJOR else (2, 16)
        return (16, wide) if self.slayout == SLayout.ROW_MAJOR else (wide, 16)

    @property
    def size_in_bytes(self) -> int:
        """Bytes of the box."""
        rows, cols = self.get_shape()
        return rows * cols * element_bits(self.element_type) // 8


@irdl_attr_definition
class MultiTileBufType(ParametrizedAttribute, TypeAttribute):
    """`!pto.multi_tile_buf<!pto.tile_buf<...>, count=2>`: tiles of one type side by side."""

    name = "pto.multi_tile_buf"
    slot_type: TileBufType
    slot_count: IntAttr

    def __init__(self, slot_type: TileBufType, count: int) -> None:
        super().__init__(slot_type, IntAttr(count))

    def verify(self) -> None:
        fewest, most = MULTI_TILE_COUNT
        if not fewest <= self.count <= most:
            raise VerifyException(
                f"multi_tile_buf count must be between {fewest} and {most}, got {self.count}"
            )

    @property
    def count(self) -> int:
        """How many slots."""
        return self.slot_count.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            word = parser.parse_optional_identifier()
            if word is not None:
                if (space := _SPACES.get(word)) is None:
                    parser.raise_error(f"unknown loc: {word}")
                params, count = _parse_compact_tile(parser, space, allow_count=True)
                if count is None:
                    parser.raise_error("multi_tile_buf expects count=N")
                return TileBufType.new(params), IntAttr(count)
            slot_type = parser.parse_type()
            parser.parse_punctuation(",")
            parser.parse_keyword("count")
            parser.parse_punctuation("=")
            count = parse_integer(parser, 64)
        if not isinstance(slot_type, TileBufType):
            parser.raise_error("multi_tile_buf expects a tile_buf as its slot type")
        return slot_type, IntAttr(count)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.slot_type)
            printer.print_string(f", count={self.count}")
