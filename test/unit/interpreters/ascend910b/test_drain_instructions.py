"""
Each product of the cube core, and each way out of its accumulator: to global memory or to L1, as
it is or rounded, scaled, shifted and clamped, whole or by windows, against numpy.

The elements are small integers, so that products are exact in any order of summation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.instruction_programs import DTYPES, SCHEDULES, Array, same
from support.machine_programs import parsed, run_core

from pypto_xdsl.diagnostics import DiagnosticsError

CHECKED = frozenset(
    {
        "tmatmul",
        "tmatmul.acc",
        "tmatmul.bias",
        "tgemv",
        "tgemv.acc",
        "tgemv.bias",
        "tmov.fp",
        "tstore_fp",
        "textract",
        "textract_fp",
        "tinsert",
        "tinsert_fp",
    }
)

PASSES = "allocate-memory-addr,convert-pto-to-ascend910b,insert-sync"
NZ = "blayout=col_major, slayout=row_major"
M, N = 32, 64


@dataclass(frozen=True)
class Types:
    """Of a product's operands, and of what it adds up in."""

    element: str
    total: str

    @property
    def depth(self) -> int:
        return 32 if self.element == "i8" else 16


F32, F16, I8 = Types("f32", "f32"), Types("f16", "f32"), Types("i8", "i32")


def window(rows: int, columns: int, dtype: str) -> str:
    return f"!pto.partition_tensor_view<{rows}x{columns}x{dtype}>"


def whole(name: str, rows: int, columns: int, dtype: str) -> str:
    """`%name`: all of the matrix that `%name_g` points to."""
    view = f"!pto.tensor_view<?x?x{dtype}>"
    return f"""
  %{name}_r = arith.constant {rows} : index
  %{name}_c = arith.constant {columns} : index
  %{name}_v = pto.make_tensor_view %{name}_g, shape = [%{name}_r, %{name}_c],
    strides = [%{name}_c, %c1] : {view}
  %{name} = pto.partition_view %{name}_v, offsets = [%c0, %c0], sizes = [%{name}_r, %{name}_c]
    : {view} -> {window(rows, columns, dtype)}"""


