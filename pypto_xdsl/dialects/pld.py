"""
The `pld` dialect: two of PyPTO's distributed ops, so that programs with them can be read.

They are declared with their effects, which the directions of parameters follow from; nothing
lowers or runs them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Dialect, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    var_operand_def,
)
from xdsl.utils.str_enum import StrEnum

from pypto_xdsl.dialects.declaration_checks import declared_ops
from pypto_xdsl.dialects.declared_op import Effect, reads, writes
from pypto_xdsl.dialects.element_types import SCALAR
from pypto_xdsl.dialects.ptensor.attributes import AtomicKind, AtomicKindAttr
from pypto_xdsl.dialects.ptensor.types import TENSOR
from pypto_xdsl.dialects.tile.base import TILE
from pypto_xdsl.dialects.typed_op import TypedOp, Value
from pypto_xdsl.syntax.lists import Index, mixed_indices
from pypto_xdsl.syntax.op_syntax import (
    indices_prop,
    subscript_prop,
    word_prop,
)


class NotifyKind(StrEnum):
    """What `notify` does to the peer's element."""

    ATOMIC_ADD = "atomic_add"
    SET = "set"


@irdl_attr_definition
class NotifyKindAttr(EnumAttribute[NotifyKind], SpacedOpaqueSyntaxAttribute):
    """`#pld<notify atomic_add>`"""

    name = "pld.notify"


def _notify_effect(op: NotifyOp) -> Effect:
    return Effect.WRITE if op.op.data is NotifyKind.SET else Effect.READ_WRITE


@irdl_op_definition
class NotifyOp(TypedOp):
    """Sets an element of a peer's part of a tensor, or adds to it."""

    name = "pld.system.notify"
    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    target = operand_def(writes(TENSOR, resolve=_notify_effect))
    offsets = var_operand_def(IndexType)
    static_offsets = subscript_prop()
    peer = operand_def(reads(SCALAR))
    value = operand_def(reads(SCALAR))
    op = word_prop(NotifyKindAttr, NotifyKindAttr(NotifyKind.ATOMIC_ADD))

    def __init__(
        self,
        target: Value,
        offsets: Sequence[Index],
        peer: Value,
        value: Value,
        op: NotifyKind = NotifyKind.ATOMIC_ADD,
    ):
        self._fill(
            properties={"op": NotifyKindAttr(op)},
            target=target,
            offsets=offsets,
            peer=peer,
            value=value,
        )

    @property
    def element(self) -> Sequence[Index]:
        """Which element, one index a dimension."""
        return mixed_indices(self.static_offsets, self.offsets)


def _put_effect(op: PutOp) -> Effect:
    return Effect.WRITE if op.atomic.data is AtomicKind.NONE else Effect.READ_WRITE


@irdl_op_definition
class PutOp(TypedOp):
    """Writes a window of a tensor to a peer's part of another, through tiles on chip."""

    name = "pld.tile.put"
    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    destination = operand_def(writes(TENSOR, resolve=_put_effect))
    destination_offsets = var_operand_def(IndexType)
    static_destination_offsets = subscript_prop()
    peer = operand_def(reads(SCALAR))
    source = operand_def(reads(TENSOR))
    source_offsets = var_operand_def(IndexType)
    static_source_offsets = subscript_prop()
    stage = operand_def(reads(TILE))
    stage2 = opt_operand_def(reads(TILE))
    sizes = var_operand_def(IndexType)
    static_sizes = indices_prop("sizes")
    atomic = word_prop(AtomicKindAttr, AtomicKindAttr(AtomicKind.NONE))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        destination: Value,
        destination_offsets: Sequence[Index],
        peer: Value,
        source: Value,
        source_offsets: Sequence[Index],
        stage: Value,
        sizes: Sequence[Index] = (),
        *,
        atomic: AtomicKind = AtomicKind.NONE,
    ):
        self._fill(
            properties={"atomic": AtomicKindAttr(atomic)},
            destination=destination,
            destination_offsets=destination_offsets,
            peer=peer,
            source=source,
            source_offsets=source_offsets,
            stage=stage,
            sizes=sizes,
        )


Pld = Dialect("pld", declared_ops(sys.modules[__name__]), [NotifyKindAttr])
