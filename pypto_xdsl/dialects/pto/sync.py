"""Ops that order instructions: between the pipes of a core, and between cores."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
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
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Event, Pipe, SyncAllMode, SyncOpType
from pypto_xdsl.dialects.pto.handle_types import EventIdArrayType
from pypto_xdsl.dialects.pto.literals import parse_integer
from pypto_xdsl.dialects.pto.operands import GM_VIEW_TYPES, I32, INDEX, INDEX_TYPE, READ_TILE
from pypto_xdsl.dialects.pto.shaped_types import PtrType
from pypto_xdsl.dialects.pto.syntax import (
    FormattedOp,
    Grammar,
    at_value,
    build,
    grammar_of,
    parse_operand_list,
    parse_type_list,
    parse_type_of,
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


class CrossCoreOp(SyncOp):
    """`<PIPE_MTE3>, 3` or `<PIPE_MTE3>, %id`"""

    pipe_name = prop_def(PIPE, prop_name="pipe")
    event_id = opt_prop_def(integer(32))
    ffts_mode = opt_prop_def(integer(32))
    event_id_dyn = opt_operand_def(INDEX)

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
    CrossCoreOp, "SetIntraBlockOp", "set_intra_block", "sync.set within a block; 0.60 only"
)
WaitIntraBlockOp = declare(
    CrossCoreOp, "WaitIntraBlockOp", "wait_intra_block", "sync.wait within a block; 0.60 only"
)


class SetFftsBase(SyncOp):
    """`%ptr : !pto.ptr<i64>`"""

    ffts = operand_def(OperandConstraint((PtrType,), Role.VIEW, "a pointer (!pto.ptr)"))

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


SyncAllOp = declare(SyncAllBase, "SyncAllOp", "syncall", "all cores of a kind meet")


class FenceBase(FormattedOp):
    """`#pto.fence_scope<gm>`"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    scope = prop_def(word(a.FenceScopeAttr))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = {"scope": parse_word(parser, a.FenceScopeAttr)}
        return build(cls, {}, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.scope)
        print_attributes(printer, self, ("scope",))


FenceBarrierAllOp = declare(
    FenceBase, "FenceBarrierAllOp", "fence.barrier_all", "orders all accesses to a memory"
)

CACHED = OperandConstraint(
    (PtrType, *GM_VIEW_TYPES), Role.VIEW, "a pointer or view of global memory"
)


class CacheInvalidBase(SyncOp):
    """`all #pto.address_space<gm>` or `%addr single_cache_line : T`"""

    addr = opt_operand_def(CACHED)
    space = prop_def(word(a.AddressSpaceAttr))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        if parser.parse_optional_keyword("all") is not None:
            properties = {"space": parse_word(parser, a.AddressSpaceAttr)}
            return build(cls, {}, parser.parse_optional_attr_dict(), (), properties)
        addr = parser.parse_unresolved_operand()
        parser.parse_keyword("single_cache_line")
        parser.parse_punctuation(":")
        values = {"addr": parser.resolve_operand(addr, parser.parse_type())}
        attributes = parser.parse_optional_attr_dict()
        attributes.setdefault("space", a.AddressSpaceAttr(AddressSpace.GM))
        return build(cls, values, attributes)

    def print(self, printer: Printer) -> None:
        if self.addr is None:
            printer.print_string(" all ")
            printer.print_attribute(self.space)
            print_attributes(printer, self, ("space",))
            return
        printer.print_string(" ")
        printer.print_ssa_value(self.addr)
        printer.print_string(" single_cache_line : ")
        printer.print_attribute(self.addr.type)
        default = self.space == a.AddressSpaceAttr(AddressSpace.GM)
        print_attributes(printer, self, ("space",) if default else ())

    def verify_(self) -> None:
        super().verify_()
        space = self.space
        assert isinstance(space, a.AddressSpaceAttr)
        if space.data not in (AddressSpace.GM, AddressSpace.ZERO):
            raise VerifyException("only supports GM cache maintenance")
        addr = None if self.addr is None else self.addr.type
        if isinstance(addr, PtrType) and addr.space != AddressSpace.GM:
            raise VerifyException(
                "single_cache_line address expects a GM pointer or GM tensor view"
            )


CmoCacheInvalidOp = declare(
    CacheInvalidBase, "CmoCacheInvalidOp", "cmo.cacheinvalid", "forgets cached global memory"
)

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
