"""Regions of a kernel: those that only one kind of core runs, and groups of tile ops."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import region_def, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.declaration import OperandConstraint, PtoOp, Role, declare
from pypto_xdsl.dialects.pto.enumerations import KernelKind
from pypto_xdsl.dialects.pto.syntax import (
    build,
    parse_operand_list,
    parse_type_list,
    print_attributes,
)


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

ANYTHING = OperandConstraint((Attribute,), Role.VIEW, "a value")


class FusionRegionBase(PtoOp):
    """`{ ... pto.yield(%x) : (T) -> () } : T`"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    traits = traits_def(RecursiveMemoryEffect())

    body = region_def("single_block")
    outputs = var_result_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        body = parser.parse_region()
        attributes = parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":") is not None:
            types = parse_type_list(parser)
        return build(cls, {}, attributes, types, regions=(body,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        print_attributes(printer, self)
        if self.outputs:
            printer.print_string(" : ")
            printer.print_list(self.outputs, lambda value: printer.print_attribute(value.type))

    def verify_(self) -> None:
        super().verify_()
        last = self.body.block.last_op
        if not isinstance(last, YieldBase):
            raise VerifyException("expects its region to end with pto.yield")
        if last.operand_types != self.result_types:
            raise VerifyException("expects pto.yield to yield the types of its results")


class YieldBase(PtoOp):
    """`(%x) : (T) -> ()`"""

    traits = traits_def(IsTerminator())

    values = var_operand_def(ANYTHING)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_punctuation("(")
        names = []
        if parser.parse_optional_punctuation(")") is None:
            names = parse_operand_list(parser)
            parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type().inputs.data
        values = parser.resolve_operands(names, types, position)
        return build(cls, {"values": values}, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_list(self.values, printer.print_ssa_value)
        printer.print_string(")")
        print_attributes(printer, self)
        printer.print_string(" : (")
        printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_string(") -> ()")


FusionRegionOp = declare(
    FusionRegionBase,
    "FusionRegionOp",
    "fusion_region",
    "a group of tile ops that runs as one",
    SINCE="0.57",
)
YieldOp = declare(
    YieldBase, "YieldOp", "yield", "ends a fusion_region, with its results", SINCE="0.57"
)
