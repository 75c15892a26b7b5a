"""What the decorators of a function, and `pl.func_attr` at its start, say about it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute

from pypto_xdsl.dialects.orch.attributes import (
    FunctionKind,
    Level,
    Role,
    SplitMode,
    SplitModeAttr,
)
from pypto_xdsl.dialects.orch.function_marks import (
    DEFERRED_COMPLETION_WAITER,
    DUAL_AIV_DISPATCH,
    MANUAL_LAYER,
    SLOT_NUM,
    SPLIT,
    SPLIT_AIV,
    SPMD_UNWRAPPED,
    WINDOWIZE,
)
from pypto_xdsl.frontend.pl.compile_time import Evaluator
from pypto_xdsl.frontend.pl.launches import constant_attribute
from pypto_xdsl.frontend.pl.source import dotted_name
from pypto_xdsl.frontend.pl.special_calls import function_decorator
from pypto_xdsl.frontend.pl.static_values import DslName, Function, Unsettled
from pypto_xdsl.frontend.pl.values import describe_value
from pypto_xdsl.frontend.pl.vocabulary import EnumWord
from pypto_xdsl.syntax.spelling import did_you_mean

AUTO_SCOPE = "auto_scope"
EXTERNAL_SOURCE = "external_source"
MIXED_SOURCES = frozenset(("pl.aic_source", "pl.aiv_source"))
"""Where the halves of a kernel for both kinds of core are, which is written in C++."""
MARKS: Mapping[str, str] = {
    "split_aiv": SPLIT_AIV,
    "windowize": WINDOWIZE,
    "spmd_unwrapped": SPMD_UNWRAPPED,
    "dual_aiv_dispatch": DUAL_AIV_DISPATCH,
    "deferred_completion_waiter": DEFERRED_COMPLETION_WAITER,
    "__compiler_auto_manual_layer_candidate": MANUAL_LAYER,
}
"""Marks that are there or not -> the attribute that says so."""
SYMBOL = "symbol"
"""The mark that says how a function is called whose name Python does not allow."""
FUNCTION_OPTIONS = (
    "type",
    "level",
    "role",
    "auto_scope",
    "strict_ssa",
    "attrs",
    "external_source",
)
_JIT_KINDS: Mapping[str, FunctionKind] = {
    "incore": FunctionKind.INCORE,
    "inline": FunctionKind.INLINE,
    "opaque": FunctionKind.OPAQUE,
    "host": FunctionKind.OPAQUE,
    "extern": FunctionKind.OPAQUE,
}

DERIVED: Mapping[FunctionKind, tuple[Level | None, Role | None]] = {
    FunctionKind.ORCHESTRATION: (Level.CHIP, Role.ORCHESTRATOR),
    FunctionKind.GRAPH: (Level.CHIP, Role.ORCHESTRATOR),
    FunctionKind.INCORE: (Level.CHIP_DIE, Role.SUB_WORKER),
    FunctionKind.AIC: (Level.AIC, Role.SUB_WORKER),
    FunctionKind.AIV: (Level.AIV, Role.SUB_WORKER),
    FunctionKind.GROUP: (Level.CORE_GROUP, Role.SUB_WORKER),
}
"""Level and role that follow from the kind."""


@dataclass
class Options:
    """What is said about a function."""

    kind: FunctionKind = FunctionKind.OPAQUE
    level: Level | None = None
    role: Role | None = None
    auto_scope: bool = True
    spliced: bool = False
    """Whether calls are replaced by the body while reading."""
    jit: bool = False
    symbol: str | None = None
    """What the function is called if not by the name in the text."""
    external: bool = False
    """Whether the body is not ours to read."""
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])


def read(function: Function) -> Options:
    """The options of a function."""
    options = Options()
    for decorator in function.node.decorator_list:
        path = function_decorator(decorator)
        if path is None:
            continue
        keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
        if isinstance(decorator, ast.Call) and decorator.args:
            raise function.source.error(decorator.args[0], "options of a function are keywords")
        if path[0] == "jit":
            _jit(function, options, path, keywords)
        elif path[0] == "inline":
            options.spliced = True
            options.kind = FunctionKind.INLINE
        else:
            _function(function, options, keywords)
    _prologue(function, options)
    if options.attributes.keys() & MIXED_SOURCES:
        options.external = True
    level, _ = DERIVED.get(options.kind, (None, None))
    if options.level is not None and level is not None and options.level is not level:
        raise function.source.error(
            function.node,
            f"a function of kind {options.kind.value} has level {level.value}, "
            f"got {options.level.value}",
        )
    if level is not None:
        options.level = options.role = None
    return options


def _evaluate(function: Function, node: ast.expr) -> Any:
    try:
        return Evaluator(function.scope).evaluate(node)
    except Unsettled as e:
        raise function.source.error(node, f"'{ast.unparse(node)}' {e.reason}") from None


def _word(function: Function, node: ast.expr, enum: str) -> Any:
    """A word of an enum, spelled out."""
    path = dotted_name(node)
    value = _evaluate(function, node)
    if isinstance(value, DslName) or not isinstance(value, EnumWord) or value.enum != enum:
        raise function.source.error(node, f"expected a word like pl.{enum}.X")
    if path is None or enum not in path:
        raise function.source.error(node, f"expected pl.{enum}.X, spelled out")
    return value.value


def _boolean(function: Function, node: ast.expr) -> bool:
    value = _evaluate(function, node)
    if not isinstance(value, bool):
        raise function.source.error(node, f"expected True or False, got {describe_value(value)}")
    return value


def _function(function: Function, options: Options, keywords: list[ast.keyword]) -> None:
    source = function.source
    for keyword in keywords:
        node = keyword.value
        match keyword.arg:
            case "type":
                options.kind = _word(function, node, "FunctionType")
            case "level":
                if not (isinstance(node, ast.Constant) and node.value is None):
                    options.level = _word(function, node, "Level")
            case "role":
                if not (isinstance(node, ast.Constant) and node.value is None):
                    options.role = _word(function, node, "Role")
            case "auto_scope":
                options.auto_scope = _boolean(function, node)
            case "strict_ssa":
                _boolean(function, node)
            case "attrs":
                _attributes(function, options, node, reserved=False)
            case "external_source":
                path = _constant_or_text(function, node)
                if not isinstance(path, str):
                    raise source.error(node, "external_source is a path")
                options.attributes[EXTERNAL_SOURCE] = StringAttr(path)
                options.external = True
            case None:
                raise source.error(node, "'**' is not part of the DSL")
            case name:
                known = did_you_mean(name, FUNCTION_OPTIONS)
                raise source.error(node, f"a function has no option '{name}'{known}")
    if not options.auto_scope:
        options.attributes[AUTO_SCOPE] = BoolAttr.from_bool(False)
    if options.external:
        if options.kind not in (FunctionKind.AIC, FunctionKind.AIV):
            raise source.error(
                function.node, "only a function of type AIC or AIV has external_source"
            )
        if not is_empty(function.node.body):
            raise source.error(function.node.body[0], "a function with external_source has no body")
    if is_host_worker(options.level, options.role):
        options.external = True


def is_host_worker(level: Level | None, role: Role | None) -> bool:
    """Whether the body of a function is Python for the host, not DSL, and bound at run time."""
    host = level in (Level.HOST, Level.CLUSTER_0, Level.CLUSTER_1, Level.CLUSTER_2)
    return host and role is Role.SUB_WORKER


def _jit(
    function: Function, options: Options, path: tuple[str, ...], keywords: list[ast.keyword]
) -> None:
    source = function.source
    form = path[1] if len(path) > 1 else ""
    if form and form not in _JIT_KINDS:
        known = did_you_mean(form, _JIT_KINDS)
        raise source.error(function.node, f"there is no @pl.jit.{form}{known}")
    options.jit = True
    options.kind = _JIT_KINDS.get(form, FunctionKind.ORCHESTRATION)
    options.spliced = form == "inline"
    if form == "host":
        options.level, options.role = Level.HOST, Role.ORCHESTRATOR
    for keyword in keywords:
        match keyword.arg:
            case "auto_scope":
                options.auto_scope = _boolean(function, keyword.value)
            case "level" if form == "incore":
                _word(function, keyword.value, "Level")
            case _ if form == "extern":
                _extern(function, options, keyword)
            case name:
                raise source.error(keyword.value, f"@pl.{'.'.join(path)} has no option '{name}'")
    if form == "extern":
        options.external = True
        if options.kind is FunctionKind.OPAQUE:
            options.kind = FunctionKind.GROUP
    if not options.auto_scope and not options.spliced:
        options.attributes[AUTO_SCOPE] = BoolAttr.from_bool(False)


def _extern(function: Function, options: Options, keyword: ast.keyword) -> None:
    """`@pl.jit.extern(core_type=..., source=...)`: a kernel written in C++."""
    name, node = keyword.arg, keyword.value
    value = _constant_or_text(function, node)
    match name:
        case "core_type":
            kinds = {
                "aic": FunctionKind.AIC,
                "aiv": FunctionKind.AIV,
                "mixed": FunctionKind.GROUP,
            }
            if value not in kinds:
                raise function.source.error(node, 'core_type is "aic", "aiv" or "mixed"')
            options.kind = kinds[value]
        case "source" | "aic_source" | "aiv_source":
            key = EXTERNAL_SOURCE if name == "source" else f"pl.{name}"
            options.attributes[key] = StringAttr(str(value))
        case "dual_aiv_dispatch":
            if value:
                options.attributes[MARKS["dual_aiv_dispatch"]] = UnitAttr()
        case "include_dirs":
            pass
        case _:
            raise function.source.error(node, f"@pl.jit.extern has no option '{name}'")


def _constant_or_text(function: Function, node: ast.expr) -> Any:
    try:
        return Evaluator(function.scope).evaluate(node)
    except Unsettled:
        # A path that is computed: what matters is that there is one.
        return ast.unparse(node)


def _prologue(function: Function, options: Options) -> None:
    """`pl.func_attr({...})` before every other statement."""
    seen: set[str] = set()
    for statement in function.node.body:
        if not isinstance(statement, ast.Expr):
            break
        value = statement.value
        if isinstance(value, ast.Constant):
            continue
        if not isinstance(value, ast.Call):
            break
        path = dotted_name(value.func)
        if path is None or path[-1] != "func_attr":
            break
        if len(value.args) != 1 or value.keywords or not isinstance(value.args[0], ast.Dict):
            raise function.source.error(value, "pl.func_attr takes one dict")
        for key in value.args[0].keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                if key.value in seen:
                    raise function.source.error(key, f"attribute '{key.value}' is given twice")
                seen.add(key.value)
        _attributes(function, options, value.args[0], reserved=True)


def is_prologue(statement: ast.stmt) -> bool:
    """Whether a statement is a `pl.func_attr(...)`."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    path = dotted_name(statement.value.func)
    return path is not None and path[-1] == "func_attr"


