"""Math on whole tensors: broadcasting, promotion, valid regions, axes; against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support.programs import program

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.run import RunResult, run

NUMBERS = st.floats(-8, 8, width=16)


def run_ops(ops: str, inputs: dict[str, tuple[str, Any]], results: dict[str, str]) -> RunResult:
    """Run tensor ops on parameters; the results are returned."""
    parameters = ", ".join(f"in %{name} : {type}" for name, (type, _) in inputs.items())
    names, types = ", ".join(f"%{name}" for name in results), ", ".join(results.values())
    module = program(
        f"orch.func opaque @f({parameters}) -> ({types}) {{\n{ops}\n"
        f"orch.return {names} : {types}\n}}"
    )
    return run(module, "f", {name: value for name, (_, value) in inputs.items()})


@settings(max_examples=15)
@given(
    a=hnp.arrays(np.float16, (3, 1, 4), elements=NUMBERS),
    b=hnp.arrays(np.float32, (2, 4), elements=NUMBERS),
)
def test_shapes_broadcast_and_types_promote(a: Any, b: Any):
    whole = "tensor<3x2x4xf32>"
    result = run_ops(
        f"%s = ptensor.sub %a, %b : tensor<3x1x4xf16>, tensor<2x4xf32> -> {whole}\n"
        f"%m = ptensor.maximum %s, %b : {whole}, tensor<2x4xf32>\n"
        f"%c = ptensor.cmp %s, %b, cmp_type = lt : {whole}, tensor<2x4xf32>",
        {"a": ("tensor<3x1x4xf16>", a), "b": ("tensor<2x4xf32>", b)},
        {"s": whole, "m": whole, "c": whole},
    )
    difference = a.astype(np.float32) - b
    np.testing.assert_array_equal(result.results[0], difference)
    np.testing.assert_array_equal(result.results[1], np.maximum(difference, b))
    np.testing.assert_array_equal(result.results[2], (difference < b).astype(np.float32))


def test_scalars_promote_where_the_op_says_so():
    x = np.array([1, 2, -7], np.int16)
    result = run_ops(
        "%a = ptensor.adds %x, %s : tensor<3xi16>, f32 -> tensor<3xf32>\n"
        "%b = ptensor.subs %x, %s : tensor<3xi16>, f32\n"
        "%c = ptensor.cmps %x, %n, cmp_type = ge : tensor<3xi16>, i16\n"
        "%e = ptensor.exp %x : tensor<3xi16> -> tensor<3xf32>\n"
        "%d = ptensor.divs %x, %n : tensor<3xi16>, i16\n"
        "%r = ptensor.shrs %x, %n : tensor<3xi16>, i16",
        {"x": ("tensor<3xi16>", x), "s": ("f32", 2.5), "n": ("i16", 2)},
        {
            "a": "tensor<3xf32>",
            "b": "tensor<3xi16>",
            "c": "tensor<3xi16>",
            "e": "tensor<3xf32>",
            "d": "tensor<3xi16>",
            "r": "tensor<3xi16>",
        },
    )
    added, subtracted, compared, powers, quotients, shifted = result.results
    assert added.tolist() == [3.5, 4.5, -4.5]
    # The scalar does not promote here: it becomes 2.
    assert subtracted.tolist() == [-1, 0, -9]
    assert compared.tolist() == [0, 1, 0]
    np.testing.assert_array_max_ulp(powers, np.exp(x.astype(np.float64)).astype(np.float32), 3)
    assert quotients.tolist() == [0, 1, -3]
    assert shifted.tolist() == [0, 0, -2]


@settings(max_examples=10)
@given(x=hnp.arrays(np.int32, (2, 3, 4), elements=st.integers(-99, 99)))
@pytest.mark.parametrize("direction", ["row", "col"])
def test_reductions_and_expansions_along_the_two_last_axes(direction: str, x: Any):
    axis = -1 if direction == "row" else -2
    shape = "2x3x1" if direction == "row" else "2x1x4"
    vector, whole = f"tensor<{shape}xi32>", "tensor<2x3x4xi32>"
    names = ("sum", "max", "min", "argmax", "argmin")
    ops = [f"%{name} = ptensor.{direction}_{name} %x : {whole} -> {vector}" for name in names]
    ops.append(f"%less = ptensor.{direction}_expand_sub %x, %max : {whole}, {vector}")
    result = run_ops(
        "\n".join(ops), {"x": (whole, x)}, {**dict.fromkeys(names, vector), "less": whole}
    )
    for got, name in zip(result.results, names, strict=False):
        expected = getattr(np, name)(x, axis=axis, keepdims=True)
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(result.results[-1], x - x.max(axis=axis, keepdims=True))


def test_only_the_valid_region_is_computed():
    part = "tensor<2x3xf32, #ptensor.view<valid = [1, 2]>>"
    x = np.array([[1, 2, 90], [91, 92, 93]], np.float32)
    result = run_ops(
        f"%s = ptensor.add %x, %x : {part}\n"
        f"%m = ptensor.row_sum %x : {part} -> tensor<2x1xf32, #ptensor.view<valid = [1, 1]>>\n"
        f"%p = ptensor.fillpad %s, pad_value = max : {part}"
        " -> tensor<2x3xf32, #ptensor.view<pad = max>>",
        {"x": (part, x)},
        {
            "s": part,
            "m": "tensor<2x1xf32, #ptensor.view<valid = [1, 1]>>",
            "p": "tensor<2x3xf32, #ptensor.view<pad = max>>",
        },
    )
    total, sums, padded = result.returned
    assert not isinstance(total, int | float)
    assert not isinstance(sums, int | float)
    assert total.defined is not None
    assert total.defined.tolist() == [[True, True, False], [False] * 3]
    assert total.array[0, :2].tolist() == [2, 4]
    assert sums.array[0].tolist() == [3]
    assert not isinstance(padded, int | float)
    assert padded.array.tolist() == [[2, 4, np.inf], [np.inf] * 3]
    assert padded.defined is None


def test_compare_gather_of_a_tensor():
    x = np.array([[3, 1, 3, 3], [0, 0, 0, 3]], np.int32)
    result = run_ops(
        "%i, %c = ptensor.gather_compare %x, %k, cmp_mode = eq, out_cols = 3"
        " : tensor<2x4xi32>, i32 -> tensor<2x3xi32>, tensor<1x2xi32>",
        {"x": ("tensor<2x4xi32>", x), "k": ("i32", 3)},
        {"i": "tensor<2x3xi32>", "c": "tensor<1x2xi32>"},
    )
    indices, counts = result.returned
    assert not isinstance(indices, int | float)
    assert not isinstance(counts, int | float)
    assert indices.array[0].tolist() == [0, 2, 3]
    assert indices.array[1, 0] == 3
    assert indices.defined is not None
    assert indices.defined.tolist() == [[True] * 3, [True, False, False]]
    assert counts.array.tolist() == [[3, 1]]


def test_results_are_tensors_of_their_own():
    module = program(
        """
        orch.func opaque @f(inout %x : tensor<1x2xi32>, in %v : i32) -> tensor<1x2xi32> {
          %y = ptensor.col_expand %x, %x : tensor<1x2xi32>
          %y1 = ptensor.write %v, %y[0, 0] : i32, tensor<1x2xi32>
          orch.return %y1 : tensor<1x2xi32>
        }
        """
    )
    result = run(module, "f", [np.array([[5, 6]], np.int32), 3])
    assert result.results[0].tolist() == [[3, 6]]
    assert result.parameters["x"].tolist() == [[5, 6]]


def test_a_quotient_by_zero_is_undefined():
    with pytest.raises(DiagnosticsError, match="reads an undefined element"):
        run_ops(
            "%q = ptensor.div %x, %x : tensor<2xi32>\n"
            "%v = ptensor.read %q[1] : tensor<2xi32> -> i32",
            {"x": ("tensor<2xi32>", np.array([1, 0], np.int32))},
            {"v": "i32"},
        )
