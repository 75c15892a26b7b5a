"""
Each elementwise instruction, for each element type of A2/A3, against a statement of its own in
numpy: on numbers of all sizes and on special ones, over a valid region that is smaller than the
tile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
FLOATS = "f32 f16"
ALL = "f32 f16 i32 i16"
UNSIGNED = f"{ALL} ui32 ui16"
INTEGERS = "i32 i16 i8 ui32 ui16 ui8"

OfOne = Callable[[Any], Any]
OfTwo = Callable[[Any, Any], Any]
OfThree = Callable[[Any, Any, Any], Any]
Statement = OfOne | OfTwo | OfThree


def _c_round(function: Callable[[float], float]) -> OfOne:
    """A function of Python's `math`, number by number, in f64, rounded once."""

    def of(x: Array) -> Array:
        def one(value: float) -> float:
            try:
                return function(value)
            except ValueError:
                return math.nan
            except OverflowError:
                return math.inf

        wide = np.vectorize(one, otypes=[np.float64])(x.astype(np.float64))
        return wide.astype(x.dtype)

    return of


def _log(value: float) -> float:
    if value == 0:
        return -math.inf
    return math.log(value)


def _rsqrt(value: float) -> float:
    if value == 0:
        return math.copysign(math.inf, value)
    return 0.0 if value == math.inf else 1 / math.sqrt(value)


def _larger(x: Array, y: Array) -> Array:
    """nan if either is; +0 above -0."""
    if x.dtype.kind != "f":
        return np.where(x > y, x, y)
    result = np.where((x > y) | ((x == y) & np.signbit(y)), x, y)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, result).astype(x.dtype)


def _smaller(x: Array, y: Array) -> Array:
    if x.dtype.kind != "f":
        return np.where(x < y, x, y)
    result = np.where((x < y) | ((x == y) & np.signbit(x)), x, y)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, result).astype(x.dtype)


def _relu(x: Array) -> Array:
    return _larger(x, np.zeros_like(x))


def _sloped(x: Array, slope: Any) -> Array:
    result: Array = np.where(x > 0, x, x * slope)
    return result


def _in_f32(whole: Callable[[Array], Array]) -> OfTwo:
    """`x - whole(x / y) * y` in f32, each step rounded."""

    def of(x: Array, y: Array) -> Array:
        x, y = x.astype(np.float32), y.astype(np.float32)
        return x - whole(x / y) * y

    return of


UNARY: dict[str, tuple[str, OfOne, int]] = {
    "tabs": (FLOATS, lambda x: x * np.copysign(1, x).astype(x.dtype), 0),
    "tneg": (UNSIGNED, lambda x: 0 - x if x.dtype.kind != "f" else -x, 0),
    "texp": (FLOATS, _c_round(math.exp), 4),
    "tlog": (FLOATS, _c_round(_log), 4),
    "tsqrt": (FLOATS, _c_round(math.sqrt), 1),
    "trsqrt": (FLOATS, _c_round(_rsqrt), 2),
    "trecip": (FLOATS, lambda x: (1 / x).astype(x.dtype), 0),
    "trelu": ("f32 f16 i32", _relu, 0),
    "tnot": ("i16 ui16", lambda x: x ^ x.dtype.type(-1 if x.dtype.kind == "i" else 65535), 0),
}
"""Element types, what each element becomes, and within how many units in the last place."""

