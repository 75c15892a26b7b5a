"""Ops that move elements by row, by block, by page or by run, against plain loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kernels import run_tile_op
from support.programs import program

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.run import run

RNG = np.random.default_rng(11)


@given(offsets=st.lists(st.integers(0, 7), min_size=8, max_size=8))
@settings(max_examples=10)
def test_blocks_are_gathered_by_byte_offset(offsets: list[int]):
    """Each offset gives the 32 bytes of the source that start there."""
    source = np.arange(64, dtype=np.float32).reshape(2, 32)
    starts = np.array([[32 * offset for offset in offsets]], np.uint32)
    outcome = run_tile_op(
        "%r = tile.gatherb %s, %o : !tile.tile<2x32xf32>, !tile.tile<1x8xui32>"
        " -> !tile.tile<1x64xf32>",
        {"s": ("f32", source), "o": ("ui32", starts)},
        [("r", (1, 64), "!tile.tile<1x64xf32>")],
    )
    flat = source.reshape(-1)
    expected = np.concatenate([flat[8 * offset : 8 * offset + 8] for offset in offsets])
    np.testing.assert_array_equal(outcome.parameters["out0"][0], expected)


@pytest.mark.parametrize(
    ("start", "message"),
    [(16, "gathers from byte 16, which is no multiple of 32"), (256, "a block lies outside")],
)
def test_blocks_lie_where_those_of_the_memory_do(start: int, message: str):
    starts = np.array([[0, 32, 64, start, 0, 0, 0, 0]], np.uint32)
    with pytest.raises(DiagnosticsError, match=message):
        run_tile_op(
            "%r = tile.gatherb %s, %o : !tile.tile<2x32xf32>, !tile.tile<1x8xui32>"
            " -> !tile.tile<1x64xf32>",
            {"s": ("f32", np.zeros((2, 32), np.float32)), "o": ("ui32", starts)},
            [("r", (1, 64), "!tile.tile<1x64xf32>")],
        )


@pytest.mark.parametrize("transpose", [False, True])
def test_a_row_is_gathered_into_place(transpose: bool):
    """Loaded straight into a window of the tile; the rest of the tile stays."""
    x = np.arange(40, dtype=np.float32).reshape(5, 8)
    t = -np.ones((6, 6), np.float32)
    module = program(
        f"""
        orch.func incore @kernel(in %x : tensor<5x8xf32>, inout %y : tensor<6x6xf32>,
                                 in %i : index) {{
          %t = tile.load %y[0, 0] : tensor<6x6xf32> -> !tile.tile<6x6xf32>
          %r = tile.gather_row %t[1, 2], %x[%i, 3], sizes = [1, 4], valid = [1, 3],
            transpose = {str(transpose).lower()} : !tile.tile<6x6xf32>, tensor<5x8xf32>
          %z = tile.store %r, %y[0, 0] : !tile.tile<6x6xf32>, tensor<6x6xf32>
          orch.return
        }}
        """
    )
    found = run(module, "kernel", [x, t.copy(), 2]).parameters["y"]
    expected = t.copy()
    if transpose:
        expected[1:4, 2] = x[2, 3:6]
    else:
        expected[1, 2:5] = x[2, 3:6]
    np.testing.assert_array_equal(found, expected)


OUTSIDE: dict[str, Callable[[int, int], int | None]] = {
    "clamp": lambda index, extent: min(index, extent - 1),
    "wrap": lambda index, extent: index % extent,
    "zero": lambda index, extent: index if index < extent else None,
}


@pytest.mark.parametrize("policy", OUTSIDE)
@pytest.mark.parametrize("coalesce", ["row", "elem"])
@given(indices=st.lists(st.integers(-4, 12), min_size=4, max_size=4))
@settings(max_examples=8)
def test_gathering_from_global_memory(coalesce: str, policy: str, indices: list[int]):
    x = np.arange(1, 16, dtype=np.float32).reshape(5, 3)
    shape = "4x3" if coalesce == "row" else "1x4"
    module = program(
        f"""
        orch.func incore @kernel(in %x : tensor<5x3xf32>, in %i : tensor<1x4xi32>,
                                 out %y : tensor<{shape}xf32>) {{
          %t = tile.load %i[0, 0] : tensor<1x4xi32> -> !tile.tile<1x4xi32>
          %g = tile.mgather %x, %t, coalesce = {coalesce}, gather_oob = {policy} :
            tensor<5x3xf32>, !tile.tile<1x4xi32> -> !tile.tile<{shape}xf32>
          %z = tile.store %g, %y[0, 0] : !tile.tile<{shape}xf32>, tensor<{shape}xf32>
          orch.return
        }}
        """
    )
    found = run(module, "kernel", [x, np.array([indices], np.int32)]).parameters["y"]
    table = x if coalesce == "row" else x.reshape(-1)
    # -1 is the largest of all.
    places = [OUTSIDE[policy](index % (1 << 32), len(table)) for index in indices]
    rows = [np.zeros_like(table[0]) if place is None else table[place] for place in places]
    np.testing.assert_array_equal(found, np.array(rows).reshape(found.shape))


def test_gathering_outside_a_tensor_is_an_error():
    module = program(
        """
        orch.func incore @kernel(in %x : tensor<5x3xf32>, in %i : tensor<1x2xi32>,
                                 out %y : tensor<2x3xf32>) {
          %t = tile.load %i[0, 0] : tensor<1x2xi32> -> !tile.tile<1x2xi32>
          %g = tile.mgather %x, %t : tensor<5x3xf32>, !tile.tile<1x2xi32> -> !tile.tile<2x3xf32>
          %z = tile.store %g, %y[0, 0] : !tile.tile<2x3xf32>, tensor<2x3xf32>
          orch.return
        }
        """
    )
    x = np.ones((5, 3), np.float32)
    with pytest.raises(DiagnosticsError, match="has index 5, in a tensor of 5 rows"):
        run(module, "kernel", [x, np.array([[0, 5]], np.int32)])


def test_pages():
    """Row i is row `k % block` of the page of index k, some of its columns."""
    cache = RNG.standard_normal((12, 8)).astype(np.float32)
    table = np.array([2, 0, 1], np.int32)
    indices = np.array([5, 0, 11, 2], np.int32)
    module = program(
        """
        orch.func orchestration @main(in %x : tensor<12x8xf32>, in %i : tensor<4xi32>,
                                      in %b : tensor<3xi32>)
            -> (tensor<4x5xf32>, tensor<5x4xf32>) {
          %r = ptensor.paged_gather %x, %i, %b, block_size = 4, size = 5, max_indices = 4,
            col_off = 2 : tensor<12x8xf32>, tensor<4xi32>, tensor<3xi32> -> tensor<4x5xf32>
          %t = ptensor.paged_gather %x, %i, %b, block_size = 4, size = 5, max_indices = 4,
            col_off = 2, is_trans = true
            : tensor<12x8xf32>, tensor<4xi32>, tensor<3xi32> -> tensor<5x4xf32>
          orch.return %r, %t : tensor<4x5xf32>, tensor<5x4xf32>
        }
        """
    )
    plain, turned = run(module, "main", [cache, indices, table]).results
    expected = np.stack([cache[table[k // 4] * 4 + k % 4, 2:7] for k in indices.tolist()])
    np.testing.assert_array_equal(plain, expected)
    np.testing.assert_array_equal(turned, expected.T)


@pytest.mark.parametrize("level", ["tile", "ptensor"])
def test_rows_are_updated(level: str):
    """The last of equal indices wins; the other rows stay."""
    x = RNG.standard_normal((6, 4)).astype(np.float32)
    rows = RNG.standard_normal((3, 4)).astype(np.float32)
    index = np.array([[4, 1, 4]], np.int32)
    if level == "tile":
        found = run_tile_op(
            "%r = tile.scatter_update %t, %i, %s"
            " : !tile.tile<6x4xf32>, !tile.tile<1x3xi32>, !tile.tile<3x4xf32>",
            {"t": ("f32", x), "i": ("i32", index), "s": ("f32", rows)},
            [("r", (6, 4), "!tile.tile<6x4xf32>")],
        ).parameters["out0"]
    else:
        module = program(
            """
            orch.func orchestration @main(in %x : tensor<6x4xf32>, in %i : tensor<1x3xi32>,
                                          in %s : tensor<3x4xf32>) -> tensor<6x4xf32> {
              %r = ptensor.scatter_update %x, %i, %s
                : tensor<6x4xf32>, tensor<1x3xi32>, tensor<3x4xf32>
              orch.return %r : tensor<6x4xf32>
            }
            """
        )
        (found,) = run(module, "main", [x, index, rows]).results
    expected = x.copy()
    for place, row in zip(index[0].tolist(), rows, strict=True):
        expected[place] = row
    np.testing.assert_array_equal(found, expected)


def test_tensors_are_scattered_into_copies():
    """Unlike on tiles, what is not written stays."""
    x = RNG.standard_normal((2, 6)).astype(np.float32)
    source = RNG.standard_normal((2, 3)).astype(np.float32)
    index = np.array([[5, 0, 5], [1, 2, 3]], np.int32)
    module = program(
        """
        orch.func orchestration @main(in %x : tensor<2x6xf32>, in %i : tensor<2x3xi32>,
                                      in %s : tensor<2x3xf32>)
            -> (tensor<2x6xf32>, tensor<2x6xf32>) {
          %r = ptensor.scatter %x, %i, %s : tensor<2x6xf32>, tensor<2x3xi32>, tensor<2x3xf32>
          %m = ptensor.scatter_mask %s, %x, mask_pattern = p1010 : tensor<2x3xf32>, tensor<2x6xf32>
          orch.return %r, %m : tensor<2x6xf32>, tensor<2x6xf32>
        }
        """
    )
    outcome = run(module, "main", [x, index, source])
    scattered, masked = outcome.results
    expected = x.copy()
    for row in range(2):
        for place, number in zip(index[row].tolist(), source[row], strict=True):
            expected[row, place] = number
    np.testing.assert_array_equal(scattered, expected)
    beside = x.copy()
    beside[:, 1::2] = source
    np.testing.assert_array_equal(masked, beside)
    np.testing.assert_array_equal(outcome.parameters["x"], x)


@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_runs_are_merged_in_groups_of_four(seed: int):
    """`tile.mrgsort_format1`: pairs of value and index, each run sorted already."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-9, 9, 64).astype(np.float32)
    # Four runs of 16 pairs: 32 columns each.
    values = np.sort(values.reshape(4, 16), axis=1)[:, ::-1].reshape(-1)
    pairs = np.zeros((1, 128), np.float32)
    pairs[0, 0::2] = values
    pairs[0, 1::2] = np.arange(64, dtype=np.uint32).view(np.float32)
    found = run_tile_op(
        "%r = tile.mrgsort_format1 %s, %k : !tile.tile<1x128xf32>, i32",
        {"s": ("f32", pairs)},
        [("r", (1, 128), "!tile.tile<1x128xf32>")],
        scalars={"k": ("i32", 32)},
    ).parameters["out0"]
    order = sorted(range(64), key=lambda place: -values[place])
    np.testing.assert_array_equal(found[0, 0::2], values[order])
    indices = np.ascontiguousarray(found[0, 1::2]).view(np.uint32)
    np.testing.assert_array_equal(values[indices], values[order])
    assert sorted(indices.tolist()) == list(range(64))


