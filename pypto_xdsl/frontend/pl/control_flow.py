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

from pypto_xdsl.frontend.pl.source import Source, dotted_name

BREAK, CONTINUE, INDEX = "%break", "%continue", "%index"
RETURN, RETURNED = "%return", "%returned"
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
    if inner and not _returns_by_branches(body):
        body = lowering.flagged_returns(body)
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


def _contains(body: Sequence[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> bool:
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


def _name(name: str, at: ast.stmt | ast.expr, *, store: bool = False) -> ast.Name:
    return ast.copy_location(ast.Name(name, ast.Store() if store else ast.Load()), at)


def _assign(name: str, value: ast.expr, at: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Assign([_name(name, at, store=True)], value), at)


def _constant(value: bool | int, at: ast.stmt) -> ast.expr:
    return ast.copy_location(ast.Constant(value), at)


def _not(name: str, at: ast.stmt) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), _name(name, at)), at)


def _if(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], at: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.If(test, body or [_pass(at)], orelse), at)


def _pass(at: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Pass(), at)


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
                    result.append(_if(statement.test, then, orelse, statement))
                case ast.With():
                    inner = self.block(statement.body, loop)
                    if _contains(inner, (ast.Break, ast.Continue)):
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
        breaks = _contains(body, (ast.Break,))
        continues = _contains(body, (ast.Continue,))
        if not breaks and not continues:
            return [_with_body(statement, body)]
        if isinstance(statement, ast.For):
            self._check_kind(statement)
            given = _init_values(statement)
            if given is not None:
                return self._with_names_for_carries(statement, given, body)
        if continues:
            body = self._jump(body, ast.Continue, self.counter.fresh(CONTINUE), statement)
        if not breaks:
            return [_with_body(statement, body)]
        flag = self.counter.fresh(BREAK)
        body = self._jump(body, ast.Break, flag, statement, sets_before=False)
        before = _assign(flag, _constant(False, statement), statement)
        if isinstance(statement, ast.While):
            test = ast.BoolOp(ast.And(), [statement.test, _not(flag, statement)])
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
                ast.copy_location(ast.Assign([name], _name(hidden, name)), name)
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
            _assign(hidden, init, statement) for hidden, init in zip(fresh, inits, strict=True)
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
        start: ast.expr = _constant(0, at) if len(bounds) == 1 else bounds[0]
        stop = bounds[0] if len(bounds) == 1 else bounds[1]
        step: ast.expr = bounds[2] if len(bounds) == 3 else _constant(1, at)
        descends = self._descends(step)
        index, limit = self.counter.fresh(INDEX), self.counter.fresh(INDEX)
        order = ast.Gt() if descends else ast.Lt()
        compare = ast.copy_location(ast.Compare(_name(index, at), [order], [_name(limit, at)]), at)
        test = ast.copy_location(ast.BoolOp(ast.And(), [compare, _not(flag, at)]), at)
        step_on = _assign(
            index, ast.copy_location(ast.BinOp(_name(index, at), ast.Add(), step), at), at
        )
        loop_body: list[ast.stmt] = [
            _assign(statement.target.id, _name(index, at), at),
            *body,
            _if(_not(flag, at), [step_on], [], at),
        ]
        loop = ast.copy_location(ast.While(test, loop_body, []), at)
        as_index = ast.copy_location(
            ast.Call(_path(("pl", "cast"), at), [start, _path(("pl", "INDEX"), at)], []), at
        )
        return [_assign(index, as_index, at), _assign(limit, stop, at), loop]

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
            lowered.insert(0, _assign(flag, _constant(False, at), at))
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
                    result.append(_assign(flag, _constant(True, statement), statement))
                return result, always_set
            if not isinstance(statement, ast.If) or not _contains([statement], (kind,)):
                result.append(statement)
                continue
            then_leaves = _always_leaves(statement.body, kind)
            else_leaves = _always_leaves(statement.orelse, kind)
            if then_leaves and not _contains(statement.orelse, (kind,)):
                then, _ = self._skip(statement.body, kind, flag, always_set=always_set)
                tail, reads = self._skip(
                    [*statement.orelse, *rest], kind, flag, always_set=always_set
                )
                result.append(_if(statement.test, _useful(then, flag, always_set), tail, statement))
                return result, reads
            if else_leaves and not _contains(statement.body, (kind,)):
                orelse, _ = self._skip(statement.orelse, kind, flag, always_set=always_set)
                tail, reads = self._skip(
                    [*statement.body, *rest], kind, flag, always_set=always_set
                )
                orelse = _useful(orelse, flag, always_set)
                result.append(_if(statement.test, tail, orelse, statement))
                return result, reads
            then, _ = self._skip(statement.body, kind, flag, always_set=True)
            orelse, _ = self._skip(statement.orelse, kind, flag, always_set=True)
            result.append(_if(statement.test, then, orelse, statement))
            if rest:
                tail, _ = self._skip(rest, kind, flag, always_set=True)
                result.append(_if(_not(flag, statement), tail, [], statement))
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
            loads: list[ast.expr] = [_name(name, last) for name in names]
            value = loads[0] if len(loads) == 1 else ast.Tuple(loads, ast.Load())
            value = ast.copy_location(value, last)
        return [*lowered, ast.copy_location(ast.Return(value), last)]

    def flagged_returns(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """
        A function body whose returns, all of the same names, leave loops and branches that may
        also go on: each sets a flag that guards what follows.
        """
        found = [
            node
            for statement in body
            for node in ast.walk(statement)
            if isinstance(node, ast.Return)
        ]
        same = {_names_returned(node) for node in found}
        if len(same) != 1 or None in same:
            inner = next(node for node in found if _names_returned(node) in (None, *same))
            raise self.source.error(
                inner,
                "a 'return' inside a loop, or in a branch that may also go on, needs every return "
                "of the function to give the same names: keep the value and return it at the end",
            )
        last = body[-1]
        end = ast.copy_location(ast.Return(found[0].value), last)
        start = _assign(RETURNED, _constant(False, body[0]), body[0])
        return [start, *self._flagged(body, in_loop=False), end]

    def _flagged(self, body: Sequence[ast.stmt], *, in_loop: bool) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for place, statement in enumerate(body):
            rest = body[place + 1 :]
            if isinstance(statement, ast.Return):
                if rest:
                    raise self.source.error(rest[0], "this is never reached")
                result.append(_assign(RETURNED, _constant(True, statement), statement))
                if in_loop:
                    result.append(ast.copy_location(ast.Break(), statement))
                return result
            if not _contains([statement], (ast.Return,)):
                result.append(statement)
                continue
            match statement:
                case ast.For() | ast.While():
                    result.append(
                        _with_body(statement, self._flagged(statement.body, in_loop=True))
                    )
                    if in_loop:
                        leave: ast.stmt = ast.copy_location(ast.Break(), statement)
                        result.append(_if(_name(RETURNED, statement), [leave], [], statement))
                case ast.If():
                    then = self._flagged(statement.body, in_loop=in_loop)
                    orelse = self._flagged(statement.orelse, in_loop=in_loop)
                    result.append(_if(statement.test, then, orelse, statement))
                case ast.With():
                    inner = self._flagged(statement.body, in_loop=in_loop)
                    result.append(ast.copy_location(ast.With(statement.items, inner), statement))
                case _:
                    result.append(statement)
            if rest and not in_loop:
                tail = self._flagged(rest, in_loop=False)
                if tail:
                    result.append(_if(_not(RETURNED, statement), tail, [], statement))
                return result
        return result

    def _returned_names(self, body: Sequence[ast.stmt]) -> list[str] | None:
        for statement in body:
            for node in ast.walk(statement):
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
                    result.append(_assign(RETURN, statement.value, statement))
                return result
            if not _contains([statement], (ast.Return,)):
                result.append(statement)
                continue
            if isinstance(statement, ast.With):
                inner = self._returning(statement.body)
                result.append(ast.copy_location(ast.With(statement.items, inner), statement))
                return result
            assert isinstance(statement, ast.If)
            then_returns = _always_returns(statement.body)
            else_returns = _always_returns(statement.orelse)
            then, orelse = statement.body, statement.orelse
            if then_returns and else_returns and rest:
                raise self.source.error(rest[0], "this is never reached")
            if not then_returns:
                then = [*then, *rest]
            if not else_returns:
                orelse = [*orelse, *rest]
            result.append(
                _if(statement.test, self._returning(then), self._returning(orelse), statement)
            )
            return result
        return result


def _path(parts: Sequence[str], at: ast.stmt) -> ast.expr:
    node: ast.expr = _name(parts[0], at)
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
    return bool(body) and isinstance(body[-1], kind) and not _contains(body[:-1], (kind,))


def _returns_by_branches(body: Sequence[ast.stmt]) -> bool:
    """
    Whether every early return ends a branch after which nothing else of it goes on, so that what
    follows belongs to the other branch.
    """
    for place, statement in enumerate(body):
        rest = body[place + 1 :]
        if not _contains([statement], (ast.Return,)) or isinstance(statement, ast.Return):
            continue
        match statement:
            case ast.If(body=then, orelse=orelse):
                if rest and not _always_returns(then) and not _always_returns(orelse):
                    return False
                if not _returns_by_branches(then) or not _returns_by_branches(orelse):
                    return False
            case ast.With(body=inner):
                if any(not isinstance(after, ast.Return) for after in rest):
                    return False
                if not _returns_by_branches(inner):
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
        return _name(self.names.get(node.id, node.id), node)


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.With) and _always_returns(last.body)


def _with_body(statement: ast.For | ast.While, body: list[ast.stmt]) -> ast.stmt:
    if isinstance(statement, ast.For):
        made: ast.stmt = ast.For(statement.target, statement.iter, body, statement.orelse)
    else:
        made = ast.While(statement.test, body, statement.orelse)
    return ast.copy_location(made, statement)


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
        values: list[ast.expr] = [_name(name, at) for name in names]
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
        return [_assign(names[0], values[0], at)]
    between = [counter.fresh(YIELDED) for _ in names]
    return [
        *(_assign(name, value, at) for name, value in zip(between, values, strict=True)),
        *(_assign(name, _name(other, at), at) for name, other in zip(names, between, strict=True)),
    ]
