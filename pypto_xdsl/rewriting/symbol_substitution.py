"""
Symbols of run-time extents in types, when the body of one function moves into another.

The scope of a symbol is its function. Where a callee's parameter says `N` and the argument `M`,
both are the same extent, and the callee's types say `M` in the caller. A symbol that stands for a
constant there, or for an extent without a symbol, gets a name of its own, so that it is mixed up
with none of the caller's; a type cast at the boundary says that the tensor is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from pypto_xdsl.analysis.walk import blocks_inside, walk
from pypto_xdsl.dialects.ptensor import (
    is_tensor_type,
    layout_of,
    pad_value_of,
    symbolic_shape_of,
    symbols_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.ptensor.types import explicit_strides_of


def symbols_in(op: Operation) -> set[str]:
    """The symbols that types inside an op mention."""
    found = set[str]()
    for value in _values(op):
        if is_tensor_type(value.type):
            found.update(symbol for symbol in symbols_of(value.type) if symbol is not None)
    return found


def unify(
    parameters: Sequence[Attribute], arguments: Sequence[Attribute], known: Iterable[str]
) -> dict[str, str]:
    """
    What each symbol of a callee, those of its parameters and those `known` from its body, is
    called where it is given `arguments`; itself where it keeps its name.
    """
    found: dict[str, str] = {}
    for parameter, argument in zip(parameters, arguments, strict=False):
        if is_tensor_type(parameter) and is_tensor_type(argument):
            for symbol, given in zip(symbols_of(parameter), symbols_of(argument), strict=False):
                if symbol is not None and given is not None:
                    found.setdefault(symbol, given)
    return {symbol: found.get(symbol, "") for symbol in sorted({*known, *found})}


@dataclass(frozen=True)
class Substitution:
    """New names for symbols."""

    names: Mapping[str, str]

    @property
    def is_identity(self) -> bool:
        """Whether nothing gets another name."""
        return all(old == new for old, new in self.names.items())

    def type(self, type: Attribute) -> Attribute:
        """A type with the new names."""
        if not is_tensor_type(type) or not any(s in self.names for s in symbols_of(type)):
            return type
        shape = [
            self.names.get(extent, extent) if isinstance(extent, str) else extent
            for extent in symbolic_shape_of(type)
        ]
        return tensor_type(
            shape,
            type.element_type,
            valid=valid_shape_of(type),
            strides=explicit_strides_of(type),
            layout=layout_of(type),
            pad=pad_value_of(type),
        )

    def apply(self, op: Operation) -> None:
        """Give the types of an op, and of all that is inside, the new names."""
        for value in list(_values(op)):
            if (new := self.type(value.type)) != value.type:
                Rewriter.replace_value_with_new_type(value, new)


def _values(op: Operation) -> Iterable[SSAValue]:
    """What an op and the ops inside define."""
    for inner in walk(op):
        yield from inner.results
        for block in blocks_inside(inner):
            yield from block.args
