"""Arithmetic on scalars as expressions of the DSL."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    f32,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.element_types import is_integer, is_signed
from pypto_xdsl.frontend.pl.vocabulary import INDEX, spell_dtype

Part = str | SSAValue
"""A piece of text, or a value whose expression stands there."""

_OPERATORS: Mapping[type[Operation], str] = {
    arith.AddiOp: "+",
    arith.SubiOp: "-",
    arith.MuliOp: "*",
    arith.AddfOp: "+",
    arith.SubfOp: "-",
    arith.MulfOp: "*",
    arith.DivfOp: "/",
    arith.FloorDivSIOp: "//",
    arith.DivSIOp: "/",
    arith.DivUIOp: "//",
    arith.RemSIOp: "%",
    arith.RemUIOp: "%",
    arith.ShLIOp: "<<",
    arith.ShRSIOp: ">>",
    arith.ShRUIOp: ">>",
}
_FUNCTIONS: Mapping[type[Operation], str] = {
    arith.MinSIOp: "pl.min",
    arith.MinUIOp: "pl.min",
    arith.MinimumfOp: "pl.min",
    arith.MaxSIOp: "pl.max",
    arith.MaxUIOp: "pl.max",
    arith.MaximumfOp: "pl.max",
}
_UNSIGNED = (arith.DivUIOp, arith.RemUIOp, arith.ShRUIOp, arith.MinUIOp, arith.MaxUIOp)
_SIGNED = (
    arith.FloorDivSIOp,
    arith.DivSIOp,
    arith.RemSIOp,
    arith.ShRSIOp,
    arith.MinSIOp,
    arith.MaxSIOp,
)
_CASTS = (
    arith.IndexCastOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
    arith.SIToFPOp,
    arith.UIToFPOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
    arith.ExtFOp,
    arith.TruncFOp,
    arith.BitcastOp,
)
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_FLOAT_COMPARISONS = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}


def is_scalar_op(op: Operation) -> bool:
    """Whether an op is arithmetic."""
    return op.name.startswith("arith.")


def constant(op: arith.ConstantOp, *, bare_float: bool = True) -> str:
    """A constant: bare where a number alone has its type."""
    value: Any = op.value
    type = value.type
    if isinstance(value, IntegerAttr):
        number = value.value.data
        if type == INDEX:
            return str(number)
        if type == i1:
            return "True" if number else "False"
        return f"pl.const({number}, {_dtype(op, type)})"
    if isinstance(value, FloatAttr):
        text = float_text(value.value.data)
        if type == f32 and bare_float:
            return text
        return f"pl.const({text}, {_dtype(op, type)})"
    raise OpError(op, "has no spelling in the DSL")


def float_text(value: float) -> str:
    """A float that reads back to the same bits."""
    if math.isnan(value):
        return 'float("nan")'
    if math.isinf(value):
        return 'float("inf")' if value > 0 else '-float("inf")'
    text = f"{value:.17g}"
    shortest = repr(value)
    if float(shortest) == value:
        text = shortest
    return text if any(mark in text for mark in ".e") else f"{text}.0"


def _dtype(op: Operation, type: Attribute) -> str:
    try:
        return spell_dtype(type)
    except KeyError:
        raise OpError(op, f"has a type that the DSL has no word for: {type}") from None


def expression(op: Operation) -> list[Part]:
    """
    An op of arithmetic as an expression. Raises `OpError` for one that the DSL has no words for.
    """
    kind = type(op)
    result = op.results[0].type
    if kind in _OPERATORS or kind in _FUNCTIONS:
        signed = _is_signed(result)
        if (isinstance(op, _UNSIGNED) and signed) or (isinstance(op, _SIGNED) and not signed):
            raise OpError(op, f"has no spelling in the DSL for {result}")
        lhs, rhs = op.operands
        if kind in _FUNCTIONS:
            return [f"{_FUNCTIONS[kind]}(", lhs, ", ", rhs, ")"]
        return ["(", lhs, f" {_OPERATORS[kind]} ", rhs, ")"]
    match op:
        case arith.NegfOp():
            return ["(-", op.operand, ")"]
        case arith.AndIOp() | arith.OrIOp() if result == i1:
            word = "and" if isinstance(op, arith.AndIOp) else "or"
            return ["(", op.lhs, f" {word} ", op.rhs, ")"]
        case arith.XOrIOp():
            return _exclusive_or(op)
        case arith.CmpiOp():
            return _integer_comparison(op)
        case arith.CmpfOp():
            sign = _FLOAT_COMPARISONS.get(op.predicate.value.data)
            if sign is not None:
                return ["(", op.lhs, f" {sign} ", op.rhs, ")"]
        case _ if isinstance(op, _CASTS):
            (value,) = op.operands
            _check_cast(op, value.type, result)
            return ["pl.cast(", value, f", {_dtype(op, result)})"]
        case _:
            pass
    raise OpError(op, "has no spelling in the DSL")


def _is_signed(type: Attribute) -> bool:
    return not (is_integer(type) or isinstance(type, IndexType)) or is_signed(type)


def _integer_comparison(op: arith.CmpiOp) -> list[Part]:
    predicate = op.predicate.value.data
    if predicate >= 2 and (predicate < 6) != _is_signed(op.lhs.type):
        raise OpError(op, f"has no spelling in the DSL for {op.lhs.type}")
    return ["(", op.lhs, f" {_COMPARISONS[predicate]} ", op.rhs, ")"]


def _exclusive_or(op: arith.XOrIOp) -> list[Part]:
    owner = op.rhs.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        number = owner.value.value.data
        if op.result.type == i1 and number in (1, -1):
            return ["(not ", op.lhs, ")"]
        if number == -1:
            return ["(~", op.lhs, ")"]
    raise OpError(op, "has no spelling in the DSL")


def _check_cast(op: Operation, have: Attribute, want: Attribute) -> None:
    """Raise where `pl.cast` would be another op."""
    unsigned = have == i1 or not _is_signed(have)
    wrong = (
        (isinstance(op, arith.ExtUIOp | arith.UIToFPOp) and not unsigned)
        or (isinstance(op, arith.ExtSIOp | arith.SIToFPOp) and unsigned)
        or (isinstance(op, arith.FPToUIOp) and _is_signed(want))
        or (isinstance(op, arith.FPToSIOp) and not _is_signed(want))
        or (isinstance(op, arith.TruncIOp) and want == i1)
        or (isinstance(op, arith.BitcastOp) and isinstance(have, BFloat16Type))
    )
    if wrong:
        raise OpError(op, f"has no spelling in the DSL for {have} to {want}")
