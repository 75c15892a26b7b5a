"""
How far a run is, for who waits for it: which loops it is in, and how many tasks it launched.

Told once an iteration and once a launch, never once an op, so that a run that shows it takes no
longer.
"""

from __future__ import annotations

from typing import Protocol

from xdsl.ir import Operation


class Progress(Protocol):
    """Who is told."""

    def enter(self, loop: Operation, count: int) -> None:
        """A loop of so many iterations begins."""
        ...

    def advance(self) -> None:
        """The innermost loop has done one more."""
        ...

    def leave(self) -> None:
        """The innermost loop has ended, or an error leaves it."""
        ...

    def launch(self, op: Operation, name: str) -> None:
        """A call or a submit launches a function."""
        ...
