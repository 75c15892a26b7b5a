"""Symbols inside the extents that a signature spells: `M` is the half of an extent `M * 2`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation

_INVERSES: dict[type[ast.operator], type[arith.SubiOp | arith.AddiOp | arith.FloorDivSIOp]] = {
    ast.Add: arith.SubiOp,
    ast.Sub: arith.AddiOp,
    ast.Mult: arith.FloorDivSIOp,
}

Step = tuple[type[arith.SubiOp | arith.AddiOp | arith.FloorDivSIOp], int]
"""An op and the constant that is its second operand."""


def steps_to(symbol: str, extent: str) -> Sequence[Step] | None:
    """
    What makes a symbol of an extent that it is part of, step by step; None where the extent does
    not settle it. A product settles its factor: an extent is exact.
    """
    try:
        node = ast.parse(extent, mode="eval").body
    except SyntaxError:
        return None
    steps: list[Step] = []
    while isinstance(node, ast.BinOp):
        inverse = _INVERSES.get(type(node.op))
        inner, constant = node.left, node.right
        if isinstance(inner, ast.Constant) and not isinstance(node.op, ast.Sub):
            inner, constant = constant, inner
        if inverse is None or not isinstance(constant, ast.Constant):
            return None
        number = constant.value
        if type(number) is not int or (inverse is arith.FloorDivSIOp and number <= 0):
            return None
        steps.append((inverse, number))
        node = inner
    found = isinstance(node, ast.Name) and node.id == symbol
    return steps if found and steps else None


def solving_ops(extent: Operation, steps: Sequence[Step]) -> Sequence[Operation]:
    """The ops that take the steps from the value of an extent; the last gives the symbol."""
    ops: list[Operation] = []
    value = extent.results[0]
    for made, number in steps:
        constant = arith.ConstantOp.from_int_and_width(number, value.type)  # pyright: ignore
        op = made(value, constant.result)
        ops += [constant, op]
        value = op.result
    return ops
