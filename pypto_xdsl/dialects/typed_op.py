"""Ops in the shared custom form, and those whose result types follow from their operands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from typing import ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import ShapedType, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, OptionalDef, VariadicDef
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import DeclarationError, DeclaredOp
from pypto_xdsl.syntax.lists import Index, split_indices
from pypto_xdsl.syntax.op_syntax import (
    DefinitionSyntaxOp,
    StaticIndices,
    indices_attr,
    segments_property,
)
from pypto_xdsl.syntax.spelling import did_you_mean

Value: TypeAlias = SSAValue | Operation
Types: TypeAlias = Sequence[Attribute | None]
"""The type of each operand of a definition, of several the first; None where there is none."""
Inference: TypeAlias = Callable[[Types, Mapping[str, Attribute]], Sequence[Attribute]]
"""The result types that follow from the operands and the properties."""


Cut: TypeAlias = Sequence[tuple[SSAValue, int]]
"""Tiles, and the axis of each along which it is cut."""


def _is_tile(type: Attribute) -> bool:
    return isinstance(type, ShapedType) and not isinstance(type, TensorType)


def _shape(type: Attribute) -> tuple[int, ...]:
    assert isinstance(type, ShapedType)
    return type.get_shape()


class TypedOp(DefinitionSyntaxOp, DeclaredOp, ABC):
    """An op in the shared custom form, with declared operands."""

    PARALLEL_AXES: ClassVar[tuple[int, ...]] = ()
    """
    Of an op on tiles: the axes, counted from the first, along which what a result holds at a place
    comes from what the operands hold at that place. Those of an elementwise op are all.
    """

    def cut_together(self) -> Iterator[Cut]:
        """
        Along which axes tiles can be cut, all those of one list at the same place, so that the op
        on the parts gives the parts of what it gives on the whole. What has one element along an
        axis takes part in each of them.
        """
        tiles = [value for value in (*self.operands, *self.results) if _is_tile(value.type)]
        rank = max((len(_shape(value.type)) for value in tiles), default=0)
        axes = range(rank) if self.ELEMENTWISE else self.PARALLEL_AXES
        scratch = self.workspaces()
        for axis in axes:
            if self.PACKED and axis == rank - 1:
                # Bits of a row lie in bytes together.
                continue
            cut = [
                (value, axis)
                for value in tiles
                if len(_shape(value.type)) == rank and _shape(value.type)[axis] != 1
            ]
            extents = {_shape(v.type)[axis] for v, _ in cut if v not in scratch}
            if len(extents) == 1:
                yield [(v, a) for v, a in cut if _shape(v.type)[a] in extents]

    def _fill(
        self,
        result_types: Sequence[Attribute] | Inference = (),
        properties: Mapping[str, Attribute] | None = None,
        **operands: Value | Sequence[Value] | Sequence[Index] | None,
    ) -> None:
        """
        Initialize the op; for constructors. Operands are given by their names in the definition:

        * a value, None for an optional operand that is absent;
        * a sequence of values for a variadic operand;
        * a sequence of constants and values for a list of indices whose static places are the
          property `static_<name>`.

        What is not named is absent or empty; properties that are not given have their defaults.
        Raises `TypeError` or `ValueError` where an operand or property is missing or unknown.
        """
        signature = _signature(type(self))
        filled = {**signature.defaults, **properties} if properties else {**signature.defaults}
        values: list[SSAValue] = []
        sizes: list[int] = []
        for name, required, static_name in signature.operands:
            given = operands.pop(name, None)
            if isinstance(given, (OpResult, BlockArgument)):
                values.append(given)
                sizes.append(1)
            elif isinstance(given, Operation):
                values.append(SSAValue.get(given))
                sizes.append(1)
            elif static_name is not None:
                static, group = split_indices(cast(Sequence[Index], given or ()))
                filled[static_name] = indices_attr(static)
                values += group
                sizes.append(len(group))
            elif given is not None:
                group = [SSAValue.get(value) for value in cast(Sequence[Value], given)]
                values += group
                sizes.append(len(group))
            elif required:
                raise TypeError(f"'{self.name}' needs an operand '{name}'")
            else:
                sizes.append(0)
        if operands:
            raise signature.unknown_operand(next(iter(operands)))
        signature.check_properties(filled)
        if callable(result_types):
            ends = accumulate(sizes)
            types = [
                values[end - size].type if size else None
                for size, end in zip(sizes, ends, strict=True)
            ]
            result_types = result_types(types, filled)
        if signature.sized:
            filled |= segments_property(tuple(sizes))
        Operation.__init__(self, operands=values, result_types=result_types, properties=filled)


class InferringOp(TypedOp, ABC):
    """An op whose result types follow from its operands and properties."""

    def __init__(
        self,
        *operands: Value | None,
        properties: Mapping[str, Attribute] | None = None,
        result_types: Sequence[Attribute] | None = None,
    ):
        """
        Take the operands in the order of the definition, None for an absent optional one, and
        infer the result types unless they are given.
        """
        names = _signature(type(self)).names
        if len(operands) > len(names):
            raise TypeError(f"'{self.name}' takes {len(names)} operands, got {len(operands)}")
        self._fill(
            self.inferred_types if result_types is None else result_types,
            properties,
            **dict(zip(names, operands, strict=False)),
        )

    @classmethod
    @abstractmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        """
        The result types. Raises `VerifyException` where the operands do not fit together.
        """

    @classmethod
    def inferred_types(
        cls, operands: Types, properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        """
        The result types, one a result of the definition.

        Raises `VerifyException` where the operands do not fit together, `DeclarationError` where
        `infer` and the definition do not.
        """
        inferred = cls.infer(operands, properties)
        declared = len(cls.declaration().results)
        if len(inferred) != declared:
            raise DeclarationError(
                f"'{cls.name}' declares {declared} results, and infers {len(inferred)}"
            )
        return inferred

    def operand_types_by_definition(self) -> Types:
        """The type of each operand of the definition."""
        types: list[Attribute | None] = []
        for name, _ in self.get_irdl_definition().operands:
            operand: SSAValue | None = getattr(self, name)
            types.append(None if operand is None else operand.type)
        return types

    def verify_(self) -> None:
        inferred = self.inferred_types(self.operand_types_by_definition(), self.properties)
        for index, (actual, wanted) in enumerate(zip(self.result_types, inferred, strict=True)):
            if not self.matches(actual, wanted):
                raise VerifyException(f"result {index} should be {wanted}, got {actual}")

    @classmethod
    def matches(cls, actual: Attribute, inferred: Attribute) -> bool:
        """Whether a result may have the type `actual` where `inferred` follows."""
        return actual is inferred or actual == inferred


@dataclass(frozen=True)
class _Signature:
    """What the constructor of an op class takes."""

    name: str
    operands: tuple[tuple[str, bool, str | None], ...]
    """
    Each operand of the definition, whether it is one value that must be there, and the property
    of its static places if it is a list of indices.
    """
    properties: frozenset[str]
    required: frozenset[str]
    defaults: Mapping[str, Attribute]
    sized: bool

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each operand of the definition."""
        return tuple(name for name, _, _ in self.operands)

    def unknown_operand(self, name: str) -> TypeError:
        """The error that the definition has no such operand."""
        return TypeError(f"'{self.name}' has no operand '{name}'{did_you_mean(name, self.names)}")

    def check_properties(self, given: Mapping[str, Attribute]) -> None:
        """Raise `ValueError` unless all that are needed are given, and no others."""
        if not given.keys() <= self.properties:
            unknown = next(name for name in given if name not in self.properties)
            hint = did_you_mean(unknown, self.properties)
            raise ValueError(f"'{self.name}' has no property '{unknown}'{hint}")
        if not self.required <= given.keys():
            missing = min(self.required - given.keys())
            raise ValueError(f"'{self.name}' needs a property '{missing}'")


@cache
def _signature(op_type: type[IRDLOperation]) -> _Signature:
    definition = op_type.get_irdl_definition()
    segments = AttrSizedOperandSegments.attribute_name
    properties = {
        name: declared for name, declared in definition.properties.items() if name != segments
    }
    static_names = {
        static_name.removeprefix("static_"): static_name
        for static_name, declared in properties.items()
        if isinstance(declared.constr, StaticIndices)
    }
    return _Signature(
        op_type.name,
        tuple(
            (name, not isinstance(operand, VariadicDef), static_names.get(name))
            for name, operand in definition.operands
        ),
        frozenset(properties),
        frozenset(
            name
            for name, declared in properties.items()
            if not isinstance(declared, OptionalDef) and declared.default_value is None
        ),
        {
            name: declared.default_value
            for name, declared in properties.items()
            if declared.default_value is not None
        },
        any(isinstance(option, AttrSizedOperandSegments) for option in definition.options),
    )
