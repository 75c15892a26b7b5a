"""Typed views of the bytes of a core's memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import DYNAMIC, AddressSpace, TileBufType
from pypto_xdsl.dialects.pto.tile_types import LOCAL_SPACES
from pypto_xdsl.syntax.attributes import parse_attributes

MEMORY_NAMES = {
    AddressSpace.VEC: "ub",
    AddressSpace.MAT: "l1",
    AddressSpace.LEFT: "l0a",
    AddressSpace.RIGHT: "l0b",
    AddressSpace.ACC: "l0c",
    AddressSpace.BIAS: "bt",
    AddressSpace.SCALING: "fb",
}
"""What the hardware calls the memory of a tile: unified buffer, L1, L0A, L0B, L0C, bias table,
fixpipe buffer."""

assert set(MEMORY_NAMES) == set(LOCAL_SPACES)


@irdl_op_definition
class ViewOp(IRDLOperation):
    """
    The bytes at an address of a memory, seen as a tile.

    `%t = ascend910b.view ub[1024] : !pto.tile_buf<vec, 16x64xf32>`, or at an address known at run
    time only, `ub[%address]`, of which `ub[%address in 0 to 8192]` says among which bytes all of
    the tile lies; `valid = [%r, %c]` gives those valid extents, rows first, that the type leaves
    open. Two views may share bytes, whatever their types.
    """

    name = "ascend910b.view"

    traits = traits_def(Pure())

    address = opt_prop_def(IntegerAttr)
    dynamic_address = opt_operand_def(i64)
    bounds = opt_prop_def(DenseArrayBase.constr(i64))
    valid = var_operand_def(IndexType())
    result = result_def(TileBufType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        address: int | SSAValue,
        type: TileBufType,
        valid: Sequence[SSAValue] = (),
        within: tuple[int, int] | None = None,
    ) -> None:
        """
        `address` is in bytes from the start of the memory; `within` are those among which one
        lies that is known at run time only.
        """
        is_known = isinstance(address, int)
        properties: dict[str, Attribute] = {}
        if is_known:
            properties["address"] = IntegerAttr(address, i64)
        if within is not None:
            properties["bounds"] = DenseArrayBase.from_list(i64, within)
        super().__init__(
            operands=[None if is_known else address, valid],
            result_types=[type],
            properties=properties,
        )

    @property
    def type(self) -> TileBufType:
        """What the bytes are seen as."""
        type = self.result.type
        assert isinstance(type, TileBufType)
        return type

    @property
    def known_address(self) -> int | None:
        """The byte address, None where it is known at run time only."""
        return None if self.address is None else self.address.value.data

    @property
    def within(self) -> tuple[int, int] | None:
        """
        The first byte and the end of those among which the tile lies, if its address is known at
        run time only; None if that says nothing of them.
        """
        if self.bounds is None:
            return None
        start, end = self.bounds.get_values()
        return int(start), int(end)

    def verify_(self) -> None:
        if self.bounds is not None:
            if self.dynamic_address is None or len(self.bounds.get_values()) != 2:
                raise VerifyException("expects two bounds of an address known at run time only")
            start, end = self.within or (0, 0)
            if not 0 <= start <= end - self.type.size_in_bytes:
                raise VerifyException(
                    f"a tile of {self.type.size_in_bytes} bytes does not lie in {start} to {end}"
                )
        if (self.address is None) == (self.dynamic_address is None):
            raise VerifyException("expects one address")
        known = self.known_address
        if known is not None and known < 0:
            raise VerifyException(f"expects an address that is not negative, got {known}")
        wanted = self.type.valid_shape.count(DYNAMIC)
        if len(self.valid) != wanted:
            raise VerifyException(
                f"expects {wanted} valid extents for {self.type.short_spelling()}, got "
                f"{len(self.valid)}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        memory = parser.parse_identifier()
        if memory not in MEMORY_NAMES.values():
            parser.raise_error(
                f"expected a memory ({', '.join(MEMORY_NAMES.values())}), got '{memory}'",
                position,
                parser.pos,
            )
        parser.parse_punctuation("[")
        operand = parser.parse_optional_unresolved_operand()
        number = None if operand is not None else parser.parse_integer(allow_boolean=False)
        within: tuple[int, int] | None = None
        if operand is not None and parser.parse_optional_keyword("in") is not None:
            start = parser.parse_integer(allow_boolean=False)
            parser.parse_keyword("to")
            within = start, parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation("]")
        extents: list[SSAValue] = []
        if parser.parse_optional_punctuation(",") is not None:
            parser.parse_keyword("valid")
            parser.parse_punctuation("=")
            names = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_unresolved_operand
            )
            extents = [parser.resolve_operand(name, IndexType()) for name in names]
        attributes = parse_attributes(parser, cls)
        parser.parse_punctuation(":")
        type_position = parser.pos
        type: Attribute = parser.parse_type()
        if not isinstance(type, TileBufType) or MEMORY_NAMES[type.space] != memory:
            parser.raise_error(
                f"expected a tile (!pto.tile_buf) in {memory}, got {type}", type_position
            )
        if operand is not None:
            op = cls(parser.resolve_operand(operand, i64), type, extents, within)
        else:
            assert number is not None
            op = cls(number, type, extents)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {MEMORY_NAMES[self.type.space]}[")
        if self.dynamic_address is not None:
            printer.print_ssa_value(self.dynamic_address)
            if self.within is not None:
                start, end = self.within
                printer.print_string(f" in {start} to {end}")
        else:
            printer.print_string(str(self.known_address))
        printer.print_string("]")
        if self.valid:
            printer.print_string(", valid = [")
            printer.print_list(self.valid, printer.print_ssa_value)
            printer.print_string("]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.type)
