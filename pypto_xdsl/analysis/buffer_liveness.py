"""
When the on-chip buffers of a `pto` function are in use.

A buffer is what a `pto.alloc_tile` (or `pto.alloc_multi_tile`) allocates. It is in use from the
first time it is touched to the last, through all its views; what is allocated outside a loop and
touched inside it is so for the whole loop. Scratch counts while its instruction runs.

Two buffers whose uses do not overlap may share bytes. An instruction that works element by
element may write over an operand that is not used after it; any other keeps its operands until
it has written: `Role`s, `in_place` of the op's declaration and the types of both decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Block, Operation, SSAValue

from pypto_xdsl.analysis.control_flow import is_loop
from pypto_xdsl.analysis.program_order import ProgramOrder, Range
from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import AddressSpace, MultiTileBufType, PtoOp, Role, TileBufType

_WRITTEN = (Role.WRITE, Role.UPDATE)
_ACC_ROWS = 16
_ACC_ROWS_OF_INTEGERS = 32


@dataclass(eq=False)
class Buffer:
    """One allocation of on-chip memory."""

    op: PtoOp
    """The allocation."""
    space: AddressSpace
    size: int
    """In bytes."""
    live: Range
    """The first and the last time it is in use, see `ProgramOrder`."""
    touches: list[Operation] = field(default_factory=list[Operation])
    address: SSAValue | None = None
    """Where it lies, if that is known."""

    @property
    def name(self) -> str:
        """How the program names it."""
        hint = self.op.results[0].name_hint
        return "a tile" if hint is None else f"%{hint}"


class BufferLiveness:
    """The buffers of a function, in the order of their allocation."""

    def __init__(self, function: Operation):
        self.order = ProgramOrder(function)
        self.buffers: list[Buffer] = []
        self._of: dict[SSAValue, Buffer] = {}
        self._whole: set[SSAValue] = set()
        """Names of a buffer that start where it starts and reach over all of it."""
        for op in self.order.ops:
            if is_alloc(op):
                self._enter(op)
                continue
            self._follow(op)
            self._touch(op)

    def buffer(self, value: SSAValue) -> Buffer | None:
        """The buffer that a tile is, or is a view of."""
        return self._of.get(value)

    def _enter(self, op: PtoOp) -> None:
        (result,) = op.results
        time = self.order.write(op)
        buffer = Buffer(op, space_of(result.type), size_in_bytes(result.type), (time, -1))
        if op.operands:
            buffer.address = op.optional_operand("addr")
        self.buffers.append(buffer)
        self._of[result] = buffer
        self._whole.add(result)

    def _follow(self, op: Operation) -> None:
        """Views are other names."""
        if not isinstance(op, PtoOp):
            return
        source = op.aliased
        buffer = None if source is None else self._of.get(source)
        if buffer is None or source is None:
            return
        for result in op.results:
            self._of[result] = buffer
            if source in self._whole and not isinstance(op, pto.SubViewOp | pto.MultiTileGetOp):
                self._whole.add(result)

    def _touch(self, op: Operation) -> None:
        if isinstance(op, PtoOp):
            if op.aliased is not None:
                return
            roles = tuple(op.roles())
            written = [value for _, role, value in roles if role in _WRITTEN]
            for name, role, value in roles:
                buffer = self._of.get(value)
                if buffer is not None:
                    self._use(buffer, op, self._time(op, name, role, value, written))
            return
        for operand in op.operands:
            buffer = self._of.get(operand)
            if buffer is not None:
                # Handed to somebody who may do anything with it.
                buffer.touches.append(op)
                buffer.live = (0, self.order.leave(self.order.ops[-1]) + 1)

    def _time(
        self, op: PtoOp, name: str, role: Role, value: SSAValue, written: Sequence[SSAValue]
    ) -> Range:
        """When an instruction has its hands on an operand."""
        read, write = self.order.read(op), self.order.write(op)
        match role:
            case Role.WRITE:
                return write, write
            case Role.READ if self._may_share(op, name, value, written):
                return read, read
            case Role.VIEW | Role.VALUE:
                return read, read
            case _:
                return read, write

    def _may_share(
        self, op: PtoOp, name: str, value: SSAValue, written: Sequence[SSAValue]
    ) -> bool:
        """Whether what the op writes may lie over this operand, from where that begins."""
        if not written:
            return True
        narrows = op.may_narrow(name)
        return (narrows or op.may_share(name)) and all(
            isinstance(other.type, TileBufType)
            and isinstance(value.type, TileBufType)
            and value in self._whole
            and other in self._whole
            and (narrows or _same_geometry(value.type, other.type))
            for other in written
        )

    def _use(self, buffer: Buffer, op: Operation, time: Range) -> None:
        start, end = time
        home = buffer.op.parent
        user = op
        while (block := user.parent) is not home:
            assert isinstance(block, Block)
            parent = block.parent_op()
            assert parent is not None
            user = parent
            if is_loop(user):
                start, end = self.order.read(user), self.order.leave(user)
        buffer.touches.append(op)
        first, last = buffer.live
        buffer.live = (start if last < 0 else min(first, start), max(last, end))


def is_alloc(op: Operation) -> TypeGuard[PtoOp]:
    """Whether an op allocates on-chip memory."""
    return isinstance(op, pto.AllocTileOp | pto.AllocMultiTileOp)


def _same_geometry(left: TileBufType, right: TileBufType) -> bool:
    """Whether the elements of two tiles lie at the same bytes."""
    return (
        left.get_shape() == right.get_shape()
        and left.blayout == right.blayout
        and left.slayout == right.slayout
        and left.fractal == right.fractal
        and pto.element_bits(left.element_type) == pto.element_bits(right.element_type)
    )


def space_of(type: object) -> AddressSpace:
    """The memory that a tile type speaks of."""
    if isinstance(type, MultiTileBufType):
        type = type.slot_type
    assert isinstance(type, TileBufType)
    return type.space


def size_in_bytes(type: object) -> int:
    """
    The bytes that a tile takes. The accumulator is filled by whole rows of boxes: 16, or 32 of
    integers.
    """
    if isinstance(type, MultiTileBufType):
        return type.count * size_in_bytes(type.slot_type)
    assert isinstance(type, TileBufType)
    if type.space is not AddressSpace.ACC:
        return type.size_in_bytes
    rows, _ = type.get_shape()
    unit = _ACC_ROWS_OF_INTEGERS if isinstance(type.element_type, IntegerType) else _ACC_ROWS
    return type.size_in_bytes // rows * (-(-rows // unit) * unit)


def peak(buffers: Sequence[Buffer]) -> tuple[int, Sequence[Buffer]]:
    """The time at which the most bytes are in use, and the buffers in use then."""
    events: list[tuple[int, int, int]] = []
    for place, buffer in enumerate(buffers):
        start, end = buffer.live
        events += [(start, 1, place), (end + 1, 0, place)]
    events.sort()
    used = most = time = 0
    for at, starts, place in events:
        used += buffers[place].size if starts else -buffers[place].size
        if used > most:
            most, time = used, at
    return time, [b for b in buffers if b.live[0] <= time <= b.live[1]]


def functions_with_buffers(ops: Iterator[Operation]) -> Iterator[Operation]:
    """The functions among `ops` that allocate on-chip memory, each once."""
    seen: set[Operation] = set()
    for op in ops:
        if not is_alloc(op):
            continue
        parent = op.parent_op()
        while parent is not None and parent.name != "func.func":
            parent = parent.parent_op()
        if parent is not None and parent not in seen:
            seen.add(parent)
            yield parent
