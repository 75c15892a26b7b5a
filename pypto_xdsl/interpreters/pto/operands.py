"""The run-time operands of `pto` ops by the names of their declarations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.interpreter import PythonValues

from pypto_xdsl.dialects.pto import PtoOp


def named(op: PtoOp, args: PythonValues) -> dict[str, Any]:
    """
    Each operand that is there, by its name; a list of them where the definition is variadic.
    """
    found: dict[str, Any] = {}
    place = 0
    for info in op.DECLARATION.operands:
        value = getattr(op, info.name)
        if value is None:
            continue
        if info.is_variadic and not info.is_optional:
            found[info.name] = args[place : place + len(value)]
            place += len(value)
        else:
            found[info.name] = args[place]
            place += 1
    return found


def numbers(values: Sequence[Any]) -> tuple[int, ...]:
    """Run-time integers as numbers."""
    return tuple(value.value.data for value in values)
