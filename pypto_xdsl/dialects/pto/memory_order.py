"""Ops that order what the cores see of global memory: fences and caches."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.irdl import opt_operand_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto.declaration import OperandConstraint, Role, declare, word
from pypto_xdsl.dialects.pto.enumerations import AddressSpace
from pypto_xdsl.dialects.pto.operands import GM_VIEW_TYPES
from pypto_xdsl.dialects.pto.shaped_types import PtrType
from pypto_xdsl.dialects.pto.sync import SyncOp
from pypto_xdsl.dialects.pto.syntax import FormattedOp, build, parse_word, print_attributes


class FenceBase(FormattedOp):
    """`#pto.fence_scope<gm>`"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    scope = prop_def(word(a.FenceScopeAttr))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = {"scope": parse_word(parser, a.FenceScopeAttr)}
        return build(cls, {}, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.scope)
        print_attributes(printer, self, ("scope",))


FenceBarrierAllOp = declare(
    FenceBase,
    "FenceBarrierAllOp",
    "fence.barrier_all",
    "orders all accesses to a memory",
    SINCE="0.57",
)

CACHED = OperandConstraint(
    (PtrType, *GM_VIEW_TYPES), Role.VIEW, "a pointer or view of global memory"
)


class CacheInvalidBase(SyncOp):
    """`all #pto.address_space<gm>` or `%addr single_cache_line : T`"""

    addr = opt_operand_def(CACHED)
    space = prop_def(word(a.AddressSpaceAttr))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        if parser.parse_optional_keyword("all") is not None:
            properties = {"space": parse_word(parser, a.AddressSpaceAttr)}
            return build(cls, {}, parser.parse_optional_attr_dict(), (), properties)
        addr = parser.parse_unresolved_operand()
        parser.parse_keyword("single_cache_line")
        parser.parse_punctuation(":")
        values = {"addr": parser.resolve_operand(addr, parser.parse_type())}
        attributes = parser.parse_optional_attr_dict()
        attributes.setdefault("space", a.AddressSpaceAttr(AddressSpace.GM))
        return build(cls, values, attributes)

    def print(self, printer: Printer) -> None:
        if self.addr is None:
            printer.print_string(" all ")
            printer.print_attribute(self.space)
            print_attributes(printer, self, ("space",))
            return
        printer.print_string(" ")
        printer.print_ssa_value(self.addr)
        printer.print_string(" single_cache_line : ")
        printer.print_attribute(self.addr.type)
        default = self.space == a.AddressSpaceAttr(AddressSpace.GM)
        print_attributes(printer, self, ("space",) if default else ())

    def verify_(self) -> None:
        super().verify_()
        space = self.space
        assert isinstance(space, a.AddressSpaceAttr)
        if space.data not in (AddressSpace.GM, AddressSpace.ZERO):
            raise VerifyException("only supports GM cache maintenance")
        addr = None if self.addr is None else self.addr.type
        if isinstance(addr, PtrType) and addr.space != AddressSpace.GM:
            raise VerifyException(
                "single_cache_line address expects a GM pointer or GM tensor view"
            )


CmoCacheInvalidOp = declare(
    CacheInvalidBase,
    "CmoCacheInvalidOp",
    "cmo.cacheinvalid",
    "forgets cached global memory",
    SINCE="0.57",
)
