"""Regions of a kernel that only one kind of core runs."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.ir import Block, Region
from xdsl.irdl import region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect

from pypto_xdsl.dialects.pto.declaration import PtoOp, declare
from pypto_xdsl.dialects.pto.enumerations import KernelKind
from pypto_xdsl.dialects.pto.syntax import build, print_attributes


class SectionOp(PtoOp):
    """`{ ... }`"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    body = region_def("single_block")

    @property
    def kernel_kind(self) -> KernelKind:
        """The core that runs the body."""
        return KernelKind.CUBE if self.name.endswith("cube") else KernelKind.VECTOR

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        body = parser.parse_region()
        if body.first_block is None:
            body = Region(Block())
        return build(cls, {}, parser.parse_optional_attr_dict(), regions=(body,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        print_attributes(printer, self)


SectionCubeOp = declare(SectionOp, "SectionCubeOp", "section.cube", "only the cube core runs this")
SectionVectorOp = declare(
    SectionOp, "SectionVectorOp", "section.vector", "only the vector core runs this"
)
