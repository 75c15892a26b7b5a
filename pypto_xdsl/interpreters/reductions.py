"""
What the reductions mean. Sums and products of floats are computed in f64 and rounded once, so
that they do not depend on an order which the hardware does not promise; integers wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from pypto_xdsl.interpreters.arithmetic import Partial
from pypto_xdsl.interpreters.elements import Array, Element

Reduction: TypeAlias = Callable[[Element, Array, int], Array | Partial]
"""`(element, computed elements, axis) -> the result, of extent 1 along the axis`."""


def _accumulator(element: Element) -> type[np.float64 | np.int64 | np.uint64]:
    if element.is_float:
        return np.float64
    return np.int64 if element.is_signed else np.uint64


def total(element: Element, values: Array, axis: int) -> Array:
    """The sum along an axis, which stays with one element."""
    return np.asarray(np.add.reduce(values, axis, _accumulator(element), keepdims=True))


def stored_reduction(
    reduction: Reduction, element: Element, target: Element, axis: int
) -> Callable[[Array], Array | Partial]:
    """A reduction of a matrix as a function of stored elements, to stored elements of `target`."""
    plain = (element, target)
    if (
        reduction is total
        and element.is_float
        and all(e.storage is e.compute and e.storage.kind == "f" for e in plain)
    ):
        storage = target.storage

        def sum_up(stored: Array) -> Array:
            wide: Array = np.add.reduce(stored, axis, np.float64, keepdims=True)
            return wide.astype(storage)

        return sum_up

    def reduce(stored: Array) -> Array | Partial:
        result = reduction(element, element.widen(stored), axis)
        if isinstance(result, Partial):
            return Partial(target.narrow(result.values), result.defined)
        return np.asarray(target.narrow(result))

    return reduce


def product(element: Element, values: Array, axis: int) -> Array:
    """The product along an axis, which stays with one element."""
    return np.asarray(np.prod(values, axis=axis, keepdims=True, dtype=_accumulator(element)))


def _of_some(reduce: Callable[..., Array]) -> Reduction:
    """A reduction that has no result over no elements."""

    def reduction(element: Element, values: Array, axis: int) -> Array | Partial:
        if values.shape[axis]:
            return reduce(values, axis=axis, keepdims=True)
        shape = list(values.shape)
        shape[axis] = 1
        return Partial(np.zeros(shape, values.dtype), np.zeros(shape, np.bool_))

    return reduction


REDUCTIONS: Mapping[str, Reduction] = {
    "sum": total,
    "prod": product,
    "max": _of_some(np.max),
    "min": _of_some(np.min),
    "argmax": _of_some(np.argmax),
    "argmin": _of_some(np.argmin),
}
"""What a reduction does along its axis; nan is the extreme of what holds one."""

ROW_REDUCTIONS: Mapping[str, Reduction] = {f"row_{k}": r for k, r in REDUCTIONS.items()}
COLUMN_REDUCTIONS: Mapping[str, Reduction] = {f"col_{k}": r for k, r in REDUCTIONS.items()}
"""By the name of the op without its dialect."""
