"""Ops in the shared custom form, and those whose result types follow from their operands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, OptionalDef
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import DeclarationError, DeclaredOp
from pypto_xdsl.syntax.op_syntax import DefinitionSyntaxOp, segments_property
from pypto_xdsl.syntax.spelling import did_you_mean

Value: TypeAlias = SSAValue | Operation
Types: TypeAlias = Sequence[Attribute | None]
"""The type of each operand of a definition, None where an optional one is absent."""


class TypedOp(DefinitionSyntaxOp, DeclaredOp, ABC):
    """An op in the shared custom form, with declared operands."""


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
        signature = _signature(type(self))
        given = [None if o is None else SSAValue.get(o) for o in operands]
        given += [None] * (len(signature.operands) - len(given))
        signature.check_operands(given)
        properties = {**signature.defaults, **(properties or {})}
        signature.check_properties(properties)
        if signature.sized:
            sizes = tuple(0 if operand is None else 1 for operand in given)
            properties |= segments_property(sizes)
        if result_types is None:
            types = [None if operand is None else operand.type for operand in given]
            result_types = self.inferred_types(types, properties)
        Operation.__init__(
            self,
            operands=[operand for operand in given if operand is not None],
            result_types=result_types,
            properties=properties,
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
    operands: tuple[tuple[str, bool], ...]
    """Each operand of the definition, and whether it may be absent."""
    properties: frozenset[str]
    required: frozenset[str]
    defaults: Mapping[str, Attribute]
    sized: bool

    def check_operands(self, given: Sequence[SSAValue | None]) -> None:
        """Raise `TypeError` unless all operands that must be there are."""
        if len(given) > len(self.operands):
            raise TypeError(f"'{self.name}' takes {len(self.operands)} operands, got {len(given)}")
        for (name, optional), operand in zip(self.operands, given, strict=True):
            if operand is None and not optional:
                raise TypeError(f"'{self.name}' needs an operand '{name}'")

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
    return _Signature(
        op_type.name,
        tuple((name, isinstance(operand, OptionalDef)) for name, operand in definition.operands),
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
