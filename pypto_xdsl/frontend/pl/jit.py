"""`@pl.jit`: functions that are specialised on the types of their arguments."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute

from pypto_xdsl.frontend.pl.annotations import Annotation
from pypto_xdsl.frontend.pl.call_sites import call_sites
from pypto_xdsl.frontend.pl.context import Context, join_words
from pypto_xdsl.frontend.pl.source import dotted_name
from pypto_xdsl.frontend.pl.static_values import Function, Module, Symbol, Unsettled
from pypto_xdsl.frontend.pl.values import (
    Typed,
    Value,
    describe_value,
    is_constant,
    is_literal,
    is_value,
    literal_type,
)

MAX_HANDED_ON = 8
"""Through how many functions a parameter is followed to one that declares its type."""

if TYPE_CHECKING:
    from pypto_xdsl.frontend.pl.program import FunctionInfo, ProgramReader


def specialize(
    program: ProgramReader,
    context: Context,
    info: FunctionInfo,
    arguments: Sequence[tuple[Value, ast.expr]],
    node: ast.Call,
) -> FunctionInfo:
    """The function for arguments of these types, read where it is new."""
    types: list[Attribute] = []
    constants: dict[str, Any] = {}
    for (value, place), name, annotation in zip(
        arguments, info.parameter_names, info.parameter_annotations, strict=False
    ):
        type = _argument_type(context, value, place, annotation)
        types.append(type)
        if is_constant(value):
            constants[name] = value
    key = (tuple(types), tuple(sorted((k, repr(v)) for k, v in constants.items())))
    known = info.specializations.get(key)
    if known is not None:
        if known.reading:
            raise context.error(node, f"function '{info.name}' calls itself")
        return known
    if len(info.specializations) >= 64:
        raise context.error(node, f"'{info.name}' is called with more than 64 kinds of arguments")
    made = replace(
        info,
        name=program.free_name(info.name),
        parameter_types=types,
        constants=constants,
        specializations={},
        declared_results=None,
        reading=True,
        op=None,
    )
    info.specializations[key] = made
    program.read_nested(context, made, node)
    return made


def _argument_type(
    context: Context, value: Value, node: ast.expr, annotation: Annotation | None
) -> Attribute:
    if is_value(value):
        return value.type
    if isinstance(value, Typed):
        return value.type
    if is_literal(value):
        if annotation is not None and annotation.kind == "Scalar" and annotation.type is not None:
            return annotation.type
        return literal_type(value)
    if isinstance(value, Symbol):
        return context.materialize(value, node).type
    raise context.error(
        node, f"a @pl.jit function takes tensors and scalars, got {describe_value(value)}"
    )


def read_entry(program: ProgramReader, info: FunctionInfo) -> FunctionInfo:
    """
    The entry of a program, specialised on the types that the user gives, on its annotations, on
    what the file itself calls it with, and on what functions declare that it hands parameters to.
    """
    source = info.function.source
    types: list[Attribute] = []
    constants: dict[str, Any] = {}
    defaults = info.function.node.args.defaults
    with_default = dict(
        zip([a.arg for a in reversed(info.parameters)], reversed(defaults), strict=False)
    )
    unknown: list[tuple[ast.arg, str]] = []
    called: dict[str, Any] | None = None
    for parameter, annotation in zip(info.parameters, info.parameter_annotations, strict=True):
        name = parameter.arg
        given = program.argument_types.pop(name, None)
        declared = annotation.type if annotation is not None else None
        default = program.constant(info, with_default[name]) if name in with_default else None
        if given is None and declared is None and not is_literal(default):
            if called is None:
                called = _called_with(program, info)
            given = called.get(name)
            tensor = annotation is not None and annotation.kind == "Tensor"
            if not isinstance(given, Attribute) and (tensor or not is_literal(given)):
                given = None
        if isinstance(given, Attribute):
            types.append(given)
        elif given is not None:
            constants[name] = given
            types.append(declared or literal_type(given))
        elif declared is not None:
            types.append(declared)
            if is_literal(default):
                constants[name] = default
        elif is_literal(default):
            constants[name] = default
            types.append(literal_type(default))
        else:
            kind = annotation.kind if annotation is not None else "Tensor"
            unknown.append((parameter, f"{name}=128x128xf32" if kind == "Tensor" else f"{name}=4"))
    if unknown:
        names = join_words(f"'{parameter.arg}'" for parameter, _ in unknown)
        parameter, example = unknown[0]
        settled_by = "neither a call in the file nor a function that is given"
        if len(unknown) == 1:
            told = f"the type of {names} is not known, {settled_by} it settles it"
            raise source.error(parameter, f"{told}: give --arg-type {example}")
        told = f"the types of {names} are not known, {settled_by} them settles them"
        raise source.error(parameter, f"{told}: give each, like --arg-type {example}")
    made = replace(
        info,
        parameter_types=types,
        constants=constants,
        specializations={},
        declared_results=None if _incomplete(info) else info.declared_results,
    )
    program.read_function(made)
    return made


def _called_with(program: ProgramReader, info: FunctionInfo) -> dict[str, Any]:
    """
    What the file itself calls a function with, by the names of its parameters: the types of
    tensors and constants, or what another entry declares of the parameters that it hands on.
    """
    function = info.function
    sites = call_sites(function.source, program.scope.budget)
    found = sites.arguments_of(function.node)
    for caller, passed in sites.handed_on_by(function.node):
        declared = program.declared_parameters(Function(caller, program.scope, program.source))
        for name, handed in passed.items():
            if handed in declared:
                found.setdefault(name, declared[handed])
    return _handed_to(program, function, ()) | found


def _handed_to(
    program: ProgramReader, function: Function, around: tuple[ast.FunctionDef, ...]
) -> dict[str, Any]:
    """
    What the functions that are called in a function declare of its parameters, where it hands them
    on; the first such call counts.
    """
    if function.node in around or len(around) >= MAX_HANDED_ON:
        return {}
    own = {argument.arg for argument in function.node.args.args}
    calls = function.source.calls(function.node)
    found: dict[str, Any] = {}
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        callee, given = _callee(function, call)
        if callee is None:
            continue
        names = [a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args)]
        pairs: list[tuple[str, ast.expr]] = [*zip(names, given, strict=False)]
        pairs += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        wanted = {
            name: value.id
            for name, value in pairs
            if isinstance(value, ast.Name) and value.id in own and value.id not in found
        }
        if not wanted:
            continue
        declared = program.declared_parameters(callee)
        if not wanted.keys() <= declared.keys():
            declared = _handed_to(program, callee, (*around, function.node)) | declared
        found |= {handed: declared[name] for name, handed in wanted.items() if name in declared}
    return found


def _callee(function: Function, call: ast.Call) -> tuple[Function | None, Sequence[ast.expr]]:
    """The function that is called or launched by its name, and what it is given."""
    path, given = dotted_name(call.func), call.args
    if path is not None and path[-1] in ("submit", "spmd_submit") and given:
        path, given = dotted_name(given[0]), given[1:]
    if path is None or path[0] == "self":
        return None, given
    try:
        value = function.scope.lookup(path[0], call.lineno)
        for name in path[1:]:
            value = value.scope.lookup(name) if isinstance(value, Module) else None
    except (KeyError, Unsettled):
        return None, given
    return (value if isinstance(value, Function) else None), given


def _incomplete(info: FunctionInfo) -> bool:
    return any(a is None or a.type is None for a in info.parameter_annotations)
