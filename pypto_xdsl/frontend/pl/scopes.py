"""Scopes: `with pl.at(...)` and its kin, `pl.spmd`, `pl.split_aiv`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from pypto_xdsl.dialects.orch.attributes import (
    Level,
    LevelAttr,
    Role,
    RoleAttr,
    ScopeMode,
    SplitMode,
    SplitModeAttr,
)
from pypto_xdsl.dialects.orch.launch import Predicate
from pypto_xdsl.dialects.orch.scopes import (
    ClusterOp,
    HierarchyOp,
    IncoreOp,
    OutlinableScopeOp,
    SplitAivOp,
    SpmdOp,
    TaskScopeOp,
)
from pypto_xdsl.dialects.tile.grid import GetBlockIdxOp
from pypto_xdsl.frontend.pl import launches, statements
from pypto_xdsl.frontend.pl.context import Context, as_tuple, hint
from pypto_xdsl.frontend.pl.expressions import enum_word
from pypto_xdsl.frontend.pl.handed_on import end_region
from pypto_xdsl.frontend.pl.scope_outputs import Outputs, bind_outputs, outputs_of
from pypto_xdsl.frontend.pl.source import descendants, dotted_name
from pypto_xdsl.frontend.pl.values import (
    Unavailable,
    describe_value,
    is_tensor,
)
from pypto_xdsl.frontend.pl.vocabulary import INDEX
from pypto_xdsl.syntax.spelling import did_you_mean

_FORMS = ("at", "cluster", "spmd", "scope", "manual_scope")
Body = Callable[[], None]


@dataclass
class _Options:
    """What a scope says of itself."""

    hint: str | None = None
    deps: list[SSAValue] = field(default_factory=list[SSAValue])
    width: SSAValue | None = None
    sync_start: bool = False
    predicate: Predicate | None = None
    early_resolve: bool = False
    no_dep: list[SSAValue] = field(default_factory=list[SSAValue])
    dump: list[SSAValue] = field(default_factory=list[SSAValue])
    split: SplitMode | None = None
    slots: int | None = None
    windowize: bool = False
    level: Level | None = None
    role: Role | None = None


def read_with(context: Context, statement: ast.With) -> None:
    """Any `with` statement."""
    if len(statement.items) != 1:
        raise context.error(statement, "a 'with' opens one scope")
    (item,) = statement.items
    call = item.context_expr
    path = dotted_name(call.func) if isinstance(call, ast.Call) else None
    if path is None or not isinstance(call, ast.Call) or path[-1] not in _FORMS:
        known = did_you_mean(path[-1], _FORMS) if path else ""
        raise context.error(call, f"a 'with' opens a scope like pl.at(...){known}")
    task: str | None = None
    if item.optional_vars is not None:
        if not isinstance(item.optional_vars, ast.Name):
            raise context.error(item.optional_vars, "expected a name")
        task = item.optional_vars.id
    form = path[-1]
    if task is not None and form not in ("at", "spmd"):
        raise context.error(call, f"pl.{form} is no task: it has no 'as'")
    match form:
        case "at":
            _at(context, statement, call, task)
        case "cluster":
            options = _options(context, call, CLUSTER_ARGUMENTS)
            _outlinable(context, statement, ClusterOp, options, statement.body, None, {})
        case "spmd":
            _spmd(context, statement, call, task)
        case _:
            _task_scope(context, statement, call, form)


# Options


def _options(
    context: Context, call: ast.Call, allowed: Sequence[str], positional: Sequence[str] = ()
) -> _Options:
    options = _Options()
    what = ".".join(dotted_name(call.func) or ("this",))
    given: list[tuple[str, ast.expr]] = []
    if len(call.args) > len(positional):
        raise context.error(
            call.args[len(positional)], f"{what} takes no more positional arguments"
        )
    given += zip(positional, call.args, strict=False)
    for keyword in call.keywords:
        if keyword.arg is None:
            raise context.error(keyword.value, "'**' is not part of the DSL")
        given.append((keyword.arg, keyword.value))
    seen: set[str] = set()
    for name, node in given:
        if name in seen:
            raise context.error(node, f"{what} is given '{name}' twice")
        seen.add(name)
        if name not in allowed:
            raise context.error(
                node, f"{what} has no argument '{name}'{did_you_mean(name, allowed)}"
            )
        _option(context, options, name, node)
    return options


def _option(context: Context, options: _Options, name: str, node: ast.expr) -> None:
    match name:
        case "level":
            options.level = _enum(context, node, Level)
        case "role":
            if not (isinstance(node, ast.Constant) and node.value is None):
                options.role = _enum(context, node, Role)
        case "name_hint":
            value = context.read(node)
            if value == "" or value is None:
                return
            if not isinstance(value, str) or not value.isidentifier():
                raise context.error(node, "name_hint is a string that is an identifier")
            options.hint = value
        case "deps":
            options.deps = launches.read_deps(context, node)
        case "core_num":
            value = context.read(node)
            if type(value) is int and value <= 0:
                raise context.error(node, f"an spmd scope needs a positive width, got {value}")
            options.width = context.as_index(value, node)
        case "sync_start":
            options.sync_start = _boolean(context, node)
        case "predicate":
            options.predicate = launches.read_predicate(context, node)
        case "allow_early_resolve":
            options.early_resolve = _boolean(context, node)
        case "windowize":
            options.windowize = _boolean(context, node)
        case "no_dep_args":
            options.no_dep = _tensors(context, node)
        case "dumps":
            options.dump = _tensors(context, node)
        case "optimizations":
            _optimizations(context, options, node)
        case _:
            raise AssertionError(name)


def _enum(context: Context, node: ast.expr, kind: type[Any]) -> Any:
    word = enum_word(context, node)
    if not isinstance(word.value, kind):
        raise context.error(node, f"expected a word of pl.{kind.__name__}, got {word}")
    return word.value


def _boolean(context: Context, node: ast.expr) -> bool:
    value = context.read(node)
    if not isinstance(value, bool):
        raise context.error(node, f"expected True or False, got {describe_value(value)}")
    return value


def _tensors(context: Context, node: ast.expr) -> list[SSAValue]:
    found: list[SSAValue] = []
    for value in as_tuple(context.read(node)) or ():
        if not is_tensor(value):
            raise context.error(node, f"expected tensors, got {describe_value(value)}")
        found.append(value)
    return found


def _optimizations(context: Context, options: _Options, node: ast.expr) -> None:
    """`[pl.split(pl.SplitMode.UP_DOWN), pl.cross_core_slot(slot_num=4)]`."""
    if not isinstance(node, ast.List | ast.Tuple):
        raise context.error(node, "optimizations is a list")
    for entry in node.elts:
        path = dotted_name(entry.func) if isinstance(entry, ast.Call) else dotted_name(entry)
        word = path[-1] if path else ""
        if word == "split" and isinstance(entry, ast.Call):
            arguments = {"mode": entry.args[0]} if entry.args else {}
            arguments |= {k.arg: k.value for k in entry.keywords if k.arg is not None}
            if options.split is not None:
                raise context.error(entry, "pl.split is given twice")
            mode = arguments.pop("mode", None)
            options.split = SplitMode.UP_DOWN if mode is None else _enum(context, mode, SplitMode)
            if "slot_num" in arguments:
                options.slots = _slots(context, arguments.pop("slot_num"))
            if arguments:
                raise context.error(entry, f"pl.split has no argument '{next(iter(arguments))}'")
        elif word == "cross_core_slot" and isinstance(entry, ast.Call):
            values = [*entry.args, *(k.value for k in entry.keywords)]
            if len(values) != 1:
                raise context.error(entry, "pl.cross_core_slot takes slot_num")
            options.slots = _slots(context, values[0])
        elif word == "auto_chunk":
            continue
        else:
            raise context.error(
                entry, "an optimization is pl.split(...) or pl.cross_core_slot(...)"
            )


def _slots(context: Context, node: ast.expr) -> int:
    slots = context.static_int(context.read(node), node, "'slot_num'")
    if slots < 1:
        raise context.error(node, f"a ring has at least one slot, got {slots}")
    return slots


# Scopes that become functions

_SPLIT = "split"
"""What a scope's entry in `Context.scopes` ends with that says itself how it is split."""
CLUSTER_ARGUMENTS = ("name_hint",)
AT_ARGUMENTS = (
    "level",
    "role",
    "optimizations",
    "name_hint",
    "deps",
    "no_dep_args",
    "dumps",
    "allow_early_resolve",
    "windowize",
)