PRODUCTS = """
    %a = tile.load %x[0, 0] : tensor<1x8xf16> -> !tile.tile<1x8xf16>
    %b = tile.load %w[0, 0] : tensor<8x6xf16> -> !tile.tile<8x6xf16>
    %v = tile.load %c[0, 0] : tensor<1x6xf32> -> !tile.tile<1x6xf32>
    %g = tile.gemv %a, %b : !tile.tile<1x8xf16>, !tile.tile<8x6xf16>
      -> !tile.tile<16x6xf32, valid = [1, 6]>
    %h = tile.gemv_bias %a, %b, %v : !tile.tile<1x8xf16>, !tile.tile<8x6xf16>, !tile.tile<1x6xf32>
      -> !tile.tile<16x6xf32, valid = [1, 6]>
    %i = tile.gemv_acc %h, %a, %b
      : !tile.tile<16x6xf32, valid = [1, 6]>, !tile.tile<1x8xf16>, !tile.tile<8x6xf16>
"""


def test_products_of_a_row():
    module = program(
        f"""
        orch.func incore @kernel(in %x : tensor<1x8xf16>, in %w : tensor<8x6xf16>,
                                 in %c : tensor<1x6xf32>, out %y : tensor<3x6xf32>) {{
          {PRODUCTS}
          %y1 = tile.store %g, %y[0, 0] : !tile.tile<16x6xf32, valid = [1, 6]>, tensor<3x6xf32>
          %y2 = tile.store %h, %y1[1, 0] : !tile.tile<16x6xf32, valid = [1, 6]>, tensor<3x6xf32>
          %y3 = tile.store %i, %y2[2, 0] : !tile.tile<16x6xf32, valid = [1, 6]>, tensor<3x6xf32>
          orch.return
        }}
        """
    )
    x = RNG.integers(-4, 5, (1, 8)).astype(np.float16)
    w = RNG.integers(-4, 5, (8, 6)).astype(np.float16)
    c = RNG.integers(-4, 5, (1, 6)).astype(np.float32)
    found = run(module, "kernel", [x, w, c]).parameters["y"]
    product = x.astype(np.float32) @ w.astype(np.float32)
    expected = np.concatenate([product, product + c, 2 * product + c])
    np.testing.assert_array_equal(found, expected)


