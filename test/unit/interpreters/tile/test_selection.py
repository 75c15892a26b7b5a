"""Comparisons to packed masks, selection, compare-gather; expected values bit by bit."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support.kernels import DTYPES, run_tile_op, shaped

from pypto_xdsl.diagnostics import DiagnosticsError

MODES: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "ui8"])
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=10)
@given(data=st.data(), columns=st.integers(1, 20))
def test_masks_are_packed(mode: str, dtype: str, data: st.DataObject, columns: int):
    if dtype.startswith("f"):
        numbers: st.SearchStrategy[Any] = st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf])
    else:
        numbers = st.integers(0, 3)
    a, b = (
        data.draw(hnp.arrays(np.dtype(DTYPES[dtype]), (2, columns), elements=numbers))
        for _ in range(2)
    )
    octets = -(-columns // 8)
    tile = f"!tile.tile<{shaped(a.shape, dtype)}>"
    mask = f"!tile.tile<2x32xui8, valid = [2, {octets}]>"
    result = run_tile_op(
        f"%m = tile.cmp %a, %b, cmp_type = {mode} : {tile} -> {mask}\n"
        f"%s = tile.cmps %a, %k, cmp_type = {mode} : {tile}, {dtype} -> {mask}",
        {"a": (dtype, a), "b": (dtype, b)},
        [("m", (2, octets), mask), ("s", (2, octets), mask)],
        scalars={"k": (dtype, 1)},
    )
    for name, other in (("out0", b), ("out1", np.ones_like(a))):
        for row in range(2):
            bits = "".join(
                str(int(MODES[mode](x, y)))
                for x, y in zip(a[row].tolist(), other[row].tolist(), strict=True)
            )
            # Bit c % 8 of byte c // 8; bits beyond the last column are 0.
            padded = bits.ljust(8 * octets, "0")
            expected = [int(padded[i : i + 8][::-1], 2) for i in range(0, 8 * octets, 8)]
            assert result.parameters[name][row].tolist() == expected


@settings(max_examples=20)
@given(data=st.data(), columns=st.integers(1, 20))
def test_selection(data: st.DataObject, columns: int):
    a, b = (
        data.draw(hnp.arrays(np.float32, (2, columns), elements=st.floats(-4, 4, width=16)))
        for _ in range(2)
    )
    octets = -(-columns // 8)
    tile = f"!tile.tile<2x{columns}xf32>"
    mask = f"!tile.tile<2x32xui8, valid = [2, {octets}]>"
    tmp = "!tile.tile<1x32xui8>"
    result = run_tile_op(
        f"%m = tile.cmp %a, %b, cmp_type = lt : {tile} -> {mask}\n"
        f"%tmp = tile.create : {tmp}\n"
        f"%r = tile.sel %m, %a, %b, %tmp : {mask}, {tile}, {tile}, {tmp} -> {tile}\n"
        f"%s = tile.sels %m, %a, %tmp, %k : {mask}, {tile}, {tmp}, f32 -> {tile}",
        {"a": ("f32", a), "b": ("f32", b)},
        [("r", a.shape, tile), ("s", a.shape, tile)],
        scalars={"k": ("f32", 0.5)},
    )
    np.testing.assert_array_equal(result.parameters["out0"], np.minimum(a, b))
    np.testing.assert_array_equal(result.parameters["out1"], np.where(a < b, a, 0.5))


def test_a_mask_of_wider_integers_is_read_byte_by_byte():
    mask = np.array([[0b0000_0010_0000_0001]], np.int16)
    a = np.arange(10, dtype=np.int32)[None, :]
    tile, tmp = "!tile.tile<1x10xi32>", "!tile.tile<1x32xui8>"
    result = run_tile_op(
        f"%tmp = tile.create : {tmp}\n"
        f"%r = tile.sels %m, %a, %tmp, %k : !tile.tile<1x1xi16>, {tile}, {tmp}, i32 -> {tile}",
        {"m": ("i16", mask), "a": ("i32", a)},
        [("r", (1, 10), tile)],
        scalars={"k": ("i32", -1)},
    )
    assert result.parameters["out0"].tolist() == [[0, *[-1] * 8, 9]]


def gather_compare(array: Any, threshold: float, mode: str, width: int, offset: int, store: str):
    rows, columns = array.shape
    dtype = "f32" if array.dtype == np.float32 else "i16"
    tile, tmp = f"!tile.tile<{rows}x{columns}x{dtype}>", f"!tile.tile<{rows}x{columns}xui8>"
    indices, counts = f"!tile.tile<{rows}x{width}xi32>", f"!tile.tile<1x{rows}xui32>"
    stored = {
        "both": [("i", (rows, width), indices), ("c", (1, rows), counts)],
        "counts": [("c", (1, rows), counts)],
    }
    return run_tile_op(
        f"%tmp = tile.create : {tmp}\n"
        f"%i, %c = tile.gather_compare %a, %k, %tmp, cmp_mode = {mode}, offset = {offset},"
        f" out_cols = {width}, count_dtype = ui32 : {tile}, {dtype}, {tmp} -> {indices}, {counts}",
        {"a": (dtype, array)},
        stored[store],
        scalars={"k": (dtype, threshold)},
        strict=store != "both",
    )


def test_compare_gather(recwarn: pytest.WarningsRecorder, capsys: pytest.CaptureFixture[str]):
    array = np.array([[3.0, 1.0, 5.0, math.nan], [0.0, 0.0, 0.0, 9.0]], np.float32)
    result = gather_compare(array, 2.0, "gt", 3, 10, "both")
    assert result.parameters["out0"][0, :2].tolist() == [10, 12]
    assert result.parameters["out0"][1, 0] == 13
    assert result.parameters["out1"].tolist() == [[2, 1]]
    # The unwritten tail of each row is undefined, and stays so in the tensor.
    defined = result.tensors["out0"].defined
    assert defined is not None
    assert defined.tolist() == [[True, True, False], [True, False, False]]
    assert "stores undefined elements: 3 of 6 elements" in capsys.readouterr().err


def test_compare_gather_counts_what_it_drops():
    array = np.array([[1, 1, 1, 0]], np.int16)
    assert gather_compare(array, 1, "eq", 2, 0, "counts").parameters["out0"].tolist() == [[3]]


def test_the_tail_of_compare_gather_may_not_be_stored():
    array = np.array([[1, 0]], np.int16)
    with pytest.raises(DiagnosticsError) as caught:
        run_tile_op(
            "%tmp = tile.create : !tile.tile<1x2xui8>\n"
            "%i, %c = tile.gather_compare %a, %k, %tmp, cmp_mode = eq, out_cols = 2"
            " : !tile.tile<1x2xi16>, i16, !tile.tile<1x2xui8>"
            " -> !tile.tile<1x2xi32>, !tile.tile<1x1xi32>",
            {"a": ("i16", array)},
            [("i", (1, 2), "!tile.tile<1x2xi32>")],
            scalars={"k": ("i16", 1)},
        )
    assert str(caught.value) == (
        "program.mlir:5:12: error: 'tile.store' op stores undefined elements: 1 of 2 elements is "
        "undefined, the first at [0, 1]"
    )


def test_each_bit_of_a_mask_knows_whether_it_is_defined():
    # Columns 5 to 7 were never loaded; the byte that tells of them tells of others too.
    a = np.arange(8, dtype=np.float32)[None, :]
    part, whole = "!tile.tile<1x8xf32, valid = [1, 5]>", "!tile.tile<1x8xf32>"
    mask, tmp = "!tile.tile<1x32xui8, valid = [1, 1]>", "!tile.tile<1x32xui8>"

    def run(count: int) -> list[list[float]]:
        narrow = f"!tile.tile<1x8xf32, valid = [1, {count}]>"
        return (
            run_tile_op(
                f"%w = tile.set_validshape %a, valid = [1, 8] : {part} -> {whole}\n"
                f"%m = tile.cmps %w, %k, cmp_type = gt : {whole}, f32 -> {mask}\n"
                f"%tmp = tile.create : {tmp}\n"
                f"%r = tile.sels %m, %w, %tmp, %k : {mask}, {whole}, {tmp}, f32 -> {whole}\n"
                f"%n = tile.set_validshape %r, valid = [1, {count}] : {whole} -> {narrow}",
                {"a": ("f32", a)},
                [("n", (1, count), narrow)],
                valid={"a": (1, 5)},
                scalars={"k": ("f32", 2.0)},
            )
            .parameters["out0"]
            .tolist()
        )

    assert run(5) == [[2, 2, 2, 3, 4]]
    with pytest.raises(
        DiagnosticsError, match=r"1 of 6 elements is undefined, the first at \[0, 5\]"
    ):
        run(6)
