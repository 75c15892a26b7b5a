"""Prefetches that run beside the kernel."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.irdl import operand_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from pypto_xdsl.dialects.pto.declaration import PtoOp, declare
from pypto_xdsl.dialects.pto.device_transfer import (
    CONTEXT,
    READ_GM,
    WORKSPACE,
    CallOp,
    verify_static,
)
from pypto_xdsl.dialects.pto.handle_types import (
    AsyncEventType,
    AsyncSessionType,
    PrefetchAsyncContextType,
)
from pypto_xdsl.dialects.pto.syntax import build, print_attributes


class PrefetchContextBase(CallOp):
    """`(%workspace : T) -> !pto.prefetch_async_context`"""

    ALLOCATES: ClassVar[bool] = True

    workspace = operand_def(WORKSPACE)
    ctx = result_def(PrefetchAsyncContextType)


class PrefetchBase(CallOp):
    """`(%src, %ctx : T, T) -> !pto.async_event`"""

    src = operand_def(READ_GM)
    ctx = operand_def(CONTEXT)
    event = result_def(AsyncEventType)

    def verify_(self) -> None:
        super().verify_()
        verify_static("src", self.src, flat=True)


MakePrefetchAsyncContextOp = declare(
    PrefetchContextBase,
    "MakePrefetchAsyncContextOp",
    "make_prefetch_async_context",
    "the state of prefetches that run beside the kernel",
    SINCE="0.57",
)
TPrefetchAsyncOp = declare(
    PrefetchBase, "TPrefetchAsyncOp", "tprefetch_async", "begins to bring src nearer", SINCE="0.57"
)


class PrefetchSessionBase(PtoOp):
    """`%ctx : T -> !pto.async_session`"""

    ctx = operand_def(CONTEXT)
    session = result_def(AsyncSessionType)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        ctx = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        parser.parse_punctuation("->")
        values = {"ctx": parser.resolve_operand(ctx, type_)}
        return build(cls, values, attributes, (parser.parse_type(),))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.ctx)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.ctx.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.session.type)


GetPrefetchAsyncSessionOp = declare(
    PrefetchSessionBase,
    "GetPrefetchAsyncSessionOp",
    "get_prefetch_async_session",
    "the channel that waits for prefetches",
    SINCE="0.57",
)
