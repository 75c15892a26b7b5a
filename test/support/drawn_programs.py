"""The text of a program while hypothesis draws it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st


@dataclass
class DrawnProgram:
    """Lines that are drawn one after the other, and names for what they define."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list[str], kw_only=True)
    count: int = field(default=0, kw_only=True)
    """How many names there are."""

    def name(self, hint: str = "v") -> str:
        """A name that no other value has."""
        self.count += 1
        return f"%{hint}{self.count}"

    def put(self, depth: int, text: str) -> None:
        """Add a line in so many blocks."""
        self.lines.append("  " * depth + text)