def _attributes(function: Function, options: Options, node: ast.expr, *, reserved: bool) -> None:
    source = function.source
    if not isinstance(node, ast.Dict):
        raise source.error(node, "attributes are given as a dict")
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise source.error(key or node, "a key of the attributes is a string")
        name = key.value
        if reserved and name in (AUTO_SCOPE, EXTERNAL_SOURCE):
            raise source.error(key, f"'{name}' is an option of the decorator")
        try:
            constant = Evaluator(function.scope).evaluate(value)
        except Unsettled:
            # Lists of parameters and the like: marks of PyPTO's own passes.
            continue
        _attribute(function, options, name, constant, value)


def _attribute(function: Function, options: Options, name: str, value: Any, node: ast.expr) -> None:
    if name == "split":
        if isinstance(value, EnumWord):
            value = value.value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2:
            value = tuple(SplitMode)[value]
        if not isinstance(value, SplitMode):
            raise function.source.error(node, f"split is no {describe_value(value)}")
        if value is not SplitMode.NONE:
            options.attributes[SPLIT] = SplitModeAttr(value)
    elif name in MARKS and isinstance(value, bool):
        if value:
            options.attributes[MARKS[name]] = UnitAttr()
    elif name == "slot_num" and isinstance(value, int):
        options.attributes[SLOT_NUM] = IntegerAttr(value, i64)
    elif name == SYMBOL and isinstance(value, str):
        options.symbol = value
    elif name == AUTO_SCOPE and isinstance(value, bool):
        options.auto_scope = value
    elif name == EXTERNAL_SOURCE and isinstance(value, str):
        options.attributes[name] = StringAttr(value)
    elif (attribute := constant_attribute(value)) is not None:
        options.attributes[f"pl.{name}"] = attribute


def is_empty(body: list[ast.stmt]) -> bool:
    """Whether a body is `...`, `pass` or a docstring."""
    return all(
        isinstance(statement, ast.Pass)
        or is_prologue(statement)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )
