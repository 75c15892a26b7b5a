"""
Queues of tiles between a cube core and its vector cores.

A queue is a ring of slots in global memory. Pushing waits for a free slot, writes it on the pipe
that drains the tile, and tells the other side; taking waits for that, and loads the slot into the
memory of the core; freeing tells the side that pushes. Half tiles of two vector cores share a
slot, the rows of one below or beside those of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import TileBufType
from pypto_xdsl.dialects.pto.queue import TO_CUBE, TO_VECTOR, FreeOp, PopOp, PushOp, number_of
from pypto_xdsl.interpreters.ascend910b.core import Core
from pypto_xdsl.interpreters.ascend910b.functions import core_of
from pypto_xdsl.interpreters.ascend910b.globals import CoreView
from pypto_xdsl.interpreters.ascend910b.memory import CoreTile
from pypto_xdsl.interpreters.elements import integer_value
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.pto.memory import valid_extents
from pypto_xdsl.interpreters.pto.operands import named

_BY_ROWS, _BY_COLUMNS = (1, 3), (2, 4)
"""Codes of a split: even and odd halves."""


@dataclass(eq=False)
class Queue:
    """One core's end of a queue."""

    number: int
    pointer: Pointer
    slot_size: int
    slots: int
    local_slots: int
    local_addresses: dict[int, int]
    """By direction, in bytes."""
    offsets: dict[int, int]
    """Where the ring of a direction starts, in bytes."""
    pushed: dict[int, int] = field(default_factory=lambda: {TO_VECTOR: 0, TO_CUBE: 0})
    taken: dict[int, int] = field(default_factory=lambda: {TO_VECTOR: 0, TO_CUBE: 0})

    def flag(self, direction: int, *, is_free: bool) -> int:
        """The flag that says that a slot is filled, or free."""
        return self.number * 4 + (direction - 1) * 2 + is_free

    def slot(self, core: Core, direction: int, count: int, tile: CoreTile, split: int) -> CoreView:
        """The part of a slot that is a core's tile."""
        rows, columns = tile.valid
        element = tile.element
        size = element.storage.itemsize
        start = self.offsets[direction] + (count % self.slots) * self.slot_size
        stride = columns
        part = 0 if core.is_cube else core.subblock
        if not core.is_cube and split in _BY_ROWS:
            start += part * rows * columns * size
        elif not core.is_cube and split in _BY_COLUMNS:
            start += part * columns * size
            stride = 2 * columns
        if rows * stride * size > self.slot_size:
            raise ProgramError(
                f"takes {rows * stride * size} bytes of slots of {self.slot_size} bytes"
            )
        base = self.pointer.offset * self.pointer.element.storage.itemsize
        pointer = Pointer(self.pointer.buffer, element, (base + start) // size)
        return CoreView(pointer, (rows, columns), (stride, 1), core)


def _queue(core: Core, op: Any) -> Queue:
    found = core.queues.get(op.queue_id)
    if found is None:
        raise ProgramError(f"is about queue {op.queue_id}, which is not initialized")
    return found


def _initialize(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        core = core_of(interpreter)
        if "gm_slot_buffer" not in operands:
            raise ProgramError("has no slots in global memory, which a 910B needs")
        ring = op.slots * op.bytes_of_slot
        both = op.directions == TO_VECTOR | TO_CUBE
        local = {
            direction: operands[name].value.data
            for direction, name in ((TO_VECTOR, "c2v_consumer_buf"), (TO_CUBE, "v2c_consumer_buf"))
            if name in operands
        }
        core.queues[op.queue_id] = Queue(
            op.queue_id,
            operands["gm_slot_buffer"],
            op.bytes_of_slot,
            op.slots,
            op.local_slots,
            local,
            {TO_VECTOR: 0, TO_CUBE: ring if both else 0},
        )
        return ()

    return run


def _push(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: PushOp, args: PythonValues) -> PythonValues:
        core = core_of(interpreter)
        queue = _queue(core, op)
        direction, split = op.DIRECTION, op.split_code
        tile: CoreTile = args[0]
        count = queue.pushed[direction]
        queue.pushed[direction] += 1
        assert op.pipe is not None
        lane = core.lane_of(op.pipe)
        free = queue.flag(direction, is_free=True)
        is_full = count >= queue.slots
        slot = queue.slot(core, direction, count, tile, split)

        def fill() -> None:
            if is_full:
                core.group.take_flag(core, lane, free, core.group.credits)
            slot.write(*tile.read())
            filled = queue.flag(direction, is_free=False)
            core.group.raise_flag(core, op, lane, filled, core.group.tiles)

        def is_free() -> bool:
            return not is_full or core.group.is_raised(core, free, core.group.credits)

        core.give(op.pipe, op, fill, is_free)
        core.group.advance()
        return ()

    return run


def _pop(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: PopOp, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        core = core_of(interpreter)
        queue = _queue(core, op)
        direction, split = op.DIRECTION, op.split_code
        type = op.results[0].type
        if not isinstance(type, TileBufType):
            raise ProgramError("takes a view of a slot, which is not interpreted yet")
        given = [operands.get(name) for name in ("valid_row", "valid_col")]
        # Where nothing tells, all of the tile is valid.
        rows, columns = (
            size if v is None else v.value.data
            for v, size in zip(given, type.get_shape(), strict=True)
        )
        count = queue.taken[direction]
        queue.taken[direction] += 1
        address = queue.local_addresses[direction]
        address += (count % queue.local_slots) * queue.slot_size
        core.op = op
        tile = core.view(type, address, valid_extents(type, (rows, columns)))
        assert op.pipe is not None
        lane = core.lane_of(op.pipe)
        filled = queue.flag(direction, is_free=False)
        slot = queue.slot(core, direction, count, tile, split)

        def bring() -> None:
            core.group.take_flag(core, lane, filled, core.group.tiles)
            tile.write(*slot.read(tile.valid))

        core.give(op.pipe, op, bring, lambda: core.group.is_raised(core, filled, core.group.tiles))
        return (tile,)

    return run


def _free(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: FreeOp, args: PythonValues) -> PythonValues:
        core = core_of(interpreter)
        queue = _queue(core, op)
        assert op.pipe is not None
        lane = core.lane_of(op.pipe)
        free = queue.flag(op.DIRECTION, is_free=True)
        core.give(
            op.pipe,
            op,
            lambda: core.group.raise_flag(core, op, lane, free, core.group.credits),
        )
        return ()

    return run


def _reserve(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        # What the other core reserves is of no use here: tiles go through global memory.
        base = number_of(op.properties.get("base"))
        return (integer_value(base, op.results[0].type),)

    return run


@register_impls
@implements({pto.AicInitializePipeOp: None, pto.AivInitializePipeOp: None}, _initialize)
@implements({pto.TPushToAicOp: None, pto.TPushToAivOp: None}, _push)
@implements({pto.TPopFromAicOp: None, pto.TPopFromAivOp: None}, _pop)
@implements({pto.TFreeFromAicOp: None, pto.TFreeFromAivOp: None}, _free)
@implements({pto.ReserveBufferOp: None, pto.ImportReservedBufferOp: None}, _reserve)
class QueueFunctions(InterpreterFunctions):
    """Queues between the cores of a group."""
