"""Transfers between devices: puts and gets, at once or beside the kernel, and signals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import enumerations as w
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import (
    OperandConstraint,
    PtoOp,
    Role,
    declare,
    integer,
    word,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace
from pypto_xdsl.dialects.pto.handle_types import (
    AsyncEventType,
    AsyncSessionType,
    PrefetchAsyncContextType,
)
from pypto_xdsl.dialects.pto.operands import GM_VIEW_TYPES, SIGNLESS
from pypto_xdsl.dialects.pto.shaped_types import (
    DYNAMIC,
    PartitionTensorViewType,
    PtrType,
    TensorViewType,
)
from pypto_xdsl.dialects.pto.syntax import (
    build,
    parse_operand_list,
    parse_type_list,
    print_attributes,
    print_typed_operands,
    resolve,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType

GM = (*GM_VIEW_TYPES, PtrType)
READ_GM = OperandConstraint(GM, Role.READ, "a view of global memory")
WRITE_GM = OperandConstraint(GM, Role.WRITE, "a view of global memory")
SIGNAL = OperandConstraint(GM, Role.UPDATE, "a view of global memory")
STAGING = OperandConstraint((TileBufType,), Role.SCRATCH, "a tile (!pto.tile_buf)")
ACCUMULATOR = OperandConstraint((TileBufType,), Role.SCRATCH, "a tile (!pto.tile_buf)")
SESSION = OperandConstraint((AsyncSessionType,), Role.VIEW, "a !pto.async_session")
EVENT = OperandConstraint((AsyncEventType,), Role.VIEW, "a !pto.async_event")
CONTEXT = OperandConstraint((PrefetchAsyncContextType,), Role.VIEW, "a !pto.prefetch_async_context")
WORKSPACE = OperandConstraint((PtrType,), Role.VIEW, "a pointer (!pto.ptr)")
SCRATCH = OperandConstraint((TileBufType,), Role.VIEW, "a tile (!pto.tile_buf)")
I1 = IntegerType(1)


class CallOp(PtoOp):
    """`(%a, %b : T, T) {attributes} [-> T]`"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True
    OUTS: ClassVar[tuple[str, ...] | None] = ()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        parser.parse_punctuation("(")
        names = parse_operand_list(parser)
        parser.parse_punctuation(":")
        found = resolve(parser, names, parse_type_list(parser))
        parser.parse_punctuation(")")
        operands = [info.name for info in cls.DECLARATION.operands]
        if len(found) != len(operands):
            parser.raise_error(
                f"{cls.name} expects {len(operands)} operands, got {len(found)}", position
            )
        attributes = parser.parse_optional_attr_dict()
        results: tuple[Attribute, ...] = ()
        if cls.get_irdl_definition().results:
            parser.parse_punctuation("->")
            results = (parser.parse_type(),)
        return build(cls, dict(zip(operands, found, strict=True)), attributes, results)

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        print_typed_operands(printer, tuple(self.operands))
        printer.print_string(")")
        print_attributes(printer, self)
        if self.results:
            printer.print_string(" -> ")
            printer.print_attribute(self.results[0].type)


class BuildSessionBase(CallOp):
    """`(%scratch, %workspace : T, T) -> !pto.async_session`"""

    ALLOCATES: ClassVar[bool] = True

    scratch = operand_def(SCRATCH)
    workspace = operand_def(WORKSPACE)
    sync_id = opt_prop_def(integer(32))
    block_bytes = opt_prop_def(integer(64))
    comm_block_offset = opt_prop_def(integer(64))
    queue_num = opt_prop_def(integer(32))
    channel_group_idx = opt_prop_def(integer(64))
    session = result_def(AsyncSessionType)

    LIMITS: ClassVar[Mapping[str, tuple[int, int]]] = {
        "sync_id": (0, 7),
        "block_bytes": (1, (1 << 63) - 1),
        "comm_block_offset": (0, (1 << 63) - 1),
        "queue_num": (1, (1 << 31) - 1),
        "channel_group_idx": (0, (1 << 32) - 1),
    }
    """The least and the greatest value of each number."""

    def verify_(self) -> None:
        super().verify_()
        for name, (least, most) in self.LIMITS.items():
            attribute: Any = self.properties.get(name)
            if attribute is not None and not least <= attribute.value.data <= most:
                raise VerifyException(
                    f"expects {name} to be in [{least}, {most}], got {attribute.value.data}"
                )


