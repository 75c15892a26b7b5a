"""
Which names of a function may be views of which others, as far as its text tells.

    w = pl.reshape(x, [32])
    w[0:16] = y                       # writes x as well

What a loop writes through a view that it makes itself, it has to carry under the name of what is
viewed; this is found before anything is read. A name too many costs nothing: a loop takes back
what it turns out not to change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence

from pypto_xdsl.frontend.pl.op_table import gives_view
from pypto_xdsl.frontend.pl.source import dotted_name, nested_statements

MOST_VIEWED = 64
"""So many names are followed from one; what lies further is found when the loop is read."""

Written = Callable[[ast.Call], Iterable[str]]


def direct_views(body: Sequence[ast.stmt], written: Written) -> Mapping[str, Sequence[str]]:
    """Of each name of some statements the names that it is assigned a view of."""
    found: dict[str, dict[str, None]] = {}
    for statement in nested_statements(body):
        match statement:
            case ast.Assign(targets=[target], value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pass
            case _:
                continue
        names = [n.id for n in _targets(target)]
        viewed = list(_viewed(value, written)) if names else []
        for name in names:
            found.setdefault(name, {}).update(dict.fromkeys(v for v in viewed if v != name))
    return {name: list(viewed) for name, viewed in found.items() if viewed}


def all_viewed(views: Mapping[str, Sequence[str]], name: str) -> list[str]:
    """A name and all that it may be a view of, a view of a view of, ..."""
    found = {name: None}
    todo = [name]
    while todo and len(found) < MOST_VIEWED:
        for viewed in views.get(todo.pop(), ()):
            if viewed not in found:
                found[viewed] = None
                todo.append(viewed)
    return list(found)


def _targets(target: ast.expr) -> Iterable[ast.Name]:
    elements = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return (element for element in elements if isinstance(element, ast.Name))


def _viewed(value: ast.expr, written: Written) -> Iterable[str]:
    """The names whose buffers an expression may give."""
    while isinstance(value, ast.Subscript):
        value = value.value
    match value:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from _viewed(element, written)
        case ast.Call(func=function, args=arguments):
            yield from written(value)
            path = dotted_name(function)
            if path is None:
                return
            if len(path) == 1 or path[0] == "self":
                for argument in (*arguments, *(k.value for k in value.keywords)):
                    if isinstance(argument, ast.Name | ast.Subscript):
                        yield from _viewed(argument, written)
            elif gives_view(path[-1]):
                first = arguments[:1] or [k.value for k in value.keywords[:1]]
                for argument in first:
                    yield from _viewed(argument, written)
        case _:
            return
