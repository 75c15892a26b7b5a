"""Columns of matrices that are stored by rows, on chip and in global memory, on a 910B."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.machine_programs import parsed

from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import run

LEVELS = ("", "default-pipeline", "default-pipeline,ascend910b-pipeline")
T = "tensor<32x48x{dtype}>"
COLUMN = "!tile.tile<16x1x{dtype}>"
BY_ROWS = "!tile.tile<16x1x{dtype}, blayout = row_major>"


@dataclass(frozen=True)
class Columns:
    """What a kernel of `x` and `n` does to `y`."""

    body: str
    compute: Callable[[Any, int, Any], None]

    def text(self, dtype: str) -> str:
        body = self.body.format(T=T, COLUMN=COLUMN, BY_ROWS=BY_ROWS, dtype="{dtype}")
        return f"""builtin.module attributes {{{{pto.target_arch = "a2a3"}}}} {{{{
          orch.func incore @k(in %x : {T}, in %n : index, inout %y : {T}) -> {T} {{{{
            {body}
            orch.return %z : {T}
          }}}}
          orch.func orchestration @main(in %x : {T}, in %n : index, inout %y : {T}) -> {T} {{{{
            %z = orch.call @k(%x, %n, %y) : ({T}, index, {T}) -> {T}
            orch.return %z : {T}
          }}}}
        }}}}""".format(dtype=dtype)


def _out_of_a_tile(x: Any, n: int, y: Any) -> None:
    y[8:24, 16:32] = x[8:24, 0:16] * np.maximum(x[8:24, 16:17], x[8:24, 3:4])


def _out_of_a_tensor(x: Any, n: int, y: Any) -> None:
    y[n : n + 16, 0:16] = x[0:16, 0:16] - x[n : n + 16, 5:6]


def _into_a_tensor(x: Any, n: int, y: Any) -> None:
    y[n : n + 16, 23] = x[0:16].max(axis=1)
    y[0:16, 2] = x[16:32, 7]


def _some_rows(x: Any, n: int, y: Any) -> None:
    y[2 : 2 + n, 11] = -x[0:n, 4]


CASES: Mapping[str, Columns] = {
    "out of a tile": Columns(
        """
        %t = tile.load %x[8, 0] : {T} -> !tile.tile<16x48x{dtype}>
        %a = tile.slice %t[0, 16] : !tile.tile<16x48x{dtype}> -> {BY_ROWS}
        %b = tile.slice %t[0, 3] : !tile.tile<16x48x{dtype}> -> {BY_ROWS}
        %m = tile.maximum %a, %b : {BY_ROWS}
        %w = tile.load %x[8, 0] : {T} -> !tile.tile<16x16x{dtype}>
        %p = tile.row_expand_mul %w, %m : !tile.tile<16x16x{dtype}>, {BY_ROWS}
        %z = tile.store %p, %y[8, 16] : !tile.tile<16x16x{dtype}>, {T}
        """,
        _out_of_a_tile,
    ),
    "out of a tensor": Columns(
        """
        %c = tile.load %x[%n, 5] : {T} -> {COLUMN}
        %w = tile.load %x[0, 0] : {T} -> !tile.tile<16x16x{dtype}>
        %p = tile.row_expand_sub %w, %c : !tile.tile<16x16x{dtype}>, {COLUMN}
        %z = tile.store %p, %y[%n, 0] : !tile.tile<16x16x{dtype}>, {T}
        """,
        _out_of_a_tensor,
    ),
    "into a tensor": Columns(
        """
        %t = tile.load %x[0, 0] : {T} -> !tile.tile<16x48x{dtype}>
        %tmp = tile.create : !tile.tile<16x128x{dtype}>
        %c = tile.row_max %t, %tmp
            : !tile.tile<16x48x{dtype}>, !tile.tile<16x128x{dtype}> -> {COLUMN}
        %y1 = tile.store %c, %y[%n, 23] : {COLUMN}, {T}
        %d = tile.load %x[16, 7] : {T} -> {COLUMN}
        %z = tile.store %d, %y1[0, 2] : {COLUMN}, {T}
        """,
        _into_a_tensor,
    ),
    "some rows": Columns(
        """
        %c = tile.load %x[0, 4], valid = [%n, 1] : {T} -> !tile.tile<16x1x{dtype}, valid = [?, 1]>
        %m = tile.neg %c : !tile.tile<16x1x{dtype}, valid = [?, 1]>
        %z = tile.store %m, %y[2, 11] : !tile.tile<16x1x{dtype}, valid = [?, 1]>, {T}
        """,
        _some_rows,
    ),
}


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
@pytest.mark.parametrize("passes", LEVELS)
@pytest.mark.parametrize("name", CASES)
def test_columns(name: str, passes: str, dtype: str):
    case, n = CASES[name], 9
    kind = {"f32": np.float32, "f16": np.float16, "i32": np.int32}[dtype]
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9, 10, (32, 48)).astype(kind) for _ in range(2))
    wanted = y.copy()
    case.compute(x, n, wanted)
    for seed in (None, 0, 1):
        given = {"x": x, "n": n, "y": y.copy()}
        after = run(parsed(case.text(dtype), passes), "main", given, cores=CoreSettings(seed))
        np.testing.assert_array_equal(after.parameters["y"], wanted)


ONE_COLUMN = """builtin.module attributes {pto.target_arch = "a2a3"} {
  orch.func incore @k(in %x : tensor<16x16xf32>, in %n : index, inout %c : tensor<32x1xf32>)
      -> tensor<32x1xf32> {
    %r = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, valid = [5, 1]>
    %c1 = tile.store %r, %c[%n, 0] : !tile.tile<16x16xf32, valid = [5, 1]>, tensor<32x1xf32>
    %b = tile.load %c1[0, 0] : tensor<32x1xf32> -> !tile.tile<8x8xf32, valid = [3, 1]>
    %d = tile.add %b, %b : !tile.tile<8x8xf32, valid = [3, 1]>
    %z = tile.store %d, %c1[20, 0] : !tile.tile<8x8xf32, valid = [3, 1]>, tensor<32x1xf32>
    orch.return %z : tensor<32x1xf32>
  }
  orch.func orchestration @main(in %x : tensor<16x16xf32>, in %n : index,
      inout %c : tensor<32x1xf32>) -> tensor<32x1xf32> {
    %z = orch.call @k(%x, %n, %c)
        : (tensor<16x16xf32>, index, tensor<32x1xf32>) -> tensor<32x1xf32>
    orch.return %z : tensor<32x1xf32>
  }
}"""
"""Rows of which one element is valid, from and to a tensor that has one a row."""


@pytest.mark.parametrize("passes", LEVELS)
def test_rows_of_one_element(passes: str):
    rng = np.random.default_rng(0)
    x, c = (rng.integers(-9, 10, shape).astype(np.float32) for shape in ((16, 16), (32, 1)))
    wanted = c.copy()
    wanted[9:14] = x[0:5, 0:1]
    wanted[20:23] = 2 * wanted[0:3]
    after = run(parsed(ONE_COLUMN, passes), "main", {"x": x, "n": 9, "c": c.copy()})
    np.testing.assert_array_equal(after.parameters["c"], wanted)
