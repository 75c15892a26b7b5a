"""The arguments of a call in the DSL, evaluated, and bound to the parameters of what is called."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, SSAValue

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects.ptensor.types import is_tensor_type
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.context import Context, as_tuple, symbol_at
from pypto_xdsl.frontend.pl.static_values import DType
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Typed,
    Value,
    describe_value,
    fits_index,
    is_literal,
    is_tensor,
    is_tile,
    is_value,
)
from pypto_xdsl.frontend.pl.vocabulary import EnumWord
from pypto_xdsl.syntax.lists import Index
from pypto_xdsl.syntax.spelling import did_you_mean


@dataclass(slots=True)
class Arguments:
    """Evaluated arguments with the nodes they came from."""

    context: Context
    node: ast.Call
    what: str
    """How to name the callee in errors."""
    positional: list[tuple[Value, ast.expr]] = field(default_factory=list[tuple[Value, ast.expr]])
    keywords: dict[str, tuple[Value, ast.expr]] = field(
        default_factory=dict[str, tuple[Value, ast.expr]]
    )

    def operands(self) -> list[Value]:
        """All values, in the order of the text."""
        return [value for value, _ in (*self.positional, *self.keywords.values())]

    def placed(self, names: Sequence[str]) -> Arguments:
        """The same arguments, those that keywords give to the first parameters at their places."""
        if not self.keywords or self.keywords.keys().isdisjoint(names):
            return self
        positional, keywords = [*self.positional], {**self.keywords}
        for name in names[: len(positional)]:
            if name in keywords:
                raise self.context.error(keywords[name][1], f"{self.what} is given '{name}' twice")
        for name in names[len(positional) :]:
            if name not in keywords:
                break
            positional.append(keywords.pop(name))
        return Arguments(self.context, self.node, self.what, positional, keywords)

    def bind(self, parameters: str) -> Bound:
        """
        Bind to parameters, written like `"tensor offsets shapes valid_shape? *clamp?"`: `?` marks
        an optional one, `*` one that is given by keyword only.
        """
        names, required, positional = _parse_parameters(parameters)
        bound: dict[str, tuple[Value, ast.expr]] = {}
        if len(self.positional) > positional:
            raise self.context.error(
                self.positional[positional][1],
                f"{self.what} takes {positional} positional arguments, got {len(self.positional)}",
            )
        for name, argument in zip(names, self.positional, strict=False):
            bound[name] = argument
        for name, argument in self.keywords.items():
            if name not in names:
                known = did_you_mean(name, names)
                raise self.context.error(
                    argument[1], f"{self.what} has no argument '{name}'{known}"
                )
            if name in bound:
                raise self.context.error(argument[1], f"{self.what} is given '{name}' twice")
            bound[name] = argument
        for name in required:
            if name not in bound:
                raise self.context.error(self.node, f"{self.what} needs an argument '{name}'")
        return Bound(self.context, self.node, self.what, bound)


@cache
def _parse_parameters(text: str) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    names: list[str] = []
    required: list[str] = []
    positional = 0
    for word in text.split():
        name = word.strip("*?")
        names.append(name)
        if not word.startswith("*"):
            positional += 1
        if not word.endswith("?"):
            required.append(name)
    return tuple(names), tuple(required), positional


_SHAPES = ("shape", "shapes", "valid_shape")
"""The parameters that list extents, not places."""


@dataclass(slots=True)
class Bound:
    """Arguments by the names of their parameters."""

    context: Context
    node: ast.Call
    what: str
    arguments: dict[str, tuple[Value, ast.expr]]

    def has(self, name: str) -> bool:
        """Whether an argument is given and not None."""
        return name in self.arguments and self.arguments[name][0] is not None

    def get(self, name: str) -> Value:
        """An argument, None if it is not given."""
        return self.arguments[name][0] if name in self.arguments else None

    def node_of(self, name: str) -> ast.expr:
        """The node of an argument, that of the call if it is not given."""
        return self.arguments[name][1] if name in self.arguments else self.node

    def error(self, name: str, message: str) -> DiagnosticsError:
        """An error at an argument, to be raised."""
        return self.context.error(self.node_of(name), f"{self.what}: {message}")

    def tensor(self, name: str) -> SSAValue:
        value = self.get(name)
        if not is_tensor(value):
            raise self.error(name, f"'{name}' should be a tensor, got {describe_value(value)}")
        assert is_value(value)
        return value

    def tile(self, name: str) -> SSAValue:
        value = self.get(name)
        if not is_tile(value):
            raise self.error(name, f"'{name}' should be a tile, got {describe_value(value)}")
        assert is_value(value)
        return value

    def tensor_type(self, name: str) -> TensorType[Attribute]:
        type = self.tensor(name).type
        assert is_tensor_type(type)
        return type

    def tile_type(self, name: str) -> TileType:
        return TileType.of(self.tile(name).type)

    def scalar(self, name: str, type: Attribute | None = None) -> SSAValue:
        """A scalar; a literal takes the given type."""
        return self.context.materialize(self.get(name), self.node_of(name), type)

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer known at compile time."""
        if name not in self.arguments and default is not None:
            return default
        value = self.get(name)
        if isinstance(value, EnumWord) and isinstance(value.value, int):
            return value.value
        return self.context.static_int(value, self.node_of(name), f"{self.what}: '{name}'")

    def boolean(self, name: str, default: bool = False) -> bool:
        """A truth value known at compile time."""
        if name not in self.arguments:
            return default
        value = self.get(name)
        if not isinstance(value, bool):
            raise self.error(name, f"'{name}' must be True or False, got {describe_value(value)}")
        return bool(value)

    def dtype(self, name: str) -> Attribute:
        """A dtype."""
        value = self.get(name)
        if not isinstance(value, DType):
            raise self.error(name, f"'{name}' must be a dtype, got {describe_value(value)}")
        assert isinstance(value, DType)
        return value.type

    def word(self, name: str, kind: type[Any], default: Any = None) -> Any:
        """A word of an enum."""
        if not self.has(name):
            return default
        value = self.get(name)
        if isinstance(value, EnumWord) and isinstance(value.value, kind):
            return value.value
        if isinstance(value, EnumWord):
            raise self.error(name, f"'{name}' is not supported as {value}")
        raise self.error(name, f"'{name}' has no meaning as {describe_value(value)}")

    def extents(self, name: str, *, inferred: bool = False) -> list[Value]:
        """
        A list of extents or indices: ints, symbols, run-time values. `inferred` lets -1 stand for
        an extent that follows from the others.
        """
        value = self.get(name)
        elements: Sequence[Value] | None = as_tuple(value)
        if elements is None:
            if is_literal(value) or isinstance(value, SSAValue | Typed):
                elements = [value]
            else:
                raise self.error(name, f"'{name}' should be a list, got {describe_value(value)}")
        node = self.node_of(name)
        nodes = node.elts if isinstance(node, ast.List | ast.Tuple) else [node] * len(elements)
        if len(nodes) != len(elements):
            nodes = [node] * len(elements)
        found = [
            self._extent(element, inner) for element, inner in zip(elements, nodes, strict=True)
        ]
        if name in _SHAPES:
            for extent, inner in zip(found, nodes, strict=True):
                if isinstance(extent, int) and extent < 0 and not (inferred and extent == -1):
                    raise self.context.error(
                        inner, f"{self.what}: an extent is not negative, got {extent}"
                    )
        return found

    def _extent(self, value: Value, node: ast.expr) -> Value:
        if is_value(value):
            return value if symbol_at(value) else self.context.as_index(value, node)
        if isinstance(value, Typed):
            if self.context.strict_ssa:
                # A number that the program computes, whatever it is.
                return self.context.as_index(value, node)
            value = value.value
        if isinstance(value, (bool, float)):
            raise self.context.error(node, f"{self.what}: expected an index, got {value}")
        if isinstance(value, int):
            if not fits_index(value):
                raise self.context.error(node, f"{self.what}: {value} is out of reach")
            return value
        if isinstance(value, Tuple):
            raise self.context.error(node, f"{self.what}: expected an index, got a list")
        return value if symbol_at(value) else self.context.as_index(value, node)

    def indices(self, name: str) -> list[Index]:
        """A list of indices: ints and index values."""
        return to_indices(self.context, self.extents(name), self.node_of(name))


def to_indices(context: Context, extents: Sequence[Value], node: ast.expr) -> list[Index]:
    """Extents as indices: ints and index values."""
    return [e if isinstance(e, int) else context.as_index(e, node) for e in extents]


def run_time_extents(context: Context, extents: Sequence[Value], node: ast.expr) -> Sequence[Index]:
    """The list that an op with a result of these extents takes: empty if all are constant."""
    if all(isinstance(extent, int) for extent in extents):
        return ()
    return to_indices(context, extents, node)


def static_extents(extents: Sequence[Value]) -> list[int]:
    """Extents as types store them: `DYNAMIC_INDEX` for what is known at run time only."""
    return [extent if isinstance(extent, int) else DYNAMIC_INDEX for extent in extents]


def symbolic_extents(extents: Sequence[Value]) -> list[int | str]:
    """Extents as tensor types store them: with the symbols of those that have one."""
    return [
        extent if isinstance(extent, int) else symbol_at(extent) or DYNAMIC_INDEX
        for extent in extents
    ]
