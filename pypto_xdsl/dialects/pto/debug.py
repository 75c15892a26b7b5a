"""What a kernel tells whoever looks for an error in it: prints, and a trap."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.attributes import PrintFormatAttr
from pypto_xdsl.dialects.pto.declaration import (
    STRING,
    OperandConstraint,
    PtoOp,
    Role,
    declare,
    word,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Pipe
from pypto_xdsl.dialects.pto.literals import parse_string
from pypto_xdsl.dialects.pto.operands import GM_VIEW_TYPES, INDEX, SCALAR
from pypto_xdsl.dialects.pto.shaped_types import PartitionTensorViewType
from pypto_xdsl.dialects.pto.syntax import (
    FormattedOp,
    build,
    parse_operand_list,
    parse_type_list,
    print_attributes,
    print_typed_operands,
    resolve,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType


class PrintBase(PtoOp):
    """Prints a number"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    format = prop_def(STRING)
    scalar = operand_def(OperandConstraint(SCALAR.bases + INDEX.bases, Role.VALUE, "a number"))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("ins")
        parser.parse_punctuation("(")
        text = parse_string(parser)
        parser.parse_punctuation(",")
        scalar = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        values = {"scalar": parser.resolve_operand(scalar, parser.parse_type())}
        parser.parse_punctuation(")")
        return build(
            cls, values, parser.parse_optional_attr_dict(), (), {"format": STRING.make(text)}
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins(")
        printer.print_attribute(self.format)
        printer.print_string(", ")
        print_typed_operands(printer, (self.scalar,))
        printer.print_string(")")
        print_attributes(printer, self, ("format",))


PrintOp = declare(PrintBase, "PrintOp", "print", "prints a number", pipe=Pipe.S)


class PrintTileBase(PtoOp):
    """Prints a tile"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    src = operand_def(
        OperandConstraint(
            (TileBufType, *GM_VIEW_TYPES), Role.READ, "a tile or a view of global memory"
        )
    )
    tmp = opt_operand_def(
        OperandConstraint((PartitionTensorViewType,), Role.SCRATCH, "a window of global memory")
    )
    print_format = opt_prop_def(word(PrintFormatAttr), prop_name="printFormat")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("ins")
        position = parser.pos
        parser.parse_punctuation("(")
        names = parse_operand_list(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        found = resolve(parser, names, parse_type_list(parser))
        parser.parse_punctuation(")")
        if len(found) > 2:
            parser.raise_error(f"{cls.name} expects 1 to 2 operands, got {len(found)}", position)
        values: dict[str, Any] = dict(zip(("src", "tmp"), found, strict=False))
        return build(cls, values, attributes | parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins(")
        print_typed_operands(printer, tuple(self.operands))
        printer.print_string(")")
        print_attributes(printer, self)

    def verify_(self) -> None:
        super().verify_()
        tile = r.tile_of(self, "src")
        if self.print_format is not None and self.tmp is None:
            raise VerifyException("expects printFormat only when tmp is present")
        if tile is None:
            if self.tmp is not None:
                raise VerifyException("expects tmp only when src is a tile_buf")
            return
        if r.dtype_name(tile.element_type, signless=True) not in PRINTABLE:
            raise VerifyException(f"expects printable tile element type, got {tile.element_type}")
        spaces = (AddressSpace.VEC, AddressSpace.MAT, AddressSpace.ACC)
        allowed = spaces[:1] if self.tmp is None else spaces
        if tile.space not in allowed:
            raise VerifyException(
                f"expects a printable tile in {' or '.join(allowed)}, got loc={tile.space}"
            )


PRINTABLE = ("i8", "i16", "i32", "f16", "f32")

TPrintOp = declare(PrintTileBase, "TPrintOp", "tprint", "prints a tile", pipe=Pipe.V)


class TrapBase(FormattedOp):
    """Stops the kernel"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True
    FORMAT: ClassVar[str] = "attr-dict"


TrapOp = declare(TrapBase, "TrapOp", "trap", "stops the kernel", pipe=Pipe.S)
