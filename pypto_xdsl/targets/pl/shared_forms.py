"""Calls of ops that the DSL has for tensors and for tiles alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.frontend.pl.vocabulary import spell
from pypto_xdsl.syntax.lists import Index
from pypto_xdsl.targets.pl.parts import (
    Parts,
    call,
    dtype_of,
    extent_item,
    keyword,
    listed,
    sized,
)
from pypto_xdsl.targets.pl.scalars import float_text

Form = Callable[[Any], Parts]
"""An op as a call."""


def set_validshape(level: str) -> Form:
    """Another valid region."""

    def form(op: Any) -> Parts:
        extents: Sequence[Index] = op.valid_extents
        arguments: list[Parts] = [[op.source]]
        if len(extents) != 2:
            raise OpError(op, "has no spelling in the DSL but for rows and columns")
        arguments += [extent_item(extent) for extent in extents]
        return call(f"{level}.set_validshape", *arguments)

    return form


def read(level: str) -> Form:
    """An element."""

    return lambda op: call(f"{level}.read", [op.source], listed(op.element))


def write(level: str) -> Form:
    """An element that is written."""

    return lambda op: call(f"{level}.write", [op.destination], listed(op.element), [op.value])


def fillpad_expand(level: str) -> Form:
    """A copy in a larger shape, the rest padded."""

    def form(op: Any) -> Parts:
        type = op.result.type
        shape = type.get_shape()
        pad = keyword("pad_value", spell("PadValue", op.pad_value.data))
        return call(f"{level}.fillpad_expand", [op.source], listed(shape), pad)

    return form


def generator(level: str) -> Form:
    """Consecutive integers."""

    def form(op: Any) -> Parts:
        type = op.result.type
        dtype = keyword("dtype", dtype_of(op, type.element_type))
        arguments: list[Parts] = [[op.start], listed(type.get_shape()), dtype]
        if op.descending.value.data:
            arguments.append(keyword("descending", "True"))
        return call(f"{level}.ci", *arguments)

    return form


def gather_row(level: str) -> Form:
    """A row that is gathered."""

    def form(op: Any) -> Parts:
        arguments: list[Parts] = [
            [op.destination],
            [op.source],
            listed(op.target_offsets),
            listed(op.window_offsets),
            listed(op.window),
        ]
        if op.valid_extents:
            arguments.append(["valid_shape=", *sized(op.valid_extents)])
        if op.transpose.value.data:
            arguments.append(keyword("transpose", "True"))
        return call(f"{level}.gather_row", *arguments)

    return form


def scatter_update(level: str) -> Form:
    """Rows that are replaced."""

    def form(op: Any) -> Parts:
        index = op.index if level == "tensor" else op.indices
        return call(f"{level}.scatter_update", [op.destination], ["-2"], [index], [op.source])

    return form


def merge_sort(level: str) -> Form:
    """Sorted lists, merged."""

    def form(op: Any) -> Parts:
        sources = [op.first, op.second, op.third, op.fourth]
        given: list[Parts] = [[source] for source in sources if source is not None]
        if level == "tile":
            given.append(["tmp=", op.tmp])
        if op.exhausted.value.data:
            given.append(keyword("exhausted", "True"))
        return call(f"{level}.mrgsort", *given)

    return form


def merge_sort_blocks(level: str) -> Form:
    """Sorted blocks of one list, merged."""

    return lambda op: call(f"{level}.mrgsort", [op.source], ["block_len=", op.block_len])


def fill_value(op: Operation, value: SSAValue) -> Parts:
    """What a tensor or tile is filled with. Raises `OpError` where that is not constant."""
    owner = value.owner
    match owner:
        case ConstantOp(value=IntegerAttr() as number):
            text = str(number.value.data)
        case ConstantOp(value=FloatAttr() as number):
            text = float_text(op, number.value.data)
        case _:
            raise OpError(op, "has no spelling in the DSL with a value known at run time")
    return keyword("value", text)
