"""
Lists in brackets: extents of a shape (`[8, ?]`) and indices that mix constants with values
(`[%i, 0]`). The second kind is MLIR's: a dense array in which `DYNAMIC_INDEX` marks the places
that the next dynamic operand fills.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import unpack
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, I64, DenseArrayBase
from xdsl.ir import SSAValue
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer


def parse_extents(parser: AttrParser) -> tuple[int, ...]:
    """Parse `[8, ?]`; a `?` is `DYNAMIC_INDEX`."""

    def extent() -> int:
        if parser.parse_optional_punctuation("?"):
            return DYNAMIC_INDEX
        return parser.parse_integer(allow_negative=False)

    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, extent))


def print_extents(printer: Printer, extents: Sequence[int]) -> None:
    """Print what `parse_extents` reads."""
    words = ("?" if extent == DYNAMIC_INDEX else str(extent) for extent in extents)
    printer.print_string(f"[{', '.join(words)}]")


def parse_indices(parser: Parser) -> tuple[tuple[int, ...], list[UnresolvedOperand]]:
    """Parse `[%i, 0, -1]` to the static places and the dynamic operands."""
    dynamic: list[UnresolvedOperand] = []

    def index() -> int:
        if (operand := parser.parse_optional_unresolved_operand()) is not None:
            dynamic.append(operand)
            return DYNAMIC_INDEX
        return parser.parse_integer(allow_boolean=False)

    static = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, index)
    return tuple(static), dynamic


def print_indices(printer: Printer, static: Sequence[int], dynamic: Sequence[SSAValue]) -> None:
    """Print what `parse_indices` reads."""
    remaining = iter(dynamic)
    printer.print_string("[")
    for place, index in enumerate(static):
        if place:
            printer.print_string(", ")
        if index == DYNAMIC_INDEX:
            printer.print_ssa_value(next(remaining))
        else:
            printer.print_string(str(index))
    printer.print_string("]")


_WIDTH = 8
"""The bytes of an `i64`."""
Index: TypeAlias = int | SSAValue
"""An index that is known, or a value of type `index`."""


def split_indices(indices: Sequence[Index]) -> tuple[tuple[int, ...], list[SSAValue]]:
    """The static places of a mixed list, `DYNAMIC_INDEX` where a value stands, and the values."""
    static: list[int] = []
    dynamic: list[SSAValue] = []
    for index in indices:
        if isinstance(index, int):
            static.append(index)
        else:
            static.append(DYNAMIC_INDEX)
            dynamic.append(index)
    return tuple(static), dynamic


def mixed_indices(static: DenseArrayBase[I64], dynamic: Sequence[SSAValue]) -> tuple[Index, ...]:
    """The mixed list that `split_indices` took apart."""
    data = static.data.data
    places = unpack(f"<{len(data) // _WIDTH}q", data)
    if not dynamic:
        return places
    remaining = iter(dynamic)
    return tuple(next(remaining) if index == DYNAMIC_INDEX else index for index in places)
