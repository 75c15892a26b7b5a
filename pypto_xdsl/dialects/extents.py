"""
What ops on tensors and on tiles ask of extents.

Extents are compared as they stand in the types: two run-time extents (`DYNAMIC_INDEX`) count as
compatible, a run-time extent and a constant do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.syntax.lists import Index

_ExtentT = TypeVar("_ExtentT", bound=int | str)


def verify_extents(
    keyword: str, listed: Sequence[Index], extents: Sequence[int], *, always: bool = False
) -> None:
    """
    Check the list that gives the run-time extents of a type: one entry a dimension, a value where
    the type says `?` and the type's constant elsewhere. A type without run-time extents has no
    list, unless it is `always` there.
    """
    if not listed and not always:
        if DYNAMIC_INDEX in extents:
            raise VerifyException(f"run-time extents need `{keyword} = [...]`")
        return
    if len(listed) != len(extents):
        raise VerifyException(f"{keyword} lists {len(listed)} extents, expected {len(extents)}")
    if not always and DYNAMIC_INDEX not in extents:
        raise VerifyException(f"{keyword} repeats extents that the type already says")
    for given, extent in zip(listed, extents, strict=True):
        if (DYNAMIC_INDEX if isinstance(given, SSAValue) else given) != extent:
            shown = "a value" if isinstance(given, SSAValue) else given
            wanted = "?" if extent == DYNAMIC_INDEX else extent
            raise VerifyException(f"{keyword} lists {shown} where the type says {wanted}")


def verify_window(
    what: str, offsets: Sequence[Index], window: Sequence[int], extents: Sequence[int]
) -> None:
    """Check that a window at constant offsets lies inside `what` it is taken from."""
    if len(offsets) != len(extents):
        raise VerifyException(f"expected {len(extents)} offsets into {what}, got {len(offsets)}")
    for offset, size, extent in zip(offsets, window, extents, strict=True):
        if isinstance(offset, SSAValue):
            continue
        if offset < 0:
            raise VerifyException(f"an offset of {offset} lies outside {what}")
        if DYNAMIC_INDEX not in (size, extent) and offset + size > extent:
            raise VerifyException(
                f"a window of {size} at {offset} lies outside an extent of {extent} of {what}"
            )


def broadcast_shapes(lhs: Sequence[_ExtentT], rhs: Sequence[_ExtentT]) -> tuple[_ExtentT, ...]:
    """
    The shape of an elementwise result, by numpy's rule: aligned at the last dimension, an extent
    of 1 stretches to the other one. A symbol is equal to itself only.
    """
    rank = max(len(lhs), len(rhs))
    one = cast(_ExtentT, 1)
    padded_lhs = [one] * (rank - len(lhs)) + list(lhs)
    padded_rhs = [one] * (rank - len(rhs)) + list(rhs)
    result: list[_ExtentT] = []
    for left, right in zip(padded_lhs, padded_rhs, strict=True):
        if left != right and 1 not in (left, right):
            raise VerifyException(f"shapes {list(lhs)} and {list(rhs)} do not broadcast")
        result.append(right if left == 1 else left)
    return tuple(result)
