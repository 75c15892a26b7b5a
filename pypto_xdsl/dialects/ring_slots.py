"""How deep the rings between the cores of a group are, where nothing says it."""

from __future__ import annotations

BOTH_DIRECTIONS = 3
"""The `dir_mask` of a ring from cube to vector (1) and from vector to cube (2)."""


def default_slots(directions: int) -> int:
    """
    How many slots PTOAS gives each direction of a ring with this `dir_mask`: of its 16 flags, a
    ring of one direction has as many as one of two.
    """
    return 4 if directions == BOTH_DIRECTIONS else 8
