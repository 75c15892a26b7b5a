"""
Instructions of the vector unit on a core, each against a statement of its own in numpy, on a
valid region that is smaller than the tile: what lies outside it stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from support.machine_programs import run_core

ROWS, COLUMNS = 11, 40
"""Of the valid region; tiles are 16x64."""

OfOne = Callable[[Any], Any]
OfTwo = Callable[[Any, Any], Any]
Array = np.ndarray[Any, Any]

DTYPES: dict[str, type[Any]] = {
    "f32": np.float32,
    "f16": np.float16,
    "i32": np.int32,
    "i16": np.int16,
}

UNARY: dict[str, tuple[str, OfOne]] = {
    "tabs": ("f32 f16", np.abs),
    "tneg": ("f32 f16 i32 i16", np.negative),
    "texp": ("f32 f16", np.exp),
    "tlog": ("f32 f16", np.log),
    "tsqrt": ("f32 f16", np.sqrt),
    "trsqrt": ("f32", lambda x: 1 / np.sqrt(x)),
    "trecip": ("f32", lambda x: 1 / x),
    "trelu": ("f32 f16 i32", lambda x: np.where(x > 0, x, 0)),
    "tnot": ("i16", np.invert),
}
"""Element types, and what each element becomes."""

_POSITIVE = ("tlog", "tsqrt", "trsqrt", "trecip")

BINARY: dict[str, tuple[str, OfTwo]] = {
    "tadd": ("f32 f16 i32 i16", np.add),
    "tsub": ("f32 f16 i32 i16", np.subtract),
    "tmul": ("f32 f16 i32 i16", np.multiply),
    "tdiv": ("f32 f16", np.divide),
    "tmax": ("f32 f16 i32 i16", np.maximum),
    "tmin": ("f32 f16 i32 i16", np.minimum),
    "tand": ("i16", np.bitwise_and),
    "tor": ("i16", np.bitwise_or),
}
SCALAR: dict[str, tuple[str, OfTwo]] = {
    "tadds": ("f32 f16 i32 i16", np.add),
    "tsubs": ("f32 f16 i32 i16", np.subtract),
    "tmuls": ("f32 f16 i32 i16", np.multiply),
    "tdivs": ("f32 f16", np.divide),
    "tmaxs": ("f32 f16", np.maximum),
    "tmins": ("f32 f16", np.minimum),
}
FOLDS: dict[str, OfOne] = {
    "trowsum": lambda x: x.sum(axis=1, keepdims=True, dtype=np.float64),
    "trowmax": lambda x: x.max(axis=1, keepdims=True),
    "trowmin": lambda x: x.min(axis=1, keepdims=True),
    "trowprod": lambda x: x.prod(axis=1, keepdims=True, dtype=np.float64),
}
SPREADS: dict[str, OfTwo] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "expdif": lambda x, y: np.exp(x - y),
}
VECTOR = "blayout=col_major"


def tile(dtype: str, valid: str = f"{ROWS}x{COLUMNS}") -> str:
    return f"!pto.tile_buf<vec, 16x64x{dtype}, valid={valid}>"


def kernel(dtype: str, body: str, result: str, extents: tuple[int, int]) -> str:
    """Loads %a and %b, computes into %c of a type, and stores it."""
    rows, columns = extents
    t = tile(dtype)
    window = f"!pto.partition_tensor_view<{ROWS}x{COLUMNS}x{dtype}>"
    stored = f"!pto.partition_tensor_view<{rows}x{columns}x{dtype}>"
    whole = f"!pto.tensor_view<?x?x{dtype}>"
    inside = f"{whole} -> {window}"
    strides = "[%c1, %c16]" if columns == 1 else "[%c64, %c1]"
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @kernel(%x: !pto.ptr<{dtype}>, %y: !pto.ptr<{dtype}>, %z: !pto.ptr<{dtype}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %rows = arith.constant {ROWS} : index
  %columns = arith.constant {COLUMNS} : index
  %m = arith.constant {rows} : index
  %n = arith.constant {columns} : index
  %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : {whole}
  %yv = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : {whole}
  %zv = pto.make_tensor_view %z, shape = [%c16, %c64], strides = {strides} : {whole}
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%rows, %columns] : {inside}
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%rows, %columns] : {inside}
  %zp = pto.partition_view %zv, offsets = [%c0, %c0], sizes = [%m, %n] : {whole} -> {stored}
  %a = pto.alloc_tile : {t}
  %b = pto.alloc_tile : {t}
  %tmp = pto.alloc_tile : {t}
  %c = pto.alloc_tile : {result}
  pto.tload ins(%xp : {window}) outs(%a : {t})
  pto.tload ins(%yp : {window}) outs(%b : {t})
  {body}
  pto.tstore ins(%c : {result}) outs(%zp : {stored})
  return
}}
}}"""


PASSES = "allocate-memory-addr,convert-pto-to-ascend910b,insert-sync"


