"""
Each instruction that compares, selects, picks, places, sorts or combines parts of tiles, for the
element types of A2/A3, against a statement of its own in numpy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.instruction_programs import (
    DTYPES,
    SENTINEL,
    Array,
    Buffer,
    expected,
    numbers,
    run_instruction,
    same,
    specials,
)

from pypto_xdsl.diagnostics import DiagnosticsError

VALID = (11, 40)
FLOATS = ["f32", "f16"]

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}

CHECKED = frozenset(
    {
        "tcmp",
        "tcmps",
        "tsel",
        "tsels",
        "tgather",
        "tgatherb",
        "tscatter",
        "mgather",
        "mscatter",
        "tpartadd",
        "tpartmul",
        "tpartmax",
        "tpartmin",
        "tpartargmax",
        "tpartargmin",
        "tsort32",
        "tmrgsort",
        "tconcat",
        "tconcatidx",
        "tquant",
        "tdequant",
    }
)


def tile(dtype: str, valid: tuple[int, int] = VALID) -> Buffer:
    return Buffer(dtype, valid=valid)


def part(array: Array) -> Array:
    return array[: VALID[0], : VALID[1]]


def packed(bits: Array) -> Array:
    """Eight to a byte, the first in the lowest bit, row by row."""
    rows, columns = bits.shape
    octets = np.zeros((rows, -(-columns // 8)), np.uint8)
    for r in range(rows):
        for c in range(columns):
            octets[r, c // 8] |= int(bits[r, c]) << (c % 8)
    return octets


@pytest.mark.parametrize("dtype", [*FLOATS, "i32"])
@pytest.mark.parametrize("mode", COMPARISONS)
def test_comparisons(mode: str, dtype: str) -> None:
    """nan compares false, but by `ne`; zeros of either sign are equal."""
    mask = Buffer("ui8", (16, 32), (11, 5))
    body = (
        f"  pto.tcmp ins(%a, %b {{{{cmpMode = #pto<cmp {mode}>}}}} : {{a}}, {{b}}) outs(%d : {{d}})"
    )
    for a, b in (
        (numbers(dtype), np.roll(numbers(dtype), 1, axis=0)),
        (specials(dtype), specials(dtype, shift=1)),
    ):
        b = np.where(np.arange(64) % 3 == 0, a, b)
        with np.errstate(all="ignore"):
            wanted = packed(COMPARISONS[mode](part(a), part(b)))
        sources = {"a": (tile(dtype), a), "b": (tile(dtype), b)}
        after = run_instruction(body, sources, {"d": mask})
        same(after["d"], expected(mask, wanted))


@pytest.mark.parametrize("dtype", [*FLOATS, "i32", "i16"])
@pytest.mark.parametrize("mode", COMPARISONS)
def test_comparisons_with_a_number(mode: str, dtype: str) -> None:
    mask = Buffer("ui8", (16, 32), (11, 5))
    number = "1.0" if dtype in FLOATS else "1"
    body = f"  %s = arith.constant {number} : {dtype}\n"
    body += f"  pto.tcmps ins(%a, %s {{{{cmpMode = #pto<cmp {mode}>}}}} : {{a}}, {dtype})"
    body += " outs(%d : {d})"
    a = specials(dtype)
    with np.errstate(all="ignore"):
        wanted = packed(COMPARISONS[mode](part(a), DTYPES[dtype](1)))
    after = run_instruction(body, {"a": (tile(dtype), a)}, {"d": mask})
    same(after["d"], expected(mask, wanted))


@pytest.mark.parametrize("dtype", [*FLOATS, "i32", "i16"])
@pytest.mark.parametrize("name", ["tsel", "tsels"])
def test_selection(name: str, dtype: str) -> None:
    """By bits: the elements are copied, nan and all."""
    mask = Buffer("ui8", (16, 32), (11, 5))
    octets = numbers("ui8", (16, 32))
    a, b = specials(dtype), numbers(dtype)
    sources = {"m": (mask, octets), "a": (tile(dtype), a)}
    other: Any = DTYPES[dtype](2)
    if name == "tsel":
        body = "  pto.tsel ins(%m, %a, %b, %t : {m}, {a}, {b}, {t}) outs(%d : {d})"
        sources["b"] = (tile(dtype), b)
        scratch = {"t": Buffer("ui32", (1, 16))}
    else:
        number = "2.0" if dtype in FLOATS else "2"
        body = f"  %s = arith.constant {number} : {dtype}\n"
        body += f"  pto.tsels ins(%m, %a, %t, %s : {{m}}, {{a}}, {{t}}, {dtype}) outs(%d : {{d}})"
        scratch = {"t": tile(dtype)}
    wanted = np.empty(VALID, DTYPES[dtype])
    for r in range(VALID[0]):
        for c in range(VALID[1]):
            chosen = octets[r, c // 8] >> (c % 8) & 1
            wanted[r, c] = a[r, c] if chosen else (b[r, c] if name == "tsel" else other)
    after = run_instruction(body, sources, {"d": tile(dtype)}, scratch)
    same(after["d"], expected(tile(dtype), wanted))


# Picking and placing.

MASKS = {
    "P0101": (0, 2),
    "P1010": (1, 2),
    "P0001": (0, 4),
    "P0010": (1, 4),
    "P0100": (2, 4),
    "P1000": (3, 4),
    "P1111": (0, 1),
}
"""The first place that a mask keeps, and the step."""


@pytest.mark.parametrize("dtype", [*FLOATS, "i32", "i16", "bf16", "ui16"])
@pytest.mark.parametrize("mask", MASKS)
def test_gather_by_mask(mask: str, dtype: str) -> None:
    first, step = MASKS[mask]
    a = numbers(dtype)
    small = Buffer(dtype, (16, 64 // step), (11, 64 // step))
    body = f"  pto.tgather ins(%a, {{{{maskPattern = #pto.mask_pattern<{mask}>}}}} : {{a}}, "
    body += '"row") outs(%d : {d})'
    after = run_instruction(body, {"a": (tile(dtype, (11, 64)), a)}, {"d": small})
    wanted = np.array([[line[c] for c in range(first, 64, step)] for line in a[:11]])
    same(after["d"], expected(small, wanted))


@pytest.mark.parametrize("mask", MASKS)
def test_gather_of_rows_by_mask(mask: str) -> None:
    first, step = MASKS[mask]
    a = numbers("f32")
    small = Buffer("f32", (16 // step, 64), (16 // step, 64))
    body = f"  pto.tgather ins(%a, {{{{maskPattern = #pto.mask_pattern<{mask}>}}}} : {{a}}, "
    body += '"col") outs(%d : {d})'
    after = run_instruction(body, {"a": (tile("f32", (16, 64)), a)}, {"d": small})
    same(after["d"], np.stack([a[r] for r in range(first, 16, step)]))


@pytest.mark.parametrize("axis", ["row", "col"])
@pytest.mark.parametrize("mask", MASKS)
def test_scatter_by_mask(mask: str, axis: str) -> None:
    """All of the tile is 0 elsewhere, except where the mask keeps all: then it is a move."""
    first, step = MASKS[mask]
    rows, columns = (16, 64 // step) if axis == "row" else (16 // step, 64)
    a = numbers("f32", (rows, columns))
    small = Buffer("f32", (rows, columns))
    body = f"  pto.tscatter ins(%a, {{{{maskPattern = #pto.mask_pattern<{mask}>}}}} : {{a}}, "
    body += f'"{axis}") outs(%d : {{d}})'
    after = run_instruction(body, {"a": (small, a)}, {"d": Buffer("f32")})
    wanted = np.zeros((16, 64), np.float32)
    for place in range(columns if axis == "row" else rows):
        if axis == "row":
            wanted[:, first + step * place] = a[:, place]
        else:
            wanted[first + step * place] = a[place]
    same(after["d"], wanted)


@pytest.mark.parametrize("dtype", [*FLOATS, "i32", "i16"])
def test_gather_by_index(dtype: str) -> None:
    """Indices count the elements of the tile in the order of their addresses."""
    a = numbers(dtype)
    rng = np.random.default_rng(1)
    places = rng.integers(0, 16 * 64, (8, 32), np.int32)
    indices, small = Buffer("i32", (8, 32)), Buffer(dtype, (8, 32))
    body = "  pto.tgather ins(%a, %i, %t : {a}, {i}, {t}) outs(%d : {d})"
    sources = {"a": (Buffer(dtype), a), "i": (indices, places)}
    after = run_instruction(body, sources, {"d": small}, {"t": indices})
    wanted = np.array([[a[p // 64, p % 64] for p in line] for line in places.tolist()])
    same(after["d"], wanted)


def test_gather_reads_only_what_it_names() -> None:
    """Only 11 x 40 of the source were written: an index beyond is an error."""
    places = np.zeros((8, 32), np.int32)
    places[3, 5] = 10 * 64 + 39
    body = "  pto.tgather ins(%a, %i, %t : {a}, {i}, {t}) outs(%d : {d})"
    indices, small = Buffer("i32", (8, 32)), Buffer("f32", (8, 32))
    a = numbers("f32")
    sources = {"a": (tile("f32"), a), "i": (indices, places)}
    after = run_instruction(body, sources, {"d": small}, {"t": indices})
    assert after["d"][3, 5] == a[10, 39]
    for wrong, message in ((11 * 64, "nobody wrote|undefined"), (-1, "element -1 of a tile")):
        places[3, 5] = wrong
        with pytest.raises(DiagnosticsError, match=message):
            run_instruction(body, sources, {"d": small}, {"t": indices})


@pytest.mark.parametrize("mode", ["eq", "gt"])
def test_gather_by_comparison(mode: str) -> None:
    """The first eight columns where it holds, and in how many it does."""
    a = np.random.default_rng(2).integers(0, 3, (16, 64)).astype(np.float32)
    found, counts = Buffer("i32", (16, 8)), Buffer("i32", (1, 16))
    body = "  %s = arith.constant 1.0 : f32\n  pto.tgather ins(%a, %s, %t : {a}, f32, {t}) "
    body += f"outs(%d, %c : {{d}}, {{c}}) {{{{cmpMode = #pto<cmp {mode}>, offset = 10 : i32}}}}"
    after = run_instruction(
        body, {"a": (Buffer("f32"), a)}, {"d": found, "c": counts}, {"t": Buffer("f32")}
    )
    for r in range(16):
        columns = [c + 10 for c in range(64) if COMPARISONS[mode](a[r, c], 1)]
        assert after["c"][0, r] == len(columns) > 8
        assert after["d"][r].tolist() == columns[:8]


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i32", "i16", "i8"])
def test_gather_of_blocks(dtype: str) -> None:
    """Each 32 bytes of the result from the byte that an offset names."""
    size = np.dtype(DTYPES[dtype]).itemsize
    each = 32 // size
    a = numbers(dtype)
    blocks = 16 * 64 // each
    offsets = np.random.default_rng(4).integers(0, blocks, (4, 8)).astype(np.uint32) * 32
    result = Buffer(dtype, (4, 8 * each))
    body = "  pto.tgatherb ins(%a, %o : {a}, {o}) outs(%d : {d})"
    sources = {"a": (Buffer(dtype), a), "o": (Buffer("ui32", (4, 8)), offsets)}
    after = run_instruction(body, sources, {"d": result})
    octets = a.tobytes()
    wanted = b"".join(octets[o : o + 32] for o in offsets.ravel().tolist())
    same(after["d"], np.frombuffer(wanted, DTYPES[dtype]).reshape(result.shape))


@pytest.mark.parametrize("offset", [16, 16 * 64 * 4])
def test_blocks_must_lie_in_the_tile_and_on_its_grid(offset: int) -> None:
    offsets = np.full((4, 8), offset, np.uint32)
    body = "  pto.tgatherb ins(%a, %o : {a}, {o}) outs(%d : {d})"
    sources = {"a": (Buffer("f32"), numbers("f32")), "o": (Buffer("ui32", (4, 8)), offsets)}
    with pytest.raises(DiagnosticsError, match=r"no multiple of 32|names element 1024"):
        run_instruction(body, sources, {"d": Buffer("f32", (4, 64))})


@pytest.mark.parametrize(
    ("dtype", "index"), [("f32", "i32"), ("i32", "i32"), ("f16", "i16"), ("i8", "i16")]
)
def test_scatter_by_index(dtype: str, index: str) -> None:
    """All of the tile is 0 first; of several at one place the last stays."""
    a = numbers(dtype, (8, 32))
    places = np.random.default_rng(5).integers(0, 16 * 64, (8, 32)).astype(DTYPES[index])
    places[7, 31] = places[0, 0]
    body = "  pto.tscatter ins(%a, %i : {a}, {i}) outs(%d : {d})"
    sources = {"a": (Buffer(dtype, (8, 32)), a), "i": (Buffer(index, (8, 32)), places)}
    after = run_instruction(body, sources, {"d": Buffer(dtype)})
    wanted = np.zeros(16 * 64, DTYPES[dtype])
    for place, value in zip(places.ravel().tolist(), a.ravel(), strict=True):
        wanted[place] = value
    same(after["d"], wanted.reshape(16, 64))


def table_text(dtype: str) -> str:
    """`%m`: a table of 20 x 64 in global memory, rows 80 elements apart."""
    view = f"!pto.tensor_view<?x?x{dtype}>"
    window = f"!pto.partition_tensor_view<20x64x{dtype}>"
    return f"""  %k0 = arith.constant 0 : index
  %k1 = arith.constant 1 : index
  %k20 = arith.constant 20 : index
  %k64 = arith.constant 64 : index
  %k80 = arith.constant 80 : index
  %mv = pto.make_tensor_view %m_g, shape = [%k20, %k64], strides = [%k80, %k1] : {view}
  %m = pto.partition_view %mv, offsets = [%k0, %k0], sizes = [%k20, %k64] : {view} -> {window}
