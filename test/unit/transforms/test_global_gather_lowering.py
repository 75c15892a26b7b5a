"""
What is gathered from global memory by index, and scattered to it, is what numpy does, on tiles, on
bytes and on the pipes of a core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import TO_CORE, assert_fails, assert_gives, levels, on_910b

from pypto_xdsl.diagnostics import DiagnosticsError

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "ui8": np.uint8,
}
RNG = np.random.default_rng(21)


def numbers(dtype: str, shape: tuple[int, ...]) -> Any:
    return RNG.integers(0, 50, shape).astype(DTYPES[dtype])


def places(count: int, shape: tuple[int, ...]) -> Any:
    return RNG.integers(0, count, shape).astype(np.int32)


def shown(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def gathering(
    table: tuple[int, ...],
    indices: tuple[int, ...],
    result: tuple[int, ...],
    dtype: str = "f32",
    words: str = "",
) -> str:
    """A kernel that loads indices and gathers by them."""
    what = f"!tile.tile<{shown(result)}x{dtype}>"
    i = f"{shown(indices)}xi32"
    return on_910b(
        f"""
        orch.func incore @k(in %x : tensor<{shown(table)}x{dtype}>, in %i : tensor<{i}>,
            out %o : tensor<{shown(result)}x{dtype}>) -> tensor<{shown(result)}x{dtype}> {{
          %j = tile.load %i[0, 0] : tensor<{i}> -> !tile.tile<{i}>
          %g = tile.mgather %x, %j{words}
            : tensor<{shown(table)}x{dtype}>, !tile.tile<{i}> -> {what}
          %r = tile.store %g, %o[0, 0] : {what}, tensor<{shown(result)}x{dtype}>
          orch.return %r : tensor<{shown(result)}x{dtype}>
        }}
        """
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("indices", [(1, 16), (16, 1)])
def test_rows(dtype: str, indices: tuple[int, int]):
    """Row i of the result is row `indices[i]`, whether they lie along a row or down a column."""
    x, i = numbers(dtype, (20, 64)), places(20, indices)
    text = gathering((20, 64), indices, (16, 64), dtype)
    assert_gives(text, [x, i, np.zeros((16, 64), x.dtype)], x[i.reshape(-1)], pipelines=TO_CORE)


@pytest.mark.parametrize("dtype", ["f32", "i8"])
@pytest.mark.parametrize("table", [(20, 64), (5, 4, 64), (1280,), (1280, 1)])
@pytest.mark.parametrize("indices", [(8, 32), (1, 32), (32, 1)])
def test_elements(dtype: str, table: tuple[int, ...], indices: tuple[int, int]):
    """Elements are counted row by row, through all dimensions."""
    x, i = numbers(dtype, table), places(1280, indices)
    text = gathering(table, indices, indices, dtype, ", coalesce = elem")
    wanted = x.reshape(-1)[i]
    assert_gives(text, [x, i, np.zeros(indices, x.dtype)], wanted, pipelines=TO_CORE)


def test_rows_of_a_table_of_three_dimensions():
    """The rows of all pages count, one page after the other."""
    x, i = numbers("f32", (5, 4, 64)), places(20, (1, 8))
    text = gathering((5, 4, 64), (1, 8), (8, 64))
    wanted = x.reshape(20, 64)[i[0]]
    assert_gives(text, [x, i, np.zeros((8, 64), np.float32)], wanted, pipelines=TO_CORE)


@pytest.mark.parametrize("coalesce", ["row", "elem"])
@pytest.mark.parametrize("policy", ["clamp", "wrap", "zero"])
def test_out_of_bounds(policy: str, coalesce: str):
    """Indices count as unsigned: -1 is the largest of all."""
    x = numbers("f32", (20, 64)) + 1
    count, indices = (20, (1, 8)) if coalesce == "row" else (1280, (8, 8))
    i = places(count, indices)
    i[0, :4] = [count, -1, count + 3, -7]
    words = f", coalesce = {coalesce}, gather_oob = {policy}"
    result = (8, 64) if coalesce == "row" else (8, 8)
    text = gathering((20, 64), indices, result, words=words)
    table = x if coalesce == "row" else x.reshape(-1)
    index = i.astype(np.int64) % (1 << 32)
    used = {"clamp": np.minimum(index, count - 1), "wrap": index % count, "zero": index}[policy]
    wanted = table[np.where(used < count, used, 0)].reshape(result)
    if coalesce == "row":
        wanted = np.where(used.reshape(-1, 1) < count, wanted, 0)
    else:
        wanted = np.where(used < count, wanted, 0)
    assert_gives(text, [x, i, np.zeros(result, np.float32)], wanted, pipelines=TO_CORE)


@pytest.mark.parametrize("coalesce", ["row", "elem"])
def test_out_of_bounds_is_an_error_at_each_level(coalesce: str):
    count, indices = (20, (1, 8)) if coalesce == "row" else (1280, (8, 8))
    i = places(count, indices)
    i[0, 3] = -2
    result = (8, 64) if coalesce == "row" else (8, 8)
    text = gathering((20, 64), indices, result, words=f", coalesce = {coalesce}")
    what = "rows" if coalesce == "row" else "elements"
    arguments = [numbers("f32", (20, 64)), i, np.zeros(result, np.float32)]
    message = f"kernel.mlir:5:.*has index -2, in a tensor of {count} {what}"
    assert_fails(text, arguments, message, pipelines=TO_CORE)


@pytest.mark.parametrize("coalesce", ["row", "elem"])
def test_as_far_as_the_indices_are_valid(coalesce: str):
    """What is valid of the indices at run time is what is gathered."""
    index = "!tile.tile<1x16xi32, valid = [1, ?]>"
    result = (
        "!tile.tile<16x64xf32, valid = [?, 64]>"
        if coalesce == "row"
        else "!tile.tile<1x16xf32, valid = [1, ?]>"
    )
    whole = "16x64" if coalesce == "row" else "1x16"
    text = on_910b(
        f"""
        orch.func incore @k(in %x : tensor<?x64xf32>, in %i : tensor<1x16xi32>, in %n : index,
            inout %o : tensor<{whole}xf32>) -> tensor<{whole}xf32> {{
          %j = tile.load %i[0, 0], valid = [1, %n] : tensor<1x16xi32> -> {index}
          %g = tile.mgather %x, %j, coalesce = {coalesce}
            : tensor<?x64xf32>, {index} -> {result}
          %r = tile.store %g, %o[0, 0] : {result}, tensor<{whole}xf32>
          orch.return %r : tensor<{whole}xf32>
        }}
        """
    )
    x, i = numbers("f32", (20, 64)), places(20, (1, 16))
    # Beyond what is valid there may be anything.
    i[0, 11:] = 5000
    rows, columns = map(int, whole.split("x"))
    wanted = np.zeros((rows, columns), np.float32)
    if coalesce == "row":
        wanted[:11] = x[i[0, :11]]
    else:
        wanted[0, :11] = x.reshape(-1)[i[0, :11]]
    arguments = [x, i, 11, np.zeros((rows, columns), np.float32)]
    assert_gives(text, arguments, wanted, pipelines=TO_CORE)


def test_rows_of_a_window():
    """Rows of a part of a table need not follow each other: each lies in a row."""
    text = on_910b(
        """
        orch.func incore @k(in %x : tensor<20x96xf32>, in %i : tensor<1x8xi32>, in %n : index,
            out %o : tensor<8x64xf32>) -> tensor<8x64xf32> {
          %w = ptensor.slice %x[%n, 16] : tensor<20x96xf32> -> tensor<12x64xf32>
          %j = tile.load %i[0, 0] : tensor<1x8xi32> -> !tile.tile<1x8xi32>
          %g = tile.mgather %w, %j : tensor<12x64xf32>, !tile.tile<1x8xi32> -> !tile.tile<8x64xf32>
          %r = tile.store %g, %o[0, 0] : !tile.tile<8x64xf32>, tensor<8x64xf32>
          orch.return %r : tensor<8x64xf32>
        }
        """
    )
    x, i = numbers("f32", (20, 96)), places(12, (1, 8))
    wanted = x[3:15, 16:80][i[0]]
    assert_gives(text, [x, i, 3, np.zeros((8, 64), np.float32)], wanted, pipelines=TO_CORE)


ROWS_TO_L1 = """
  %a = tile.mgather %x, %i : tensor<40x32xf16>, tensor<1x16xi32> -> !tile.tile<16x32xf16, mat>
