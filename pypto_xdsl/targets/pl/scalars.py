"""Arithmetic on scalars as expressions of the DSL."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    f32,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.analysis.integer_ranges import IntegerRanges
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.element_types import (
    bit_width,
    is_float,
    is_integer,
    is_signed,
)
from pypto_xdsl.frontend.pl.vocabulary import INDEX, spell_dtype

Part = str | SSAValue
"""A piece of text, or a value whose expression stands there."""


@dataclass(frozen=True)
class Number:
    """A value that the text spells as a number, whatever op computes it."""

    value: int | float
    type: Attribute

    def text(self, op: Operation, *, typed: bool = False) -> str:
        """The number, bare where that alone has its type, unless its type is to be said."""
        if is_float(self.type):
            text = float_text(op, float(self.value))
            bare = self.type == f32
            if text == NAN:
                # No number: `pl.const` does not take it.
                return text if bare else f"pl.cast({text}, {_dtype(op, self.type)})"
        else:
            text = str(int(self.value))
            if self.type == i1 and not typed:
                return "True" if self.value else "False"
            bare = self.type == INDEX
        return text if bare and not typed else f"pl.const({text}, {_dtype(op, self.type)})"


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


def number_of(op: Operation) -> Number | None:
    """The number that a constant stands for in a text; None for what is no constant."""
    match op:
        case arith.ConstantOp(value=IntegerAttr() as value):
            number = value.value.data
            return Number(number & 1 if value.type == i1 else number, value.type)
        case arith.ConstantOp(value=FloatAttr() as value):
            return Number(value.value.data, value.type)
        case arith.BitcastOp() if not _is_signed(op.result.type):
            # Constants have no sign: the reader makes one that has the same way.
            owner = op.input.owner
            plain = owner.value if isinstance(owner, arith.ConstantOp) else None
            if not isinstance(plain, IntegerAttr):
                return None
            width = bit_width(op.result.type)
            return Number(plain.value.data & ((1 << width) - 1), op.result.type)
        case _:
            return None


NAN = "nan"
"""The name of the constant of the text's module that is not a number, which has no literal."""


def float_text(op: Operation, value: float) -> str:
    """
    A float that reads back to the same bits. Raises `OpError` for what is not a number but for the
    usual one.
    """
    if math.isnan(value):
        if struct.pack("<d", value) != struct.pack("<d", math.nan):
            raise OpError(op, "has no spelling in the DSL: a NaN with bits of its own")
        return NAN
    if math.isinf(value):
        # Too large for a float: the literal of infinity.
        return "1e999" if value > 0 else "-1e999"
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


def expression(op: Operation, ranges: IntegerRanges) -> list[Part]:
    """
    An op of arithmetic as an expression. Raises `OpError` for one that the DSL has no words for.

    Integers of the DSL have a sign where their types do. An unsigned op on others is the signed one
    where `ranges` tells that its operands are not negative.
    """
    kind = type(op)
    result = op.results[0].type
    if kind in _OPERATORS or kind in _FUNCTIONS:
        signed = _is_signed(result)
        if isinstance(op, _UNSIGNED) and signed and not _never_negative(op, ranges):
            raise OpError(
                op, f"has no spelling in the DSL for {result}: an operand may be negative"
            )
        if isinstance(op, _SIGNED) and not signed:
            raise OpError(op, f"has no spelling in the DSL for {result}")
        lhs, rhs = op.operands
        if kind in _FUNCTIONS:
            return [f"{_FUNCTIONS[kind]}(", lhs, ", ", rhs, ")"]
        return ["(", lhs, f" {_OPERATORS[kind]} ", rhs, ")"]
    match op:
        case arith.NegfOp():
            return ["(-", op.operand, ")"]
        case arith.CeilDivSIOp() if _is_signed(result):
            zero = Number(0, result).text(op)
            # Division rounds down; what it makes of the negative is rounded up.
            return [f"({zero} - (({zero} - ", op.lhs, ") // ", op.rhs, "))"]
        case arith.AndIOp() | arith.OrIOp() if result == i1:
            word = "and" if isinstance(op, arith.AndIOp) else "or"
            return ["(", op.lhs, f" {word} ", op.rhs, ")"]
        case arith.XOrIOp():
            return _exclusive_or(op)
        case arith.CmpiOp():
            return _integer_comparison(op, ranges)
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


def _never_negative(op: Operation, ranges: IntegerRanges) -> bool:
    lows = [ranges.of(operand).low for operand in op.operands]
    return all(low is not None and low >= 0 for low in lows)


def _is_signed(type: Attribute) -> bool:
    return not (is_integer(type) or isinstance(type, IndexType)) or is_signed(type)


def _integer_comparison(op: arith.CmpiOp, ranges: IntegerRanges) -> list[Part]:
    predicate = op.predicate.value.data
    if op.lhs.type == i1:
        raise OpError(op, "has no spelling in the DSL for truth values")
    agree = predicate < 2 or (predicate < 6) == _is_signed(op.lhs.type)
    if not agree and not (predicate >= 6 and _never_negative(op, ranges)):
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
        or (isinstance(op, arith.BitcastOp) and not (is_integer(have) and is_integer(want)))
    )
    if wrong:
        raise OpError(op, f"has no spelling in the DSL for {have} to {want}")
