"""What the elements of tensors and tiles are, and the rules by which their types combine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard, get_args

from typing_extensions import TypeVar
from xdsl.dialects.builtin import (
    AnyFloat,
    FixedBitwidthType,
    IndexType,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, IntConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException

UI8 = IntegerType(8, Signedness.UNSIGNED)
UI16 = IntegerType(16, Signedness.UNSIGNED)
UI32 = IntegerType(32, Signedness.UNSIGNED)

ElementType: TypeAlias = IntegerType | IndexType | AnyFloat
"""What the elements of tiles and tensors are."""

# Attributes have no subclasses, and asking their abstract bases one by one is many times slower.
_FLOATS = frozenset(get_args(AnyFloat))
_ELEMENTS = _FLOATS | {IntegerType, IndexType}


def is_element_type(type: Attribute | None) -> TypeGuard[ElementType]:
    """Whether tiles and tensors may hold elements of this type."""
    return type.__class__ in _ELEMENTS


def is_integer(type: Attribute) -> TypeGuard[IntegerType[Any, Any]]:
    """Whether a type is an integer's; an `index` is none."""
    return isinstance(type, IntegerType)


def as_element_type(type: Attribute | None) -> ElementType:
    """`type` as an element type, or a `VerifyException`."""
    if not is_element_type(type):
        raise VerifyException(f"{type} is not an element type")
    return type


@dataclass(frozen=True)
class _ScalarConstraint(AttrConstraint[ElementType]):
    """A type that elements have: an integer, an index, a float."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not is_element_type(attr):
            raise VerifyException(f"expected a scalar, got {attr}")

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> AttrConstraint[ElementType]:
        return self


SCALAR: AttrConstraint[ElementType] = _ScalarConstraint()


def expect_element_types(name: str, type: Attribute, allowed: Sequence[Attribute]) -> None:
    """Raise unless an operand's element type is one of those allowed."""
    if type not in allowed:
        words = ", ".join(str(candidate) for candidate in allowed)
        raise VerifyException(f"{name} dtype should be one of {words}, got {type}")


def expect_integers(*types: Attribute) -> None:
    """Raise unless all are integer types."""
    for type in types:
        if not isinstance(type, IntegerType | IndexType):
            raise VerifyException(f"expected integers, got {type}")


def is_float(type: Attribute) -> bool:
    """Whether a type is one of floats."""
    return type.__class__ in _FLOATS


def is_signed(type: Attribute) -> bool:
    """Whether a type counts as a signed integer. Signless ones do, `i1` is a truth value."""
    if isinstance(type, IndexType):
        return True
    return _is_integer(type) and type.signedness.data is not Signedness.UNSIGNED and type != i1


def _is_integer(type: Attribute) -> TypeGuard[IntegerType]:
    return isinstance(type, IntegerType)


def bit_width(type: Attribute) -> int:
    """The width of an element in bits; an `index` has 64."""
    if isinstance(type, IndexType):
        return 64
    if isinstance(type, FixedBitwidthType):
        return type.bitwidth
    raise VerifyException(f"{type} is not an element type")


def byte_width(type: Attribute) -> int:
    """The bytes that an element takes in memory; a truth value takes one."""
    return (bit_width(type) + 7) // 8


def promote(lhs: Attribute, rhs: Attribute) -> Attribute:
    """
    The element type of an elementwise result: the float of a float and an integer, else the wider
    one, else the signed one, else the first.
    """
    if lhs == rhs:
        return lhs
    if is_float(lhs) != is_float(rhs):
        return lhs if is_float(lhs) else rhs
    if bit_width(lhs) != bit_width(rhs):
        return lhs if bit_width(lhs) > bit_width(rhs) else rhs
    if not is_float(lhs) and not is_signed(lhs) and is_signed(rhs):
        return rhs
    return lhs