BINARY: dict[str, tuple[str, OfTwo]] = {
    "tadd": (UNSIGNED, lambda x, y: x + y),
    "tsub": (UNSIGNED, lambda x, y: x - y),
    "tmul": (UNSIGNED, lambda x, y: x * y),
    "tdiv": (FLOATS, lambda x, y: x / y),
    "tmax": (UNSIGNED, _larger),
    "tmin": (UNSIGNED, _smaller),
    "tfmod": (FLOATS, _in_f32(np.trunc)),
    "tand": (INTEGERS, lambda x, y: x & y),
    "tor": (INTEGERS, lambda x, y: x | y),
    "taddrelu": (ALL, lambda x, y: _relu(x + y)),
}
SCRATCHED: dict[str, tuple[str, OfTwo]] = {
    "txor": (INTEGERS, lambda x, y: (x | y) & ~(x & y)),
    "trem": ("f32", _in_f32(np.floor)),
    "tprelu": (FLOATS, lambda x, y: _sloped(x, y)),
}
TERNARY: dict[str, tuple[str, OfThree]] = {
    "taddc": (ALL, lambda x, y, z: (x + y) + z),
    "tsubc": (ALL, lambda x, y, z: (x - y) + z),
}
SCALAR: dict[str, tuple[str, OfTwo]] = {
    "tadds": (ALL, lambda x, s: x + s),
    "tsubs": (ALL, lambda x, s: x - s),
    "tmuls": (ALL, lambda x, s: x * s),
    "tmaxs": (ALL, lambda x, s: _larger(x, np.full_like(x, s))),
    "tmins": (ALL, lambda x, s: _smaller(x, np.full_like(x, s))),
    "tfmods": (FLOATS, _in_f32(np.trunc)),
    "tdivs": (FLOATS, lambda x, s: x / s),
    "tands": ("i16 i8", lambda x, s: x & s),
    "tors": ("i16 i8", lambda x, s: x | s),
    "tshls": ("i32 i16 i8", lambda x, s: x << s),
    "tshrs": ("i32 i16", lambda x, s: x >> s),
}
SCALAR_SCRATCHED: dict[str, tuple[str, OfTwo]] = {
    "trems": ("f32", _in_f32(np.floor)),
    "txors": ("i16 i8", lambda x, s: (x | s) & ~(x & s)),
}
SCALAR_TWO: dict[str, tuple[str, OfThree]] = {
    "taddsc": (ALL, lambda x, s, y: (x + s) + y),
    "tsubsc": (ALL, lambda x, s, y: (x - s) + y),
}

SHIFTS: dict[str, Callable[[int, int], int]] = {
    "tshl": lambda x, count: x << count,
    "tshr": lambda x, count: x >> count,
}
OTHERS = ("tlrelu", "taxpy", "tcvt", "texpands", "tci", "ttri", "tpow", "tpows")

CHECKED = frozenset(
    (*UNARY, *BINARY, *SCRATCHED, *TERNARY, *SCALAR, *SCALAR_SCRATCHED, *SCALAR_TWO)
) | {*SHIFTS, *OTHERS}


def cases(table: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, dtype) for name, row in table.items() for dtype in row[0].split()]


def part(array: Array) -> Array:
    return array[: VALID[0], : VALID[1]]


def tile(dtype: str) -> Buffer:
    return Buffer(dtype, valid=VALID)


def check(
    body: str,
    dtype: str,
    sources: dict[str, Array],
    statement: Statement,
    *,
    scratch: dict[str, Buffer] | None = None,
    ulps: int = 0,
) -> None:
    """Compare with the statement of the sources' valid regions."""
    with np.errstate(all="ignore"):
        compute: Any = statement
        wanted = np.asarray(compute(*(part(a) for a in sources.values())))
        wanted = wanted.astype(DTYPES[dtype])
    given = {name: (tile(dtype), array) for name, array in sources.items()}
    after = run_instruction(body, given, {"d": tile(dtype)}, scratch or {})
    same(after["d"], expected(tile(dtype), wanted), ulps=ulps)


def pairs(dtype: str) -> list[tuple[Array, Array]]:
    return [
        (numbers(dtype), numbers(dtype, seed=1)),
        (specials(dtype), specials(dtype, shift=1)),
    ]


def _with(statement: OfTwo, scalar: Any) -> OfOne:
    return lambda x: statement(x, scalar)


def constant(dtype: str, text: str) -> str:
    return f"  %s = arith.constant {text} : {dtype}\n"


