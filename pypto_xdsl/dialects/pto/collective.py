"""Collectives: what all devices of a group do together."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import PtoOp, declare, integer, word
from pypto_xdsl.dialects.pto.device_transfer import (
    ACCUMULATOR,
    READ_GM,
    STAGING,
    WRITE_GM,
    parse_staging,
    verify_staging,
    verify_static,
)
from pypto_xdsl.dialects.pto.syntax import (
    build,
    parse_operand_list,
    parse_type_list,
    print_attributes,
    resolve,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType


class CollectiveOp(PtoOp):
    """`(%a, recv(%ping[, %pong]), group(%g, ...) : T, ...) {root = 0 : i32}`"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True
    OUTS: ClassVar[tuple[str, ...] | None] = ()
    FIXED: ClassVar[tuple[str, ...]] = ()
    """Operands before `recv(...)`."""

    RECEIVE: ClassVar[tuple[str, str]] = ("ping", "pong")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_punctuation("(")
        names = [parser.parse_unresolved_operand()]
        for _ in cls.FIXED[1:]:
            parser.parse_punctuation(",")
            names.append(parser.parse_unresolved_operand())
        parser.parse_punctuation(",")
        staging = parse_staging(parser, cls, "recv")
        parser.parse_punctuation(",")
        parser.parse_keyword("group")
        parser.parse_punctuation("(")
        group = parse_operand_list(parser)
        parser.parse_punctuation(")")
        parser.parse_punctuation(":")
        found = resolve(parser, [*names, *staging, *group], parse_type_list(parser))
        parser.parse_punctuation(")")
        first = len(names) + len(staging)
        values: dict[str, Any] = dict(zip(cls.FIXED, found, strict=False))
        values.update(zip(cls.RECEIVE, found[len(names) : first], strict=False))
        values["group"] = found[first:]
        return build(cls, values, parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        fixed = [self.operand(name) for name in self.FIXED]
        staging = [
            value for name in self.RECEIVE if (value := self.optional_operand(name)) is not None
        ]
        group = self.operands_of("group")
        printer.print_string("(")
        printer.print_list(fixed, printer.print_ssa_value)
        printer.print_string(", recv(")
        printer.print_list(staging, printer.print_ssa_value)
        printer.print_string("), group(")
        printer.print_list(group, printer.print_ssa_value)
        printer.print_string(") : ")
        printer.print_list(
            (*fixed, *staging, *group), lambda value: printer.print_attribute(value.type)
        )
        printer.print_string(")")
        print_attributes(printer, self)

    def verify_(self) -> None:
        super().verify_()
        group = self.operands_of("group")
        root: Any = self.properties["root"]
        if not group:
            raise VerifyException("expects a group of at least one member")
        if not 0 <= root.value.data < len(group):
            raise VerifyException(f"expects root to be in [0, {len(group)}), got {root.value.data}")
        verify_staging(self, *self.RECEIVE)
        for name in self.FIXED:
            if (value := self.operand(name)) and not isinstance(value.type, TileBufType):
                verify_static(name, value)
        for number, member in enumerate(group):
            verify_static(f"group[{number}]", member)
            if member.type != group[0].type:
                raise VerifyException("expects all group operands to have identical types")
        elements = {
            r.dtype_name(element)
            for value in self.operands
            if (element := r.element_of(value)) is not None
        }
        if len(elements) > 1:
            raise VerifyException(
                f"expects all operands to have the same element type, got {sorted(elements)}"
            )


class BroadcastBase(CollectiveOp):
    """`(%src, recv(%ping), group(%g, ...) : ...) {root = 0 : i32}`"""

    FIXED: ClassVar[tuple[str, ...]] = ("src",)

    src = operand_def(READ_GM)
    ping = operand_def(STAGING)
    pong = opt_operand_def(STAGING)
    group = var_operand_def(WRITE_GM)
    root = prop_def(integer(32))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)


class GatherGroupBase(CollectiveOp):
    """`(%dst, recv(%ping), group(%g, ...) : ...) {root = 0 : i32}`"""

    FIXED: ClassVar[tuple[str, ...]] = ("dst",)

    dst = operand_def(WRITE_GM)
    ping = operand_def(STAGING)
    pong = opt_operand_def(STAGING)
    group = var_operand_def(READ_GM)
    root = prop_def(integer(32))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)


class ReduceBase(CollectiveOp):
    """`(%dst, %acc, recv(%ping), group(%g, ...) : ...) {reduceOp = ..., root = 0 : i32}`"""

    FIXED: ClassVar[tuple[str, ...]] = ("dst", "acc")
    RECEIVE: ClassVar[tuple[str, str]] = ("recv_ping", "recv_pong")

    dst = operand_def(WRITE_GM)
    acc = operand_def(ACCUMULATOR)
    recv_ping = operand_def(STAGING)
    recv_pong = opt_operand_def(STAGING)
    group = var_operand_def(READ_GM)
    reduce_op = prop_def(word(a.ReduceOpAttr), prop_name="reduceOp")
    root = prop_def(integer(32))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)


TBroadcastOp = declare(
    BroadcastBase,
    "TBroadcastOp",
    "comm.tbroadcast",
    "copies src to each member of a group",
    SINCE="0.57",
)
CommTGatherOp = declare(
    GatherGroupBase,
    "CommTGatherOp",
    "comm.tgather",
    "dst = the parts of each member, in order",
    SINCE="0.57",
)
CommTScatterOp = declare(
    BroadcastBase,
    "CommTScatterOp",
    "comm.tscatter",
    "gives each member of a group its part of src",
    SINCE="0.57",
)
TReduceOp = declare(
    ReduceBase,
    "TReduceOp",
    "comm.treduce",
    "dst = the combination of each member's part",
    SINCE="0.57",
)
