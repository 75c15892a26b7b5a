"""
A cube core: products by way of L1 and L0, fractal layouts, and the events between its pipes.

The elements are small integers, so that products are exact in any order of summation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.machine_programs import parsed, run_core
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import ascend910b
from pypto_xdsl.interpreters.elements import bfloat16_bits

M, K, N = 32, 48, 64


def product(dtype: str, accumulated: str, extra: str = "", left: str = "row_major") -> str:
    """c = a @ b, k in three steps that add up."""

    def window(rows: int, columns: int, element: str) -> str:
        return f"!pto.partition_tensor_view<{rows}x{columns}x{element}>"

    step = 32 if dtype == "i8" else 16
    a_l1 = f"!pto.tile_buf<mat, {M}x{step}x{dtype}, blayout=col_major, slayout=row_major>"
    b_l1 = f"!pto.tile_buf<mat, {step}x{N}x{dtype}, blayout=col_major, slayout=row_major>"
    l0a = f"!pto.tile_buf<left, {M}x{step}x{dtype}, blayout={left}, slayout=row_major>"
    l0b = f"!pto.tile_buf<right, {step}x{N}x{dtype}, slayout=col_major>"
    l0c = (
        f"!pto.tile_buf<acc, {M}x{N}x{accumulated}, blayout=col_major, slayout=row_major, "
        "fractal=1024>"
    )
    depth = 96 if dtype == "i8" else K
    whole = f"!pto.tensor_view<?x?x{accumulated}>"
    stored = window(M, N, accumulated)
    views, parts = (
        f"!pto.tensor_view<?x?x{dtype}>",
        (window(M, step, dtype), window(step, N, dtype)),
    )
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @kernel(%a: !pto.ptr<{dtype}>, %b: !pto.ptr<{dtype}>, %c: !pto.ptr<{accumulated}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant {step} : index
  %m = arith.constant {M} : index
  %k = arith.constant {depth} : index
  %n = arith.constant {N} : index
  %av = pto.make_tensor_view %a, shape = [%m, %k], strides = [%k, %c1] : {views}
  %bv = pto.make_tensor_view %b, shape = [%k, %n], strides = [%n, %c1] : {views}
  %cv = pto.make_tensor_view %c, shape = [%m, %n], strides = [%n, %c1] : {whole}
  %cp = pto.partition_view %cv, offsets = [%c0, %c0], sizes = [%m, %n] : {whole} -> {stored}
  %al1 = pto.alloc_tile : {a_l1}
  %bl1 = pto.alloc_tile : {b_l1}
  %l = pto.alloc_tile : {l0a}
  %r = pto.alloc_tile : {l0b}
  %acc = pto.alloc_tile : {l0c}
  {extra}
  scf.for %i = %c0 to %k step %step {{
    %ap = pto.partition_view %av, offsets = [%c0, %i], sizes = [%m, %step] : {views} -> {parts[0]}
    %bp = pto.partition_view %bv, offsets = [%i, %c0], sizes = [%step, %n] : {views} -> {parts[1]}
    pto.tload ins(%ap : {parts[0]}) outs(%al1 : {a_l1})
    pto.tload ins(%bp : {parts[1]}) outs(%bl1 : {b_l1})
    pto.tmov ins(%al1 : {a_l1}) outs(%l : {l0a})
    pto.tmov ins(%bl1 : {b_l1}) outs(%r : {l0b})
    %is_first = arith.cmpi eq, %i, %c0 : index
    scf.if %is_first {{
      pto.tmatmul ins(%l, %r : {l0a}, {l0b}) outs(%acc : {l0c})
    }} else {{
      pto.tmatmul.acc ins(%acc, %l, %r : {l0c}, {l0a}, {l0b}) outs(%acc : {l0c})
    }}
  }}
  pto.tstore ins(%acc : {l0c}) outs(%cp : {stored})
  return
}}
}}"""


PASSES = "allocate-memory-addr,convert-pto-to-ascend910b,insert-sync"


