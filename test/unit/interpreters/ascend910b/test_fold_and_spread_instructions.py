"""
Each instruction that folds rows or columns, or spreads a vector over them, for each element type
of A2/A3, against a statement of its own in numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from support.instruction_programs import (
    DTYPES,
    Array,
    Buffer,
    expected,
    numbers,
    run_instruction,
    same,
    specials,
)

VALID = (11, 40)
FLOATS = ["f32", "f16"]
ALL = ["f32", "f16", "i32", "i16", "ui32", "ui16"]
COLUMN = "blayout=col_major"


def _larger(x: Array, y: Array) -> Array:
    """nan if either is."""
    unordered: Any = (x != x) | (y != y)
    result: Array = np.where(x > y, x, y)
    return np.where(unordered, np.nan, result).astype(x.dtype) if unordered.any() else result


def _smaller(x: Array, y: Array) -> Array:
    return -_larger(-x, -y) if x.dtype.kind == "f" else ~_larger(~x, ~y)


FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, y: x + y,
    "prod": lambda x, y: x * y,
    "max": _larger,
    "min": _smaller,
}
"""How two elements become one; floats in f64, as the order of the hardware is not told."""

SPREADS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "max": _larger,
    "min": _smaller,
    "expdif": lambda x, y: np.exp((x - y).astype(np.float64)),
}
ONLY_FLOATS = ("div", "expdif")

CHECKED = frozenset(
    [f"t{axis}{fold}" for axis in ("row", "col") for fold in (*FOLDS, "argmax", "argmin")]
    + [f"t{axis}expand{spread}" for axis in ("row", "col") for spread in (*SPREADS, "")]
)


def tile(dtype: str) -> Buffer:
    return Buffer(dtype, valid=VALID)


def column(dtype: str) -> Buffer:
    return Buffer(dtype, (16, 1), (VALID[0], 1), COLUMN)


def row(dtype: str) -> Buffer:
    return Buffer(dtype, (1, 64), (1, VALID[1]))


def part(array: Array) -> Array:
    return array[: VALID[0], : VALID[1]]


def vector_of(axis: str, dtype: str) -> Buffer:
    return column(dtype) if axis == "row" else row(dtype)


def tame(dtype: str, fold: str) -> Array:
    """Numbers whose products stay finite."""
    values = numbers(dtype)
    if dtype in FLOATS and fold == "prod":
        return (1 + values / 32).astype(DTYPES[dtype])
    return values


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("axis", ["row", "col"])
def test_folds(axis: str, fold: str, dtype: str) -> None:
    kept = vector_of(axis, dtype)
    takes_scratch = axis == "row"
    ins = "%a, %t : {a}, {t}" if takes_scratch else "%a : {a}"
    body = f"  pto.t{axis}{fold} ins({ins}) outs(%d : {{d}})"
    values = [tame(dtype, fold)]
    if fold in ("max", "min"):
        values.append(specials(dtype)[:, ::-1])
    for a in values:
        wide = (
            part(a).astype(np.float64) if dtype in FLOATS and fold in ("sum", "prod") else part(a)
        )
        lines = wide.T if axis == "row" else wide
        with np.errstate(all="ignore"):
            folded = np.asarray(reduce(FOLDS[fold], lines)).astype(DTYPES[dtype])
        wanted = folded[:, None] if axis == "row" else folded[None, :]
        scratch = {"t": tile(dtype)} if takes_scratch else {}
        after = run_instruction(body, {"a": (tile(dtype), a)}, {"d": kept}, scratch)
        same(np.abs(after["d"]), np.abs(expected(kept, wanted)), ulps=1)
        np.testing.assert_array_equal(after["d"] < 0, expected(kept, wanted) < 0)


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_column_sum_in_pairs(dtype: str) -> None:
    """The form that adds pairs of rows has scratch."""
    body = "  pto.tcolsum ins(%a, %t {{isBinary = true}} : {a}, {t}) outs(%d : {d})"
    a = numbers(dtype)
    wanted = part(a).astype(np.float64).sum(axis=0, keepdims=True).astype(DTYPES[dtype])
    after = run_instruction(
        body, {"a": (tile(dtype), a)}, {"d": row(dtype)}, {"t": Buffer(dtype, (16, 64))}
    )
    same(after["d"], expected(row(dtype), wanted), ulps=1)


@pytest.mark.parametrize(
    ("axis", "dtype"), [("row", d) for d in ALL] + [("col", d) for d in FLOATS]
)
@pytest.mark.parametrize("fold", ["argmax", "argmin"])
def test_places_of_extremes(axis: str, fold: str, dtype: str) -> None:
    """The first of equal ones."""
    kept = vector_of(axis, "i32")
    body = f"  pto.t{axis}{fold} ins(%a, %t : {{a}}, {{t}}) outs(%d : {{d}})"
    values = (numbers(dtype) * (0.5 if dtype in FLOATS else 1)).astype(DTYPES[dtype])
    values[:, 5] = values[:, 20]
    values[3] = values[8]
    found: list[int] = []
    lines = part(values) if axis == "row" else part(values).T
    for line in lines:
        elements: list[float] = [float(v) for v in line]
        best = max(elements) if fold == "argmax" else min(elements)
        found.append(elements.index(best))
    wanted = np.array([found], np.int32)
    wanted = wanted.T if axis == "row" else wanted
    after = run_instruction(body, {"a": (tile(dtype), values)}, {"d": kept}, {"t": tile(dtype)})
    same(after["d"], expected(kept, wanted))


@pytest.mark.parametrize(
    ("spread", "dtype"),
    [(s, d) for s in SPREADS for d in (FLOATS if s in ONLY_FLOATS else ALL)],
)
@pytest.mark.parametrize("axis", ["row", "col"])
def test_spreads(axis: str, spread: str, dtype: str) -> None:
    kept = vector_of(axis, dtype)
    body = f"  pto.t{axis}expand{spread} ins(%a, %b : {{a}}, {{b}}) outs(%d : {{d}})"
    a = numbers(dtype)
    b = numbers(dtype, kept.shape, seed=1)
    used = b[: VALID[0]] if axis == "row" else b[:, : VALID[1]]
    with np.errstate(all="ignore"):
        wanted = np.asarray(SPREADS[spread](part(a), used)).astype(DTYPES[dtype])
    sources = {"a": (tile(dtype), a), "b": (kept, b)}
    after = run_instruction(body, sources, {"d": tile(dtype)})
    same(after["d"], expected(tile(dtype), wanted), ulps=4 if spread == "expdif" else 0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_block_a_row_is_repeated(dtype: str) -> None:
    """A vector of rows that lies row by row holds 32 bytes for each, which repeat along it."""
    width = 32 // np.dtype(DTYPES[dtype]).itemsize
    blocks = Buffer(dtype, (16, width), (VALID[0], width))
    a, b = numbers(dtype), numbers(dtype, (16, width), seed=1)
    body = "  pto.trowexpandmul ins(%a, %b : {a}, {b}) outs(%d : {d})"
    wanted = np.empty(VALID, DTYPES[dtype])
    for r in range(VALID[0]):
        for c in range(VALID[1]):
            wanted[r, c] = a[r, c] * b[r, c % width]
    after = run_instruction(body, {"a": (tile(dtype), a), "b": (blocks, b)}, {"d": tile(dtype)})
    same(after["d"], expected(tile(dtype), wanted))


@pytest.mark.parametrize("spread", ["sub", "div"])
def test_the_first_source_may_be_the_vector(spread: str) -> None:
    a, b = numbers("f32"), numbers("f32", (16, 1), seed=1)
    body = f"  pto.trowexpand{spread} ins(%b, %a : {{b}}, {{a}}) outs(%d : {{d}})"
    wanted = SPREADS[spread](b[: VALID[0]], part(a))
    sources = {"a": (tile("f32"), a), "b": (column("f32"), b)}
    after = run_instruction(body, sources, {"d": tile("f32")})
    same(after["d"], expected(tile("f32"), wanted))


@pytest.mark.parametrize("dtype", [*ALL, "bf16", "i8", "ui8"])
@pytest.mark.parametrize("axis", ["row", "col"])
def test_expansion(axis: str, dtype: str) -> None:
    """Elements are copied, whatever they are."""
    kept = vector_of(axis, dtype)
    if axis == "row":
        kept = Buffer(dtype, (32, 1), (VALID[0], 1), COLUMN)
    b = numbers(dtype, kept.shape)
    used = b[: VALID[0]] if axis == "row" else b[:, : VALID[1]]
    body = f"  pto.t{axis}expand ins(%b : {{b}}) outs(%d : {{d}})"
    after = run_instruction(body, {"b": (kept, b)}, {"d": tile(dtype)})
    same(after["d"], expected(tile(dtype), np.broadcast_to(used, VALID)))
