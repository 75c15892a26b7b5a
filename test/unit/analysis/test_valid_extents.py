"""How much of a tile is valid is what it is made from says, where one value does."""

from __future__ import annotations

import pytest
from support.programs import program

from pypto_xdsl.analysis.valid_extents import valid_extent
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.tile import TileType

T = "!tile.tile<16x16xf32, valid = [?, 16]>"
X = "tensor<16x16xf32>"
M = "!tile.tile<16x16xf32>"
ACC = "!tile.tile<16x16xf32, valid = [?, 16], compact>"

KERNEL = f"""orch.func incore @kernel(in %x : {X}, in %n : index, in %m : index, in %c : i1) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0], valid = [%n, 16] : {X} -> {T}
  %b = tile.load %x[0, 0], valid = [%m, 16] : {X} -> {T}
  %whole = tile.load %x[0, 0] : {X} -> !tile.tile<16x16xf32>
  %through = tile.exp %a : {T}
  %product = tile.matmul %through, %whole : {T}, {M} -> {ACC}
  %turned = tile.transpose %a : {T} -> !tile.tile<16x16xf32, valid = [16, ?]>
  %carried = scf.for %i = %c0 to %m step %c1 iter_args(%t = %a) -> ({T}) {{
    %next = tile.add %t, %a : {T}
    scf.yield %next : {T}
  }}
  %either = scf.if %c -> ({T}) {{
    scf.yield %a : {T}
  }} else {{
    scf.yield %b : {T}
  }}
  %same = scf.if %c -> ({T}) {{
    scf.yield %a : {T}
  }} else {{
    scf.yield %through : {T}
  }}
  orch.return
}}
"""


@pytest.mark.parametrize(
    ("name", "axis", "said"),
    [
        ("a", 0, "n"),
        ("a", 1, 16),
        ("through", 0, "n"),
        ("product", 0, "n"),
        ("turned", 1, "n"),
        ("carried", 0, "n"),
        ("either", 0, None),
        ("same", 0, "n"),
    ],
)
def test_who_says_it(name: str, axis: int, said: str | int | None):
    module = program(f"builtin.module {{ {KERNEL} }}")
    (kernel,) = [op for op in walk(module) if isinstance(op, orch.FuncOp)]
    found = [r for op in walk(kernel) for r in op.results if r.name_hint == name]
    (value,) = [r for r in found if isinstance(r.type, TileType)]
    extent = valid_extent(value, axis)
    assert (extent.name_hint if not isinstance(extent, int | None) else extent) == said
