"""
What ops on tensors and on tiles ask of extents.

Extents are compared as they stand in the types: two run-time extents (`DYNAMIC_INDEX`) count as
compatible, a run-time extent and a constant do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TypeVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ShapedType, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.syntax.lists import Index

_ExtentT = TypeVar("_ExtentT", bound=int | str)


def has_run_time_extents(type: Attribute) -> bool:
    """Whether only the run knows the shape, or the valid region, of a tensor or tile."""
    if not isinstance(type, ShapedType):
        return False
    if DYNAMIC_INDEX in type.get_shape():
        return True
    if isinstance(type, TensorType):
        from pypto_xdsl.dialects.ptensor.types import valid_shape_of

        return DYNAMIC_INDEX in valid_shape_of(cast(TensorType[Attribute], type))
    from pypto_xdsl.dialects.tile.types import TileType

    return isinstance(type, TileType) and DYNAMIC_INDEX in type.valid_shape


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


def reshape_valid(
    shape: Sequence[int], valid: Sequence[int], new_shape: Sequence[int]
) -> tuple[int, ...]:
    """
    The valid region after a row-by-row reshape; it holds the same elements.

    Raises `VerifyException` where those are no rectangle in the new shape: 20 leading elements of
    a `[8, 16]` are none in it.
    """
    shape, valid, new_shape = tuple(shape), tuple(valid), tuple(new_shape)
    if valid == shape:
        return new_shape
    if 0 in valid:
        return (0, *new_shape[1:])
    found: list[int] = []
    for old, new in _groups(shape, new_shape):
        part = _reshape_group(shape[old], valid[old], new_shape[new])
        if part is None:
            raise VerifyException(
                f"the valid region {_shown(valid)} of {_shown(shape)} is no rectangle in "
                f"{_shown(new_shape)}"
            )
        found += part
    return tuple(found)


def _groups(shape: tuple[int, ...], new_shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """
    The dimensions of two shapes that correspond, in the smallest groups of equal numbers of
    elements; all of them, where run-time extents differ.
    """
    old = new = 0
    while old < len(shape) and new < len(new_shape):
        old_end, new_end = old + 1, new + 1
        sizes = [shape[old], new_shape[new]]
        while sizes[0] != sizes[1]:
            known = DYNAMIC_INDEX not in sizes
            if known and sizes[0] < sizes[1] and old_end < len(shape):
                sizes[0] *= shape[old_end]
                old_end += 1
            elif known and sizes[1] < sizes[0] and new_end < len(new_shape):
                sizes[1] *= new_shape[new_end]
                new_end += 1
            else:
                old_end, new_end = len(shape), len(new_shape)
                break
        # What is left at the end has one element.
        if old_end == len(shape) or new_end == len(new_shape):
            old_end, new_end = len(shape), len(new_shape)
        yield slice(old, old_end), slice(new, new_end)
        old, new = old_end, new_end


def _reshape_group(
    shape: tuple[int, ...], valid: tuple[int, ...], new_shape: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The valid region of a group of dimensions; None: it is no rectangle."""
    if valid == shape:
        return new_shape
    squeezed = [
        inner for outer, inner in zip(shape, valid, strict=True) if (outer, inner) != (1, 1)
    ]
    large = [extent for extent in new_shape if extent != 1]
    if [extent for extent in shape if extent != 1] == large and len(squeezed) == len(large):
        remaining = iter(squeezed)
        return tuple(1 if extent == 1 else next(remaining) for extent in new_shape)
    prefix = _prefix(shape, valid)
    if prefix is None or DYNAMIC_INDEX in new_shape:
        return None
    count, unit = prefix
    for place, extent in enumerate(new_shape):
        step = prod(new_shape[place + 1 :])
        region = (*(1,) * place, count if count == DYNAMIC_INDEX else count // step)
        if count == DYNAMIC_INDEX:
            if unit % step == 0:
                return (*region, *new_shape[place + 1 :])
            if extent != 1:
                return None
        elif count >= step:
            return None if count % step else (*region, *new_shape[place + 1 :])
    return None


def _prefix(shape: tuple[int, ...], valid: tuple[int, ...]) -> tuple[int, int] | None:
    """
    How many leading elements are valid, and of how many that is a multiple, if the valid ones lead.
    """
    if DYNAMIC_INDEX in shape:
        return None
    for place, inner in enumerate(valid):
        if inner == 1 and valid[place + 1 :] != shape[place + 1 :]:
            continue
        if valid[place + 1 :] != shape[place + 1 :]:
            return None
        unit = prod(shape[place + 1 :])
        return (DYNAMIC_INDEX if inner == DYNAMIC_INDEX else inner * unit), unit
    return 1, 1


def _shown(extents: Sequence[int]) -> str:
    return f"[{', '.join('?' if e == DYNAMIC_INDEX else str(e) for e in extents)}]"
