"""Places in a source file as location attributes."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr


class FileLocations:
    """The location attributes of one file."""

    def __init__(self, name: str):
        """`name` is what the file is called in them."""
        self._file = StringAttr(name)
        self._numbers: dict[int, IntAttr] = {}

    def at(self, line: int, column: int) -> FileLineColLoc:
        """
        The location of a line and column, both counted from 1.

        It is built without the verifier, which has nothing to find here and would cost more than
        all the rest.
        """
        numbers = self._numbers
        location = FileLineColLoc.__new__(FileLineColLoc)
        set_field = object.__setattr__
        set_field(location, "filename", self._file)
        set_field(location, "line", numbers.get(line) or numbers.setdefault(line, IntAttr(line)))
        set_field(
            location, "column", numbers.get(column) or numbers.setdefault(column, IntAttr(column))
        )
        return location
