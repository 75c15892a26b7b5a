"""
`!tile.tile<16x256xf32, vec, valid = [8, 256], blayout = row_major, pad = zero>`.

A tile is a block of elements on chip. Beside shape, element type and memory space it has a *view*:
the valid region, the block layout, the layout inside a block, the fractal size in bytes, what pads
the rest, and whether boxed tiles are packed to the valid rows. Each shape and space has an
*implicit* view; a field of the type is stored only where it differs from that, so that equal
meanings are equal types and print alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TypedDict, Unpack

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BoolAttr,
    ContainerType,
    IntAttr,
    IntegerAttr,
    NoneAttr,
    ShapedType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.element_types import ElementType, is_element_type
from pypto_xdsl.dialects.ptensor.attributes import PadValue, PadValueAttr
from pypto_xdsl.dialects.tile.attributes import (
    MemorySpace,
    MemorySpaceAttr,
    TileLayout,
    TileLayoutAttr,
)
from pypto_xdsl.syntax.lists import parse_extents, print_extents

BOX_ROWS = 16
"""The rows of a box of any fractal size."""

_ABSENT = NoneAttr()
_SPACE_WORDS = frozenset(space.value for space in MemorySpace)
_FIELD_WORDS = ("valid", "blayout", "slayout", "fractal", "pad")


@dataclass(frozen=True)
class Layout:
    """The order of a tile's elements: of its blocks, inside a block, and the bytes of a block."""

    blayout: TileLayout
    slayout: TileLayout
    fractal: int


_ROW = Layout(TileLayout.ROW_MAJOR, TileLayout.NONE_BOX, 512)
_COLUMN = Layout(TileLayout.COL_MAJOR, TileLayout.NONE_BOX, 512)
_NZ = Layout(TileLayout.COL_MAJOR, TileLayout.ROW_MAJOR, 512)
_ACC = Layout(TileLayout.COL_MAJOR, TileLayout.ROW_MAJOR, 1024)


def implicit_layout(shape: Sequence[int], space: MemorySpace | None) -> Layout:
    """
    The layout that a tile of this shape has in this space unless its type says otherwise.

    A static `[N, 1]` with N > 1 is a column (`col_major`); a dynamic row count counts as row-major.
    Source: PyPTO's tile view semantics.
    """
    column = len(shape) == 2 and shape[1] == 1 and shape[0] > 1
    match space:
        case MemorySpace.MAT | MemorySpace.LEFT:
            return _NZ
        case MemorySpace.ACC:
            return _ACC
        case MemorySpace.RIGHT:
            outer = TileLayout.COL_MAJOR if column else TileLayout.ROW_MAJOR
            return Layout(outer, TileLayout.COL_MAJOR, 512)
        case _:
            return _COLUMN if column else _ROW


_SPACES = {space: MemorySpaceAttr(space) for space in MemorySpace}


@lru_cache(maxsize=1024)
def _extents(shape: tuple[int, ...]) -> ArrayAttr[IntAttr]:
    return ArrayAttr(IntAttr(extent) for extent in shape)


