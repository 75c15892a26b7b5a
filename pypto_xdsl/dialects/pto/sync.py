"""Synchronisation of the pipes of a core: flags, barriers, events and buffer ids."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import (
    OperandConstraint,
    PropertyConstraint,
    PtoOp,
    Role,
    declare,
    integer,
    word,
)
from pypto_xdsl.dialects.pto.enumerations import Event, Pipe, SyncOpType
from pypto_xdsl.dialects.pto.handle_types import EventIdArrayType
from pypto_xdsl.dialects.pto.literals import parse_integer
from pypto_xdsl.dialects.pto.operands import INDEX, INDEX_TYPE, READ_TILE
from pypto_xdsl.dialects.pto.syntax import (
    FormattedOp,
    Grammar,
    build,
    grammar_of,
    parse_operand_list,
    parse_type_list,
    parse_word,
    print_attributes,
    print_typed_operands,
    print_word,
    resolve,
)

I32_TYPE = IntegerType(32)
PIPE = word(a.PipeAttr)
EVENT = word(a.EventAttr)

PIPE_OF = {
    SyncOpType.TLOAD: Pipe.MTE2,
    SyncOpType.TSTORE_ACC: Pipe.FIX,
    SyncOpType.TSTORE_VEC: Pipe.MTE3,
    SyncOpType.TMOV_M2L: Pipe.MTE1,
    SyncOpType.TMOV_M2S: Pipe.FIX,
    SyncOpType.TMOV_M2B: Pipe.MTE1,
    SyncOpType.TMOV_M2V: Pipe.V,
    SyncOpType.TMOV_V2M: Pipe.FIX,
    SyncOpType.TMATMUL: Pipe.M,
    SyncOpType.TVEC: Pipe.V,
    SyncOpType.TVECWAIT_EVENT: Pipe.V,
}
"""The pipe that a kind of instruction runs on."""


def _is_kind(attribute: Attribute) -> bool:
    return isinstance(attribute, a.PipeEventTypeAttr | a.SyncOpTypeAttr)


KIND = PropertyConstraint(
    Attribute, a.PipeEventTypeAttr, "a pipe_event_type or sync_op_type attribute", _is_kind
)


def _is_kind_or_pipe(attribute: Attribute) -> bool:
    return _is_kind(attribute) or isinstance(attribute, a.PipeAttr)


KIND_OR_PIPE = PropertyConstraint(
    Attribute, a.PipeAttr, "a pipe, pipe_event_type or sync_op_type attribute", _is_kind_or_pipe
)


def parse_pipe(parser: Parser) -> a.PipeAttr:
    """`<PIPE_V>`, `#pto.pipe<PIPE_V>` or `"PIPE_V"`."""
    position = parser.pos
    text = parser.parse_optional_str_literal()
    if text is None:
        return parse_word(parser, a.PipeAttr)
    if text not in Pipe.__members__.values():
        parser.raise_error(f"invalid pipe token: {text}", position)
    return a.PipeAttr(Pipe(text))


def parse_event(parser: Parser) -> a.EventAttr:
    """`<EVENT_ID0>`, `#pto.event<EVENT_ID0>` or `"EVENT_ID0"`."""
    position = parser.pos
    text = parser.parse_optional_str_literal()
    if text is None:
        return parse_word(parser, a.EventAttr)
    if text not in Event.__members__.values():
        parser.raise_error(f"invalid event token: {text}", position)
    return a.EventAttr(Event(text))


class SyncOp(PtoOp):
    """Ops that touch no operand, and whose order among the others matters"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True


