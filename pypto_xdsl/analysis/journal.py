"""A mapping of which changes can be taken back, for walks over the ways of a branch."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Journal(Generic[Key, Value]):
    """Values by key; work is linear in what is changed, not in what there is."""

    def __init__(self) -> None:
        self._values: dict[Key, Value] = {}
        self._log: list[tuple[Key, Value | None]] = []
        self._marks: list[int] = []

    def get(self, key: Key) -> Value | None:
        """The value of a key, None if there is none."""
        return self._values.get(key)

    def set(self, key: Key, value: Value) -> None:
        """Give a key a value."""
        if self._marks:
            self._log.append((key, self._values.get(key)))
        self._values[key] = value

    def kept(self) -> Iterator[Value]:
        """Every value that there is, or may come back."""
        yield from self._values.values()
        yield from (before for _, before in self._log if before is not None)

    def begin(self) -> None:
        """What is changed from now on may be taken back."""
        self._marks.append(len(self._log))

    def take_back(self) -> dict[Key, Value]:
        """Take back what was changed since the last `begin`; the values that it had."""
        changes: dict[Key, Value] = {}
        while len(self._log) > self._marks[-1]:
            key, before = self._log.pop()
            # The first that is taken back was set last.
            changes.setdefault(key, self._values[key])
            if before is None:
                del self._values[key]
            else:
                self._values[key] = before
        return changes

    def end(self) -> None:
        """What was changed since the last `begin` is taken back with what was before, if at all."""
        self._marks.pop()
        if not self._marks:
            self._log.clear()


__all__ = ["Journal"]
