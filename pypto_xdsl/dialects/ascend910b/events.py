"""
How the pipes of a core wait for each other.

There are eight events for each ordered pair of pipes. One is set when the first pipe has finished
all it was given before, and taken by the second, which waits for it.
"""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import Pipe, PipeAttr
from pypto_xdsl.syntax.attributes import parse_attributes

EVENT_COUNT = 8
"""Events of one ordered pair of pipes."""

PIPES: dict[str, Pipe] = {
    pipe.value.removeprefix("PIPE_"): pipe
    for pipe in (Pipe.S, Pipe.V, Pipe.M, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.FIX)
}
"""The pipes of a core by their names in the text: scalar, vector, cube, L1 to L0, global memory
to the core, the core to global memory, the accumulator to elsewhere."""


class Synchronizes(MemoryEffect):
    """Orders accesses of which no operand tells."""

    @classmethod
    def get_effects(cls, op: object) -> set[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.READ), EffectInstance(MemoryEffectKind.WRITE)}


def pipe_name(attribute: PipeAttr) -> str:
    """`MTE2` for `PIPE_MTE2`."""
    return attribute.data.value.removeprefix("PIPE_")


def parse_pipe(parser: Parser, *others: str) -> PipeAttr:
    """The name of a pipe, or one of `others`."""
    position = parser.pos
    name = parser.parse_identifier()
    if name not in PIPES and name not in others:
        parser.raise_error(
            f"unknown pipe '{name}'; there are {', '.join((*PIPES, *others))}", position, parser.pos
        )
    return PipeAttr(Pipe(f"PIPE_{name}"))


def parse_number(parser: Parser) -> int | SSAValue:
    """`3`, or `%id` for a number known at run time."""
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        return parser.resolve_operand(operand, IndexType())
    return parser.parse_integer(allow_boolean=False)


def print_number(printer: Printer, known: IntegerAttr | None, value: SSAValue | None) -> None:
    """Likewise."""
    if value is not None:
        printer.print_ssa_value(value)
    elif known is not None:
        printer.print_string(str(known.value.data))


class EventOp(IRDLOperation):
    """`MTE2 -> V, 0`: an event of a pair of pipes, its number known here or at run time."""

    traits = traits_def(Synchronizes())

    src_pipe = prop_def(PipeAttr)
    dst_pipe = prop_def(PipeAttr)
    event = opt_prop_def(IntegerAttr)
    dynamic_event = opt_operand_def(IndexType())

    def __init__(self, src: Pipe, dst: Pipe, event: int | SSAValue) -> None:
        is_known = isinstance(event, int)
        super().__init__(
            operands=[None if is_known else event],
            properties={
                "src_pipe": PipeAttr(src),
                "dst_pipe": PipeAttr(dst),
                **({"event": IntegerAttr(event, i64)} if is_known else {}),
            },
        )

    @property
    def source(self) -> Pipe:
        """The pipe that sets the event."""
        return self.src_pipe.data

    @property
    def destination(self) -> Pipe:
        """The pipe that waits for it."""
        return self.dst_pipe.data

    @property
    def known_event(self) -> int | None:
        """The number of the event, None where it is known at run time only."""
        return None if self.event is None else self.event.value.data

    def verify_(self) -> None:
        if (self.event is None) == (self.dynamic_event is None):
            raise VerifyException("expects one event")
        if self.source == self.destination:
            raise VerifyException(
                f"expects two pipes, {pipe_name(self.src_pipe)} is in order by itself"
            )
        for pipe in (self.source, self.destination):
            if pipe not in PIPES.values():
                raise VerifyException(f"expects a pipe of a core, got {pipe.value}")
        known = self.known_event
        if known is not None and not 0 <= known < EVENT_COUNT:
            raise VerifyException(f"expects an event from 0 to {EVENT_COUNT - 1}, got {known}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parse_pipe(parser)
        parser.parse_punctuation("->")
        destination = parse_pipe(parser)
        parser.parse_punctuation(",")
        op = cls(source.data, destination.data, parse_number(parser))
        op.attributes.update(parse_attributes(parser, cls))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {pipe_name(self.src_pipe)} -> {pipe_name(self.dst_pipe)}, ")
        print_number(printer, self.event, self.dynamic_event)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class SetFlagOp(EventOp):
    """Sets an event once the first pipe has done all that was issued to it before."""

    name = "ascend910b.set_flag"


@irdl_op_definition
class WaitFlagOp(EventOp):
    """The second pipe goes on when the event is set, and takes it."""

    name = "ascend910b.wait_flag"


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """
    `ascend910b.barrier V`: a pipe finishes what it has begun before it begins anything else;
    `ascend910b.barrier ALL`: all pipes do, and the scalar unit waits for them.
    """

    name = "ascend910b.barrier"

    traits = traits_def(Synchronizes())

    pipe = prop_def(PipeAttr)

    def __init__(self, pipe: Pipe) -> None:
        super().__init__(properties={"pipe": PipeAttr(pipe)})

    @property
    def is_of_all(self) -> bool:
        """Whether every pipe takes part."""
        return self.pipe.data is Pipe.ALL

    def verify_(self) -> None:
        if not self.is_of_all and self.pipe.data not in PIPES.values():
            raise VerifyException(f"expects a pipe of a core or ALL, got {self.pipe.data.value}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op = cls(parse_pipe(parser, "ALL").data)
        op.attributes.update(parse_attributes(parser, cls))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {pipe_name(self.pipe)}")
        printer.print_op_attributes(self.attributes)
