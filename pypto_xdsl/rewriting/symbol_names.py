"""Names for functions that a pass makes, free in the whole program."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation


class SymbolNames:
    """The names of the symbols of one symbol table, and free ones beside them."""

    def __init__(self, symbols: Iterable[Operation]):
        self._taken = set[str]()
        self._next: dict[str, int] = {}
        """The next number to try after a name."""
        for symbol in symbols:
            name = symbol.get_attr_or_prop("sym_name")
            if isinstance(name, StringAttr):
                self._taken.add(name.data)

    def take(self, wanted: str, parent: str, siblings: set[str]) -> str:
        """
        A free name for something made out of the function `parent`, as `wanted` as possible;
        it is taken from now on, and added to `siblings`, the names made out of the same function.

        Among siblings the second gets a number. A name taken elsewhere is put under the parent's:
        `single_b_scope`.
        """
        name = wanted
        if name in self._taken and name not in siblings:
            name = f"{parent}_{wanted}"
        if name in self._taken:
            name = self._numbered(name)
        self._taken.add(name)
        siblings.add(name)
        return name

    def _numbered(self, base: str) -> str:
        number = self._next.get(base, 0)
        while f"{base}_{number}" in self._taken:
            number += 1
        self._next[base] = number + 1
        return f"{base}_{number}"
