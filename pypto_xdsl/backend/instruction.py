"""
Which instruction of the `pto` dialect computes an op on tiles, and how the op is written with it.

    Instruction(pto.TAddOp, ("lhs", "rhs"))

The instruction reads the operands named, in the order of its `ins(...)`, and writes the op's
results, in the order of its `outs(...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from xdsl.ir import Attribute

from pypto_xdsl.dialects.pto.declaration import PtoOp

Properties = Callable[[Any], Mapping[str, Attribute]]
"""The properties of the instruction, by the names of the text, from the op."""


def _no_properties(op: Any) -> Mapping[str, Attribute]:
    return {}


@dataclass(frozen=True)
class Instruction:
    """How one op on tiles is written as an instruction."""

    op_type: type[PtoOp]
    operands: tuple[str, ...] | Mapping[str, str]
    """The op's operands in the order of `ins(...)`, or for each operand of `ins(...)` that is
    given the op's; optional ones may be absent from the op."""
    properties: Properties = _no_properties
    scalar: Attribute | None = None
    """The type that a scalar operand has; None: that of the elements of the result."""
    ignored: tuple[str, ...] = ()
    """Operands of the op that the instruction does without."""
    stand_ins: Mapping[Attribute, Attribute] = field(default_factory=dict[Attribute, Attribute])
    """For elements that the instruction does not make, those of the same bits that it makes."""

    @cached_property
    def in_place_operands(self) -> frozenset[str]:
        """The operands of the op that the instruction may write over, element for element."""
        in_place = self.op_type.DECLARATION.in_place
        operands = self.named_operands
        return frozenset(own for source, own in operands.items() if source in in_place)

    @cached_property
    def named_operands(self) -> Mapping[str, str]:
        """Operand of the instruction -> operand of the op."""
        if isinstance(self.operands, Mapping):
            return self.operands
        return dict(zip(self.op_type.DECLARATION.ins, self.operands, strict=False))
