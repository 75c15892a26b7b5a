"""Names in text that is written, each given once."""

from __future__ import annotations

from collections.abc import Iterable


class UniqueNames:
    """The names of a scope, those among them that the language has taken."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def fresh(self, base: str) -> str:
        """A name that nothing has yet."""
        name = base
        while name in self._taken:
            number = self._next[base] = self._next.get(base, 0) + 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name
