"""Ops that move elements: gathers, scatters, sorting, windows, padding, against plain loops."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support.kernels import run_tile_op
from support.programs import program

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.run import run

TMP = "%tmp = tile.create : !tile.tile<2x4xf32>\n"


def gather(indices: Any) -> Any:
    source = np.arange(8, dtype=np.float32).reshape(2, 4) * 10
    return run_tile_op(
        TMP + "%r = tile.gather %s, %i, %tmp"
        " : !tile.tile<2x4xf32>, !tile.tile<2x3xi32>, !tile.tile<2x4xf32> -> !tile.tile<2x3xf32>",
        {"s": ("f32", source), "i": ("i32", indices)},
        [("r", (2, 3), "!tile.tile<2x3xf32>")],
    ).parameters["out0"]


def test_gather_counts_elements_row_by_row():
    assert gather(np.array([[0, 7, 3], [4, 4, 1]], np.int32)).tolist() == [
        [0, 70, 30],
        [40, 40, 10],
    ]
    with pytest.raises(DiagnosticsError, match=r"undefined, the first at \[1, 2\]"):
        gather(np.array([[0, 7, 3], [4, 4, 8]], np.int32))


@pytest.mark.parametrize(
    ("pattern", "columns"),
    [
        ("p0101", [0, 2, 4, 6]),
        ("p1010", [1, 3, 5, 7]),
        ("p0001", [0, 4]),
        ("p0010", [1, 5]),
        ("p0100", [2, 6]),
        ("p1000", [3, 7]),
        ("p1111", list(range(8))),
    ],
)
def test_masks_select_columns(pattern: str, columns: list[int]):
    source = np.arange(8, dtype=np.int32)[None, :]
    width = len(columns)
    part = f"!tile.tile<1x{width}xi32>"
    outcome = run_tile_op(
        f"%g = tile.gather_mask %s, mask_pattern = {pattern} : !tile.tile<1x8xi32> -> {part}\n"
        f"%n = tile.neg %g : {part}\n"
        f"%r = tile.scatter_mask %s, %n, mask_pattern = {pattern} : !tile.tile<1x8xi32>, {part}",
        {"s": ("i32", source)},
        [("g", (1, width), part), ("r", (1, 8), "!tile.tile<1x8xi32>")],
    )
    assert outcome.parameters["out0"].tolist() == [columns]
    # The hardware clears what is not written.
    expected = [-column if column in columns else 0 for column in range(8)]
    assert outcome.parameters["out1"].tolist() == [expected]


def test_scatter_clears_and_the_last_one_wins():
    outcome = run_tile_op(
        "%r = tile.scatter %d, %s, %i"
        " : !tile.tile<1x6xf32>, !tile.tile<1x3xf32>, !tile.tile<1x3xi32>",
        {
            "d": ("f32", np.full((1, 6), 9, np.float32)),
            "s": ("f32", np.array([[1, 2, 3]], np.float32)),
            "i": ("i32", np.array([[4, 0, 4]], np.int32)),
        },
        [("r", (1, 6), "!tile.tile<1x6xf32>")],
    )
    assert outcome.parameters["out0"].tolist() == [[2, 0, 0, 0, 3, 0]]


def test_scatter_to_global_memory():
    text = """
        orch.func opaque @f(in %x : tensor<1x3xf32>, in %i : tensor<1x3xi32>,
                            inout %y : tensor<2x4xf32>) {
          %s = tile.load %x[0, 0] : tensor<1x3xf32> -> !tile.tile<1x3xf32>
          %k = tile.load %i[0, 0] : tensor<1x3xi32> -> !tile.tile<1x3xi32>
          %y1 = tile.mscatter %s, %k, %y
              : !tile.tile<1x3xf32>, !tile.tile<1x3xi32>, tensor<2x4xf32>
          orch.return
        }
        """
    values = np.array([[1, 2, 3]], np.float32)
    arguments = [values, np.array([[5, 0, 7]], np.int32), np.zeros((2, 4), np.float32)]
    result = run(program(text), "f", arguments)
    assert result.parameters["y"].tolist() == [[2, 0, 0, 0], [0, 1, 0, 3]]
    arguments[1] = np.array([[5, 0, 8]], np.int32)
    with pytest.raises(DiagnosticsError, match="has index 8, in a tensor of 8 elements"):
        run(program(text), "f", arguments)


def test_gather_along_an_axis_of_a_tensor():
    text = """
        orch.func opaque @f(
            in %x : tensor<3x4xf32>, in %i : tensor<2x4xi32>, in %j : tensor<3x2xi32>)
            -> (tensor<2x4xf32>, tensor<3x2xf32>) {
          %a = ptensor.gather %x, %i, dim = 0
              : tensor<3x4xf32>, tensor<2x4xi32> -> tensor<2x4xf32>
          %b = ptensor.gather %x, %j : tensor<3x4xf32>, tensor<3x2xi32> -> tensor<3x2xf32>
          orch.return %a, %b : tensor<2x4xf32>, tensor<3x2xf32>
        }
        """
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    i = np.array([[2, 0, 1, 2], [0, 0, 2, 1]], np.int32)
    j = np.array([[3, 0], [1, 1], [2, 3]], np.int32)
    by_rows, by_columns = run(program(text), "f", [x, i, j]).results
    assert by_rows.tolist() == [[x[i[r, c], c] for c in range(4)] for r in range(2)]
    assert by_columns.tolist() == [[x[r, j[r, k]] for k in range(2)] for r in range(3)]


@settings(max_examples=15)
@given(values=hnp.arrays(np.int64, (1, 64), elements=st.integers(-9, 9)))
@pytest.mark.parametrize(("dtype", "letter"), [("f32", "f"), ("f16", "e")])
def test_sort_by_blocks_and_merge(dtype: str, letter: str, values: Any):
    source = values.astype({"f32": np.float32, "f16": np.float16}[dtype])
    labels = np.arange(64, dtype=np.uint32)[None, :]
    width = 64 * (8 // source.itemsize)
    pairs = f"!tile.tile<1x{width}x{dtype}>"
    outcome = run_tile_op(
        f"%p = tile.sort32 %s, %i : !tile.tile<1x64x{dtype}>, !tile.tile<1x64xui32> -> {pairs}\n"
        f"%l = tile.slice %p[0, 0] : {pairs} -> !tile.tile<1x{width // 2}x{dtype}>\n"
        f"%r = tile.slice %p[0, {width // 2}] : {pairs} -> !tile.tile<1x{width // 2}x{dtype}>\n"
        f"%tmp = tile.create : {pairs}\n"
        f"%m = tile.mrgsort_format2 %l, %r, %tmp : !tile.tile<1x{width // 2}x{dtype}>,"
        f" !tile.tile<1x{width // 2}x{dtype}>, {pairs} -> {pairs}",
        {"s": (dtype, source), "i": ("ui32", labels)},
        [("p", (1, width), pairs), ("m", (1, width), pairs)],
    )

    def unpacked(array: Any) -> list[tuple[float, int]]:
        padding = "xx" if letter == "e" else ""
        return list(struct.iter_unpack(f"<{letter}{padding}I", array.tobytes()))

    def order(pair: tuple[float, int]) -> tuple[float, int]:
        return -pair[0], pair[1]

    numbered = list(zip(map(float, values[0]), range(64), strict=True))
    blocks = sorted(numbered[:32], key=order) + sorted(numbered[32:], key=order)
    assert unpacked(outcome.parameters["out0"]) == blocks
    assert unpacked(outcome.parameters["out1"]) == sorted(numbered, key=order)


def test_padding_fills_all_that_is_not_valid():
    source = np.arange(6, dtype=np.float32).reshape(2, 3)
    part = "!tile.tile<2x3xf32, valid = [1, 2]>"
    outcome = run_tile_op(
        f"%p = tile.fillpad %s, pad_value = min : {part} -> !tile.tile<2x3xf32, pad = min>\n"
        f"%e = tile.fillpad_expand %s : {part} -> !tile.tile<2x4xf32, pad = zero>",
        {"s": ("f32", source)},
        [
            ("p", (2, 3), "!tile.tile<2x3xf32, pad = min>"),
            ("e", (2, 4), "!tile.tile<2x4xf32, pad = zero>"),
        ],
        valid={"s": (1, 2)},
    )
    low = -np.inf
    assert outcome.parameters["out0"].tolist() == [[0, 1, low], [low, low, low]]
    assert outcome.parameters["out1"].tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]


def test_windows_concatenation_and_transposition():
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    outcome = run_tile_op(
        "%c = tile.concat %a, %a : !tile.tile<2x3xi32> -> !tile.tile<2x6xi32>\n"
        "%s = tile.slice %c[1, 2] : !tile.tile<2x6xi32> -> !tile.tile<1x3xi32>\n"
        "%n = tile.neg %s : !tile.tile<1x3xi32>\n"
        "%d = tile.assemble %n, %c[0, 3] : !tile.tile<1x3xi32>, !tile.tile<2x6xi32>\n"
        "%t = tile.transpose %a : !tile.tile<2x3xi32> -> !tile.tile<3x2xi32>",
        {"a": ("i32", a)},
        [("d", (2, 6), "!tile.tile<2x6xi32>"), ("t", (3, 2), "!tile.tile<3x2xi32>")],
    )
    assert outcome.parameters["out0"].tolist() == [[0, 1, 2, -5, -3, -4], [3, 4, 5, 3, 4, 5]]
    assert outcome.parameters["out1"].tolist() == a.T.tolist()


def test_bytes_are_read_as_other_elements():
    source = np.array([[1.0, -2.0]], np.float32)
    outcome = run_tile_op(
        "%v = tile.reinterpret_view %s : !tile.tile<1x2xf32> -> !tile.tile<1x4xi16>",
        {"s": ("f32", source)},
        [("v", (1, 4), "!tile.tile<1x4xi16>")],
    )
    assert outcome.parameters["out0"].ravel().tolist() == [0, 0x3F80, 0, 0xC000 - 0x10000]


def test_a_tensor_and_its_other_views_share_their_bytes():
    text = """
        orch.func opaque @f(inout %x : tensor<2x3xi32>, in %v : i32) {
          %zero = arith.constant 0 : index
          %t = ptensor.transpose %x : tensor<2x3xi32>
              -> tensor<3x2xi32, #ptensor.view<layout = dn>>
          %t1 = ptensor.write %v, %t[2, 0] : i32, tensor<3x2xi32, #ptensor.view<layout = dn>>
          %h = ptensor.reinterpret_view %x : tensor<2x3xi32> -> tensor<2x6xi16>
          %c = arith.constant 7 : i16
          %h1 = ptensor.write %c, %h[1, 1] : i16, tensor<2x6xi16>
          orch.return
        }
        """
    result = run(program(text), "f", [np.zeros((2, 3), np.int32), 5])
    assert result.parameters["x"].tolist() == [[0, 0, 5], [7 << 16, 0, 0]]


def test_half_written_elements_of_a_wider_type_are_undefined():
    text = """
        orch.func opaque @f() -> i32 {
          %c = ptensor.create : tensor<2xi32>
          %h = ptensor.reinterpret_view %c : tensor<2xi32> -> tensor<4xi16>
          %one = arith.constant 1 : i16
          %h1 = ptensor.write %one, %h[0] : i16, tensor<4xi16>
          MORE
          %w = ptensor.read %c[0] : tensor<2xi32> -> i32
          orch.return %w : i32
        }
        """
    with pytest.raises(DiagnosticsError, match="reads an undefined element"):
        run(program(text.replace("MORE", "")), "f")
    more = "%h2 = ptensor.write %one, %h1[1] : i16, tensor<4xi16>"
    # The older name of the buffer sees both writes: all names share the bytes.
    assert run(program(text.replace("MORE", more)), "f").results == (0x10001,)
