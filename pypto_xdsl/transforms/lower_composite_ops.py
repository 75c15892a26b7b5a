"""
lower-composite-ops: computes by what the vector unit has what it has no instruction for.

There is none for `tile.sin` and `tile.cos`. With k the nearest multiple of pi (for the
cosine, of pi less a half), t = x - k pi lies within half a pi of zero, where a polynomial in t
does:

    %y = tile.sin %x : !tile.tile<16x16xf32>

becomes

    %turns = tile.muls %x, %inv_pi : !tile.tile<16x16xf32>, f32
    %k_i = tile.cast %turns, target_type = i32 : !tile.tile<16x16xf32> -> !tile.tile<16x16xi32>
    %k = tile.cast %k_i, target_type = f32, mode = none : ...
    %k_pi = tile.muls %k, %pi_1 : ...
    %t = tile.sub %x, %k_pi : ...
    ...
    %y = tile.mul %sign, %t_p : !tile.tile<16x16xf32>

* pi is subtracted in five parts, the first of few bits, so that k pi is exact there (Cody and
  Waite).
* sin(t) = t (1 + R3 u + R2 u^2 + R1 u^3 + R0 u^4) with u = t^2.
* The sign is (-1)^k = 4 floor(k / 2) - 2 k + 1.

The error is below 2^-22 for arguments up to some thousands, and grows with the argument. Steps
and constants are PyPTO's, so that the bits of results agree.

Rows are replaced (`tile.scatter_update`) by a scatter of their elements to where these lie in the
tile, and of ones beside it: where the ones are, the elements are taken, and what was there
elsewhere (`rewriting/tensor_gather.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32, i32
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.ptensor import RoundMode
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.rewriting.tensor_gather import update_rows

_INV_PI = 0.31830988732818603515625
_PI = (
    3.140625,
    0.0009670257568359375,
    6.2771141529083251953125e-7,
    1.21644916362129151821e-10,
    -1.0290623200529979163e-13,
)
"""The parts of pi, from the largest on."""
_HALF_PI = (1.57079637050628662109375, -4.371139000189375e-8)
_POLYNOMIAL = (2.604926501e-6, -1.980894471e-4, 8.333049340e-3, -1.666665792e-1, 1.0)
"""From the highest power of u on."""


@dataclass(frozen=True)
class LowerCompositeOpsPass(CheckedPass):
    """Compute by what the vector unit has what it has no instruction for."""

    name = "lower-composite-ops"
    required = ("SSAForm", "SplitIncoreOrch", "IncoreTileOps")
    produced = ("SSAForm", "IncoreTileOps")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        for kernel in kernels(module):
            for op in tuple(walk(kernel)):
                if isinstance(op, tile.SinOp | tile.CosOp):
                    _replace(op, _periodic(op))
                elif isinstance(op, tile.ScatterUpdateOp):
                    _replace(op, update_rows(op, Inserter(op)))


def _replace(op: tile.SinOp | tile.CosOp | tile.ScatterUpdateOp, result: SSAValue) -> None:
    result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(result)
    block = op.parent_block()
    assert block is not None
    block.erase_op(op)


def _periodic(op: tile.SinOp | tile.CosOp) -> SSAValue:
    """The sine or the cosine."""
    steps = _Steps(op)
    x = op.operand
    if isinstance(op, tile.CosOp):
        turns = steps.adds(steps.muls(x, _INV_PI, "turns"), 0.5, "turns")
        number = steps.cast(turns, i32, RoundMode.RINT, "k_i")
    else:
        turns = steps.muls(x, _INV_PI, "turns")
        number = steps.cast(turns, i32, RoundMode.ROUND, "k_i")
    k = steps.cast(number, f32, RoundMode.NONE, "k")
    t = x
    for place, part in enumerate(_PI):
        t = steps.sub(t, steps.muls(k, part, "k_pi"), "t")
        if isinstance(op, tile.CosOp) and place in (1, 4):
            # The half is added where it fits the parts that are left best.
            t = steps.adds(t, _HALF_PI[0 if place == 1 else 1], "t")
    half = steps.cast(steps.muls(k, 0.5, "half_k"), i32, RoundMode.FLOOR, "floor_i")
    floor = steps.cast(half, f32, RoundMode.NONE, "floor")
    even = steps.muls(floor, 4.0, "floor_x4")
    sign = steps.adds(steps.add(even, steps.muls(k, -2.0, "k_x2"), "sign"), 1.0, "sign")
    u = steps.mul(t, t, "u")
    first, *others = _POLYNOMIAL
    p = steps.muls(u, first, "p")
    for place, coefficient in enumerate(others):
        if place:
            p = steps.mul(p, u, "p")
        p = steps.adds(p, coefficient, "p")
    return steps.mul(sign, steps.mul(t, p, "t_p"), None)


class _Steps:
    """The ops that an op becomes, each before it."""

    def __init__(self, op: Operation):
        self._inserter = Inserter(op)

    def _number(self, value: float) -> SSAValue:
        return self._inserter.insert(arith.ConstantOp(FloatAttr(value, f32)))

    def muls(self, value: SSAValue, factor: float, hint: str | None) -> SSAValue:
        return self._inserter.insert(tile.MulsOp(value, self._number(factor)), hint)

    def adds(self, value: SSAValue, term: float, hint: str | None) -> SSAValue:
        return self._inserter.insert(tile.AddsOp(value, self._number(term)), hint)

    def add(self, left: SSAValue, right: SSAValue, hint: str | None) -> SSAValue:
        return self._inserter.insert(tile.AddOp(left, right), hint)

    def sub(self, left: SSAValue, right: SSAValue, hint: str | None) -> SSAValue:
        return self._inserter.insert(tile.SubOp(left, right), hint)

    def mul(self, left: SSAValue, right: SSAValue, hint: str | None) -> SSAValue:
        return self._inserter.insert(tile.MulOp(left, right), hint)

    def cast(self, value: SSAValue, type: Attribute, mode: RoundMode, hint: str | None) -> SSAValue:
        return self._inserter.insert(tile.CastOp(value, type, mode), hint)