@pytest.mark.parametrize(("name", "dtype"), cases(UNARY))
def test_of_one(name: str, dtype: str) -> None:
    _, statement, ulps = UNARY[name]
    body = f"  pto.{name} ins(%a : {{a}}) outs(%d : {{d}})"
    for values in (numbers(dtype), specials(dtype)):
        check(body, dtype, {"a": values}, statement, ulps=ulps)


@pytest.mark.parametrize(("name", "dtype"), cases(BINARY))
def test_of_two(name: str, dtype: str) -> None:
    body = f"  pto.{name} ins(%a, %b : {{a}}, {{b}}) outs(%d : {{d}})"
    for a, b in pairs(dtype):
        check(body, dtype, {"a": a, "b": b}, BINARY[name][1])


@pytest.mark.parametrize(("name", "dtype"), cases(SCRATCHED))
def test_of_two_with_scratch(name: str, dtype: str) -> None:
    body = f"  pto.{name} ins(%a, %b, %t : {{a}}, {{b}}, {{t}}) outs(%d : {{d}})"
    scratch = {"t": tile(dtype)}
    if name == "tprelu":
        scratch = {"t": Buffer("ui8", (17, 64))}
    for a, b in pairs(dtype):
        check(body, dtype, {"a": a, "b": b}, SCRATCHED[name][1], scratch=scratch)


@pytest.mark.parametrize(("name", "dtype"), cases(TERNARY))
def test_of_three(name: str, dtype: str) -> None:
    body = f"  pto.{name} ins(%a, %b, %c : {{a}}, {{b}}, {{c}}) outs(%d : {{d}})"
    for place, (a, b) in enumerate(pairs(dtype)):
        c = specials(dtype, shift=2) if place else numbers(dtype, seed=2)
        check(body, dtype, {"a": a, "b": b, "c": c}, TERNARY[name][1])


@pytest.mark.parametrize(("name", "dtype"), cases(SCALAR))
def test_with_a_number(name: str, dtype: str) -> None:
    is_float = dtype.startswith("f")
    body = f"  pto.{name} ins(%a, %s : {{a}}, {dtype}) outs(%d : {{d}})"
    for number in ("2.5", "-0.0") if is_float else ("3", "1"):
        scalar = DTYPES[dtype](float(number))
        for values in (numbers(dtype), specials(dtype)):
            check(
                constant(dtype, number) + body,
                dtype,
                {"a": values},
                _with(SCALAR[name][1], scalar),
            )


@pytest.mark.parametrize("dtype", FLOATS.split())
def test_number_by_tile(dtype: str) -> None:
    """`tdivs` with the number first."""
    body = f"  pto.tdivs ins(%s, %a : {dtype}, {{a}}) outs(%d : {{d}})"
    for values in (numbers(dtype), specials(dtype)):
        check(
            constant(dtype, "2.5") + body,
            dtype,
            {"a": values},
            lambda x: DTYPES[dtype](2.5) / x,
        )


@pytest.mark.parametrize("dtype", ["i32", "i16"])
def test_integers_divide_through_f32(dtype: str) -> None:
    """The quotient is truncated; the extremes are no f32 numbers, so their quotients round."""
    body = f"  pto.tdivs ins(%a, %s : {{a}}, {dtype}) outs(%d : {{d}})"

    def quotient(x: Array) -> Array:
        wide = np.trunc(x.astype(np.float32) / np.float32(3)).astype(np.float64)
        info = np.iinfo(x.dtype)
        return np.clip(wide, info.min, info.max)

    for values in (numbers(dtype), specials(dtype)):
        check(constant(dtype, "3") + body, dtype, {"a": values}, quotient)