def test_batches_of_products():
    """Batches broadcast; a bias is added to each row, an accumulator to each product."""
    a = RNG.integers(-4, 5, (2, 1, 3, 5)).astype(np.float32)
    b = RNG.integers(-4, 5, (4, 5, 2)).astype(np.float32)
    c = RNG.integers(-4, 5, (2, 4, 3, 2)).astype(np.float32)
    types = "!tile.tile<2x1x3x5xf32>, !tile.tile<4x5x2xf32>"
    outcome = run_tile_op(
        f"""
        %p = tile.batch_matmul %a, %b : {types} -> !tile.tile<2x4x3x2xf32>
        %q = tile.batch_matmul_acc %c, %a, %b : !tile.tile<2x4x3x2xf32>, {types}
        """,
        {"a": ("f32", a), "b": ("f32", b), "c": ("f32", c)},
        [
            ("p", (2, 4, 3, 2), "!tile.tile<2x4x3x2xf32>"),
            ("q", (2, 4, 3, 2), "!tile.tile<2x4x3x2xf32>"),
        ],
    )
    np.testing.assert_array_equal(outcome.parameters["out0"], a @ b)
    np.testing.assert_array_equal(outcome.parameters["out1"], c + a @ b)


def test_windows_are_copied_out_and_turned():
    x = RNG.standard_normal((6, 8)).astype(np.float32)
    outcome = run_tile_op(
        """
        %e = tile.extract %t[2, 4] : !tile.tile<6x8xf32> -> !tile.tile<3x4xf32>
        %v = tile.transpose_view %t : !tile.tile<6x8xf32>
          -> !tile.tile<8x6xf32, blayout = col_major>
        %r = tile.reshape %t : !tile.tile<6x8xf32> -> !tile.tile<4x12xf32>
        """,
        {"t": ("f32", x)},
        [
            ("e", (3, 4), "!tile.tile<3x4xf32>"),
            ("v", (8, 6), "!tile.tile<8x6xf32, blayout = col_major>"),
            ("r", (4, 12), "!tile.tile<4x12xf32>"),
        ],
    )
    np.testing.assert_array_equal(outcome.parameters["out0"], x[2:5, 4:8])
    np.testing.assert_array_equal(outcome.parameters["out1"], x.T)
    np.testing.assert_array_equal(outcome.parameters["out2"], x.reshape(4, 12))