def operands(dtype: str) -> tuple[Array, Array]:
    rng = np.random.default_rng(11)
    if dtype.startswith("f"):
        x, y = rng.standard_normal((2, 16, 64)) * 3
        return x.astype(DTYPES[dtype]), (y + np.copysign(0.5, y)).astype(DTYPES[dtype])
    info = np.iinfo(DTYPES[dtype])
    x, y = rng.integers(info.min, info.max, (2, 16, 64), endpoint=True)
    return x.astype(DTYPES[dtype]), y.astype(DTYPES[dtype])


def check(dtype: str, text: str, wanted: Array, x: Array, y: Array) -> None:
    for seed in (None, 1):
        untouched = np.full((16, 64), 7, DTYPES[dtype])
        given = {"x": x, "y": y, "z": untouched}
        after = run_core(text, given, passes=PASSES, seed=seed)["z"]
        rows, columns = wanted.shape
        if columns == 1:
            got, expected = after.reshape(-1)[:rows], wanted[:, 0]
            rest = after.reshape(-1)[rows:]
        else:
            got, expected = after[:rows, :columns], wanted
            rest = np.delete(after.reshape(-1), np.flatnonzero(_inside(rows, columns)))
        tolerance = {"f32": 2e-6, "f16": 2e-3}.get(dtype, 0)
        np.testing.assert_allclose(got, expected.astype(DTYPES[dtype]), rtol=tolerance, atol=1e-7)
        assert (rest == 7).all()


def _inside(rows: int, columns: int) -> Array:
    flags = np.zeros((16, 64), np.bool_)
    flags[:rows, :columns] = True
    return flags


def cases(table: Mapping[str, tuple[str, object]]) -> list[tuple[str, str]]:
    return [(name, dtype) for name, (dtypes, _) in table.items() for dtype in dtypes.split()]


@pytest.mark.parametrize(("name", "dtype"), cases(UNARY))
def test_unary(name: str, dtype: str) -> None:
    x, y = operands(dtype)
    statement = UNARY[name][1]
    given = x
    if name in _POSITIVE:
        given = (np.abs(x) + DTYPES[dtype](1)).astype(DTYPES[dtype])
    t = tile(dtype)
    text = kernel(dtype, f"pto.{name} ins(%a : {t}) outs(%c : {t})", t, (ROWS, COLUMNS))
    with np.errstate(all="ignore"):
        wanted = np.asarray(statement(given[:ROWS, :COLUMNS]))
    check(dtype, text, wanted, given, y)


@pytest.mark.parametrize(("name", "dtype"), cases(BINARY))
def test_binary(name: str, dtype: str) -> None:
    x, y = operands(dtype)
    t = tile(dtype)
    text = kernel(dtype, f"pto.{name} ins(%a, %b : {t}, {t}) outs(%c : {t})", t, (ROWS, COLUMNS))
    with np.errstate(all="ignore"):
        wanted = BINARY[name][1](x[:ROWS, :COLUMNS], y[:ROWS, :COLUMNS])
    check(dtype, text, wanted, x, y)


@pytest.mark.parametrize(("name", "dtype"), cases(SCALAR))
def test_scalar(name: str, dtype: str) -> None:
    x, y = operands(dtype)
    t = tile(dtype)
    number = "2.5" if dtype.startswith("f") else "3"
    body = (
        f"%s = arith.constant {number} : {dtype}\n"
        f"  pto.{name} ins(%a, %s : {t}, {dtype}) outs(%c : {t})"
    )
    text = kernel(dtype, body, t, (ROWS, COLUMNS))
    with np.errstate(all="ignore"):
        wanted = SCALAR[name][1](x[:ROWS, :COLUMNS], DTYPES[dtype](float(number)))
    check(dtype, text, wanted, x, y)


@pytest.mark.parametrize("name", FOLDS)
def test_fold_of_rows(name: str) -> None:
    x, y = operands("f32")
    t = tile("f32")
    column = f"!pto.tile_buf<vec, 16x1xf32, valid={ROWS}x1, {VECTOR}>"
    text = kernel(
        "f32", f"pto.{name} ins(%a, %tmp : {t}, {t}) outs(%c : {column})", column, (ROWS, 1)
    )
    check("f32", text, np.asarray(FOLDS[name](x[:ROWS, :COLUMNS])), x, y)


@pytest.mark.parametrize("name", ["tcolsum", "tcolmax", "tcolmin"])
def test_fold_of_columns(name: str) -> None:
    x, y = operands("f32")
    t = tile("f32")
    row = f"!pto.tile_buf<vec, 1x64xf32, valid=1x{COLUMNS}>"
    text = kernel("f32", f"pto.{name} ins(%a : {t}) outs(%c : {row})", row, (1, COLUMNS))
    fold = {"tcolsum": np.sum, "tcolmax": np.max, "tcolmin": np.min}[name]
    wanted = np.asarray(fold(x[:ROWS, :COLUMNS].astype(np.float64), axis=0, keepdims=True))
    check("f32", text, wanted, x, y)


