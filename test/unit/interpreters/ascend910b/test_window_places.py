"""Places in a window of a tile count from where it starts, as the hardware's pointer does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.machine_programs import parsed, run_core

from pypto_xdsl.diagnostics import DiagnosticsError

WHOLE = "!pto.tile_buf<vec, 8x16xf32>"
ROWS = "!pto.tile_buf<vec, 4x16xf32>"
INDICES = "!pto.tile_buf<vec, 4x16xi32>"
V = "!pto.tensor_view<?x?xf32>"
W = "!pto.tensor_view<?x?xi32>"
P = "!pto.partition_tensor_view"
MACHINE = "convert-pto-to-ascend910b,insert-sync"


def program(body: str) -> str:
    """`%whole` holds `x`, `%window` is its rows 2 to 6, `%i` indices; `%d` is stored to `y`."""
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @kernel(%x: !pto.ptr<f32>, %p: !pto.ptr<i32>, %y: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %xv = pto.make_tensor_view %x, shape = [%c8, %c16], strides = [%c16, %c1] : {V}
  %pv = pto.make_tensor_view %p, shape = [%c4, %c16], strides = [%c16, %c1] : {W}
  %yv = pto.make_tensor_view %y, shape = [%c8, %c16], strides = [%c16, %c1] : {V}
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c16] : {V} -> {P}<8x16xf32>
  %pp = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c4, %c16] : {W} -> {P}<4x16xi32>
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c16] : {V} -> {P}<8x16xf32>
  %y4 = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c4, %c16] : {V} -> {P}<4x16xf32>
  %whole = pto.alloc_tile : {WHOLE}
  %i = pto.alloc_tile : {INDICES}
  %tmp = pto.alloc_tile : {INDICES}
  %d = pto.alloc_tile : {ROWS}
  pto.tload ins(%xp : {P}<8x16xf32>) outs(%whole : {WHOLE})
  pto.tload ins(%pp : {P}<4x16xi32>) outs(%i : {INDICES})
  %window = pto.subview %whole[%c2, %c0] sizes [4, 16] : {WHOLE} -> {ROWS}
{body}
  return
}}
}}"""


GATHER = f"""  pto.tgather ins(%window, %i, %tmp : {ROWS}, {INDICES}, {INDICES}) outs(%d : {ROWS})
  pto.tstore ins(%d : {ROWS}) outs(%y4 : {P}<4x16xf32>)"""
ELEMENT = f"""  %v = pto.tgetval ins(%window, %c16 : {ROWS}, index) outs : f32
  pto.tadds ins(%window, %v : {ROWS}, f32) outs(%d : {ROWS})
  pto.tstore ins(%d : {ROWS}) outs(%y4 : {P}<4x16xf32>)"""
SET = f"""  %v = arith.constant 7.0 : f32
  pto.tsetval ins(%c16, %v : index, f32) outs(%window : {ROWS})
  pto.tstore ins(%whole : {WHOLE}) outs(%yp : {P}<8x16xf32>)"""
SCATTER = f"""  pto.tload ins(%y4 : {P}<4x16xf32>) outs(%d : {ROWS})
  pto.tscatter ins(%d, %i : {ROWS}, {INDICES}) outs(%window : {ROWS})
  pto.tstore ins(%whole : {WHOLE}) outs(%yp : {P}<8x16xf32>)"""

RNG = np.random.default_rng(0)
X = RNG.standard_normal((8, 16)).astype(np.float32)
PLACES = RNG.permutation(64).reshape(4, 16)
Y = RNG.standard_normal((8, 16)).astype(np.float32)


def run(body: str, passes: str, places: Any = PLACES) -> np.ndarray[Any, Any]:
    module = parsed(program(body), "memory-reuse,allocate-memory-addr" + passes)
    return run_core(module, {"x": X, "p": places, "y": Y})["y"]


@pytest.mark.parametrize("passes", ["", "," + MACHINE])
def test_gather(passes: str) -> None:
    np.testing.assert_array_equal(run(GATHER, passes)[:4], X[2:6].reshape(-1)[PLACES])


@pytest.mark.parametrize("passes", ["", "," + MACHINE])
def test_an_element(passes: str) -> None:
    np.testing.assert_array_equal(run(ELEMENT, passes)[:4], X[2:6] + X[3, 0])


@pytest.mark.parametrize("passes", ["", "," + MACHINE])
def test_an_element_that_is_set(passes: str) -> None:
    wanted = X.copy()
    wanted[3, 0] = 7
    np.testing.assert_array_equal(run(SET, passes), wanted)


@pytest.mark.parametrize("passes", ["", "," + MACHINE])
def test_scatter(passes: str) -> None:
    wanted = X.copy()
    part = np.zeros(64, np.float32)
    part[PLACES.reshape(-1)] = Y[:4].reshape(-1)
    wanted[2:6] = part.reshape(4, 16)
    np.testing.assert_array_equal(run(SCATTER, passes), wanted)


@pytest.mark.parametrize("passes", ["", "," + MACHINE])
@pytest.mark.parametrize("place", [-1, 64])
def test_places_outside_the_window(place: int, passes: str) -> None:
    places = PLACES.copy()
    places[1, 1] = place
    with pytest.raises(DiagnosticsError, match=f"names element {place} of a tile of 64"):
        run(GATHER, passes, places)