class AsyncCopyOp(CallOp):
    """`(%dst, %src, %session : T, T, T) -> !pto.async_event`"""

    dst = operand_def(WRITE_GM)
    src = operand_def(READ_GM)
    session = operand_def(SESSION)
    event = result_def(AsyncEventType)

    def verify_(self) -> None:
        super().verify_()
        verify_static("dst", self.dst, flat=True)
        verify_static("src", self.src, flat=True)
        verify_same_elements(self, "dst", "src")


class AsyncEventOp(CallOp):
    """`(%event, %session : T, T) -> i1`"""

    event = operand_def(EVENT)
    session = operand_def(SESSION)
    completed = result_def(I1)


def verify_same_elements(op: PtoOp, *names: str) -> None:
    """These operands have one element type. Raises `VerifyException`."""
    found = {
        r.dtype_name(element): name
        for name in names
        if (value := op.optional_operand(name)) is not None
        and (element := r.element_of(value)) is not None
    }
    if len(found) > 1:
        raise VerifyException(
            f"expects {', '.join(names)} to have the same element type, got {', '.join(found)}"
        )


def verify_static(name: str, value: SSAValue, *, flat: bool = False, dynamic: bool = False) -> None:
    """A view has a static shape of positive extents. Raises `VerifyException`.

    `flat`: of one dimension, but for leading ones. `dynamic`: a window may have unknown extents.
    """
    type_ = value.type
    if isinstance(type_, PtrType):
        raise VerifyException(f"expects {name} to be a tensor_view or partition_view")
    assert isinstance(type_, TensorViewType | PartitionTensorViewType)
    shape = type_.get_shape()
    for dim in shape:
        if dim == DYNAMIC:
            if not dynamic or not isinstance(type_, PartitionTensorViewType):
                raise VerifyException(f"expects {name} to have a static shape, got {type_}")
        elif dim <= 0:
            raise VerifyException(
                f"expects every static dimension of {name} to be positive, got {type_}"
            )
    if flat and any(dim != 1 for dim in shape[:-1]):
        raise VerifyException(
            f"expects {name} to be a static flat contiguous logical 1D GM view, got {type_}"
        )


def parse_staging(parser: Parser, op: type[PtoOp], keyword: str) -> list[UnresolvedOperand]:
    """`keyword(%ping[, %pong])`."""
    parser.parse_keyword(keyword)
    position = parser.pos
    parser.parse_punctuation("(")
    staging = parse_operand_list(parser)
    parser.parse_punctuation(")")
    if len(staging) > 2:
        parser.raise_error(f"{op.name} expects 1 or 2 buffers, got {len(staging)}", position)
    return staging


def verify_staging(op: PtoOp, *names: str) -> None:
    """These tiles are in vec, and of one type. Raises `VerifyException`."""
    found: list[Attribute] = []
    for name in names:
        if (value := op.optional_operand(name)) is None:
            continue
        assert isinstance(value.type, TileBufType)
        if value.type.space != AddressSpace.VEC:
            raise VerifyException(f"expects {name} to use loc=vec, got loc={value.type.space}")
        found.append(value.type)
    if len(set(found)) > 1:
        raise VerifyException(f"expects {' and '.join(names)} to have identical types")


BuildAsyncSessionOp = declare(
    BuildSessionBase,
    "BuildAsyncSessionOp",
    "comm.build_async_session",
    "a channel of asynchronous copies between devices",
    rules=[r.in_vec("scratch"), r.bytes_at_least("scratch", 8)],
    other_names={"0.27": "build_async_session"},
)
TPutAsyncOp = declare(
    AsyncCopyOp,
    "TPutAsyncOp",
    "comm.tput_async",
    "begins to copy src to another device's dst",
    other_names={"0.27": "tput_async"},
)
TGetAsyncOp = declare(
    AsyncCopyOp,
    "TGetAsyncOp",
    "comm.tget_async",
    "begins to copy another device's src to dst",
    other_names={"0.27": "tget_async"},
)
WaitAsyncEventOp = declare(
    AsyncEventOp,
    "WaitAsyncEventOp",
    "comm.wait_async_event",
    "waits for a copy",
    other_names={"0.27": "wait_async_event"},
)
TestAsyncEventOp = declare(
    AsyncEventOp,
    "TestAsyncEventOp",
    "comm.test_async_event",
    "whether a copy is finished",
    other_names={"0.27": "test_async_event"},
)