def _at(context: Context, statement: ast.With, call: ast.Call, task: str | None) -> None:
    options = _options(context, call, AT_ARGUMENTS, ("level", "role"))
    if options.level is None:
        raise context.error(call, "pl.at needs a level")
    if options.level is Level.CORE_GROUP:
        if options.role is not None:
            raise context.error(call, "pl.at has no role at level CORE_GROUP")
        _outlinable(context, statement, IncoreOp, options, statement.body, task, _incore(options))
        return
    if options.split is not None or options.slots is not None:
        raise context.error(call, "optimizations belong to level CORE_GROUP")
    properties: dict[str, Attribute] = {"level": LevelAttr(options.level)}
    if options.role is not None:
        properties["role"] = RoleAttr(options.role)
    _outlinable(context, statement, HierarchyOp, options, statement.body, task, properties)


def _incore(options: _Options) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {}
    if options.split not in (None, SplitMode.NONE):
        properties["split"] = SplitModeAttr(options.split)
    if options.slots is not None:
        properties["slot_num"] = IntegerAttr(options.slots, i64)
    if options.windowize:
        properties["windowize"] = UnitAttr()
    return properties


def _outlinable(
    context: Context,
    statement: ast.stmt,
    kind: type[OutlinableScopeOp],
    options: _Options,
    body: Sequence[ast.stmt] | Body,
    task: str | None,
    properties: dict[str, Attribute],
) -> None:
    """Read the body of a scope and make the op around it."""
    context.policies.append([])
    word = kind.name if options.split is None else f"{kind.name} {_SPLIT}"
    block, outputs = _body(context, statement, word, body)
    policies = context.policies.pop()
    op = kind.around(
        Region(block),
        outputs.types,
        hint=options.hint,
        deps=options.deps,
        launch=options.width,
        sync_start=options.sync_start,
        predicate=options.predicate,
        early_resolve=options.early_resolve,
        no_dep=options.no_dep,
        dump=options.dump,
        cached=[(tensor, policy) for tensor, policy, _ in policies],
        as_task=task is not None,
        properties=properties,
    )
    context.emit(op, statement)
    bind_outputs(context, outputs, op.outputs)
    if task is not None:
        assert op.task is not None
        context.bind(task, op.task)


