"""
Operators on tensors and tiles: `x + y` is `pl.add(x, y)`, `x * 2.0` is `pl.mul(x, 2.0)`.

PyPTO's own parser has them for scalars only. Here they are short for the calls that are named in
these tables, and `-t pl` prints those calls.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pypto_xdsl.frontend.pl import operations
from pypto_xdsl.frontend.pl.arguments import Arguments
from pypto_xdsl.frontend.pl.context import Context
from pypto_xdsl.frontend.pl.scalars import PREDICATES, SIGNS
from pypto_xdsl.frontend.pl.values import (
    Value,
    describe_value,
    is_scalar,
    is_shaped,
)

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.MatMult: "matmul",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "shr",
}
_COMMUTE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
_UNARY: Mapping[type[ast.unaryop], str] = {ast.USub: "neg", ast.Invert: "not_"}
_ADVICE: Mapping[type[ast.operator], str] = {
    # What the sign of the result is, each op says itself.
    ast.Mod: "; use pl.fmod(...) or pl.rem(...)",
}


def binary(context: Context, op: ast.operator, left: Value, right: Value, node: ast.BinOp) -> Value:
    """`left op right`, one of them a tensor or a tile; a scalar comes second, or commutes."""
    sign = SIGNS[type(op)]
    name = _BINARY.get(op.__class__)
    if name is None:
        shaped = left if is_shaped(left) else right
        advice = _ADVICE.get(op.__class__, "")
        raise context.error(node, f"there is no '{sign}' of {describe_value(shaped)}{advice}")
    operands = [(left, node.left), (right, node.right)]
    if not is_shaped(left):
        if not isinstance(op, _COMMUTE) or not is_scalar(left):
            raise context.error(
                node,
                f"'{sign}' takes the tensor or tile first, got {describe_value(left)}",
            )
        operands.reverse()
    return _call(context, name, f"'{sign}'", operands, node)


def compare(context: Context, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> Value:
    """`left op right`, one of them a tensor or a tile: what `pl.cmp` gives."""
    operands = [(left, node.left), (right, node.comparators[0])]
    word = PREDICATES[op.__class__]
    if not is_shaped(left):
        operands.reverse()
        word = _MIRRORED.get(word, word)
    keywords = {"cmp_type": (word, node)}
    return _call(context, "cmp", "a comparison", operands, node, keywords)


_MIRRORED: Mapping[str, str] = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
"""What a comparison is with its operands the other way round."""


def unary(context: Context, op: ast.unaryop, value: Value, node: ast.UnaryOp) -> Value:
    """`op value` of a tensor or a tile."""
    name = _UNARY.get(op.__class__)
    if name is None:
        raise context.error(node, f"there is no such operator on {describe_value(value)}")
    return _call(context, name, f"pl.{name}", [(value, node.operand)], node)


def _call(
    context: Context,
    name: str,
    what: str,
    operands: list[tuple[Value, ast.expr]],
    node: ast.expr,
    keywords: Mapping[str, tuple[Value, ast.expr]] | None = None,
) -> Value:
    function = ast.copy_location(ast.Name(name, ast.Load()), node)
    call = ast.Call(function, [operand for _, operand in operands], [])
    arguments = Arguments(
        context, ast.copy_location(call, node), what, operands, {**(keywords or {})}
    )
    return operations.call(context, None, name, arguments)
