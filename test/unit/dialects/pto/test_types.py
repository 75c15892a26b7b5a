"""The types: how they are built, spelled, laid out, and what they refuse."""

from __future__ import annotations

import re

import pytest
from pto_programs import context
from xdsl.dialects.builtin import Float16Type, IntegerType, Signedness, bf16, f16, f32, i8, i32
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import AddressSpace, BLayout, Compact, Pad, SLayout


def parse_type(text: str) -> Attribute:
    return Parser(context(), text).parse_type()


def acc(rows: int, cols: int) -> pto.TileBufType:
    return pto.TileBufType(
        (rows, cols),
        f32,
        AddressSpace.ACC,
        blayout=BLayout.COL_MAJOR,
        slayout=SLayout.ROW_MAJOR,
        fractal=1024,
    )


SPELLINGS = [
    (
        pto.TileBufType((16, 64), f32),
        "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, "
        "blayout=row_major, slayout=none_box, fractal=512, pad=0>",
        "!pto.tile_buf<vec, 16x64xf32>",
    ),
    (
        pto.TileBufType((16, 64), bf16, valid_shape=(pto.DYNAMIC, pto.DYNAMIC), pad=Pad.MIN),
        "!pto.tile_buf<loc=vec, dtype=bf16, rows=16, cols=64, v_row=?, v_col=?, "
        "blayout=row_major, slayout=none_box, fractal=512, pad=3>",
        "!pto.tile_buf<vec, 16x64xbf16, valid=?x?, pad=3>",
    ),
    (
        acc(32, 16),
        "!pto.tile_buf<loc=acc, dtype=f32, rows=32, cols=16, v_row=32, v_col=16, "
        "blayout=col_major, slayout=row_major, fractal=1024, pad=0>",
        "!pto.tile_buf<acc, 32x16xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    ),
    (
        pto.TileBufType(
            (8, 32), i8, AddressSpace.MAT, valid_shape=(8, pto.DYNAMIC), compact=Compact.NORMAL
        ),
        "!pto.tile_buf<loc=mat, dtype=i8, rows=8, cols=32, v_row=8, v_col=?, "
        "blayout=row_major, slayout=none_box, fractal=512, pad=0, compact=1>",
        "!pto.tile_buf<mat, 8x32xi8, valid=8x?, compact=1>",
    ),
]


@pytest.mark.parametrize(("tile", "long", "short"), SPELLINGS)
def test_tile_spellings(tile: pto.TileBufType, long: str, short: str) -> None:
    assert str(tile) == long
    assert tile.short_spelling() == short
    assert parse_type(long) == tile
    assert parse_type(short) == tile
    # A second time it comes from the table of spellings.
    assert parse_type(long) == tile


def test_long_spelling_in_any_order() -> None:
    """Files older than 0.57 have the fields of a tile in other orders."""
    text = (
        "!pto.tile_buf<loc=vec, rows=16, dtype=f32, v_row=16, cols=64, v_col=64, "
        "slayout=none_box, blayout=row_major, pad=0, fractal=512>"
    )
    assert parse_type(text) == pto.TileBufType((16, 64), f32)


@pytest.mark.parametrize(
    "text",
    [
        "!pto.tensor_view<?x?xf32>",
        "!pto.tensor_view<4x16x?xbf16>",
        "!pto.partition_tensor_view<16x64xui32>",
        "!pto.tensor_view<9223372036854775807x1xf32>",
        "!pto.ptr<f32>",
        "!pto.ptr<f16, ub>",
        "!pto.local_array<8xi32>",
        "!pto.eventid_array<2>",
        "!pto.struct<i32, !pto.struct<f32, f16>>",
        "!pto.pipe",
        "!pto.async_session",
        "!pto.async_event",
        "!pto.prefetch_async_context",
        "!pto.multi_tile_buf<!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, "
        "blayout=row_major, slayout=none_box, fractal=512, pad=0>, count=2>",
    ],
)
def test_other_spellings(text: str) -> None:
    assert str(parse_type(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!pto.tile_buf<vec, 16xf32>", "exactly two dimensions"),
        ("!pto.tile_buf<vec, 16x0xf32>", "must be positive"),
        ("!pto.tile_buf<vec, 16x8xf32, valid=17x8>", "valid_row (17) exceeds row (16)"),
        ("!pto.tile_buf<vec, 16x8xf32, fractal=64>", "unsupported s_fractal_size"),
        ("!pto.tile_buf<vec, 16x8xf32, pad=9>", "unknown pad: 9"),
        ("!pto.tile_buf<vec, 16x8xf32, pad=1, pad=1>", "duplicate pad"),
        ("!pto.tile_buf<gm, 16x8xf32>", "unknown loc: gm"),
        ("!pto.tile_buf<vec, 16x8xf8E5M2>", "is not an element type on A2/A3"),
        ("!pto.tensor_view<f32>", "between 1 and 5 dimensions"),
        ("!pto.multi_tile_buf<!pto.tile_buf<vec, 8x8xf32>, count=17>", "count"),
        ("!pto.struct<>", "struct"),
        ("!pto.tensor_view<9223372036854775808x1xf32>", "does not fit in 64 bits"),
        ("!pto.tensor_view<99999999999999999999x1xf32>", "does not fit in 64 bits"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises((ParseError, VerifyException), match=re.escape(message)):
        parse_type(text)


def test_sizes() -> None:
    assert pto.TileBufType((16, 64), f32).size_in_bytes == 16 * 64 * 4
    assert pto.TileBufType((16, 64), f16).size_in_bytes == 16 * 64 * 2
    assert pto.TileBufType((16, 64), i8, valid_shape=(1, 1)).size_in_bytes == 16 * 64
    assert pto.element_bits(IntegerType(16, Signedness.UNSIGNED)) == 16
    assert pto.element_bytes(IntegerType(1)) == 1


@pytest.mark.parametrize(
    ("element_type", "space", "slayout", "fractal", "box"),
    [
        # Without boxes each element stands alone.
        (f32, AddressSpace.VEC, SLayout.NONE_BOX, 512, (1, 1)),
        # A box of 512 bytes is 16 by 32 bytes, along the rows or the columns.
        (f16, AddressSpace.LEFT, SLayout.ROW_MAJOR, 512, (16, 16)),
        (i8, AddressSpace.LEFT, SLayout.ROW_MAJOR, 512, (16, 32)),
        (f32, AddressSpace.RIGHT, SLayout.COL_MAJOR, 512, (8, 16)),
        # A box of an accumulator is 16 by 16 words.
        (f32, AddressSpace.ACC, SLayout.ROW_MAJOR, 1024, (16, 16)),
    ],
)
def test_boxes(
    element_type: Attribute,
    space: AddressSpace,
    slayout: SLayout,
    fractal: int,
    box: tuple[int, int],
) -> None:
    tile = pto.TileBufType((64, 64), element_type, space, slayout=slayout, fractal=fractal)
    assert tile.inner_box == box
    assert tile.is_boxed == (slayout != SLayout.NONE_BOX)


def test_with_replaces_parts() -> None:
    tile = acc(32, 16)
    other = tile.with_(shape=(16, 16), valid_shape=(pto.DYNAMIC, 16))
    assert other.get_shape() == (16, 16)
    assert other.valid_shape == (pto.DYNAMIC, 16)
    assert other.has_dynamic_valid
    assert other.config == tile.config
    assert other.space == AddressSpace.ACC
    assert tile.with_(element_type=i32).element_type == i32
    with pytest.raises(VerifyException):
        tile.with_(valid_shape=(33, 16))


def test_types_of_two_contexts_are_equal() -> None:
    """The table of spellings holds nothing of the program that a type was read in."""
    assert parse_type("!pto.ptr<f16>") == pto.PtrType(Float16Type())
    assert parse_type("!pto.ptr<f16>") == parse_type("!pto.ptr<f16>")
