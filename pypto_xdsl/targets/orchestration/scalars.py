"""Scalars in C++: their types, numbers as literals, arithmetic as expressions."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.analysis.integer_ranges import IntegerRanges
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.element_types import bit_width, is_float, is_integer, is_signed

_INT32_LIMIT = 1 << 31
_INT64_MIN = -(1 << 63)

_DATA_TYPES: Mapping[type[Attribute], str] = {
    Float32Type: "FLOAT32",
    Float16Type: "FLOAT16",
    BFloat16Type: "BFLOAT16",
    IndexType: "INT64",
}


def scalar_type(type: Attribute) -> str | None:
    """
    The C++ type of a scalar, None if it has none.

    The runtime's header has no 16-bit floats: their bits are passed on in an integer.
    """
    match type:
        case Float32Type():
            return "float"
        case Float64Type():
            return "double"
        case Float16Type() | BFloat16Type():
            return "uint16_t"
        case IndexType():
            return "int64_t"
        case _ if type == i1:
            return "bool"
        case _ if is_integer(type) and bit_width(type) in (8, 16, 32, 64):
            return f"{'' if is_signed(type) else 'u'}int{bit_width(type)}_t"
        case _:
            return None


def data_type(type: Attribute) -> str | None:
    """The runtime's word for the elements of a tensor, None if it has none."""
    if type == i1:
        return "DataType::BOOL"
    if is_integer(type) and bit_width(type) in (8, 16, 32, 64):
        return f"DataType::{'' if is_signed(type) else 'U'}INT{bit_width(type)}"
    word = _DATA_TYPES.get(type.__class__)
    return None if word is None else f"DataType::{word}"


def is_half(type: Attribute) -> bool:
    """Whether a type is a float of 16 bits, of which C++ has the bits only."""
    return isinstance(type, Float16Type | BFloat16Type)


def constant(op: arith.ConstantOp) -> str:
    """A constant as a literal. Raises `OpError` for a type that C++ has no literal of."""
    type = op.result.type
    match op.value:
        case IntegerAttr() as number if scalar_type(type) is not None:
            return integer_literal(number.value.data, type)
        case FloatAttr() as number if scalar_type(type) is not None:
            return float_literal(number.value.data, type)
        case _:
            raise OpError(op, f"of type {type} has no spelling in C++")


def integer_literal(value: int, type: Attribute) -> str:
    """An integer; its literal has the sign and the width of the type where that matters."""
    if type == i1:
        return "true" if value else "false"
    width = bit_width(type)
    value &= (1 << width) - 1
    if is_signed(type):
        if value >> (width - 1):
            value -= 1 << width
        if value == _INT64_MIN:
            return "INT64_MIN"
        if value == -_INT32_LIMIT:
            return "INT32_MIN"
        return f"INT64_C({value})" if not -_INT32_LIMIT < value < _INT32_LIMIT else str(value)
    return f"{value}u" if width < 64 else f"UINT64_C({value})"


def float_literal(value: float, type: Attribute) -> str:
    """A float that C++ reads as the same bits; the bits themselves where there is no literal."""
    if is_half(type):
        return f"0x{_bits(value, type):04x}u"
    double = isinstance(type, Float64Type)
    if not math.isfinite(value):
        bits = f"{_bits(value, type):#x}"
        return f"from_u64<{'double' if double else 'float'}>(UINT64_C({bits}))"
    text = repr(value) if double else _shortest(value)
    text = text if any(mark in text for mark in ".e") else f"{text}.0"
    return text if double else f"{text}f"


def _shortest(value: float) -> str:
    """The fewest digits that make the same float of 32 bits."""
    packed = struct.pack("<f", value)
    for digits in range(1, 9):
        text = f"{value:.{digits}g}"
        try:
            if struct.pack("<f", float(text)) == packed:
                return text
        except OverflowError:
            # Rounded up beyond the largest float.
            continue
    return f"{value:.9g}"


def _bits(value: float, type: Attribute) -> int:
    match type:
        case Float16Type():
            return int.from_bytes(struct.pack("<e", value), "little")
        case BFloat16Type():
            return int.from_bytes(struct.pack("<f", value), "little") >> 16
        case Float64Type():
            return int.from_bytes(struct.pack("<d", value), "little")
        case _:
            return int.from_bytes(struct.pack("<f", value), "little")


