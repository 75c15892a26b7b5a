"""
What is wrong, where, and how it prints: `file:line:col: error: 'tile.add' op message`.

* A `Diagnostic` is an error, a warning or a remark, with notes. `diagnose(op, message)` makes
  one at an op, `diagnose_at(location, message)` at any location, `note(op, message)` a note.
* A pass, a frontend or a verifier that cannot go on raises `OpError(op, message, notes)`, or
  `DiagnosticsError(diagnostics)` for several errors at once.
* Whoever only wants to tell something calls `warn(op, message)` or `remark(op, message)`. They
  go to the handler of the run (`handling`); with none, as under plain `xdsl-opt`, to stderr.
* `collecting()` gathers what is reported, for tools and tests.

Messages follow MLIR: `'op.name' op ...`, lower case, no full stop, what was found and what was
wanted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from io import StringIO
from typing import Literal

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    UnregisteredOp,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException

Severity = Literal["error", "warning", "remark"]

UNKNOWN_FILE = "<unknown>"
"""The file of a diagnostic about something that carries no location, as MLIR prints it."""


@dataclass(frozen=True)
class Note:
    """More about a diagnostic: another place that it speaks of, or what to do about it."""

    message: str
    file: str = UNKNOWN_FILE
    line: int = 0
    """Counts from 1; 0 if unknown."""
    column: int = 0
    """Counts from 1, in characters; 0 if unknown."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: note: {self.message}"


@dataclass(frozen=True)
class Diagnostic:
    """One thing to tell about a program, at one place of its source."""

    message: str
    """One line; a message of several is joined into one."""
    file: str = UNKNOWN_FILE
    line: int = 0
    """Counts from 1; 0 if unknown."""
    column: int = 0
    """Counts from 1, in characters; 0 if unknown."""
    severity: Severity = "error"
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        # xDSL breaks the line before the reason: "operand at position 0 does not verify:\n...".
        if "\n" in self.message:
            object.__setattr__(self, "message", " ".join(self.message.split()))

    @property
    def is_error(self) -> bool:
        """Warnings and remarks never make a run fail."""
        return self.severity == "error"

    def with_notes(self, *notes: Note) -> Diagnostic:
        """The same diagnostic with more notes at its end."""
        return replace(self, notes=(*self.notes, *notes))

    def note(self, message: str) -> Note:
        """A note at the place of this diagnostic."""
        return Note(message, self.file, self.line, self.column)

    def __str__(self) -> str:
        head = f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message}"
        return "\n".join((head, *map(str, self.notes)))


class DiagnosticsError(DiagnosticException):
    """The program is wrong; `diagnostics` says everything that was found."""

    def __init__(self, diagnostics: Iterable[Diagnostic]):
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(map(str, self.diagnostics)))


class OpError(DiagnosticsError):
    """The program is wrong at one op."""

    def __init__(self, op: Operation, message: str, notes: Iterable[Note] = ()):
        super().__init__((diagnose(op, message, notes),))

    @property
    def diagnostic(self) -> Diagnostic:
        """The one error."""
        return self.diagnostics[0]


def file_line_col(location: Attribute) -> tuple[str, int, int] | None:
    """The first file position inside a location, or None if there is none."""
    match location:
        case FileLineColLoc():
            return location.filename.data, location.line.data, location.column.data
        case NameLoc():
            return file_line_col(location.location)
        case CallSiteLoc():
            return file_line_col(location.callee) or file_line_col(location.caller)
        case FusedLoc(locations=ArrayAttr() as locations):
            found = (file_line_col(inner) for inner in locations)
            return next((position for position in found if position is not None), None)
        case _:
            return None


def diagnose_at(
    location: Attribute,
    message: str,
    notes: Iterable[Note] = (),
    severity: Severity = "error",
) -> Diagnostic:
    """A diagnostic at a location, which may be unknown."""
    position = file_line_col(location) or (UNKNOWN_FILE, 0, 0)
    return Diagnostic(message, *position, severity, tuple(notes))


def diagnose(
    op: Operation,
    message: str,
    notes: Iterable[Note] = (),
    severity: Severity = "error",
) -> Diagnostic:
    """
    A diagnostic at an op; its message is preceded by the op's name.

    Where the op has no location (it was built in Python, or read by a parser that gives none),
    a note shows the op itself.
    """
    name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
    message = f"'{name}' op {message}"
    found = diagnose_at(op.location, message, notes, severity)
    if found.line == 0:
        found = found.with_notes(found.note(f"see: {first_line(op)}"))
    return found


def note(place: Operation | SSAValue, message: str) -> Note:
    """A note at an op, or where a value is defined."""
    if isinstance(place, BlockArgument):
        location: Attribute = place.location
        if file_line_col(location) is None and (parent := place.owner.parent_op()) is not None:
            location = parent.location
    elif isinstance(place, SSAValue):
        owner = place.owner
        assert isinstance(owner, Operation)
        location = owner.location
    else:
        location = place.location
    return Note(message, *(file_line_col(location) or (UNKNOWN_FILE, 0, 0)))


class _LineIsFull(Exception):
    """Printing got as far as it was wanted."""


class _OneLine(StringIO):
    """Takes the first line written, but no more than `limit` characters."""

    limit = 160

    def write(self, text: str, /) -> int:
        line, newline, _ = text.partition("\n")
        count = super().write(line)
        if newline or self.tell() > self.limit:
            raise _LineIsFull
        return count


def first_line(op: Operation) -> str:
    """The first line of an op as it prints; costs the same for an op with a large body."""
    out = _OneLine()
    try:
        Printer(out).print_op(op)
    except _LineIsFull:
        pass
    except Exception:
        # Invalid IR need not print in its custom form; its name is all that is sure.
        return f'"{op.name}"'
    return out.getvalue()[: _OneLine.limit].rstrip(" {")


Handler = Callable[[Diagnostic], None]


def _print_to_stderr(diagnostic: Diagnostic) -> None:
    print(diagnostic, file=sys.stderr)


_handler: ContextVar[Handler] = ContextVar("diagnostic handler", default=_print_to_stderr)


@contextmanager
def handling(handler: Handler) -> Generator[None]:
    """Give `handler` every warning and remark reported inside."""
    token = _handler.set(handler)
    try:
        yield
    finally:
        _handler.reset(token)


@contextmanager
def collecting() -> Generator[list[Diagnostic]]:
    """The list of warnings and remarks reported inside, in order."""
    found: list[Diagnostic] = []
    with handling(found.append):
        yield found


def report(diagnostic: Diagnostic) -> None:
    """
    Tell the user something and go on.

    Errors cannot be passed over: an error is raised, as `DiagnosticsError`.
    """
    if diagnostic.is_error:
        raise DiagnosticsError((diagnostic,))
    _handler.get()(diagnostic)


def warn(op: Operation, message: str, notes: Iterable[Note] = ()) -> None:
    """Warn about an op: it is legal, but probably not what was meant."""
    report(diagnose(op, message, notes, "warning"))


def remark(op: Operation, message: str, notes: Iterable[Note] = ()) -> None:
    """Tell what was done, or left, at an op."""
    report(diagnose(op, message, notes, "remark"))