def _body(
    context: Context, statement: ast.stmt, kind: str, body: Sequence[ast.stmt] | Body
) -> tuple[Block, Outputs]:
    """The block of a scope, ended, and what it gives to names read after it."""
    block = Block()
    context.scopes.append(kind)
    with context.inside(block) as frame:
        if callable(body):
            body()
        else:
            statements.read_body(context, body)
        handed = end_region(context, statement, frame, is_scope=True)
    context.scopes.pop()
    return block, outputs_of(context, statement, block, frame, handed)


SPMD_ARGUMENTS = (
    "core_num",
    "sync_start",
    "name_hint",
    "optimizations",
    "deps",
    "allow_early_resolve",
    "predicate",
)


def _spmd_options(context: Context, call: ast.Call) -> _Options:
    options = _options(context, call, SPMD_ARGUMENTS, ("core_num",))
    if options.width is None:
        raise context.error(call, "pl.spmd needs the number of cores")
    return options


def _spmd(context: Context, statement: ast.With, call: ast.Call, task: str | None) -> None:
    options = _spmd_options(context, call)
    body = [s for s in statement.body if not _is_docstring(s)]
    dispatches = [s for s in body if _is_dispatch(s)]
    direct = len(body) == 1 and (_is_dispatch(body[0]) or isinstance(body[0], ast.With))
    direct |= len(dispatches) == 1 and not _asks_for_block(body)
    if direct or context.strict_ssa:
        _outlinable(context, statement, SpmdOp, options, statement.body, task, {})
        return
    if len(dispatches) == len(body) and len(body) > 1:
        raise context.error(body[1], "a pl.spmd scope launches one kernel")
    _spmd_around_incore(context, statement, options, statement.body, task)


