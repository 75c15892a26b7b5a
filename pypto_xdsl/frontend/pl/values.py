"""What names of a DSL function stand for while it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard, cast

from xdsl.dialects.builtin import Signedness, TensorType
from xdsl.ir import Attribute, BlockArgument, OpResult, SSAValue

from pypto_xdsl.dialects.element_types import bit_width, is_element_type, is_float, is_integer
from pypto_xdsl.dialects.orch.attributes import TaskIdType, is_array
from pypto_xdsl.dialects.ptensor.types import tensor_of
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.static_values import DslCall, DType, Symbol
from pypto_xdsl.frontend.pl.vocabulary import DTYPE_NAMES, EnumWord


@dataclass(frozen=True)
class Typed:
    """A constant of a given type: `pl.const(3, pl.INT32)`."""

    value: int | float
    type: Attribute


@dataclass(frozen=True, eq=False)
class Tuple:
    """Several values: what a call with several results gives, or `(a, b)`."""

    elements: tuple[Any, ...]


@dataclass(frozen=True)
class Unavailable:
    """A name that may not be used here, and why."""

    reason: str


Literal: TypeAlias = bool | int | float
"""A number that takes the type that its use asks for."""
Value: TypeAlias = Any
"""An SSA value, a `Literal`, a `Typed`, a `Tuple`, or something of compile time."""


def is_literal(value: Value) -> TypeGuard[Literal]:
    return isinstance(value, bool | int | float)


def is_constant(value: Value) -> TypeGuard[Literal | Typed]:
    """Whether a value is a number known at compile time."""
    return isinstance(value, bool | int | float | Typed)


def is_scalar(value: Value) -> bool:
    """Whether a value is a number, known or not."""
    return is_constant(value) or (is_value(value) and is_element_type(value.type))


def is_value(value: object) -> TypeGuard[SSAValue]:
    """Whether something is an SSA value."""
    # These two are all there are; asking for their abstract base is several times slower.
    kind = type(value)
    return kind is OpResult or kind is BlockArgument


def is_tensor(value: Value) -> TypeGuard[SSAValue]:
    return is_value(value) and value.type.__class__ is TensorType


def is_tile(value: Value) -> TypeGuard[SSAValue]:
    return is_value(value) and value.type.__class__ is TileType


def is_shaped(value: Value) -> TypeGuard[SSAValue]:
    """Whether a value is a tensor or a tile."""
    return is_value(value) and value.type.__class__ in (TensorType, TileType)


def is_unsigned(type: Attribute) -> bool:
    """Whether a type is an integer without sign."""
    return is_integer(type) and type.signedness.data is Signedness.UNSIGNED


def flat(values: Sequence[Value]) -> Iterator[Value]:
    """The values, with tuples taken apart."""
    for value in values:
        if isinstance(value, Tuple):
            yield from flat(value.elements)
        else:
            yield value


def describe_type(type: Attribute) -> str:
    """A type in words of the DSL."""
    if type in DTYPE_NAMES:
        return f"pl.Scalar[pl.{DTYPE_NAMES[type]}]"
    match type:
        case TensorType():
            tensor = tensor_of(type)
            kind, element = "Tensor", tensor.element_type
            shape: Sequence[int] = tensor.get_shape()
        case TileType():
            kind, element, shape = "Tile", type.element_type, type.get_shape()
        case TaskIdType():
            return "pl.Scalar[pl.TASK_ID]"
        case _ if is_array(type):
            inner = DTYPE_NAMES.get(type.element_type, str(type.element_type))
            return f"pl.Array[{type.extent.data}, pl.{inner}]"
        case _:
            return str(type)
    extents = ", ".join("?" if extent < 0 else str(extent) for extent in shape)
    return f"pl.{kind}[[{extents}], pl.{DTYPE_NAMES.get(element, str(element))}]"


_SHOWN = 60


def describe_value(value: Value) -> str:
    """What a value is, in words of the DSL."""
    match value:
        case SSAValue():
            return describe_type(cast(SSAValue, value).type)
        case bool():
            return "a bool"
        case int():
            return "an int"
        case float():
            return "a float"
        case Typed(type=type):
            return describe_type(type)
        case Tuple(elements=elements):
            return f"a tuple of {len(elements)}"
        case tuple() | list():
            return f"a tuple of {len(value)}"  # pyright: ignore[reportUnknownArgumentType]
        case None:
            return "None"
        case str():
            return "a string"
        case DType() | EnumWord():
            return str(value)
        case Symbol(name=name):
            return f"the symbol {name}"
        case DslCall(path=path):
            return f"{'.'.join(path)}(...)"
        case _:
            shown = str(value)
            return f"'{shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + '...'}'"


def describe_apart(left: Value | Attribute, right: Value | Attribute) -> tuple[str, str]:
    """Two values or types, each in words that tell it from the other."""
    said: list[str] = []
    types: list[Attribute | None] = []
    for value in (left, right):
        is_type = isinstance(value, Attribute)
        said.append(describe_type(value) if is_type else describe_value(value))
        types.append(value if is_type else value.type if is_value(value) else None)
    if said[0] == said[1] and None not in types:
        # They differ in what these words leave out: the memory space, the valid region, the view.
        said = [f"{words} ({type})" for words, type in zip(said, types, strict=True)]
    return said[0], said[1]


def literal_type(value: Literal | Typed) -> Attribute:
    """The type of a constant whose use does not ask for another."""
    from pypto_xdsl.frontend.pl.vocabulary import DTYPES

    match value:
        case Typed(type=type):
            return type
        case bool():
            return DTYPES["BOOL"]
        case int():
            return DTYPES["INDEX"]
        case float():
            return DTYPES["FP32"]


def fits_index(value: int) -> bool:
    """Whether a number can be an index."""
    return -(1 << 63) <= value < (1 << 63)


def fits(value: Literal, type: Attribute) -> bool:
    """Whether a number can be written as a constant of a type."""
    if is_float(type):
        # Python's own floats end there.
        return isinstance(value, float) or value.bit_length() < 1024
    if isinstance(value, float):
        return False
    if is_integer(type):
        width = bit_width(type)
        return -(1 << (width - 1)) <= value < (1 << width) if width > 1 else value in (0, 1)
    return fits_index(value)
