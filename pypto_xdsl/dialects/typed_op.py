"""Ops in the shared custom form, and those whose result types follow from their operands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.syntax.op_syntax import DefinitionSyntaxOp, segments_property

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
        definition = self.get_irdl_definition()
        given = [None if o is None else SSAValue.get(o) for o in operands]
        given += [None] * (len(definition.operands) - len(given))
        properties = dict(properties or {})
        for name, declared in definition.properties.items():
            if declared.default_value is not None:
                properties.setdefault(name, declared.default_value)
        if any(isinstance(option, AttrSizedOperandSegments) for option in definition.options):
            sizes = tuple(0 if operand is None else 1 for operand in given)
            properties |= segments_property(sizes)
        if result_types is None:
            types = [None if operand is None else operand.type for operand in given]
            result_types = self.infer(types, properties)
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

    def operand_types_by_definition(self) -> Types:
        """The type of each operand of the definition."""
        types: list[Attribute | None] = []
        for name, _ in self.get_irdl_definition().operands:
            operand: SSAValue | None = getattr(self, name)
            types.append(None if operand is None else operand.type)
        return types

    def verify_(self) -> None:
        inferred = self.infer(self.operand_types_by_definition(), self.properties)
        for index, (actual, wanted) in enumerate(zip(self.result_types, inferred, strict=True)):
            if not self.matches(actual, wanted):
                raise VerifyException(f"result {index} should be {wanted}, got {actual}")

    @classmethod
    def matches(cls, actual: Attribute, inferred: Attribute) -> bool:
        """Whether a result may have the type `actual` where `inferred` follows."""
        return actual is inferred or actual == inferred
