"""
How cores wait for each other: sixteen flags that a cube core shares with its two vector cores, or
that all cores of a kind share, each a counter.
"""

from __future__ import annotations

from enum import IntEnum
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
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.ascend910b.events import (
    Synchronizes,
    parse_number,
    parse_pipe,
    pipe_name,
    print_number,
)
from pypto_xdsl.dialects.pto import Pipe, PipeAttr
from pypto_xdsl.syntax.attributes import parse_attributes

FLAG_COUNT = 16
"""Flags of a group."""


class FlagMode(IntEnum):
    """Which cores raise a flag together, and which it is for."""

    ALL = 0
    """All cube cores, or all vector cores, of all groups, for themselves."""
    VECTOR = 1
    """The vector cores of a group, for themselves."""
    GROUP = 2
    """The cores of one kind of a group, for those of the other."""


class CrossFlagOp(IRDLOperation):
    """`MTE3, 2`: a flag, its number known here or at run time, and the pipe that it concerns."""

    traits = traits_def(Synchronizes())

    pipe = prop_def(PipeAttr)
    flag = opt_prop_def(IntegerAttr)
    dynamic_flag = opt_operand_def(IndexType())

    def __init__(self, pipe: Pipe, flag: int | SSAValue) -> None:
        is_known = isinstance(flag, int)
        super().__init__(
            operands=[None if is_known else flag],
            properties={
                "pipe": PipeAttr(pipe),
                **({"flag": IntegerAttr(flag, i64)} if is_known else {}),
            },
        )

    @property
    def known_flag(self) -> int | None:
        """The number of the flag, None where it is known at run time only."""
        return None if self.flag is None else self.flag.value.data

    def verify_(self) -> None:
        if (self.flag is None) == (self.dynamic_flag is None):
            raise VerifyException("expects one flag")
        known = self.known_flag
        if known is not None and not 0 <= known < FLAG_COUNT:
            raise VerifyException(f"expects a flag from 0 to {FLAG_COUNT - 1}, got {known}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        pipe = parse_pipe(parser)
        parser.parse_punctuation(",")
        op = cls(pipe.data, parse_number(parser))
        op.attributes.update(parse_attributes(parser, cls))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {pipe_name(self.pipe)}, ")
        print_number(printer, self.flag, self.dynamic_flag)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class SetCrossFlagOp(CrossFlagOp):
    """
    `MTE3, 2` or `MTE3, 2, mode = 0`: raises a flag once the pipe has done all that was issued to it
    before. In mode 2, that of none, a cube core does for both of its vector cores, the vector cores
    for their cube core; in mode 1 the vector cores of a group for each other; in mode 0 all cores
    of a kind for each other. It is raised when all of these have done so.
    """

    name = "ascend910b.set_cross_flag"

    mode = opt_prop_def(IntegerAttr)

    def __init__(self, pipe: Pipe, flag: int | SSAValue, mode: FlagMode = FlagMode.GROUP) -> None:
        super().__init__(pipe, flag)
        if mode is not FlagMode.GROUP:
            self.properties["mode"] = IntegerAttr(mode, i64)

    @property
    def flag_mode(self) -> FlagMode:
        """Which cores it concerns."""
        return FlagMode.GROUP if self.mode is None else FlagMode(self.mode.value.data)

    def verify_(self) -> None:
        super().verify_()
        if self.mode is not None and self.mode.value.data not in (FlagMode.ALL, FlagMode.VECTOR):
            raise VerifyException(f"expects mode 0, mode 1 or none, got {self.mode.value.data}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        pipe = parse_pipe(parser)
        parser.parse_punctuation(",")
        op = cls(pipe.data, parse_number(parser))
        if parser.parse_optional_punctuation(",") is not None:
            parser.parse_keyword("mode")
            parser.parse_punctuation("=")
            op.properties["mode"] = IntegerAttr(parser.parse_integer(), i64)
        op.attributes.update(parse_attributes(parser, cls))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {pipe_name(self.pipe)}, ")
        print_number(printer, self.flag, self.dynamic_flag)
        if self.mode is not None:
            printer.print_string(f", mode = {self.mode.value.data}")
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class WaitCrossFlagOp(CrossFlagOp):
    """
    The pipe goes on when the flag is raised, and takes it: a vector core that of its cube core,
    a cube core one of each of its vector cores.
    """

    name = "ascend910b.wait_cross_flag"
