"""
Builds the body of a lowered kernel: constants once, at its head, and then everything in order.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from struct import pack, unpack
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    UnrealizedConversionCastOp,
    bf16,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.element_types import is_integer
from pypto_xdsl.rewriting.locating import locate
from pypto_xdsl.syntax.lists import Index

INDEX = IndexType()


class KernelBuilder:
    """Inserts ops into the body of a function; what they come from gives their locations."""

    def __init__(self, origin: Operation):
        self.origin = origin
        self.entry = Block()
        self.block = self.entry
        """Where ops go."""
        self._around: list[Block] = []
        """The blocks around that, from the outside in."""
        self._constants: dict[tuple[Attribute, int], SSAValue] = {}
        self._indices: dict[int, SSAValue] = {}
        """Constants of type `index`, most of all."""
        self._constant_ops: list[Operation] = []
        self._head_ops: list[Operation] | None = None
        self._views: list[Operation] = []

    def finish(self) -> Block:
        """Put constants and views before the rest; returns the body."""
        constants = [op for op in self._constant_ops if op.results[0].first_use is not None]
        head = [*constants, *self._views]
        first = self.entry.first_op
        if first is None:
            self.entry.add_ops(head)
        else:
            self.entry.insert_ops_before(head, first)
        return self.entry

    @contextmanager
    def at_head(self) -> Generator[None]:
        """Inside, ops go to the head of the function: they may use parameters and constants."""
        outer, self._head_ops = self._head_ops, self._views
        try:
            yield
        finally:
            self._head_ops = outer

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Inside, ops go to the end of `block`."""
        outer, self.block = self.block, block
        self._around.append(outer)
        try:
            yield
        finally:
            self._around.pop()
            self.block = outer

    def insert_op(self, op: Operation) -> None:
        """Insert an op."""
        locate(self.origin.location, op)
        if self._head_ops is not None:
            self._head_ops.append(op)
        else:
            self.block.add_op(op)

    def insert(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Insert an op; returns its first result."""
        self.insert_op(op)
        result = op.results[0]
        if hint is not None:
            result.name_hint = hint
        return result

    def is_in_scope(self, value: SSAValue) -> bool:
        """Whether a value made so far can be used where ops go now."""
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        # What goes to the head of the function is in no block yet.
        return block is None or block is self.block or block in self._around

    # Numbers.

    def constant(self, value: int, type: IntegerType | IndexType) -> SSAValue:
        """An integer constant, one for each number and type."""
        key = (type, value)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.hoist(
                arith.ConstantOp.create(
                    properties={"value": IntegerAttr(value, type)}, result_types=[type]
                ),
                f"c{'n' if value < 0 else ''}{abs(value)}_{type}",
            )
        return found

    def hoist(self, op: arith.ConstantOp, hint: str | None) -> SSAValue:
        """Insert a constant at the head of the function."""
        locate(self.origin.location, op)
        self._constant_ops.append(op)
        op.result.name_hint = hint
        return op.result

    def index(self, value: Index) -> SSAValue:
        """An index as a value."""
        if isinstance(value, int):
            found = self._indices.get(value)
            if found is None:
                found = self._indices[value] = self.constant(value, INDEX)
            return found
        return value

    def add(self, left: Index, right: Index) -> Index:
        """The sum of two indices; folded where it is known."""
        if isinstance(left, int) and isinstance(right, int):
            return left + right
        if left == 0 or right == 0:
            return right if left == 0 else left
        return self.insert(arith.AddiOp(self.index(left), self.index(right)))

    def multiply(self, left: Index, right: Index) -> Index:
        """The product of two indices; folded where it is known."""
        if isinstance(left, int) and isinstance(right, int):
            return left * right
        if left == 0 or right == 0:
            return 0
        if left == 1 or right == 1:
            return right if left == 1 else left
        return self.insert(arith.MuliOp(self.index(left), self.index(right)))

    def divide(self, value: Index, divisor: int) -> Index:
        """A multiple of a positive number, divided by it; folded where it is known."""
        if isinstance(value, int):
            return value // divisor
        if divisor == 1:
            return value
        return self.insert(arith.DivSIOp(value, self.index(divisor)))

    def convert(self, value: SSAValue, type: Attribute) -> SSAValue:
        """
        A number in another type, as C converts it. Raises `VerifyException` where there is no
        such conversion.
        """
        source = value.type
        if source == type:
            return value
        if is_integer(source):
            if not _is_signless(source):
                return self.convert(self._cast(value, IntegerType(source.width.data)), type)
            return self._convert_integer(value, source, type)
        if is_integer(type) and not _is_signless(type):
            signless = self.convert(value, IntegerType(type.width.data))
            return self._cast(signless, type)
        if isinstance(source, IndexType):
            if is_integer(type):
                return self.insert(arith.IndexCastOp(value, type), value.name_hint)
            return self.convert(self.convert(value, IntegerType(64)), type)
        if isinstance(source, AnyFloat) and is_integer(type):
            return self.insert(arith.FPToSIOp(value, type), value.name_hint)
        if isinstance(source, AnyFloat) and isinstance(type, AnyFloat):
            narrower = source.bitwidth > type.bitwidth
            op = arith.TruncFOp(value, type) if narrower else arith.ExtFOp(value, type)
            return self.insert(op, value.name_hint)
        raise VerifyException(f"a {source} does not convert to {type}")

    def reinterpret(self, value: SSAValue, type: Attribute) -> SSAValue:
        """The bits of a number as a number of another type of the same width."""
        source = value.type
        if source == type or (is_integer(source) and is_integer(type)):
            return self.convert(value, type)
        owner = value.owner
        if source == bf16 and is_integer(type) and isinstance(owner, arith.ConstantOp):
            number = owner.value
            assert isinstance(number, FloatAttr)
            # The upper half of the f32 of the same value.
            (bits,) = unpack("<h", pack("<f", number.value.data)[2:])
            return self.constant(bits, type)
        return self.insert(arith.BitcastOp(value, type), value.name_hint)

    def _convert_integer(
        self, value: SSAValue, source: IntegerType[Any, Any], type: Attribute
    ) -> SSAValue:
        """A signless integer in another type."""
        op: Operation
        if is_integer(type):
            if not _is_signless(type):
                return self._cast(self.convert(value, IntegerType(type.width.data)), type)
            narrower = source.width.data > type.width.data
            op = arith.TruncIOp(value, type) if narrower else arith.ExtSIOp(value, type)
        elif isinstance(type, IndexType):
            op = arith.IndexCastOp(value, type)
        elif isinstance(type, AnyFloat):
            op = arith.SIToFPOp(value, type)
        else:
            raise VerifyException(f"a {source} does not convert to {type}")
        return self.insert(op, value.name_hint)

    def _cast(self, value: SSAValue, type: Attribute) -> SSAValue:
        """A signless integer as an unsigned one of the same width, or the other way."""
        owner = value.owner
        if isinstance(owner, UnrealizedConversionCastOp) and owner.inputs[0].type == type:
            return owner.inputs[0]
        return self.insert(UnrealizedConversionCastOp.get([value], [type]), value.name_hint)


def _is_signless(type: IntegerType[Any, Any]) -> bool:
    return type.signedness.data is Signedness.SIGNLESS