def _verify_signal(signal: SSAValue) -> None:
    verify_static("signal", signal)
    element = r.element_of(signal)
    if element is None or r.dtype_name(element, signless=True) != "i32":
        raise VerifyException(f"expects signal element type to be i32, got {element}")


class NotifyBase(CallOp):
    """`(%signal, %value : T, i32) {notifyOp = ...}`"""

    signal = operand_def(SIGNAL)
    value = operand_def(SIGNLESS)
    notify_op = prop_def(word(a.NotifyOpAttr), prop_name="notifyOp")

    def verify_(self) -> None:
        super().verify_()
        _verify_signal(self.signal)


class WaitSignalBase(CallOp):
    """`(%signal, %value : T, i32) {cmp = ...}`"""

    signal = operand_def(SIGNAL)
    cmp_value = operand_def(SIGNLESS)
    cmp = prop_def(word(a.WaitCmpAttr))

    def verify_(self) -> None:
        super().verify_()
        _verify_signal(self.signal)


class TestSignalBase(WaitSignalBase):
    """`(%signal, %value : T, i32) {cmp = ...} -> i1`"""

    result = result_def(I1)


TNotifyOp = declare(
    NotifyBase, "TNotifyOp", "comm.tnotify", "sets or raises a device's signal", SINCE="0.57"
)
TWaitOp = declare(
    WaitSignalBase,
    "TWaitOp",
    "comm.twait",
    "waits until a signal compares with a value",
    SINCE="0.57",
)
TTestOp = declare(
    TestSignalBase, "TTestOp", "comm.ttest", "whether a signal compares with a value", SINCE="0.57"
)


class BufferedCopyOp(PtoOp):
    """`(%dst, %src, buf(%ping[, %pong]) : T, T, T[, T])`"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True
    OUTS: ClassVar[tuple[str, ...] | None] = ()

    dst = operand_def(WRITE_GM)
    src = operand_def(READ_GM)
    ping = operand_def(STAGING)
    pong = opt_operand_def(STAGING)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_punctuation("(")
        names = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        names.append(parser.parse_unresolved_operand())
        parser.parse_punctuation(",")
        staging = parse_staging(parser, cls, "buf")
        parser.parse_punctuation(":")
        found = resolve(parser, [*names, *staging], parse_type_list(parser))
        parser.parse_punctuation(")")
        values: dict[str, Any] = dict(zip(("dst", "src", "ping", "pong"), found, strict=False))
        return build(cls, values, parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_list((self.dst, self.src), printer.print_ssa_value)
        printer.print_string(", buf(")
        printer.print_list(self.operands[2:], printer.print_ssa_value)
        printer.print_string(") : ")
        printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_string(")")
        print_attributes(printer, self)

    def verify_(self) -> None:
        super().verify_()
        verify_static("dst", self.dst, dynamic=True)
        verify_static("src", self.src, dynamic=True)
        shapes = {getattr(value.type, "shape", None) for value in (self.dst, self.src)}
        if len(shapes) > 1:
            raise VerifyException("expects src and dst to have the same shape")
        verify_staging(self, "ping", "pong")
        verify_same_elements(self, "dst", "src", "ping", "pong")


TPutOp = declare(
    BufferedCopyOp,
    "TPutOp",
    "comm.tput",
    "copies src to another device's dst, tile by tile",
    atomic_type=opt_prop_def(
        word(a.AtomicTypeAttr),
        default_value=a.AtomicTypeAttr(w.AtomicType.NONE),
        prop_name="atomicType",
    ),
    SINCE="0.57",
)
TGetOp = declare(
    BufferedCopyOp,
    "TGetOp",
    "comm.tget",
    "copies another device's src to dst, tile by tile",
    SINCE="0.57",
)
