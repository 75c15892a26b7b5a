"""Nodes of the syntax tree that take the places of others, and what statements hold."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def contains(body: Sequence[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> bool:
    """Whether a body has jumps of these kinds that leave it, not a loop inside."""
    pending = list(body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, kinds):
            return True
        if isinstance(statement, ast.For | ast.While):
            if ast.Return in kinds:
                pending += statement.body
            continue
        for field in ("body", "orelse"):
            pending += getattr(statement, field, ())
    return False


def read_of(name: str, at: ast.stmt | ast.expr, *, store: bool = False) -> ast.Name:
    """A name that is read, or assigned to, at the place of another node."""
    return ast.copy_location(ast.Name(name, ast.Store() if store else ast.Load()), at)


def assignment(name: str, value: ast.expr, at: ast.stmt) -> ast.stmt:
    """`name = value`."""
    return ast.copy_location(ast.Assign([read_of(name, at, store=True)], value), at)


def literal(value: bool | int, at: ast.stmt) -> ast.expr:
    """A number or truth value."""
    return ast.copy_location(ast.Constant(value), at)


def not_(name: str, at: ast.stmt) -> ast.expr:
    """`not name`."""
    return ast.copy_location(ast.UnaryOp(ast.Not(), read_of(name, at)), at)


def if_(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], at: ast.stmt) -> ast.stmt:
    """An `if`; a body without statements passes."""
    return ast.copy_location(ast.If(test, body or [_pass(at)], orelse), at)


def _pass(at: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Pass(), at)


def with_body(statement: ast.For | ast.While, body: list[ast.stmt]) -> ast.stmt:
    """A loop with another body."""
    if isinstance(statement, ast.For):
        made: ast.stmt = ast.For(statement.target, statement.iter, body, statement.orelse)
    else:
        made = ast.While(statement.test, body, statement.orelse)
    return ast.copy_location(made, statement)
