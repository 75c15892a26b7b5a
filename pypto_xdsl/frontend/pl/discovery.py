"""The programs that a file holds, at any nesting, and the one that is asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import TensorType

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError
from pypto_xdsl.frontend.pl.call_sites import call_sites
from pypto_xdsl.frontend.pl.compile_time import StaticScope, with_defaults
from pypto_xdsl.frontend.pl.program import ProgramReader, read_class
from pypto_xdsl.frontend.pl.source import Source, dotted_name
from pypto_xdsl.frontend.pl.special_calls import function_decorator
from pypto_xdsl.frontend.pl.static_values import Budget, ClassDefinition, Function, Unsettled
from pypto_xdsl.syntax.spelling import did_you_mean

_SHOWN = 8


@dataclass(frozen=True)
class Candidate:
    """A program of a file."""

    name: str
    """Its qualified name: the enclosing functions and classes, and its own."""
    nodes: tuple[ast.ClassDef | ast.FunctionDef, ...]
    """The class, the entry, or the functions that are a program together."""
    around: tuple[ast.FunctionDef | ast.ClassDef, ...]
    """The definitions around it, outermost first."""

    @property
    def line(self) -> int:
        return self.nodes[0].lineno


def find_programs(source: Source) -> list[Candidate]:
    """The programs of a file, in the order of the text."""
    classes: list[Candidate] = []
    entries: list[Candidate] = []
    functions: list[ast.FunctionDef] = []
    for node, around in _definitions(source.tree):
        if isinstance(node, ast.ClassDef):
            if any(_is_program(decorator) for decorator in node.decorator_list):
                classes.append(Candidate(_qualified(around, node), (node,), around))
            continue
        paths = [function_decorator(decorator) for decorator in node.decorator_list]
        path = next((path for path in paths if path is not None), None)
        if path is None or (around and isinstance(around[-1], ast.ClassDef)):
            continue
        if path in (("jit",), ("jit", "host")):
            entries.append(Candidate(_qualified(around, node), (node,), around))
        elif path[0] == "function" and not around:
            functions.append(node)
    found = sorted([*classes, *entries], key=lambda candidate: candidate.line)
    if not found and functions:
        name = functions[-1].name
        found = [Candidate(name, tuple(functions), ())]
    return _numbered(found)


def _numbered(found: Sequence[Candidate]) -> list[Candidate]:
    """Candidates with names that differ: later ones of a name get `#2`, `#3`."""
    counts: dict[str, int] = {}
    result: list[Candidate] = []
    for candidate in found:
        count = counts[candidate.name] = counts.get(candidate.name, 0) + 1
        name = candidate.name if count == 1 else f"{candidate.name}#{count}"
        result.append(Candidate(name, candidate.nodes, candidate.around))
    return result


def _definitions(
    tree: ast.Module,
) -> Iterator[tuple[ast.ClassDef | ast.FunctionDef, tuple[ast.FunctionDef | ast.ClassDef, ...]]]:
    """Every class and function with the definitions around it."""
    around: tuple[ast.FunctionDef | ast.ClassDef, ...] = ()
    pending: list[tuple[ast.stmt, tuple[ast.FunctionDef | ast.ClassDef, ...]]] = [
        (statement, around) for statement in reversed(tree.body)
    ]
    while pending:
        statement, around = pending.pop()
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            yield statement, around
            if isinstance(statement, ast.ClassDef) and any(
                _is_program(decorator) for decorator in statement.decorator_list
            ):
                continue
            around = (*around, statement)
        inner: list[ast.stmt] = []
        for field in ("body", "orelse", "finalbody"):
            inner += getattr(statement, field, ())
        for handler in getattr(statement, "handlers", ()):
            inner += handler.body
        for case in getattr(statement, "cases", ()):
            inner += case.body
        pending += [(nested, around) for nested in reversed(inner)]


def _is_program(decorator: ast.expr) -> bool:
    name = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return name is not None and name[-1] == "program"


def _qualified(
    around: Sequence[ast.FunctionDef | ast.ClassDef], node: ast.ClassDef | ast.FunctionDef
) -> str:
    return ".".join([*(outer.name for outer in around), node.name])


def choose(source: Source, candidates: Sequence[Candidate], wanted: str | None) -> Candidate:
    """The program that is asked for, or the only one."""
    if not candidates:
        raise _error(source, "the file holds no program: no class has the decorator @pl.program")
    if wanted is None:
        if len(candidates) == 1:
            return candidates[0]
        names = ", ".join(candidate.name for candidate in candidates[:_SHOWN])
        more = ", ..." if len(candidates) > _SHOWN else ""
        raise _error(
            source,
            f"the file holds {len(candidates)} programs: choose one with --program NAME, "
            f"of {names}{more}",
        )
    exact = [candidate for candidate in candidates if candidate.name == wanted]
    if exact:
        return exact[0]
    ending = [c for c in candidates if c.name.endswith(f".{wanted}")]
    if len(ending) == 1:
        return ending[0]
    if ending:
        names = ", ".join(candidate.name for candidate in ending[:_SHOWN])
        raise _error(source, f"'{wanted}' may be one of {names}")
    names = [candidate.name for candidate in candidates]
    raise _error(source, f"the file holds no program '{wanted}'{did_you_mean(wanted, names)}")


def _error(source: Source, message: str) -> DiagnosticsError:
    return DiagnosticsError((Diagnostic(message, source.name, 1, 1),))


def scope_of(
    source: Source, candidate: Candidate, defines: Mapping[str, Any] | None = None
) -> StaticScope:
    """The names around a program."""
    budget = Budget()
    scope = StaticScope(source, source.tree.body, None, budget, defines)
    owner: ast.ClassDef | None = None
    for outer in candidate.around:
        if isinstance(outer, ast.ClassDef):
            owner = outer
            continue
        function = Function(outer, scope, source)
        arguments: dict[str, Any] = {}
        if owner is not None and outer.args.args and outer.args.args[0].arg == "self":
            arguments["self"] = ClassDefinition(owner, scope, source)
            owner = None
        spec = outer.args
        parameters = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
        if any(argument.arg not in arguments for argument in parameters):
            # What the file builds the program with.
            called = call_sites(source, budget).arguments_of(outer)
            arguments |= {n: v for n, v in called.items() if not isinstance(v, TensorType)}
        for argument in parameters:
            if argument.arg in arguments:
                continue
            try:
                filled = with_defaults(function, _others(outer, argument.arg), outer)
                arguments[argument.arg] = filled[argument.arg]
            except Unsettled:
                continue
        inner = StaticScope(source, outer.body, scope, budget, defines, arguments)
        for argument in parameters:
            if argument.arg not in arguments:
                inner.mark_unknown(argument)
        scope = inner
    return scope


def _others(function: ast.FunctionDef, name: str) -> dict[str, Any]:
    """Stand-ins for all parameters but one."""
    spec = function.args
    return {a.arg: None for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs) if a.arg != name}


def reader_of(
    source: Source, candidate: Candidate, defines: Mapping[str, Any] | None = None
) -> ProgramReader:
    """The reader of a program."""
    scope = scope_of(source, candidate, defines)
    first = candidate.nodes[0]
    if isinstance(first, ast.ClassDef):
        return read_class(first, source, scope)
    program = ProgramReader(candidate.name.rpartition(".")[2], source, scope)
    for node in candidate.nodes:
        assert isinstance(node, ast.FunctionDef)
        program.add_member(node)
    return program