@pytest.mark.parametrize(("name", "dtype"), [("trem", "i32"), ("trems", "i32")])
def test_integers_leave_remainders_through_f32(name: str, dtype: str) -> None:
    """Small numbers, which f32 holds: the sign is the divisor's."""
    rng = np.random.default_rng(3)
    a = rng.integers(-1000, 1000, (16, 64), np.int32)
    b = rng.integers(1, 50, (16, 64), np.int32) * rng.choice([-1, 1], (16, 64)).astype(np.int32)
    scratch = {"t": tile(dtype)}
    if name == "trem":
        body = "  pto.trem ins(%a, %b, %t : {a}, {b}, {t}) outs(%d : {d})"
        check(body, dtype, {"a": a, "b": b}, lambda x, y: x - x // y * y, scratch=scratch)
    else:
        body = constant(dtype, "-7") + f"  pto.trems ins(%a, %s, %t : {{a}}, {dtype}, {{t}})"
        body += " outs(%d : {d})"
        check(body, dtype, {"a": a}, lambda x: x - x // -7 * -7, scratch=scratch)


@pytest.mark.parametrize(("name", "dtype"), cases(SCALAR_SCRATCHED))
def test_with_a_number_and_scratch(name: str, dtype: str) -> None:
    number = "2.5" if dtype.startswith("f") else "-27"
    scalar = DTYPES[dtype](float(number))
    body = f"  pto.{name} ins(%a, %s, %t : {{a}}, {dtype}, {{t}}) outs(%d : {{d}})"
    for values in (numbers(dtype), specials(dtype)):
        check(
            constant(dtype, number) + body,
            dtype,
            {"a": values},
            lambda x: SCALAR_SCRATCHED[name][1](x, scalar),
            scratch={"t": tile(dtype)},
        )


@pytest.mark.parametrize(("name", "dtype"), cases(SCALAR_TWO))
def test_with_a_number_between(name: str, dtype: str) -> None:
    number = "2.5" if dtype.startswith("f") else "3"
    scalar = DTYPES[dtype](float(number))
    body = f"  pto.{name} ins(%a, %s, %b : {{a}}, {dtype}, {{b}}) outs(%d : {{d}})"
    for a, b in pairs(dtype):
        check(
            constant(dtype, number) + body,
            dtype,
            {"a": a, "b": b},
            lambda x, y: SCALAR_TWO[name][1](x, scalar, y),
        )


@pytest.mark.parametrize("dtype", INTEGERS.split())
@pytest.mark.parametrize("name", SHIFTS)
def test_shifts(name: str, dtype: str) -> None:
    """By each count below the width; right shifts keep the sign of what has one."""
    width = np.dtype(DTYPES[dtype]).itemsize * 8
    counts = np.resize(np.arange(width), (16, 64)).astype(DTYPES[dtype])
    shift = SHIFTS[name]

    def of(x: Array, count: Array) -> Array:
        pairs = zip(x.flat, count.flat, strict=True)
        exact = [shift(int(v), int(n)) & ((1 << width) - 1) for v, n in pairs]
        unsigned = np.array(exact, np.uint64).reshape(x.shape)
        return unsigned.astype(f"uint{width}").view(x.dtype)

    body = f"  pto.{name} ins(%a, %b : {{a}}, {{b}}) outs(%d : {{d}})"
    for values in (numbers(dtype), specials(dtype)):
        check(body, dtype, {"a": values, "b": counts}, of)


@pytest.mark.parametrize("count", [-1, 16, 100])
def test_counts_beyond_the_width_have_no_result(count: int) -> None:
    counts = np.full((16, 64), count, np.int16)
    body = "  pto.tshl ins(%a, %b : {a}, {b}) outs(%d : {d})"
    sources = {"a": (tile("i16"), numbers("i16")), "b": (tile("i16"), counts)}
    with pytest.raises(Exception, match=r"undefined elements|which nobody wrote"):
        run_instruction(body, sources, {"d": tile("i16")})


@pytest.mark.parametrize("dtype", FLOATS.split())
def test_lrelu(dtype: str) -> None:
    body = "  %s = arith.constant -0.25 : f32\n"
    body += "  pto.tlrelu ins(%a, %s : {a}, f32) outs(%d : {d})"
    for values in (numbers(dtype), specials(dtype)):
        check(body, dtype, {"a": values}, _with(_sloped, DTYPES[dtype](-0.25)))


@pytest.mark.parametrize(("source", "target"), [("f32", "f32"), ("f16", "f16"), ("f16", "f32")])
def test_axpy(source: str, target: str) -> None:
    """What was there, and a multiple added; f16 may be added to f32."""
    body = f"  %s = arith.constant 0.75 : {source}\n"
    body += f"  pto.taxpy ins(%a, %s : {{a}}, {source}) outs(%d : {{d}})"
    for a, d in (
        (numbers(source), numbers(target, seed=1)),
        (specials(source), specials(target, shift=1)),
    ):
        after = run_instruction(
            body, {"a": (tile(source), a)}, {"d": tile(target)}, before={"d": d}
        )
        wanted = d.copy()
        with np.errstate(all="ignore"):
            added = part(a).astype(DTYPES[target]) * DTYPES[target](0.75)
            wanted[: VALID[0], : VALID[1]] = part(d) + added
        same(after["d"], wanted)


CONVERSIONS: dict[str, OfOne] = {
    "f32 f16 CEIL": lambda x: _directed(x, np.float16, up=True),
    "f32 f16 FLOOR": lambda x: _directed(x, np.float16, up=False),
    "f32 i32 RINT": lambda x: _whole(np.rint(x.astype(np.float64)), np.int32),
    "f32 i32 TRUNC": lambda x: _whole(np.trunc(x.astype(np.float64)), np.int32),
    "f32 i64 FLOOR": lambda x: _whole(np.floor(x.astype(np.float64)), np.int64),
    "f16 i32 CEIL": lambda x: _whole(np.ceil(x.astype(np.float64)), np.int32),
    "i32 f32 RINT": lambda x: x.astype(np.float32),
    "i16 f32 RINT": lambda x: x.astype(np.float32),
    "i16 f16 RINT": lambda x: x.astype(np.float16),
    "i8 f16 RINT": lambda x: x.astype(np.float16),
    "ui8 f16 RINT": lambda x: x.astype(np.float16),
    "i32 i64 RINT": lambda x: x.astype(np.int64),
    "i64 i32 RINT": lambda x: x.astype(np.int32),
    "i32 i16 RINT": lambda x: x.astype(np.int16),
    "f16 f32 RINT": lambda x: x.astype(np.float32),
    "bf16 f32 RINT": lambda x: (x.astype(np.uint32) << 16).view(np.float32),
}


def _whole(x: Array, dtype: type[Any]) -> Array:
    """Saturates; nan is 0. Numbers are compared exactly, by Python's integers."""
    info = np.iinfo(dtype)

    def one(value: float) -> int:
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return info.max if value > 0 else info.min
        return min(max(int(value), info.min), info.max)

    return np.array([one(float(v)) for v in x.flat], dtype).reshape(x.shape)


def _directed(x: Array, dtype: type[Any], *, up: bool) -> Array:
    """The neighbour on one side, where the number itself is not there."""
    near = x.astype(dtype)
    wrong = near.astype(np.float64) < x if up else near.astype(np.float64) > x
    step = np.nextafter(near, dtype(np.inf if up else -np.inf))
    return np.where(wrong, step, near).astype(dtype)


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_conversions(conversion: str) -> None:
    source, target, mode = conversion.split()
    body = f"  pto.tcvt ins(%a {{{{rmode = #pto<round_mode {mode}>}}}} : {{a}}) outs(%d : {{d}})"
    values = [numbers(source)]
    if source != "bf16":
        values.append(specials(source))
    for a in values:
        with np.errstate(all="ignore"):
            wanted = CONVERSIONS[conversion](part(a)).astype(DTYPES[target])
        after = run_instruction(body, {"a": (tile(source), a)}, {"d": tile(target)})
        same(after["d"], expected(tile(target), wanted))


@pytest.mark.parametrize("mode", ["ON", "OFF"])
@pytest.mark.parametrize(("source", "target"), [("f32", "i16"), ("f16", "i8"), ("f16", "i16")])
def test_saturation(source: str, target: str, mode: str) -> None:
    """On: the nearest number. Off: the low bits of the nearest i32."""
    body = "  pto.tcvt ins(%a, %t {{rmode = #pto<round_mode RINT>, sat_mode = "
    body += f"#pto<saturation_mode {mode}>}}}} : {{a}}, {{t}}) outs(%d : {{d}})"
    bits = np.iinfo(DTYPES[target]).bits
    for a in (numbers(source) * DTYPES[source](99), specials(source)):
        wide = _whole(np.rint(part(a).astype(np.float64)), np.int32).astype(np.int64)
        if mode == "ON":
            info = np.iinfo(DTYPES[target])
            wanted = np.clip(wide, info.min, info.max)
        else:
            low = wide % (1 << bits)
            wanted = np.where(low >= 1 << (bits - 1), low - (1 << bits), low)
        after = run_instruction(
            body, {"a": (tile(source), a)}, {"d": tile(target)}, {"t": tile("i32")}
        )
        same(after["d"], expected(tile(target), wanted.astype(DTYPES[target])))


def test_rounding_to_whole_numbers() -> None:
    """f32 to f32: half to even, halves of either sign."""
    a = np.resize(
        np.array([0.5, 1.5, -0.5, -2.5, 2.375, np.inf, np.nan, -0.0], np.float32), (16, 64)
    )
    body = "  pto.tcvt ins(%a {{rmode = #pto<round_mode RINT>}} : {a}) outs(%d : {d})"
    values = {0.5: 0.0, 1.5: 2.0, -0.5: -0.0, -2.5: -2.0, 2.375: 2.0}
    wanted = np.array([values.get(float(v), v) for v in part(a).flat], np.float32)
    check(body, "f32", {"a": a}, lambda x: wanted.reshape(x.shape))


@pytest.mark.parametrize("dtype", [*ALL.split(), "bf16"])
def test_fill(dtype: str) -> None:
    text = {"bf16": "1.5"}.get(dtype, "2.5" if dtype.startswith("f") else "-3")
    wanted = np.full(VALID, 0x3FC0 if dtype == "bf16" else DTYPES[dtype](float(text)))
    body = f"{constant(dtype, text)}  pto.texpands ins(%s : {dtype}) outs(%d : {{d}})"
    after = run_instruction(body, {}, {"d": tile(dtype)})
    same(after["d"], expected(tile(dtype), wanted.astype(DTYPES[dtype])))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["i32", "i16"])
def test_ramp(dtype: str, descending: bool) -> None:
    """Wraps where the numbers end."""
    start = int(np.iinfo(DTYPES[dtype]).max) - 5
    row = Buffer(dtype, (1, 64), (1, 40))
    step = "true" if descending else "false"
    body = constant(dtype, str(start))
    body += f"  pto.tci ins(%s : {dtype}) outs(%d : {{d}}) {{{{descending = {step}}}}}"
    after = run_instruction(body, {}, {"d": row})
    exact = [start - k if descending else start + k for k in range(40)]
    size = 1 << np.iinfo(DTYPES[dtype]).bits
    wrapped = [v - size if v >= size // 2 else v for v in exact]
    same(after["d"], expected(row, np.array([wrapped], DTYPES[dtype])))


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("diagonal", [0, 3, -2])
@pytest.mark.parametrize("dtype", UNSIGNED.split())
def test_triangle(dtype: str, diagonal: int, upper: int) -> None:
    body = f"  %s = arith.constant {diagonal} : i32\n  pto.ttri ins(%s "
    body += f"{{{{upperOrLower = {upper} : i32}}}} : i32) outs(%d : {{d}})"
    after = run_instruction(body, {}, {"d": tile(dtype)})
    ones = np.zeros(VALID, DTYPES[dtype])
    for r in range(VALID[0]):
        for c in range(VALID[1]):
            ones[r, c] = c >= r + diagonal if upper else c <= r + diagonal
    same(after["d"], expected(tile(dtype), ones))


def _power(x: float, y: float) -> float:
    """`exp(ln |x| * y)`, with the sign of an odd power."""
    if y == 0:
        return 1.0
    if x == 0:
        return 0.0 if y > 0 else math.inf if y < 0 else math.nan
    if abs(x) == 1 and math.isinf(y):
        return 1.0 if x < 0 else math.nan
    if x < 0 and math.isfinite(y) and y != int(y):
        return math.nan if math.isfinite(x) else (0.0 if y < 0 else math.inf)
    try:
        return math.pow(x, y)
    except OverflowError:
        odd = math.isfinite(y) and y % 2 == 1
        return -math.inf if x < 0 and odd else math.inf
    except ValueError:
        return math.nan


def test_float_powers() -> None:
    body = "  pto.tpow ins(%a, %b, %t : {a}, {b}, {t}) outs(%d : {d})"

    def of(x: Array, y: Array) -> Array:
        pairs = zip(x.flat, y.flat, strict=True)
        return np.array([_power(float(a), float(b)) for a, b in pairs]).reshape(x.shape)

    a, b = numbers("f32"), np.rint(numbers("f32", seed=1))
    finite = np.array([1.0, -1.0, 0.5, -2.5, 0.0, 3.0, 1e30, np.inf, np.nan], np.float32)
    for x, y in ((a, b), (np.resize(finite, (16, 64)), np.resize(np.roll(finite, 2), (16, 64)))):
        check(body, "f32", {"a": x, "b": y}, of, scratch={"t": tile("f32")}, ulps=1)


@pytest.mark.parametrize("dtype", INTEGERS.split())
def test_integer_powers(dtype: str) -> None:
    """They wrap; a negative exponent leaves 0, but for 1 and -1."""
    info = np.iinfo(DTYPES[dtype])
    bases = np.resize(np.array([0, 1, 2, 3, 5, 7, info.max, max(info.min, -1)]), (16, 64))
    exponents = np.resize(np.array([0, 1, 2, 3, 9, 31, max(info.min, -1)]), (16, 64))

    def one(x: int, y: int) -> int:
        if info.min == 0 and info.bits == 32:
            # The scalar unit's numbers have a sign.
            x = x - (1 << 32) if x >> 31 else x
        if y >= 0:
            return x**y
        return {1: 1, -1: (-1) ** (y % 2)}.get(x, 0)

    def of(x: Array, y: Array) -> Array:
        pairs = zip(x.flat, y.flat, strict=True)
        exact = [one(int(a), int(b)) % (1 << info.bits) for a, b in pairs]
        return np.array(exact, np.uint64).reshape(x.shape).astype(f"uint{info.bits}").view(x.dtype)

    body = "  pto.tpow ins(%a, %b : {a}, {b}) outs(%d : {d})"
    sources = {"a": bases.astype(DTYPES[dtype]), "b": exponents.astype(DTYPES[dtype])}
    check(body, dtype, sources, of)


def test_powers_by_a_number() -> None:
    body = constant("f32", "2.0") + "  pto.tpows ins(%a, %s, %t : {a}, f32, {t}) outs(%d : {d})"
    check(
        body,
        "f32",
        {"a": numbers("f32")},
        lambda x: x.astype(np.float64) ** 2,
        scratch={"t": tile("f32")},
        ulps=1,
    )
    body = constant("i16", "3") + "  pto.tpows ins(%a, %s : {a}, i16) outs(%d : {d})"
    check(body, "i16", {"a": numbers("i16")}, lambda x: x * x * x)
