"""
Whether two programs do the same: both are run on the same arguments, and what they leave behind
is compared.

    assert_same_run(before, after, "kernel", seeds=range(3))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.arguments import Argument, Arguments
from pypto_xdsl.interpreters.elements import Array
from pypto_xdsl.interpreters.run import (
    RunResult,
    TensorValue,
    find_function,
    random_arguments,
    run,
)


class Mismatch(AssertionError):
    """Two runs differ, or one of them failed."""


@dataclass(frozen=True)
class Tolerance:
    """How far apart floats may be: `|got - wanted| <= absolute + relative * |wanted|`."""

    relative: float = 0.0
    absolute: float = 0.0


EXACT = Tolerance()


def difference(got: TensorValue, wanted: TensorValue, tolerance: Tolerance = EXACT) -> str | None:
    """How two tensors differ, in words, or None. Undefined elements agree with each other only."""
    if got.element is not wanted.element:
        return f"holds {got.element.name}, expected {wanted.element.name}"
    if got.array.shape != wanted.array.shape:
        return f"has the shape {list(got.array.shape)}, expected {list(wanted.array.shape)}"
    shape = got.array.shape
    defined = np.ones(shape, np.bool_) if got.defined is None else got.defined
    other = np.ones(shape, np.bool_) if wanted.defined is None else wanted.defined
    if not np.array_equal(defined, other):
        place = tuple(int(i) for i in np.argwhere(defined != other)[0])
        words = ("undefined", "defined")
        count = int(np.count_nonzero(defined != other))
        return (
            f"is {words[int(defined[place])]} at {list(place)}, expected {words[int(other[place])]}"
            f"; {count} of {defined.size} elements differ so"
        )
    left, right = got.element.widen(got.array), wanted.element.widen(wanted.array)
    wrong = ~_close(left, right, tolerance) & defined
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    text = (
        f"differs in {np.count_nonzero(wrong)} of {wrong.size} elements; the first, at "
        f"{list(place)}, is {left[place]}, expected {right[place]}"
    )
    if got.element.is_float:
        with np.errstate(all="ignore"):
            distances = np.where(wrong, np.abs(left.astype(np.float64) - right), 0.0)
        if np.isfinite(distances).all():
            text += f"; the largest difference is {distances.max():.6g}"
    return text


def _close(left: Array, right: Array, tolerance: Tolerance) -> Array:
    equal = left == right
    if left.dtype.kind != "f":
        return equal
    with np.errstate(all="ignore"):
        wide, reference = left.astype(np.float64), right.astype(np.float64)
        allowed = tolerance.absolute + tolerance.relative * np.abs(reference)
        near = (np.abs(wide - reference) <= allowed) & np.isfinite(reference)
    return equal | near | (np.isnan(left) & np.isnan(right))


def compare_runs(
    got: RunResult,
    wanted: RunResult,
    tolerance: Tolerance = EXACT,
    *,
    order_of_results: bool = True,
) -> str | None:
    """
    How what two runs left behind differs, in words, or None.

    Without `order_of_results`, a result that names a parameter is compared as that parameter
    only: a pass may then put such results in another order, and give the function memory to work
    in, as last parameters.
    """
    count, before = len(got.parameter_names), len(wanted.parameter_names)
    if count < before or (count > before and order_of_results):
        return f"has {count} parameters, had {before}"
    # By position: a lowered function has lost the names.
    for new, name in zip(got.parameter_names, wanted.parameter_names, strict=False):
        if name not in wanted.tensors:
            continue
        if new not in got.tensors:
            return f"parameter '{name}' is no tensor any more"
        if (found := difference(got.tensors[new], wanted.tensors[name], tolerance)) is not None:
            return f"parameter '{name}' {found}"
    results, expected = list(got.returned), list(wanted.returned)
    if not order_of_results:
        results = _own(got)
        expected = _own(wanted)
    if len(results) != len(expected):
        return f"returns {len(results)} values, expected {len(expected)}"
    for place, (left, right) in enumerate(zip(results, expected, strict=True)):
        if isinstance(left, TensorValue) and isinstance(right, TensorValue):
            found = difference(left, right, tolerance)
        elif isinstance(left, TensorValue) or isinstance(right, TensorValue):
            found = "is of another kind"
        else:
            same = left == right or (left != left and right != right)
            found = None if same else f"is {left}, expected {right}"
        if found is not None:
            return f"result {place} {found}"
    return None


def _own(result: RunResult) -> list[TensorValue | int | float]:
    return [
        value
        for value, parameter in zip(result.returned, result.returned_parameters, strict=True)
        if parameter is None
    ]


def assert_same_run(
    before: ModuleOp,
    after: ModuleOp,
    function: str | None = None,
    seeds: Iterable[int] = range(3),
    *,
    tolerance: Tolerance = EXACT,
    extents: Mapping[str, int] | None = None,
    given: Mapping[str, Argument] | None = None,
    arguments: Sequence[Arguments] = (),
    order_of_results: bool | None = None,
    strict: bool = True,
) -> None:
    """
    Raise `Mismatch` unless a function does the same in both modules.

    It runs on random arguments, one set for each seed (`extents` and `given` as in
    `random_arguments`), and on the `arguments` given. Floats must be equal within `tolerance`.
    The order of results that name parameters counts, unless the function is a kernel or a
    wrapper, whose callers a pass may adapt; `order_of_results` says otherwise.
    """
    old = find_function(before, function)
    new = find_function(after, old.sym_name.data)
    ordered = not old.kind.data.is_device if order_of_results is None else order_of_results
    sets: list[tuple[str, Arguments]] = [
        (f"arguments of seed {seed}", random_arguments(old, seed, extents, given)) for seed in seeds
    ]
    sets.extend((f"argument set {place}", chosen) for place, chosen in enumerate(arguments))
    for words, chosen in sets:
        wanted = run(before, old, chosen, strict=strict)
        try:
            got = run(after, new, chosen, strict=strict)
        except DiagnosticsError as e:
            raise Mismatch(f"'{old.sym_name.data}' fails afterwards, on {words}: {e}") from e
        found = compare_runs(got, wanted, tolerance, order_of_results=ordered)
        if found is not None:
            raise Mismatch(f"'{old.sym_name.data}', on {words}: {found}")
