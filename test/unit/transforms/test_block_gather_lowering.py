"""Blocks of 32 bytes that are gathered on chip are the same on tiles, on bytes and on a core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import TO_CORE, assert_fails, assert_gives, on_910b

DTYPES: dict[str, Any] = {"f32": np.float32, "i16": np.int16, "ui8": np.uint8}
RNG = np.random.default_rng(41)


def kernel(dtype: str, made: str, words: str = "") -> str:
    columns, wide = 256 // np.dtype(DTYPES[dtype]).itemsize, 256 // np.dtype(DTYPES[made]).itemsize
    source, result = f"16x{columns}x{dtype}", f"4x{wide}x{made}"
    return on_910b(
        f"""
        orch.func incore @k(in %x : tensor<{source}>, in %f : tensor<4x8xui32>,
            out %o : tensor<{result}>) -> tensor<{result}> {{
          %t = tile.load %x[0, 0] : tensor<{source}> -> !tile.tile<{source}>
          %g = tile.load %f[0, 0] : tensor<4x8xui32> -> !tile.tile<4x8xui32>
          %v = tile.gatherb %t, %g{words}
            : !tile.tile<{source}>, !tile.tile<4x8xui32> -> !tile.tile<{result}>
          %r = tile.store %v, %o[0, 0] : !tile.tile<{result}>, tensor<{result}>
          orch.return %r : tensor<{result}>
        }}
        """
    )


def numbers(dtype: str) -> Any:
    columns = 256 // np.dtype(DTYPES[dtype]).itemsize
    return RNG.integers(0, 100, (16, columns)).astype(DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("made", ["", *DTYPES])
def test_blocks(dtype: str, made: str):
    """Block `offsets[r, c] / 32` of the source is block c of row r, whatever its bytes mean."""
    words = f", output_dtype = {made}" if made else ""
    made = made or dtype
    x, blocks = numbers(dtype), RNG.integers(0, 128, (4, 8))
    wanted = x.view(np.uint8).reshape(128, 32)[blocks].reshape(4, 256).view(DTYPES[made])
    arguments = [x, (32 * blocks).astype(np.uint32), np.zeros_like(wanted)]
    assert_gives(kernel(dtype, made, words), arguments, wanted, pipelines=TO_CORE)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (48, "gathers from byte 48, which is no multiple of 32"),
        (4096, r"a block lies outside the 4096 bytes|names element 1024 of a tile of 1024"),
    ],
)
def test_blocks_lie_in_the_source(start: int, message: str):
    offsets = np.zeros((4, 8), np.uint32)
    offsets[2, 3] = start
    arguments = [numbers("f32"), offsets, np.zeros((4, 64), np.float32)]
    assert_fails(kernel("f32", "f32"), arguments, message, pipelines=TO_CORE)
