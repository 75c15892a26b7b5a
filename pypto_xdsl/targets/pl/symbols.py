"""The symbols of a program: what its text calls the extents that are known at run time."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from xdsl.ir import Attribute

from pypto_xdsl.dialects.ptensor.types import is_tensor_type, symbolic_shape_of, tensor_of
from pypto_xdsl.targets.pl.names import Names


class SymbolName(str):
    """A symbol, or arithmetic on symbols, that stands in a text."""

    __slots__ = ()


class Symbols:
    """
    The symbols of a program and the variables of the module that hold them.

    A type may leave an extent, a stride or a valid extent open without naming it. The DSL has no
    word for that in a signature: there it gets a symbol of its own, whose name says that it is
    none (`UNNAMED`).
    """

    def __init__(self, names: Names, symbols: Iterable[str]):
        self._names = names
        self._variables: dict[str, str] = {}
        self._spelled: dict[str, str] = {}
        self._used: set[str] = set()
        self._unnamed = 0
        self._shared: str | None = None
        for name in sorted({name for symbol in symbols for name in names_in(symbol)}):
            self._variables[name] = names.legal(name)

    def spelled(self, symbol: str) -> str:
        """A symbol, or arithmetic on symbols, as an expression of their variables."""
        known = self._spelled.get(symbol)
        if known is None:
            tree = (
                ast.parse(symbol, mode="eval")
                if symbol not in self._variables
                else ast.Name(symbol)
            )
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and node.id in self._variables:
                    self._used.add(node.id)
                    node.id = self._variables[node.id]
            known = self._spelled[symbol] = ast.unparse(tree)
        return known

    def unknown(self, kind: str) -> str:
        """A new symbol for what a type leaves open."""
        self._unnamed += 1
        while f"_{self._unnamed}" in self._variables:
            self._unnamed += 1
        name = self._names.fresh(kind)
        self._variables[f"_{self._unnamed}"] = name
        self._used.add(f"_{self._unnamed}")
        return name

    def unnamed(self, names: Names) -> str:
        """A symbol for what a type in a function leaves open: one that says nothing but that."""
        if self._shared is None or not names.is_free(self._shared):
            self._shared = self.unknown("extent")
            while not names.is_free(self._shared):
                self._shared = self.unknown("extent")
        return self._shared

    def declarations(self) -> list[str]:
        """The lines that declare the symbols that the text has."""
        return sorted(
            f'{variable} = pl.dynamic("{symbol}")'
            for symbol, variable in self._variables.items()
            if symbol in self._used
        )

    def variables(self) -> Iterable[str]:
        """The variables that hold symbols."""
        return self._variables.values()


def symbols_in(type: Attribute) -> Iterator[str]:
    """The symbols of a type's extents."""
    if is_tensor_type(type):
        for extent in symbolic_shape_of(tensor_of(type)):
            if isinstance(extent, str):
                yield extent


def names_in(symbol: str) -> Iterator[str]:
    """The names in a symbol, which may be arithmetic on others."""
    if symbol.isidentifier():
        yield symbol
        return
    try:
        tree = ast.parse(symbol, mode="eval")
    except SyntaxError:
        yield symbol
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id != "pl":
            yield node.id
