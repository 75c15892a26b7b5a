"""
`break`, `continue` and early `return` as structured control flow, on the syntax tree.

* What follows an `if` whose branch always leaves moves to the other branch.
* Where that is not enough, what follows is guarded by a flag.
* A loop with `break` becomes a `while` over a flag and its index.

Names made here hold characters that no name of a program has.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pypto_xdsl.frontend.pl.early_returns import (
    always_returns,
    flagged_returns,
    returns_by_branches,
)
from pypto_xdsl.frontend.pl.source import Source, dotted_name, nested_statements
from pypto_xdsl.frontend.pl.syntax_nodes import (
    assignment,
    contains,
    if_,
    literal,
    not_,
    read_of,
    with_body,
)

BREAK, CONTINUE, INDEX = "%break", "%continue", "%index"
RETURN = "%return"
CARRY, YIELDED = "%carry", "%yielded"
_SEQUENTIAL = ("range", "pipeline", "while_")
_Jump = ast.Break | ast.Continue


@dataclass
class _Counter:
    value: int = 0

    def fresh(self, name: str) -> str:
        self.value += 1
        return f"{name}{self.value}"


def lower(
    source: Source, function: ast.FunctionDef, constant: Callable[[ast.expr], object]
) -> list[ast.stmt]:
    """
    The body of a function without jumps; itself where it has none. `constant` gives the value of
    an expression of names outside the function, None if it has none.
    """
    body = function.body
    jumps, inner = _jumps_and_returns(body)
    if not jumps and not inner:
        return body
    lowering = _Lowering(source, constant)
    if inner and not returns_by_branches(body):
        body = flagged_returns(source, body)
        jumps, inner = True, False
    if jumps:
        body = lowering.block(body, None)
    if inner:
        body = lowering.returns(body)
    return body


def _jumps_and_returns(body: Sequence[ast.stmt]) -> tuple[bool, bool]:
    """Whether a body has jumps, and returns before its end."""
    jumps = False
    early = False
    pending: list[tuple[ast.stmt, bool]] = [
        (statement, place == len(body) - 1) for place, statement in enumerate(body)
    ]
    while pending:
        statement, last = pending.pop()
        if isinstance(statement, _Jump):
            jumps = True
        elif isinstance(statement, ast.Return):
            early |= not last
        else:
            for field in ("body", "orelse"):
                for inner in getattr(statement, field, ()):
                    pending.append((inner, False))
    return jumps, early


class _Lowering:
    def __init__(self, source: Source, constant: Callable[[ast.expr], object]):
        self.source = source
        self.constant = constant
        self.counter = _Counter()

    # Loops

    def block(self, body: Sequence[ast.stmt], loop: ast.stmt | None) -> list[ast.stmt]:
        """A block with the jumps of the loops in it lowered; those of `loop` itself stay."""
        result: list[ast.stmt] = []
        for statement in body:
            match statement:
                case ast.For() | ast.While():
                    result += self.loop(statement)
                case ast.If():
                    then = self.block(statement.body, loop)
                    orelse = self.block(statement.orelse, loop)
                    result.append(if_(statement.test, then, orelse, statement))
                case ast.With():
                    inner = self.block(statement.body, loop)
                    if contains(inner, (ast.Break, ast.Continue)):
                        raise self.source.error(
                            statement, "'break', 'continue' and 'return' cannot leave a scope"
                        )
                    result.append(ast.copy_location(ast.With(statement.items, inner), statement))
                case ast.Break() | ast.Continue():
                    if loop is None:
                        word = "break" if isinstance(statement, ast.Break) else "continue"
                        raise self.source.error(statement, f"'{word}' outside a loop")
                    result.append(statement)
                case _:
                    result.append(statement)
        return result

    def loop(self, statement: ast.For | ast.While) -> list[ast.stmt]:
        """A loop without jumps."""
        body = self.block(statement.body, statement)
        breaks = contains(body, (ast.Break,))
        continues = contains(body, (ast.Continue,))
        if not breaks and not continues:
            return [with_body(statement, body)]
        if isinstance(statement, ast.For):
            self._check_kind(statement)
            given = _init_values(statement)
            if given is not None:
                return self._with_names_for_carries(statement, given, body)
        if continues:
            body = self._jump(body, ast.Continue, self.counter.fresh(CONTINUE), statement)
        if not breaks:
            return [with_body(statement, body)]
        flag = self.counter.fresh(BREAK)
        body = self._jump(body, ast.Break, flag, statement, sets_before=False)
        before = assignment(flag, literal(False, statement), statement)
        if isinstance(statement, ast.While):
            test = ast.BoolOp(ast.And(), [statement.test, not_(flag, statement)])
            loop = ast.While(ast.copy_location(test, statement), body, [])
            return [before, ast.copy_location(loop, statement)]
        return [before, *self._counted(statement, body, flag)]

    def _check_kind(self, statement: ast.For) -> None:
        iterator = statement.iter
        path = dotted_name(iterator.func) if isinstance(iterator, ast.Call) else None
        if path is None or path[-1] not in _SEQUENTIAL:
            kind = ".".join(path) if path else "this"
            raise self.source.error(
                statement, f"'break', 'continue' and 'return' cannot leave a {kind} loop"
            )

    def _with_names_for_carries(
        self, statement: ast.For, given: ast.keyword, body: list[ast.stmt]
    ) -> list[ast.stmt]:
        """
        A loop with `init_values` as one that rebinds names: a jump leaves them as they are at the
        start of the iteration, which is what is carried on.
        """
        error = self.source.error
        iterator = cast(ast.Call, statement.iter)
        path = dotted_name(iterator.func) or ("",)
        carried: ast.expr | None = statement.target
        index: ast.expr | None = None
        if path[-1] != "while_":
            if not isinstance(carried, ast.Tuple) or len(carried.elts) != 2:
                raise error(statement, "a loop with init_values is 'for i, (a, b) in ...'")
            index, carried = carried.elts
        names = list(carried.elts) if isinstance(carried, ast.Tuple | ast.List) else []
        inits = list(given.value.elts) if isinstance(given.value, ast.Tuple | ast.List) else []
        if len(names) != len(inits) or not names:
            raise error(statement, f"{len(names)} names for {len(inits)} init_values")
        *before, last = body
        found = _yielded(last)
        if found is None or len(found.values) != len(names):
            raise error(last, f"expected pl.yield_ of {len(names)} values")
        fresh = [self.counter.fresh(CARRY) for _ in names]
        lowered: list[ast.stmt] = [
            *(
                ast.copy_location(ast.Assign([name], read_of(hidden, name)), name)
                for name, hidden in zip(names, fresh, strict=True)
            ),
            *before,
            *_simultaneous(fresh, found.values, last, self.counter),
        ]
        if index is None:
            condition = _condition(before[0]) if before else None
            if condition is None:
                raise error(statement.body[0], "a pl.while_ loop starts with pl.cond(...)")
            del lowered[len(names)]
            renamed = _Renamed(
                {
                    name.id: hidden
                    for name, hidden in zip(names, fresh, strict=True)
                    if isinstance(name, ast.Name)
                }
            )
            test = renamed.visit(copy.deepcopy(condition))
            loop: ast.For | ast.While = ast.While(test, lowered, [])
        else:
            keywords = [keyword for keyword in iterator.keywords if keyword is not given]
            header = ast.Call(iterator.func, iterator.args, keywords)
            loop = ast.For(index, ast.copy_location(header, iterator), lowered, [])
        ast.copy_location(loop, statement)
        starts = [
            assignment(hidden, init, statement) for hidden, init in zip(fresh, inits, strict=True)
        ]
        return [*starts, *self.loop(loop), *found.after(fresh, last)]

    def _counted(self, statement: ast.For, body: list[ast.stmt], flag: str) -> list[ast.stmt]:
        """A `for` over a range as a `while` with an index."""
        iterator = statement.iter
        assert isinstance(iterator, ast.Call)
        bounds = list(iterator.args)
        if not isinstance(statement.target, ast.Name) or not 1 <= len(bounds) <= 3:
            raise self.source.error(statement, "'break' needs a loop like 'for i in pl.range(n)'")
        at = statement
        start: ast.expr = literal(0, at) if len(bounds) == 1 else bounds[0]
        stop = bounds[0] if len(bounds) == 1 else bounds[1]
        step: ast.expr = bounds[2] if len(bounds) == 3 else literal(1, at)
        descends = self._descends(step)
        index, limit = self.counter.fresh(INDEX), self.counter.fresh(INDEX)
        order = ast.Gt() if descends else ast.Lt()
        compare = ast.copy_location(
            ast.Compare(read_of(index, at), [order], [read_of(limit, at)]), at
        )
        test = ast.copy_location(ast.BoolOp(ast.And(), [compare, not_(flag, at)]), at)
        step_on = assignment(
            index, ast.copy_location(ast.BinOp(read_of(index, at), ast.Add(), step), at), at
        )
        loop_body: list[ast.stmt] = [
            assignment(statement.target.id, read_of(index, at), at),
            *body,
            if_(not_(flag, at), [step_on], [], at),
        ]
        loop = ast.copy_location(ast.While(test, loop_body, []), at)
        as_index = ast.copy_location(
            ast.Call(_path(("pl", "cast"), at), [start, _path(("pl", "INDEX"), at)], []), at
        )
        return [assignment(index, as_index, at), assignment(limit, stop, at), loop]

    def _descends(self, step: ast.expr) -> bool:
        """Whether a loop with this step counts down."""
        number = self.constant(step)
        if isinstance(number, int) and number:
            return number < 0
        if number == 0:
            raise self.source.error(step, "the step of a loop is not 0")
        if isinstance(step, ast.Call) and dotted_name(step.func) == ("pl", "max"):
            limits = [self.constant(argument) for argument in step.args]
            if any(isinstance(limit, int) and limit > 0 for limit in limits):
                return False
        raise self.source.error(
            step,
            "this step, known at run time only, may be 0 or negative, and the loop is left before "
            "its end: use pl.max(step, 1)",
        )

    def _jump(
        self,
        body: Sequence[ast.stmt],
        kind: type[_Jump],
        flag: str,
        at: ast.stmt,
        *,
        sets_before: bool = True,
    ) -> list[ast.stmt]:
        """A body in which every jump of a kind skips what follows it."""
        lowered, needs_flag = self._skip(body, kind, flag, always_set=not sets_before)
        if needs_flag and sets_before:
            lowered.insert(0, assignment(flag, literal(False, at), at))
        return lowered

    def _skip(
        self, body: Sequence[ast.stmt], kind: type[_Jump], flag: str, *, always_set: bool
    ) -> tuple[list[ast.stmt], bool]:
        """The lowered body, and whether it reads the flag."""
        result: list[ast.stmt] = []
        for place, statement in enumerate(body):
            rest = body[place + 1 :]
            if isinstance(statement, kind):
                if always_set or flag:
                    result.append(assignment(flag, literal(True, statement), statement))
                return result, always_set
            if not isinstance(statement, ast.If) or not contains([statement], (kind,)):
                result.append(statement)
                continue
            then_leaves = _always_leaves(statement.body, kind)
            else_leaves = _always_leaves(statement.orelse, kind)
            if then_leaves and not contains(statement.orelse, (kind,)):
                then, _ = self._skip(statement.body, kind, flag, always_set=always_set)
                tail, reads = self._skip(
                    [*statement.orelse, *rest], kind, flag, always_set=always_set
                )
                result.append(if_(statement.test, _useful(then, flag, always_set), tail, statement))
                return result, reads
            if else_leaves and not contains(statement.body, (kind,)):
                orelse, _ = self._skip(statement.orelse, kind, flag, always_set=always_set)
                tail, reads = self._skip(
                    [*statement.body, *rest], kind, flag, always_set=always_set
                )
                orelse = _useful(orelse, flag, always_set)
                result.append(if_(statement.test, tail, orelse, statement))
                return result, reads
            then, _ = self._skip(statement.body, kind, flag, always_set=True)
            orelse, _ = self._skip(statement.orelse, kind, flag, always_set=True)
            result.append(if_(statement.test, then, orelse, statement))
            if rest:
                tail, _ = self._skip(rest, kind, flag, always_set=True)
                result.append(if_(not_(flag, statement), tail, [], statement))
            return result, True
        return result, False

    # Returns

    def returns(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """A function body that returns at its end alone."""
        lowered = self._returning(list(body))
        names = self._returned_names(lowered)
        last = body[-1]
        if names is None:
            return lowered
        value: ast.expr | None = None
        if names:
            loads: list[ast.expr] = [read_of(name, last) for name in names]
            value = loads[0] if len(loads) == 1 else ast.Tuple(loads, ast.Load())
            value = ast.copy_location(value, last)
        return [*lowered, ast.copy_location(ast.Return(value), last)]

    def _returned_names(self, body: Sequence[ast.stmt]) -> list[str] | None:
        for node in nested_statements(body):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(target, ast.Name) and target.id.startswith(RETURN):
                return [RETURN]
        return []

    def _returning(self, body: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for place, statement in enumerate(body):
            rest = body[place + 1 :]
            if isinstance(statement, ast.Return):
                if rest:
                    raise self.source.error(rest[0], "this is never reached")
                if statement.value is not None:
                    result.append(assignment(RETURN, statement.value, statement))
                return result
            if not contains([statement], (ast.Return,)):
                result.append(statement)
                continue
            if isinstance(statement, ast.With):
                inner = self._returning(statement.body)
                result.append(ast.copy_location(ast.With(statement.items, inner), statement))
                return result
            assert isinstance(statement, ast.If)
            then_returns = always_returns(statement.body)
            else_returns = always_returns(statement.orelse)
            then, orelse = statement.body, statement.orelse
            if then_returns and else_returns and rest:
                raise self.source.error(rest[0], "this is never reached")
            if not then_returns:
                then = [*then, *rest]
            if not else_returns:
                orelse = [*orelse, *rest]
            result.append(
                if_(statement.test, self._returning(then), self._returning(orelse), statement)
            )
            return result
        return result


def _path(parts: Sequence[str], at: ast.stmt) -> ast.expr:
    node: ast.expr = read_of(parts[0], at)
    for part in parts[1:]:
        node = ast.copy_location(ast.Attribute(node, part, ast.Load()), at)
    return node


def _useful(body: list[ast.stmt], flag: str, always_set: bool) -> list[ast.stmt]:
    """Without setting a flag that nobody reads."""
    if always_set:
        return body
    return [
        statement
        for statement in body
        if not (
            isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
            and statement.targets[0].id == flag
        )
    ]


def _always_leaves(body: Sequence[ast.stmt], kind: type[_Jump]) -> bool:
    return bool(body) and isinstance(body[-1], kind) and not contains(body[:-1], (kind,))


def _condition(statement: ast.stmt) -> ast.expr | None:
    """What a `pl.cond(...)` tests, None for any other statement."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        path = dotted_name(statement.value.func)
        if path is not None and path[-1] == "cond" and len(statement.value.args) == 1:
            return statement.value.args[0]
    return None


