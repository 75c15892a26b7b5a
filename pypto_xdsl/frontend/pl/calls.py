"""Calls and submits of functions of the program; functions spliced into their caller."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from pypto_xdsl.dialects.element_types import is_element_type
from pypto_xdsl.dialects.orch.attributes import (
    TASK_ID,
    ArgDirection,
    ArrayType,
    Comparison,
    Direction,
)
from pypto_xdsl.dialects.orch.calls import CallOp, SubmitOp
from pypto_xdsl.dialects.orch.launch import Predicate
from pypto_xdsl.dialects.orch.tasks import ArrayCreateOp, ArrayGetOp, ArrayUpdateOp
from pypto_xdsl.dialects.ptensor.types import (
    is_tensor_type,
    layout_of,
    pad_value_of,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.frontend.pl.compile_time import (
    DslName,
    Evaluator,
    Function,
    StaticScope,
    Symbol,
    Unsettled,
)
from pypto_xdsl.frontend.pl.context import Context, as_tuple, task_or_fail
from pypto_xdsl.frontend.pl.scalars import cast_scalar
from pypto_xdsl.frontend.pl.source import dotted_name
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Typed,
    Unavailable,
    Value,
    describe_type,
    describe_value,
    is_constant,
    is_tensor,
)
from pypto_xdsl.frontend.pl.vocabulary import EnumWord
from pypto_xdsl.syntax.lists import Index
from pypto_xdsl.syntax.spelling import did_you_mean

MAX_SPLICES = 60
"""How deep inline functions may call each other."""

_COMPARISONS: Mapping[type[ast.cmpop], Comparison] = {
    ast.Eq: Comparison.EQ,
    ast.NotEq: Comparison.NE,
    ast.Lt: Comparison.LT,
    ast.LtE: Comparison.LE,
    ast.Gt: Comparison.GT,
    ast.GtE: Comparison.GE,
}
_MIRRORED = {
    Comparison.LT: Comparison.GT,
    Comparison.LE: Comparison.GE,
    Comparison.GT: Comparison.LT,
    Comparison.GE: Comparison.LE,
}


@dataclass
class Launch:
    """What a call or submit says beside its arguments."""

    deps: list[SSAValue] = field(default_factory=list[SSAValue])
    width: SSAValue | None = None
    sync_start: bool = False
    predicate: Predicate | None = None
    early_resolve: bool = False
    no_dep: list[int] = field(default_factory=list[int])
    dump: list[int] = field(default_factory=list[int])
    directions: list[ArgDirection] | None = None
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])


def call_member(context: Context, name: str, node: ast.Call) -> Value:
    """`self.name(...)`."""
    program = context.program
    if name not in program.functions:
        known = did_you_mean(name, program.functions)
        raise context.error(node.func, f"the program has no function '{name}'{known}")
    return _call(context, program.functions[name], node)


def call_function(context: Context, function: Function, node: ast.Call) -> Value:
    """A call of a function of the DSL by its name."""
    info = context.program.adopt(context, function, node)
    return _call(context, info, node)


def _call(context: Context, info: Any, node: ast.Call) -> Value:
    if info.spliced:
        return splice(context, info, node)
    launch = Launch()
    arguments = _arguments(context, info, node.args, node.keywords, node, launch, submit=False)
    return dispatch(context, info, arguments, node, launch, submit=False)


def submit(context: Context, node: ast.Call, *, spmd: bool) -> Value:
    """`pl.submit(self.k, ...)` and `pl.spmd_submit(self.k, ..., core_num=n)`."""
    what = "pl.spmd_submit" if spmd else "pl.submit"
    if not node.args:
        raise context.error(node, f"{what} needs the function to launch")
    target, *rest = node.args
    path = dotted_name(target)
    if path is not None and path[0] == "self" and len(path) == 2:
        if path[1] not in context.program.functions:
            known = did_you_mean(path[1], context.program.functions)
            raise context.error(target, f"the program has no function '{path[1]}'{known}")
        info = context.program.functions[path[1]]
    else:
        value = None
        if isinstance(target, ast.Name):
            try:
                value = context.scope.lookup(target.id, target.lineno)
            except (KeyError, Unsettled):
                value = None
        if not isinstance(value, Function):
            raise context.error(
                target, f"{what} launches a function of the program, like self.kernel"
            )
        info = context.program.adopt(context, value, node)
    launch = Launch()
    options: list[ast.keyword] = []
    for keyword in node.keywords:
        match keyword.arg:
            case "deps":
                launch.deps += read_deps(context, keyword.value)
            case "core_num" if spmd:
                launch.width = context.index(keyword.value)
            case "sync_start" if spmd:
                launch.sync_start = _flag(context, keyword)
            case "allow_early_resolve":
                launch.early_resolve = _flag(context, keyword)
            case "predicate":
                launch.predicate = read_predicate(context, keyword.value)
            case "dumps":
                options.append(keyword)
            case _:
                options.append(keyword)
    if spmd and launch.width is None:
        raise context.error(node, f"{what} needs core_num=")
    arguments = _arguments(context, info, rest, options, node, launch, submit=True)
    return dispatch(context, info, arguments, node, launch, submit=True)


def _flag(context: Context, keyword: ast.keyword) -> bool:
    value = context.read(keyword.value)
    if not isinstance(value, bool):
        raise context.error(keyword.value, f"{keyword.arg} must be True or False")
    return value


def _arguments(
    context: Context,
    info: Any,
    positional: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    node: ast.Call,
    launch: Launch,
    *,
    submit: bool,
) -> list[tuple[Value, ast.expr]]:
    """The arguments in the order of the parameters; marks go to `launch`."""
    given: list[tuple[Value, ast.expr]] = []
    for place, argument in enumerate(positional):
        inner = argument
        if isinstance(argument, ast.Starred):
            raise context.error(argument, "'*' is not part of the DSL")
        if isinstance(argument, ast.Call) and _is_dsl(context, argument, "no_dep"):
            if len(argument.args) != 1:
                raise context.error(argument, "pl.no_dep takes one argument")
            inner = argument.args[0]
            launch.no_dep.append(place)
        given.append((context.read(inner), inner))
    names = info.parameter_names
    by_name: dict[str, tuple[Value, ast.expr]] = {}
    for keyword in keywords:
        match keyword.arg:
            case "attrs":
                continue
            case "dumps":
                continue
            case "device":
                raise context.error(keyword.value, "a call on another device is not supported")
            case str() as name if name in names and info.accepts_keywords:
                by_name[name] = (context.read(keyword.value), keyword.value)
            case None:
                raise context.error(keyword.value, "'**' is not part of the DSL")
            case name:
                raise context.error(keyword.value, f"'{info.name}' has no argument '{name}'")
    if by_name:
        for name in names[len(given) :]:
            if name not in by_name:
                break
            given.append(by_name.pop(name))
        if by_name:
            name = next(iter(by_name))
            raise context.error(
                by_name[name][1], f"'{info.name}' is given '{name}' out of order or twice"
            )
    wanted = len(names)
    minimum = wanted
    if submit:
        while minimum and info.directions[minimum - 1] is not Direction.IN:
            minimum -= 1
    if not minimum <= len(given) <= wanted:
        signature = ", ".join(
            f"{direction.value} {name}"
            for direction, name in zip(info.directions, names, strict=True)
        )
        raise context.error(
            node,
            f"'{info.name}' takes {wanted} arguments ({signature}), got {len(given)}",
        )
    for keyword in keywords:
        if keyword.arg == "attrs":
            _read_attributes(context, keyword.value, given, launch)
        elif keyword.arg == "dumps":
            launch.dump += _positions(context, keyword.value, given)
    for place, (value, argument) in enumerate(given):
        if isinstance(argument, ast.Name) and argument.id in context.dumped and is_tensor(value):
            launch.dump.append(place)
    return given


def _is_dsl(context: Context, node: ast.Call, name: str) -> bool:
    path = dotted_name(node.func)
    return path is not None and len(path) == 2 and path[1] == name and path[0] != "self"


def _positions(
    context: Context, node: ast.expr, given: Sequence[tuple[Value, ast.expr]]
) -> list[int]:
    """The positions of the arguments that a list names."""
    if not isinstance(node, ast.List | ast.Tuple):
        raise context.error(node, "expected a list of arguments")
    found: list[int] = []
    for element in node.elts:
        value = context.read(element)
        for place, (argument, _) in enumerate(given):
            if argument is value:
                found.append(place)
                break
        else:
            raise context.error(element, f"'{ast.unparse(element)}' is no argument of this call")
    return found


def _read_attributes(
    context: Context,
    node: ast.expr,
    given: Sequence[tuple[Value, ast.expr]],
    launch: Launch,
) -> None:
    """`attrs={...}` of a call."""
    if not isinstance(node, ast.Dict):
        raise context.error(node, "attrs is a dict of constants")
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise context.error(key or node, "a key of attrs is a string")
        match key.value:
            case "arg_directions":
                directions: list[ArgDirection] = []
                for word in as_tuple(context.read(value)) or ():
                    if not isinstance(word, EnumWord) or not isinstance(word.value, ArgDirection):
                        raise context.error(
                            value, "arg_directions is a list like [pl.adir.input, ...]"
                        )
                    directions.append(word.value)
                if len(directions) != len(given):
                    raise context.error(
                        value, f"{len(directions)} directions for {len(given)} arguments"
                    )
                launch.directions = directions
            case "arg_direction_overrides":
                places = as_tuple(context.read(value)) or ()
                launch.no_dep += [
                    context.static_int(place, value, "a position") for place in places
                ]
            case "dump_vars":
                launch.dump += _positions(context, value, given)
            case "core_num":
                launch.width = context.index(value)
            case "sync_start":
                launch.sync_start = bool(context.read(value))
            case "allow_early_resolve":
                launch.early_resolve = bool(context.read(value))
            case "predicate":
                launch.predicate = read_predicate(context, value)
            case "compiler_manual_dep_edges" | "manual_dep_edges":
                launch.deps += read_deps(context, value)
            case name:
                attribute = constant_attribute(context.read(value))
                if attribute is not None:
                    launch.attributes[f"pl.{name}"] = attribute


def constant_attribute(value: Value) -> Attribute | None:
    """A constant as an attribute, None if it has no such form."""
    match value:
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case _:
            return None


# Dependencies and predicates


def read_deps(context: Context, node: ast.expr) -> list[SSAValue]:
    """`deps=[t0, ids, ids[i], None]`, or a comprehension over an array's elements."""
    if isinstance(node, ast.ListComp):
        return _packed(context, _comprehension(context, node), node)
    if not isinstance(node, ast.List | ast.Tuple):
        value = context.read(node)
        listed = as_tuple(value)
        if listed is None:
            raise context.error(node, "deps is a list of tasks")
        return [task_or_fail(context, element, node) for element in listed if element is not None]
    found: list[SSAValue] = []
    elements: list[SSAValue] = []
    whole: list[SSAValue] = []
    for element in node.elts:
        if isinstance(element, ast.ListComp):
            elements += _comprehension(context, element)
            continue
        value = context.read(element)
        if value is None:
            continue
        task = task_or_fail(context, value, element)
        if isinstance(task.owner, ArrayGetOp) and isinstance(element, ast.Subscript):
            elements.append(task)
        elif isinstance(task.type, ArrayType):
            whole.append(task)
        found.append(task)
    return found + [task for task in elements if task not in found]


