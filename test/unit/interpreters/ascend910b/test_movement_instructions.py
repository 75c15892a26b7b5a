"""
Each instruction that moves data without changing it, and each that the scalar unit runs, against
numpy: all element types, layouts and parts of tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.instruction_programs import (
    DTYPES,
    PASSES,
    SENTINEL,
    Array,
    Buffer,
    expected,
    numbers,
    program,
    run_instruction,
    same,
    specials,
)
from support.machine_programs import run_core

from pypto_xdsl.diagnostics import DiagnosticsError

VALID = (11, 40)
MOVABLE = ["f32", "f16", "bf16", "i32", "i16", "i8", "i64", "ui8", "ui16", "ui32", "ui64"]
NARROW = [dtype for dtype in MOVABLE if not dtype.endswith("64")]
NZ = "blayout=col_major, slayout=row_major"

CHECKED = frozenset(
    {
        "tload",
        "tstore",
        "tmov",
        "tprefetch",
        "treshape",
        "ttrans",
        "tfillpad",
        "tfillpad_expand",
        "tfillpad_inplace",
        "tgetval",
        "tsetval",
        "load_scalar",
        "store_scalar",
        "local_array_get",
        "local_array_set",
        "print",
        "tprint",
        "trap",
    }
)


def tile(dtype: str, valid: tuple[int, int] = VALID) -> Buffer:
    return Buffer(dtype, valid=valid)


def part(array: Array) -> Array:
    return array[: VALID[0], : VALID[1]]


@pytest.mark.parametrize("dtype", MOVABLE)
def test_moves(dtype: str) -> None:
    """By way of a load, a move and a store: bit by bit."""
    body = "  pto.tmov ins(%a : {a}) outs(%d : {d})"
    for values in [numbers(dtype)] + ([specials(dtype)] if dtype != "bf16" else []):
        after = run_instruction(body, {"a": (tile(dtype), values)}, {"d": tile(dtype)})
        same(after["d"], expected(tile(dtype), part(values)))


def test_bits_are_loaded_as_they_are() -> None:
    """A tile of integers may be loaded from floats, and stored to them."""
    window, view = "!pto.partition_tensor_view<16x64xf32>", "!pto.tensor_view<?x?xf32>"
    body = f"""  %k0 = arith.constant 0 : index
  %k1 = arith.constant 1 : index
  %k16 = arith.constant 16 : index
  %k64 = arith.constant 64 : index
  %mv = pto.make_tensor_view %m_g, shape = [%k16, %k64], strides = [%k64, %k1] : {view}
  %mp = pto.partition_view %mv, offsets = [%k0, %k0], sizes = [%k16, %k64] : {view} -> {window}
  pto.tload ins(%mp : {window}) outs(%d : {{d}})"""
    values = specials("f32")
    after = run_instruction(
        body, {}, {"d": Buffer("i32")}, pointers={"m": ("!pto.ptr<f32>", values)}
    )
    same(after["d"], values.view(np.int32))


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8"])
def test_a_matrix_through_fractals(dtype: str) -> None:
    """Row by row into boxes of L1, and out again; and box by box, as its bytes lie."""
    size = np.dtype(DTYPES[dtype]).itemsize
    width = 32 // size
    a = numbers(dtype, (32, 64))
    boxed = Buffer(dtype, (32, 64), layout=NZ, space="mat")
    flat = program("  ", {}, {"d": boxed}, {})
    after = run_core(flat, {"d_g": a}, passes=PASSES)
    same(after["d_g"], a)
    # The NZ matrix in global memory is [64 / width, 32 / 16, 16, width].
    groups, each = 64 // width, 32 * width
    shape = [1, groups, 2, 16, width]
    strides = [groups * each, each, 16 * width, width, 1]
    view = f"!pto.tensor_view<{'?x' * 5}{dtype}>"
    window = f"!pto.partition_tensor_view<{'x'.join(map(str, shape))}x{dtype}>"
    lines = [f"  %i{n} = arith.constant {n} : index" for n in sorted({0, *shape, *strides})]
    names = ", ".join(f"%i{n}" for n in shape)
    zeros = ", ".join(["%i0"] * 5)
    lines += [
        f"  %mv = pto.make_tensor_view %m_g, shape = [{names}], "
        f"strides = [{', '.join(f'%i{n}' for n in strides)}] "
        f"{{{{layout = #pto.layout<nz>}}}} : {view}",
        f"  %mp = pto.partition_view %mv, offsets = [{zeros}], sizes = [{names}]",
        f"    : {view} -> {window}",
        f"  pto.tload ins(%mp : {window}) outs(%d : {{d}})",
    ]
    memory = a.reshape(2, 16, groups, width).transpose(2, 0, 1, 3)
    got = run_instruction(
        "\n".join(lines),
        {},
        {"d": boxed},
        pointers={"m": (f"!pto.ptr<{dtype}>", np.ascontiguousarray(memory))},
    )
    same(got["d"], a)
    # And back: the tile is loaded row by row, and stored box by box.
    lines[-1] = f"  pto.tstore ins(%s : {{s}}) outs(%mp : {window})"
    got = run_instruction(
        "\n".join(lines),
        {"s": (boxed, a)},
        {},
        pointers={"m": (f"!pto.ptr<{dtype}>", np.zeros(memory.shape, memory.dtype))},
    )
    same(got["m"].reshape(memory.shape), np.ascontiguousarray(memory))


def test_columns_of_several_dimensions() -> None:
    """A view of columns: its last dimension but one counts rows, all others columns."""
    view, window = f"!pto.tensor_view<{'?x' * 5}f32>", "!pto.partition_tensor_view<1x2x1x16x32xf32>"
    numbers_of = {0: "%i0", 1: "%i1", 2: "%i2", 16: "%i16", 32: "%i32", 512: "%i512"}
    lines = [f"  {name} = arith.constant {n} : index" for n, name in numbers_of.items()]
    names = "%i1, %i2, %i1, %i16, %i32"
    lines += [
        f"  %mv = pto.make_tensor_view %m_g, shape = [{names}], strides = [%i512, %i512, %i512, "
        f"%i1, %i16] {{{{layout = #pto.layout<dn>}}}} : {view}",
        f"  %mp = pto.partition_view %mv, offsets = [%i0, %i0, %i0, %i0, %i0], sizes = [{names}]",
        f"    : {view} -> {window}",
        f"  pto.tload ins(%mp : {window}) outs(%d : {{d}})",
    ]
    a = numbers("f32", (16, 64))
    memory = np.ascontiguousarray(a.T)
    got = run_instruction(
        "\n".join(lines), {}, {"d": Buffer("f32")}, pointers={"m": ("!pto.ptr<f32>", memory)}
    )
    same(got["d"], a)


@pytest.mark.parametrize("dtype", NARROW)
def test_transposes(dtype: str) -> None:
    body = "  pto.ttrans ins(%a, %t : {a}, {t}) outs(%d : {d})"
    result = Buffer(dtype, (64, 32), (40, 11))
    a = numbers(dtype)
    after = run_instruction(body, {"a": (tile(dtype), a)}, {"d": result}, {"t": tile(dtype)})
    wanted = [[a[r, c] for r in range(11)] for c in range(40)]
    same(after["d"], expected(result, np.array(wanted, DTYPES[dtype])))


PADS: dict[str, Callable[[Any], int]] = {
    "1": lambda info: 0,
    "2": lambda info: info.max,
    "3": lambda info: info.min,
}
"""The number of a pad value, and what an integer element becomes; floats become infinite."""


def pad_element(dtype: str, pad: str) -> int | float:
    if dtype == "bf16":
        return {"1": 0, "2": 0x7F80, "3": 0xFF80}[pad]
    if dtype.startswith("f"):
        return {"1": 0.0, "2": np.inf, "3": -np.inf}[pad]
    return PADS[pad](np.iinfo(DTYPES[dtype]))


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("dtype", NARROW)
def test_padding(dtype: str, pad: str) -> None:
    """To the right of what was valid, to the end of the row; below it, as far as rows are valid."""
    a = numbers(dtype)
    result = Buffer(dtype, valid=(14, 64), pad=f"pad={pad}")
    body = "  pto.tfillpad ins(%a : {a}) outs(%d : {d})"
    after = run_instruction(body, {"a": (tile(dtype), a)}, {"d": result})
    wanted = np.full((16, 64), SENTINEL, DTYPES[dtype])
    wanted[:14] = pad_element(dtype, pad)
    wanted[: VALID[0], : VALID[1]] = part(a)
    same(after["d"], wanted)


def test_padding_of_a_larger_tile() -> None:
    a = numbers("f32", (8, 32))
    small = Buffer("f32", (8, 32), (5, 20))
    result = Buffer("f32", (16, 64), pad="pad=3")
    body = "  pto.tfillpad_expand ins(%a : {a}) outs(%d : {d})"
    after = run_instruction(body, {"a": (small, a)}, {"d": result})
    wanted = np.full((16, 64), -np.inf, np.float32)
    wanted[:5, :20] = a[:5, :20]
    same(after["d"], wanted)


def test_padding_in_place() -> None:
    """The tile and its padded form are the same bytes."""
    whole = Buffer("f32", pad="pad=2")
    body = f"""  %v = pto.alloc_tile addr = %d_at : {tile("f32").type()}
  pto.tfillpad_inplace ins(%v : {tile("f32").type()}) outs(%d : {{d}})"""
    a = numbers("f32")
    after = run_instruction(body, {}, {"d": whole}, before={"d": a})
    wanted = np.full((16, 64), np.inf, np.float32)
    wanted[: VALID[0], : VALID[1]] = part(a)
    same(after["d"], wanted)


def test_another_shape() -> None:
    """The same bytes as eight rows of twice the width."""
    wide = Buffer("f32", (8, 128))
    body = f"""  %w = pto.treshape %a : {{a}} -> {wide.type()}
  pto.tmov ins(%w : {wide.type()}) outs(%d : {{d}})"""
    a = numbers("f32")
    after = run_instruction(body, {"a": (Buffer("f32"), a)}, {"d": wide})
    same(after["d"], a.reshape(8, 128))


def test_prefetch_changes_nothing() -> None:
    body = f"""  pto.tprefetch ins(%a_p : {tile("f32").window()}) outs(%a : {{a}})
  pto.tmov ins(%a : {{a}}) outs(%d : {{d}})"""
    a = numbers("f32")
    after = run_instruction(body, {"a": (tile("f32"), a)}, {"d": tile("f32")})
    same(after["d"], expected(tile("f32"), part(a)))


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i32", "i16", "i8", "i64"])
def test_single_elements(dtype: str) -> None:
    """Out of a tile and into another, by their place in memory."""
    body = f"""  %from = arith.constant 133 : index
  %to = arith.constant 70 : index
  %x = pto.tgetval ins(%a, %from : {{a}}, index) outs : {dtype}
  pto.tsetval ins(%to, %x : index, {dtype}) outs(%d : {{d}})"""
    a = numbers(dtype)
    after = run_instruction(body, {"a": (tile(dtype), a)}, {"d": Buffer(dtype)})
    wanted = np.full((16, 64), SENTINEL, DTYPES[dtype])
    wanted[1, 6] = a[2, 5]
    same(after["d"], wanted)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i32", "i16", "i8", "i64"])
def test_single_elements_of_global_memory(dtype: str) -> None:
    text = f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @kernel(%x: !pto.ptr<{dtype}>, %y: !pto.ptr<{dtype}>) {{
  %from = arith.constant 5 : index
  %to = arith.constant 2 : index
  %e = pto.load_scalar %x[%from] : !pto.ptr<{dtype}> -> {dtype}
  pto.store_scalar %e, %y[%to] : !pto.ptr<{dtype}>, {dtype}
  return
}}
}}"""
    x, y = numbers(dtype, (1, 8)), numbers(dtype, (1, 8), seed=1)
    wanted = y.copy()
    wanted[0, 2] = x[0, 5]
    for passes in ("", PASSES):
        same(run_core(text, {"x": x, "y": y}, passes=passes)["y"], wanted)