@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("axis", ["row", "col"])
def test_spread(name: str, axis: str) -> None:
    x, y = operands("f32")
    t = tile("f32")
    if axis == "row":
        vector = f"!pto.tile_buf<vec, 16x1xf32, valid={ROWS}x1, {VECTOR}>"
        fold = f"pto.trowmax ins(%b, %tmp : {t}, {t}) outs(%v : {vector})"
        extremes = y[:ROWS, :COLUMNS].max(axis=1, keepdims=True)
    else:
        vector = f"!pto.tile_buf<vec, 1x64xf32, valid=1x{COLUMNS}>"
        fold = f"pto.tcolmax ins(%b : {t}) outs(%v : {vector})"
        extremes = y[:ROWS, :COLUMNS].max(axis=0, keepdims=True)
    body = (
        f"%v = pto.alloc_tile : {vector}\n  {fold}\n"
        f"  pto.t{axis}expand{name} ins(%a, %v : {t}, {vector}) outs(%c : {t})"
    )
    text = kernel("f32", body, t, (ROWS, COLUMNS))
    check("f32", text, SPREADS[name](x[:ROWS, :COLUMNS], extremes), x, y)


@pytest.mark.parametrize("seed", [None, 2])
def test_special_values(seed: int | None) -> None:
    """Infinities, nan, the smallest and the largest numbers, and zeros of both signs."""
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45, 3.4e38, -3.4e38], np.float32)
    x = np.resize(special, (16, 64))
    y = np.resize(np.roll(special, 3), (16, 64))
    t = tile("f32")
    for name, statement in (("tadd", np.add), ("tmul", np.multiply), ("tdiv", np.divide)):
        text = kernel(
            "f32", f"pto.{name} ins(%a, %b : {t}, {t}) outs(%c : {t})", t, (ROWS, COLUMNS)
        )
        given = {"x": x, "y": y, "z": np.zeros((16, 64))}
        after = run_core(text, given, passes=PASSES, seed=seed)["z"][:ROWS, :COLUMNS]
        with np.errstate(all="ignore"):
            wanted = statement(x, y)[:ROWS, :COLUMNS]
        np.testing.assert_array_equal(after, wanted)


def test_axpy_adds_a_multiple() -> None:
    x, y = operands("f32")
    t = tile("f32")
    body = (
        f"pto.tmuls ins(%b, %one : {t}, f32) outs(%c : {t})\n"
        f"  pto.taxpy ins(%a, %s : {t}, f32) outs(%c : {t})"
    )
    body = "%s = arith.constant 0.25 : f32\n  %one = arith.constant 1.0 : f32\n  " + body
    text = kernel("f32", body, t, (ROWS, COLUMNS))
    wanted = y[:ROWS, :COLUMNS] + np.float32(0.25) * x[:ROWS, :COLUMNS]
    check("f32", text, wanted, x, y)


def test_pairs_are_sorted_and_merged() -> None:
    """Four blocks of 32 values become one list of pairs, from the largest value down."""
    t, n = "!pto.tile_buf<vec, 1x128xf32>", "!pto.tile_buf<vec, 1x128xi32>"
    pairs = "!pto.tile_buf<vec, 1x256xf32>"
    text = f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @kernel(%x: !pto.ptr<f32>, %i: !pto.ptr<i32>, %y: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  %n2 = arith.constant 256 : index
  %run = arith.constant 64 : i32
  %xv = pto.make_tensor_view %x, shape = [%c1, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
  %iv = pto.make_tensor_view %i, shape = [%c1, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xi32>
  %yv = pto.make_tensor_view %y, shape = [%c1, %n2], strides = [%n2, %c1]
    : !pto.tensor_view<?x?xf32>
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c1, %n]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x128xf32>
  %ip = pto.partition_view %iv, offsets = [%c0, %c0], sizes = [%c1, %n]
    : !pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<1x128xi32>
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c1, %n2]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x256xf32>
  %a = pto.alloc_tile : {t}
  %b = pto.alloc_tile : {n}
  %s = pto.alloc_tile : {pairs}
  %m = pto.alloc_tile : {pairs}
  pto.tload ins(%xp : !pto.partition_tensor_view<1x128xf32>) outs(%a : {t})
  pto.tload ins(%ip : !pto.partition_tensor_view<1x128xi32>) outs(%b : {n})
  pto.tsort32 ins(%a, %b : {t}, {n}) outs(%s : {pairs})
  pto.tmrgsort ins(%s, %run : {pairs}, i32) outs(%m : {pairs})
  pto.tstore ins(%m : {pairs}) outs(%yp : !pto.partition_tensor_view<1x256xf32>)
  return
}}
}}"""
    x = np.random.default_rng(5).permutation(128).astype(np.float32)
    given = {"x": x, "i": np.arange(128), "y": np.zeros(256)}
    after = run_core(text, given, passes=PASSES)["y"]
    np.testing.assert_array_equal(after[::2], np.arange(127, -1, -1))
    np.testing.assert_array_equal(after[1::2].view(np.uint32), np.argsort(-x))