def product(types: Types, rows: int, drain: str, pointers: str, instruction: str = "") -> str:
    """`%acc` is the product of `%a_g` and `%b_g`; then `drain`."""
    e, k = types.element, types.depth
    a_l1 = f"!pto.tile_buf<mat, {rows}x{k}x{e}, {NZ}>"
    b_l1 = f"!pto.tile_buf<mat, {k}x{N}x{e}, {NZ}>"
    l0a = f"!pto.tile_buf<left, {rows}x{k}x{e}, slayout=row_major>"
    l0b = f"!pto.tile_buf<right, {k}x{N}x{e}, slayout=col_major>"
    body = instruction or "pto.tmatmul ins(%l, %r : {L}, {R}) outs(%acc : {C})"
    body = body.format(L=l0a, R=l0b, C=acc(types, rows))
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @kernel(%a_g: !pto.ptr<{e}>, %b_g: !pto.ptr<{e}>, {pointers}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  {whole("a", rows, k, e)}
  {whole("b", k, N, e)}
  %al1 = pto.alloc_tile : {a_l1}
  %bl1 = pto.alloc_tile : {b_l1}
  %l = pto.alloc_tile : {l0a}
  %r = pto.alloc_tile : {l0b}
  %acc = pto.alloc_tile : {acc(types, rows)}
  pto.tload ins(%a : {window(rows, k, e)}) outs(%al1 : {a_l1})
  pto.tload ins(%b : {window(k, N, e)}) outs(%bl1 : {b_l1})
  pto.tmov ins(%al1 : {a_l1}) outs(%l : {l0a})
  pto.tmov ins(%bl1 : {b_l1}) outs(%r : {l0b})
  {body}
  {drain}
  return
}}
}}"""


def acc(types: Types, rows: int = M) -> str:
    box = f"{NZ}, fractal=1024"
    return f"!pto.tile_buf<acc, {rows}x{N}x{types.total}, {box}>"


def factors(types: Types, rows: int = M) -> tuple[Array, Array]:
    rng = np.random.default_rng(8)
    dtype = DTYPES[types.element]
    a = rng.integers(-90, 91, (rows, types.depth)).astype(dtype)
    b = rng.integers(-90, 91, (types.depth, N)).astype(dtype)
    # Products far beyond what 16 bits hold, of either sign.
    a[0], a[-1], b[:, 0] = 120, -120, 120
    return a, b


def run(text: str, given: dict[str, Any], output: str) -> Array:
    """The output, the same in every schedule."""
    module = parsed(text, PASSES)
    found = [run_core(module, given, seed=seed)[output] for seed in SCHEDULES]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].view(np.uint8), other.view(np.uint8))
    return found[0]


def store(types: Types, target: str, options: str = "", operands: str = "", rows: int = M) -> str:
    out = window(rows, N, target)
    scale = f", {operands} : i64" if operands else ""
    return (
        whole("y", rows, N, target)
        + f"\n  pto.tstore ins(%acc : {acc(types, rows)}{scale}) "
        + f"outs(%y : {out}){options}"
    )


def exact(a: Array, b: Array) -> Array:
    return a.astype(np.int64) @ b.astype(np.int64)


# Products.


@pytest.mark.parametrize("types", [F32, F16, I8], ids=lambda types: types.element)
@pytest.mark.parametrize("name", ["tmatmul", "tgemv"])
@pytest.mark.parametrize("form", ["", ".acc", ".bias"])
def test_products(name: str, form: str, types: Types) -> None:
    """Alone, added to what is there, or to a row: all of it exact."""
    rows = 1 if name == "tgemv" else M
    a, b = factors(types, rows)
    text = f"pto.{name} ins(%l, %r : {{L}}, {{R}}) outs(%acc : {{C}})"
    given: dict[str, Any] = {"a_g": a, "b_g": b}
    wanted = exact(a, b)
    pointers = f"%y_g: !pto.ptr<{types.total}>"
    if form == ".acc":
        text += f"\n  pto.{name}.acc ins(%acc, %l, %r : {{C}}, {{L}}, {{R}}) outs(%acc : {{C}})"
        wanted = 2 * wanted
    elif form == ".bias":
        bias = np.arange(N).astype(DTYPES[types.total]) - 20
        given["s_g"], pointers = bias, f"%s_g: !pto.ptr<{types.total}>, {pointers}"
        l1, table = (f"!pto.tile_buf<{space}, 1x{N}x{types.total}>" for space in ("mat", "bias"))
        text = f"""{whole("s", 1, N, types.total)}
  %sl1 = pto.alloc_tile : {l1}
  %bias = pto.alloc_tile : {table}
  pto.tload ins(%s : {window(1, N, types.total)}) outs(%sl1 : {l1})
  pto.tmov ins(%sl1 : {l1}) outs(%bias : {table})
  pto.{name}.bias ins(%l, %r, %bias : {{L}}, {{R}}, {table}) outs(%acc : {{C}})"""
        wanted = wanted + bias.astype(np.int64)
    given["y_g"] = np.zeros((rows, N), DTYPES[types.total])
    program = product(types, rows, store(types, types.total, rows=rows), pointers, text)
    same(run(program, given, "y_g"), wanted.astype(DTYPES[types.total]))


# The way out.


def drained(
    types: Types, target: str, drain: str, extra: dict[str, Any], pointers: str = ""
) -> tuple[Array, Array]:
    """What is stored, and the exact product."""
    a, b = factors(types)
    pointers += f"%y_g: !pto.ptr<{target}>"
    text = product(types, M, drain, pointers)
    given = {"a_g": a, "b_g": b, **extra, "y_g": np.zeros((M, N), DTYPES[target])}
    return run(text, given, "y_g"), exact(a, b)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("target", ["f32", "f16"])
def test_stores_of_floats(target: str, relu: bool) -> None:
    """Rounded to nearest even; beyond f16 is infinity."""
    options = " {reluPreMode = #pto<relu_pre_mode normal_relu>}" if relu else ""
    got, wanted = drained(F32, target, store(F32, target, options), {})
    with np.errstate(over="ignore"):
        wide = wanted.astype(np.float32)
        same(got, np.where(relu & (wide <= 0), 0, wide).astype(DTYPES[target]))


def test_stores_of_bfloat16() -> None:
    got, wanted = drained(F32, "bf16", store(F32, "bf16"), {})
    bits = wanted.astype(np.float32).view(np.uint32).astype(np.uint64)
    same(got, ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16))


def test_stores_of_integers_that_add() -> None:
    """`atomicType`: to what is in global memory."""
    options = " {atomicType = #pto<atomic_type atomic_add>}"
    a, b = factors(I8)
    before = np.arange(M * N, dtype=np.int32).reshape(M, N)
    text = product(I8, M, store(I8, "i32", options), "%y_g: !pto.ptr<i32>")
    got = run(text, {"a_g": a, "b_g": b, "y_g": before}, "y_g")
    same(got, (exact(a, b) + before).astype(np.int32))


def packed_scale(scale: float, *, signed: bool, offset: int = 0, shift: int = 0) -> int:
    """The 64 bits of a scale."""
    bits = int(np.float32(scale).view(np.uint32))
    return bits | shift << 32 | offset << 37 | int(signed) << 46


def to_bytes(x: Array, scale: Array | np.float32, offset: Array | int, signed: bool) -> Array:
    wide = np.rint(x.astype(np.float32) * scale + np.float32(offset)).astype(np.float64)
    return np.clip(wide, -128 if signed else 0, 127 if signed else 255)


SCALED: dict[tuple[str, str], Callable[[Array, Any], Array]] = {
    ("f32", "i8"): lambda x, s: to_bytes(x, s, 3, True),
    ("f32", "ui8"): lambda x, s: to_bytes(x, s, 3, False),
    ("i32", "i8"): lambda x, s: to_bytes(x, s, 3, True),
    ("i32", "ui8"): lambda x, s: to_bytes(x, s, 3, False),
    ("i32", "f16"): lambda x, s: np.clip(x.astype(np.float32) * s, -65504, 65504),
}
"""What an element becomes with a scale; bytes are shifted by 3."""


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize(("source", "target"), SCALED)
def test_stores_with_a_scale(source: str, target: str, relu: bool) -> None:
    types = F32 if source == "f32" else I8
    scale = np.float32(0.01237)
    number = packed_scale(float(scale), signed=target == "i8", offset=3)
    options = " {reluPreMode = #pto<relu_pre_mode normal_relu>}" if relu else ""
    drain = f"%q = arith.constant {number} : i64" + store(types, target, options, "%q")
    got, wanted = drained(types, target, drain, {})
    result = SCALED[source, target](wanted, scale)
    same(got, np.where(relu & (result <= 0), 0, result).astype(DTYPES[target]))


def column_scales(target: str) -> tuple[Array, Array]:
    """Packed scales, one a column, and what they scale by: 19 bits of an f32."""
    floats = np.linspace(-0.01, 0.02, N).astype(np.float32)
    bits = floats.view(np.uint32) & np.uint32(0xFFFFE000)
    signed = target == "i8"
    packed = [packed_scale(float(s), signed=signed, offset=3) for s in floats]
    return np.array(packed, np.uint64)[None], bits.view(np.float32)


def scales_text() -> str:
    """`%fp`: the scales that `%s_g` points to."""
    l1, fb = (f"!pto.tile_buf<{space}, 1x{N}xui64>" for space in ("mat", "scaling"))
    return f"""{whole("s", 1, N, "ui64")}
  %sl1 = pto.alloc_tile : {l1}
  %fp = pto.alloc_tile : {fb}
  pto.tload ins(%s : {window(1, N, "ui64")}) outs(%sl1 : {l1})
  pto.tmov ins(%sl1 : {l1}) outs(%fp : {fb})"""


FB = f"!pto.tile_buf<scaling, 1x{N}xui64>"


@pytest.mark.parametrize(("source", "target"), SCALED)
def test_stores_with_a_scale_a_column(source: str, target: str) -> None:
    types = F32 if source == "f32" else I8
    packed, scales = column_scales(target)
    drain = f"""{scales_text()}{whole("y", M, N, target)}
  pto.tstore_fp ins(%acc, %fp : {acc(types)}, {FB}) outs(%y : {window(M, N, target)})"""
    got, wanted = drained(types, target, drain, {"s_g": packed}, "%s_g: !pto.ptr<ui64>, ")
    same(got, SCALED[source, target](wanted, scales).astype(DTYPES[target]))


# To L1, from where it is stored.


def stored_from(buffer: str, target: str) -> str:
    return f"""{whole("y", M, N, target)}
  pto.tstore ins(%out : {buffer}) outs(%y : {window(M, N, target)})"""


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("form", ["tmov", "textract", "tinsert"])
def test_drains_to_l1(form: str, relu: bool) -> None:
    """f32 to f16, whole, or the lower half of a window."""
    l1 = f"!pto.tile_buf<mat, {M}x{N}xf16, {NZ}>"
    options = " {reluPreMode = #pto<relu_pre_mode normal_relu>}" if relu else ""
    drain = f"%out = pto.alloc_tile : {l1}\n  "
    if form == "tinsert":
        # Twice: the whole, and again a window at [0, 0] of its own size.
        drain += f"pto.tmov ins(%acc : {acc(F32)}) outs(%out : {l1})\n  "
    at = {"tmov": "", "textract": ", %c0, %c0", "tinsert": ", %c0, %c0"}[form]
    types = ", index, index" if at else ""
    drain += f"pto.{form} ins(%acc{at} : {acc(F32)}{types}) outs(%out : {l1}){options}"
    got, wanted = drained(F32, "f16", drain + stored_from(l1, "f16"), {})
    with np.errstate(over="ignore"):
        wide = wanted.astype(np.float32)
        same(got, np.where(relu & (wide <= 0), 0, wide).astype(np.float16))


def test_windows_of_an_accumulator() -> None:
    """The rows from 16 on and the columns from 32 on, put at [0, 16] of a tile of zeros."""
    part = f"!pto.tile_buf<mat, 16x32xf16, {NZ}>"
    l1 = f"!pto.tile_buf<mat, {M}x{N}xf16, {NZ}>"
    drain = f"""%c32 = arith.constant 32 : index
  %out = pto.alloc_tile : {l1}
  %none = pto.alloc_tile : {acc(F32)}
  pto.tmatmul ins(%l, %r : LEFT, RIGHT) outs(%none : {acc(F32)})
  pto.tmov ins(%none : {acc(F32)}) outs(%out : {l1})
  %part = pto.alloc_tile : {part}
  pto.textract ins(%acc, %c16, %c32 : {acc(F32)}, index, index) outs(%part : {part})
  {whole("y", 16, 32, "f16")}
  pto.tstore ins(%part : {part}) outs(%y : {window(16, 32, "f16")})"""
    k = F32.depth
    drain = drain.replace("LEFT", f"!pto.tile_buf<left, {M}x{k}xf32, slayout=row_major>")
    drain = drain.replace("RIGHT", f"!pto.tile_buf<right, {k}x{N}xf32, slayout=col_major>")
    a, b = factors(F32)
    text = product(F32, M, drain, "%y_g: !pto.ptr<f16>")
    got = run(text, {"a_g": a, "b_g": b, "y_g": np.zeros((16, 32), np.float16)}, "y_g")
    with np.errstate(over="ignore"):
        same(got, exact(a, b)[16:, 32:].astype(np.float16))


@pytest.mark.parametrize("form", ["tmov", "textract_fp", "tinsert_fp", "tmov.fp"])
@pytest.mark.parametrize(("source", "target"), [("f32", "i8"), ("i32", "i8"), ("i32", "f16")])
def test_scaled_drains_to_l1(form: str, source: str, target: str) -> None:
    """By one scale, or by one a column."""
    types = F32 if source == "f32" else I8
    l1 = f"!pto.tile_buf<mat, {M}x{N}x{target}, {NZ}>"
    packed, scales = column_scales(target)
    extra, pointers = {"s_g": packed}, "%s_g: !pto.ptr<ui64>, "
    drain = f"%out = pto.alloc_tile : {l1}\n"
    if form == "tmov":
        scale = np.float32(0.0071)
        number = packed_scale(float(scale), signed=True, offset=3)
        extra, pointers = {}, ""
        drain += (
            f"  %q = arith.constant {number} : i64\n  pto.tmov ins(%acc : {acc(types)}, %q : i64)"
        )
        factor: Any = scale
    else:
        at = "" if form == "tmov.fp" else ", %c0, %c0"
        kinds = "" if form == "tmov.fp" else ", index, index"
        drain += scales_text()
        drain += f"\n  pto.{form} ins(%acc, %fp{at} : {acc(types)}, {FB}{kinds})"
        factor = scales
    drain += f" outs(%out : {l1})" + stored_from(l1, target)
    got, wanted = drained(types, target, drain, extra, pointers)
    same(got, SCALED[source, target](wanted, factor).astype(DTYPES[target]))


@pytest.mark.parametrize("shift", [0, 3, 15])
def test_integers_are_shifted_to_16_bits(shift: int) -> None:
    """By one bit more than the scale says; what is left saturates."""
    l1 = f"!pto.tile_buf<mat, {M}x{N}xi16, {NZ}>"
    number = packed_scale(1.0, signed=True, shift=shift)
    drain = f"""%out = pto.alloc_tile : {l1}
  %q = arith.constant {number} : i64
  pto.textract ins(%acc, %c0, %c0, %q : {acc(I8)}, index, index, i64) outs(%out : {l1})
  {stored_from(l1, "i16")}"""
    got, wanted = drained(I8, "i16", drain, {})
    assert (np.abs(wanted) > 2 * 32767).any()
    shifted = np.clip(wanted // 2 ** (shift + 1), -32768, 32767)
    same(got, shifted.astype(np.int16))


# What is refused.


@pytest.mark.parametrize(
    ("types", "target", "number", "message"),
    [
        (F32, "i8", packed_scale(0.5, signed=False), "bit 46 does not say that i8 is signed"),
        (F32, "i8", packed_scale(0.5, signed=True, offset=300), "adds 300, which is no byte"),
        (F32, "i32", None, "drains f32 to i32, which takes a scale"),
        (I8, "f16", None, "drains i32 to f16, which takes a scale"),
    ],
)
def test_what_no_scale_does(types: Types, target: str, number: int | None, message: str) -> None:
    a, b = factors(types)
    prefix = "" if number is None else f"%q = arith.constant {number} : i64"
    drain = prefix + store(types, target, operands="" if number is None else "%q")
    text = product(types, M, drain, f"%y_g: !pto.ptr<{target}>")
    given = {"a_g": a, "b_g": b, "y_g": np.zeros((M, N), DTYPES[target])}
    with pytest.raises(DiagnosticsError, match=message):
        run(text, given, "y_g")


@pytest.mark.parametrize("mode", ["scalar_relu", "vector_relu", "pwl"])
def test_other_relus_have_no_slope(mode: str) -> None:
    options = f" {{reluPreMode = #pto<relu_pre_mode {mode}>}}"
    with pytest.raises(DiagnosticsError, match=f"asks for {mode}, whose slopes no operand gives"):
        drained(F32, "f16", store(F32, "f16", options), {})
