"""The run-time operands of `pto` ops by the names of their declarations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.interpreter import PythonValues
from xdsl.ir import Attribute, SSAValue

from pypto_xdsl.dialects.pto import PtoOp

Places: TypeAlias = dict[str, int | slice]
"""Where each operand that is there is among all of them; several where there may be any number."""

_SEGMENTS = "operandSegmentSizes"
_known: dict[tuple[type[PtoOp], int, Attribute | None], Places] = {}


def operand_places(op: PtoOp) -> Places:
    """The places of the operands of an op, by their names."""
    key = type(op), len(op.operands), op.properties.get(_SEGMENTS)
    found = _known.get(key)
    if found is None:
        found = _known[key] = _find_places(op)
    return found


def operand_place(op: PtoOp, name: str) -> int:
    """The place of one operand, which must be there."""
    place = operand_places(op)[name]
    assert isinstance(place, int)
    return place


def operand_range(op: PtoOp, name: str) -> slice:
    """The places of an operand of which there may be any number."""
    places = operand_places(op)[name]
    assert isinstance(places, slice)
    return places


def constants_of(values: Sequence[SSAValue]) -> tuple[int, ...] | None:
    """The numbers that operands are whenever the op runs; None unless all are constants."""
    found: list[int] = []
    for value in values:
        if not isinstance(value.owner, arith.ConstantOp):
            return None
        constant = value.owner.value
        if not isinstance(constant, IntegerAttr):
            return None
        found.append(constant.value.data)
    return tuple(found)


def _find_places(op: PtoOp) -> Places:
    found: Places = {}
    place = 0
    for info in op.DECLARATION.operands:
        value = getattr(op, info.name)
        if value is None:
            continue
        if info.is_variadic and not info.is_optional:
            found[info.name] = slice(place, place + len(value))
            place += len(value)
        else:
            found[info.name] = place
            place += 1
    return found


def named(op: PtoOp, args: PythonValues) -> dict[str, Any]:
    """
    Each operand that is there, by its name; a list of them where the definition is variadic.
    """
    return {name: args[place] for name, place in operand_places(op).items()}


def numbers(values: Sequence[Any]) -> tuple[int, ...]:
    """Run-time integers as numbers."""
    return tuple([value.value.data for value in values])
