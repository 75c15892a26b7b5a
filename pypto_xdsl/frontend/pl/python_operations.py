"""The operators, functions and methods of Python evaluated at compile time, within bounds."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any, cast

from pypto_xdsl.frontend.pl.static_values import Unsettled

MAX_BITS = 4096
"""How large an integer may get."""


MAX_LENGTH = 65_536
"""How long a sequence or a string may get."""

MAX_NESTING = 100
"""How deep sequences that are compared may nest."""


def _listed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives a list where the function gives an iterator."""

    def listed(*arguments: Any) -> Any:
        return list(function(*arguments))

    return listed


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: operator.mod,
    ast.Pow: lambda a, b: a**b,
    ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
}


_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}


COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


BUILTINS: dict[str, Callable[..., Any]] = {
    "len": len,
    "max": max,
    "min": min,
    "abs": abs,
    "sum": sum,
    "round": round,
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "set": set,
    "sorted": sorted,
    "enumerate": _listed(enumerate),
    "zip": _listed(zip),
    "reversed": _listed(reversed),
    "divmod": divmod,
    "all": all,
    "any": any,
}


PLAIN = (bool, int, float, str, type(None), tuple, list, dict, set, range)


def apply_binary(op: ast.operator, left: Any, right: Any) -> Any:
    """A binary operation of Python, within bounds. Raises `Unsettled`."""
    function = _BINARY.get(type(op))
    if function is None:
        raise Unsettled("uses an operator that is not supported")
    if isinstance(op, ast.Pow | ast.LShift) and isinstance(left, int) and isinstance(right, int):
        grows = right if isinstance(op, ast.LShift) else right * max(left.bit_length(), 1)
        if grows > MAX_BITS:
            raise Unsettled(f"makes an integer of more than {MAX_BITS} bits")
    if isinstance(op, ast.Mult):
        for sequence, count in ((left, right), (right, left)):
            repeats = isinstance(sequence, str | list | tuple | bytes) and isinstance(count, int)
            if repeats and length_of(sequence) * count > MAX_LENGTH:
                raise Unsettled(f"makes a sequence of more than {MAX_LENGTH} elements")
    if isinstance(op, ast.Mod) and isinstance(left, str):
        raise Unsettled("formats a string with %; use an f-string")
    try:
        value = function(left, right)
    except (ArithmeticError, TypeError, ValueError) as e:
        raise Unsettled(str(e)) from None
    return bounded(value)


def apply_unary(op: ast.unaryop, operand: Any) -> Any:
    """A unary operation of Python. Raises `Unsettled`."""
    try:
        return _UNARY[type(op)](operand)
    except TypeError as e:
        raise Unsettled(str(e)) from None


def length_of(value: Any) -> int:
    return len(value)


def bounded(value: Any) -> Any:
    """`value`, or `Unsettled` if it is larger than the evaluator may hold."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise Unsettled(f"makes an integer of more than {MAX_BITS} bits")
    if isinstance(value, bytes | complex):
        raise Unsettled("makes a value that the DSL has no use for")
    if isinstance(value, _SIZED) and length_of(value) > MAX_LENGTH:
        raise _too_long()
    return cast(Any, value)


_SIZED = (str, list, tuple, dict, set, range)
_CONTAINERS = (list, tuple, dict, set)


def _too_long() -> Unsettled:
    return Unsettled(f"makes a sequence of more than {MAX_LENGTH} elements")


def length_to_hold(value: Any) -> int:
    """How much a value adds to what is held: its elements, of a string some."""
    if isinstance(value, str):
        return len(value) // 8
    return length_of(value) if isinstance(value, _CONTAINERS) else 0


def unfolded(*values: Any) -> int:
    """
    How many values are reached from some, each as often as there are ways to it: what comparing,
    hashing or printing them costs. Raises `Unsettled` where that is too much.
    """
    pending: list[tuple[Any, int]] = [(v, 0) for v in values if isinstance(v, _CONTAINERS)]
    count = 0
    while pending:
        value, depth = pending.pop()
        parts: list[Any] = [*value, *value.values()] if isinstance(value, dict) else list(value)
        count += len(parts)
        if count > 4 * MAX_LENGTH or depth > MAX_NESTING:
            raise Unsettled("looks through a value that is too large or nested too deeply")
        pending += [(part, depth + 1) for part in parts if isinstance(part, _CONTAINERS)]
    return count


def called(name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """What a function of `BUILTINS` gives, within bounds."""
    match name, arguments:
        case "int", [str() as text, *_] if len(text) > 1000:
            raise Unsettled("makes too large an integer")
        case "round", [_, int() as digits] if abs(digits) > 1000:
            raise Unsettled("rounds to a digit out of reach")
        case "sum", [parts, *_] if not all(isinstance(part, int | float) for part in parts):
            raise Unsettled("adds up more than numbers")
        case _:
            pass
    return bounded(BUILTINS[name](*arguments, **keywords))


def product(parts: Any) -> Any:
    """`math.prod` of numbers, within bounds."""
    bits = 0
    for part in parts:
        bits += part.bit_length() if isinstance(part, int) else 0
        if bits > MAX_BITS:
            raise Unsettled(f"makes an integer of more than {MAX_BITS} bits")
    return math.prod(parts)


def method_called(method: Callable[..., Any], base: Any, arguments: list[Any]) -> Any:
    """What a method of `_METHODS` gives, within bounds."""
    match method.__name__, base, arguments:
        case "replace", str(), [str() as old, str() as new, *_]:
            if len(base) + (base.count(old) + 1) * len(new) > MAX_LENGTH:
                raise _too_long()
        case "join", str(), [parts]:
            pieces = [part for part in parts if isinstance(part, str)]
            if sum(map(len, pieces)) + len(base) * len(pieces) > MAX_LENGTH:
                raise _too_long()
        case "extend", list(), [parts] if length_of(parts) + length_of(base) > MAX_LENGTH:
            raise _too_long()
        case _:
            pass
    result = bounded(method(base, *arguments))
    bounded(base)
    return result


_METHODS: dict[type, tuple[str, ...]] = {
    str: ("lower", "upper", "strip", "split", "startswith", "endswith", "replace", "join"),
    list: ("append", "extend", "index", "count", "copy", "pop", "insert"),
    tuple: ("index", "count"),
    dict: ("get", "items", "keys", "values", "copy", "update"),
    int: ("bit_length",),
}
"""The methods of plain values that may be called."""


def method_of(base: Any, name: str) -> Callable[..., Any] | None:
    for type, names in _METHODS.items():
        if isinstance(base, type) and not isinstance(base, bool) and name in names:
            method: Callable[..., Any] = getattr(type, name)
            if type is dict and name in ("items", "keys", "values"):
                return _listed(method)
            return method
    return None
