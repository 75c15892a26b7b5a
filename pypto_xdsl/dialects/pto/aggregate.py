"""Structures on the scalar unit's stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.declaration import (
    OperandConstraint,
    PropertyConstraint,
    PtoOp,
    Role,
    declare,
)
from pypto_xdsl.dialects.pto.handle_types import StructType
from pypto_xdsl.dialects.pto.literals import parse_integer
from pypto_xdsl.dialects.pto.operands import SCALAR
from pypto_xdsl.dialects.pto.syntax import FormattedOp, build, print_attributes

READ_STRUCT = OperandConstraint((StructType,), Role.READ, "a !pto.struct")
UPDATE_STRUCT = OperandConstraint((StructType,), Role.UPDATE, "a !pto.struct")
PATH = PropertyConstraint(
    DenseArrayBase, lambda path: DenseArrayBase.from_list(i64, path), "an array of i64"
)


class DeclareStructBase(FormattedOp):
    """A structure on the stack"""

    ALLOCATES: ClassVar[bool] = True
    FORMAT: ClassVar[str] = "attr-dict `->` type($s)"

    s = result_def(StructType)


DeclareStructOp = declare(
    DeclareStructBase, "DeclareStructOp", "declare_struct", "a structure on the stack", SINCE="0.57"
)


def parse_path(parser: Parser) -> Attribute:
    """`[0, 1]`: a field, and the fields of that."""
    return PATH.make(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_integer(parser, 64)
        )
    )


def field_type(struct: StructType, path: Sequence[int]) -> Attribute:
    """The type of the field at a path. Raises `VerifyException` where there is none."""
    if not path:
        raise VerifyException("struct path must have at least one index")
    current: Attribute = struct
    for depth, index in enumerate(path):
        if not isinstance(current, StructType):
            raise VerifyException(
                f"struct path index {depth} descends into non-struct field of type {current}"
            )
        if not 0 <= index < len(current.fields.data):
            raise VerifyException(
                f"struct path index {depth} ({index}) is out of range for {current}"
            )
        current = current.fields.data[index]
    if isinstance(current, StructType):
        raise VerifyException(f"struct path must end at a number, got {current}")
    return current


class StructAccessOp(PtoOp):
    """Ops on one field"""

    OUTS: ClassVar[tuple[str, ...] | None] = ()

    @property
    def field_path(self) -> tuple[int, ...]:
        """The field, and the fields of that."""
        path: Any = self.properties["path"]
        return tuple(path.get_values())

    def print_access(self, printer: Printer) -> None:
        """`%s[0, 1]`"""
        printer.print_string(" ")
        printer.print_ssa_value(self.operand("s"))
        printer.print_string(f"[{', '.join(map(str, self.field_path))}]")

    def verify_field(self, value: Attribute) -> None:
        """The field has this type. Raises `VerifyException`."""
        struct = self.operand("s").type
        assert isinstance(struct, StructType)
        wanted = field_type(struct, self.field_path)
        if value != wanted:
            raise VerifyException(f"value type {value} does not match field type {wanted}")


class StructGetBase(StructAccessOp):
    """`value = s[path]`"""

    s = operand_def(READ_STRUCT)
    path = prop_def(PATH)
    value = result_def(SCALAR)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        struct = parser.parse_unresolved_operand()
        properties = {"path": parse_path(parser)}
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        values = {"s": parser.resolve_operand(struct, parser.parse_type())}
        parser.parse_punctuation("->")
        return build(cls, values, attributes, (parser.parse_type(),), properties)

    def print(self, printer: Printer) -> None:
        self.print_access(printer)
        print_attributes(printer, self, ("path",))
        printer.print_string(" : ")
        printer.print_attribute(self.s.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.value.type)

    def verify_(self) -> None:
        super().verify_()
        self.verify_field(self.value.type)


class StructSetBase(StructAccessOp):
    """`s[path] = value`"""

    s = operand_def(UPDATE_STRUCT)
    path = prop_def(PATH)
    value = operand_def(SCALAR)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        struct = parser.parse_unresolved_operand()
        properties = {"path": parse_path(parser)}
        parser.parse_punctuation(",")
        value = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        values = {"s": parser.resolve_operand(struct, parser.parse_type())}
        parser.parse_punctuation(",")
        values["value"] = parser.resolve_operand(value, parser.parse_type())
        return build(cls, values, attributes, (), properties)

    def print(self, printer: Printer) -> None:
        self.print_access(printer)
        printer.print_string(", ")
        printer.print_ssa_value(self.value)
        print_attributes(printer, self, ("path",))
        printer.print_string(" : ")
        printer.print_list((self.s.type, self.value.type), printer.print_attribute)

    def verify_(self) -> None:
        super().verify_()
        self.verify_field(self.value.type)


StructGetOp = declare(
    StructGetBase, "StructGetOp", "struct_get", "one field of a structure", SINCE="0.57"
)
StructSetOp = declare(
    StructSetBase, "StructSetOp", "struct_set", "writes one field of a structure", SINCE="0.57"
)
