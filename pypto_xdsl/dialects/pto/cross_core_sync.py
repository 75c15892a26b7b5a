"""Synchronisation between cores: flags from one core to another, and all cores at once."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import OperandConstraint, Role, declare, integer, word
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, SyncAllMode
from pypto_xdsl.dialects.pto.literals import parse_integer
from pypto_xdsl.dialects.pto.operands import GM_VIEW_TYPES, I32, INDEX, INDEX_TYPE
from pypto_xdsl.dialects.pto.shaped_types import PtrType
from pypto_xdsl.dialects.pto.sync import I32_TYPE, PIPE, SyncOp
from pypto_xdsl.dialects.pto.syntax import (
    at_value,
    build,
    parse_operand_list,
    parse_type_list,
    parse_type_of,
    parse_word,
    print_attributes,
    print_typed_operands,
    print_word,
    resolve,
)


class CrossCoreOp(SyncOp):
    """`<PIPE_MTE3>, 3` or `<PIPE_MTE3>, %id`"""

    pipe_name = prop_def(PIPE, prop_name="pipe")
    event_id = opt_prop_def(integer(32))
    ffts_mode = opt_prop_def(integer(32))
    event_id_dyn = opt_operand_def(INDEX)

    @property
    def known_flag(self) -> int | None:
        """The number of the flag, None where it is known at run time only."""
        known: Any = self.event_id
        return None if known is None else known.value.data

    @property
    def mode(self) -> int:
        """Which cores it is between: 0 all of a kind, 1 vector cores of a group, 2 a group's."""
        mode: Any = self.ffts_mode
        return 2 if mode is None else mode.value.data

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"pipe": parse_word(parser, a.PipeAttr)}
        parser.parse_punctuation(",")
        values: dict[str, Any] = {}
        if at_value(parser):
            values["event_id_dyn"] = parser.resolve_operand(
                parser.parse_unresolved_operand(), INDEX_TYPE
            )
        else:
            number = parse_integer(parser, 32)
            if parser.parse_optional_punctuation(":") is not None:
                parser.parse_type()
            properties["event_id"] = IntegerAttr(number, I32_TYPE)
        return build(cls, values, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_word(printer, self.pipe_name)
        printer.print_string(", ")
        if self.event_id_dyn is not None:
            printer.print_ssa_value(self.event_id_dyn)
        else:
            event: Any = self.event_id
            printer.print_string(str(event.value.data))
        print_attributes(printer, self, ("pipe", "event_id"))

    def verify_(self) -> None:
        super().verify_()
        if (self.event_id is None) == (self.event_id_dyn is None):
            raise VerifyException(
                "expects exactly one event-id form: static attr or dynamic index operand"
            )
        mode: Any = self.ffts_mode
        if mode is not None and not 0 <= mode.value.data <= 2:
            raise VerifyException(f"requires ffts_mode in range [0, 2], but got {mode.value.data}")


SyncSetOp = declare(
    CrossCoreOp, "SyncSetOp", "sync.set", "other cores may go on, once a pipe got here"
)
SyncWaitOp = declare(CrossCoreOp, "SyncWaitOp", "sync.wait", "a pipe waits for another core's flag")


SetIntraBlockOp = declare(
    CrossCoreOp,
    "SetIntraBlockOp",
    "set_intra_block",
    "sync.set within a block; 0.60 only",
    SINCE="0.60",
)
WaitIntraBlockOp = declare(
    CrossCoreOp,
    "WaitIntraBlockOp",
    "wait_intra_block",
    "sync.wait within a block; 0.60 only",
    SINCE="0.60",
)


class SetFftsBase(SyncOp):
    """`%ptr : !pto.ptr<i64>`"""

    ffts = operand_def(OperandConstraint((PtrType,), Role.VIEW, "a pointer (!pto.ptr)"))

    def unwritable_in(self, version: str) -> str | None:
        if version == "0.27":
            return "takes a memref in PTOAS 0.27, which no kernel here has"
        return super().unwritable_in(version)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        ffts = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parse_type_of(parser, PtrType)
        return build(cls, {"ffts": parser.resolve_operand(ffts, type_)}, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.ffts)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.ffts.type)


SetFftsOp = declare(SetFftsBase, "SetFftsOp", "set_ffts", "where the flags between cores are kept")

WORKSPACE = OperandConstraint(
    (PtrType, *GM_VIEW_TYPES), Role.UPDATE, "a pointer or view of global memory"
)


class SyncAllBase(SyncOp):
    """`(%ws, %n : PV, i32) mode = ..., core_type = ...`"""

    OUTS: ClassVar[tuple[str, ...] | None] = ()

    gm_workspace = opt_operand_def(WORKSPACE)
    used_cores = opt_operand_def(I32)
    mode = prop_def(word(a.SyncAllModeAttr))
    core_type = prop_def(word(a.SyncCoreTypeAttr))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        parser.parse_punctuation("(")
        found: list[Any] = []
        if parser.parse_optional_punctuation(")") is None:
            names = parse_operand_list(parser)
            parser.parse_punctuation(":")
            found = list(resolve(parser, names, parse_type_list(parser)))
            parser.parse_punctuation(")")
        if len(found) > 2:
            parser.raise_error(
                f"{cls.name} expects a workspace and a number of cores, got {len(found)} operands",
                position,
            )
        parser.parse_keyword("mode")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {"mode": parse_word(parser, a.SyncAllModeAttr)}
        parser.parse_punctuation(",")
        parser.parse_keyword("core_type")
        parser.parse_punctuation("=")
        properties["core_type"] = parse_word(parser, a.SyncCoreTypeAttr)
        values: dict[str, Any] = dict(zip(("gm_workspace", "used_cores"), found, strict=False))
        return build(cls, values, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        if self.operands:
            print_typed_operands(printer, tuple(self.operands))
        printer.print_string(") mode = ")
        printer.print_attribute(self.mode)
        printer.print_string(", core_type = ")
        printer.print_attribute(self.core_type)
        print_attributes(printer, self, ("mode", "core_type"))

    def verify_(self) -> None:
        super().verify_()
        mode: Any = self.mode
        if mode.data == SyncAllMode.HARD and self.operands:
            raise VerifyException("expects hard syncall to have no gm_workspace or used_cores")
        if mode.data == SyncAllMode.SOFT and self.gm_workspace is None:
            raise VerifyException("expects soft syncall to provide gm_workspace")
        if self.gm_workspace is not None:
            _verify_workspace(self.gm_workspace.type)


def _verify_workspace(type_: Attribute) -> None:
    """Sixteen i32 counters. Raises `VerifyException`."""
    assert isinstance(type_, PtrType | GM_VIEW_TYPES[0] | GM_VIEW_TYPES[1])
    if r.dtype_name(type_.element_type, signless=True) != "i32":
        raise VerifyException(
            f"expects gm_workspace element type to be i32, got {type_.element_type}"
        )
    if isinstance(type_, PtrType):
        if type_.space != AddressSpace.GM:
            raise VerifyException("expects gm_workspace to be in global memory")
        return
    count = type_.static_element_count
    if count is not None and count < 16:
        raise VerifyException(f"expects gm_workspace to have at least 16 elements, got {count}")


SyncAllOp = declare(SyncAllBase, "SyncAllOp", "syncall", "all cores of a kind meet", SINCE="0.57")
