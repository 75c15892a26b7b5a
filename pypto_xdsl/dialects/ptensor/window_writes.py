"""What ops that write into a window of a tensor have in common."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, operand_def, result_def, var_operand_def

from pypto_xdsl.dialects.declared_op import Effect, names, reads, writes
from pypto_xdsl.dialects.ptensor.attributes import AtomicKind, AtomicKindAttr
from pypto_xdsl.dialects.ptensor.types import TENSOR
from pypto_xdsl.dialects.typed_op import TypedOp, Value
from pypto_xdsl.syntax.lists import Index, mixed_indices
from pypto_xdsl.syntax.op_syntax import subscript_prop, word_prop


def _effect(op: WindowWriteOp) -> Effect:
    return Effect.WRITE if op.atomic.data is AtomicKind.NONE else Effect.READ_WRITE


class WindowWriteOp(TypedOp, ABC):
    """
    An op that writes the valid region of its source into a tensor at the given offsets, or, where
    it is atomic, adds it to what is there; the result is the tensor's next name.
    """

    source = operand_def(reads(AnyAttr()))
    destination = operand_def(writes(TENSOR, resolve=_effect))
    offsets = var_operand_def(IndexType)
    static_offsets = subscript_prop()
    atomic = word_prop(AtomicKindAttr, AtomicKindAttr(AtomicKind.NONE))
    result = result_def(names("destination", TENSOR))

    def __init__(
        self,
        source: Value,
        destination: Value,
        offsets: Sequence[Index],
        *,
        atomic: AtomicKind = AtomicKind.NONE,
        result_type: Attribute | None = None,
    ):
        destination = SSAValue.get(destination)
        self._fill(
            [result_type or destination.type],
            {"atomic": AtomicKindAttr(atomic)},
            source=source,
            destination=destination,
            offsets=offsets,
        )

    @classmethod
    def default_result_operand(cls) -> int:
        return 1

    @property
    def window_offsets(self) -> Sequence[Index]:
        """Where the source goes, one a dimension of the tensor."""
        return mixed_indices(self.static_offsets, self.offsets)