class _Renamed(ast.NodeTransformer):
    """An expression with other names."""

    def __init__(self, names: Mapping[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return read_of(self.names.get(node.id, node.id), node)


def _init_values(statement: ast.For) -> ast.keyword | None:
    iterator = statement.iter
    keywords = iterator.keywords if isinstance(iterator, ast.Call) else ()
    return next((keyword for keyword in keywords if keyword.arg == "init_values"), None)


@dataclass
class _Yielded:
    """What the `pl.yield_` at the end of a loop hands on, and to which name after the loop."""

    values: Sequence[ast.expr]
    target: ast.expr | None
    annotation: ast.expr | None

    def after(self, names: Sequence[str], at: ast.stmt) -> list[ast.stmt]:
        """The assignments of the results after the loop, whose values have these names."""
        values: list[ast.expr] = [read_of(name, at) for name in names]
        if self.target is None:
            return []
        if self.annotation is not None:
            target = cast(ast.Name, self.target)
            made: ast.stmt = ast.AnnAssign(target, self.annotation, values[0], 1)
            return [ast.copy_location(made, at)]
        targets = list(self.target.elts) if isinstance(self.target, ast.Tuple) else [self.target]
        return [
            ast.copy_location(ast.Assign([target], value), at)
            for target, value in zip(targets, values, strict=False)
        ]


def _yielded(statement: ast.stmt) -> _Yielded | None:
    """The `pl.yield_` that a statement is, None if it is none."""
    target: ast.expr | None = None
    annotation: ast.expr | None = None
    match statement:
        case ast.Expr(value=ast.Call() as call):
            pass
        case ast.Assign(targets=[target], value=ast.Call() as call):
            pass
        case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=value):
            if not isinstance(value, ast.Call):
                return None
            call = value
        case _:
            return None
    path = dotted_name(call.func)
    if path is None or path[-1] != "yield_":
        return None
    return _Yielded(call.args, target, annotation)


def _simultaneous(
    names: Sequence[str], values: Sequence[ast.expr], at: ast.stmt, counter: _Counter
) -> list[ast.stmt]:
    """Assignments that all read before any is made."""
    if len(names) == 1:
        return [assignment(names[0], values[0], at)]
    between = [counter.fresh(YIELDED) for _ in names]
    return [
        *(assignment(name, value, at) for name, value in zip(between, values, strict=True)),
        *(
            assignment(name, read_of(other, at), at)
            for name, other in zip(names, between, strict=True)
        ),
    ]
