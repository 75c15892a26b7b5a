"""
What xDSL's interpreters of `arith` and `math` lack: divisions that complain instead of asserting,
unsigned and extending ops, conversions between integers and floats, functions of IEEE floats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from math import isfinite, isnan, trunc
from typing import Any

import numpy as np
from xdsl.dialects import arith, math
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Operation

from pypto_xdsl.interpreters.elements import (
    element_of,
    float_value,
    integer_value,
    is_integer,
    number_of,
)
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.execution import Prepared, prepared
from pypto_xdsl.interpreters.op_tables import Run, implements


def _width(type: Attribute) -> int:
    return type.width.data if is_integer(type) else 64


def _signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def _unsigned(value: int, width: int) -> int:
    return value & ((1 << width) - 1)


def _integers(read: Callable[[int, int], int]) -> Callable[[Any, Callable[[int, int], int]], Run]:
    def make(_: Any, compute: Callable[[int, int], int]) -> Run:
        def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
            type = op.results[0].type
            width = _width(type)
            lhs, rhs = (read(int(number_of(arg)), width) for arg in args)
            return (integer_value(compute(lhs, rhs), type),)

        return run

    return make


def _divisor(value: int) -> int:
    if value == 0:
        raise ProgramError("divides by zero")
    return value


def _truncated(lhs: int, rhs: int) -> int:
    quotient = abs(lhs) // abs(_divisor(rhs))
    return quotient if (lhs < 0) == (rhs < 0) else -quotient


def _count(value: int, width: int) -> int:
    if not 0 <= value < width:
        raise ProgramError(f"shifts {width} bits by {value}")
    return value


_SIGNED: Mapping[type[Operation], Callable[[int, int], int]] = {
    arith.DivSIOp: _truncated,
    arith.RemSIOp: lambda lhs, rhs: lhs - _truncated(lhs, rhs) * rhs,
    arith.FloorDivSIOp: lambda lhs, rhs: lhs // _divisor(rhs),
    arith.CeilDivSIOp: lambda lhs, rhs: -(-lhs // _divisor(rhs)),
    arith.MaxSIOp: max,
    arith.MinSIOp: min,
}
_UNSIGNED: Mapping[type[Operation], Callable[[int, int], int]] = {
    arith.DivUIOp: lambda lhs, rhs: lhs // _divisor(rhs),
    arith.RemUIOp: lambda lhs, rhs: lhs % _divisor(rhs),
    arith.CeilDivUIOp: lambda lhs, rhs: -(-lhs // _divisor(rhs)),
    arith.MaxUIOp: max,
    arith.MinUIOp: min,
}
_SHIFTS: Mapping[type[Operation], Callable[[int, int, int], int]] = {
    arith.ShLIOp: lambda value, count, width: value << count,
    arith.ShRSIOp: lambda value, count, width: _signed(value, width) >> count,
    arith.ShRUIOp: lambda value, count, width: _unsigned(value, width) >> count,
}


def _reciprocal_root(operand: float) -> float:
    return float(1 / np.sqrt(operand))


def _in_numpy(function: Callable[..., Any]) -> Callable[..., float]:
    """A function of IEEE floats, which gives infinities and nan instead of raising."""

    def compute(*operands: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*map(np.float64, operands)))

    return compute


def _number_or(choose: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """The other operand where one is nan."""

    def compute(lhs: float, rhs: float) -> float:
        if isnan(lhs):
            return rhs
        return lhs if isnan(rhs) else choose(lhs, rhs)

    return compute


_FLOATS: Mapping[type[Operation], Callable[[float, float], float]] = {
    arith.AddfOp: operator.add,
    arith.SubfOp: operator.sub,
    arith.MulfOp: operator.mul,
    arith.DivfOp: _in_numpy(np.divide),
    arith.MaxnumfOp: _number_or(max),
    arith.MinnumfOp: _number_or(min),
}
_MATH: Mapping[type[Operation], Callable[..., float]] = {
    math.AbsFOp: _in_numpy(np.abs),
    math.CeilOp: _in_numpy(np.ceil),
    math.CosOp: _in_numpy(np.cos),
    math.ExpOp: _in_numpy(np.exp),
    math.FloorOp: _in_numpy(np.floor),
    math.LogOp: _in_numpy(np.log),
    math.PowFOp: _in_numpy(np.power),
    math.RsqrtOp: _in_numpy(_reciprocal_root),
    math.SinOp: _in_numpy(np.sin),
    math.SqrtOp: _in_numpy(np.sqrt),
    math.TanhOp: _in_numpy(np.tanh),
}
_FLOAT: Mapping[type[Operation], Callable[[float], float]] = {
    arith.NegfOp: operator.neg,
    arith.ExtFOp: operator.pos,
    arith.TruncFOp: operator.pos,
}


def _shift(_: Any, compute: Callable[[int, int, int], int]) -> Run:
    def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        type = op.results[0].type
        width = _width(type)
        value, count = (number_of(arg) for arg in args)
        shifted = compute(int(value), _count(int(count), width), width)
        return (integer_value(shifted, type),)

    return run


def _float(_: Any, compute: Callable[..., float]) -> Run:
    def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        return (float_value(compute(*map(number_of, args)), op.results[0].type),)

    return run


def _resize(_: Any, read: Callable[[int, int], int]) -> Run:
    def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        value = read(int(number_of(args[0])), _width(op.operands[0].type))
        return (integer_value(value, op.results[0].type),)

    return run


def _to_float(_: Any, read: Callable[[int, int], int]) -> Run:
    def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        value = read(int(number_of(args[0])), _width(op.operands[0].type))
        return (float_value(float(value), op.results[0].type),)

    return run


def _bitcast(_: Any, __: None) -> Run:
    def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        source, target = (element_of(value.type) for value in (op.operands[0], op.results[0]))
        stored = np.asarray(source.narrow(source.number(number_of(args[0]))))
        return (target.scalar(stored.reshape(1).view(target.storage)[0]),)

    return run


def _from_float(_: Any, signed: bool) -> Run:
    def run(interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        value, type = number_of(args[0]), op.results[0].type
        width = _width(type)
        low, high = (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)
        if not (isfinite(value) and low <= trunc(value) < high):
            raise ProgramError(f"converts {value}, which {type} does not hold")
        return (integer_value(trunc(value), type),)

    return run


_RESIZED: Mapping[type[Operation], Callable[[int, int], int]] = {
    arith.ExtSIOp: _signed,
    arith.ExtUIOp: _unsigned,
    arith.TruncIOp: _signed,
    arith.IndexCastOp: _signed,
}
_FLOAT_OF: Mapping[type[Operation], Callable[[int, int], int]] = {
    arith.SIToFPOp: _signed,
    arith.UIToFPOp: _unsigned,
}
_INTEGER_OF: Mapping[type[Operation], bool] = {arith.FPToSIOp: True, arith.FPToUIOp: False}


def _constant(_: Any, op: arith.ConstantOp) -> Prepared:
    values = (op.value,)
    return lambda args: values


@register_impls
@implements(_SIGNED, _integers(_signed))
@implements(_UNSIGNED, _integers(_unsigned))
@implements(_SHIFTS, _shift)
@implements(_FLOATS, _float)
@implements(_FLOAT, _float)
@implements(_RESIZED, _resize)
@implements(_FLOAT_OF, _to_float)
@implements(_INTEGER_OF, _from_float)
@implements({arith.BitcastOp: None}, _bitcast)
@implements(_MATH, _float)
class ScalarFunctions(InterpreterFunctions):
    """Ops of `arith` and `math`; to be registered over xDSL's `ArithFunctions`."""

    @prepared(_constant)
    @impl(arith.ConstantOp)
    def run_constant(
        self, interpreter: Interpreter, op: arith.ConstantOp, args: PythonValues
    ) -> PythonValues:
        # A scalar is represented by its attribute; so is a vector, which nothing computes with.
        return (op.value,)