def matrices(depth: int = K) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    return rng.integers(-5, 6, (M, depth)), rng.integers(-5, 6, (depth, N))


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("left", ["row_major", "col_major"])
def test_a_product_of_floats(seed: int | None, left: str) -> None:
    a, b = matrices()
    text = product("f32", "f32", left=left)
    after = run_core(text, {"a": a, "b": b, "c": np.zeros((M, N))}, passes=PASSES, seed=seed)
    np.testing.assert_array_equal(after["c"], (a @ b).astype(np.float32))


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_halves_add_up_in_f32(dtype: str) -> None:
    a, b = matrices()
    given = {"a": a, "b": b}
    if dtype == "bf16":
        given = {name: bfloat16_bits(x.astype(np.float32)) for name, x in given.items()}
    after = run_core(product(dtype, "f32"), {**given, "c": np.zeros((M, N))}, passes=PASSES)
    np.testing.assert_array_equal(after["c"], (a @ b).astype(np.float32))


def test_bytes_add_up_in_i32() -> None:
    a, b = matrices(96)
    after = run_core(product("i8", "i32"), {"a": a, "b": b, "c": np.zeros((M, N))}, passes=PASSES)
    np.testing.assert_array_equal(after["c"], a @ b)


def _events(module: ModuleOp) -> set[tuple[str, str, int]]:
    return {
        (op.source.value, op.destination.value, op.known_event or 0)
        for op in module.walk()
        if isinstance(op, ascend910b.EventOp)
    }


def test_each_event_is_needed() -> None:
    """Without any one of the events that were inserted, an access is found that nothing orders."""
    text = product("f32", "f32")
    a, b = matrices()
    given = {"a": a, "b": b, "c": np.zeros((M, N))}
    events = _events(parsed(text, PASSES))
    pairs = {(source[5:], destination[5:]) for source, destination, _ in events}
    assert pairs == {("MTE2", "MTE1"), ("MTE1", "MTE2"), ("MTE1", "M"), ("M", "MTE1"), ("M", "FIX")}
    for event in events:
        module = parsed(text, PASSES)
        for op in tuple(module.walk()):
            if isinstance(op, ascend910b.EventOp) and event == (
                op.source.value,
                op.destination.value,
                op.known_event,
            ):
                op.detach()
        with pytest.raises(DiagnosticsError, match="no event orders them"):
            run_core(module, given)


FAULTS = {
    "an L0 address off its grid": (
        "%l = ascend910b.view l0a[0]",
        "%l = ascend910b.view l0a[256]",
        "starts at byte 256 of l0a, which is no multiple of 512",
    ),
    "an accumulator that does not fit": (
        "%acc = ascend910b.view l0c[0]",
        "%acc = ascend910b.view l0c[126976]",
        "is bytes 126976..135168 of l0c, which has 131072",
    ),
    "L1 tiles that overlap": (
        "%bl1 = ascend910b.view l1[2048]",
        "%bl1 = ascend910b.view l1[2016]",
        "reads bytes 2016..2048 of l1 on pipe MTE1 of the cube core that pipe MTE2 of the cube "
        "core may still have to write",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults(fault: str) -> None:
    old, new, message = FAULTS[fault]
    a, b = matrices()
    given = {"a": a, "b": b, "c": np.zeros((M, N))}
    text = str(parsed(product("f32", "f32"), PASSES))
    np.testing.assert_array_equal(run_core(text, given)["c"], (a @ b).astype(np.float32))
    assert text.count(old) == 1
    with pytest.raises(DiagnosticsError) as error:
        run_core(text.replace(old, new), given)
    assert message in error.value.diagnostics[0].message


def test_an_accumulator_that_was_never_started() -> None:
    a, b = matrices()
    text = product("f32", "f32").replace("arith.cmpi eq", "arith.cmpi ne")
    with pytest.raises(DiagnosticsError, match="of l0c, which nobody wrote"):
        run_core(text, {"a": a, "b": b, "c": np.zeros((M, N))}, passes=PASSES)
