"""A Python source file, parsed and never executed: its tree, its places, and errors at them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, cast

from xdsl.dialects.builtin import FileLineColLoc

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, Note, report
from pypto_xdsl.syntax.locations import FileLocations

MAX_BYTES = 8_000_000
"""A larger file is refused before it is parsed: CPython needs some hundred bytes for each."""
MAX_LINES = 200_000
MAX_DEPTH = 150
"""How deep expressions and blocks may nest."""

Node = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias
"""What has a place in a file."""


class Source:
    """One file of Python: places of nodes, and errors at them."""

    def __init__(self, text: str, name: str, path: str | None = None):
        """
        Parse `text`. `name` is what diagnostics call the file; `path`, if it has one, is where its
        imports are looked up from.
        """
        self.name = name
        self.path = path
        self.text = text
        self._places = FileLocations(name)
        self._locations: dict[tuple[int, int], FileLineColLoc] = {}
        self._ascii = text.isascii()
        self._calls: dict[ast.FunctionDef, Sequence[ast.Call]] = {}
        self.call_sites: object = None
        """What the file itself calls its functions with, once that is asked for."""
        if len(text) > MAX_BYTES:
            raise self._at(1, 1, f"the file has more than {MAX_BYTES // 1_000_000} MB of text")
        if text.count("\n") >= MAX_LINES:
            raise self._at(MAX_LINES, 1, f"the file has more than {MAX_LINES} lines")
        self.tree = self._parse()

    def _parse(self) -> ast.Module:
        try:
            with warnings.catch_warnings():
                # What Python thinks of escapes in strings is not ours to tell.
                warnings.simplefilter("ignore")
                return ast.parse(self.text, self.name)
        except SyntaxError as e:
            raise self._at(e.lineno or 1, e.offset or 1, f"invalid Python: {e.msg}") from None
        except (RecursionError, MemoryError):
            raise self._at(1, 1, "the program is nested too deeply") from None
        except ValueError as e:
            raise self._at(1, 1, f"invalid Python: {e}") from None

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.splitlines()

    def position(self, node: Node) -> tuple[int, int]:
        """Line and column of a node, both from 1, the column in characters."""
        line, column = node.lineno, node.col_offset
        if not self._ascii and line <= len(self.lines):
            # `ast` counts bytes.
            column = len(self.lines[line - 1].encode()[:column].decode(errors="replace"))
        return line, column + 1

    def location(self, node: Node) -> FileLineColLoc:
        """The location attribute of a node."""
        key = (node.lineno, node.col_offset)
        location = self._locations.get(key)
        if location is None:
            location = self._locations[key] = self._places.at(*self.position(node))
        return location

    def calls(self, function: ast.FunctionDef) -> Sequence[ast.Call]:
        """The calls in a function of this file, in no order; it is gone over once."""
        found = self._calls.get(function)
        if found is None:
            found = [node for node in descendants(function) if isinstance(node, ast.Call)]
            self._calls[function] = found
        return found

    def note(self, node: Node, message: str) -> Note:
        """A note at a node."""
        return Note(message, self.name, *self.position(node))

    def error(self, node: Node, message: str, notes: Iterable[Note] = ()) -> DiagnosticsError:
        """An error at a node."""
        line, column = self.position(node)
        return self._at(line, column, message, tuple(notes))

    def warn(self, node: Node, message: str) -> None:
        """Tell the user something about a node, and go on."""
        report(Diagnostic(message, self.name, *self.position(node), "warning"))

    def _at(
        self, line: int, column: int, message: str, notes: Sequence[Note] = ()
    ) -> DiagnosticsError:
        return DiagnosticsError((Diagnostic(message, self.name, line, column, notes=tuple(notes)),))


_LEAVES = frozenset((ast.Name, ast.Constant))


def descendants(root: ast.AST) -> Iterator[ast.AST]:
    """
    A node and all nodes in it, in no order. What `ast.walk` gives, but for contexts and operators,
    at a third of its cost.
    """
    pending: list[ast.AST] = [root]
    while pending:
        node = pending.pop()
        yield node
        if node.__class__ not in _LEAVES:
            add_children(node, pending)


def add_children(node: ast.AST, found: list[ast.AST]) -> None:
    """Append the nodes in a node, but for its context and operator."""
    kind = node.__class__
    for field in _FIELDS.get(kind) or _fields_of(kind):
        value = getattr(node, field, None)
        if value.__class__ is list:
            # The keys of a dict may be None, and what is global or nonlocal are names.
            found += [inner for inner in cast(list[Any], value) if isinstance(inner, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)


_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
"""The fields of each kind of node that was met which may hold nodes."""
_NEVER_NODES = frozenset(
    ("arg", "attr", "ctx", "id", "kind", "lineno", "module", "op", "ops", "type_comment")
)
"""Fields of words, of the context, and of operators; in no kind of node do they hold others."""


def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    fields = _FIELDS[kind] = tuple(field for field in kind._fields if field not in _NEVER_NODES)
    return fields


def nested_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and those in them, but for the ones of nested functions and classes."""
    pending = list(body)
    while pending:
        statement = pending.pop()
        yield statement
        match statement:
            case ast.If() | ast.For() | ast.While():
                pending += statement.body
                pending += statement.orelse
            case ast.With():
                pending += statement.body
            case _:
                pass


def dotted_name(node: ast.expr) -> tuple[str, ...] | None:
    """`pl.tile.add` as its parts, None for anything but names and attributes."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return tuple(reversed(parts))
