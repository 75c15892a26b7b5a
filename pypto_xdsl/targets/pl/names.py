"""Names for values: the hints they carry, made unique and legal."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.targets.pl.scalars import NAN
from pypto_xdsl.targets.unique_names import UniqueNames

_NUMBERED = re.compile(r"(_\d+)+$")
_RESERVED = frozenset((*keyword.kwlist, "pl", "pld", "self", "float", "tuple", NAN))
"""What no value, function or symbol is called: Python's words, and what the text itself uses."""


class Names(UniqueNames):
    """Names of one scope: those of the values of a function, or of the functions of a program."""

    def __init__(self, taken: Iterable[str] = ()):
        self._kept = set(taken)
        """Names of what is around, which nothing local has."""
        super().__init__((*_RESERVED, *self._kept))
        self._of: dict[SSAValue, str] = {}

    def name(self, value: SSAValue) -> str:
        """The name of a value, a new one where it has none."""
        known = self._of.get(value)
        if known is None:
            known = self._of[value] = self.fresh(_hint(value))
        return known

    def known(self, value: SSAValue) -> str | None:
        """The name of a value that has one."""
        return self._of.get(value)

    def alias(self, value: SSAValue, name: str) -> None:
        """Let a value have a name that is there already."""
        self._of[value] = name

    def exact(self, value: SSAValue, name: str) -> str:
        """Give a value a name as it is, where nothing else has it."""
        if name.isidentifier() and name not in self._taken:
            self._taken.add(name)
            self._of[value] = name
        return self.name(value)

    def is_free(self, word: str) -> bool:
        """Whether nothing local has a name; from then on nothing will."""
        if word in self._taken and word not in self._kept:
            return False
        self._taken.add(word)
        self._kept.add(word)
        return True

    def legal(self, word: str) -> str:
        """A word as it is where it may be a name, and something near where not."""
        base = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in word)
        if not base or base[0].isdigit():
            base = f"_{base}"
        if base in self._taken:
            base = f"{base}_"
        return self.fresh(base)


def _hint(value: SSAValue) -> str:
    hint = value.name_hint
    # xDSL takes a number at the end of a name for its own, and drops it when it reads the name;
    # the reader drops underscores there.
    if hint is not None:
        base = _NUMBERED.sub("", hint).rstrip("_")
        if base.isidentifier() and base.isascii():
            return base
    match value.type:
        case TileType():
            return "tile"
        case TensorType():
            return "tensor"
        case _:
            return "v"
