"""Calls of ops: dispatch on the operands, then the op's own definition."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from xdsl.dialects.builtin import BoolAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import as_element_type
from pypto_xdsl.dialects.ptensor.attributes import MaskPattern
from pypto_xdsl.dialects.ptensor.types import is_tensor_type
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import InferringOp
from pypto_xdsl.frontend.pl import cross_core_forms, gather_forms, structural_ops, tensor_forms
from pypto_xdsl.frontend.pl.arguments import Arguments
from pypto_xdsl.frontend.pl.context import Context, as_tuple
from pypto_xdsl.frontend.pl.op_table import (
    LEVELS,
    OP_NAMES,
    Parameter,
    Signature,
    all_op_names,
    op_class,
    places,
    signature,
)
from pypto_xdsl.frontend.pl.scalars import binary, cast_value, extreme
from pypto_xdsl.frontend.pl.static_values import DType
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Typed,
    Value,
    describe_value,
    is_literal,
    is_scalar,
    is_value,
)
from pypto_xdsl.frontend.pl.vocabulary import EnumWord
from pypto_xdsl.syntax.lists import split_indices
from pypto_xdsl.syntax.op_syntax import (
    AttributeSyntax,
    BooleanSyntax,
    IntegerSyntax,
    WordSyntax,
    indices_properties,
    integer_attr,
    segments_property,
)
from pypto_xdsl.syntax.spelling import did_you_mean

FORMS: Mapping[str, structural_ops.Form] = {
    **structural_ops.FORMS,
    **tensor_forms.FORMS,
    **gather_forms.FORMS,
    **cross_core_forms.FORMS,
}
"""Ops whose calls are not just operands and properties, by level and name."""
_SCALAR_OPERATORS: Mapping[str, ast.operator] = {
    "add": ast.Add(),
    "sub": ast.Sub(),
    "mul": ast.Mult(),
    "div": ast.Div(),
}
UNSUPPORTED_OPS = frozenset(
    (
        "random",
        "matmul_mx",
        "matmul_mx_acc",
        "matmul_mx_bias",
        "tget_scale_addr",
        "async_prefetch",
        "make_context",
        "session",
    )
)
"""Ops of PyPTO that the dialects do not have."""
_FIRST: Mapping[type[Enum], int] = {MaskPattern: 1}
"""The number of the first word, where PyPTO does not count from 0."""
_WORDS = {"aiv_only": "vector", "aic_only": "cube", "aiv": "vector", "aic": "cube"}
"""Strings of the DSL for words that the dialects call otherwise."""
_MIXED = ("gather_row", "mgather", "mscatter", "syncall", "set_ffts")
"""Ops on tiles that take tensors too."""
_LEVEL_OF: Mapping[type[Attribute], str] = {TensorType: "tensor", TileType: "tile"}
"""The level of an op on values of a type."""
_LEVEL_WORDS = {"tile": "tiles", "tensor": "tensors"}


def call(context: Context, level: str | None, name: str, arguments: Arguments) -> Value:
    """
    What `pl.<level>.<name>(...)` gives; with no level the operands decide. Its ops are emitted.
    """
    node = arguments.node
    only = structural_ops.ONLY_LEVEL.get(name)
    arguments = arguments.placed(places(name, level))
    name = OP_NAMES.get(name, name)
    operands = arguments.operands()
    if only is not None and level is None:
        level = only
    if level is None:
        if operands and all(is_scalar(operand) for operand in operands[:2]):
            if name in _SCALAR_OPERATORS and len(operands) == 2:
                return binary(context, _SCALAR_OPERATORS[name], operands[0], operands[1], node)
            if name in ("min", "max") and len(operands) == 2:
                return extreme(context, name, operands[0], operands[1], node)
        if name == "cast" and operands and is_scalar(operands[0]):
            bound = arguments.bind("input target_type mode?")
            return cast_value(context, operands[0], bound.dtype("target_type"), node)
        level = _level_of(context, name, arguments)
    form = FORMS.get(f"{level}.{name}")
    if form is not None:
        return form(arguments)
    op = _resolve(context, level, name, arguments)
    return _generic(context, signature(op), arguments)


def _level_of(context: Context, name: str, arguments: Arguments) -> str:
    """The level of an op called without one: that of its operands."""
    kinds: dict[str, ast.expr] = {}
    for value, node in (*arguments.positional, *arguments.keywords.values()):
        level = _LEVEL_OF.get(value.type.__class__) if is_value(value) else None
        if level is not None and level not in kinds:
            kinds[level] = node
    if len(kinds) == 2:
        if name in _MIXED:
            return "tile"
        first = next(iter(kinds))
        op = op_class(first, name)
        if op is not None or f"{first}.{name}" in FORMS:
            second = kinds["tensor" if first == "tile" else "tile"]
            raise context.error(second, f"{arguments.what} mixes a tile and a tensor")
        return first
    if kinds:
        return next(iter(kinds))
    for level in ("tensor", "tile"):
        if op_class(level, name) is not None or f"{level}.{name}" in FORMS:
            if arguments.positional and is_scalar(arguments.positional[0][0]):
                raise context.error(
                    arguments.node,
                    f"{arguments.what} takes a tensor or a tile first, "
                    f"got {describe_value(arguments.positional[0][0])}",
                )
            return level
    raise _unknown(context, None, name, arguments)


def _unknown(
    context: Context, level: str | None, name: str, arguments: Arguments
) -> DiagnosticsError:
    names = [known.partition(".")[2] for known in all_op_names()]
    where = "" if level is None else f" on {_LEVEL_WORDS[level]}"
    if name in UNSUPPORTED_OPS:
        return context.error(arguments.node, f"op '{arguments.what}' is not supported{where}")
    others = [other for other in LEVELS if other != level and op_class(other, name) is not None]
    if level is not None and others:
        there = " and ".join(_LEVEL_WORDS[other] for other in others)
        return context.error(
            arguments.node, f"there is no op '{arguments.what}'{where}, only on {there}"
        )
    return context.error(
        arguments.node, f"there is no op '{arguments.what}'{did_you_mean(name, names)}"
    )


def _resolve(context: Context, level: str, name: str, arguments: Arguments) -> type[DeclaredOp]:
    """The op that is meant: with a scalar as second operand the form for scalars."""
    op = op_class(level, name)
    operands = arguments.operands()
    if len(operands) >= 2 and is_scalar(operands[1]):
        scalar_form = op_class(level, f"{name}s")
        takes_scalar = op is not None and _takes_scalar(signature(op))
        if scalar_form is not None and not takes_scalar:
            return scalar_form
    if op is None:
        raise _unknown(context, level, name, arguments)
    return op


def _takes_scalar(wanted: Signature) -> bool:
    parameters = [p for p in wanted.parameters if p.kind in ("value", "scalar")]
    return len(parameters) > 1 and parameters[1].kind == "scalar"


def _generic(context: Context, wanted: Signature, arguments: Arguments) -> Value:
    """A call of an op whose arguments are its operands and properties."""
    node, what = arguments.node, arguments.what
    bound: dict[str, tuple[Value, ast.expr]] = {}
    if len(arguments.positional) > len(wanted.parameters):
        raise context.error(
            arguments.positional[len(wanted.parameters)][1],
            f"{what} takes at most {len(wanted.parameters)} arguments, "
            f"got {len(arguments.positional)}",
        )
    places = _places(wanted, arguments)
    for parameter, argument in zip(places, arguments.positional, strict=False):
        bound[parameter.name] = argument
    for keyword, argument in arguments.keywords.items():
        parameter = wanted.parameter(keyword)
        if parameter is None:
            if keyword == "out_dtype":
                # The accumulator decides.
                continue
            names = [p.name for p in wanted.parameters]
            if argument[0] is None or argument[0] is False:
                continue
            raise context.error(
                argument[1], f"{what} has no argument '{keyword}'{did_you_mean(keyword, names)}"
            )
        if parameter.name in bound:
            raise context.error(argument[1], f"{what} is given '{keyword}' twice")
        bound[parameter.name] = argument
    element = _element_type(bound)
    groups: list[list[SSAValue]] = [[] for _ in range(wanted.groups)]
    properties: dict[str, Attribute] = {}
    for parameter in wanted.parameters:
        value, place = bound.get(parameter.name, (None, node))
        absent = parameter.name not in bound or value is None
        if absent and not parameter.optional:
            raise context.error(node, f"{what} needs an argument '{parameter.name}'")
        if parameter.kind == "property":
            if absent:
                if parameter.default is not None:
                    properties[parameter.name] = parameter.default
            elif (attribute := property_value(context, what, parameter, value, place)) is not None:
                properties[parameter.name] = attribute
        elif parameter.kind == "indices":
            elements: Sequence[Value] | None = [] if absent else as_tuple(value)
            if elements is None:
                raise context.error(place, f"{what}: '{parameter.name}' should be a list")
            indices = [
                e if isinstance(e, int) and not isinstance(e, bool) else context.as_index(e, place)
                for e in elements
            ]
            static, groups[parameter.group] = split_indices(indices)
            properties |= indices_properties(**{parameter.static_name: static})
        elif not absent:
            operand = _operand(context, what, parameter, value, place, element)
            groups[parameter.group].append(operand)
    op = context.build(lambda: _create(wanted, groups, properties), node, what)
    _rebind_written(context, op)
    results = tuple(op.results)
    return results[0] if len(results) == 1 else Tuple(results)


def generic_call(arguments: Arguments, level: str, name: str) -> Value:
    """A call of the op of this name by its own operands and properties."""
    op = _resolve(arguments.context, level, name, arguments)
    return _generic(arguments.context, signature(op), arguments)


def _places(wanted: Signature, arguments: Arguments) -> list[Parameter]:
    """
    The parameters that positional arguments stand for. An absent optional operand is skipped where
    what stands in its place is no operand.
    """
    parameters = list(wanted.parameters)
    places: list[Parameter] = []
    for value, _ in arguments.positional:
        while parameters:
            parameter = parameters.pop(0)
            is_operand = is_value(value) or value is None
            if parameter.optional and parameter.kind == "value" and not is_operand:
                continue
            places.append(parameter)
            break
    return places


def _element_type(bound: Mapping[str, tuple[Value, ast.expr]]) -> Attribute | None:
    """The element type that an integer literal among the operands takes."""
    for name, (value, _) in bound.items():
        if name in ("mask", "tmp", "indices"):
            continue
        if is_value(value) and isinstance(value.type, TensorType | TileType):
            return value.type.element_type  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
    return None


def _operand(
    context: Context,
    what: str,
    parameter: Parameter,
    value: Value,
    node: ast.expr,
    element: Attribute | None,
) -> SSAValue:
    if parameter.kind == "index":
        return context.as_index(value, node)
    if parameter.kind == "scalar":
        if not is_scalar(value):
            raise context.error(
                node, f"{what}: '{parameter.name}' should be a scalar, got {describe_value(value)}"
            )
        if is_literal(value):
            # A float beside a tensor keeps its own type, and promotes.
            takes = isinstance(value, int) or parameter.name != "rhs"
            return context.materialize(value, node, element if takes else None)
        if isinstance(value, Typed):
            return context.materialize(value, node)
        return context.materialize(value, node)
    if not is_value(value):
        raise context.error(
            node, f"{what}: '{parameter.name}' should be a value, got {describe_value(value)}"
        )
    return value


def _create(
    wanted: Signature, groups: list[list[SSAValue]], properties: dict[str, Attribute]
) -> Operation:
    op = wanted.op
    if wanted.sized:
        properties |= segments_property(tuple(len(group) for group in groups))
    if not issubclass(op, InferringOp):
        if op.get_irdl_definition().results:
            # Its result types follow from nothing that is at hand: constructed by itself.
            return op(*(value for group in groups for value in group))
        result_types: tuple[Attribute, ...] = ()
    else:
        types = [group[0].type if group else None for group in groups]
        result_types = tuple(
            _placed(type, declared.space)
            for type, (_, declared) in zip(
                op.inferred_types(types, properties), op.declaration().results, strict=True
            )
        )
    return op.create(
        operands=[value for group in groups for value in group],
        result_types=result_types,
        properties=properties,
    )


def _placed(type: Attribute, space: str | None) -> Attribute:
    """A result type that does not inherit a memory space which the op does not write to."""
    if space is None or not isinstance(type, TileType) or type.memory_space in (None, space):
        return type
    return type.with_space(MemorySpace(space))


def _rebind_written(context: Context, op: DeclaredOp | Operation) -> None:
    """Let the names of a tensor that an op writes stand for what it returns."""
    if not isinstance(op, DeclaredOp):
        return
    for result in op.results:
        named = op.named_operand(result)
        if named is None or not is_tensor_type(named.type):
            continue
        for operand, effect in op.operand_effects():
            if operand is named and effect.writes:
                context.written(named, result)
                break


def property_value(
    context: Context, what: str, parameter: Parameter, value: Value, node: ast.expr
) -> Attribute | None:
    """A property from what the DSL says: a word, a number, a dtype."""
    syntax = parameter.syntax
    match syntax:
        case None:
            return UnitAttr() if value else None
        case WordSyntax():
            words: type[Enum] = syntax.enum.enum_type  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
            members: list[Any] = list(words)
            if isinstance(value, EnumWord):
                if isinstance(value.value, words):
                    return syntax.enum(value.value)  # pyright: ignore
                value = value.value if isinstance(value.value, int) else value.member
            if isinstance(value, bool):
                pass
            elif isinstance(value, int) and 0 <= value - (first := _FIRST.get(words, 0)) < len(
                members
            ):
                return syntax.enum(members[value - first])  # pyright: ignore
            elif isinstance(value, str):
                for member in members:
                    if member.value == _WORDS.get(value, value).lower():
                        return syntax.enum(member)  # pyright: ignore
            known = ", ".join(str(member.value) for member in members)
            raise context.error(
                node,
                f"{what}: '{parameter.name}' should be one of {known}, got {describe_value(value)}",
            )
        case IntegerSyntax():
            if isinstance(value, EnumWord) and isinstance(value.value, int):
                value = value.value
            number = context.static_int(value, node, f"{what}: '{parameter.name}'")
            return integer_attr(number)
        case BooleanSyntax():
            if not isinstance(value, bool):
                raise context.error(node, f"{what}: '{parameter.name}' must be True or False")
            return BoolAttr.from_bool(value)
        case AttributeSyntax():
            if isinstance(value, DType):
                return as_element(context, value.type, node)
            raise context.error(
                node,
                f"{what}: '{parameter.name}' should be a dtype, got {describe_value(value)}",
            )
        case _:
            raise context.error(node, f"{what}: '{parameter.name}' is not supported")


def as_element(context: Context, type: Attribute, node: ast.expr) -> Attribute:
    """`type` as an element type, or an error."""
    try:
        return as_element_type(type)
    except VerifyException as e:
        raise context.error(node, str(e)) from None