class FlagOp(SyncOp):
    """`[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]`"""

    src_pipe = prop_def(PIPE)
    dst_pipe = prop_def(PIPE)
    event_id = prop_def(EVENT)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_punctuation("[")
        properties: dict[str, Attribute] = {"src_pipe": parse_pipe(parser)}
        parser.parse_punctuation(",")
        properties["dst_pipe"] = parse_pipe(parser)
        parser.parse_punctuation(",")
        properties["event_id"] = parse_event(parser)
        parser.parse_punctuation("]")
        return build(cls, {}, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string("[")
        printer.print_list(
            (self.src_pipe, self.dst_pipe, self.event_id), lambda x: print_word(printer, x)
        )
        printer.print_string("]")
        print_attributes(printer, self, ("src_pipe", "dst_pipe", "event_id"))


SetFlagOp = declare(FlagOp, "SetFlagOp", "set_flag", "dst_pipe may go on, once src_pipe got here")
WaitFlagOp = declare(FlagOp, "WaitFlagOp", "wait_flag", "dst_pipe waits for the flag of src_pipe")


class DynamicFlagOp(SyncOp):
    """`[<PIPE_MTE2>, <PIPE_V>, %id]`"""

    src_pipe = prop_def(PIPE)
    dst_pipe = prop_def(PIPE)
    event_id = operand_def(INDEX)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_punctuation("[")
        properties: dict[str, Attribute] = {"src_pipe": parse_pipe(parser)}
        parser.parse_punctuation(",")
        properties["dst_pipe"] = parse_pipe(parser)
        parser.parse_punctuation(",")
        event = parser.resolve_operand(parser.parse_unresolved_operand(), INDEX_TYPE)
        parser.parse_punctuation("]")
        return build(cls, {"event_id": event}, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string("[")
        printer.print_list((self.src_pipe, self.dst_pipe), lambda x: print_word(printer, x))
        printer.print_string(", ")
        printer.print_ssa_value(self.event_id)
        printer.print_string("]")
        print_attributes(printer, self, ("src_pipe", "dst_pipe"))

    def verify_(self) -> None:
        super().verify_()
        known = r.constant_value(self.event_id)
        if known is not None and not 0 <= known <= 7:
            raise VerifyException(f"event id must be between 0 and 7, got {known}")


SetFlagDynOp = declare(
    DynamicFlagOp, "SetFlagDynOp", "set_flag_dyn", "as set_flag, the event known at run time"
)
WaitFlagDynOp = declare(
    DynamicFlagOp, "WaitFlagDynOp", "wait_flag_dyn", "as wait_flag, the event known at run time"
)


class BarrierBase(SyncOp):
    """`<PIPE_V>`"""

    pipe_name = prop_def(PIPE, prop_name="pipe")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = {"pipe": parse_word(parser, a.PipeAttr)}
        return build(cls, {}, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_word(printer, self.pipe_name)
        print_attributes(printer, self, ("pipe",))


BarrierOp = declare(BarrierBase, "BarrierOp", "barrier", "a pipe finishes what it has begun")


class BarrierSyncBase(SyncOp):
    """`[<TVEC>]`"""

    op_type = prop_def(word(a.SyncOpTypeAttr))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_punctuation("[")
        properties = {"op_type": parse_word(parser, a.SyncOpTypeAttr)}
        parser.parse_punctuation("]")
        return build(cls, {}, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string("[")
        print_word(printer, self.op_type)
        printer.print_string("]")
        print_attributes(printer, self, ("op_type",))


BarrierSyncOp = declare(
    BarrierSyncBase,
    "BarrierSyncOp",
    "barrier_sync",
    "the pipe of a kind of instruction finishes what it has begun",
)


class EventOp(SyncOp):
    """`[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID0>]`"""

    src_op = prop_def(KIND)
    dst_op = prop_def(KIND)
    event_id = prop_def(EVENT)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_punctuation("[")
        properties: dict[str, Attribute] = {}
        for name in ("src_op", "dst_op"):
            position = parser.pos
            kind = parser.parse_attribute()
            if not _is_kind(kind):
                parser.raise_error(f"expected {KIND.what}, got {kind}", position)
            properties[name] = kind
            parser.parse_punctuation(",")
        properties["event_id"] = parse_word(parser, a.EventAttr)
        parser.parse_punctuation("]")
        return build(cls, {}, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string("[")
        printer.print_list((self.src_op, self.dst_op, self.event_id), printer.print_attribute)
        printer.print_string("]")
        print_attributes(printer, self, ("src_op", "dst_op", "event_id"))


RecordEventOp = declare(
    EventOp, "RecordEventOp", "record_event", "set_flag, the pipes named by kinds of instruction"
)
WaitEventOp = declare(
    EventOp, "WaitEventOp", "wait_event", "wait_flag, the pipes named by kinds of instruction"
)


class TileSyncBase(SyncOp):
    """`ins(%a, %b : T, T)`"""

    events = var_operand_def(READ_TILE)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("ins")
        parser.parse_punctuation("(")
        names = parse_operand_list(parser)
        parser.parse_punctuation(":")
        values = resolve(parser, names, parse_type_list(parser))
        parser.parse_punctuation(")")
        return build(cls, {"events": values}, parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins(")
        print_typed_operands(printer, tuple(self.events))
        printer.print_string(")")
        print_attributes(printer, self)


TSyncOp = declare(TileSyncBase, "TSyncOp", "tsync", "waits until tiles are written")


class BufferOp(SyncOp):
    """`"PIPE_V", 3, 0` or `[#pto.pipe_event_type<TVEC>, 3, 0]`"""

    op_type = prop_def(KIND_OR_PIPE)
    buf_id = prop_def(integer(32))
    mode = opt_prop_def(integer(32), default_value=IntegerAttr(0, I32_TYPE))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        bracketed = parser.parse_optional_punctuation("[") is not None
        position = parser.pos
        if bracketed:
            kind = parser.parse_attribute()
            if not _is_kind_or_pipe(kind):
                parser.raise_error(f"expected {KIND_OR_PIPE.what}, got {kind}", position)
            properties["op_type"] = kind
        else:
            text = parser.parse_str_literal(" for a pipe, or '['")
            if text in Pipe.__members__.values():
                properties["op_type"] = a.PipeAttr(Pipe(text))
            elif text in SyncOpType.__members__.values():
                properties["op_type"] = a.PipeEventTypeAttr(SyncOpType(text))
            else:
                parser.raise_error(f"invalid get_buf/rls_buf token: {text}", position)
        parser.parse_punctuation(",")
        buffer = parse_integer(parser, 32)
        properties["buf_id"] = IntegerAttr(buffer, I32_TYPE)
        if parser.parse_optional_punctuation(",") is not None:
            mode = parse_integer(parser, 32)
            properties["mode"] = IntegerAttr(mode, I32_TYPE)
        if bracketed:
            parser.parse_punctuation("]")
        return build(cls, {}, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        kind, buffer, mode = self.op_type, self.buf_id, self.mode
        assert isinstance(buffer, IntegerAttr)
        assert isinstance(mode, IntegerAttr)
        numbers = f", {buffer.value.data}"
        # 0.27 has no mode.
        if mode.value.data or grammar_of(printer) != Grammar.V0_27:
            numbers += f", {mode.value.data}"
        if isinstance(kind, a.PipeAttr):
            printer.print_string(f' "{kind.data}"{numbers}')
        else:
            printer.print_string("[")
            printer.print_attribute(kind)
            printer.print_string(f"{numbers}]")
        print_attributes(printer, self, ("op_type", "buf_id", "mode"))

    def verify_(self) -> None:
        super().verify_()
        buffer = self.buf_id
        assert isinstance(buffer, IntegerAttr)
        if not 0 <= buffer.value.data <= 31:
            raise VerifyException(f"expects buf_id to be in range [0, 31], got {buffer.value.data}")


GetBufOp = declare(BufferOp, "GetBufOp", "get_buf", "waits for a buffer id")
RlsBufOp = declare(BufferOp, "RlsBufOp", "rls_buf", "releases a buffer id")

EVENT_IDS = OperandConstraint((EventIdArrayType,), Role.READ, "a !pto.eventid_array")
EVENT_IDS_OUT = OperandConstraint((EventIdArrayType,), Role.UPDATE, "a !pto.eventid_array")


class DeclareEventIdsBase(FormattedOp):
    """An array of event ids"""

    ALLOCATES: ClassVar[bool] = True
    FORMAT: ClassVar[str] = "attr-dict `->` type($array)"

    array = result_def(EventIdArrayType)


DeclareEventIdArrayOp = declare(
    DeclareEventIdsBase,
    "DeclareEventIdArrayOp",
    "declare_eventid_array",
    "an array of event ids",
)


class EventIdGetBase(FormattedOp):
    """`result = array[index]`"""

    FORMAT: ClassVar[str] = "$array `[` $index `]` attr-dict `:` type($array)"

    array = operand_def(EVENT_IDS)
    index = operand_def(INDEX)
    result = result_def(IndexType())


EventIdArrayGetOp = declare(
    EventIdGetBase, "EventIdArrayGetOp", "eventid_array_get", "one event id"
)


class EventIdSetBase(FormattedOp):
    """`array[index] = value`"""

    FORMAT: ClassVar[str] = "$array `[` $index `]` `,` $value attr-dict `:` type($array)"
    OUTS: ClassVar[tuple[str, ...] | None] = ()

    array = operand_def(EVENT_IDS_OUT)
    index = operand_def(INDEX)
    value = operand_def(INDEX)


EventIdArraySetOp = declare(
    EventIdSetBase, "EventIdArraySetOp", "eventid_array_set", "writes one event id"
)