def _comprehension(context: Context, node: ast.ListComp) -> list[SSAValue]:
    if len(node.generators) != 1 or node.generators[0].ifs:
        raise context.error(node, "a comprehension in deps has one 'for'")
    generator = node.generators[0]
    if not isinstance(generator.target, ast.Name):
        raise context.error(generator.target, "a comprehension in deps has one variable")
    try:
        values = Evaluator(context.scope).evaluate(generator.iter)
    except Unsettled as e:
        raise context.error(generator.iter, f"'{ast.unparse(generator.iter)}' {e.reason}") from None
    values = as_tuple(values)
    if values is None or len(values) > 4096:
        raise context.error(
            generator.iter, "a comprehension in deps goes over a short constant range"
        )
    found: list[SSAValue] = []
    name = generator.target.id
    with context.names.frame():
        for value in values:
            context.names.bind(context.prefix + name, value)
            found.append(task_or_fail(context, context.read(node.elt), node.elt))
    return found


def _packed(context: Context, tasks: Sequence[SSAValue], node: ast.expr) -> list[SSAValue]:
    """Many tasks as one array of them."""
    if len(tasks) <= 16:
        return list(tasks)
    array = context.emit(ArrayCreateOp(ArrayType(len(tasks), TASK_ID)), node).result
    for place, task in enumerate(tasks):
        index = context.as_index(place, node)
        array = context.emit(ArrayUpdateOp(task, array, index), node).result
    return [array]


