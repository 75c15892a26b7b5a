"""Types and how they follow from each other: views, valid regions, broadcasting, promotion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    bf16,
    f16,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.element_types import UI8, UI16, UI32, bit_width, byte_width, promote
from pypto_xdsl.dialects.extents import broadcast_shapes, reshape_valid
from pypto_xdsl.dialects.ptensor import MaskPattern, TensorLayout, tensor_type
from pypto_xdsl.dialects.ptensor.types import strides_of, symbolic_shape_of, valid_shape_of
from pypto_xdsl.dialects.tile import Layout, MemorySpace, PadValue, TileLayout, TileType

ROW, COLUMN, FLAT = TileLayout.ROW_MAJOR, TileLayout.COL_MAJOR, TileLayout.NONE_BOX
VEC, MAT, LEFT, RIGHT, ACC, BIAS = MemorySpace
ANY = DYNAMIC_INDEX


def value(type: Attribute) -> SSAValue:
    return test.TestOp(result_types=[type]).results[0]


# Tiles: what an absent view means.


@pytest.mark.parametrize(
    ("space", "shape", "layout"),
    [
        (None, (16, 64), Layout(ROW, FLAT, 512)),
        (VEC, (16, 64), Layout(ROW, FLAT, 512)),
        (BIAS, (1, 64), Layout(ROW, FLAT, 512)),
        # A column; but a single element, and rows of a number known only at run time, are rows.
        (VEC, (16, 1), Layout(COLUMN, FLAT, 512)),
        (VEC, (1, 1), Layout(ROW, FLAT, 512)),
        (VEC, (ANY, 1), Layout(ROW, FLAT, 512)),
        (MAT, (16, 64), Layout(COLUMN, ROW, 512)),
        (MAT, (16, 1), Layout(COLUMN, ROW, 512)),
        (LEFT, (16, 64), Layout(COLUMN, ROW, 512)),
        (RIGHT, (16, 64), Layout(ROW, COLUMN, 512)),
        (RIGHT, (16, 1), Layout(COLUMN, COLUMN, 512)),
        (ACC, (16, 64), Layout(COLUMN, ROW, 1024)),
    ],
)
def test_implicit_views(space: MemorySpace | None, shape: tuple[int, ...], layout: Layout):
    implicit = TileType(shape, f32, space)
    assert implicit.layout == layout
    # L6: a view that says what is implicit is the same type, spelled once.
    assert TileType(shape, f32, space, layout=layout, valid=shape) == implicit
    assert str(TileType(shape, f32, space, layout=layout)) == str(implicit)


def test_an_implicit_view_follows_the_memory_and_an_explicit_one_stays():
    plain = TileType((16, 64), f32)
    assert plain.with_space(ACC).layout == Layout(COLUMN, ROW, 1024)
    assert plain.with_space(MAT).with_space(VEC) == plain.with_space(VEC)
    explicit = plain.with_space(VEC).with_layout(Layout(COLUMN, FLAT, 512))
    assert explicit.with_space(MAT).layout == Layout(COLUMN, FLAT, 512)


def test_the_physical_shape_decides_whether_a_tile_is_a_column():
    """L8: a packed mask [16, 32] of which one column is valid is stored by rows."""
    mask = TileType((16, 32), UI8, VEC, valid=(16, 1))
    assert mask.layout.blayout is ROW
    assert not mask.is_column
    assert TileType((16, 1), f32, VEC).is_column


def test_types_are_equal_where_their_meanings_are():
    one = TileType((16, 64), f32, VEC, valid=(8, 64), pad=PadValue.ZERO)
    other = TileType([16, 64], f32, VEC, valid=[8, 64], pad=PadValue.ZERO)
    assert one == other
    assert hash(one) == hash(other)
    assert one != one.with_valid(None)
    assert len({one, other, one.with_valid(None)}) == 2


# L10: the layout of a move is the destination's.


@pytest.mark.parametrize(
    ("source", "space", "layout"),
    [
        (MAT, LEFT, Layout(COLUMN, ROW, 512)),
        (MAT, RIGHT, Layout(ROW, COLUMN, 512)),
        (ACC, MAT, Layout(COLUMN, ROW, 512)),
        (VEC, MAT, Layout(COLUMN, ROW, 512)),
        # The vector buffer keeps what it gets.
        (ACC, VEC, Layout(COLUMN, ROW, 1024)),
    ],
)
def test_moves(source: MemorySpace, space: MemorySpace, layout: Layout):
    moved = tile.MoveOp.moved(TileType((16, 64), f16, source, valid=(5, 64)), space)
    assert moved.layout == layout
    assert moved.memory_space is space
    assert moved.valid_shape == (5, 64)


def test_views_keep_layout_and_memory():
    """L7: another valid region of an accumulator is still an accumulator's tile."""
    product = value(TileType((16, 64), f32, ACC))
    narrowed = tile.SetValidShapeOp(product, [5, 64])
    assert narrowed.result.type == TileType((16, 64), f32, ACC, valid=(5, 64))
    narrowed.verify()


# Reshape keeps the elements, not only their number.


@pytest.mark.parametrize(
    ("shape", "valid", "new", "expected"),
    [
        ((16, 64), (16, 64), (32, 32), (32, 32)),
        # L12, B-T19: a column's valid rows become a row's valid columns.
        ((16, 1), (8, 1), (1, 16), (1, 8)),
        ((16, 1), (ANY, 1), (1, 16), (1, ANY)),
        ((8, 16), (5, 16), (1, 128), (1, 80)),
        ((1, 128), (1, 80), (8, 16), (5, 16)),
        ((8, 16), (ANY, 16), (1, 128), (1, ANY)),
        ((2, 8, 16), (2, 5, 16), (2, 1, 8, 16), (2, 1, 5, 16)),
        ((8, 16), (4, 16), (4, 32), (2, 32)),
        ((8, 16), (5, 16), (4, 32), None),
        ((8, 16), (5, 8), (1, 128), None),
        ((1, 128), (1, ANY), (8, 16), None),
    ],
)
def test_valid_regions_of_reshapes(
    shape: tuple[int, ...],
    valid: tuple[int, ...],
    new: tuple[int, ...],
    expected: tuple[int, ...] | None,
):
    if expected is None:
        with pytest.raises(VerifyException, match="is no rectangle in"):
            reshape_valid(shape, valid, new)
    else:
        assert reshape_valid(shape, valid, new) == expected


@settings(max_examples=400)
@given(st.data())
def test_a_reshaped_region_holds_the_same_elements(data: st.DataObject):
    factors = st.sampled_from([1, 2, 3, 4])
    shape = tuple(data.draw(st.lists(factors, min_size=1, max_size=3)))
    size = int(np.prod(shape))
    new = data.draw(st.sampled_from(_factorisations(size)))
    valid = tuple(data.draw(st.integers(0, extent)) for extent in shape)
    inside = _region(shape, valid).reshape(new)
    try:
        found = reshape_valid(shape, valid, new)
    except VerifyException:
        rectangles = np.ndindex(tuple(extent + 1 for extent in new))
        assert not any(np.array_equal(inside, _region(new, r)) for r in rectangles)
    else:
        np.testing.assert_array_equal(inside, _region(new, found))


def _region(shape: tuple[int, ...], valid: tuple[int, ...]) -> np.ndarray[Any, Any]:
    flags = np.zeros(shape, bool)
    flags[tuple(slice(extent) for extent in valid)] = True
    return flags


def _factorisations(size: int) -> list[tuple[int, ...]]:
    return [
        (a, b, size // a // b)
        for a in range(1, size + 1)
        if size % a == 0
        for b in range(1, size // a + 1)
        if size // a % b == 0
    ]


# Masks of columns.


@pytest.mark.parametrize(
    ("pattern", "columns"),
    [
        (MaskPattern.P0101, [0, 2, 4, 6]),
        (MaskPattern.P1010, [1, 3, 5, 7]),
        (MaskPattern.P0001, [0, 4]),
        (MaskPattern.P0010, [1, 5]),
        (MaskPattern.P0100, [2, 6]),
        (MaskPattern.P1000, [3, 7]),
        (MaskPattern.P1111, list(range(8))),
    ],
)
def test_mask_patterns(pattern: MaskPattern, columns: list[int]):
    assert list(range(pattern.first, 8, pattern.stride)) == columns
    for extent in range(9):
        assert pattern.selected(extent) == sum(column < extent for column in columns)


# Element types.


@pytest.mark.parametrize(
    ("lhs", "rhs", "result"),
    [
        (f32, f16, f32),
        (f16, f32, f32),
        (i32, f16, f16),
        (bf16, i64, bf16),
        (i16, i32, i32),
        (UI32, i32, i32),
        (i32, UI32, i32),
        (UI16, UI16, UI16),
        (f16, bf16, f16),
        (IndexType(), i32, IndexType()),
    ],
    ids=str,
)
def test_promotion(lhs: Attribute, rhs: Attribute, result: Attribute):
    assert promote(lhs, rhs) == result


def test_widths():
    assert [bit_width(t) for t in (i1, i8, i16, f16, bf16, f32, i64, IndexType())] == [
        1,
        8,
        16,
        16,
        16,
        32,
        64,
        64,
    ]
    assert [byte_width(t) for t in (i1, i8, f16, f32)] == [1, 1, 2, 4]


# Broadcasting, on tensors: D-R2 to D-R7.


def test_broadcasting():
    assert broadcast_shapes((16, 64), (16, 64)) == (16, 64)
    assert broadcast_shapes((16, 64), (64,)) == (16, 64)
    assert broadcast_shapes((16, 1), (1, 64)) == (16, 64)
    assert broadcast_shapes(("M", 64), ("M", 1)) == ("M", 64)
    with pytest.raises(VerifyException, match="do not broadcast"):
        broadcast_shapes(("M", 64), ("N", 64))
    with pytest.raises(VerifyException, match="do not broadcast"):
        broadcast_shapes(("M", 64), (16, 64))


def test_tensor_sums():
    a, b = value(tensor_type((16, 64), f16)), value(tensor_type((1, 64), f32))
    assert ptensor.AddOp(a, a).result.type == tensor_type((16, 64), f16)
    assert ptensor.AddOp(a, b).result.type == tensor_type((16, 64), f32)
    partial = value(tensor_type((16, 64), f16, valid=(8, 64)))
    assert valid_shape_of(ptensor.AddOp(partial, partial).result.type) == (8, 64)
    assert valid_shape_of(ptensor.AddOp(partial, a).result.type) == (16, 64)
    strided = value(tensor_type((16, 64), f16, strides=(128, 1)))
    assert ptensor.AddOp(strided, strided).result.type == tensor_type((16, 64), f16)


# Products of tensors: D-R16 to D-R21.


@pytest.mark.parametrize(
    ("lhs", "rhs", "flags", "shape"),
    [
        ((16, 64), (64, 32), {}, (16, 32)),
        ((64, 16), (64, 32), {"a_trans": True}, (16, 32)),
        ((16, 64), (32, 64), {"b_trans": True}, (16, 32)),
        ((64, 16), (32, 64), {"a_trans": True, "b_trans": True}, (16, 32)),
        ((64,), (64, 32), {}, (32,)),
        ((16, 64), (64,), {}, (16,)),
        ((64,), (64,), {}, ()),
        ((4, 16, 64), (64, 32), {}, (4, 16, 32)),
        ((4, 1, 16, 64), (3, 64, 32), {}, (4, 3, 16, 32)),
        (("M", 64), (64, 32), {}, ("M", 32)),
    ],
)
def test_products(
    lhs: tuple[int | str, ...],
    rhs: tuple[int | str, ...],
    flags: dict[str, bool],
    shape: tuple[int | str, ...],
):
    left, right = value(tensor_type(lhs, f16)), value(tensor_type(rhs, f16))
    product = ptensor.MatmulOp(
        left, right, a_trans=flags.get("a_trans", False), b_trans=flags.get("b_trans", False)
    )
    assert symbolic_shape_of(product.result.type) == shape
    assert product.result.type.element_type == f16
    widened = ptensor.MatmulOp(
        left,
        right,
        out_dtype=f32,
        a_trans=flags.get("a_trans", False),
        b_trans=flags.get("b_trans", False),
    )
    assert widened.result.type.element_type == f32
    product.verify()


def test_products_of_partial_operands():
    left = value(TileType((16, 64), i8, LEFT, valid=(ANY, 64)))
    right = value(TileType((64, 32), i8, RIGHT, valid=(64, 20)))
    product = tile.MatmulOp(left, right).result.type
    assert product == TileType((16, 32), i32, ACC, valid=(ANY, 20), compact=True)


# Views of tensors.


def test_transposes_swap_strides():
    """L9: the rows of a window of a wider tensor stay as far apart as they are."""
    window = value(tensor_type((32, 512), f32, strides=(16384, 1)))
    turned = ptensor.TransposeOp(window).result.type
    assert turned.get_shape() == (512, 32)
    assert strides_of(turned) == (1, 16384)
    packed = ptensor.TransposeOp(value(tensor_type((32, 512), f32))).result.type
    assert packed == tensor_type((512, 32), f32, layout=TensorLayout.DN)
    assert strides_of(packed) == (1, 512)


def test_packed_columns():
    assert strides_of(tensor_type((4, 8, 16), f32, layout=TensorLayout.DN)) == (128, 1, 8)
    assert strides_of(tensor_type((4, 8, 16), f32)) == (128, 16, 1)


# What a write makes valid.


@pytest.mark.parametrize(
    ("valid", "source", "offsets", "expected"),
    [
        ((8, 64), (8, 64), (8, 0), (16, 64)),
        ((8, 64), (4, 64), (8, 0), (12, 64)),
        # A gap between what was valid and what is written.
        ((4, 64), (8, 64), (8, 0), (4, 64)),
        # Half a row more is no region.
        ((8, 64), (8, 32), (8, 0), (8, 64)),
        ((8, 32), (8, 32), (0, 32), (8, 64)),
        ((8, 32), (16, 64), (0, 0), (16, 64)),
        ((16, 64), (8, 32), (0, 0), (16, 64)),
    ],
)
def test_assembled_regions(
    valid: tuple[int, int],
    source: tuple[int, int],
    offsets: tuple[int, int],
    expected: tuple[int, int],
):
    target = TileType((16, 64), f32, VEC, valid=valid)
    written = TileType(source, f32, VEC)
    assert tile.AssembleOp.assembled(written, target, offsets).valid_shape == expected
    assert tile.AssembleOp(value(written), value(target), offsets).result.type == (
        target.with_valid(expected)
    )


@given(st.data())
def test_assembled_regions_were_all_written(data: st.DataObject):
    draw = data.draw
    valid = (draw(st.integers(0, 4)), draw(st.integers(0, 4)))
    source = (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    offsets = tuple(draw(st.integers(0, 4 - extent)) for extent in source)
    target = TileType((4, 4), f32, VEC, valid=valid)
    region = tile.AssembleOp.assembled(TileType(source, f32, VEC), target, offsets).valid_shape
    known = _region((4, 4), valid)
    window = tuple(slice(o, o + e) for o, e in zip(offsets, source, strict=True))
    known[window] = True
    claimed = _region((4, 4), region)
    assert known[claimed].all()
    assert claimed[_region((4, 4), valid)].all()


@pytest.mark.parametrize(
    ("valid", "offsets", "shape", "expected"),
    [
        ((12, 64), (8, 0), (8, 64), (4, 64)),
        ((12, 64), (0, 16), (8, 16), (8, 16)),
        ((12, 64), (12, 0), (4, 64), (0, 64)),
    ],
)
def test_windows(
    valid: tuple[int, int],
    offsets: tuple[int, int],
    shape: tuple[int, int],
    expected: tuple[int, int],
):
    source = TileType((16, 64), f32, VEC, valid=valid)
    window = tile.SliceOp.window(source, offsets, shape)
    assert window.valid_shape == expected
    assert window.layout == source.layout
    op = tile.SliceOp(value(source), offsets, window)
    op.verify()
