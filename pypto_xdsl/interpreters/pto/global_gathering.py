"""
How rows and elements of global memory are gathered and scattered by an index.

An element's index counts from the start of the view, whatever its strides; a row's counts rows.
An index out of bounds is an error, unless the op says what becomes of it: indices count as
unsigned, so that -1 is far behind the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import enumerations as words
from pypto_xdsl.interpreters.blocks import full_mask
from pypto_xdsl.interpreters.elements import Array, Element, Mask
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.gathering import bounded, unsigned
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.pto.globals import GlobalView
from pypto_xdsl.interpreters.pto.memory import LocalTile
from pypto_xdsl.interpreters.pto.operands import named

Places: TypeAlias = npt.NDArray[np.int64]


def _indices(interpreter: Interpreter, op: Any, indices: Any, region: tuple[int, int]) -> Places:
    """The indices of a tile, or of a window of global memory, as a matrix of a region."""
    if isinstance(indices, LocalTile) and region[0] == 1:
        # A list of rows lies along a row, or down a column.
        extents = (region[1], 1) if indices.type.get_shape()[1] == 1 else region
        stored, defined = indices.read(extents)
    else:
        stored, defined = indices.read(region)
    machine_of(interpreter).require_defined(op, defined)
    return unsigned(stored.reshape(region))


def _in_bounds(op: Any, property_name: str, places: Places, count: int) -> tuple[Places, Mask]:
    """The indices that are used instead of these, and which are used at all."""
    policy: Any = op.properties.get(property_name)
    word = "undefined" if policy is None else policy.data.value
    return bounded(places, count, word, "rows" if _by_row(op) else "elements")


def _by_row(op: Any) -> bool:
    coalesce: Any = op.properties.get("coalesce")
    return coalesce is not None and coalesce.data is words.Coalesce.ROW


def _row(view: GlobalView, row: int, columns: int) -> GlobalView:
    """A row of the last two dimensions; there are no others."""
    rank = len(view.shape)
    offsets = [0] * (rank - 2) + [row, 0]
    return view.part(offsets, (*([1] * (rank - 1)), columns))


def _expect_matrix(view: GlobalView) -> int:
    """The rows of a view that is a matrix."""
    if view.axes is not None:
        raise ProgramError("takes rows of a tensor that lies box by box or by columns")
    if len(view.shape) < 2 or any(extent != 1 for extent in view.shape[:-2]):
        raise ProgramError(f"takes rows of a tensor of {list(view.shape)}, which is no matrix")
    return view.shape[-2]


def _elements(view: GlobalView) -> GlobalView:
    """The elements from the first one on, as many as the view has."""
    count = int(np.prod(view.shape))
    return replace(view, shape=(count,), strides=(1,), axes=None)


def _runs(places: Places) -> Iterator[tuple[int, int]]:
    """Start and length of each stretch of neighbours among sorted places."""
    if not places.size:
        return
    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    for stretch in np.split(places, breaks):
        yield int(stretch[0]), len(stretch)


def _gather_elements(view: GlobalView, places: Places) -> tuple[Array, Mask]:
    flat = _elements(view)
    unique, inverse = np.unique(places, return_inverse=True)
    values = np.zeros(unique.shape, view.pointer.element.storage)
    known = np.ones(unique.shape, np.bool_)
    at = 0
    for start, length in _runs(unique):
        stored, defined = flat.part([start], (length,)).read((1, length))
        values[at : at + length] = stored[0]
        known[at : at + length] = full_mask(defined, (1, length))[0]
        at += length
    inverse = inverse.reshape(places.shape)
    return values[inverse], known[inverse]


def _gather_rows(view: GlobalView, rows: Places, columns: int) -> tuple[Array, Mask]:
    values = np.zeros((len(rows), columns), view.pointer.element.storage)
    known = np.ones(values.shape, np.bool_)
    for place, row in enumerate(rows):
        stored, defined = _row(view, int(row), columns).read((1, columns))
        values[place] = stored[0]
        known[place] = full_mask(defined, (1, columns))[0]
    return values, known


_COMBINATIONS: Mapping[words.ScatterAtomicOp, Callable[[Array, Array], Array]] = {
    words.ScatterAtomicOp.ADD: np.add,
    words.ScatterAtomicOp.MAX: np.maximum,
    words.ScatterAtomicOp.MIN: np.minimum,
}


def _write_run(
    interpreter: Interpreter, op: Any, part: GlobalView, stored: Array, element: Element
) -> None:
    """Write a row, or combine it with what is there."""
    atomic: Any = op.properties.get("scatterAtomicOp")
    if atomic is not None:
        before, defined = part.read((1, stored.shape[1]))
        machine_of(interpreter).require_defined(op, defined, "combines with undefined elements")
        combine = _COMBINATIONS[atomic.data]
        stored = np.asarray(element.narrow(combine(element.widen(before), element.widen(stored))))
    part.write(stored, None)


def _scatter_elements(
    interpreter: Interpreter, op: Any, view: GlobalView, places: Places, stored: Array
) -> None:
    """In the order of the source; of several at one place the last stays, or all combine."""
    flat = _elements(view)
    element = view.pointer.element
    order = np.argsort(places, kind="stable")
    ordered, values = places[order], stored[order]
    # The k-th write of each place is in round k, which touches no place twice.
    first = np.r_[True, np.diff(ordered) != 0] if ordered.size else np.zeros(0, np.bool_)
    since = np.arange(len(ordered)) - np.maximum.accumulate(
        np.where(first, np.arange(len(ordered)), 0)
    )
    atomic = op.properties.get("scatterAtomicOp") is not None
    if not atomic:
        # Only the last write of each place shows.
        last = np.r_[first[1:], True] if ordered.size else first
        ordered, values, since = ordered[last], values[last], np.zeros(int(last.sum()), np.int64)
    for turn in range(int(since.max(initial=-1)) + 1):
        here, what = ordered[since == turn], values[since == turn]
        at = 0
        for start, length in _runs(here):
            part = flat.part([start], (length,))
            _write_run(interpreter, op, part, what[None, at : at + length], element)
            at += length


@register_impls
class PtoGlobalGatherFunctions(InterpreterFunctions):
    @impl(pto.MGatherOp)
    def run_mgather(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        view: GlobalView = operands["mem"]
        destination: LocalTile = operands["dst"]
        rows, columns = destination.valid
        if _by_row(op):
            found = _indices(interpreter, op, operands["idx"], (1, rows))[0]
            places, used = _in_bounds(op, "gatherOob", found, _expect_matrix(view))
            values, known = _gather_rows(view, places, columns)
            used = np.broadcast_to(used[:, None], values.shape)
        else:
            found = _indices(interpreter, op, operands["idx"], (rows, columns))
            count = int(np.prod(view.shape))
            places, used = _in_bounds(op, "gatherOob", found, count)
            values, known = _gather_elements(view, places)
            if "scratch" in operands:
                _spoil_global(operands["scratch"])
        values = np.where(used, values, np.zeros((), values.dtype))
        known = known | ~used
        destination.write(values, None if known.all() else known)
        return ()

    @impl(pto.MScatterOp)
    def run_mscatter(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        view: GlobalView = operands["mem"]
        source: LocalTile = operands["src"]
        stored, defined = source.read()
        machine_of(interpreter).require_defined(op, defined, "stores undefined elements")
        rows, columns = stored.shape
        element = view.pointer.element
        if _by_row(op):
            found = _indices(interpreter, op, operands["idx"], (1, rows))[0]
            places, used = _in_bounds(op, "scatterOob", found, _expect_matrix(view))
            # What a tile holds may be a window of what is written, row by row.
            stored = stored.copy()
            for place in np.flatnonzero(used):
                part = _row(view, int(places[place]), columns)
                _write_run(interpreter, op, part, stored[None, place], element)
        else:
            found = _indices(interpreter, op, operands["idx"], (rows, columns))
            count = int(np.prod(view.shape))
            places, used = _in_bounds(op, "scatterOob", found, count)
            _scatter_elements(interpreter, op, view, places[used], stored[used])
        return ()


def _spoil_global(view: GlobalView) -> None:
    """What is left of scratch in global memory means nothing."""
    count = int(np.prod(view.shape))
    poison = view.pointer.element.poison((1, count))
    view.write(poison, np.zeros((1, count), np.bool_))
