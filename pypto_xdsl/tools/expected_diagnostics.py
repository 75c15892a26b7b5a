"""
`--verify-diagnostics`: a test says which diagnostics it expects, as in MLIR.

A comment `// expected-error @+1 {{text}}` expects one error, on the next line, whose message
contains the text; likewise `-warning`, `-remark` and `-note`. The place is `@+n`, `@-n`,
`@above` and `@below` (the nearest line that expects nothing itself), `@n` (that line), `@unknown`
(no location), or this line if there is none.
With `-re` after the kind, parts of the text in `{{...}}` are regular expressions. In a Python
program the comment begins with `#`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pypto_xdsl.diagnostics import Diagnostic, Note

_EXPECTED = re.compile(
    r"(?://|#).*?(?P<begin>expected-)(?P<kind>error|warning|remark|note)(?P<re>-re)?\s*"
    r"(?:@(?P<at>[+-]?\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}\s*$"
)


@dataclass
class _Expectation:
    kind: str
    written_at: str
    """Line and column of the expectation."""
    line: int
    """The line of the diagnostic, 0 for an unknown location."""
    text: str
    pattern: re.Pattern[str]

    def matches(self, kind: str, line: int, message: str) -> bool:
        return kind == self.kind and line == self.line and self.pattern.search(message) is not None


def check_expected(
    text: str, diagnostics: Iterable[Diagnostic], file: str, line_offset: int = 0
) -> list[str]:
    """
    What differs between the diagnostics and those that the comments of a text expect: a line
    for each unexpected one and for each that was expected in vain.

    Errors, warnings and remarks must all be expected; notes need not be.
    """
    problems: list[str] = []
    waiting: list[_Expectation] = []
    for found in _expectations(text, line_offset):
        if isinstance(found, _Expectation):
            waiting.append(found)
        else:
            problems.append(f"{file}:{found}")
    for diagnostic in diagnostics:
        line = diagnostic.line if diagnostic.file == file else 0
        if not _take(waiting, diagnostic.severity, line, diagnostic.message):
            problems.append(f"{_place(diagnostic)}: error: unexpected {_said(diagnostic)}")
        for note in diagnostic.notes:
            _take(waiting, "note", note.line if note.file == file else 0, note.message)
    for missed in waiting:
        problems.append(
            f"{file}:{missed.written_at}: error: expected {missed.kind} "
            f'"{missed.text}" was not produced'
        )
    return problems


def _expectations(text: str, line_offset: int) -> Iterator[_Expectation | str]:
    """What is expected, and a line for each expectation that says nothing."""
    above = line_offset
    """The last line that expects nothing itself."""
    below: list[_Expectation] = []
    """What is expected on the next such line."""
    for number, line in enumerate(text.split("\n"), start=1 + line_offset):
        match = _EXPECTED.search(line)
        if match is None:
            for expectation in below:
                expectation.line = number
            yield from below
            below.clear()
            above = number
            continue
        at = match["at"] or "+0"
        if at == "unknown":
            where = 0
        elif at == "above":
            where = above
        else:
            where = 0 if at == "below" else int(at) + (number if at[0] in "+-" else 0)
        wanted = match["text"]
        written_at = f"{number}:{match.start('begin') + 1}"
        pattern = _with_regular_expressions(wanted) if match["re"] else re.escape(wanted)
        try:
            compiled = re.compile(pattern)
        except re.error as e:
            yield f"{written_at}: error: bad regular expression in '{wanted}': {e}"
            continue
        found = _Expectation(match["kind"], written_at, where, wanted, compiled)
        if at == "below":
            below.append(found)
        else:
            yield found
    yield from below


def _with_regular_expressions(text: str) -> str:
    """A pattern of a text where `{{...}}` holds regular expressions."""
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return "".join(
        f"(?:{part})" if number % 2 else re.escape(part) for number, part in enumerate(parts)
    )


def _take(waiting: list[_Expectation], kind: str, line: int, message: str) -> bool:
    for number, expectation in enumerate(waiting):
        if expectation.matches(kind, line, message):
            del waiting[number]
            return True
    return False


def _place(diagnostic: Diagnostic | Note) -> str:
    return f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}"


def _said(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.severity}: {diagnostic.message}"
