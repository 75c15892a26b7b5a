"""
Which passes a test of PyPTO runs on the programs that it compares.

`comparisons(source, candidate)` follows the function around a program, and the functions that it
uses, as far as programs go through passes: each `assert_structural_equal` of two programs gives
what both are made from.  Nothing is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pypto_xdsl.frontend.pl.discovery import Candidate
from pypto_xdsl.frontend.pl.source import Source, dotted_name

MOST_CALLS = 8
"""So deep are functions followed."""


@dataclass(frozen=True)
class PassCall:
    """A pass as a test runs it."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    has_target: bool = True
    """Whether a backend is chosen where it runs."""


@dataclass(frozen=True)
class Made:
    """A program of the file after some passes."""

    program: str
    """The name of the class."""
    passes: tuple[PassCall, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Two programs that a test expects to be the same."""

    left: Made
    right: Made


@dataclass
class _Pipeline:
    passes: list[PassCall] = field(default_factory=list[PassCall])


@dataclass(frozen=True)
class _Constant:
    value: Any


_Known: TypeAlias = "Made | PassCall | _Pipeline | _Constant | ast.FunctionDef | None"
_Names: TypeAlias = "dict[str, _Known]"


def comparisons(source: Source, candidate: Candidate) -> list[Comparison]:
    """The comparisons of the test around a program."""
    if not candidate.around or not isinstance(candidate.around[-1], ast.FunctionDef):
        return []
    names: _Names = {}
    for scope in (source.tree, *candidate.around[:-1]):
        names |= {node.name: node for node in scope.body if isinstance(node, ast.FunctionDef)}
    reader = _Reader(names)
    reader.follow(candidate.around[-1].body, dict(names))
    return reader.found


class _Reader:
    def __init__(self, functions: _Names):
        self.found: list[Comparison] = []
        self._functions = functions
        self._depth = 0
        self._has_target = True

    def follow(self, body: Sequence[ast.stmt], names: _Names) -> _Known:
        """Follow statements; gives what they return."""
        for statement in body:
            match statement:
                case ast.ClassDef():
                    names[statement.name] = Made(statement.name)
                case ast.FunctionDef():
                    names[statement.name] = statement
                case ast.Assign(targets=[ast.Name(id=name)]):
                    names[name] = self.value(statement.value, names)
                case ast.AnnAssign(target=ast.Name(id=name)) if statement.value is not None:
                    names[name] = self.value(statement.value, names)
                case ast.Expr():
                    self.value(statement.value, names)
                case ast.Return() if statement.value is not None:
                    return self.value(statement.value, names)
                case ast.With() | ast.If():
                    returned = self.follow(statement.body, names)
                    if returned is not None:
                        return returned
                case _:
                    pass
        return None

    def value(self, node: ast.expr, names: _Names) -> _Known:
        """What an expression is."""
        match node:
            case ast.Name():
                return names.get(node.id)
            case ast.Constant():
                return _Constant(node.value)
            case ast.Call():
                return self._call(node, names)
            case _:
                return None

    def _call(self, node: ast.Call, names: _Names) -> _Known:
        path = _path(node.func)
        arguments = [self.value(argument, names) for argument in node.args]
        if path and path[-1] == "assert_structural_equal":
            match arguments:
                case [Made() as left, Made() as right, *_]:
                    self.found.append(Comparison(left, right))
                case _:
                    pass
            return None
        if path and path[-1] in ("reset_for_testing", "set_backend_type"):
            self._has_target = path[-1] == "set_backend_type"
        if len(path) >= 2 and path[-2].endswith("passes"):
            if path[-1] == "PassPipeline":
                return _Pipeline()
            return replace(_pass(path[-1], node, names), has_target=self._has_target)
        if isinstance(node.func, ast.Call):
            applied = self.value(node.func, names)
            return _applied(applied, arguments)
        if len(path) == 2 and isinstance(holder := names.get(path[0]), _Pipeline | PassCall):
            if path[1] == "add_pass" and isinstance(holder, _Pipeline):
                holder.passes += [given for given in arguments if isinstance(given, PassCall)]
                return None
            return _applied(holder, arguments) if path[1] == "run" else None
        name = path[-1] if path and path[:-1] in ((), ("self",)) else ""
        function = names.get(name)
        if isinstance(function, ast.FunctionDef):
            return self._enter(function, arguments, node, names)
        if isinstance(function, PassCall):
            return _applied(function, arguments)
        return None

    def _enter(
        self,
        function: ast.FunctionDef,
        arguments: Sequence[_Known],
        node: ast.Call,
        names: Mapping[str, _Known],
    ) -> _Known:
        if self._depth >= MOST_CALLS:
            return None
        inner = dict(names)
        inner.update(_defaults(function))
        parameters = [argument.arg for argument in function.args.args if argument.arg != "self"]
        inner.update(zip(parameters, arguments, strict=False))
        for keyword in node.keywords:
            if keyword.arg is not None:
                inner[keyword.arg] = self.value(keyword.value, dict(names))
        self._depth += 1
        try:
            return self.follow(function.body, inner)
        finally:
            self._depth -= 1


def _path(node: ast.expr) -> tuple[str, ...]:
    return dotted_name(node) or ()


def _applied(applied: _Known, arguments: Sequence[_Known]) -> Made | None:
    if not arguments or not isinstance(made := arguments[0], Made):
        return None
    match applied:
        case PassCall():
            return replace(made, passes=(*made.passes, applied))
        case _Pipeline():
            return replace(made, passes=(*made.passes, *applied.passes))
        case _:
            return None


def _pass(name: str, node: ast.Call, names: Mapping[str, _Known]) -> PassCall:
    options: list[tuple[str, Any]] = []
    for keyword in node.keywords:
        value = keyword.value
        known = names.get(value.id) if isinstance(value, ast.Name) else None
        if isinstance(value, ast.Constant):
            known = _Constant(value.value)
        if keyword.arg is not None and isinstance(known, _Constant):
            options.append((keyword.arg, known.value))
    return PassCall(name, tuple(options))


def _defaults(function: ast.FunctionDef) -> Iterator[tuple[str, _Known]]:
    """The parameters that have a constant if nothing is passed."""
    arguments = function.args
    positional = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    pairs: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(positional, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if isinstance(default, ast.Constant):
            yield argument.arg, _Constant(default.value)
