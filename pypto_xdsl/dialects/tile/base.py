"""What the ops of the `tile` dialect have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.irdl import IRDLOperation, base
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import as_element_type
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import InferringOp, Types
from pypto_xdsl.syntax.lists import Index

TILE = base(TileType)


class InferringTileOp(InferringOp, ABC):
    """An op whose result types follow from its operands, up to their memory space."""

    @classmethod
    def inferred_types(
        cls, operands: Types, properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        inferred = super().inferred_types(operands, properties)
        # Operands may still stand where the op does not take them; what it makes does not.
        return [
            type.with_space(MemorySpace(declared.space))
            if isinstance(type, TileType)
            and declared.space is not None
            and type.memory_space not in (None, declared.space)
            else type
            for type, (_, declared) in zip(inferred, cls.declaration().results, strict=True)
        ]

    @classmethod
    def matches(cls, actual: Attribute, inferred: Attribute) -> bool:
        # A tile has no memory space until it is inferred, and the space decides the view.
        if isinstance(actual, TileType) and isinstance(inferred, TileType):
            inferred = inferred.with_space(actual.memory_space)
        return actual is inferred or actual == inferred

    def verify_(self) -> None:
        super().verify_()
        for _, result, declared in self.declared_results():
            if declared.space is None or not isinstance(result.type, TileType):
                continue
            if result.type.memory_space not in (None, declared.space):
                raise VerifyException(
                    f"result should be in {declared.space} memory, got {result.type}"
                )

    @classmethod
    def workspace_type(cls, name: str, operands: Types) -> TileType:
        """
        The type of the scratch operand `name` that goes with the other operands' types, given in
        the order of the definition: all of the first operand's box, unless an op says otherwise.
        """
        return TileType.of(operands[0]).with_valid(None)


class ReifiesValidShapeInterface(IRDLOperation, ABC):
    """An op that has the extents of the valid region of its result as operands and constants."""

    @property
    @abstractmethod
    def valid_extents(self) -> Sequence[Index]:
        """One a dimension of the result; empty where its type knows them all."""


def like(
    tile: TileType, shape: Sequence[int] | None = None, element_type: Attribute | None = None
) -> TileType:
    """
    The type of an elementwise result: view and space of an operand. A result of another shape has
    that shape's implicit layout, all of it valid.
    """
    if shape is not None and tuple(shape) != tile.get_shape():
        tile = tile.with_shape(shape)
    if element_type is not None and element_type != tile.element_type:
        tile = tile.with_element_type(as_element_type(element_type))
    return tile


def made_in(value: SSAValue) -> MemorySpace | None:
    """The one memory that an op makes a tile in, whatever its type says; None if there is none."""
    if not isinstance(value, OpResult) or not isinstance(value.op, DeclaredOp):
        return None
    _, declared = value.op.declaration().results[value.index]
    return None if declared.space is None else MemorySpace(declared.space)