STACK = """module attributes {pto.target_arch = "a2a3"} {
func.func @kernel(%x: !pto.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.declare_local_array -> !pto.local_array<4xi32>
  scf.for %i = %c0 to %c4 step %c1 {
    %v = pto.load_scalar %x[%i] : !pto.ptr<i32> -> i32
    %w = arith.addi %v, %v : i32
    pto.local_array_set %a[%i], %w : !pto.local_array<4xi32>, i32
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %v = pto.local_array_get %a[%i] : !pto.local_array<4xi32> -> i32
    pto.store_scalar %v, %x[%i] : !pto.ptr<i32>, i32
  }
  return
}
}"""


def test_arrays_on_the_stack() -> None:
    for passes in ("", PASSES):
        after = run_core(STACK, {"x": np.array([3, -1, 7, 2**31 - 1])}, passes=passes)["x"]
        assert after.tolist() == [6, -2, 14, -2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("%w : !pto.local", "%v : !pto.local", None),
        (
            "%v = pto.local_array_get %a[%i]",
            "%j = arith.addi %i, %c1 : index\n    %v = pto.local_array_get %a[%j]",
            r"element \[4\] lies outside",
        ),
        ("local_array_set %a[%i]", "local_array_set %a[%c0]", r"element \[1\], which nobody wrote"),
    ],
)
def test_faults_on_the_stack(old: str, new: str, message: str | None) -> None:
    text = STACK.replace(old, new)
    assert text != STACK
    if message is None:
        assert run_core(text, {"x": np.arange(4)}, passes=PASSES)["x"].tolist() == [0, 1, 2, 3]
        return
    with pytest.raises(DiagnosticsError, match=message):
        run_core(text, {"x": np.arange(4)}, passes=PASSES)


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    body = """  %x = arith.constant 2.5 : f32
  pto.print ins("x = %f\\n", %x : f32)
  pto.tprint ins(%a : {a})
  pto.tmov ins(%a : {a}) outs(%d : {d})"""
    small = Buffer("f32", (1, 8), (1, 3))
    a = np.array([[1, 2.5, -3, 0, 0, 0, 0, 0]], np.float32)
    run_instruction(body, {"a": (small, a)}, {"d": small})
    lines = capsys.readouterr().out.splitlines()
    # Without pipes, and in each schedule.
    assert lines == ["x = 2.500000", "[[ 1.   2.5 -3. ]]"] * 3


def test_a_trap() -> None:
    small = Buffer("f32", (1, 8))
    with pytest.raises(DiagnosticsError, match="stops the kernel"):
        run_instruction("  pto.trap", {}, {"d": small})


def test_padded_loads_are_refused() -> None:
    body = """  %zero = arith.constant 0.0 : f32
  pto.tload ins(%a_p : !pto.partition_tensor_view<11x40xf32>) outs(%d : {a})
    pad_mode = #pto.padmode<PadValue> pad_value = %zero : f32"""
    with pytest.raises(DiagnosticsError, match=r"pad with pto\.tfillpad"):
        run_instruction(body, {"a": (tile("f32"), numbers("f32"))}, {"d": tile("f32")})
