"""
How the cores of a group wait for each other: sixteen flags that a cube core shares with its two
vector cores, each a counter.
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
    Raises a flag once the pipe has done all that was issued to it before: by a cube core for
    both of its vector cores, by a vector core for its cube core.
    """

    name = "ascend910b.set_cross_flag"


@irdl_op_definition
class WaitCrossFlagOp(CrossFlagOp):
    """
    The pipe goes on when the flag is raised, and takes it: a vector core that of its cube core,
    a cube core one of each of its vector cores.
    """

    name = "ascend910b.wait_cross_flag"
