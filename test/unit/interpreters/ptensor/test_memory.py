"""Tensors as references: windows, views, extents, undefined elements; what tiles take from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.programs import program

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.accesses import AccessRecorder
from pypto_xdsl.interpreters.arguments import ArgumentError
from pypto_xdsl.interpreters.elements import bfloat16_bits
from pypto_xdsl.interpreters.run import RunResult, random_arguments, run


def run_text(text: str, *arguments: object, function: str = "f", strict: bool = True) -> RunResult:
    return run(program(text), function, arguments, strict=strict)  # pyright: ignore


def test_all_names_share_one_buffer():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    result = run_text(
        """
        !window = tensor<2x2xf32, #ptensor.view<strides = [4, 1]>>
        orch.func opaque @f(inout %x : tensor<3x4xf32>, in %i : index) -> !window {
          %w = ptensor.slice %x[%i, 2] : tensor<3x4xf32> -> !window
          %c = arith.constant 100.0 : f32
          %two = ptensor.adds %w, %c : !window, f32 -> tensor<2x2xf32>
          %w1 = ptensor.assemble %two, %w[0, 0] : tensor<2x2xf32>, !window
          orch.return %w1 : !window
        }
        """,
        x,
        1,
    )
    expected = x.copy()
    expected[1:3, 2:4] += 100
    np.testing.assert_array_equal(result.parameters["x"], expected)
    np.testing.assert_array_equal(result.results[0], expected[1:3, 2:4])
    # The caller's array is not changed, and the result names a part of the parameter only.
    assert x[1, 2] == 6
    assert result.returned_parameters == (None,)


def test_a_tile_does_not_see_later_writes():
    result = run_text(
        """
        orch.func opaque @f(inout %x : tensor<4xi32>, out %y : tensor<4xi32>) {
          %t = tile.load %x[0] : tensor<4xi32> -> !tile.tile<4xi32>
          %u = tile.add %t, %t : !tile.tile<4xi32>
          %x1 = tile.store %u, %x[0] : !tile.tile<4xi32>, tensor<4xi32>
          %y1 = tile.store %t, %y[0] : !tile.tile<4xi32>, tensor<4xi32>
          orch.return
        }
        """,
        np.arange(4, dtype=np.int32),
        None,
    )
    assert result.parameters["x"].tolist() == [0, 2, 4, 6]
    assert result.parameters["y"].tolist() == [0, 1, 2, 3]


def test_dropped_dimensions_and_tiles_of_fewer_dimensions():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    result = run_text(
        """
        orch.func opaque @f(in %x : tensor<2x3x4xf32>, out %y : tensor<2x3x4xf32>, in %i : index) {
          %w = ptensor.slice %x[%i, 0, 0] : tensor<2x3x4xf32> -> tensor<3x4xf32>
          %t = tile.load %w[1, 0] : tensor<3x4xf32> -> !tile.tile<2x4xf32>
          %y1 = tile.store %t, %y[%i, 0, 0] : !tile.tile<2x4xf32>, tensor<2x3x4xf32>
          orch.return
        }
        """,
        x,
        None,
        1,
    )
    np.testing.assert_array_equal(result.parameters["y"][1, 0:2], x[1, 1:3])
    defined = result.tensors["y"].defined
    assert defined is not None
    assert defined.sum() == 8
    assert defined[1, :2].all()


def test_reshape_names_the_same_elements_or_is_refused():
    text = """
        !window = tensor<4xCOLSxi16, #ptensor.view<strides = [6, 1]>>
        orch.func opaque @f(inout %x : tensor<4x6xi16>, in %v : i16) {
          %w = ptensor.slice %x[0, 0] : tensor<4x6xi16> -> !window
          %r = ptensor.reshape %w : !window -> tensor<COUNTxi16>
          %r1 = ptensor.write %v, %r[7] : i16, tensor<COUNTxi16>
          orch.return
        }
        """
    whole = (
        text.replace("COLS", "6")
        .replace("COUNT", "24")
        .replace(", #ptensor.view<strides = [6, 1]>", "")
    )
    result = run_text(whole, np.zeros((4, 6), np.int16), 9)
    assert np.argwhere(result.parameters["x"]).tolist() == [[1, 1]]
    part = text.replace("COLS", "5").replace("COUNT", "20")
    with pytest.raises(DiagnosticsError, match="do not lie in the order that naming them as"):
        run_text(part, np.zeros((4, 6), np.int16), 9)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (3, r"a window of \[2, 4\] at \[3, 0\] lies outside the tensor of \[4, 4\]"),
        (-1, r"a window of \[2, 4\] at \[-1, 0\] lies outside"),
    ],
)
def test_windows_stay_inside(index: int, message: str):
    with pytest.raises(
        DiagnosticsError, match=rf"program.mlir:3:\d+: error: 'tile.load' op {message}"
    ):
        run_text(
            """
            orch.func opaque @f(in %x : tensor<4x4xf32>, in %i : index) {
              %t = tile.load %x[%i, 0] : tensor<4x4xf32> -> !tile.tile<2x4xf32>
              orch.return
            }
            """,
            np.zeros((4, 4), np.float32),
            index,
        )


DYNAMIC = """
    orch.func opaque @f(in %x : tensor<?x4xf32, #ptensor.view<dims = [M, _]>>,
                        out %y : tensor<?x4xf32, #ptensor.view<dims = [M, _]>>) -> (index, index) {
      %m = ptensor.dim %x, axis = 0 : tensor<?x4xf32, #ptensor.view<dims = [M, _]>> -> index
      %t = tile.load %x[0, 0], valid = [%m, 4]
          : tensor<?x4xf32, #ptensor.view<dims = [M, _]>> -> !tile.tile<8x4xf32, valid = [?, 4]>
      %u = tile.add %t, %t : !tile.tile<8x4xf32, valid = [?, 4]>
      %v = tile.valid_dim %u, axis = 0 : !tile.tile<8x4xf32, valid = [?, 4]> -> index
      %y1 = tile.store %u, %y[0, 0]
          : !tile.tile<8x4xf32, valid = [?, 4]>, tensor<?x4xf32, #ptensor.view<dims = [M, _]>>
      orch.return %m, %v : index, index
    }
    """


@settings(max_examples=10)
@given(st.integers(0, 8))
def test_extents_are_those_of_the_arguments(rows: int):
    x = np.ones((rows, 4), np.float32)
    result = run_text(DYNAMIC, x, None)
    assert result.results == (rows, rows)
    np.testing.assert_array_equal(result.parameters["y"], x + x)


def test_a_valid_region_fits_into_its_tile():
    with pytest.raises(
        DiagnosticsError, match=r"a valid region of \[9, 4\] lies outside a tile of"
    ):
        run_text(DYNAMIC, np.ones((9, 4), np.float32), None)


def test_symbols_unify():
    with pytest.raises(ArgumentError, match=r"dimension 0 of argument 'y' is 2, but M is 3 by"):
        run_text(DYNAMIC, np.ones((3, 4), np.float32), np.ones((2, 4), np.float32))


def test_type_casts_are_checked():
    text = """
        orch.func opaque @f(in %x : tensor<?xf32>) {
          %y = ptensor.type_cast %x : tensor<?xf32> -> tensor<4xf32>
          orch.return
        }
        """
    run_text(text, np.zeros(4, np.float32))
    with pytest.raises(DiagnosticsError, match=r"the tensor has the extents \[5\], which"):
        run_text(text, np.zeros(5, np.float32))


# Undefined elements.


def test_scratch_may_be_written_before_it_is_read():
    result = run_text(
        """
        orch.func opaque @f(in %x : tensor<4xf32>) -> tensor<4xf32> {
          %c = ptensor.create : tensor<4xf32>
          %c1 = ptensor.assemble %x, %c[0] : tensor<4xf32>, tensor<4xf32>
          %y = ptensor.add %c1, %c1 : tensor<4xf32>
          orch.return %y : tensor<4xf32>
        }
        """,
        np.arange(4, dtype=np.float32),
    )
    assert result.results[0].tolist() == [0, 2, 4, 6]
    value = result.returned[0]
    assert not isinstance(value, int | float)
    assert value.defined is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%v = ptensor.read %c[1] : tensor<4xf32> -> f32",
            "'ptensor.read' op reads an undefined element",
        ),
        (
            "%w = tile.load %c[0] : tensor<4xf32> -> !tile.tile<4xf32>\n"
            "%s = tile.add %w, %w : !tile.tile<4xf32>\n"
            "%x1 = tile.store %s, %x[0] : !tile.tile<4xf32>, tensor<4xf32>",
            "'tile.store' op stores undefined elements: 3 of 4 elements are undefined, "
            r"the first at \[1\]",
        ),
        (
            "%r = ptensor.reshape %c : tensor<4xf32> -> tensor<1x4xf32>\n"
            "%s = ptensor.row_sum %r : tensor<1x4xf32> -> tensor<1x1xf32>",
            "'ptensor.row_sum' op depends on undefined elements: 3 of 4",
        ),
        (
            "%x1 = ptensor.assemble %c, %x[0] : tensor<4xf32>, tensor<4xf32>",
            "'ptensor.assemble' op stores undefined elements",
        ),
        (
            "%t = tile.load %x[0] : tensor<4xf32> -> !tile.tile<4xf32>\n"
            "%x1 = tile.store %t, %c[0], atomic = add : !tile.tile<4xf32>, tensor<4xf32>",
            "'tile.store' op adds to undefined elements",
        ),
    ],
)
def test_depending_on_what_nobody_wrote(body: str, message: str):
    # Element 0 of the buffer is written, the others are not.
    text = f"""
        orch.func opaque @f(inout %x : tensor<4xf32>) {{
          %c0 = ptensor.create : tensor<4xf32>
          %one = arith.constant 1.0 : f32
          %c = ptensor.write %one, %c0[0] : f32, tensor<4xf32>
          {body}
          orch.return
        }}
        """
    with pytest.raises(DiagnosticsError, match=message):
        run_text(text, np.ones(4, np.float32))


def test_undefined_elements_may_be_carried_and_dropped():
    # The last column of the tile is never stored, so that nobody minds it.
    result = run_text(
        """
        orch.func opaque @f(in %x : tensor<2x3xf32>, out %y : tensor<2x3xf32>) {
          %t = tile.load %x[0, 0] : tensor<2x3xf32> -> !tile.tile<2x4xf32, valid = [2, 3]>
          %w = tile.set_validshape %t, valid = [2, 4]
              : !tile.tile<2x4xf32, valid = [2, 3]> -> !tile.tile<2x4xf32>
          %u = tile.exp %w : !tile.tile<2x4xf32>
          %v = tile.set_validshape %u, valid = [2, 3]
              : !tile.tile<2x4xf32> -> !tile.tile<2x4xf32, valid = [2, 3]>
          %y1 = tile.store %v, %y[0, 0] : !tile.tile<2x4xf32, valid = [2, 3]>, tensor<2x3xf32>
          orch.return
        }
        """,
        np.zeros((2, 3), np.float32),
        None,
    )
    np.testing.assert_array_equal(result.parameters["y"], np.ones((2, 3)))


def test_a_written_element_of_a_created_tile_is_defined():
    text = """
        orch.func opaque @f(in %v : f32, out %y : tensor<1x2xf32>) -> f32 {
          %t = tile.create : !tile.tile<1x2xf32>
          %t1 = tile.write %v, %t[0, 0] : f32, !tile.tile<1x2xf32>
          %r = tile.read %t1[0, PLACE] : !tile.tile<1x2xf32> -> f32
          orch.return %r : f32
        }
        """
    assert run_text(text.replace("PLACE", "0"), 2.5, None).results == (2.5,)
    with pytest.raises(DiagnosticsError, match=r"reads an undefined element: 1 of 1 elements is"):
        run_text(text.replace("PLACE", "1"), 2.5, None)


def test_atomic_stores_add():
    result = run_text(
        """
        orch.func opaque @f(in %x : tensor<4xbf16>, inout %y : tensor<4xbf16>) {
          %t = tile.load %x[0] : tensor<4xbf16> -> !tile.tile<4xbf16>
          %y1 = tile.store %t, %y[0], atomic = add : !tile.tile<4xbf16>, tensor<4xbf16>
          orch.return
        }
        """,
        bfloat16_bits(np.array([1, 2, 3, 256], np.float32)),
        bfloat16_bits(np.array([0.5, 0.25, -3, 1], np.float32)),
    )
    # 257 is no bf16: it rounds to the even 256.
    expected = bfloat16_bits(np.array([1.5, 2.25, 0, 256], np.float32))
    np.testing.assert_array_equal(result.parameters["y"], expected)


# Arguments.


def test_arguments_by_name_and_what_does_not_fit():
    module = program(DYNAMIC)
    x = np.ones((2, 4), np.float32)
    assert run(module, "f", {"x": x}).results == (2, 2)
    for arguments, message in (
        ({"z": x}, "'f' has no parameter 'z'; it has x, y"),
        ([x, x, x], "'f' takes 2 arguments, 3 are given"),
        ([None], "argument 'x' of type .* is missing"),
        ([x.astype(np.float64)], "argument 'x' should hold float32 for .*, got float64"),
        ([x[0]], "argument 'x' has 1 dimensions"),
        ([3], "argument 'x' should be an array"),
    ):
        with pytest.raises(ArgumentError, match=message):
            run(module, "f", arguments)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="there is no function 'g'; there are f"):
        run(module, "g", [x])


def test_random_arguments_are_the_same_for_the_same_seed():
    function = next(iter(program(DYNAMIC).ops))
    first, again = (random_arguments(function, 7) for _ in range(2))  # pyright: ignore
    np.testing.assert_array_equal(np.asarray(first[0]), np.asarray(again[0]))
    assert first[1] is None
    sized = random_arguments(function, 7, {"M": 5})  # pyright: ignore[reportArgumentType]
    assert np.asarray(sized[0]).shape == (5, 4)


# What calls really access.


def test_accesses_are_recorded_by_element():
    module = program(
        """
        orch.func incore @k(in %x : tensor<4xf32>, inout %y : tensor<4xf32>, out %z : tensor<4xf32>,
                            in %unused : tensor<4xf32>) {
          %t = tile.load %x[0] : tensor<4xf32> -> !tile.tile<4xf32, valid = [2]>
          %z1 = tile.store %t, %z[1] : !tile.tile<4xf32, valid = [2]>, tensor<4xf32>
          %u = tile.load %z1[1] : tensor<4xf32> -> !tile.tile<4xf32, valid = [2]>
          %y1 = tile.store %u, %y[0], atomic = add : !tile.tile<4xf32, valid = [2]>, tensor<4xf32>
          orch.return
        }
        orch.func orchestration @f(in %x : tensor<4xf32>, inout %y : tensor<4xf32>) {
          %z = ptensor.create : tensor<4xf32>
          orch.call @k(%x, %y, %z, %x)
              : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
          orch.return
        }
        """
    )
    recorder = AccessRecorder()
    x = np.ones(4, np.float32)
    run(module, "f", [x, x], listeners=(recorder,), observer=recorder.observe)
    (call,) = recorder.calls
    x_access, y_access, z_access, unused = (call.arguments[place] for place in range(4))
    assert x_access.read_first.tolist() == [True, True, False, False]
    assert not x_access.written.any()
    assert y_access.read_first.tolist() == [True, True, False, False]
    assert y_access.written.tolist() == [True, True, False, False]
    # What the call reads back of its own writes it does not depend on.
    assert z_access.read.tolist() == [False, True, True, False]
    assert not z_access.read_first.any()
    assert z_access.written.tolist() == [False, True, True, False]
    directions = [
        access.direction and access.direction.value for access in (x_access, y_access, z_access)
    ]
    assert directions == ["in", "inout", "out"]
    # It names the same buffer as the first argument, through which it was read.
    assert unused.read.tolist() == [True, True, False, False]
