"""
Which conversions, one after the other, make up a conversion that a target has no instruction for.

An element type between loses nothing that arrives: it holds every value of the source, or every
value of the destination. Of the chains that do so the shortest is taken; of several, the one that
goes by way of a float of the source's width, then the one that stays among floats or integers.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f16, f32
from xdsl.ir import Attribute

from pypto_xdsl.dialects.element_types import bit_width, is_integer


class _Range(NamedTuple):
    """The values of an element type: significant bits, the largest exponent, a sign or none."""

    precision: int
    exponent: int
    signed: bool

    def holds(self, other: _Range) -> bool:
        return (
            self.precision >= other.precision
            and self.exponent >= other.exponent
            and self.signed >= other.signed
        )


_FLOATS: dict[Attribute, _Range] = {
    f32: _Range(24, 128, True),
    f16: _Range(11, 16, True),
    bf16: _Range(8, 128, True),
}


def _range(type: Attribute) -> _Range:
    if type in _FLOATS:
        return _FLOATS[type]
    assert is_integer(type)
    integer: IntegerType[Any, Any] = type
    signed = integer.signedness.data is not Signedness.UNSIGNED
    bits = integer.width.data - signed
    return _Range(bits, bits, signed)


def cast_chain(
    casts: AbstractSet[tuple[Attribute, Attribute]], source: Attribute, target: Attribute
) -> tuple[Attribute, ...] | None:
    """
    The element types between `source` and `target`, none of them for a conversion that is one of
    `casts`; None where there is no chain.
    """
    starting: dict[Attribute, list[Attribute]] = {}
    for start, end in casts:
        starting.setdefault(start, []).append(end)
    paths: list[tuple[Attribute, ...]] = [(source,)]
    seen = {source}
    for path in paths:
        if (path[-1], target) in casts:
            return path[1:]
        for end in sorted(starting.get(path[-1], ()), key=lambda end: _order(path[-1], end)):
            if end not in seen and _keeps(end, source, target):
                seen.add(end)
                paths.append((*path, end))
    return None


def _keeps(between: Attribute, source: Attribute, target: Attribute) -> bool:
    return any(_holds(between, end) for end in (source, target))


def _holds(type: Attribute, other: Attribute) -> bool:
    fractions = other in _FLOATS and type not in _FLOATS
    return not fractions and _range(type).holds(_range(other))


def _order(start: Attribute, end: Attribute) -> tuple[int, str]:
    is_float = end in _FLOATS
    if is_float and is_integer(start) and bit_width(start) == bit_width(end):
        return 0, str(end)
    return (1 if is_float == (start in _FLOATS) else 2), str(end)
