"""Mixed lists of constants and run-time values, as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, I64, DenseArrayBase, IntegerAttr, i64


@lru_cache(maxsize=4096)
def index_value(number: int) -> IntegerAttr[Any]:
    """A run-time scalar of type `index`."""
    return IntegerAttr(number, i64)


@lru_cache(maxsize=4096)
def _places(static: DenseArrayBase[I64]) -> tuple[tuple[int, ...], int]:
    values = tuple(static.get_values())
    return values, values.count(DYNAMIC_INDEX)


def take_indices(
    static: DenseArrayBase[I64], dynamic: Sequence[IntegerAttr[Any]]
) -> tuple[tuple[int, ...], Sequence[IntegerAttr[Any]]]:
    """
    The numbers of a mixed list, whose run-time values come first in `dynamic`, and the rest of
    `dynamic`.
    """
    places, count = _places(static)
    if not count:
        return places, dynamic
    return fill(places, [value.value.data for value in dynamic[:count]]), dynamic[count:]


def index_taker(
    static: DenseArrayBase[I64],
) -> Callable[[Sequence[IntegerAttr[Any]], int], tuple[int, ...]]:
    """What gives the numbers of a mixed list, from operands whose run-time values start there."""
    places, count = _places(static)
    if not count:
        return lambda operands, start: places
    if count == len(places):
        return lambda operands, start: tuple(
            [value.value.data for value in operands[start : start + count]]
        )
    if count == 1:
        place = places.index(DYNAMIC_INDEX)
        before, after = places[:place], places[place + 1 :]
        return lambda operands, start: (*before, operands[start].value.data, *after)
    return lambda operands, start: fill(
        places, [value.value.data for value in operands[start : start + count]]
    )


def fill(places: Sequence[int], values: Sequence[int]) -> tuple[int, ...]:
    """The places with the next value where a place is known only at run time."""
    remaining = iter(values)
    return tuple(next(remaining) if place == DYNAMIC_INDEX else place for place in places)


def known(extents: Sequence[int]) -> bool:
    """Whether all extents of a type are constants."""
    return DYNAMIC_INDEX not in extents


def given(extents: tuple[int, ...], listed: tuple[int, ...]) -> tuple[int, ...]:
    """The extents of a type, with those that it leaves to run time taken from a list."""
    if not listed or known(extents):
        return extents
    return tuple(
        value if extent == DYNAMIC_INDEX else extent
        for extent, value in zip(extents, listed, strict=True)
    )
