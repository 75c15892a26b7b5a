"""Ops that set what a drained accumulator is scaled with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from xdsl.irdl import operand_def, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.declaration import PropertyConstraint, declare
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, KernelKind
from pypto_xdsl.dialects.pto.operands import F32, READ_TILE
from pypto_xdsl.dialects.pto.queue import FIRST_ID, I32_KIND, QueueOp
from pypto_xdsl.dialects.pto.rules import dtype_name
from pypto_xdsl.dialects.pto.syntax import (
    build,
    parse_clauses,
    print_attributes,
    print_typed_operands,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType


class QuantScalarBase(QueueOp):
    """`(%scale : f32) {id = 0}`"""

    CLAUSES: ClassVar[Mapping[str, PropertyConstraint]] = {"id": I32_KIND}

    scale = operand_def(F32)
    id = opt_prop_def(I32_KIND, default_value=FIRST_ID)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_punctuation("(")
        name = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        operand = cls.DECLARATION.operands[0].name
        values = {operand: parser.resolve_operand(name, parser.parse_type())}
        parser.parse_punctuation(")")
        properties = parse_clauses(parser, cls.CLAUSES, ())
        return build(cls, values, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        print_typed_operands(printer, tuple(self.operands))
        printer.print_string(f") {{id = {self.queue_id}}}")
        print_attributes(printer, self, ("id",))


SetQuantScalarOp = declare(
    QuantScalarBase,
    "SetQuantScalarOp",
    "set_quant_scalar",
    "the scale of tiles pushed from now on",
    core=KernelKind.CUBE,
    SINCE="0.57",
)


class QuantVectorBase(QuantScalarBase):
    """`(%tile : T) {id = 0}`"""

    scale = operand_def(READ_TILE)

    def verify_(self) -> None:
        super().verify_()
        tile = self.scale.type
        assert isinstance(tile, TileBufType)
        if tile.space != AddressSpace.SCALING:
            raise VerifyException(f"expects a tile in loc=scaling, got loc={tile.space}")
        if dtype_name(tile.element_type, signless=True) != "i64":
            raise VerifyException(
                f"expects element type to be packed i64/ui64, got {tile.element_type}"
            )


SetQuantVectorOp = declare(
    QuantVectorBase,
    "SetQuantVectorOp",
    "set_quant_vector",
    "the scales, a column each, of tiles pushed from now on",
    core=KernelKind.CUBE,
    SINCE="0.57",
)
