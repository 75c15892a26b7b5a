"""Lines of C++, with places kept open for lines that turn out to be needed there later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

INDENT = "    "


class Text:
    """Lines at one depth, and texts at any depth between them."""

    def __init__(self, depth: int = 0):
        self.depth = depth
        self._chunks: list[str | Text] = []

    def line(self, text: str = "") -> None:
        """Add a line."""
        self._chunks.append(f"{INDENT * self.depth}{text}\n" if text else "\n")

    def comment(self, text: str) -> None:
        """Add a comment, which stays one line whatever names it tells of."""
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
        # C++ joins a line that ends in a backslash with the next one.
        self.line(f"// {shown}{'.' if shown.endswith(chr(92)) else ''}")

    def place(self, depth: int | None = None) -> Text:
        """A text that stands here, to be filled at any time; as deep as this one by default."""
        inner = Text(self.depth if depth is None else depth)
        self._chunks.append(inner)
        return inner

    def insert(self, text: Text) -> None:
        """Let a text that was written elsewhere stand here."""
        self._chunks.append(text)

    @property
    def is_empty(self) -> bool:
        """Whether no line was written so far."""
        return next(self._lines(), None) is None

    def write(self, output: IO[str]) -> None:
        """Write all lines."""
        output.writelines(self._lines())

    def _lines(self) -> Iterator[str]:
        todo: list[Iterator[str | Text]] = [iter(self._chunks)]
        while todo:
            chunk = next(todo[-1], None)
            if chunk is None:
                todo.pop()
            elif isinstance(chunk, str):
                yield chunk
            else:
                todo.append(iter(chunk._chunks))