_INFIX: Mapping[type[Operation], str] = {
    arith.AddiOp: "+",
    arith.SubiOp: "-",
    arith.MuliOp: "*",
    arith.DivSIOp: "/",
    arith.RemSIOp: "%",
    arith.AddfOp: "+",
    arith.SubfOp: "-",
    arith.MulfOp: "*",
    arith.DivfOp: "/",
    arith.ShRSIOp: ">>",
}
_UNSIGNED_INFIX: Mapping[type[Operation], str] = {
    arith.DivUIOp: "/",
    arith.RemUIOp: "%",
    arith.ShLIOp: "<<",
    arith.ShRUIOp: ">>",
}
"""Computed on the bits as unsigned numbers."""
_LOGICAL: Mapping[type[Operation], tuple[str, str]] = {
    arith.AndIOp: ("&&", "&"),
    arith.OrIOp: ("||", "|"),
    arith.XOrIOp: ("!=", "^"),
}
"""Of truth values, and bit by bit."""
_EXTREMES: Mapping[type[Operation], str] = {
    arith.MinSIOp: "min",
    arith.MaxSIOp: "max",
    arith.MinUIOp: "min",
    arith.MaxUIOp: "max",
}
_FLOAT_EXTREMES: Mapping[type[Operation], str] = {arith.MinimumfOp: "<", arith.MaximumfOp: ">"}
_ROUNDING = (arith.FloorDivSIOp, arith.CeilDivSIOp)
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_FIRST_UNSIGNED = 6
_FLOAT_COMPARISONS: Mapping[int, str] = {
    1: "({0} == {1})",
    2: "({0} > {1})",
    3: "({0} >= {1})",
    4: "({0} < {1})",
    5: "({0} <= {1})",
    6: "({0} < {1} || {0} > {1})",
    7: "({0} == {0} && {1} == {1})",
    8: "(!({0} < {1} || {0} > {1}))",
    9: "(!({0} <= {1}))",
    10: "(!({0} < {1}))",
    11: "(!({0} >= {1}))",
    12: "(!({0} > {1}))",
    13: "({0} != {1})",
    14: "({0} != {0} || {1} != {1})",
}
"""By the number of the predicate; those after `ord` are true of what is no number."""
_CASTS = (
    arith.IndexCastOp,
    arith.ExtSIOp,
    arith.TruncIOp,
    arith.SIToFPOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
    arith.ExtFOp,
    arith.TruncFOp,
)
_CASTS_FROM_UNSIGNED = (arith.ExtUIOp, arith.UIToFPOp)
_REPEATS = (
    arith.CeilDivUIOp,
    arith.CmpfOp,
    arith.SelectOp,
    *_ROUNDING,
    *_FLOAT_EXTREMES,
)
"""Ops whose expression may have an operand more than once."""


def repeats_operands(op: Operation) -> bool:
    """Whether the expression of an op has an operand more than once, so that it needs a name."""
    return isinstance(op, _REPEATS)


def expression(op: Operation, of: Callable[[SSAValue], str], ranges: IntegerRanges) -> str:
    """
    An op of arithmetic as an expression, in parentheses where it needs any; `of` gives those of
    its operands. Raises `OpError` for what has no spelling in C++.
    """
    result = op.results[0].type
    wanted = scalar_type(result)
    kind = type(op)
    halves = [value.type for value in (*op.operands, op.results[0]) if is_half(value.type)]
    if wanted is None or (halves and not isinstance(op, arith.SelectOp | arith.BitcastOp)):
        culprit = halves[0] if halves else result
        raise OpError(op, f"of {culprit} has no spelling in C++: the runtime has no such type")
    operands = [of(operand) for operand in op.operands]
    if kind in _INFIX:
        return _narrowed(f"({_wide(operands, result)} {_INFIX[kind]} {operands[1]})", result)
    if kind in _UNSIGNED_INFIX:
        left, right = (_as_unsigned(text, result) for text in operands)
        return _cast(f"({left} {_UNSIGNED_INFIX[kind]} {right})", wanted)
    if kind in _LOGICAL:
        truth, bits = _LOGICAL[kind]
        return _narrowed(f"({operands[0]} {truth if result == i1 else bits} {operands[1]})", result)
    if kind in _EXTREMES:
        function = f"std::{_EXTREMES[kind]}"
        if isinstance(op, arith.MinUIOp | arith.MaxUIOp) and is_signed(result):
            left, right = (_as_unsigned(text, result) for text in operands)
            return _cast(f"{function}<{_unsigned(result)}>({left}, {right})", wanted)
        return f"{function}<{wanted}>({operands[0]}, {operands[1]})"
    if kind in _FLOAT_EXTREMES:
        # What is no number comes through, from either side.
        left, right = operands
        return f"({left} {_FLOAT_EXTREMES[kind]} {right} || {left} != {left} ? {left} : {right})"
    if isinstance(op, _ROUNDING):
        return _rounded(op, operands, ranges)
    match op:
        case arith.CeilDivUIOp():
            left, right = (_as_unsigned(text, result) for text in operands)
            return _cast(f"({left} / {right} + ({left} % {right} != 0))", wanted)
        case arith.NegfOp():
            return f"(- {operands[0]})"
        case arith.SelectOp():
            return f"({operands[0]} ? {operands[1]} : {operands[2]})"
        case arith.CmpiOp():
            return _integer_comparison(op, operands)
        case arith.CmpfOp():
            predicate = op.predicate.value.data
            if predicate in _FLOAT_COMPARISONS:
                return _FLOAT_COMPARISONS[predicate].format(*operands)
            return "true" if predicate else "false"
        case arith.BitcastOp():
            return f"from_u64<{wanted}>(to_u64({_cast(operands[0], _type_of(op.operands[0]))}))"
        case _ if isinstance(op, _CASTS + _CASTS_FROM_UNSIGNED):
            return _conversion(op, operands[0], wanted)
        case _:
            raise OpError(op, "has no spelling in C++")