def read_predicate(context: Context, node: ast.expr) -> Predicate:
    """`predicate=(t[i] > 0)`: an element of an integer tensor compared with a constant."""
    rule = "a predicate compares an element of an integer tensor with a constant"
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        raise context.error(node, rule)
    comparison = _COMPARISONS.get(type(node.ops[0]))
    if comparison is None:
        raise context.error(node, rule)
    left, right = node.left, node.comparators[0]
    for element, constant, order in (
        (left, right, comparison),
        (right, left, _MIRRORED.get(comparison, comparison)),
    ):
        found = _predicate_element(context, element)
        if found is None:
            continue
        value = context.read(constant)
        if isinstance(value, Typed):
            value = value.value
        if isinstance(value, bool) or not isinstance(value, int):
            raise context.error(constant, rule)
        tensor, indices = found
        return Predicate(tensor, indices, order, value)
    raise context.error(node, rule)


def _predicate_element(context: Context, node: ast.expr) -> tuple[SSAValue, Sequence[Index]] | None:
    if isinstance(node, ast.Call) and len(node.args) == 2:
        path = dotted_name(node.func)
        if path is not None and path[-1] == "cast":
            return _predicate_element(context, node.args[0])
        if path is not None and path[-1] == "read":
            base, subscript = node.args
            return _element(context, base, subscript)
        return None
    if isinstance(node, ast.Subscript):
        return _element(context, node.value, node.slice)
    return None


