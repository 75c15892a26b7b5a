"""Arithmetic on scalars: PyPTO's rules of promotion, as ops of `arith`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.dialects.element_types import bit_width, is_element_type, is_float, is_signed
from pypto_xdsl.frontend.pl.context import Context
from pypto_xdsl.frontend.pl.python_operations import COMPARE, apply_binary, apply_unary
from pypto_xdsl.frontend.pl.source import Node
from pypto_xdsl.frontend.pl.static_values import Unsettled
from pypto_xdsl.frontend.pl.values import (
    Literal,
    Typed,
    Value,
    describe_type,
    describe_value,
    is_constant,
    is_literal,
    is_value,
    literal_type,
)
from pypto_xdsl.frontend.pl.vocabulary import INDEX

_NO_PROPERTIES: Mapping[str, Attribute] = {}
SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.MatMult: "@",
}
"""How Python writes its operators."""
PREDICATES: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
"""The comparisons, as MLIR and `pl.cmp` call them."""


def binary(context: Context, op: ast.operator, left: Value, right: Value, node: ast.expr) -> Value:
    """`left op right` on scalars."""
    sign = SIGNS[type(op)]
    if is_literal(left) and is_literal(right):
        try:
            return cast(Literal, apply_binary(op, left, right))
        except Unsettled as e:
            raise context.error(node, f"'{sign}' {e.reason}") from None
    if isinstance(op, ast.Pow | ast.BitAnd | ast.BitOr | ast.BitXor | ast.MatMult):
        raise context.error(node, f"'{sign}' of run-time scalars is not part of the DSL")
    lhs, rhs = promoted(context, left, right, node, f"'{sign}'")
    if lhs.type == i1:
        raise context.error(node, f"'{sign}' of a truth value; cast it first")
    kind = _arithmetic(context, op, lhs.type, node)
    return _result(context, kind, (lhs, rhs), lhs.type, node)


_FLOATS: Mapping[type[ast.operator], type[Operation]] = {
    ast.Add: arith.AddfOp,
    ast.Sub: arith.SubfOp,
    ast.Mult: arith.MulfOp,
    ast.Div: arith.DivfOp,
}
# An index is never negative, so its remainder is the floor remainder.
_SIGNED: Mapping[type[ast.operator], type[Operation]] = {
    ast.Add: arith.AddiOp,
    ast.Sub: arith.SubiOp,
    ast.Mult: arith.MuliOp,
    ast.FloorDiv: arith.FloorDivSIOp,
    ast.Div: arith.DivSIOp,
    ast.Mod: arith.RemSIOp,
    ast.LShift: arith.ShLIOp,
    ast.RShift: arith.ShRSIOp,
}
_UNSIGNED: Mapping[type[ast.operator], type[Operation]] = {
    **_SIGNED,
    ast.FloorDiv: arith.DivUIOp,
    ast.Div: arith.DivUIOp,
    ast.Mod: arith.RemUIOp,
    ast.RShift: arith.ShRUIOp,
}


def _arithmetic(
    context: Context, op: ast.operator, type: Attribute, node: ast.expr
) -> type[Operation]:
    """The op of `arith` for an operator on scalars of a type."""
    if not is_float(type):
        return (_SIGNED if is_signed(type) else _UNSIGNED)[op.__class__]
    kind = _FLOATS.get(op.__class__)
    if kind is None:
        raise context.error(node, f"'{SIGNS[op.__class__]}' of floats is not part of the DSL")
    return kind


def _result(
    context: Context,
    kind: type[Operation],
    operands: Sequence[SSAValue],
    type: Attribute,
    node: Node,
    properties: Mapping[str, Attribute] = _NO_PROPERTIES,
) -> SSAValue:
    """The result of an op of `arith`; its operands fit, so they are not checked once more."""
    op = kind.create(operands=operands, result_types=(type,), properties=properties)
    return context.emit(op, node).results[0]


def _predicates(words: str) -> Mapping[str, Mapping[str, Attribute]]:
    return {w: {"predicate": IntegerAttr(place, i64)} for place, w in enumerate(words.split())}


_CMPI = _predicates("eq ne slt sle sgt sge ult ule ugt uge")
_CMPF = _predicates("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true")
"""The predicates of comparisons, as MLIR numbers them."""


def promoted(
    context: Context, left: Value, right: Value, node: ast.expr, what: str
) -> tuple[SSAValue, SSAValue]:
    """
    Two scalars as values of one type: the wider of two integers or of two floats.

    An `INT64` meets an `INDEX` as the first of them. A literal takes the other's type where it is
    of its kind, except that an int beside a narrow integer stays an index, as in PyPTO.
    """
    both = is_value(left) and is_value(right)
    if both and left.type == right.type and is_element_type(left.type):
        return left, right
    types: list[Attribute] = []
    for operand in (left, right):
        if is_constant(operand):
            types.append(literal_type(operand))
        else:
            found = context.materialize(operand, node)
            if not is_element_type(found.type):
                raise context.error(node, f"{what} needs scalars, got {describe_type(found.type)}")
            types.append(found.type)
    a, b = types
    if a != b:
        if is_float(a) != is_float(b) or i1 in (a, b):
            raise context.error(
                node,
                f"{what} mixes {describe_type(a)} and {describe_type(b)}; cast one of them",
            )
        if {a, b} == {INDEX, i64} and (is_literal(left) or is_literal(right)):
            # Of equal width: the literal gives way.
            a = b = b if is_literal(left) else a
        else:
            a = b = a if bit_width(a) >= bit_width(b) else b
    return _as_type(context, left, a, node), _as_type(context, right, b, node)


def _as_type(context: Context, value: Value, type: Attribute, node: ast.expr) -> SSAValue:
    """A scalar as one of a type; a constant becomes a constant of it."""
    if isinstance(value, Typed):
        value = value.value
    return cast_scalar(context, context.materialize(value, node, type), type, node)


def compare(context: Context, op: ast.cmpop, left: Value, right: Value, node: ast.expr) -> Value:
    """`left op right`, a truth value."""
    if op.__class__ not in PREDICATES:
        words: dict[type[ast.cmpop], str] = {
            ast.Is: "'is'",
            ast.IsNot: "'is not'",
            ast.In: "'in'",
            ast.NotIn: "'not in'",
        }
        raise context.error(node, f"{words[op.__class__]} is not part of the DSL")
    if is_literal(left) and is_literal(right):
        return bool(COMPARE[op.__class__](left, right))
    word = PREDICATES[op.__class__]
    lhs, rhs = promoted(context, left, right, node, "a comparison")
    type = lhs.type
    if is_float(type):
        name = "une" if word == "ne" else f"o{word}"
        return _result(context, arith.CmpfOp, (lhs, rhs), i1, node, _CMPF[name])
    if type == i1:
        raise context.error(node, "a comparison of truth values; use 'and', 'or', 'not'")
    if word not in ("eq", "ne"):
        word = ("s" if is_signed(type) else "u") + word
    return _result(context, arith.CmpiOp, (lhs, rhs), i1, node, _CMPI[word])


def boolean(context: Context, op: ast.boolop, operands: list[ast.expr], node: ast.expr) -> Value:
    """`a and b and c`: every operand is evaluated, none is skipped."""
    result: Value = None
    for place, operand in enumerate(operands):
        value = context.read(operand)
        condition_type(context, value, operand)
        if place == 0:
            result = value
            continue
        if isinstance(result, bool) and isinstance(value, bool):
            result = (result and value) if isinstance(op, ast.And) else (result or value)
            continue
        lhs = context.materialize(result, node)
        rhs = context.materialize(value, node)
        kind = arith.AndIOp if isinstance(op, ast.And) else arith.OrIOp
        result = _result(context, kind, (lhs, rhs), lhs.type, node)
    return result


def condition_type(context: Context, value: Value, node: ast.expr) -> None:
    """Refuse anything that is no truth value."""
    type = literal_type(value) if is_constant(value) else getattr(value, "type", None)
    if type != i1:
        raise context.error(
            node, f"expected a truth value, got {describe_value(value)}; write `x != 0`"
        )


def unary(context: Context, op: ast.unaryop, value: Value, node: ast.expr) -> Value:
    """`-x`, `not x`, `~x`."""
    if is_literal(value):
        try:
            return cast(Literal, apply_unary(op, value))
        except Unsettled as e:
            raise context.error(node, e.reason) from None
    if isinstance(value, Typed) and isinstance(op, ast.USub) and not context.strict_ssa:
        return Typed(-value.value, value.type)
    operand = context.materialize(value, node)
    type = operand.type
    match op:
        case ast.Not():
            condition_type(context, operand, node)
            true = context.constant(True, i1, node)
            return _result(context, arith.XOrIOp, (operand, true), type, node)
        case ast.USub() if is_float(type):
            return _result(context, arith.NegfOp, (operand,), type, node)
        case ast.USub() if _is_integer(type) and type != i1:
            zero = context.constant(0, type, node)
            return _result(context, arith.SubiOp, (zero, operand), type, node)
        case ast.Invert() if _is_integer(type):
            ones = context.constant(-1, type, node)
            return _result(context, arith.XOrIOp, (operand, ones), type, node)
        case ast.UAdd():
            raise context.error(node, "unary '+' is not part of the DSL")
        case _:
            raise context.error(node, f"an operator on {describe_type(type)}")


def _is_integer(type: Attribute) -> bool:
    return isinstance(type, IntegerType | IndexType)


def extreme(context: Context, name: str, left: Value, right: Value, node: ast.expr) -> Value:
    """`pl.min(a, b)` and `pl.max(a, b)` of scalars."""
    if is_literal(left) and is_literal(right):
        return min(left, right) if name == "min" else max(left, right)
    lhs, rhs = promoted(context, left, right, node, f"pl.{name}")
    if is_float(lhs.type):
        kind: type[Operation] = arith.MinimumfOp if name == "min" else arith.MaximumfOp
    elif is_signed(lhs.type):
        kind = arith.MinSIOp if name == "min" else arith.MaxSIOp
    else:
        kind = arith.MinUIOp if name == "min" else arith.MaxUIOp
    return _result(context, kind, (lhs, rhs), lhs.type, node)


def cast_value(context: Context, value: Value, type: Attribute, node: ast.expr) -> Value:
    """
    `pl.cast(s, dtype)` of a scalar; a constant stays one, but where the text is that of a program
    in SSA form, which says types where it computes.
    """
    if is_constant(value) and not (isinstance(value, Typed) and context.strict_ssa):
        number = value.value if isinstance(value, Typed) else value
        if is_float(type):
            return Typed(float(number), type)
        number = int(number)
        return Typed(number, type) if type != INDEX else number
    return cast_scalar(context, context.materialize(value, node), type, node)


def cast_scalar(context: Context, value: SSAValue, type: Attribute, node: Node) -> SSAValue:
    """A scalar converted to another type; itself if it has it."""
    have = value.type
    if have == type:
        return value
    if not is_element_type(have) or not is_element_type(type):
        raise context.error(node, f"cannot cast {describe_type(have)} to {describe_type(type)}")
    return _conversion(context, value, have, type, node)


def _conversion(
    context: Context, value: SSAValue, have: Attribute, want: Any, node: Node
) -> SSAValue:
    if want == i1:
        zero = context.constant(0, have, node)
        if is_float(have):
            return _result(context, arith.CmpfOp, (value, zero), i1, node, _CMPF["une"])
        return _result(context, arith.CmpiOp, (value, zero), i1, node, _CMPI["ne"])
    if is_float(have) and want == INDEX:
        value = _result(context, arith.FPToSIOp, (value,), i64, node)
        kind: type[Operation] = arith.IndexCastOp
    elif is_float(have) and is_float(want):
        kind = arith.ExtFOp if bit_width(want) > bit_width(have) else arith.TruncFOp
    elif is_float(have):
        kind = arith.FPToSIOp if is_signed(want) else arith.FPToUIOp
    elif is_float(want):
        if have == INDEX:
            value = _result(context, arith.IndexCastOp, (value,), i64, node)
            have = i64
        kind = arith.SIToFPOp if is_signed(have) else arith.UIToFPOp
    elif INDEX in (have, want):
        if have == i1:
            value = _result(context, arith.ExtUIOp, (value,), i64, node)
        kind = arith.IndexCastOp
    elif bit_width(want) > bit_width(have):
        kind = arith.ExtSIOp if is_signed(have) else arith.ExtUIOp
    else:
        kind = arith.TruncIOp if bit_width(want) < bit_width(have) else arith.BitcastOp
    return _result(context, kind, (value,), want, node)
