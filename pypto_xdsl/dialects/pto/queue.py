"""Queues of tiles between the cube core and the vector cores of a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.declaration import (
    OperandConstraint,
    PropertyConstraint,
    PtoOp,
    Role,
    declare,
    integer,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, KernelKind, Pipe
from pypto_xdsl.dialects.pto.operands import I64, INDEX, INDEX_TYPE
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC, PartitionTensorViewType, TensorViewType
from pypto_xdsl.dialects.pto.syntax import (
    Grammar,
    build,
    grammar_of,
    parse_clauses,
    parse_operand_list,
    print_attributes,
    print_clauses,
    print_typed_operands,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType

I64_TYPE = IntegerType(64)
ENTRY_TYPES = (TileBufType, TensorViewType, PartitionTensorViewType)
"""What a queue holds: tiles, or views of its slots in global memory."""

READ_ENTRY = OperandConstraint(ENTRY_TYPES, Role.READ, "a tile or tensor view")
WRITE_ENTRY = OperandConstraint(ENTRY_TYPES, Role.WRITE, "a tile or tensor view")
VIEW_ENTRY = OperandConstraint(ENTRY_TYPES, Role.VIEW, "a tile or tensor view")

I8_KIND, I32_KIND = integer(8), integer(32)
FIRST_ID = IntegerAttr(0, IntegerType(32))
SPLITS = range(5)
"""0 whole, 1 and 2 halved by rows and by columns, 3 and 4 the same for odd sizes."""

EVEN_SPLITS = range(3)
TO_VECTOR, TO_CUBE = 1, 2


def number_of(attribute: Attribute | None) -> int:
    """The number in an attribute, 0 where there is none."""
    return attribute.value.data if isinstance(attribute, IntegerAttr) else 0


def verify_subblock(op: QueueOp, entry: Attribute) -> None:
    """`aiv_subblockid` names a half of a vector tile. Raises `VerifyException`."""
    if getattr(op, "aiv_subblockid", None) is None:
        return
    if not op.split_code:
        raise VerifyException("expects 'aiv_subblockid' only when 'split' is not 0")
    if not isinstance(entry, TileBufType) or entry.space != AddressSpace.VEC:
        raise VerifyException(f"expects 'aiv_subblockid' only on vector tiles, got {entry}")


class QueueOp(PtoOp):
    """Ops whose order on a queue matters, with `{id = 0, split = 0}`"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True
    CLAUSES: ClassVar[Mapping[str, PropertyConstraint]] = {"id": I32_KIND, "split": I8_KIND}

    NEWER: ClassVar[tuple[str, ...]] = ("id",)
    """The clauses that 0.27 has no text for; it knows what they say where nothing says it."""
    DIRECTION: ClassVar[int] = 0
    """1 for an op on a queue from cube to vector, 2 for the other way, 0 for either."""

    @property
    def queue_id(self) -> int:
        """Which of the function's queues."""
        return number_of(self.properties.get("id"))

    @property
    def split_code(self) -> int:
        """How a tile is divided over the vector cores; see `SPLITS`."""
        return number_of(self.properties.get("split"))

    def print_clauses(self, printer: Printer) -> None:
        """`{id = 1, split = 0}`"""
        old = grammar_of(printer) == Grammar.V0_27
        print_clauses(printer, self, [n for n in self.CLAUSES if not (old and n in self.NEWER)])

    def unwritable_in(self, version: str) -> str | None:
        if version == "0.27":
            if self.queue_id:
                return f"is on queue {self.queue_id}, and PTOAS 0.27 has one a function"
            if self.split_code not in EVEN_SPLITS:
                return f"has split = {self.split_code}, and PTOAS 0.27 halves even extents only"
            for name in ("aiv_subblockid", "entry"):
                if isinstance(getattr(self, name, None), SSAValue):
                    return f"has '{name}', which PTOAS 0.27 has no text for"
        return super().unwritable_in(version)

    def verify_(self) -> None:
        super().verify_()
        if "split" in self.properties:
            codes = EVEN_SPLITS if self.DIRECTION == TO_CUBE else SPLITS
            if self.split_code not in codes:
                raise VerifyException(
                    f"expects split to be between 0 and {codes[-1]}, got {self.split_code}"
                )
        if self.queue_id < 0:
            raise VerifyException(f"expects id to be non-negative, got {self.queue_id}")


