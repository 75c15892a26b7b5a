"""Queues of tiles between the cube core and the vector cores of a block, and their buffers."""

from __future__ import annotations

from collections.abc import Mapping
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

from pypto_xdsl.dialects.pto.attributes import AccPushEpilogueAttr, AddressSpaceAttr
from pypto_xdsl.dialects.pto.declaration import (
    BOOL,
    STRING,
    SYMBOL,
    OperandConstraint,
    PropertyConstraint,
    PtoOp,
    Role,
    declare,
    integer,
    word,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, FixpipeQuant, KernelKind, Pipe
from pypto_xdsl.dialects.pto.handle_types import PipeType
from pypto_xdsl.dialects.pto.operands import F32, I32, I64, INDEX, INDEX_TYPE, READ_TILE
from pypto_xdsl.dialects.pto.rules import dtype_name
from pypto_xdsl.dialects.pto.shaped_types import (
    DYNAMIC,
    PartitionTensorViewType,
    PtrType,
    TensorViewType,
    element_bytes,
)
from pypto_xdsl.dialects.pto.syntax import (
    build,
    parse_clauses,
    parse_operand_list,
    parse_type_list,
    print_attributes,
    print_clauses,
    print_typed_operands,
    resolve,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType

I64_TYPE = IntegerType(64)
ENTRY_TYPES = (TileBufType, TensorViewType, PartitionTensorViewType)
"""What a queue holds: tiles, or views of its slots in global memory."""

READ_ENTRY = OperandConstraint(ENTRY_TYPES, Role.READ, "a tile or tensor view")
WRITE_ENTRY = OperandConstraint(ENTRY_TYPES, Role.WRITE, "a tile or tensor view")
VIEW_ENTRY = OperandConstraint(ENTRY_TYPES, Role.VIEW, "a tile or tensor view")
HANDLE = OperandConstraint((PipeType,), Role.VIEW, "a !pto.pipe")
GM_BUFFER = OperandConstraint((PtrType,), Role.VIEW, "a pointer (!pto.ptr)")
GM_TENSOR = OperandConstraint((TensorViewType,), Role.VIEW, "a !pto.tensor_view")
ADDRESS = OperandConstraint((Attribute,), Role.VIEW, "an address")

I8_KIND, I32_KIND = integer(8), integer(32)
FIRST_ID = IntegerAttr(0, IntegerType(32))
SPLITS = range(5)
"""0 whole, 1 and 2 halved by rows and by columns, 3 and 4 the same for odd sizes."""

EVEN_SPLITS = range(3)
TO_VECTOR, TO_CUBE = 1, 2
DIRECTIONS = {TO_VECTOR: "cube to vector", TO_CUBE: "vector to cube", 3: "both"}
"""Meaning of `dir_mask`."""


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
        print_clauses(printer, self, tuple(self.CLAUSES))

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


class PopFromVectorOp(PopOp):
    """`[(%vr, %vc)] {split = 0} -> T`"""

    DIRECTION: ClassVar[int] = TO_CUBE


TPopFromAicOp = declare(
    PopFromCubeOp,
    "TPopFromAicOp",
    "tpop_from_aic",
    "a vector core takes a tile of the cube core",
    pipe=Pipe.MTE2,
    core=KernelKind.VECTOR,
)
TPopFromAivOp = declare(
    PopFromVectorOp,
    "TPopFromAivOp",
    "tpop_from_aiv",
    "the cube core takes a tile of the vector cores",
    pipe=Pipe.MTE2,
    core=KernelKind.CUBE,
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


class FreeFromVectorOp(FreeOp):
    """`[(%entry : T)] {split = 0}`"""

    DIRECTION: ClassVar[int] = TO_CUBE


TFreeFromAicOp = declare(
    FreeOp,
    "TFreeFromAicOp",
    "tfree_from_aic",
    "a vector core gives back the slot it took",
    pipe=Pipe.MTE2,
    core=KernelKind.VECTOR,
)
TFreeFromAivOp = declare(
    FreeFromVectorOp,
    "TFreeFromAivOp",
    "tfree_from_aiv",
    "the cube core gives back the slot it took",
    pipe=Pipe.MTE2,
    core=KernelKind.CUBE,
)


class AllocEntryOp(QueueOp):
    """`{split = 0} -> T`"""

    ALLOCATES: ClassVar[bool] = True
    DIRECTION: ClassVar[int] = TO_VECTOR

    id = opt_prop_def(I32_KIND, default_value=FIRST_ID)
    split = prop_def(I8_KIND)
    entry = result_def(TensorViewType)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = parse_clauses(parser, cls.CLAUSES, ("split",))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return build(cls, {}, attributes, (parser.parse_type(),), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.print_clauses(printer)
        print_attributes(printer, self, tuple(self.CLAUSES))
        printer.print_string(" -> ")
        printer.print_attribute(self.entry.type)


class AllocForCubeOp(AllocEntryOp):
    """`{split = 0} -> T`"""

    DIRECTION: ClassVar[int] = TO_CUBE


TAllocToAivOp = declare(
    AllocEntryOp,
    "TAllocToAivOp",
    "talloc_to_aiv",
    "the slot that the cube core fills next",
    core=KernelKind.CUBE,
)
TAllocToAicOp = declare(
    AllocForCubeOp,
    "TAllocToAicOp",
    "talloc_to_aic",
    "the slot that a vector core fills next",
    core=KernelKind.VECTOR,
)


class InitializeOp(QueueOp):
    """`{dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32, ...)`"""

    CLAUSES: ClassVar[Mapping[str, PropertyConstraint]] = {
        "id": I32_KIND,
        "dir_mask": I8_KIND,
        "slot_size": I32_KIND,
        "slot_num": I32_KIND,
        "local_slot_num": I32_KIND,
        "nosplit": BOOL,
        "acc_push_epilogue": word(AccPushEpilogueAttr),
    }
    NAMED: ClassVar[tuple[str, ...]] = (
        "gm_slot_buffer",
        "gm_slot_tensor",
        "c2v_consumer_buf",
        "v2c_consumer_buf",
    )

    id = opt_prop_def(I32_KIND, default_value=FIRST_ID)
    dir_mask = prop_def(I8_KIND)
    slot_size = prop_def(I32_KIND)
    slot_num = opt_prop_def(I32_KIND)
    local_slot_num = opt_prop_def(I32_KIND)
    nosplit = opt_prop_def(BOOL)
    acc_push_epilogue = opt_prop_def(word(AccPushEpilogueAttr))
    gm_slot_buffer = opt_operand_def(GM_BUFFER)
    gm_slot_tensor = opt_operand_def(GM_TENSOR)
    c2v_consumer_buf = opt_operand_def(I32)
    v2c_consumer_buf = opt_operand_def(I32)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def directions(self) -> int:
        """1 cube to vector, 2 vector to cube, 3 both."""
        return number_of(self.dir_mask)

    @property
    def bytes_of_slot(self) -> int:
        """Bytes of one slot."""
        return number_of(self.slot_size)

    @property
    def slots(self) -> int:
        """How many slots in global memory, in each direction."""
        if self.slot_num is not None:
            return number_of(self.slot_num)
        return 4 if self.directions == TO_VECTOR | TO_CUBE else 8

    @property
    def local_slots(self) -> int:
        """How many slots in the memory of the core that takes."""
        return self.slots if self.local_slot_num is None else number_of(self.local_slot_num)

    def consumer_buffer(self, direction: int) -> SSAValue | None:
        """The byte address of those slots, for a direction."""
        name = "c2v_consumer_buf" if direction == TO_VECTOR else "v2c_consumer_buf"
        return self.optional_operand(name)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = parse_clauses(parser, cls.CLAUSES, ("dir_mask", "slot_size"))
        values: dict[str, Any] = {}

        def operand() -> None:
            name = parser.parse_keyword_in(cls.NAMED)
            if name in values:
                parser.raise_error(f"duplicate '{name}' operand")
            parser.parse_punctuation("=")
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            values[name] = parser.resolve_operand(value, parser.parse_type())

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, operand)
        return build(cls, values, parser.parse_optional_attr_dict(), (), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.print_clauses(printer)
        printer.print_string(" (")
        first = True
        for name in self.NAMED:
            if (value := self.optional_operand(name)) is None:
                continue
            printer.print_string(f"{'' if first else ', '}{name} = ")
            first = False
            print_typed_operands(printer, (value,))
        printer.print_string(")")
        print_attributes(printer, self, tuple(self.CLAUSES))

    def verify_(self) -> None:
        super().verify_()
        directions = self.directions
        if directions not in DIRECTIONS:
            raise VerifyException(f"expects dir_mask to be 1, 2, or 3, got {directions}")
        if number_of(self.slot_size) <= 0:
            raise VerifyException(
                f"expects slot_size to be greater than 0, got {number_of(self.slot_size)}"
            )
        _verify_slots(self.slot_num, self.local_slot_num, 4 if directions == 3 else 8)
        self._verify_buffers(directions)
        self._verify_epilogue(directions)

    def _verify_buffers(self, directions: int) -> None:
        present = [name for name in self.NAMED[2:] if self.optional_operand(name) is not None]
        if self.gm_slot_tensor is not None:
            if self.gm_slot_buffer is not None:
                raise VerifyException("'gm_slot_tensor' cannot be combined with 'gm_slot_buffer'")
            if present and (directions != TO_VECTOR or present != ["c2v_consumer_buf"]):
                raise VerifyException(
                    "supports only dir_mask = 1 and 'c2v_consumer_buf' with 'gm_slot_tensor'"
                )
            _verify_slot_tensor(self.gm_slot_tensor, number_of(self.slot_size))
            if not present:
                if self.local_slot_num is not None:
                    raise VerifyException("does not use 'local_slot_num' without a local buffer")
                return
        for direction, name in ((TO_VECTOR, "c2v_consumer_buf"), (TO_CUBE, "v2c_consumer_buf")):
            if directions & direction and name not in present:
                raise VerifyException(f"expects '{name}' when dir_mask is {directions}")

    def _verify_epilogue(self, directions: int) -> None:
        epilogue = self.acc_push_epilogue
        if epilogue is None:
            return
        assert isinstance(epilogue, AccPushEpilogueAttr)
        if directions != TO_VECTOR:
            raise VerifyException("expects dir_mask = 1 with 'acc_push_epilogue'")
        if not number_of(self.nosplit):
            raise VerifyException("expects nosplit = true with 'acc_push_epilogue'")
        if epilogue.data[1] in A5_QUANTS:
            raise VerifyException(f"expects '{epilogue.data[1]}' to be used only on A5")


A5_QUANTS = frozenset(
    (
        FixpipeQuant.QS322BF16_PRE_SCALAR,
        FixpipeQuant.QS322BF16_PRE_VEC,
        FixpipeQuant.QF322HIF8_PRE_SCALAR,
        FixpipeQuant.QF322FP8_PRE_SCALAR,
    )
)
"""Conversions of a drained accumulator that A2/A3 lacks."""


def _verify_slot_tensor(tensor: SSAValue, slot_size: int) -> None:
    """A slot holds the tensor, or two halves of it. Raises `VerifyException`."""
    type_ = tensor.type
    assert isinstance(type_, TensorViewType)
    count = type_.static_element_count
    if count is None:
        return
    size = count * element_bytes(type_.element_type)
    if slot_size not in (size, 2 * size):
        raise VerifyException(
            "expects 'slot_size' to equal gm_slot_tensor byte size or twice that, got "
            f"slot_size = {slot_size} and {size}"
        )


def _verify_slots(
    slot_num: Attribute | None, local_slot_num: Attribute | None, default: int
) -> None:
    slots = default if slot_num is None else number_of(slot_num)
    local = number_of(local_slot_num)
    if slots <= 0:
        raise VerifyException(f"expects slot_num to be greater than 0, got {slots}")
    if local_slot_num is None:
        return
    if local <= 0:
        raise VerifyException(f"expects local_slot_num to be greater than 0, got {local}")
    if local > slots:
        raise VerifyException(
            f"expects local_slot_num to be less than or equal to slot_num ({slots}), got {local}"
        )


AicInitializePipeOp = declare(
    InitializeOp,
    "AicInitializePipeOp",
    "aic_initialize_pipe",
    "the cube core's end of a queue",
    core=KernelKind.CUBE,
)
AivInitializePipeOp = declare(
    InitializeOp,
    "AivInitializePipeOp",
    "aiv_initialize_pipe",
    "a vector core's end of a queue",
    core=KernelKind.VECTOR,
)


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


class ImportBase(QueueOp):
    """`{name = "b", peer_func = @f} -> i32`"""

    CLAUSES: ClassVar[Mapping[str, PropertyConstraint]] = {"name": STRING, "peer_func": SYMBOL}

    buffer_name = prop_def(STRING, prop_name="name")
    peer_func = prop_def(SYMBOL)
    addr = result_def(I32)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = parse_clauses(parser, cls.CLAUSES, ("name", "peer_func"))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return build(cls, {}, attributes, (parser.parse_type(),), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.print_clauses(printer)
        print_attributes(printer, self, tuple(self.CLAUSES))
        printer.print_string(" -> ")
        printer.print_attribute(self.addr.type)


ImportReservedBufferOp = declare(
    ImportBase,
    "ImportReservedBufferOp",
    "import_reserved_buffer",
    "the byte address of a buffer that another function reserves",
)


class PipeInitializeOp(QueueOp):
    """`{dir_mask = 1, slot_size = 1024, slot_num = 8} (%addr : T, ...) -> !pto.pipe`"""

    ALLOCATES: ClassVar[bool] = True
    NAMED: ClassVar[tuple[str, ...]] = ()

    pipe_handle = result_def(PipeType)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        required = ("dir_mask", "slot_size", "slot_num")
        properties = parse_clauses(parser, cls.CLAUSES, required)
        position = parser.pos
        values: list[SSAValue] = []

        def operand() -> None:
            name = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            values.append(parser.resolve_operand(name, parser.parse_type()))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, operand)
        if not 1 <= len(values) <= len(cls.NAMED):
            parser.raise_error(
                f"{cls.name} expects 1 to {len(cls.NAMED)} operands, got {len(values)}", position
            )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        named: dict[str, Any] = dict(zip(cls.NAMED, values, strict=False))
        return build(cls, named, attributes, (parser.parse_type(),), properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.print_clauses(printer)
        printer.print_string(" (")
        for number, value in enumerate(self.operands):
            if number:
                printer.print_string(", ")
            print_typed_operands(printer, (value,))
        printer.print_string(")")
        print_attributes(printer, self, tuple(self.CLAUSES))
        printer.print_string(" -> ")
        printer.print_attribute(self.pipe_handle.type)

    def verify_(self) -> None:
        super().verify_()
        numbers = {name: number_of(self.properties.get(name)) for name in self.CLAUSES}
        if numbers["dir_mask"] not in DIRECTIONS:
            raise VerifyException(f"dir_mask must be 1, 2, or 3, got {numbers['dir_mask']}")
        if numbers["slot_size"] <= 0:
            raise VerifyException(f"slot_size must be greater than 0, got {numbers['slot_size']}")
        if numbers["slot_num"] <= 0:
            raise VerifyException(f"slot_num must be greater than 0, got {numbers['slot_num']}")
        _verify_slots(self.properties.get("slot_num"), self.properties.get("local_slot_num"), 8)


class PipeInitializeGlobalBase(PipeInitializeOp):
    """A queue whose slots are in global memory"""

    CLAUSES: ClassVar[Mapping[str, PropertyConstraint]] = {
        "dir_mask": I8_KIND,
        "slot_size": I32_KIND,
        "slot_num": I32_KIND,
        "local_slot_num": I32_KIND,
        "flag_base": I32_KIND,
        "nosplit": BOOL,
    }
    NAMED: ClassVar[tuple[str, ...]] = ("gm_addr", "local_addr", "peer_local_addr")

    dir_mask = prop_def(I8_KIND)
    slot_size = prop_def(I32_KIND)
    slot_num = prop_def(I32_KIND)
    local_slot_num = opt_prop_def(I32_KIND)
    flag_base = opt_prop_def(I32_KIND)
    nosplit = opt_prop_def(BOOL)
    acc_push_epilogue = opt_prop_def(word(AccPushEpilogueAttr))
    gm_addr = operand_def(ADDRESS)
    local_addr = opt_operand_def(ADDRESS)
    peer_local_addr = opt_operand_def(ADDRESS)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)


InitializeL2G2LPipeOp = declare(
    PipeInitializeGlobalBase,
    "InitializeL2G2LPipeOp",
    "initialize_l2g2l_pipe",
    "a queue whose slots are in global memory",
)


class PipeInitializeLocalBase(PipeInitializeOp):
    """A queue whose slots are on chip"""

    CLAUSES: ClassVar[Mapping[str, PropertyConstraint]] = {
        "dir_mask": I8_KIND,
        "slot_size": I32_KIND,
        "slot_num": I32_KIND,
        "flag_base": I32_KIND,
        "nosplit": BOOL,
    }
    NAMED: ClassVar[tuple[str, ...]] = ("local_addr", "peer_local_addr")

    dir_mask = prop_def(I8_KIND)
    slot_size = prop_def(I32_KIND)
    slot_num = prop_def(I32_KIND)
    flag_base = opt_prop_def(I32_KIND)
    nosplit = opt_prop_def(BOOL)
    acc_push_epilogue = opt_prop_def(word(AccPushEpilogueAttr))
    local_addr = operand_def(ADDRESS)
    peer_local_addr = opt_operand_def(ADDRESS)


InitializeL2LPipeOp = declare(
    PipeInitializeLocalBase,
    "InitializeL2LPipeOp",
    "initialize_l2l_pipe",
    "a queue whose slots are on chip; A5 only",
)


class HandleOp(QueueOp):
    """`(%tile, %pipe : T, !pto.pipe) {split = 0}`"""

    CLAUSES: ClassVar[Mapping[str, PropertyConstraint]] = {"split": I8_KIND}
    OUTS: ClassVar[tuple[str, ...] | None] = ()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        parser.parse_punctuation("(")
        names = parse_operand_list(parser)
        parser.parse_punctuation(":")
        found = resolve(parser, names, parse_type_list(parser))
        parser.parse_punctuation(")")
        values = cls.assign(parser, found, position)
        properties = parse_clauses(parser, cls.CLAUSES, ("split",))
        parse_subblock(parser, cls, values)
        return build(cls, values, parser.parse_optional_attr_dict(), (), properties)

    @classmethod
    def assign(cls, parser: Parser, found: list[SSAValue], position: int) -> dict[str, Any]:
        """Names for the operands in parentheses."""
        names = [info.name for info in cls.DECLARATION.operands if info.name != "aiv_subblockid"]
        if len(found) != len(names):
            parser.raise_error(
                f"{cls.name} expects {len(names)} operands, got {len(found)}", position
            )
        return dict(zip(names, found, strict=True))

    def verify_(self) -> None:
        super().verify_()
        handle = self.operand("pipe_handle").owner
        entry: SSAValue | None = getattr(self, "tile", getattr(self, "entry", None))
        if entry is None or not isinstance(handle, PipeInitializeGlobalBase):
            return
        verify_entry(entry.type, handle.gm_addr.type, f"{handle.name} gm_addr")

    def print(self, printer: Printer) -> None:
        skipped: SSAValue | None = getattr(self, "aiv_subblockid", None)
        values = tuple(
            value for _, _, value in self.roles() if skipped is None or value is not skipped
        )
        printer.print_string("(")
        print_typed_operands(printer, values)
        printer.print_string(") ")
        self.print_clauses(printer)
        print_subblock(printer, self)
        print_attributes(printer, self, tuple(self.CLAUSES))


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


def _push_pipe(op: PtoOp) -> Pipe:
    tile = op.operand("tile").type
    is_acc = isinstance(tile, TileBufType) and tile.space == AddressSpace.ACC
    return Pipe.FIX if is_acc else Pipe.MTE3


class HandlePushBase(HandleOp):
    """`(%tile, %pipe : T, !pto.pipe) {split = 0}`"""

    tile = operand_def(READ_ENTRY)
    pipe_handle = operand_def(HANDLE)
    aiv_subblockid = opt_operand_def(I64)
    split = prop_def(I8_KIND)


TPushOp = declare(HandlePushBase, "TPushOp", "tpush", "appends a tile to a queue", pipe=_push_pipe)


class HandlePopBase(HandleOp):
    """`(%tile, %pipe : T, !pto.pipe) {split = 0}`"""

    tile = operand_def(WRITE_ENTRY)
    pipe_handle = operand_def(HANDLE)
    aiv_subblockid = opt_operand_def(I64)
    split = prop_def(I8_KIND)


TPopOp = declare(HandlePopBase, "TPopOp", "tpop", "takes a tile of a queue", pipe=Pipe.MTE2)


class HandleAllocBase(HandleOp):
    """`(%entry, %pipe : T, !pto.pipe) {split = 0}`"""

    entry = operand_def(WRITE_ENTRY)
    pipe_handle = operand_def(HANDLE)
    split = prop_def(I8_KIND)


TAllocOp = declare(
    HandleAllocBase, "TAllocOp", "talloc", "names the slot that is filled next", pipe=Pipe.MTE3
)


class HandleFreeBase(HandleOp):
    """`([%entry, ]%pipe : [T, ]!pto.pipe) {split = 0}`"""

    entry = opt_operand_def(VIEW_ENTRY)
    pipe_handle = operand_def(HANDLE)
    split = prop_def(I8_KIND)

    @classmethod
    def assign(cls, parser: Parser, found: list[SSAValue], position: int) -> dict[str, Any]:
        if len(found) == 1:
            return {"pipe_handle": found[0]}
        return super().assign(parser, found, position)


TFreeOp = declare(
    HandleFreeBase, "TFreeOp", "tfree", "gives back the slot that was taken", pipe=Pipe.S
)


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
)
