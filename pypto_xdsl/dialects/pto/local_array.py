"""Arrays on the scalar unit's stack."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from xdsl.irdl import operand_def, result_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import OperandConstraint, PtoOp, Role, declare
from pypto_xdsl.dialects.pto.enumerations import Pipe
from pypto_xdsl.dialects.pto.operands import INDEX, SCALAR
from pypto_xdsl.dialects.pto.shaped_types import LocalArrayType
from pypto_xdsl.dialects.pto.syntax import (
    FormattedOp,
    build,
    parse_type_of,
    print_attributes,
    resolve_indices,
)

LOCAL_ARRAY = OperandConstraint((LocalArrayType,), Role.READ, "a !pto.local_array")
LOCAL_ARRAY_OUT = OperandConstraint((LocalArrayType,), Role.UPDATE, "a !pto.local_array")


class DeclareLocalArrayBase(FormattedOp):
    """An array on the scalar unit's stack"""

    ALLOCATES: ClassVar[bool] = True
    FORMAT: ClassVar[str] = "attr-dict `->` type($array)"

    array = result_def(LocalArrayType)


DeclareLocalArrayOp = declare(
    DeclareLocalArrayBase,
    "DeclareLocalArrayOp",
    "declare_local_array",
    "an array on the stack",
    SINCE="0.57",
)


def _verify_array(op: PtoOp, array: Any, indices: Any, value: Any) -> None:
    assert isinstance(array, LocalArrayType)
    if len(indices) != array.get_num_dims():
        raise VerifyException(
            f"expects {array.get_num_dims()} indices for {array}, got {len(indices)}"
        )
    if value != array.element_type:
        raise VerifyException(
            f"expects value type to match array element type, got {value} and {array.element_type}"
        )
    for index, dim in zip(indices, array.get_shape(), strict=True):
        known = r.constant_value(index)
        if known is not None and not 0 <= known < dim:
            raise VerifyException(f"index {known} is out of range for {array}")


class LocalArrayGetBase(PtoOp):
    """`result = array[indices]`"""

    array = operand_def(LOCAL_ARRAY)
    indices = var_operand_def(INDEX)
    result = result_def(SCALAR)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        array = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        array_type = parse_type_of(parser, LocalArrayType)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        values: dict[str, Any] = {
            "array": parser.resolve_operand(array, array_type),
            "indices": resolve_indices(parser, indices),
        }
        return build(cls, values, attributes, (result,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.array)
        printer.print_string("[")
        printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_string("]")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.array.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        super().verify_()
        _verify_array(self, self.array.type, self.indices, self.result.type)


LocalArrayGetOp = declare(
    LocalArrayGetBase,
    "LocalArrayGetOp",
    "local_array_get",
    "one element of an array",
    pipe=Pipe.S,
    SINCE="0.57",
)


class LocalArraySetBase(PtoOp):
    """`array[indices] = value`"""

    OUTS: ClassVar[tuple[str, ...] | None] = ()

    array = operand_def(LOCAL_ARRAY_OUT)
    indices = var_operand_def(INDEX)
    value = operand_def(SCALAR)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        array = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(",")
        value = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        array_type = parse_type_of(parser, LocalArrayType)
        parser.parse_punctuation(",")
        value_type = parser.parse_type()
        values: dict[str, Any] = {
            "array": parser.resolve_operand(array, array_type),
            "indices": resolve_indices(parser, indices),
            "value": parser.resolve_operand(value, value_type),
        }
        return build(cls, values, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.array)
        printer.print_string("[")
        printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_string("], ")
        printer.print_ssa_value(self.value)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_list((self.array.type, self.value.type), printer.print_attribute)

    def verify_(self) -> None:
        super().verify_()
        _verify_array(self, self.array.type, self.indices, self.value.type)


LocalArraySetOp = declare(
    LocalArraySetBase,
    "LocalArraySetOp",
    "local_array_set",
    "writes one element of an array",
    pipe=Pipe.S,
    SINCE="0.57",
)
