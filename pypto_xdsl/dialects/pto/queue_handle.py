"""Ops on queues that are named by a handle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from pypto_xdsl.dialects.pto.declaration import (
    OperandConstraint,
    PropertyConstraint,
    PtoOp,
    Role,
    declare,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Pipe
from pypto_xdsl.dialects.pto.handle_types import PipeType
from pypto_xdsl.dialects.pto.operands import I64
from pypto_xdsl.dialects.pto.queue import (
    I8_KIND,
    READ_ENTRY,
    VIEW_ENTRY,
    WRITE_ENTRY,
    QueueOp,
    parse_subblock,
    print_subblock,
    verify_entry,
)
from pypto_xdsl.dialects.pto.queue_initialize import PipeInitializeGlobalBase
from pypto_xdsl.dialects.pto.syntax import (
    build,
    parse_clauses,
    parse_operand_list,
    parse_type_list,
    print_attributes,
    print_typed_operands,
    resolve,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType

HANDLE = OperandConstraint((PipeType,), Role.VIEW, "a !pto.pipe")


class HandleOp(QueueOp):
    """`(%tile, %pipe : T, !pto.pipe) {split = 0}`"""

    CLAUSES: ClassVar[Mapping[str, PropertyConstraint]] = {"split": I8_KIND}
    OUTS: ClassVar[tuple[str, ...] | None] = ()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        parser.parse_punctuation("(")
        names = parse_operand_list(parser)
        parser.parse_punctuation(":")
        found = resolve(parser, names, parse_type_list(parser))
        parser.parse_punctuation(")")
        values = cls.assign(parser, found, position)
        properties = parse_clauses(parser, cls.CLAUSES, ("split",))
        parse_subblock(parser, cls, values)
        return build(cls, values, parser.parse_optional_attr_dict(), (), properties)

    @classmethod
    def assign(cls, parser: Parser, found: list[SSAValue], position: int) -> dict[str, Any]:
        """Names for the operands in parentheses."""
        names = [info.name for info in cls.DECLARATION.operands if info.name != "aiv_subblockid"]
        if len(found) != len(names):
            parser.raise_error(
                f"{cls.name} expects {len(names)} operands, got {len(found)}", position
            )
        return dict(zip(names, found, strict=True))

    def verify_(self) -> None:
        super().verify_()
        handle = self.operand("pipe_handle").owner
        entry: SSAValue | None = getattr(self, "tile", getattr(self, "entry", None))
        if entry is None or not isinstance(handle, PipeInitializeGlobalBase):
            return
        verify_entry(entry.type, handle.gm_addr.type, f"{handle.name} gm_addr")

    def print(self, printer: Printer) -> None:
        skipped: SSAValue | None = getattr(self, "aiv_subblockid", None)
        values = tuple(
            value for _, _, value in self.roles() if skipped is None or value is not skipped
        )
        printer.print_string("(")
        print_typed_operands(printer, values)
        printer.print_string(") ")
        self.print_clauses(printer)
        print_subblock(printer, self)
        print_attributes(printer, self, tuple(self.CLAUSES))


def _push_pipe(op: PtoOp) -> Pipe:
    tile = op.operand("tile").type
    is_acc = isinstance(tile, TileBufType) and tile.space == AddressSpace.ACC
    return Pipe.FIX if is_acc else Pipe.MTE3


class HandlePushBase(HandleOp):
    """`(%tile, %pipe : T, !pto.pipe) {split = 0}`"""

    tile = operand_def(READ_ENTRY)
    pipe_handle = operand_def(HANDLE)
    aiv_subblockid = opt_operand_def(I64)
    split = prop_def(I8_KIND)


TPushOp = declare(HandlePushBase, "TPushOp", "tpush", "appends a tile to a queue", pipe=_push_pipe)


class HandlePopBase(HandleOp):
    """`(%tile, %pipe : T, !pto.pipe) {split = 0}`"""

    tile = operand_def(WRITE_ENTRY)
    pipe_handle = operand_def(HANDLE)
    aiv_subblockid = opt_operand_def(I64)
    split = prop_def(I8_KIND)


TPopOp = declare(HandlePopBase, "TPopOp", "tpop", "takes a tile of a queue", pipe=Pipe.MTE2)


class HandleAllocBase(HandleOp):
    """`(%entry, %pipe : T, !pto.pipe) {split = 0}`"""

    entry = operand_def(WRITE_ENTRY)
    pipe_handle = operand_def(HANDLE)
    split = prop_def(I8_KIND)


TAllocOp = declare(
    HandleAllocBase,
    "TAllocOp",
    "talloc",
    "names the slot that is filled next",
    pipe=Pipe.MTE3,
    SINCE="0.57",
)


class HandleFreeBase(HandleOp):
    """`([%entry, ]%pipe : [T, ]!pto.pipe) {split = 0}`"""

    entry = opt_operand_def(VIEW_ENTRY)
    pipe_handle = operand_def(HANDLE)
    split = prop_def(I8_KIND)

    @classmethod
    def assign(cls, parser: Parser, found: list[SSAValue], position: int) -> dict[str, Any]:
        if len(found) == 1:
            return {"pipe_handle": found[0]}
        return super().assign(parser, found, position)


TFreeOp = declare(
    HandleFreeBase, "TFreeOp", "tfree", "gives back the slot that was taken", pipe=Pipe.S
)