def _asks_for_block(body: Sequence[ast.stmt]) -> bool:
    """Whether statements ask for the index of the block that they run in."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == "get_block_idx"
        for statement in body
        for node in descendants(statement)
    )


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_dispatch(statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Call):
        return False
    path = dotted_name(value.func)
    return path is not None and (
        path[0] == "self" or len(path) == 1 or path[-1] in ("submit", "spmd_submit")
    )


def _spmd_around_incore(
    context: Context,
    statement: ast.stmt,
    options: _Options,
    body: Sequence[ast.stmt] | Body,
    task: str | None,
) -> None:
    """An spmd scope whose body is a kernel of its own."""
    inner = _Options(hint=options.hint, split=options.split, slots=options.slots)
    if options.hint is not None:
        bare = options.hint.removesuffix("_spmd")
        inner.hint = bare
        options.hint = f"{bare}_spmd"

    def incore() -> None:
        _outlinable(context, statement, IncoreOp, inner, body, None, _incore(inner))

    _outlinable(context, statement, SpmdOp, options, incore, task, {})


def read_spmd_for(context: Context, statement: ast.For, call: ast.Call) -> None:
    """`for i in pl.spmd(n):`."""
    if not isinstance(statement.target, ast.Name):
        raise context.error(statement.target, "pl.spmd gives one index")
    name = statement.target.id
    options = _spmd_options(context, call)
    only = statement.body[0]

    def body() -> None:
        index = context.emit(GetBlockIdxOp(), call).result
        context.bind(name, index)
        statements.read_body(context, statement.body)

    if len(statement.body) == 1 and isinstance(only, ast.With) and _is_incore(only):
        # The body is a kernel already.
        def direct() -> None:
            _nested_incore(context, statement, only, name, call)

        _outlinable(context, statement, SpmdOp, options, direct, None, {})
    else:
        _spmd_around_incore(context, statement, options, body, None)
    context.names.bind(
        context.prefix + name, Unavailable("is a loop variable and has no value after the loop")
    )


def _is_incore(statement: ast.With) -> bool:
    call = statement.items[0].context_expr
    path = dotted_name(call.func) if isinstance(call, ast.Call) else None
    return path is not None and path[-1] == "at"


def _nested_incore(
    context: Context, statement: ast.For, inner: ast.With, name: str, call: ast.Call
) -> None:
    at = inner.items[0].context_expr
    assert isinstance(at, ast.Call)
    options = _options(context, at, AT_ARGUMENTS, ("level", "role"))
    if options.level is not Level.CORE_GROUP:
        raise context.error(at, "the body of pl.spmd runs at level CORE_GROUP")

    def body() -> None:
        index = context.emit(GetBlockIdxOp(), call).result
        context.bind(name, index)
        statements.read_body(context, inner.body)

    _outlinable(context, statement, IncoreOp, options, body, None, _incore(options))


# Split between vector cores


def read_split_aiv(context: Context, statement: ast.For, call: ast.Call) -> None:
    """`for core in pl.split_aiv(2, mode=...):`."""
    if not isinstance(statement.target, ast.Name):
        raise context.error(statement.target, "pl.split_aiv gives one index")
    if len(call.args) != 1 or context.read(call.args[0]) != 2:
        raise context.error(call, "pl.split_aiv is over the 2 vector cores of a group")
    modes = [k.value for k in call.keywords if k.arg == "mode"]
    if len(modes) != 1 or len(call.keywords) != 1:
        raise context.error(call, "pl.split_aiv needs mode= and nothing else")
    mode = _enum(context, modes[0], SplitMode)
    if context.is_inside(SplitAivOp.name):
        raise context.error(call, "a pl.split_aiv region cannot hold another")
    if context.is_inside(f"{IncoreOp.name} {_SPLIT}"):
        raise context.error(
            call,
            "a scope with pl.split(...) holds no pl.split_aiv: both say how its work is split, "
            "even where the split is NONE; drop one of the two, and set the number of slots by "
            "pl.cross_core_slot(slot_num=N)",
        )
    kernel = context.kind.is_in_core or context.is_inside(IncoreOp.name)
    if not kernel:

        def wrapped() -> None:
            _split_aiv(context, statement, mode)

        _outlinable(context, statement, IncoreOp, _Options(), wrapped, None, {})
    else:
        _split_aiv(context, statement, mode)


def _split_aiv(context: Context, statement: ast.For, mode: SplitMode) -> None:
    assert isinstance(statement.target, ast.Name)
    name = statement.target.id
    block = Block(arg_types=[INDEX])
    block.args[0].name_hint = hint(name)
    block.args[0].location = context.source.location(statement.target)
    context.scopes.append(SplitAivOp.name)
    context.split_modes.append(mode)
    with context.inside(block) as frame:
        context.bind(name, block.args[0])
        statements.read_body(context, statement.body)
        frame.pop(context.prefix + name, None)
        handed = end_region(context, statement, frame, is_scope=True)
    context.split_modes.pop()
    context.scopes.pop()
    outputs = outputs_of(context, statement, block, frame, handed)
    op = SplitAivOp(mode, outputs.types, Region(block))
    context.emit(op, statement)
    bind_outputs(context, outputs, op.outputs)


# Scopes of tasks


def _task_scope(context: Context, statement: ast.With, call: ast.Call, form: str) -> None:
    mode = ScopeMode.MANUAL
    if form == "manual_scope":
        if call.args or call.keywords:
            raise context.error(call, "pl.manual_scope takes no arguments")
    else:
        mode = ScopeMode.AUTO
        for keyword in call.keywords:
            if keyword.arg != "mode":
                raise context.error(keyword.value, f"pl.scope has no argument '{keyword.arg}'")
            word = enum_word(context, keyword.value)
            mode = ScopeMode.MANUAL if word.value == "manual" else ScopeMode.AUTO
        if call.args:
            raise context.error(call.args[0], "pl.scope takes mode= only")
    manual = f"{TaskScopeOp.name} manual"
    if context.is_inside(manual):
        what = "another" if mode is ScopeMode.MANUAL else "an automatic scope"
        raise context.error(call, f"a manual scope cannot hold {what}")
    if mode is ScopeMode.AUTO and context.auto_scope and not context.strict_ssa:
        raise context.error(call, "pl.scope() needs @pl.function(auto_scope=False)")
    block, outputs = _body(context, statement, f"{TaskScopeOp.name} {mode.value}", statement.body)
    op = TaskScopeOp(mode, outputs.types, Region(block))
    context.emit(op, statement)
    bind_outputs(context, outputs, op.outputs)
