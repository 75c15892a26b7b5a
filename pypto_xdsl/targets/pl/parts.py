"""Pieces of calls: lists, shapes, keywords."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.ptensor.types import symbolic_shape_of, tensor_of
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.vocabulary import DTYPE_NAMES
from pypto_xdsl.syntax.lists import Index
from pypto_xdsl.targets.pl.scalars import Part, number_of
from pypto_xdsl.targets.pl.symbols import SymbolName

Parts = list[Part]


def listed(indices: Sequence[Index | str]) -> Parts:
    """A list of indices, or of extents, of which symbols are strings."""
    parts: Parts = ["["]
    for place, index in enumerate(indices):
        if place:
            parts.append(", ")
        parts += item(index)
    return [*parts, "]"]


def item(index: Index | str) -> Parts:
    """An index, or an extent, of which symbols are strings."""
    if isinstance(index, str):
        return [SymbolName(index)]
    return [index if isinstance(index, SSAValue) else str(index)]


def call(name: str, *arguments: Parts) -> Parts:
    """A call of `pl.<name>`."""
    parts: Parts = [f"pl.{name}("]
    for place, argument in enumerate(arguments):
        if place:
            parts.append(", ")
        parts += argument
    return [*parts, ")"]


def quoted(text: str) -> str:
    """A text as a literal of Python."""
    is_plain = text.isascii() and text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text}"' if is_plain else repr(text)


def keyword(name: str, text: str) -> Parts:
    """A keyword argument."""
    return [f"{name}={text}"]


def shape_of(op: Operation, type: TileType) -> Parts:
    """The extents of a tile. Raises `OpError` where they are not constant."""
    if DYNAMIC_INDEX in type.get_shape():
        raise OpError(op, f"has no spelling in the DSL: the shape of {type} is not constant")
    return listed(type.get_shape())


def extents_of(type: Attribute, sizes: Sequence[Index]) -> Parts:
    """The extents of a tensor's type, with the values of those known at run time."""
    return sized(sizes) if sizes else listed(symbolic_shape_of(tensor_of(type)))


def sized(extents: Sequence[Index]) -> Parts:
    """
    A list of extents that a type depends on: a constant that an op computes says its type, so that
    it is not taken for one that the type knows.
    """
    parts: Parts = ["["]
    for place, extent in enumerate(extents):
        parts += [", " if place else "", *extent_item(extent)]
    return [*parts, "]"]


def extent_item(extent: Index) -> Parts:
    """One such extent."""
    owner = extent.owner if isinstance(extent, SSAValue) else None
    number = number_of(owner) if isinstance(owner, Operation) else None
    if number is None or not isinstance(owner, Operation):
        return item(extent)
    return [number.text(owner, typed=True)]


def dtype_of(op: Operation, type: Attribute) -> str:
    """The word for an element type. Raises `OpError` where there is none."""
    name = DTYPE_NAMES.get(type)
    if name is None:
        raise OpError(op, f"has a type that the DSL has no word for: {type}")
    return f"pl.{name}"
