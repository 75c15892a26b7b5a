"""Tiles in slots of buffers that are known at run time only, on tiles, on bytes and on a core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import TO_CORE, assert_fails, assert_gives, on_910b

X: Any = np.random.default_rng(61).integers(0, 50, (64, 64)).astype(np.float32)


def kernel(slot: str, dtype: str = "f32", parameters: str = "") -> str:
    """Each of four tiles is loaded into a slot, doubled in another buffer, and stored."""
    tile = f"!tile.tile<16x64x{dtype}, vec>"
    tensor = f"tensor<64x64x{dtype}>"
    return on_910b(
        f"""
        orch.func incore @k(in %x : {tensor}{parameters}, out %o : {tensor}) -> {tensor} {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c2 = arith.constant 2 : index
          %c4 = arith.constant 4 : index
          %c16 = arith.constant 16 : index
          %in = tile.alloc buffer = "in", slots = 2, pinned : !tile.buffer
          %out = tile.alloc buffer = "out", slots = 3, pinned : !tile.buffer
          %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %o) -> ({tensor}) {{
            %at = arith.muli %i, %c16 : index
            %t0 = tile.load %x[%at, 0] : {tensor} -> {tile}
            {slot}
            %t = tile.place %t0, %in[%k], by_slot : {tile}, !tile.buffer
            %d0 = tile.add %t, %t : {tile}
            %d = tile.place %d0, %out[%k], by_slot : {tile}, !tile.buffer
            %z = tile.store %d, %y[%at, 0] : {tile}, {tensor}
            scf.yield %z : {tensor}
          }}
          orch.return %r : {tensor}
        }}
        """
    )


def test_in_turn():
    text = kernel("%k = arith.remsi %i, %c2 : index")
    assert_gives(text, [X, np.zeros_like(X)], 2 * X, pipelines=TO_CORE)


def test_as_the_caller_says():
    text = kernel("%k = arith.minui %n, %n : index", parameters=", in %n : index")
    assert_gives(text, [X, 1, np.zeros_like(X)], 2 * X, pipelines=TO_CORE)


@pytest.mark.parametrize("slot", [2, -1])
def test_there_is_no_such_slot(slot: int):
    """It is told where the tile is kept, and as bytes where it is made."""
    text = kernel("%k = arith.minui %n, %n : index", parameters=", in %n : index")
    on_tiles = "slot 2 of a buffer of 2" if slot > 0 else "an offset of -1 lies outside the buffer"
    as_bytes = f"lies at {4096 * slot}, outside of what has room for it: 0 to 8192"
    message = f"{on_tiles}|slot {slot} lies outside 2 tiles|{as_bytes}"
    assert_fails(text, [X, slot, np.zeros_like(X)], message, pipelines=TO_CORE)
