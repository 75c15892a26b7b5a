"""Mixed lists of constants and run-time values, as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, I64, DenseArrayBase, IntegerAttr, i64

from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.values import Window, window_at


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


def window_taker(
    what: str, static: DenseArrayBase[I64], extents: tuple[int, ...]
) -> Callable[[Sequence[IntegerAttr[Any]], int, tuple[int, ...]], Window]:
    """
    What gives the window of constant extents at a mixed list of offsets, whose run-time values
    start somewhere among operands, in `what`, of a shape. It raises `ProgramError` where the
    window lies outside.
    """
    take = index_taker(static)
    places, count = _places(static)
    if count != 1:
        return lambda operands, start, shape: window_at(what, take(operands, start), extents, shape)
    # Only one offset has to be looked at again for a shape that was met before.
    axis = places.index(DYNAMIC_INDEX)
    extent = extents[axis]
    largest: dict[tuple[int, ...], int] = {}
    before: Window = ()
    after: Window = ()

    def window(operands: Sequence[IntegerAttr[Any]], start: int, shape: tuple[int, ...]) -> Window:
        nonlocal before, after
        offset = operands[start].value.data
        if 0 <= offset <= largest.get(shape, -1):
            return (*before, slice(offset, offset + extent), *after)
        found = window_at(what, take(operands, start), extents, shape)
        before, after = found[:axis], found[axis + 1 :]
        largest[shape] = shape[axis] - extent
        return found

    return window


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


def solved(extents: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Extents with at most one left to run time, which `count` elements then decide."""
    if known(extents):
        if prod(extents) != count:
            raise ProgramError(f"{count} elements do not reshape to {list(extents)}")
        return extents
    rest = prod(extent for extent in extents if extent != DYNAMIC_INDEX)
    if extents.count(DYNAMIC_INDEX) > 1 or not rest or count % rest:
        shown = ["?" if extent == DYNAMIC_INDEX else extent for extent in extents]
        raise ProgramError(f"{count} elements do not decide the extents {shown}")
    return tuple(count // rest if extent == DYNAMIC_INDEX else extent for extent in extents)