"""
ELEMENTS_TO_L1 = """
  %a = tile.mgather %x, %i, %s, coalesce = elem
    : tensor<40x32xf16>, tensor<16x32xi32>, tensor<512xf16> -> !tile.tile<16x32xf16, mat>
"""


@pytest.mark.parametrize("coalesce", ["row", "elem"])
def test_to_l1(coalesce: str):
    """Indices lie in global memory, and so does what elements pass through."""
    by_row = coalesce == "row"
    indices = (1, 16) if by_row else (16, 32)
    scratch = "" if by_row else "inout %s : tensor<512xf16>, "
    text = on_910b(
        f"""
        orch.func incore @k(in %x : tensor<40x32xf16>, in %i : tensor<{shown(indices)}xi32>,
            in %y : tensor<32x16xf16>, {scratch}out %o : tensor<16x16xf32>)
            -> tensor<16x16xf32> {{
          {ROWS_TO_L1 if by_row else ELEMENTS_TO_L1}
          %b = tile.load %y[0, 0] : tensor<32x16xf16> -> !tile.tile<32x16xf16, mat>
          %p = tile.matmul %a, %b
            : !tile.tile<16x32xf16, mat>, !tile.tile<32x16xf16, mat> -> !tile.tile<16x16xf32>
          %r = tile.store %p, %o[0, 0] : !tile.tile<16x16xf32>, tensor<16x16xf32>
          orch.return %r : tensor<16x16xf32>
        }}
        """
    )
    x, y = RNG.integers(-3, 4, (40, 32)), RNG.integers(-3, 4, (32, 16))
    i = places(40 if by_row else 1280, indices)
    gathered = x[i[0]] if by_row else x.reshape(-1)[i]
    wanted = (gathered @ y).astype(np.float32)
    arguments = [x.astype(np.float16), i, y.astype(np.float16)]
    arguments += [] if by_row else [np.zeros(512, np.float16)]
    assert_gives(text, [*arguments, np.zeros((16, 16), np.float32)], wanted, pipelines=TO_CORE)


def scattering(
    source: tuple[int, int], table: tuple[int, ...], dtype: str, window: str = ""
) -> str:
    """A kernel that stores a tile element by element."""
    s, i, t = (f"{shown(source)}x{dtype}", f"{shown(source)}xi32", f"{shown(table)}x{dtype}")
    return on_910b(
        f"""
        orch.func incore @k(in %x : tensor<{s}>, in %i : tensor<{i}>, inout %o : tensor<{t}>)
            -> tensor<{t}> {{
          %a = tile.load %x[0, 0] : tensor<{s}> -> !tile.tile<{s}>
          %j = tile.load %i[0, 0] : tensor<{i}> -> !tile.tile<{i}>
          %r = tile.mscatter %a, %j, %o : !tile.tile<{s}>, !tile.tile<{i}>, tensor<{t}>
          orch.return %r : tensor<{t}>
        }}
        """
    )


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "i16"])
@pytest.mark.parametrize("table", [(20, 64), (5, 4, 64), (1280,), (1280, 1)])
@pytest.mark.parametrize("source", [(8, 32), (32, 1)])
def test_scatter(source: tuple[int, int], table: tuple[int, ...], dtype: str):
    """Elements that no index names stay, and of several at one place the last wins."""
    x, i, o = numbers(dtype, source), places(1280, source), numbers(dtype, table) + 50
    i.reshape(-1)[-1] = i.reshape(-1)[2]
    wanted = o.copy()
    for place, value in zip(i.reshape(-1), x.reshape(-1), strict=True):
        wanted.reshape(-1)[place] = value
    assert_gives(scattering(source, table, dtype), [x, i, o], wanted, pipelines=TO_CORE)


@pytest.mark.parametrize("index", [1280, -1])
def test_scatter_out_of_bounds(index: int):
    i = places(1280, (8, 32))
    i[2, 4] = index
    arguments = [numbers("f32", (8, 32)), i, numbers("f32", (20, 64))]
    text = scattering((8, 32), (20, 64), "f32")
    message = f"kernel.mlir:6:.*has index {index}, in a tensor of 1280 elements"
    assert_fails(text, arguments, message, pipelines=TO_CORE)


WINDOWS = {
    "gather": """
      %g = tile.mgather %w, %j, coalesce = elem
        : tensor<12x32xf32>, !tile.tile<8x32xi32> -> !tile.tile<8x32xf32>
      %r = tile.store %g, %o[0, 0] : !tile.tile<8x32xf32>, tensor<20x64xf32>
    """,
    "scatter": """
      %a = tile.load %x[0, 0] : tensor<20x64xf32> -> !tile.tile<8x32xf32>
      %v = ptensor.slice %o[4, 16] : tensor<20x64xf32> -> tensor<12x32xf32>
      %r = tile.mscatter %a, %j, %v : !tile.tile<8x32xf32>, !tile.tile<8x32xi32>, tensor<12x32xf32>
    """,
}


@pytest.mark.parametrize("what", WINDOWS)
def test_elements_of_a_window_do_not_follow_each_other(what: str):
    """The instruction counts from where the window starts, whatever lies between its rows."""
    text = on_910b(
        f"""
        orch.func incore @k(in %x : tensor<20x64xf32>, in %i : tensor<8x32xi32>,
            inout %o : tensor<20x64xf32>) {{
          %w = ptensor.slice %x[4, 16] : tensor<20x64xf32> -> tensor<12x32xf32>
          %j = tile.load %i[0, 0] : tensor<8x32xi32> -> !tile.tile<8x32xi32>
          {WINDOWS[what]}
          orch.return
        }}
        """
    )
    with pytest.raises(
        DiagnosticsError,
        match="counts the elements of a tensor, which do not follow each other in global memory",
    ):
        list(levels(text))


def test_scatter_to_rows_of_a_table():
    """A run of whole rows is a tensor whose elements follow each other, too."""
    text = on_910b(
        """
        orch.func incore @k(in %x : tensor<8x32xf32>, in %i : tensor<8x32xi32>, in %n : index,
            inout %o : tensor<20x64xf32>) -> tensor<20x64xf32> {
          %w = ptensor.slice %o[%n, 0] : tensor<20x64xf32> -> tensor<4x64xf32>
          %a = tile.load %x[0, 0] : tensor<8x32xf32> -> !tile.tile<8x32xf32>
          %j = tile.load %i[0, 0] : tensor<8x32xi32> -> !tile.tile<8x32xi32>
          %r = tile.mscatter %a, %j, %w
            : !tile.tile<8x32xf32>, !tile.tile<8x32xi32>, tensor<4x64xf32>
          orch.return %o : tensor<20x64xf32>
        }
        """
    )
    x, o = numbers("f32", (8, 32)), numbers("f32", (20, 64)) + 50
    i = RNG.permutation(256).astype(np.int32).reshape(8, 32)
    wanted = o.copy()
    wanted[7:11].reshape(-1)[i.reshape(-1)] = x.reshape(-1)
    assert_gives(text, [x, i, 7, o], wanted, pipelines=TO_CORE)
