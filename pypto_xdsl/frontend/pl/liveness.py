"""
Which names of a function a statement assigns, and which are read after it.

Worked out on the syntax tree before anything is built, so that loops, ifs and scopes carry what is
needed and nothing else. A set of names is an integer with a bit for each; every statement is
summed up once, so the cost is linear in the program.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pypto_xdsl.frontend.pl.source import add_children, dotted_name

WrittenNames = Callable[[ast.Call], Iterable[str]]
"""The names whose buffers a call writes in place."""


@dataclass
class Summary:
    """What a statement or block does to names."""

    reads: int = 0
    """Names read before they are surely assigned here."""
    assigns: int = 0
    """Names surely assigned here."""
    changes: int = 0
    """Names that may be assigned, or whose buffers may be written, here."""
    yields: int = 0
    """Names that a `pl.yield_` here gives to the statement around."""

    def then(self, next: Summary) -> Summary:
        """This, and then the next."""
        return Summary(
            self.reads | (next.reads & ~self.assigns),
            self.assigns | next.assigns,
            self.changes | next.changes,
            self.yields | next.yields,
        )


class Liveness:
    """The names of one function."""

    def __init__(
        self,
        body: Sequence[ast.stmt],
        written: WrittenNames,
        viewed: Callable[[str], Iterable[str]] = lambda name: (name,),
    ):
        """`viewed` gives a name and those that it may be a view of."""
        self._written = written
        self._viewed = viewed
        self._bits: dict[str, int] = {}
        self._names: list[str] = []
        """The name of each bit."""
        self._views: dict[str, int] = {}
        """Of a name that is written, it and those that it may be a view of."""
        self._summaries: dict[int, Summary] = {}
        self._bodies: dict[int, Summary] = {}
        self._live_after: dict[int, int] = {}
        self._keep = list(body)
        self._block(body)
        self._flow(body, 0)

    def bit(self, name: str) -> int:
        """The set of this one name."""
        bit = self._bits.get(name)
        if bit is None:
            bit = self._bits[name] = 1 << len(self._names)
            self._names.append(name)
        return bit

    def is_live_after(self, statement: ast.stmt, name: str) -> bool:
        """Whether a compound statement's value of a name may be read after it."""
        return bool(self._live_after.get(id(statement), 0) & self._bits.get(name, 0))

    def is_read_again(self, loop: ast.stmt, name: str) -> bool:
        """Whether a loop's body may read the value that an earlier iteration gave a name."""
        return bool(self._bodies[id(loop)].reads & self._bits.get(name, 0))

    def changed_names(self, statement: ast.stmt) -> list[str]:
        """The names that a compound statement may assign or write, sorted."""
        changes = self._bodies[id(statement)].changes
        found: list[str] = []
        while changes:
            lowest = changes & -changes
            found.append(self._names[lowest.bit_length() - 1])
            changes ^= lowest
        return sorted(found)

    # Summaries, bottom up

    def _block(self, body: Sequence[ast.stmt]) -> Summary:
        total = Summary()
        for statement in body:
            total = total.then(self._statement(statement))
        return total

    def _statement(self, statement: ast.stmt) -> Summary:
        match statement:
            case ast.If(test=test, body=then, orelse=orelse):
                left, right = self._block(then), self._block(orelse)
                own = self._expressions(test)
                both = Summary(
                    left.reads | right.reads,
                    left.assigns & right.assigns,
                    left.changes | right.changes,
                )
                yields = left.yields | right.yields
                self._bodies[id(statement)] = both
                summary = own.then(both)
                summary.assigns |= yields
                summary.changes |= yields
            case ast.For(target=target, iter=iterator, body=body):
                inner = self._block(body)
                hidden = 0
                for node in ast.walk(target):
                    if isinstance(node, ast.Name):
                        hidden |= self.bit(node.id)
                summary = self._loop(statement, inner, hidden, self._expressions(iterator))
            case ast.While(test=test, body=body):
                inner = self._expressions(test).then(self._block(body))
                summary = self._loop(statement, inner, 0, Summary())
            case ast.With(items=items, body=body):
                own = Summary()
                for item in items:
                    own = own.then(self._expressions(item.context_expr))
                inner = self._block(body)
                self._bodies[id(statement)] = inner
                summary = own.then(inner)
                for item in items:
                    if isinstance(item.optional_vars, ast.Name):
                        bit = self.bit(item.optional_vars.id)
                        summary.assigns |= bit
                        summary.changes |= bit
            case ast.Assign(targets=targets, value=value):
                summary = self._assignment(targets, value)
            case ast.AnnAssign(target=target, value=value, annotation=annotation):
                summary = self._assignment([target], value)
                summary.reads |= self._expressions(annotation).reads
            case ast.AugAssign(target=target, value=value):
                summary = self._expressions(value).then(self._assignment([target], None))
                summary.reads |= self._target_names(target)
            case ast.Return(value=value) | ast.Expr(value=value):
                summary = Summary() if value is None else self._expressions(value)
            case _:
                summary = Summary()
        self._summaries[id(statement)] = summary
        return summary

    def _loop(self, statement: ast.stmt, inner: Summary, hidden: int, header: Summary) -> Summary:
        body = Summary(inner.reads & ~hidden, 0, inner.changes & ~hidden)
        self._bodies[id(statement)] = body
        summary = header.then(body)
        # What the body yields are names of the loop's results: there after any number of trips.
        summary.assigns |= inner.yields
        summary.changes |= inner.yields
        return summary

    def _assignment(self, targets: Sequence[ast.expr], value: ast.expr | None) -> Summary:
        summary = Summary() if value is None else self._expressions(value)
        names = 0
        for target in targets:
            names |= self._target_names(target)
            if isinstance(target, ast.Subscript):
                inner = self._expressions(target)
                summary.reads |= inner.reads
                if isinstance(target.value, ast.Name):
                    self._write(summary, target.value.id)
        if is_yield(value):
            return Summary(summary.reads, names, summary.changes, names)
        return Summary(summary.reads, names, summary.changes | names)

    def _target_names(self, target: ast.expr) -> int:
        match target:
            case ast.Name(id=name):
                return self.bit(name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                names = 0
                for element in elements:
                    names |= self._target_names(element)
                return names
            case _:
                return 0

    def _expressions(self, expression: ast.expr) -> Summary:
        summary = Summary()
        bits = self._bits
        pending: list[ast.AST] = [expression]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Name):
                summary.reads |= bits.get(node.id) or self.bit(node.id)
            elif not isinstance(node, ast.Constant):
                if isinstance(node, ast.Call):
                    for name in self._written(node):
                        self._write(summary, name)
                add_children(node, pending)
        return summary

    def _write(self, summary: Summary, name: str) -> None:
        """A name's buffer is written in place, and so is all that it is a view of."""
        names = self._views.get(name)
        if names is None:
            names = 0
            for viewed in self._viewed(name):
                names |= self.bit(viewed)
            self._views[name] = names
        summary.changes |= names

    # What is live, top down

    def _flow(self, body: Sequence[ast.stmt], live: int) -> None:
        pending = [(body, live)]
        while pending:
            body, live = pending.pop()
            for statement in reversed(body):
                if (inner := self._bodies.get(id(statement))) is not None:
                    self._live_after[id(statement)] = live
                    match statement:
                        case ast.For(body=nested) | ast.While(body=nested):
                            pending.append((nested, live | inner.reads))
                        case ast.If(body=nested, orelse=orelse):
                            pending.append((nested, live))
                            pending.append((orelse, live))
                        case ast.With(body=nested):
                            pending.append((nested, live))
                        case _:
                            pass
                summary = self._summaries[id(statement)]
                live = summary.reads | (live & ~summary.assigns)


def is_yield(node: ast.expr | None) -> bool:
    """Whether an expression is a `pl.yield_(...)`."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr == "yield_" and dotted_name(function) is not None
    return isinstance(function, ast.Name) and function.id == "yield_"
