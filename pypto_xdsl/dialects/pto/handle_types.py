"""Types of structures, of event ids, and of handles that only the runtime looks into."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    IndexType,
    IntAttr,
    IntegerType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.literals import parse_integer


@irdl_attr_definition
class EventIdArrayType(ParametrizedAttribute, TypeAttribute):
    """`!pto.eventid_array<2>`: event ids chosen at run time."""

    name = "pto.eventid_array"
    size: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (IntAttr(parse_integer(parser, 64)),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.size.data}>")

    def verify(self) -> None:
        if self.size.data <= 0:
            raise VerifyException("eventid_array size must be positive")


@irdl_attr_definition
class StructType(ParametrizedAttribute, TypeAttribute):
    """`!pto.struct<f16, i8>`: an aggregate on the scalar unit."""

    name = "pto.struct"
    fields: ArrayAttr[Attribute]

    def __init__(self, fields: Sequence[Attribute]) -> None:
        super().__init__(ArrayAttr(fields))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return (
            ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parser.parse_type)),
        )

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.fields, printer.print_attribute)

    def verify(self) -> None:
        if not self.fields.data:
            raise VerifyException("struct requires at least one field")
        for field in self.fields:
            if field == IntegerType(1) or not isinstance(
                field,
                IntegerType | Float16Type | BFloat16Type | Float32Type | IndexType | StructType,
            ):
                raise VerifyException(f"struct field {field} is not scalar-storable")


@irdl_attr_definition
class PipeType(ParametrizedAttribute, TypeAttribute):
    """`!pto.pipe`: a queue of tiles between a cube core and a vector core."""

    name = "pto.pipe"


@irdl_attr_definition
class AsyncSessionType(ParametrizedAttribute, TypeAttribute):
    """`!pto.async_session`: a channel of asynchronous copies."""

    name = "pto.async_session"


@irdl_attr_definition
class AsyncEventType(ParametrizedAttribute, TypeAttribute):
    """`!pto.async_event`: one asynchronous copy."""

    name = "pto.async_event"


@irdl_attr_definition
class PrefetchAsyncContextType(ParametrizedAttribute, TypeAttribute):
    """`!pto.prefetch_async_context`: the state of asynchronous prefetches."""

    name = "pto.prefetch_async_context"
