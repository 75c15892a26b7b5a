"""
Instructions as functions of arrays.

What most instructions do to their tiles does not depend on what the tiles hold: they read some
regions, compute, and write one. Whoever knows what the regions hold need not ask the tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.interpreter import PythonValues

from pypto_xdsl.interpreters.elements import Array
from pypto_xdsl.interpreters.execution import Prepared

Region: TypeAlias = tuple[int, int]
"""Rows and columns at the origin of a tile, or those of the matrix that a view is."""


@dataclass(frozen=True)
class ArrayForm:
    """An instruction on certain operands: all elements it reads are defined, and all it writes."""

    reads: tuple[tuple[int, Region], ...]
    """The operands that are read, by their places among all, in the order of `compute`."""
    write: tuple[int, Region]
    """The operand that is written."""
    compute: Callable[..., Array] | None = None
    """Stored elements that are read to those that are written; None: they are the same."""
    scratch: tuple[int, ...] = ()
    """The operands that are used up."""


Form: TypeAlias = Callable[[PythonValues], ArrayForm | None]
"""The form on some operands; None where what is done depends on elements."""

_FORM = "array_form"


def with_form(run: Prepared, form: Form) -> Prepared:
    """Say what form an instruction has that is prepared."""
    setattr(run, _FORM, form)
    return run


def form_of(run: Any) -> Form | None:
    """What form a prepared instruction has, if it was said."""
    return getattr(run, _FORM, None)
