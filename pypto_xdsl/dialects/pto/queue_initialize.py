"""Ops that set up the queues between the cores: their slots, depth and direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

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

from pypto_xdsl.dialects.pto.attributes import AccPushEpilogueAttr
from pypto_xdsl.dialects.pto.declaration import (
    BOOL,
    OperandConstraint,
    PropertyConstraint,
    Role,
    declare,
    word,
)
from pypto_xdsl.dialects.pto.enumerations import FixpipeQuant, KernelKind
from pypto_xdsl.dialects.pto.handle_types import PipeType
from pypto_xdsl.dialects.pto.operands import I32
from pypto_xdsl.dialects.pto.queue import (
    FIRST_ID,
    I8_KIND,
    I32_KIND,
    TO_CUBE,
    TO_VECTOR,
    QueueOp,
    number_of,
)
from pypto_xdsl.dialects.pto.shaped_types import PtrType, TensorViewType, element_bytes
from pypto_xdsl.dialects.pto.syntax import (
    build,
    parse_clauses,
    print_attributes,
    print_typed_operands,
)
from pypto_xdsl.dialects.ring_slots import BOTH_DIRECTIONS, default_slots

GM_BUFFER = OperandConstraint((PtrType,), Role.VIEW, "a pointer (!pto.ptr)")
GM_TENSOR = OperandConstraint((TensorViewType,), Role.VIEW, "a !pto.tensor_view")
ADDRESS = OperandConstraint((Attribute,), Role.VIEW, "an address")
DIRECTIONS = {TO_VECTOR: "cube to vector", TO_CUBE: "vector to cube", BOTH_DIRECTIONS: "both"}
"""Meaning of `dir_mask`."""


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
    NEWER: ClassVar[tuple[str, ...]] = ("id", "slot_num", "local_slot_num", "acc_push_epilogue")
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
        return default_slots(self.directions)

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

    def unwritable_in(self, version: str) -> str | None:
        if version == "0.27":
            default = default_slots(self.directions)
            for what, slots in (("slots", self.slots), ("local slots", self.local_slots)):
                if slots != default:
                    return (
                        f"has {slots} {what}, where PTOAS 0.27 gives a queue {default}: ask for "
                        f"{default} (in Python: pl.cross_core_slot(slot_num={default}))"
                    )
            if self.gm_slot_tensor is not None or self.acc_push_epilogue is not None:
                name = "gm_slot_tensor" if self.gm_slot_tensor is not None else "acc_push_epilogue"
                return f"has '{name}', which PTOAS 0.27 has no text for"
            for name in self.NAMED[2:]:
                if self.optional_operand(name) is None:
                    return f"needs {name} in PTOAS 0.27, in each direction"
        return super().unwritable_in(version)

    def verify_(self) -> None:
        super().verify_()
        directions = self.directions
        if directions not in DIRECTIONS:
            raise VerifyException(f"expects dir_mask to be 1, 2, or 3, got {directions}")
        if number_of(self.slot_size) <= 0:
            raise VerifyException(
                f"expects slot_size to be greater than 0, got {number_of(self.slot_size)}"
            )
        _verify_slots(self.slot_num, self.local_slot_num, default_slots(directions))
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
        slots = default_slots(numbers["dir_mask"])
        _verify_slots(self.properties.get("slot_num"), self.properties.get("local_slot_num"), slots)


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