class _Fields(TypedDict, total=False):
    """What is given for a tile type beside its shape."""

    element_type: ElementType
    space: MemorySpace | None
    valid: Iterable[int] | None
    layout: Layout | None
    pad: PadValue
    compact: bool


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute, ShapedType, ContainerType[Attribute]):
    """A block of elements on chip; see the module's documentation."""

    name = "tile.tile"

    shape: ArrayAttr[IntAttr]
    element_type: ElementType
    space: MemorySpaceAttr | NoneAttr
    valid: ArrayAttr[IntAttr] | NoneAttr
    """Extents of the valid region, `DYNAMIC_INDEX` where known only at run time; absent = shape."""
    blayout: TileLayoutAttr | NoneAttr
    slayout: TileLayoutAttr | NoneAttr
    fractal: IntAttr | NoneAttr
    pad: PadValueAttr | NoneAttr
    compact: BoolAttr | NoneAttr

    def __init__(
        self,
        shape: Iterable[int],
        element_type: ElementType,
        space: MemorySpace | None = None,
        *,
        valid: Iterable[int] | None = None,
        layout: Layout | None = None,
        pad: PadValue = PadValue.NULL,
        compact: bool = False,
    ):
        """
        Store only what differs from the implicit view of `shape` in `space`.

        `valid` and `shape` are in elements, `DYNAMIC_INDEX` stands for a run-time extent.
        """
        shape = tuple(shape)
        valid = shape if valid is None else tuple(valid)
        implicit = implicit_layout(shape, space)
        layout = layout or implicit
        super().__init__(
            _extents(shape),
            element_type,
            _ABSENT if space is None else _SPACES[space],
            _ABSENT if valid == shape else _extents(valid),
            _ABSENT if layout.blayout is implicit.blayout else TileLayoutAttr(layout.blayout),
            _ABSENT if layout.slayout is implicit.slayout else TileLayoutAttr(layout.slayout),
            _ABSENT if layout.fractal == implicit.fractal else IntAttr(layout.fractal),
            _ABSENT if pad is PadValue.NULL else PadValueAttr(pad),
            BoolAttr.from_bool(True) if compact else _ABSENT,
        )

    def verify(self) -> None:
        shape = self.get_shape()
        if not shape:
            raise VerifyException("a tile has at least one dimension")
        for extent in shape:
            if extent <= 0 and extent != DYNAMIC_INDEX:
                raise VerifyException(f"tile extents are positive, got {extent}")
        if isinstance(self.valid, ArrayAttr):
            _verify_valid(tuple(extent.data for extent in self.valid), shape)
        if isinstance(self.blayout, TileLayoutAttr) and self.blayout.data is TileLayout.NONE_BOX:
            raise VerifyException("the block layout of a tile is row_major or col_major")
        implicit = implicit_layout(shape, self.memory_space)
        stored = (
            ("blayout", self.blayout, implicit.blayout),
            ("slayout", self.slayout, implicit.slayout),
            ("fractal", self.fractal, implicit.fractal),
            ("pad", self.pad, PadValue.NULL),
            ("compact", self.compact, False),
        )
        for field, attribute, meaning in stored:
            if isinstance(attribute, NoneAttr):
                continue
            value = bool(attribute) if isinstance(attribute, IntegerAttr) else attribute.data
            if value == meaning:
                raise VerifyException(f"{field} of a tile is stored only where it is not implicit")

    def __hash__(self) -> int:
        # Types are keys of many tables, and to hash nine attributes each time is dear.
        found: int | None = self.__dict__.get("_hash")
        if found is None:
            found = hash((self.name, self.parameters))
            object.__setattr__(self, "_hash", found)
        return found

    # What the type means: the effective view.

    def get_num_dims(self) -> int:
        return len(self.shape.data)

    def get_shape(self) -> tuple[int, ...]:
        return tuple(extent.data for extent in self.shape.data)

    def get_element_type(self) -> Attribute:
        return self.element_type

    @property
    def memory_space(self) -> MemorySpace | None:
        """The memory space, once it is inferred."""
        return None if isinstance(self.space, NoneAttr) else self.space.data

    @property
    def valid_shape(self) -> tuple[int, ...]:
        """The extents of the valid region; `DYNAMIC_INDEX` where known only at run time."""
        if isinstance(self.valid, NoneAttr):
            return self.get_shape()
        return tuple(extent.data for extent in self.valid)

    @property
    def layout(self) -> Layout:
        """The layout, explicit or implicit."""
        return _effective_layout(self)

    @property
    def pad_value(self) -> PadValue:
        return PadValue.NULL if isinstance(self.pad, NoneAttr) else self.pad.data

    @property
    def is_compact(self) -> bool:
        return not isinstance(self.compact, NoneAttr)

    @property
    def is_one_box_high(self) -> bool:
        """Whether boxes lie beside each other only, so that `compact` makes no difference."""
        return prod(self.get_shape()[:-1]) <= BOX_ROWS

    @property
    def is_column(self) -> bool:
        """Whether this is a `[N, 1]` stored column-major: the bytes of a `[1, N]` row."""
        shape = self.get_shape()
        return len(shape) == 2 and shape[1] == 1 and self.layout.blayout is TileLayout.COL_MAJOR

    # Derived types. The one way to change a field: what is implicit depends on shape and space.

    def with_space(self, space: MemorySpace | None) -> TileType:
        """
        The same tile in another space (or in one, once it is inferred).

        A layout that was implicit is that of the new space; one that was explicit stays. The vector
        buffer has no boxes to pack: nothing is compact there.
        """
        if space is self.memory_space:
            return self
        explicit = any(
            not isinstance(field, NoneAttr) for field in (self.blayout, self.slayout, self.fractal)
        )
        return self._but(
            space=space,
            layout=self.layout if explicit else None,
            compact=self.is_compact and space is not MemorySpace.VEC,
        )

    def with_shape(self, shape: Iterable[int], valid: Iterable[int] | None = None) -> TileType:
        """The same elements in another shape, in that shape's implicit layout."""
        return TileType(
            shape,
            self.element_type,
            self.memory_space,
            valid=valid,
            pad=self.pad_value,
            compact=self.is_compact,
        )

    def with_layout(self, layout: Layout) -> TileType:
        """The same tile stored in another order."""
        return self._but(layout=layout)

    def with_valid(self, valid: Iterable[int] | None) -> TileType:
        """The same tile with another valid region."""
        return self._but(valid=valid)

    def with_pad(self, pad: PadValue) -> TileType:
        """The same tile with something else outside the valid region."""
        return self._but(pad=pad)

    def without_pad(self) -> TileType:
        """The same tile, of which nothing says what lies outside the valid region."""
        return self.with_pad(PadValue.NULL)

    def with_compact(self, compact: bool) -> TileType:
        """The same tile with its rows packed, or not."""
        return self._but(compact=compact)

    def with_element_type(self, element_type: ElementType) -> TileType:
        """A tile of the same shape and view with elements of another type."""
        return self._but(element_type=element_type)

    def _but(self, **changes: Unpack[_Fields]) -> TileType:
        """The same tile with some fields changed that do not change what is implicit."""
        fields: _Fields = {
            "element_type": self.element_type,
            "space": self.memory_space,
            "valid": self.valid_shape,
            "layout": self.layout,
            "pad": self.pad_value,
            "compact": self.is_compact,
        }
        fields.update(changes)
        return TileType(self.get_shape(), **fields)

    # Text.

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            space: MemorySpace | None = None
            valid: tuple[int, ...] | None = None
            blayout: TileLayout | None = None
            slayout: TileLayout | None = None
            fractal: int | None = None
            pad = PadValue.NULL
            seen = set[str]()
            while parser.parse_optional_punctuation(","):
                position = parser.pos
                word = parser.parse_identifier(context_msg=" in a tile type")
                if word in seen or (word in _SPACE_WORDS and seen):
                    parser.raise_error(f"'{word}' stands at the wrong place or twice", position)
                seen.add(word)
                if word in _SPACE_WORDS:
                    space = MemorySpace(word)
                    continue
                if word == "compact":
                    continue
                if word not in _FIELD_WORDS:
                    parser.raise_error(
                        f"unknown word '{word}' in a tile type; expected one of "
                        f"{', '.join((*sorted(_SPACE_WORDS), *_FIELD_WORDS, 'compact'))}",
                        position,
                    )
                parser.parse_punctuation("=")
                match word:
                    case "valid":
                        valid = parse_extents(parser)
                    case "blayout":
                        blayout = parser.parse_str_enum(TileLayout)
                    case "slayout":
                        slayout = parser.parse_str_enum(TileLayout)
                    case "fractal":
                        fractal = parser.parse_integer(allow_negative=False)
                    case _:
                        pad = parser.parse_str_enum(PadValue)
        if not is_element_type(element_type):
            parser.raise_error(f"a tile holds integers or floats, not {element_type}")
        implicit = implicit_layout(shape, space)
        layout = Layout(
            blayout or implicit.blayout, slayout or implicit.slayout, fractal or implicit.fractal
        )
        return cls(
            shape,
            element_type,
            space,
            valid=valid,
            layout=layout,
            pad=pad,
            compact="compact" in seen,
        ).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_dimension_list(self.get_shape())
            printer.print_string("x")
            printer.print_attribute(self.element_type)
            if isinstance(self.space, MemorySpaceAttr):
                printer.print_string(f", {self.space.data.value}")
            if isinstance(self.valid, ArrayAttr):
                printer.print_string(", valid = ")
                print_extents(printer, self.valid_shape)
            if isinstance(self.blayout, TileLayoutAttr):
                printer.print_string(f", blayout = {self.blayout.data.value}")
            if isinstance(self.slayout, TileLayoutAttr):
                printer.print_string(f", slayout = {self.slayout.data.value}")
            if isinstance(self.fractal, IntAttr):
                printer.print_string(f", fractal = {self.fractal.data}")
            if isinstance(self.pad, PadValueAttr):
                printer.print_string(f", pad = {self.pad.data.value}")
            if self.is_compact:
                printer.print_string(", compact")

    @classmethod
    def of(cls, type: Attribute | None) -> TileType:
        """`type` as a tile type, or a `VerifyException`."""
        if not isinstance(type, TileType):
            raise VerifyException(f"expected a tile, got {type}")
        return type


def _verify_valid(valid: tuple[int, ...], shape: tuple[int, ...]) -> None:
    if len(valid) != len(shape):
        raise VerifyException(
            f"the valid region has {len(valid)} extents, the tile has {len(shape)} dimensions"
        )
    for inner, outer in zip(valid, shape, strict=True):
        if inner == DYNAMIC_INDEX:
            continue
        if inner < 0 or (outer != DYNAMIC_INDEX and inner > outer):
            raise VerifyException(f"a valid extent of {inner} lies outside 0..{outer}")
    if valid == shape:
        raise VerifyException("a valid region equal to the shape is stored as absent")


@lru_cache(maxsize=4096)
def _effective_layout(type: TileType) -> Layout:
    implicit = implicit_layout(type.get_shape(), type.memory_space)
    return Layout(
        implicit.blayout if isinstance(type.blayout, NoneAttr) else type.blayout.data,
        implicit.slayout if isinstance(type.slayout, NoneAttr) else type.slayout.data,
        implicit.fractal if isinstance(type.fractal, NoneAttr) else type.fractal.data,
    )