def _element(
    context: Context, base: ast.expr, subscript: ast.expr
) -> tuple[SSAValue, Sequence[Index]] | None:
    tensor = context.read(base)
    if not is_tensor(tensor):
        return None
    type = tensor_of(tensor.type)
    if not is_element_type(type.element_type):
        return None
    parts = subscript.elts if isinstance(subscript, ast.Tuple | ast.List) else [subscript]
    if len(parts) != type.get_num_dims():
        raise context.error(subscript, f"a predicate needs {type.get_num_dims()} indices")
    indices: list[Index] = []
    for part in parts:
        value = context.read(part)
        plain = isinstance(value, int) and not isinstance(value, bool)
        indices.append(value if plain else context.as_index(value, part))
    return tensor, indices


# The op


def dispatch(
    context: Context,
    info: Any,
    arguments: Sequence[tuple[Value, ast.expr]],
    node: ast.Call,
    launch: Launch,
    *,
    submit: bool,
) -> Value:
    """A call or submit with evaluated arguments."""
    info = context.program.specialized(context, info, arguments, node)
    operands: list[SSAValue] = []
    symbols: dict[str, int | str] = {}
    for (value, place), type, name in zip(
        arguments, info.parameter_types, info.parameter_names, strict=False
    ):
        operands.append(_argument(context, info, value, place, type, name, symbols))
    results = [_instantiate(type, symbols) for type in info.result_types]
    if submit:
        op: CallOp | SubmitOp = SubmitOp(
            info.name,
            operands,
            results,
            deps=launch.deps,
            arg_directions=launch.directions,
            no_dep=sorted(set(launch.no_dep)),
            dump=sorted(set(launch.dump)),
            launch=launch.width,
            sync_start=launch.sync_start,
            predicate=launch.predicate,
            early_resolve=launch.early_resolve,
        )
    else:
        op = CallOp(
            info.name,
            operands,
            results,
            arg_directions=launch.directions,
            no_dep=sorted(set(launch.no_dep)),
            dump=sorted(set(launch.dump)),
            launch=launch.width,
            sync_start=launch.sync_start,
        )
    op.attributes |= launch.attributes
    context.emit(op, node)
    for result, parameter in zip(op.callee_results, info.lineage, strict=True):
        if parameter is None or parameter >= len(operands):
            continue
        argument: SSAValue = operands[parameter]
        if is_tensor(argument) and info.directions[parameter] is not Direction.IN:
            context.written(argument, result)
    values = tuple(op.results)
    if submit:
        return Tuple(values)
    return values[0] if len(values) == 1 else Tuple(values)


def _argument(
    context: Context,
    info: Any,
    value: Value,
    node: ast.expr,
    type: Attribute,
    name: str,
    symbols: dict[str, int | str],
) -> SSAValue:
    """An argument for a parameter of a type."""
    what = f"argument '{name}' of '{info.name}'"
    if is_tensor_type(type):
        if not is_tensor(value):
            raise context.error(node, f"{what} should be a tensor, got {describe_value(value)}")
        have, want = tensor_of(value.type), tensor_of(type)
        if have.element_type != want.element_type:
            raise context.error(
                node, f"{what} should be {describe_type(want)}, got {describe_type(have)}"
            )
        if have.get_num_dims() != want.get_num_dims():
            raise context.error(
                node, f"{what} should be {describe_type(want)}, got {describe_type(have)}"
            )
        for mine, wanted in zip(symbolic_shape_of(have), symbolic_shape_of(want), strict=True):
            if isinstance(wanted, str):
                symbols.setdefault(wanted, mine)
            elif wanted != DYNAMIC_INDEX and isinstance(mine, int):
                if mine not in (wanted, DYNAMIC_INDEX):
                    raise context.error(
                        node, f"{what} should be {describe_type(want)}, got {describe_type(have)}"
                    )
        return value
    if is_constant(value) or value is None or isinstance(value, Symbol):
        return context.materialize(value, node, type)
    found = context.materialize(value, node)
    if found.type == type:
        return found
    if is_element_type(found.type) and is_element_type(type):
        if describe_type(found.type) in ("pl.Scalar[pl.INDEX]", "pl.Scalar[pl.INT64]"):
            return cast_scalar(context, found, type, node)
        return cast_scalar(context, found, type, node)
    raise context.error(
        node, f"{what} should be {describe_type(type)}, got {describe_type(found.type)}"
    )


