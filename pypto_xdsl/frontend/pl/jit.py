"""`@pl.jit`: functions that are specialised on the types of their arguments."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute

from pypto_xdsl.dialects.orch.attributes import Direction
from pypto_xdsl.frontend.pl.annotations import Annotation
from pypto_xdsl.frontend.pl.context import Context
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
    """The entry of a program, specialised on its annotations and the types the user gives."""
    source = info.function.source
    types: list[Attribute] = []
    constants: dict[str, Any] = {}
    defaults = info.function.node.args.defaults
    with_default = dict(
        zip([a.arg for a in reversed(info.parameters)], reversed(defaults), strict=False)
    )
    for parameter, annotation in zip(info.parameters, info.parameter_annotations, strict=True):
        name = parameter.arg
        given = program.argument_types.pop(name, None)
        if given is not None and isinstance(given, Attribute):
            types.append(given)
        elif given is not None:
            constants[name] = given
            declared = annotation.type if annotation is not None else None
            types.append(declared or literal_type(given))
        elif annotation is not None and annotation.type is not None:
            types.append(annotation.type)
            if name in with_default:
                value = program.constant(info, with_default[name])
                if is_literal(value):
                    constants[name] = value
        elif name in with_default and is_literal(
            value := program.constant(info, with_default[name])
        ):
            constants[name] = value
            types.append(literal_type(value))
        else:
            kind = annotation.kind if annotation is not None else "Tensor"
            example = f"{name}=128x128xf32" if kind == "Tensor" else f"{name}=4"
            raise source.error(
                parameter,
                f"the shape and dtype of '{name}' are not known: give them with "
                f"--arg-type {example}",
            )
    made = replace(
        info,
        parameter_types=types,
        constants=constants,
        specializations={},
        declared_results=None if _incomplete(info) else info.declared_results,
    )
    program.read_function(made)
    return made


def _incomplete(info: FunctionInfo) -> bool:
    return any(a is None or a.type is None for a in info.parameter_annotations)


def directions_of(info: FunctionInfo) -> Sequence[Direction]:
    """The directions of the parameters."""
    return info.directions
