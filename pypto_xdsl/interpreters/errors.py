"""What goes wrong while a program runs; the interpreter says at which op."""

from __future__ import annotations


class ProgramError(Exception):
    """The program does what is not allowed. The message reads after `'tile.load' op`."""