def _instantiate(type: Attribute, symbols: dict[str, int | str]) -> Attribute:
    """A result type of the callee with the caller's extents for the callee's symbols."""
    if not is_tensor_type(type):
        return type
    tensor = tensor_of(type)
    shape = symbolic_shape_of(tensor)
    if not any(isinstance(extent, str) for extent in shape):
        return type
    return tensor_type(
        [symbols.get(e, DYNAMIC_INDEX) if isinstance(e, str) else e for e in shape],
        tensor.element_type,
        valid=None if valid_shape_of(tensor) == tensor.get_shape() else valid_shape_of(tensor),
        layout=layout_of(tensor),
        pad=pad_value_of(tensor),
    )


# Splicing


def splice(context: Context, info: Any, node: ast.Call) -> Value:
    """The body of an inline function in the place of its call; what it returns."""
    function: Function = info.function
    if function.node in context.splicing:
        raise context.error(node, f"inline function '{info.name}' calls itself")
    if len(context.splicing) >= MAX_SPLICES:
        raise context.error(node, "inline functions call each other too deeply")
    launch = Launch()
    arguments = _arguments(context, info, node.args, node.keywords, node, launch, submit=False)
    program = context.program
    body, liveness = program.lowered_body(function)
    child = replace(
        context,
        source=function.source,
        scope=function.scope,
        liveness=liveness,
        prefix=program.fresh_prefix(info.name),
        constructs=[],
        symbols={},
        symbol_values={},
        block_entry=None,
        splicing=(*context.splicing, function.node),
        returned=Unavailable("is returned by nobody"),
        scope_floor=len(context.scopes),
        strict_types=False,
        auto_scope=context.auto_scope and info.options.auto_scope,
        dumped=set(),
    )
    for (value, _), name, annotation in zip(
        arguments, info.parameter_names, info.parameter_annotations, strict=True
    ):
        child.names.bind(child.prefix + name, value)
        program.bind_symbols(child, function, annotation, value)
    from pypto_xdsl.frontend.pl import statements

    statements.read_body(child, body)
    for name in [n for n in child.names.frames[-1] if n.startswith(child.prefix)]:
        del child.names.frames[-1][name]
    returned = child.returned
    return Tuple(()) if isinstance(returned, Unavailable) else returned


def written_arguments(program: Any, scope: StaticScope, node: ast.Call) -> list[str]:
    """The names that a call of a function hands to parameters it may write."""
    path = dotted_name(node.func)
    arguments = list(node.args)
    if path is None:
        return []
    function: Any = None
    if path[-1] in ("submit", "spmd_submit") and arguments:
        path = dotted_name(arguments[0]) or ()
        arguments = arguments[1:]
    if len(path) == 2 and path[0] == "self":
        function = program.functions.get(path[1])
        function = None if function is None else function.function
    elif len(path) == 1:
        try:
            found = scope.lookup(path[0], node.lineno)
        except (KeyError, Unsettled):
            found = None
        function = found if isinstance(found, Function) else None
        if isinstance(found, DslName):
            function = None
    if function is None:
        return []
    parameters = [a for a in function.node.args.args if a.arg != "self"]
    written = program.written_parameters(function)
    names: list[str] = []
    for argument, parameter in zip(arguments, parameters, strict=False):
        if isinstance(argument, ast.Call) and argument.args:
            argument = argument.args[0]
        if isinstance(argument, ast.Name) and parameter.arg in written:
            names.append(argument.id)
    for keyword in node.keywords:
        if isinstance(keyword.value, ast.Name) and keyword.arg in written:
            names.append(keyword.value.id)
    return names
