"""Loops: `pl.range` and its kin, `while`, and what they carry."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from pypto_xdsl.analysis.integer_ranges import IntegerRanges
from pypto_xdsl.dialects.orch.attributes import LoopKind, LoopKindAttr
from pypto_xdsl.dialects.orch.loops import LOOP_KIND, PIPELINE_STAGES, set_carries
from pypto_xdsl.dialects.ptensor.types import is_tensor_type
from pypto_xdsl.frontend.pl import statements
from pypto_xdsl.frontend.pl.carries import (
    Carry,
    Parting,
    bind_results,
    end_body,
    end_of,
    enter_carries,
    escape_values,
    escaping_names,
    explicit_carries,
    implicit_carries,
    leave_carries,
    yield_name,
    yields_of,
)
from pypto_xdsl.frontend.pl.context import Construct, Context, hint
from pypto_xdsl.frontend.pl.handed_on import HandedOn, Uncarried, enter, resume
from pypto_xdsl.frontend.pl.launches import constant_attribute
from pypto_xdsl.frontend.pl.merging import settle
from pypto_xdsl.frontend.pl.names import Frame
from pypto_xdsl.frontend.pl.scalars import binary, cast_scalar, condition_type
from pypto_xdsl.frontend.pl.source import dotted_name
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Typed,
    Unavailable,
    Value,
    describe_value,
    is_constant,
    is_value,
    literal_type,
)
from pypto_xdsl.frontend.pl.vocabulary import INDEX
from pypto_xdsl.syntax.spelling import did_you_mean

_Read = TypeVar("_Read")

REBOUND_MARK = "iter_arg_rebind_"
"""With the place of a carried value behind it: each iteration assigns it anew."""
SLOTS_MARK = "iter_arg_array_size_"
"""With the place of a carried value behind it: how many tasks the array has that it is."""

POSITIVE_MARK = "positive_step"
"""The step of the loop is positive, though only running the program tells what it is."""

MAX_UNROLL = 1024
"""How often a loop may be unrolled."""
_FORMS = ("range", "parallel", "unroll", "pipeline", "while_", "spmd", "split_aiv")


def read_yield(context: Context, target: ast.expr, call: ast.Call, statement: ast.stmt) -> None:
    """`a, b = pl.yield_(x, y)`: at the end of the block the names stand for the values."""
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names: list[str] = []
    for inner in targets:
        if not isinstance(inner, ast.Name):
            raise context.error(inner, "expected a name")
        names.append(inner.id)
    _yield(context, names, call, statement)


def bare_yield(context: Context, call: ast.Call) -> None:
    """`pl.yield_(x)` without names: only legal where nobody takes the values."""
    construct = context.constructs[-1] if context.constructs else None
    if construct is None:
        raise context.error(call, "pl.yield_ belongs at the end of a loop or branch")
    if construct.kind == "if":
        for argument in call.args:
            context.read(argument)
        return
    raise context.error(call, "a loop with init_values names what it yields: 'x = pl.yield_(...)'")


def _yield(context: Context, names: list[str], call: ast.Call, statement: ast.stmt) -> None:
    construct = context.constructs[-1] if context.constructs else None
    if construct is None:
        raise context.error(call, "pl.yield_ belongs at the end of a loop or branch")
    if construct.yields is not None:
        raise context.error(call, "this block yields twice")
    values = [context.read(argument) for argument in call.args]
    if len(values) == 1 and len(names) > 1 and isinstance(values[0], Tuple):
        values = list(values[0].elements)
    if len(values) != len(names):
        raise context.error(call, f"{len(names)} names for {len(values)} yielded values")
    construct.yields = names
    for name, value in zip(names, values, strict=True):
        context.names.bind(yield_name(context, name), value)


# What a loop carries


@dataclass
class _Header:
    """`pl.range(a, b, c, init_values=..., ...)`."""

    form: str
    bounds: list[ast.expr]
    keywords: dict[str, ast.expr]
    call: ast.Call


def _header(context: Context, statement: ast.For) -> _Header:
    call = statement.iter
    path = dotted_name(call.func) if isinstance(call, ast.Call) else None
    if path is None or not isinstance(call, ast.Call):
        raise context.error(call, "a loop goes over pl.range(...) or one of its kin")
    if path == ("range",):
        raise context.error(call, "Python's range(...) is not part of the DSL; use pl.range(...)")
    if len(path) != 2 or path[1] not in _FORMS:
        known = did_you_mean(path[-1], _FORMS)
        raise context.error(call, f"a loop goes over pl.range(...) or one of its kin{known}")
    keywords: dict[str, ast.expr] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise context.error(keyword.value, "'**' is not part of the DSL")
        keywords[keyword.arg] = keyword.value
    return _Header(path[1], list(call.args), keywords, call)


def read_for(context: Context, statement: ast.For) -> None:
    """Any `for` statement."""
    if statement.orelse:
        raise context.error(statement.orelse[0], "'else' of a loop is not part of the DSL")
    header = _header(context, statement)
    match header.form:
        case "spmd":
            from pypto_xdsl.frontend.pl import scopes

            scopes.read_spmd_for(context, statement, header.call)
        case "split_aiv":
            from pypto_xdsl.frontend.pl import scopes

            scopes.read_split_aiv(context, statement, header.call)
        case "while_":
            _read_while_form(context, statement, header)
        case "unroll":
            _unroll(context, statement, header)
        case _:
            _counted(context, statement, header)


_KEYWORDS = {
    "range": ("init_values", "attrs"),
    "parallel": ("init_values", "attrs"),
    "pipeline": ("init_values", "attrs", "stage"),
    "unroll": ("attrs",),
    "while_": ("init_values",),
}


def _check_keywords(context: Context, header: _Header) -> None:
    allowed = _KEYWORDS[header.form]
    for name, node in header.keywords.items():
        if name not in allowed:
            known = did_you_mean(name, allowed)
            raise context.error(node, f"pl.{header.form} has no argument '{name}'{known}")
    if not 1 <= len(header.bounds) <= 3 and header.form != "while_":
        raise context.error(
            header.call,
            f"pl.{header.form} takes a stop, or a start, a stop and a step, "
            f"got {len(header.bounds)} arguments",
        )


def _range(context: Context, header: _Header) -> tuple[Value, Value, Value]:
    """Start, stop and step."""
    values = [context.read(bound) for bound in header.bounds]
    for value, node in zip(values, header.bounds, strict=True):
        if isinstance(value, float | bool):
            raise context.error(node, f"a bound of a loop is an index, got {describe_value(value)}")
    match values:
        case [stop]:
            return 0, stop, 1
        case [start, stop]:
            return start, stop, 1
        case _:
            return values[0], values[1], values[2]


def _number(value: Value) -> int | None:
    if isinstance(value, Typed) and isinstance(value.value, int):
        return value.value
    return value if type(value) is int else None


def _counted(context: Context, statement: ast.For, header: _Header) -> None:
    """`pl.range`, `pl.parallel`, `pl.pipeline`."""
    _check_keywords(context, header)
    start, stop, step = _range(context, header)
    at = header.call
    variable, targets = statement.target, None
    if isinstance(variable, ast.Tuple | ast.List):
        if len(variable.elts) != 2 or "init_values" not in header.keywords:
            raise context.error(variable, "a loop with init_values is 'for i, (a, b) in ...'")
        variable, targets = variable.elts
    elif "init_values" in header.keywords:
        raise context.error(variable, "a loop with init_values is 'for i, (a, b) in ...'")
    if not isinstance(variable, ast.Name):
        raise context.error(variable, "expected a name")
    type = _variable_type(header, (start, stop, step))
    constant_step = _number(step)
    if constant_step == 0:
        raise context.error(header.bounds[2], "the step of a loop is not 0")
    if constant_step is None and not (_is_positive(step) or _says_positive(context, header)):
        raise context.error(
            header.bounds[2],
            "this step, known at run time only, may be 0 or negative: use pl.max(step, 1), or "
            f'attrs={{"{POSITIVE_MARK}": True}} if it never is',
        )
    descending = constant_step is not None and constant_step < 0
    lower, upper, by = start, stop, step
    if constant_step is not None and constant_step < 0:
        count = _trip_count(context, start, stop, -constant_step, at)
        lower, upper, by = 0, count, 1
    bounds = [context.as_index(bound, at) for bound in (lower, upper, by)]
    explicit: list[Carry] = []
    if targets is not None:
        explicit = explicit_carries(context, targets, header.keywords["init_values"], statement)
    attributes = _loop_attributes(context, header)

    def read_body(block: Block) -> tuple[Construct, Frame, list[Carry], HandedOn]:
        carries = [*explicit, *implicit_carries(context, statement, explicit)]
        counter = block.insert_arg(INDEX, 0)
        counter.location = context.source.location(variable)
        construct = Construct("for", node=statement)
        with context.within(construct), context.inside(block) as frame:
            enter_carries(context, carries, block, statement)
            value: Value = counter
            if descending:
                scaled = binary(context, ast.Mult(), counter, step, at)
                value = binary(context, ast.Add(), start, scaled, at)
            else:
                counter.name_hint = hint(variable.id)
            if type != INDEX:
                value = cast_scalar(context, context.materialize(value, at), type, at)
            context.bind(variable.id, value)
            statements.read_body(context, statement.body)
            handed = end_body(context, statement, frame, carries, explicit)
            yields = yields_of(context, construct, frame, explicit, statement)
            kept = leave_carries(context, carries, explicit, yields, frame, block, statement)
            frame.pop(context.prefix + variable.id, None)
        return construct, frame, kept, handed

    block, (construct, frame, kept, handed) = _until_parted(context, statement, explicit, read_body)
    escaping = escaping_names(context, statement, frame, kept)
    extra = escape_values(context, escaping, kept, block, statement, _runs(lower, upper))
    inits = [carry.init for carry in kept] + [init for _, init, _, _ in extra]
    ends = [carry.yielded for carry in kept if carry.yielded is not None]
    ends += [end for _, _, end, _ in extra]
    terminator = scf.YieldOp.create(operands=ends)
    terminator.location = context.source.location(statement)
    block.add_op(terminator)
    first, last, stride = bounds
    op = scf.ForOp.create(
        operands=[first, last, stride, *inits],
        result_types=[init.type for init in inits],
        regions=[Region(block)],
    )
    op.attributes |= attributes
    _mark_carries(context, op, header)
    context.emit(op, statement)
    bind_results(context, construct, kept, explicit, op.results, frame)
    for place, (names, init, end, _) in enumerate(extra):
        result = op.results[len(kept) + place]
        if is_tensor_type(result.type):
            context.names.aliases.merge(result, (init, end))
        for name in names:
            context.names.bind(name, result)
            result.name_hint = result.name_hint or hint(name.rpartition(":")[2])
    for name, value in escaping:
        if is_value(value):
            for carry, result in zip(kept, op.results, strict=False):
                if carry.yielded is value:
                    context.names.bind(name, result)
                    break
    if targets is None:
        _forget(context, variable.id)
    resume(context, handed, op.results)


def _is_positive(value: Value) -> bool:
    low = IntegerRanges().of(value).low if is_value(value) else None
    return low is not None and low > 0


def _says_positive(context: Context, header: _Header) -> bool:
    """Whether the marks of a loop say that its step is positive."""
    node = header.keywords.get("attrs")
    if not isinstance(node, ast.Dict):
        return False
    return any(
        isinstance(key, ast.Constant) and key.value == POSITIVE_MARK and context.read(value) is True
        for key, value in zip(node.keys, node.values, strict=True)
    )


def _until_parted(
    context: Context,
    statement: ast.stmt,
    explicit: Sequence[Carry],
    read_body: Callable[[Block], _Read],
) -> tuple[Block, _Read]:
    """
    What `read_body` makes of the body of a loop, and its block. Where it finds names that part
    from each other, or that have to be carried, the body is read again; the next reading, if any,
    knows of them.
    """
    aliases = context.names.aliases
    while True:
        block = Block()
        made = aliases.made
        try:
            return block, read_body(block)
        except Parting as parting:
            known = context.parted.setdefault(statement, set())
            known.update(parting.names)
        except Uncarried as missing:
            known = context.uncarried.setdefault(statement, set())
            known.update(name.removeprefix(context.prefix) for name in missing.names)
        aliases.forget(block, made)
        block.erase(safe_erase=False)
        for carry in explicit:
            carry.reset()


def _forget(context: Context, name: str) -> None:
    """The loop variable has no value after its loop."""
    context.names.bind(context.prefix + name, _LEFT)


_LEFT = Unavailable("is a loop variable and has no value after the loop")


def _variable_type(header: _Header, bounds: Sequence[Value]) -> Attribute:
    given = bounds if len(header.bounds) == 3 else bounds[: len(header.bounds) + 1]
    if len(header.bounds) == 1:
        given = bounds[1:2]
    elif len(header.bounds) == 2:
        given = bounds[:2]
    types = {literal_type(b) if is_constant(b) else getattr(b, "type", INDEX) for b in given}
    if len(types) != 1:
        return INDEX
    (type,) = types
    return INDEX if type in (INDEX, i64) else type


def _trip_count(context: Context, start: Value, stop: Value, step: int, node: ast.expr) -> Value:
    """How often a descending loop runs."""
    first, last = _number(start), _number(stop)
    if first is not None and last is not None:
        return max(0, -(-(first - last) // step))
    distance = start if last == 0 else binary(context, ast.Sub(), start, stop, node)
    rounded = binary(context, ast.Add(), distance, step - 1, node)
    if step == 1:
        return rounded
    divisor = context.constant(step, INDEX, node)
    found = context.as_index(rounded, node)
    return context.emit(arith.FloorDivSIOp(found, divisor), node).result


def _runs(lower: Value, upper: Value) -> bool:
    """Whether a loop runs at least once, for certain."""
    first, last = _number(lower), _number(upper)
    return first is not None and last is not None and first < last


def _loop_attributes(context: Context, header: _Header) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    if header.form in ("parallel", "unroll"):
        attributes[LOOP_KIND] = LoopKindAttr(LoopKind(header.form))
    elif header.form == "pipeline":
        attributes[LOOP_KIND] = LoopKindAttr(LoopKind.PIPELINE)
        if "stage" not in header.keywords:
            raise context.error(header.call, "pl.pipeline needs stage=")
        node = header.keywords["stage"]
        stages = context.static_int(context.read(node), node, "'stage'")
        if stages < 1:
            raise context.error(node, f"a pipeline has at least one stage, got {stages}")
        attributes[PIPELINE_STAGES] = IntegerAttr(stages, i64)
    if "attrs" in header.keywords:
        node = header.keywords["attrs"]
        if not isinstance(node, ast.Dict):
            raise context.error(node, "attrs is a dict of constants")
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                raise context.error(key or node, "a key of attrs is a string")
            if key.value.startswith((REBOUND_MARK, SLOTS_MARK, POSITIVE_MARK)):
                continue
            attribute = constant_attribute(context.read(value))
            if attribute is None:
                raise context.error(value, "a value of attrs is a constant")
            attributes[f"pl.{key.value}"] = attribute
    return attributes


def _mark(context: Context, node: ast.expr) -> int:
    value = context.read(node)
    if not isinstance(value, bool | int):
        raise context.error(node, f"a mark is a constant, got {describe_value(value)}")
    return int(value)


def _mark_carries(context: Context, op: scf.ForOp, header: _Header) -> None:
    """Take over what `attrs` says of the values that a loop carries."""
    node = header.keywords.get("attrs")
    if not isinstance(node, ast.Dict):
        return
    rebound, slots = [0] * len(op.iter_args), [0] * len(op.iter_args)
    found = False
    for key, value in zip(node.keys, node.values, strict=True):
        assert isinstance(key, ast.Constant)
        for mark, places in ((REBOUND_MARK, rebound), (SLOTS_MARK, slots)):
            number = str(key.value).removeprefix(mark)
            if number == key.value:
                continue
            if not number.isdecimal() or int(number) >= len(places):
                raise context.error(
                    key, f"'{key.value}' marks none of the {len(places)} values of the loop"
                )
            places[int(number)] = _mark(context, value)
            found = True
    if found:
        set_carries(op, [bool(flag) for flag in rebound], slots)


def _unroll(context: Context, statement: ast.For, header: _Header) -> None:
    """
    `pl.unroll`: the body once for each index. Where each name stands for one value the loop stays
    one: it hands nothing on, and `unroll-loops` finds it.
    """
    if context.strict_ssa:
        _counted(context, statement, header)
        return
    _check_keywords(context, header)
    numbers: list[int] = []
    for value, node in zip(_range(context, header), range(3), strict=True):
        number = _number(value)
        if number is None:
            at = header.bounds[min(node, len(header.bounds) - 1)]
            raise context.error(at, "the bounds of pl.unroll are constants")
        numbers.append(number)
    start, stop, step = numbers
    if step == 0:
        raise context.error(header.bounds[2], "the step of a loop is not 0")
    trips = range(start, stop, step)
    if len(trips) > MAX_UNROLL:
        raise context.error(
            header.call, f"a loop of {len(trips)} iterations is not unrolled; {MAX_UNROLL} are"
        )
    if not isinstance(statement.target, ast.Name):
        raise context.error(statement.target, "expected a name")
    context.unrolled *= max(len(trips), 1)
    if context.unrolled > MAX_UNROLL * 16:
        raise context.error(header.call, "loops unrolled inside loops make too large a program")
    for number in trips:
        context.names.bind(context.prefix + statement.target.id, number)
        statements.read_body(context, statement.body)
    context.unrolled //= max(len(trips), 1)
    _forget(context, statement.target.id)


# While


def read_while(context: Context, statement: ast.While) -> None:
    """`while condition:`."""
    if statement.orelse:
        raise context.error(statement.orelse[0], "'else' of a loop is not part of the DSL")
    _while(context, statement, statement.test, statement.body, [])


def _read_while_form(context: Context, statement: ast.For, header: _Header) -> None:
    """`for (a, b) in pl.while_(init_values=(x, y)):` with `pl.cond(...)` first."""
    _check_keywords(context, header)
    if header.bounds:
        raise context.error(header.bounds[0], "pl.while_ takes init_values only")
    if "init_values" not in header.keywords:
        raise context.error(header.call, "pl.while_ needs init_values=")
    first = statement.body[0]
    condition = None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Call):
        path = dotted_name(first.value.func)
        if path is not None and path[-1] == "cond" and len(first.value.args) == 1:
            condition = first.value.args[0]
    if condition is None:
        raise context.error(first, "a pl.while_ loop starts with pl.cond(...)")
    explicit = explicit_carries(
        context, statement.target, header.keywords["init_values"], statement
    )
    _while(context, statement, condition, statement.body[1:], explicit)


def _while(
    context: Context,
    statement: ast.For | ast.While,
    test: ast.expr,
    body: Sequence[ast.stmt],
    explicit: list[Carry],
) -> None:
    before = Block()

    def read_body(after: Block) -> tuple[Construct, Frame, list[Carry], HandedOn]:
        carries = [*explicit, *implicit_carries(context, statement, explicit)]
        construct = Construct("while", node=statement)
        with context.within(construct), context.inside(after) as frame:
            enter_carries(context, carries, after, statement)
            statements.read_body(context, body)
            handed = end_body(context, statement, frame, carries, explicit)
            yields = yields_of(context, construct, frame, explicit, statement)
            ends: list[SSAValue] = []
            for carry in carries:
                argument = carry.argument
                assert argument is not None
                found = end_of(carry, explicit, yields, frame)
                name = carry.names[0].rpartition(":")[2]
                carry.yielded = settle(context, argument, carry.init, found, after, name, statement)
                ends.append(carry.yielded)
            terminator = scf.YieldOp.create(operands=ends)
            terminator.location = context.source.location(statement)
            after.add_op(terminator)
        return construct, frame, carries, handed

    after, (construct, frame, carries, handed) = _until_parted(
        context, statement, explicit, read_body
    )
    with context.inside(before):
        for carry in carries:
            assert carry.argument is not None
            argument = before.insert_arg(carry.argument.type, len(before.args))
            argument.name_hint = hint(carry.names[0].rpartition(":")[2])
            if is_tensor_type(argument.type):
                context.names.aliases.merge(argument, (carry.init,))
            for name in carry.names:
                context.names.bind(name, argument)
        enter(context, before.args)
        condition = context.read(test)
        condition_type(context, condition, test)
        value = context.materialize(condition, test, i1)
        end = scf.ConditionOp(value, *before.args)
        context.emit(end, test)
    inits = [carry.init for carry in carries]
    op = scf.WhileOp(inits, [init.type for init in inits], Region(before), Region(after))
    context.emit(op, statement)
    bind_results(context, construct, carries, explicit, op.results, frame)
    resume(context, handed, op.results)