"""


OUT_OF_BOUNDS: dict[str, Callable[[int, int], int]] = {
    "clamp": lambda i, n: min(i, n - 1),
    "wrap": lambda i, n: i % n,
}


@pytest.mark.parametrize("policy", ["", "clamp", "wrap", "zero"])
@pytest.mark.parametrize("coalesce", ["row", "elem"])
def test_gather_from_global_memory(coalesce: str, policy: str) -> None:
    """Rows by their number, elements by their place in memory; -1 is the largest of all."""
    table = numbers("f32", (20, 80))
    rng = np.random.default_rng(6)
    count = 20 if coalesce == "row" else 20 * 64
    shape = (1, 8) if coalesce == "row" else (8, 32)
    indices = rng.integers(0, count, shape, np.int32)
    if policy:
        indices[0, 3], indices[0, 5] = -1, count + 2
    result = Buffer("f32", (8, 32))
    oob = f", gatherOob = #pto<gather_oob {policy}>" if policy else ""
    body = table_text("f32") + "  pto.mgather ins(%m, %i : !pto.partition_tensor_view<20x64xf32>, "
    body += f"{{i}}) outs(%d : {{d}}) {{{{coalesce = #pto<coalesce {coalesce}>{oob}}}}}"
    after = run_instruction(
        body,
        {"i": (Buffer("i32", shape), indices)},
        {"d": result},
        pointers={"m": ("!pto.ptr<f32>", table)},
    )
    wanted = np.zeros((8, 32), np.float32)
    flat = table.ravel()
    for r in range(8):
        for c in range(32):
            index = int(indices[0, r] if coalesce == "row" else indices[r, c]) % (1 << 32)
            if index >= count:
                if policy == "zero":
                    continue
                index = OUT_OF_BOUNDS[policy](index, count)
            wanted[r, c] = table[index, c] if coalesce == "row" else flat[index]
    same(after["d"], wanted)


@pytest.mark.parametrize("atomic", ["", "add", "max", "min"])
@pytest.mark.parametrize("coalesce", ["row", "elem"])
def test_scatter_to_global_memory(coalesce: str, atomic: str) -> None:
    """In the order of the tile: the last stays, or each combines with what is there."""
    table = numbers("f32", (20, 80))
    rng = np.random.default_rng(7)
    shape = (1, 8) if coalesce == "row" else (8, 32)
    indices = rng.integers(0, 20 if coalesce == "row" else 1280, shape, np.int32)
    indices[0, 7] = indices[0, 1]
    a = numbers("f32", (8, 32), seed=2)
    how = f", scatterAtomicOp = #pto<scatter_atomic_op {atomic}>" if atomic else ""
    body = table_text("f32") + "  pto.mscatter ins(%a, %i : {a}, {i}) outs(%m : "
    body += (
        f"!pto.partition_tensor_view<20x64xf32>) {{{{coalesce = #pto<coalesce {coalesce}>{how}}}}}"
    )
    after = run_instruction(
        body,
        {"a": (Buffer("f32", (8, 32)), a), "i": (Buffer("i32", shape), indices)},
        {},
        pointers={"m": ("!pto.ptr<f32>", table)},
    )
    wanted = table.copy()
    flat = wanted.reshape(-1)
    for r in range(8):
        for c in range(32):
            at = indices[0, r] * 80 + c if coalesce == "row" else indices[r, c]
            old, new = flat[at], a[r, c]
            flat[at] = {"": new, "add": old + new, "max": max(old, new), "min": min(old, new)}[
                atomic
            ]
    same(after["m"].reshape(20, 80), wanted)


@pytest.mark.parametrize("policy", ["skip", "clamp", "wrap"])
def test_scatter_out_of_bounds(policy: str) -> None:
    table = numbers("f32", (20, 80))
    indices = np.array([[0, 1, 2, 3, 4, 25, 6, 7]], np.int32)
    a = numbers("f32", (8, 32), seed=2)
    body = table_text("f32") + "  pto.mscatter ins(%a, %i : {a}, {i}) outs(%m : "
    body += "!pto.partition_tensor_view<20x64xf32>) {{coalesce = #pto<coalesce row>, "
    body += f"scatterOob = #pto<scatter_oob {policy}>}}}}"
    after = run_instruction(
        body,
        {"a": (Buffer("f32", (8, 32)), a), "i": (Buffer("i32", (1, 8)), indices)},
        {},
        pointers={"m": ("!pto.ptr<f32>", table)},
    )
    wanted = table.copy()
    for r, row in enumerate((0, 1, 2, 3, 4, {"clamp": 19, "wrap": 5}.get(policy), 6, 7)):
        if row is not None:
            wanted[row, :32] = a[r]
    same(after["m"].reshape(20, 80), wanted)


def test_an_index_out_of_bounds_is_an_error() -> None:
    body = table_text("f32") + "  pto.mgather ins(%m, %i : !pto.partition_tensor_view<20x64xf32>, "
    body += "{i}) outs(%d : {d}) {{coalesce = #pto<coalesce row>}}"
    indices = np.array([[0, 1, 2, 3, -4, 5, 6, 7]], np.int32)
    with pytest.raises(DiagnosticsError, match="has index -4, in a tensor of 20 rows"):
        run_instruction(
            body,
            {"i": (Buffer("i32", (1, 8)), indices)},
            {"d": Buffer("f32", (8, 32))},
            pointers={"m": ("!pto.ptr<f32>", numbers("f32", (20, 80)))},
        )


# Parts.

PARTS: dict[str, Callable[[Any, Any], Any]] = {
    "tpartadd": lambda x, y: x + y,
    "tpartmul": lambda x, y: x * y,
    "tpartmax": lambda x, y: x if x > y else y,
    "tpartmin": lambda x, y: x if x < y else y,
}


@pytest.mark.parametrize("dtype", [*FLOATS, "i32", "i16"])
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("small", ["a", "b"])
def test_parts(name: str, dtype: str, small: str) -> None:
    """Both where both are valid, else the one that is."""
    valid = {"a": VALID, "b": VALID, small: (5, 23)}
    a, b = numbers(dtype), numbers(dtype, seed=1)
    body = f"  pto.{name} ins(%a, %b : {{a}}, {{b}}) outs(%d : {{d}})"
    sources = {"a": (tile(dtype, valid["a"]), a), "b": (tile(dtype, valid["b"]), b)}
    after = run_instruction(body, sources, {"d": tile(dtype)})
    wanted = part(b if small == "a" else a).copy()
    with np.errstate(all="ignore"):
        for r in range(5):
            for c in range(23):
                wanted[r, c] = PARTS[name](a[r, c], b[r, c])
    same(after["d"], expected(tile(dtype), wanted))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["tpartargmax", "tpartargmin"])
@pytest.mark.parametrize("small", ["a", "b"])
def test_parts_with_indices(name: str, dtype: str, small: str) -> None:
    """Of equal ones, and where one is nan, the second."""
    valid = {"a": VALID, "b": VALID, small: (5, 23)}
    a, b = specials(dtype), specials(dtype, shift=1)
    i, j = numbers("i32"), numbers("i32", seed=1)
    body = f"  pto.{name} ins(%a, %b, %i, %j : {{a}}, {{b}}, {{i}}, {{j}})"
    body += " outs(%d, %e : {d}, {e})"
    sources = {
        "a": (tile(dtype, valid["a"]), a),
        "b": (tile(dtype, valid["b"]), b),
        "i": (tile("i32", valid["a"]), i),
        "j": (tile("i32", valid["b"]), j),
    }
    after = run_instruction(body, sources, {"d": tile(dtype), "e": tile("i32")})
    values, places = np.empty(VALID, DTYPES[dtype]), np.empty(VALID, np.int32)
    for r in range(VALID[0]):
        for c in range(VALID[1]):
            if r < 5 and c < 23:
                first = a[r, c] > b[r, c] if name == "tpartargmax" else a[r, c] < b[r, c]
            else:
                first = small == "b"
            values[r, c], places[r, c] = (a[r, c], i[r, c]) if first else (b[r, c], j[r, c])
    same(after["d"], expected(tile(dtype), values))
    same(after["e"], expected(tile("i32"), places))


# Sorting.


def pairs_text(values: Array, places: Array) -> Array:
    """Eight bytes each: the value, then the index in the last four."""
    dtype = values.dtype
    octets = bytearray()
    for value, place in zip(values, places, strict=True):
        octets += value.tobytes().ljust(4, b"\0") + np.uint32(place).tobytes()
    return np.frombuffer(bytes(octets), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_sorted_blocks(dtype: str) -> None:
    """Each 32 from the largest down; of equal values the smaller index first."""
    values = np.rint(numbers(dtype, (1, 128))).astype(DTYPES[dtype])
    places = np.random.default_rng(1).permutation(128).astype(np.uint32)[None]
    width = 8 // values.itemsize
    body = "  pto.tsort32 ins(%a, %i : {a}, {i}) outs(%d : {d})"
    sources = {
        "a": (Buffer(dtype, (1, 128)), values),
        "i": (Buffer("ui32", (1, 128)), places),
    }
    after = run_instruction(body, sources, {"d": Buffer(dtype, (1, 128 * width))})
    wanted: list[Array] = []
    for start in range(0, 128, 32):
        block = [(float(values[0, k]), int(places[0, k])) for k in range(start, start + 32)]
        block.sort(key=lambda pair: (-pair[0], pair[1]))
        wanted.append(
            pairs_text(
                np.array([v for v, _ in block], DTYPES[dtype]), np.array([i for _, i in block])
            )
        )
    assert after["d"].tobytes() == np.concatenate(wanted).tobytes()


def descending_list(count: int, seed: int) -> tuple[Array, list[tuple[float, int]]]:
    rng = np.random.default_rng(seed)
    values = np.sort(rng.integers(0, 60, count))[::-1].astype(np.float32)
    pairs = [(float(v), 1000 * seed + k) for k, v in enumerate(values)]
    return pairs_text(values, np.array([i for _, i in pairs]))[None], pairs


@pytest.mark.parametrize("exhausted", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_merged_lists(count: int, exhausted: bool) -> None:
    """Equal values in the order of the lists; told to, it stops when one list is used up."""
    lists = [descending_list(32, seed) for seed in range(1, count + 1)]
    names = "abcd"[:count]
    sources = {
        name: (Buffer("f32", (1, 64)), stored)
        for name, (stored, _) in zip(names, lists, strict=True)
    }
    total = Buffer("f32", (1, 64 * count))
    ins = ", ".join(f"%{name}" for name in names)
    types = ", ".join(f"{{{name}}}" for name in names)
    word = "true" if exhausted else "false"
    body = "  %r = arith.constant dense<0> : vector<4xi16>\n"
    body += f"  pto.tmrgsort ins({ins}, %t {{{{exhausted = {word}}}}} : {types}, {{t}}) "
    body += "outs(%z, %r : {z}, vector<4xi16>)"
    after = run_instruction(body, sources, {"z": total}, {"t": total})
    rest = [list(pairs) for _, pairs in lists]
    merged: list[tuple[float, int]] = []
    while any(rest):
        best = max(range(count), key=lambda k: (rest[k][0][0] if rest[k] else -1.0, -k))
        merged.append(rest[best].pop(0))
        if exhausted and not rest[best]:
            break
    wanted = pairs_text(
        np.array([v for v, _ in merged], np.float32), np.array([i for _, i in merged])
    )
    assert after["z"].tobytes()[: wanted.nbytes] == wanted.tobytes()
    assert (after["z"][0, len(wanted) :] == SENTINEL).all()


def test_merged_runs() -> None:
    """Runs of one list, four by four."""
    runs = [descending_list(32, seed) for seed in range(1, 9)]
    stored = np.concatenate([array for array, _ in runs], axis=1)
    body = "  %n = arith.constant 64 : i32\n"
    body += "  pto.tmrgsort ins(%a, %n : {a}, i32) outs(%d : {d})"
    buffer = Buffer("f32", (1, 512))
    after = run_instruction(body, {"a": (buffer, stored)}, {"d": buffer})
    wanted: list[Array] = []
    for group in (runs[:4], runs[4:]):
        pairs = sorted((p for _, run in group for p in run), key=lambda pair: -pair[0])
        wanted.append(
            pairs_text(np.array([v for v, _ in pairs], np.float32), np.array([i for _, i in pairs]))
        )
    assert after["d"].tobytes() == np.concatenate(wanted).tobytes()


# Side by side.


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i32", "i16", "i8", "ui8"])
def test_concatenation(dtype: str) -> None:
    a, b = numbers(dtype), numbers(dtype, seed=1)
    body = "  pto.tconcat ins(%a, %b : {a}, {b}) outs(%d : {d})"
    sources = {"a": (tile(dtype, (11, 23)), a), "b": (tile(dtype, (11, 30)), b)}
    result = Buffer(dtype, valid=(11, 53))
    after = run_instruction(body, sources, {"d": result})
    wanted = [[*x[:23], *y[:30]] for x, y in zip(a[:11], b[:11], strict=True)]
    same(after["d"], expected(result, np.array(wanted, DTYPES[dtype])))


def test_concatenation_by_counts() -> None:
    """A count a row and source, in bytes of its own type; what does not fit is left out."""
    a, b = numbers("f32"), numbers("f32", seed=1)
    firsts = [0, 1, 5, 40, 40, 64, 33, 17, 2, 3, 4]
    seconds = [3, 0, 60, 40, 0, 9, 33, 64, 8, 7, 6]
    i = np.zeros((16, 8), np.int32)
    j = i.copy()
    i[:11, 0], j[:11, 0] = np.array(firsts) * 4, np.array(seconds) * 4
    counts = Buffer("i32", (16, 8), (11, 1))
    body = "  pto.tconcatidx ins(%a, %b, %i, %j : {a}, {b}, {i}, {j}) outs(%d : {d})"
    sources = {
        "a": (tile("f32", (11, 64)), a),
        "b": (tile("f32", (11, 64)), b),
        "i": (counts, i),
        "j": (counts, j),
    }
    result = Buffer("f32", valid=(11, 64))
    after = run_instruction(body, sources, {"d": result})
    wanted = np.full((16, 64), SENTINEL, np.float32)
    for r, (n, m) in enumerate(zip(firsts, seconds, strict=True)):
        line = [*a[r, :n], *b[r, :m]][:64]
        wanted[r, : len(line)] = line
    same(after["d"], wanted)


# Quantisation.


@pytest.mark.parametrize("symmetric", [True, False])
def test_quantisation(symmetric: bool) -> None:
    """By a scale, and an offset, a row; in three steps, of which each rounds to nearest even."""
    target = "i8" if symmetric else "ui8"
    a = numbers("f32") * np.float32(30)
    a[0, :6] = [np.inf, -np.inf, 0.5, 1.5, 70000.0, -70000.0]
    vector = Buffer("f32", (16, 1), (11, 1), "blayout=col_major")
    scale = np.linspace(0.25, 3, 16, dtype=np.float32)[:, None]
    scale[0] = 1
    offset = np.linspace(-40, 40, 16, dtype=np.float32)[:, None]
    offset[0] = 0
    mode = "INT8_SYM" if symmetric else "INT8_ASYM"
    sources = {"a": (tile("f32"), a), "s": (vector, scale)}
    ins, types = "%a, %s", "{a}, {s}"
    if not symmetric:
        sources["o"] = (vector, offset)
        ins, types = f"{ins}, %o", f"{types}, {{o}}"
    body = f"  pto.tquant ins({ins} : {types}) outs(%d, %t : {{d}}, {{t}}) "
    body += f"{{{{quant_type = #pto<quant_type {mode}>}}}}"
    after = run_instruction(body, sources, {"d": tile(target)}, {"t": tile("f32")})
    low, high = (-128, 127) if symmetric else (0, 255)
    wide = part(a) * scale[:11]
    if not symmetric:
        wide = wide + offset[:11]
    whole = np.clip(np.rint(wide.astype(np.float64)), -(2**31), 2**31 - 1)
    half = np.clip(whole, -65504, 65504).astype(np.float16).astype(np.float64)
    wanted = np.clip(np.rint(half), low, high).astype(DTYPES[target])
    same(after["d"], expected(tile(target), wanted))


@pytest.mark.parametrize("dtype", ["i8", "i16"])
def test_dequantisation(dtype: str) -> None:
    """`(x - offset) * scale`, each step in f32; of the parameters the first of each row counts."""
    a = numbers(dtype)
    rows = Buffer("f32", (16, 8), (11, 8))
    scale, offset = numbers("f32", (16, 8)), numbers("f32", (16, 8), seed=1)
    body = "  pto.tdequant ins(%a, %s, %o : {a}, {s}, {o}) outs(%d : {d})"
    sources = {"a": (tile(dtype), a), "s": (rows, scale), "o": (rows, offset)}
    after = run_instruction(body, sources, {"d": tile("f32")})
    wanted = (part(a).astype(np.float32) - offset[:11, :1]) * scale[:11, :1]
    same(after["d"], expected(tile("f32"), wanted))