class PushOp(QueueOp):
    """`(%tile : T) {split = 0}`"""

    DIRECTION: ClassVar[int] = TO_VECTOR

    tile = operand_def(READ_ENTRY)
    id = opt_prop_def(I32_KIND, default_value=FIRST_ID)
    split = prop_def(I8_KIND)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_punctuation("(")
        name = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        values: dict[str, Any] = {"tile": parser.resolve_operand(name, parser.parse_type())}
        parser.parse_punctuation(")")
        properties = parse_clauses(parser, cls.CLAUSES, ("split",))
        parse_subblock(parser, cls, values)
        return build(cls, values, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        print_typed_operands(printer, (self.tile,))
        printer.print_string(") ")
        self.print_clauses(printer)
        print_subblock(printer, self)
        print_attributes(printer, self, tuple(self.CLAUSES))

    def verify_(self) -> None:
        super().verify_()
        verify_subblock(self, self.tile.type)
        if self.DIRECTION == TO_VECTOR:
            verify_even_halves(self.split_code, self.tile.type)


def parse_subblock(parser: Parser, cls: type[PtoOp], values: dict[str, Any]) -> None:
    """`aiv_subblockid(%id)`, where the op has it."""
    if "aiv_subblockid" not in {info.name for info in cls.DECLARATION.operands}:
        return
    if parser.parse_optional_keyword("aiv_subblockid") is not None:
        parser.parse_punctuation("(")
        name = parser.parse_unresolved_operand()
        values["aiv_subblockid"] = parser.resolve_operand(name, I64_TYPE)
        parser.parse_punctuation(")")


def print_subblock(printer: Printer, op: PtoOp) -> None:
    """`aiv_subblockid(%id)`, where it is there."""
    value: SSAValue | None = getattr(op, "aiv_subblockid", None)
    if value is not None:
        printer.print_string(" aiv_subblockid(")
        printer.print_ssa_value(value)
        printer.print_string(")")


def verify_even_halves(split: int, entry: Attribute) -> None:
    """A tile divides as `split` says. Raises `VerifyException`."""
    if not split:
        return
    shape: tuple[int, ...] = ()
    if isinstance(entry, TileBufType):
        shape = entry.valid_shape
    elif isinstance(entry, TensorViewType):
        shape = entry.get_shape()
    if len(shape) != 2:
        return
    by_rows = split in (1, 3)
    extent = shape[0 if by_rows else 1]
    odd = split not in EVEN_SPLITS
    if extent != DYNAMIC and bool(extent % 2) != odd:
        parity, axis = "odd" if odd else "even", "row" if by_rows else "column"
        raise VerifyException(
            f"expects a statically {parity} valid-{axis} count for split = {split}, got {extent}"
        )


def verify_entry(entry: Attribute, slot: Attribute, what: str) -> None:
    """A view of a slot agrees with the tensor of the slots. Raises `VerifyException`."""
    if not isinstance(entry, TensorViewType) or not isinstance(slot, TensorViewType):
        return
    if entry.element_type != slot.element_type:
        raise VerifyException(f"expects pipe entry element type to match {what} element type")
    if entry.get_num_dims() != slot.get_num_dims():
        raise VerifyException(f"expects pipe entry rank to match {what} rank")
    for axis, (dim, wanted) in enumerate(zip(entry.get_shape(), slot.get_shape(), strict=True)):
        if DYNAMIC not in (dim, wanted) and dim != wanted:
            raise VerifyException(
                f"expects pipe entry dimension {axis} to match {what} dimension {wanted}, got {dim}"
            )


class PushToCubeOp(PushOp):
    """`(%tile : T) {split = 0} [aiv_subblockid(%id)]`"""

    DIRECTION: ClassVar[int] = TO_CUBE

    tile = operand_def(READ_ENTRY)
    aiv_subblockid = opt_operand_def(I64)


TPushToAivOp = declare(
    PushOp,
    "TPushToAivOp",
    "tpush_to_aiv",
    "the cube core appends a tile for the vector cores",
    pipe=Pipe.FIX,
    core=KernelKind.CUBE,
)
TPushToAicOp = declare(
    PushToCubeOp,
    "TPushToAicOp",
    "tpush_to_aic",
    "a vector core appends a tile for the cube core",
    pipe=Pipe.MTE3,
    core=KernelKind.VECTOR,
)


class PopOp(QueueOp):
    """`[(%vr, %vc)] {split = 0} -> T`"""

    ALLOCATES: ClassVar[bool] = True
    DIRECTION: ClassVar[int] = TO_VECTOR

    valid_row = opt_operand_def(INDEX)
    valid_col = opt_operand_def(INDEX)
    id = opt_prop_def(I32_KIND, default_value=FIRST_ID)
    split = prop_def(I8_KIND)
    tile = result_def(OperandConstraint(ENTRY_TYPES, Role.WRITE, "a tile or tensor view"))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        values: dict[str, Any] = {}
        position = parser.pos
        if parser.parse_optional_punctuation("(") is not None:
            names = parse_operand_list(parser)
            parser.parse_punctuation(")")
            if len(names) != 2:
                parser.raise_error(f"{cls.name} expects a valid row and a valid column", position)
            for name, operand in zip(("valid_row", "valid_col"), names, strict=True):
                values[name] = parser.resolve_operand(operand, INDEX_TYPE)
        properties = parse_clauses(parser, cls.CLAUSES, ("split",))
        parse_subblock(parser, cls, values)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return build(cls, values, attributes, (parser.parse_type(),), properties)

    def print(self, printer: Printer) -> None:
        if self.valid_row is not None and self.valid_col is not None:
            printer.print_string("(")
            printer.print_list((self.valid_row, self.valid_col), printer.print_ssa_value)
            printer.print_string(")")
        printer.print_string(" ")
        self.print_clauses(printer)
        print_subblock(printer, self)
        print_attributes(printer, self, tuple(self.CLAUSES))
        printer.print_string(" -> ")
        printer.print_attribute(self.tile.type)

    def verify_(self) -> None:
        super().verify_()
        if (self.valid_row is None) != (self.valid_col is None):
            raise VerifyException("expects valid_row and valid_col together")
        tile = self.tile.type
        verify_subblock(self, tile)
        if self.valid_row is None:
            if self.split_code not in EVEN_SPLITS and isinstance(tile, TileBufType):
                raise VerifyException(
                    f"expects valid_row and valid_col with split = {self.split_code}"
                )
            return
        if not isinstance(tile, TileBufType) or tile.valid_shape != (DYNAMIC, DYNAMIC):
            raise VerifyException(
                "expects a result of dynamic valid shape (?, ?) with valid_row and valid_col, "
                f"got {tile}"
            )


class PopFromCubeOp(PopOp):
    """`[(%vr, %vc)] {split = 0} [aiv_subblockid(%id)] -> T`"""

    valid_row = opt_operand_def(INDEX)
    valid_col = opt_operand_def(INDEX)
    aiv_subblockid = opt_operand_def(I64)


TPopFromAicOp = declare(
    PopFromCubeOp,
    "TPopFromAicOp",
    "tpop_from_aic",
    "a vector core takes a tile of the cube core",
    pipe=Pipe.MTE2,
    core=KernelKind.VECTOR,
)
TPopFromAivOp = declare(
    PopOp,
    "TPopFromAivOp",
    "tpop_from_aiv",
    "the cube core takes a tile of the vector cores",
    pipe=Pipe.MTE2,
    core=KernelKind.CUBE,
    DIRECTION=TO_CUBE,
)


class FreeOp(QueueOp):
    """`[(%entry : T)] {split = 0}`"""

    DIRECTION: ClassVar[int] = TO_VECTOR

    entry = opt_operand_def(VIEW_ENTRY)
    id = opt_prop_def(I32_KIND, default_value=FIRST_ID)
    split = prop_def(I8_KIND)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        values: dict[str, Any] = {}
        if parser.parse_optional_punctuation("(") is not None:
            name = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            values["entry"] = parser.resolve_operand(name, parser.parse_type())
            parser.parse_punctuation(")")
        properties = parse_clauses(parser, cls.CLAUSES, ("split",))
        return build(cls, values, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        if self.entry is not None:
            printer.print_string("(")
            print_typed_operands(printer, (self.entry,))
            printer.print_string(")")
        printer.print_string(" ")
        self.print_clauses(printer)
        print_attributes(printer, self, tuple(self.CLAUSES))


TFreeFromAicOp = declare(
    FreeOp,
    "TFreeFromAicOp",
    "tfree_from_aic",
    "a vector core gives back the slot it took",
    pipe=Pipe.MTE2,
    core=KernelKind.VECTOR,
)
TFreeFromAivOp = declare(
    FreeOp,
    "TFreeFromAivOp",
    "tfree_from_aiv",
    "the cube core gives back the slot it took",
    pipe=Pipe.MTE2,
    core=KernelKind.CUBE,
    DIRECTION=TO_CUBE,
)


class QueueResultOp(QueueOp):
    """`{clauses} -> T`: an op that takes no operand and gives one value."""

    REQUIRED: ClassVar[Sequence[str]] = ()
    """The clauses that have to be there."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = parse_clauses(parser, cls.CLAUSES, cls.REQUIRED)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return build(cls, {}, attributes, (parser.parse_type(),), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.print_clauses(printer)
        print_attributes(printer, self, tuple(self.CLAUSES))
        printer.print_string(" -> ")
        printer.print_attribute(self.results[0].type)


class AllocEntryOp(QueueResultOp):
    """`{split = 0} -> T`"""

    REQUIRED: ClassVar[Sequence[str]] = ("split",)
    ALLOCATES: ClassVar[bool] = True
    DIRECTION: ClassVar[int] = TO_VECTOR

    id = opt_prop_def(I32_KIND, default_value=FIRST_ID)
    split = prop_def(I8_KIND)
    entry = result_def(TensorViewType)


TAllocToAivOp = declare(
    AllocEntryOp,
    "TAllocToAivOp",
    "talloc_to_aiv",
    "the slot that the cube core fills next",
    core=KernelKind.CUBE,
    SINCE="0.57",
)
TAllocToAicOp = declare(
    AllocEntryOp,
    "TAllocToAicOp",
    "talloc_to_aic",
    "the slot that a vector core fills next",
    core=KernelKind.VECTOR,
    DIRECTION=TO_CUBE,
    SINCE="0.57",
)
