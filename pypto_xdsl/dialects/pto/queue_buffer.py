"""Ops that reserve the memory of a queue in a core, and name what another function reserved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.irdl import opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.attributes import AddressSpaceAttr
from pypto_xdsl.dialects.pto.declaration import (
    BOOL,
    STRING,
    SYMBOL,
    PropertyConstraint,
    declare,
    word,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace
from pypto_xdsl.dialects.pto.operands import I32
from pypto_xdsl.dialects.pto.queue import I32_KIND, QueueOp, QueueResultOp, number_of
from pypto_xdsl.dialects.pto.syntax import build, parse_clauses, print_attributes


class ReserveBase(QueueOp):
    """`{name = "b", size = 8192, location = ..., auto = true} -> i32`"""

    CLAUSES: ClassVar[Mapping[str, PropertyConstraint]] = {
        "name": STRING,
        "size": I32_KIND,
        "location": word(AddressSpaceAttr),
        "auto": BOOL,
        "base": I32_KIND,
    }

    # `name` and `location` are fields that every op has.
    buffer_name = prop_def(STRING, prop_name="name")
    size = prop_def(I32_KIND)
    memory = prop_def(word(AddressSpaceAttr), prop_name="location")
    auto = prop_def(BOOL, prop_name="autoAlloc")
    base = opt_prop_def(I32_KIND)
    addr = result_def(I32)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = parse_clauses(parser, cls.CLAUSES, ("name", "size", "location", "auto"))
        properties["autoAlloc"] = properties.pop("auto")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return build(cls, {}, attributes, (parser.parse_type(),), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" {name = ")
        printer.print_attribute(self.buffer_name)
        printer.print_string(f", size = {number_of(self.size)}, location = ")
        printer.print_attribute(self.memory)
        printer.print_string(f", auto = {'true' if number_of(self.auto) else 'false'}")
        if self.base is not None:
            printer.print_string(f", base = {number_of(self.base)}")
        printer.print_string("}")
        print_attributes(printer, self, ("name", "size", "location", "autoAlloc", "base"))
        printer.print_string(" -> ")
        printer.print_attribute(self.addr.type)

    def verify_(self) -> None:
        super().verify_()
        memory = self.memory
        assert isinstance(memory, AddressSpaceAttr)
        if number_of(self.size) <= 0:
            raise VerifyException(f"expects size to be greater than 0, got {number_of(self.size)}")
        if memory.data not in (AddressSpace.VEC, AddressSpace.MAT):
            raise VerifyException(f"expects location to be vec or mat, got {memory.data}")
        automatic = bool(number_of(self.auto))
        if not automatic and self.base is None:
            raise VerifyException("expects base when auto is false")
        if number_of(self.base) < 0:
            raise VerifyException(f"expects base to be non-negative, got {number_of(self.base)}")


ReserveBufferOp = declare(
    ReserveBase, "ReserveBufferOp", "reserve_buffer", "local memory for a queue; its byte address"
)


class ImportBase(QueueResultOp):
    """`{name = "b", peer_func = @f} -> i32`"""

    CLAUSES: ClassVar[Mapping[str, PropertyConstraint]] = {"name": STRING, "peer_func": SYMBOL}
    REQUIRED: ClassVar[Sequence[str]] = ("name", "peer_func")

    buffer_name = prop_def(STRING, prop_name="name")
    peer_func = prop_def(SYMBOL)
    addr = result_def(I32)


ImportReservedBufferOp = declare(
    ImportBase,
    "ImportReservedBufferOp",
    "import_reserved_buffer",
    "the byte address of a buffer that another function reserves",
)
