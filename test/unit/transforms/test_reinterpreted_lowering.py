"""Bytes read as other elements are the same bytes at every level, on chip and in global memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import TO_CORE, assert_fails, assert_gives, levels, on_910b

from pypto_xdsl.diagnostics import DiagnosticsError

DTYPES: dict[str, Any] = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "f32": np.float32}
X: Any = np.random.default_rng(8).integers(0, 50, (16, 64)).astype(np.int32)


def kernel(body: str, dtype: str, shape: str, parameters: str = "in %x : tensor<16x64xi32>") -> str:
    """A kernel that stores the sum of a tile `%v` with itself."""
    return on_910b(
        f"""
        orch.func incore @k({parameters}, inout %o : tensor<{shape}x{dtype}>)
            -> tensor<{shape}x{dtype}> {{
          {body}
          orch.return %r : tensor<{shape}x{dtype}>
        }}
        """
    )


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        ("i16", (16, 128)),
        ("i8", (16, 256)),
        ("f32", (16, 64)),
        # In other rows.
        ("i16", (8, 256)),
        ("i32", (4, 256)),
        ("i16", (1, 2048)),
    ],
)
def test_of_a_tile(dtype: str, shape: tuple[int, int]):
    rows, columns = shape
    tile = f"!tile.tile<{rows}x{columns}x{dtype}>"
    text = kernel(
        f"""
        %t = tile.load %x[0, 0] : tensor<16x64xi32> -> !tile.tile<16x64xi32>
        %v = tile.reinterpret_view %t : !tile.tile<16x64xi32> -> {tile}
        %r = tile.store %v, %o[0, 0] : {tile}, tensor<{rows}x{columns}x{dtype}>
        """,
        dtype,
        f"{rows}x{columns}",
    )
    wanted = X.view(DTYPES[dtype]).reshape(shape)
    assert_gives(text, [X, np.zeros(shape, wanted.dtype)], wanted, pipelines=TO_CORE)


def test_of_what_is_computed_and_changed():
    """What is written through the one view is seen through the other: each is a value."""
    text = kernel(
        """
        %one = arith.constant 1 : i32
        %t = tile.load %x[0, 0] : tensor<16x64xi32> -> !tile.tile<16x64xi32>
        %a = tile.adds %t, %one : !tile.tile<16x64xi32>, i32
        %v = tile.reinterpret_view %a : !tile.tile<16x64xi32> -> !tile.tile<16x128xi16>
        %w = tile.add %v, %v : !tile.tile<16x128xi16>
        %b = tile.reinterpret_view %w : !tile.tile<16x128xi16> -> !tile.tile<16x64xi32>
        %c = tile.add %a, %b : !tile.tile<16x64xi32>
        %r = tile.store %c, %o[0, 0] : !tile.tile<16x64xi32>, tensor<16x64xi32>
        """,
        "i32",
        "16x64",
    )
    wanted = (X + 1) + ((X + 1).view(np.int16) * np.int16(2)).view(np.int32)
    assert_gives(text, [X, np.zeros((16, 64), np.int32)], wanted, pipelines=TO_CORE)


def test_of_elements_as_large():
    """What is computed then is computed in the other type."""
    text = kernel(
        """
        %t = tile.load %x[0, 0] : tensor<16x64xi32> -> !tile.tile<16x64xi32, valid = [9, 30]>
        %v = tile.reinterpret_view %t
          : !tile.tile<16x64xi32, valid = [9, 30]> -> !tile.tile<16x64xf32, valid = [9, 30]>
        %a = tile.add %v, %v : !tile.tile<16x64xf32, valid = [9, 30]>
        %p = tile.fillpad %a, pad_value = max
          : !tile.tile<16x64xf32, valid = [9, 30]> -> !tile.tile<16x64xf32, pad = max>
        %r = tile.store %p, %o[0, 0] : !tile.tile<16x64xf32, pad = max>, tensor<16x64xf32>
        """,
        "f32",
        "16x64",
    )
    x = np.random.default_rng(9).standard_normal((16, 64)).astype(np.float32)
    wanted = np.full((16, 64), np.inf, np.float32)
    wanted[:9, :30] = 2 * x[:9, :30]
    arguments = [x.view(np.int32), np.zeros((16, 64), np.float32)]
    assert_gives(text, arguments, wanted, pipelines=TO_CORE)


@pytest.mark.parametrize(("dtype", "columns"), [("f32", 32), ("i16", 64)])
def test_of_columns_of_a_tile(dtype: str, columns: int):
    """The rows of a window lie apart; its elements are others all the same."""
    new = f"!tile.tile<8x{columns}x{dtype}>"
    text = kernel(
        f"""
        %t = tile.load %x[0, 0] : tensor<16x64xi32> -> !tile.tile<16x64xi32>
        %s = tile.slice %t[4, 16] : !tile.tile<16x64xi32> -> !tile.tile<8x32xi32>
        %v = tile.reinterpret_view %s : !tile.tile<8x32xi32> -> {new}
        %a = tile.add %v, %v : {new}
        %r = tile.store %a, %o[0, 0] : {new}, tensor<8x{columns}x{dtype}>
        """,
        dtype,
        f"8x{columns}",
    )
    x = np.random.default_rng(9).standard_normal((16, 64)).astype(np.float32).view(np.int32)
    part = np.ascontiguousarray(x[4:12, 16:48]).view(DTYPES[dtype])
    arguments = [x, np.zeros((8, columns), DTYPES[dtype])]
    assert_gives(text, arguments, part + part, pipelines=TO_CORE)


def test_of_rows_of_a_tile():
    text = kernel(
        """
        %t = tile.load %x[0, 0] : tensor<16x64xi32> -> !tile.tile<16x64xi32>
        %s = tile.slice %t[%n, 0] : !tile.tile<16x64xi32> -> !tile.tile<4x64xi32>
        %v = tile.reinterpret_view %s : !tile.tile<4x64xi32> -> !tile.tile<4x128xi16>
        %r = tile.store %v, %o[0, 0] : !tile.tile<4x128xi16>, tensor<4x128xi16>
        """,
        "i16",
        "4x128",
        "in %x : tensor<16x64xi32>, in %n : index",
    )
    arguments = [X, 5, np.zeros((4, 128), np.int16)]
    assert_gives(text, arguments, X[5:9].view(np.int16), pipelines=TO_CORE)


PART = "!tile.tile<16x64xi32, valid = [?, ?]>"
HALVES = "!tile.tile<16x128xi16, valid = [?, ?]>"
AS_FAR_AS_VALID = kernel(
    f"""
    %t = tile.load %x[0, 0], valid = [%n, %m] : tensor<16x64xi32> -> {PART}
    %v = tile.reinterpret_view %t : {PART} -> {HALVES}
    %r = tile.store %v, %o[0, 0] : {HALVES}, tensor<16x128xi16>
    """,
    "i16",
    "16x128",
    "in %x : tensor<16x64xi32>, in %n : index, in %m : index",
)


def test_as_far_as_a_tile_is_valid():
    """Twice as many columns of half the width, as the run says how many there are."""
    wanted = np.zeros((16, 128), np.int16)
    wanted[:7, :22] = X.view(np.int16)[:7, :22]
    arguments = [X, 7, 11, np.zeros((16, 128), np.int16)]
    assert_gives(AS_FAR_AS_VALID, arguments, wanted, pipelines=TO_CORE)


def test_half_an_element_is_none():
    """On tiles it is an error where the valid bytes of a row are no whole number of elements."""
    text = AS_FAR_AS_VALID.replace("tensor<16x64xi32>", "tensor<16x64xi8>")
    text = text.replace("16x64xi32", "16x64xi8").replace("16x128xi16", "16x32xi16")
    arguments = [X.astype(np.int8), 7, 11, np.zeros((16, 32), np.int16)]
    assert_fails(text, arguments, "reads 11 valid bytes as elements of i16", pipelines=())


def test_rows_of_unknown_extents_stay_rows():
    text = AS_FAR_AS_VALID.replace("16x128xi16, valid", "8x256xi16, valid")
    text = text.replace("tensor<16x128xi16>", "tensor<8x256xi16>")
    message = "kernel.mlir:6:.*reads rows as others, and how much of them is valid is known at run"
    with pytest.raises(DiagnosticsError, match=message):
        list(levels(text))


def test_of_a_tile_of_more_dimensions():
    text = kernel(
        """
        %t = tile.load %x[0, 0, 0] : tensor<2x8x64xi32> -> !tile.tile<2x8x64xi32>
        %v = tile.reinterpret_view %t : !tile.tile<2x8x64xi32> -> !tile.tile<2x8x128xi16>
        %w = tile.add %v, %v : !tile.tile<2x8x128xi16>
        %r = tile.store %w, %o[0, 0, 0] : !tile.tile<2x8x128xi16>, tensor<2x8x128xi16>
        """,
        "i16",
        "2x8x128",
        "in %x : tensor<2x8x64xi32>",
    )
    wanted = (X.view(np.int16) * np.int16(2)).reshape(2, 8, 128)
    assert_gives(text, [X.reshape(2, 8, 64), np.zeros_like(wanted)], wanted, pipelines=TO_CORE)


@pytest.mark.parametrize(
    ("source", "window", "result"),
    [
        ("16x64", "16x64", "16x128"),
        ("16x64", "4x64", "4x128"),
        ("16x64", "4x64", "2x256"),
        ("16x64", "1x32", "1x64"),
    ],
)
def test_of_a_tensor(source: str, window: str, result: str):
    """A tensor, or rows of one from the third on, as what a kernel loads and stores."""
    whole = source == window
    n = 0 if whole else 3
    text = kernel(
        f"""
        %w = ptensor.slice %x[%n, 0] : tensor<{source}xi32> -> tensor<{window}xi32>
        %v = ptensor.reinterpret_view %w : tensor<{window}xi32> -> tensor<{result}xi16>
        %a = ptensor.add %v, %v : tensor<{result}xi16>
        %r = ptensor.assemble %a, %o[0, 0] : tensor<{result}xi16>
        """,
        "i16",
        result,
        f"in %x : tensor<{source}xi32>, in %n : index",
    )
    rows, columns = map(int, window.split("x"))
    shape = tuple(map(int, result.split("x")))
    part = np.ascontiguousarray(X[n : n + rows, :columns])
    wanted = (part.view(np.int16) * np.int16(2)).reshape(shape)
    assert_gives(text, [X, n, np.zeros(shape, np.int16)], wanted, pipelines=TO_CORE)


def test_what_is_written_through_another_type():
    """A store through the view is a store to the tensor."""
    text = on_910b(
        """
        orch.func incore @k(in %x : tensor<8x128xi16>, inout %o : tensor<16x64xi32>)
            -> tensor<16x64xi32> {
          %v = ptensor.reinterpret_view %o : tensor<16x64xi32> -> tensor<16x128xi16>
          %t = tile.load %x[0, 0] : tensor<8x128xi16> -> !tile.tile<8x128xi16>
          %w = tile.store %t, %v[5, 0] : !tile.tile<8x128xi16>, tensor<16x128xi16>
          orch.return %o : tensor<16x64xi32>
        }
        """
    )
    x = (X.view(np.int16) + np.int16(50))[:8]
    wanted = X.copy()
    wanted.view(np.int16)[5:13] = x
    assert_gives(text, [x, X], wanted, pipelines=TO_CORE)


def test_of_a_window_whose_rows_are_apart():
    text = kernel(
        """
        %w = ptensor.slice %x[0, 16] : tensor<16x64xi32> -> tensor<16x32xi32>
        %v = ptensor.reinterpret_view %w : tensor<16x32xi32> -> tensor<16x64xi16>
        %t = tile.load %v[0, 0] : tensor<16x64xi16> -> !tile.tile<16x64xi16>
        %r = tile.store %t, %o[0, 0] : !tile.tile<16x64xi16>, tensor<16x64xi16>
        """,
        "i16",
        "16x64",
    )
    with pytest.raises(
        DiagnosticsError, match="reads elements as others that do not lie one after the other"
    ):
        list(levels(text))
