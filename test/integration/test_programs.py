"""
What programs compute, against numpy: as they are written, after xDSL's own passes, and after each
pass of the pipelines down to what a core runs, with xDSL's passes in between and without.

`programs/` holds them, one a file, each for a way in which a pass could go wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.programs import context, program
from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import Universe
from xdsl.utils.arg_spec import parse_pipeline

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.interpreters.differential import Tolerance, compare_runs
from pypto_xdsl.interpreters.run import RunResult, run
from pypto_xdsl.pipelines import expand_pipelines

Array = NDArray[Any]
PROGRAMS = Path(__file__).parent / "programs"
CLEANUP = "canonicalize,cse,licm,dce,canonicalize"
STAGES = (
    *expand_pipelines("default-pipeline").split(","),
    "convert-pto-to-ascend910b,insert-sync",
)
"""Between the last two nothing orders the pipes of a core yet."""
CLOSE = Tolerance(1e-4, 1e-4)


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


X, Y = normal(32, 64), normal(32, 64, seed=1)
Z, W = normal(16, 64), normal(16, 64, seed=1)
DEEP = normal(4, 8, 32)
BFLOATS = (normal(16, 64).view(np.uint32) >> 16).astype(np.uint16)
HALVES = [normal(16, 64, seed=seed).astype(np.float16) for seed in (3, 4)]
FACTORS = normal(32, 128).astype(np.float16), normal(128, 32, seed=1).astype(np.float16)


def fibonacci(x: Array, y: Array, turns: int = 3) -> tuple[Array, Array]:
    for _ in range(turns):
        x, y = y, x + y
    return x, y


def one_start_for_two() -> Array:
    p = q = X
    for _ in range(3):
        s = p + q
        p, q = s * X, s
    return p - q + X


def nested_loop_if() -> Array:
    p = X
    for i in range(4):
        p = p + np.float32(i) * Y if i % 2 else p * np.float32(0.5)
    return p


def overlapping_turns() -> Array:
    x = X.copy()
    for row in (0, 8, 16):
        x[row + 8 : row + 16] += x[row : row + 8]
    return x


def windows_change_places() -> Array:
    x = X.copy()
    x[8:16], x[:8] = np.exp(X[:8]), -X[8:16]
    x[16:24] = np.abs(x[4:12])
    return x


def valid_rows(rows: int) -> Array:
    result = np.zeros_like(X)
    result[:rows, :48] = np.exp(X[:rows, :48])
    return result


def bfloats() -> Array:
    squares = (BFLOATS.astype(np.uint32) << 16).view(np.float32) ** 2
    bits = squares.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def halves(x: Array, y: Array) -> Array:
    return np.maximum((x + y) * x, y) - (x + y)


def carried_columns() -> Array:
    w, v = X.max(1, keepdims=True), X.sum(1, keepdims=True)
    for _ in range(3):
        w, v = v, (X * np.sqrt(np.abs(w + v))).min(1, keepdims=True)
    return w - v


def two_results() -> list[Array]:
    more = (X > 1.5).sum(1) - (-X > 1.5).sum(1)
    return [more.astype(np.int32)[None, :], X.max(1, keepdims=True)]


def shifted_window() -> Array:
    w = X
    for row in (0, 8, 16):
        moved = w.copy()
        moved[row + 4 : row + 12] = w[row : row + 8]
        w = moved + w
    return w


def product(a: Array, b: Array) -> Array:
    return a.astype(np.float64) @ b.astype(np.float64)


def many_live() -> Array:
    tiles = [np.exp(X)]
    for i in range(1, 12):
        tiles.append(np.abs(tiles[-1]) if i % 2 else -tiles[-1])
    return tiles[0] + tiles[11] - sum(tiles[1:])


def scope_chain() -> Array:
    a = w = np.abs(Z)
    for i in range(4):
        w = (w + a) * w if i % 2 else w + a
    return w


def integers() -> Array:
    # Of k = -9 and 2: quotient to zero -4, remainder -1, floor -5, ceiling -4, shift -3.
    # Of -7 and 2: quotient -3, remainder -1, floor -4.
    k = max((((-4 - 1) * -5 + 4) ^ -3) + (-3 - 1 + 4), -7)
    return Z * np.float32(k)


def reshaped_rows() -> list[Array]:
    rows = DEEP[2]
    return [rows, rows.reshape(4, 64), rows[2:6].reshape(8, 16), rows[2].reshape(32, 1)]


BATCHES = (
    normal(2, 16, 128, seed=5).astype(np.float16),
    normal(2, 128, 32, seed=6).astype(np.float16),
)


def carried_batches(skip: bool) -> Array:
    a, b = (x.astype(np.float64) for x in BATCHES)
    if skip:
        a[:, :, 64:96] = 0
    return np.einsum("nik,nkj->nij", a, b)


ROWS = np.array([[39, 0, 7, 7, 52, 12, 3, 38, 1, 20, 21, 22, 5, 4, 30, 9]], np.int32)
"""Rows of 40, one of which there is not."""
PLACES = np.random.default_rng(7).permutation(30 * 32)[: 16 * 32].astype(np.int32).reshape(16, 32)
FROM_ROWS, TO_ROWS = normal(40, 32, seed=8), normal(30, 32, seed=9)


def rows_anywhere() -> Array:
    result = TO_ROWS.copy()
    result.flat[PLACES] = 2 * FROM_ROWS[np.minimum(ROWS[0], 39)]
    return result


UPDATED = np.array([[15, 4, 5, 0, 9, 11, 2, 7]], np.int32)


def rows_updated() -> Array:
    x = X[:16, :32].copy()
    for _ in range(3):
        x[UPDATED[0]] = x[4:12] + Y[:8, :32]
    return x


WORDS = normal(8, 24, seed=10)
BLOCKS = 32 * np.random.default_rng(11).permutation(np.repeat(np.arange(64), 2)).reshape(16, 8)
"""Bytes at which the 64 blocks of 16x32 floats lie, each twice."""


def words_and_pads() -> list[Array]:
    padded = np.full((16, 32), np.inf, np.float32)
    padded[:8, :24] = (~WORDS.view(np.int32)).view(np.float32)
    return [padded, padded.reshape(64, 8)[BLOCKS // 32].reshape(16, 64)]


def twice(x: Array) -> Array:
    return x * x + x


CASES: dict[str, tuple[Sequence[Any], Callable[[], list[Array]]]] = {
    "swap_loop": ((X, Y), lambda: [np.subtract(*fibonacci(X, Y))]),
    "swap_only": ((X, Y), lambda: [np.exp(Y) - X]),
    "rotation": ((X, Y), lambda: [Y, X]),
    "one_start_for_two": ((X, Y), lambda: [one_start_for_two()]),
    "no_turn": ((X, Y), lambda: [X]),
    "nested_loop_if": ((X, Y), lambda: [nested_loop_if()]),
    "swapping_branches": ((X, Y, 2), lambda: [np.exp(Y), X - Y]),
    "slices": ((X, 5), lambda: [np.exp(X[9:17, 24:40])]),
    "overlapping_turns": ((X,), lambda: [overlapping_turns()]),
    "windows_change_places": ((X,), lambda: [windows_change_places()]),
    "one_buffer_twice": ((X,), lambda: [twice(twice(X))]),
    "alias_reload": ((X, None), lambda: [2 * X, np.exp(2 * X)]),
    "results_in_another_order": ((X, None, None), lambda: [X * X, X, X + X]),
    "valid_rows": ((X, 13), lambda: [valid_rows(13)]),
    "any_extents": ((normal(37, 70),), lambda: [normal(37, 70).sum(1, keepdims=True)]),
    "bfloats": ((BFLOATS,), lambda: [bfloats()]),
    "halves": (HALVES, lambda: [halves(*HALVES)]),
    "carried_columns": ((X,), lambda: [carried_columns()]),
    "yielded_column": ((X, 1), lambda: [X + 1 / np.exp(X.max(1, keepdims=True))]),
    "deep_columns": ((DEEP,), lambda: [np.exp(DEEP.sum(-1, keepdims=True))]),
    "two_results": ((X, 1.5), two_results),
    "submits": ((X, Y), lambda: [6 * X + 6 * Y]),
    "task_array": ((X, 3), lambda: [7 * X]),
    "windows_written": ((X, None), lambda: [np.exp(np.concatenate([X[16:], X[:16]]))]),
    "shifted_window": ((X,), lambda: [shifted_window()]),
    "param_or_fresh": ((X, Y, 5), lambda: [np.exp(X) + X]),
    "no_turn_no_window": ((X, 100), lambda: [np.exp(X)]),
    "either_buffer": ((X, 5), lambda: [np.exp(X) + X, np.exp(X) + 3 * X]),
    "add_to_memory": ((Z, W), lambda: [Z + W + np.exp(Z + W)]),
    "product_in_pieces": ((*FACTORS, None), lambda: [product(*FACTORS)]),
    "selection": ((X, Y), lambda: [np.where(X < Y, X, np.exp(X))]),
    "many_live": ((X,), lambda: [many_live()]),
    "scope_chain": ((Z, 4), lambda: [scope_chain()]),
    "integers": ((Z, 3, -9), lambda: [integers()]),
    "reshaped_rows": ((DEEP, 2), reshaped_rows),
    "carried_batches": ((*BATCHES, True), lambda: [carried_batches(True)]),
    "rows_anywhere": ((FROM_ROWS, ROWS, PLACES, TO_ROWS), lambda: [rows_anywhere()]),
    "rows_updated": ((X[:16, :32], UPDATED, Y[:8, :32]), lambda: [rows_updated()]),
    "words_and_pads": ((WORDS, BLOCKS.astype(np.uint32)), words_and_pads),
    "in_two_slots": ((normal(64, 32),), lambda: [np.exp(normal(64, 32))]),
}


def source(name: str) -> ModuleOp:
    return program((PROGRAMS / f"{name}.mlir").read_text(), f"{name}.mlir")


def apply(module: ModuleOp, passes: str) -> None:
    for spec in parse_pipeline(passes):
        Universe.get_multiverse().all_passes[spec.name]().from_spec(spec).apply(context(), module)
        assert verify(module) == [], f"after {spec.name}"


def expect_same(module: ModuleOp, name: str, expected: RunResult, when: str) -> None:
    found = run(module, "main", CASES[name][0])
    assert compare_runs(found, expected, CLOSE) is None, f"after {when}"


def test_every_program_has_its_numbers():
    assert {path.stem for path in PROGRAMS.glob("*.mlir")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str):
    arguments, expected = CASES[name]
    found = run(source(name), "main", arguments).results
    for got, wanted in zip(found, expected(), strict=True):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(
            got.astype(np.float64), wanted.astype(np.float64), rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("name", CASES)
def test_xdsl_passes_change_nothing(name: str):
    expected = run(source(name), "main", CASES[name][0])
    for passes in ("cse", "canonicalize", "dce", "licm", CLEANUP):
        module = source(name)
        apply(module, passes)
        expect_same(module, name, expected, passes)


@pytest.mark.parametrize("cleanup", [False, True], ids=["alone", "cleanup"])
@pytest.mark.parametrize("name", CASES)
def test_no_pass_changes_anything(name: str, cleanup: bool):
    module = source(name)
    expected = run(module, "main", CASES[name][0])
    for stage in STAGES:
        before = str(module)
        apply(module, stage)
        if cleanup and stage is not STAGES[-1]:
            apply(module, CLEANUP)
        if str(module) != before:
            expect_same(module, name, expected, stage)
