"""`@pl.jit`: functions that are specialised on the types of their arguments."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute

from pypto_xdsl.dialects.orch.attributes import Direction
from pypto_xdsl.frontend.pl.annotations import Annotation
from pypto_xdsl.frontend.pl.call_sites import call_sites
from pypto_xdsl.frontend.pl.context import Context, join_words
from pypto_xdsl.frontend.pl.static_values import Symbol
from pypto_xdsl.frontend.pl.values import (
    Typed,
    Value,
    describe_value,
    is_constant,
    is_literal,
    is_value,
    literal_type,
)

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
    The entry of a program, specialised on the types that the user gives, on its annotations, and
    on what the file itself calls it with.
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
        if len(unknown) == 1:
            told = f"the type of {names} is not known, and no call in the file settles it: "
            raise source.error(parameter, f"{told}give --arg-type {example}")
        told = f"the types of {names} are not known, and no call in the file settles them: "
        raise source.error(parameter, f"{told}give each, like --arg-type {example}")
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
    sites = call_sites(info.function.source, program.scope.budget)
    found = sites.arguments_of(info.function.node)
    for caller, passed in sites.handed_on_by(info.function.node):
        declared = program.declared_parameters(caller)
        for name, handed in passed.items():
            if handed in declared:
                found.setdefault(name, declared[handed])
    return found


def _incomplete(info: FunctionInfo) -> bool:
    return any(a is None or a.type is None for a in info.parameter_annotations)


def directions_of(info: FunctionInfo) -> Sequence[Direction]:
    """The directions of the parameters."""
    return info.directions