def _type_of(value: SSAValue) -> str:
    return scalar_type(value.type) or "auto"


def _cast(text: str, type: str) -> str:
    # An expression that begins with a parenthesis ends with its pair.
    return f"static_cast<{type}>{text}" if text.startswith("(") else f"static_cast<{type}>({text})"


def _narrowed(text: str, type: Attribute) -> str:
    """An expression that C++ computes in more bits than its type has."""
    if type == i1 or is_float(type) or bit_width(type) >= 32:
        return text
    wanted = scalar_type(type)
    assert wanted is not None
    return _cast(text, wanted)


def _wide(operands: list[str], type: Attribute) -> str:
    """The first operand, so that C++ does not compute 64 bits in the 32 of two small literals."""
    first, second = operands
    if not is_float(type) and bit_width(type) == 64 and _is_literal(first) and _is_literal(second):
        return f"static_cast<{scalar_type(type)}>({first})"
    return first


def _is_literal(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _unsigned(type: Attribute) -> str:
    return "bool" if type == i1 else f"uint{bit_width(type)}_t"


def _as_unsigned(text: str, type: Attribute) -> str:
    return text if not is_signed(type) else _cast(text, _unsigned(type))


def _rounded(op: Operation, operands: list[str], ranges: IntegerRanges) -> str:
    """A quotient rounded down or up; C++ rounds to zero."""
    left, right = operands
    result = op.results[0].type
    wide = _wide(operands, result)
    dividend, divisor = (ranges.of(operand).low for operand in op.operands)
    down = isinstance(op, arith.FloorDivSIOp)
    if down and dividend is not None and dividend >= 0 and divisor is not None and divisor >= 0:
        return _narrowed(f"({wide} / {right})", result)
    sign, differs = ("-", "!=") if down else ("+", "==")
    if divisor is not None and divisor >= 0:
        is_off = f"{left} {'<' if down else '>'} 0"
    else:
        is_off = f"({left} < 0) {differs} ({right} < 0)"
    return _narrowed(f"({wide} / {right} {sign} ({left} % {right} != 0 && {is_off}))", result)


def _integer_comparison(op: arith.CmpiOp, operands: list[str]) -> str:
    predicate = op.predicate.value.data
    left, right = operands
    type = op.lhs.type
    if predicate >= _FIRST_UNSIGNED:
        left, right = _as_unsigned(left, type), _as_unsigned(right, type)
    elif predicate >= 2 and type == i1:
        # The truth is -1 there.
        left, right = right, left
    elif predicate >= 2 and not is_signed(type):
        signed = f"int{bit_width(type)}_t"
        left, right = _cast(left, signed), _cast(right, signed)
    return f"({left} {_COMPARISONS[predicate]} {right})"


def _conversion(op: Operation, text: str, wanted: str) -> str:
    have, want = op.operands[0].type, op.results[0].type
    if want == i1:
        return f"(({text} & 1) != 0)"
    if isinstance(op, arith.ExtSIOp | arith.SIToFPOp) and have == i1:
        return f"({text} ? -1 : 0)" if not is_float(want) else f"({text} ? -1.0f : 0.0f)"
    if isinstance(op, arith.ExtSIOp | arith.SIToFPOp) and not is_signed(have):
        text = _cast(text, f"int{bit_width(have)}_t")
    if isinstance(op, _CASTS_FROM_UNSIGNED):
        text = _as_unsigned(text, have)
    return _cast(text, wanted)
