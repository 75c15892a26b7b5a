"""
Which names of functions their calls and assignments may write in place, as far as the text tells.

What the names of one function mean for its loops and branches is in `liveness.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from pypto_xdsl.frontend.pl.compile_time import StaticScope
from pypto_xdsl.frontend.pl.op_table import LEVELS, written_parameters
from pypto_xdsl.frontend.pl.source import dotted_name, nested_statements
from pypto_xdsl.frontend.pl.static_values import Function, Unsettled
from pypto_xdsl.frontend.pl.viewed_names import all_viewed, direct_views

_SUBMITS = ("submit", "spmd_submit")


class WrittenNames:
    """The names that are written in the functions of one program; each call is looked at once."""

    def __init__(self, member: Callable[[str], Function | None]):
        """`member` gives the function of the program that is called `self.<name>`."""
        self._member = member
        self._by_call: dict[tuple[ast.Call, StaticScope], Sequence[str]] = {}
        self._in_function: dict[ast.FunctionDef, set[str]] = {}
        self._views: dict[ast.FunctionDef, Mapping[str, Sequence[str]]] = {}

    def by_call(self, scope: StaticScope, call: ast.Call) -> Sequence[str]:
        """The names whose buffers a call may write, in a function whose names are around it."""
        key = call, scope
        known = self._by_call.get(key)
        if known is None:
            known = self._by_call[key] = self._written_by(scope, call)
        return known

    def _written_by(self, scope: StaticScope, call: ast.Call) -> Sequence[str]:
        path = dotted_name(call.func)
        if path is None:
            return ()
        if len(path) < 2 or path[0] == "self" or path[-1] in _SUBMITS:
            return self._handed_over(scope, path, call)
        found: list[str] = []
        for place, keyword in written_parameters(
            path[-1], path[-2] if path[-2] in LEVELS else None
        ):
            argument = call.args[place] if place < len(call.args) else None
            for given in call.keywords:
                if given.arg == keyword:
                    argument = given.value
            if isinstance(argument, ast.Name):
                found.append(argument.id)
        return found

    def _handed_over(
        self, scope: StaticScope, path: Sequence[str], call: ast.Call
    ) -> Sequence[str]:
        """The names that a call of a function hands to parameters that it may write."""
        arguments: Sequence[ast.expr] = call.args
        if path[-1] in _SUBMITS and arguments:
            path = dotted_name(arguments[0]) or ()
            arguments = arguments[1:]
        function = self._called(scope, path, call)
        if function is None:
            return ()
        parameters = [a for a in function.node.args.args if a.arg != "self"]
        written = self.in_function(function)
        names: list[str] = []
        for argument, parameter in zip(arguments, parameters, strict=False):
            if isinstance(argument, ast.Call) and argument.args:
                argument = argument.args[0]
            if isinstance(argument, ast.Name) and parameter.arg in written:
                names.append(argument.id)
        for keyword in call.keywords:
            if isinstance(keyword.value, ast.Name) and keyword.arg in written:
                names.append(keyword.value.id)
        return names

    def _called(self, scope: StaticScope, path: Sequence[str], call: ast.Call) -> Function | None:
        if len(path) == 2 and path[0] == "self":
            return self._member(path[1])
        if len(path) != 1:
            return None
        try:
            found = scope.lookup(path[0], call.lineno)
        except (KeyError, Unsettled):
            return None
        return found if isinstance(found, Function) else None

    def in_function(self, function: Function) -> set[str]:
        """The names that a function may write, among them its parameters."""
        node = function.node
        known = self._in_function.get(node)
        if known is not None:
            return known
        # A function that calls itself writes nothing more by that.
        self._in_function[node] = set()

        written = set[str]()
        if not any(map(_does_something, node.body)):
            written |= _declared_outputs(node)
        for call in function.source.calls(node):
            written.update(self.by_call(function.scope, call))
        for statement in nested_statements(node.body):
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                        written.add(target.value.id)
        views = self.views(function, node.body)
        written = {viewed for name in written for viewed in all_viewed(views, name)}
        self._in_function[node] = written
        return written

    def views(self, function: Function, body: Sequence[ast.stmt]) -> Mapping[str, Sequence[str]]:
        """Of each name of a function's body, as it is or lowered, those it is assigned views of."""

        def by_call(call: ast.Call) -> Sequence[str]:
            return self.by_call(function.scope, call)

        if body is not function.node.body:
            return direct_views(body, by_call)
        known = self._views.get(function.node)
        if known is None:
            known = self._views[function.node] = direct_views(body, by_call)
        return known


def _declared_outputs(node: ast.FunctionDef) -> set[str]:
    """What a function writes whose body is elsewhere: what its signature says."""
    found: set[str] = set()
    for parameter in node.args.args:
        declared = parameter.annotation
        path = dotted_name(declared.value) if isinstance(declared, ast.Subscript) else None
        if path is not None and path[-1] in ("Out", "InOut"):
            found.add(parameter.arg)
    return found


def _does_something(statement: ast.stmt) -> bool:
    """Whether a statement is more than `...` or a text."""
    return not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
