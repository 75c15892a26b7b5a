"""
Returns before the end of a function that leave loops, or branches that may also go on.

Each sets a flag that guards what follows, and a loop around is left by `break`; the function then
returns at its end. Such returns all give the same names: what the names stand for at the end is
what they stood for at the return.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pypto_xdsl.frontend.pl.source import Source
from pypto_xdsl.frontend.pl.syntax_nodes import (
    assignment,
    contains,
    if_,
    literal,
    not_,
    read_of,
    with_body,
)

RETURNED = "%returned"


def flagged_returns(source: Source, body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """
    A function body whose returns, all of the same names, leave loops and branches that may
    also go on: each sets a flag that guards what follows.
    """
    found = [
        node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Return)
    ]
    same = {_names_returned(node) for node in found}
    if len(same) != 1 or None in same:
        inner = next(node for node in found if _names_returned(node) in (None, *same))
        raise source.error(
            inner,
            "a 'return' inside a loop, or in a branch that may also go on, needs every return "
            "of the function to give the same names: keep the value and return it at the end",
        )
    last = body[-1]
    end = ast.copy_location(ast.Return(found[0].value), last)
    start = assignment(RETURNED, literal(False, body[0]), body[0])
    return [start, *_flagged(source, body, in_loop=False), end]


def _flagged(source: Source, body: Sequence[ast.stmt], *, in_loop: bool) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for place, statement in enumerate(body):
        rest = body[place + 1 :]
        if isinstance(statement, ast.Return):
            if rest:
                raise source.error(rest[0], "this is never reached")
            result.append(assignment(RETURNED, literal(True, statement), statement))
            if in_loop:
                result.append(ast.copy_location(ast.Break(), statement))
            return result
        if not contains([statement], (ast.Return,)):
            result.append(statement)
            continue
        match statement:
            case ast.For() | ast.While():
                result.append(with_body(statement, _flagged(source, statement.body, in_loop=True)))
                if in_loop:
                    leave: ast.stmt = ast.copy_location(ast.Break(), statement)
                    result.append(if_(read_of(RETURNED, statement), [leave], [], statement))
            case ast.If():
                then = _flagged(source, statement.body, in_loop=in_loop)
                orelse = _flagged(source, statement.orelse, in_loop=in_loop)
                result.append(if_(statement.test, then, orelse, statement))
            case ast.With():
                inner = _flagged(source, statement.body, in_loop=in_loop)
                result.append(ast.copy_location(ast.With(statement.items, inner), statement))
            case _:
                result.append(statement)
        if rest and not in_loop:
            tail = _flagged(source, rest, in_loop=False)
            if tail:
                result.append(if_(not_(RETURNED, statement), tail, [], statement))
            return result
    return result


def returns_by_branches(body: Sequence[ast.stmt]) -> bool:
    """
    Whether every early return ends a branch after which nothing else of it goes on, so that what
    follows belongs to the other branch.
    """
    for place, statement in enumerate(body):
        rest = body[place + 1 :]
        if not contains([statement], (ast.Return,)) or isinstance(statement, ast.Return):
            continue
        match statement:
            case ast.If(body=then, orelse=orelse):
                if rest and not always_returns(then) and not always_returns(orelse):
                    return False
                if not returns_by_branches(then) or not returns_by_branches(orelse):
                    return False
            case ast.With(body=inner):
                if any(not isinstance(after, ast.Return) for after in rest):
                    return False
                if not returns_by_branches(inner):
                    return False
            case _:
                return False
    return True


def _names_returned(node: ast.Return) -> tuple[str, ...] | None:
    """The names that a return gives; None if it gives anything else."""
    value = node.value
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return ()
    elements = value.elts if isinstance(value, ast.Tuple) else [value]
    names = [element.id for element in elements if isinstance(element, ast.Name)]
    return tuple(names) if len(names) == len(elements) else None


def always_returns(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    return isinstance(last, ast.With) and always_returns(last.body)
