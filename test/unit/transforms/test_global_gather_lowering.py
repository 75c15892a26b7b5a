"""
What is gathered from global memory by index, and scattered to it, is what numpy does, on tiles, on
bytes and on the pipes of a core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import TO_CORE, assert_gives, on_910b

from pypto_xdsl.diagnostics import DiagnosticsError

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "ui8": np.uint8,
}
RNG = np.random.default_rng(21)


def numbers(dtype: str, shape: tuple[int, ...]) -> Any:
    return RNG.integers(0, 50, shape).astype(DTYPES[dtype])


def shown(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def gathering(
    table: tuple[int, ...],
    indices: tuple[int, ...],
    result: tuple[int, ...],
    dtype: str,
    words: str,
) -> str:
    """A kernel that loads indices and gathers by them."""
    what = f"!tile.tile<{shown(result)}x{dtype}>"
    zeros = ", ".join("0" for _ in indices)
    return on_910b(
        f"""
        orch.func incore @k(in %x : tensor<{shown(table)}x{dtype}>,
            in %i : tensor<{shown(indices)}xi32>, out %o : tensor<{shown(result)}x{dtype}>)
            -> tensor<{shown(result)}x{dtype}> {{
          %j = tile.load %i[{zeros}] : tensor<{shown(indices)}xi32> -> !tile.tile<{shown(indices)}xi32>
          %g = tile.mgather %x, %j{words}
            : tensor<{shown(table)}x{dtype}>, !tile.tile<{shown(indices)}xi32> -> {what}
          %r = tile.store %g, %o[0, 0] : {what}, tensor<{shown(result)}x{dtype}>
          orch.return %r : tensor<{shown(result)}x{dtype}>
        }}
        """
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("indices", [(1, 16), (16, 1)])
def test_rows(dtype: str, indices: tuple[int, int]):
    """Row i of the result is row `indices[i]`, whether they lie along a row or down a column."""
    x, i = numbers(dtype, (20, 64)), RNG.integers(0, 20, indices).astype(np.int32)
    text = gathering((20, 64), indices, (16, 64), dtype, "")
    assert_gives(text, [x, i, np.zeros((16, 64), x.dtype)], x[i.reshape(-1)], pipelines=TO_CORE)
