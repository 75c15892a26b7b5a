"""Calls and submits of functions of the program; functions spliced into their caller."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
)
from xdsl.ir import Attribute, SSAValue

from pypto_xdsl.dialects.element_types import is_element_type
from pypto_xdsl.dialects.orch.attributes import (
    ArgDirection,
    Direction,
)
from pypto_xdsl.dialects.orch.calls import CallOp, SubmitOp
from pypto_xdsl.dialects.ptensor.types import (
    is_tensor_type,
    layout_of,
    pad_value_of,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.frontend.pl.context import Context, as_tuple
from pypto_xdsl.frontend.pl.launches import Launch, constant_attribute, read_deps, read_predicate
from pypto_xdsl.frontend.pl.scalars import cast_scalar
from pypto_xdsl.frontend.pl.source import dotted_name
from pypto_xdsl.frontend.pl.static_values import Function, Symbol, Unsettled
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Unavailable,
    Value,
    describe_apart,
    describe_type,
    describe_value,
    is_constant,
    is_tensor,
    is_value,
)
from pypto_xdsl.frontend.pl.vocabulary import EnumWord
from pypto_xdsl.syntax.spelling import did_you_mean

MAX_SPLICES = 60
"""How deep inline functions may call each other."""


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
    # Arguments come before what is said of the launch, as in the text.
    own = (
        "deps",
        "allow_early_resolve",
        "predicate",
        *(("core_num", "sync_start") if spmd else ()),
    )
    options = [keyword for keyword in node.keywords if keyword.arg not in own]
    arguments = _arguments(context, info, rest, options, node, launch, submit=True)
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
            case _:
                pass
    if spmd and launch.width is None:
        raise context.error(node, f"{what} needs core_num=")
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
    returned: set[SSAValue] = set()
    for result, parameter in zip(op.callee_results, info.lineage, strict=True):
        if parameter is None or parameter >= len(operands):
            continue
        argument = cast(SSAValue, operands[parameter])
        if is_tensor(argument) and info.directions[parameter] is not Direction.IN:
            context.written(argument, result)
            returned.add(argument)
    unnamed = info.options.external or (info.jit and not op.callee_results)
    for argument, direction in zip(operands, info.directions if unnamed else (), strict=False):
        # What has a body and gives its outputs no names hands them over: nobody reads them then.
        if direction is not Direction.IN and is_tensor(argument) and argument not in returned:
            context.written_unnamed(argument, node)
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
        if is_value(value) and value.type == type and tensor_of(type).has_static_shape():
            return value
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
            elif isinstance(mine, int) and DYNAMIC_INDEX not in (mine, wanted) and mine != wanted:
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
        return cast_scalar(context, found, type, node)
    wanted, got = describe_apart(type, found)
    raise context.error(node, f"{what} should be {wanted}, got {got}")


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
    frame = child.names.frames[-1]
    before = len(frame)
    for (value, _), name, annotation in zip(
        arguments, info.parameter_names, info.parameter_annotations, strict=True
    ):
        child.names.bind(child.prefix + name, value)
        program.bind_symbols(child, function, annotation, value)
    from pypto_xdsl.frontend.pl import statements

    statements.read_body(child, body)
    # Its names came after those that were there.
    for name in list(islice(reversed(frame), len(frame) - before)):
        if name.startswith(child.prefix):
            del frame[name]
    returned = child.returned
    return Tuple(()) if isinstance(returned, Unavailable) else returned
