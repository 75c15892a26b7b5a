"""
Queues of tiles between a cube core and its vector cores.

A queue is a ring of slots in global memory. Pushing waits for a free slot, writes it on the pipe
that drains the tile, and tells the other side; taking waits for that, and loads the slot into the
memory of the core; freeing tells the side that pushes. Half tiles of two vector cores share a
slot, the rows of one below or beside those of the other.

An accumulator is converted on its way into a slot where the queue says so, by the scale that was
set last; a scale of each column is read as the accumulator is drained.

Of a queue whose slots are described by a tensor, the program writes and reads the slots itself: it
is given views of them, where otherwise a tile goes through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FixedBitwidthType, bf16, f16, i8
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import DYNAMIC, Pipe, TensorViewType, TileBufType
from pypto_xdsl.dialects.pto.enumerations import FixpipeLayout, FixpipeQuant, FixpipeRelu
from pypto_xdsl.dialects.pto.queue import (
    TO_CUBE,
    TO_VECTOR,
    AllocEntryOp,
    FreeOp,
    PopOp,
    PushOp,
    number_of,
)
from pypto_xdsl.interpreters.ascend910b.core import Core
from pypto_xdsl.interpreters.ascend910b.functions import core_of
from pypto_xdsl.interpreters.ascend910b.globals import CoreView
from pypto_xdsl.interpreters.ascend910b.memory import CoreTile
from pypto_xdsl.interpreters.elements import Array, Element, element_of, integer_value
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.fixpipe import scaled, unscaled
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.pto.memory import valid_extents
from pypto_xdsl.interpreters.pto.operands import named

_BY_ROWS, _BY_COLUMNS, _ODD = (1, 3), (2, 4), (3, 4)
"""Codes of a split."""

_TO_BYTES = (FixpipeQuant.REQ8_SCALAR, FixpipeQuant.QF322B8_PRE_SCALAR)
_SIGNED = 1 << 46
"""Of a packed scale: whether bytes are signed."""

_CONVERTED: Mapping[FixpipeQuant, FixedBitwidthType] = {
    FixpipeQuant.F32_F16: f16,
    FixpipeQuant.F32_BF16: bf16,
    FixpipeQuant.REQ8_SCALAR: i8,
    FixpipeQuant.REQ8_VEC: i8,
    FixpipeQuant.DEQF16_SCALAR: f16,
    FixpipeQuant.DEQF16_VEC: f16,
    FixpipeQuant.QF322B8_PRE_SCALAR: i8,
    FixpipeQuant.QF322B8_PRE_VEC: i8,
    FixpipeQuant.QF322F16_PRE_SCALAR: f16,
    FixpipeQuant.QF322BF16_PRE_SCALAR: bf16,
}
"""What accumulators are converted to, where they are."""


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
    described: CoreView | None = None
    """A tensor that is what a slot holds."""
    conversion: tuple[FixpipeQuant, FixpipeRelu] | None = None
    """What becomes of accumulators on their way into a slot."""
    scale: CoreTile | int | None = None
    """One of each column, or one of all elements, packed."""
    pushed: dict[int, int] = field(default_factory=lambda: {TO_VECTOR: 0, TO_CUBE: 0})
    taken: dict[int, int] = field(default_factory=lambda: {TO_VECTOR: 0, TO_CUBE: 0})

    def flag(self, direction: int, *, is_free: bool) -> int:
        """The flag that says that a slot is filled, or free."""
        return self.number * 4 + (direction - 1) * 2 + is_free

    def slot(
        self,
        core: Core,
        direction: int,
        count: int,
        tile: CoreTile,
        split: int,
        element: Element | None = None,
    ) -> CoreView:
        """The part of a slot that is a core's tile, its elements converted to those of a type."""
        rows, columns = tile.valid
        element = element or tile.element
        size = element.storage.itemsize
        stride = columns
        if not core.is_cube and split in _BY_COLUMNS:
            stride = 2 * columns + (2 * core.subblock - 1 if split in _ODD else 0)
        if rows * stride * size > self.slot_size:
            raise ProgramError(
                f"takes {rows * stride * size} bytes of slots of {self.slot_size} bytes"
            )
        start = self._start(direction, count) + _part(core, split, rows, columns) * size
        return CoreView(self._at(start, element), (rows, columns), (stride, 1), core)

    def converting(self, tile: CoreTile) -> tuple[Element, Callable[[Array], Array]] | None:
        """What a tile's elements are converted to on their way into a slot, and how."""
        if self.conversion is None:
            return None
        quant, relu = self.conversion
        source, is_positive = tile.element, relu is FixpipeRelu.NORMAL_RELU
        target = source if quant not in _CONVERTED else element_of(_CONVERTED[quant])
        scale, by_column = self.scale, quant.endswith("_vec")
        if not by_column and not quant.endswith("_scalar"):
            return target, lambda stored: unscaled(stored, source, target, relu=is_positive)
        if scale is None or isinstance(scale, int) == by_column:
            what = "vector" if by_column else "scalar"
            raise ProgramError(f"converts by {quant}, which takes a pto.set_quant_{what} before")

        def convert(stored: Array) -> Array:
            if isinstance(scale, int):
                packed = np.array(scale, np.uint64)
            else:
                packed = scale.read((1, stored.shape[1]))[0].astype(np.uint64)
            return scaled(stored, source, target, packed, by_column=by_column, relu=is_positive)

        return target, convert

    def entry(
        self, core: Core, direction: int, count: int, type: TensorViewType, split: int
    ) -> CoreView:
        """The part of a slot that a core is given a view of."""
        described = self.described
        if described is None:
            raise ProgramError(
                "is given a view of a slot of a queue of tiles: initialize it with gm_slot_tensor"
            )
        shape = tuple(
            own if extent == DYNAMIC else extent
            for extent, own in zip(type.get_shape(), described.shape, strict=True)
        )
        element = described.pointer.element
        size = element.storage.itemsize
        rows, columns = (1, *shape)[-2:]
        start = self._start(direction, count) + _part(core, split, rows, columns) * size
        return CoreView(self._at(start, element), shape, described.strides, core)

    def _start(self, direction: int, count: int) -> int:
        """Where a slot starts, in bytes."""
        return self.offsets[direction] + (count % self.slots) * self.slot_size

    def _at(self, start: int, element: Element) -> Pointer:
        base = self.pointer.offset * self.pointer.element.storage.itemsize
        return Pointer(self.pointer.buffer, element, (base + start) // element.storage.itemsize)


def _part(core: Core, split: int, rows: int, columns: int) -> int:
    """Where in a slot a core's half starts, in elements."""
    if core.is_cube or not core.subblock:
        return 0
    # Of an odd number, the first core has one more than the second.
    more = split in _ODD
    if split in _BY_ROWS:
        return (rows + more) * columns
    return columns + more if split in _BY_COLUMNS else 0


def _queue(core: Core, op: Any) -> Queue:
    found = core.queues.get(op.queue_id)
    if found is None:
        raise ProgramError(f"is about queue {op.queue_id}, which is not initialized")
    return found


def _initialize(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        core = core_of(interpreter)
        epilogue = op.acc_push_epilogue
        if epilogue is not None and epilogue.data[0] is not FixpipeLayout.NZ2ND:
            raise ProgramError("writes slots in boxes: only rows, layout = nz2nd, are run")
        described: CoreView | None = operands.get("gm_slot_tensor")
        pointer = operands.get("gm_slot_buffer")
        if described is not None:
            pointer = described.pointer.moved(described.start)
        if pointer is None:
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
            pointer,
            op.bytes_of_slot,
            op.slots,
            op.local_slots,
            local,
            {TO_VECTOR: 0, TO_CUBE: ring if both else 0},
            described,
            None if epilogue is None else epilogue.data[1:],
        )
        return ()

    return run


def _alloc(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: AllocEntryOp, args: PythonValues) -> PythonValues:
        core = core_of(interpreter)
        queue, direction = _queue(core, op), op.DIRECTION
        type = op.results[0].type
        assert isinstance(type, TensorViewType)
        count = queue.pushed[direction]
        queue.pushed[direction] += 1
        if count >= queue.slots:
            free = queue.flag(direction, is_free=True)
            credits = core.group.credits
            # The program goes on when it has the slot.
            core.give(
                Pipe.S,
                op,
                lambda: core.group.take_flag(core, core.scalar, free, credits),
                lambda: core.group.is_raised(core, free, credits),
            )
        return (queue.entry(core, direction, count, type, op.split_code),)

    return run


def _push(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: PushOp, args: PythonValues) -> PythonValues:
        core = core_of(interpreter)
        queue = _queue(core, op)
        direction, split = op.DIRECTION, op.split_code
        assert op.pipe is not None
        lane = core.lane_of(op.pipe)
        filled = queue.flag(direction, is_free=False)
        if not isinstance(op.tile.type, TileBufType):
            # The program has filled the slot that it was given.
            core.give(
                op.pipe,
                op,
                lambda: core.group.raise_flag(core, op, lane, filled, core.group.tiles),
            )
            core.group.advance()
            return ()
        tile: CoreTile = args[0]
        count = queue.pushed[direction]
        queue.pushed[direction] += 1
        free = queue.flag(direction, is_free=True)
        is_full = count >= queue.slots
        converted = queue.converting(tile)
        element = None if converted is None else converted[0]
        slot = queue.slot(core, direction, count, tile, split, element)

        def fill() -> None:
            if is_full:
                core.group.take_flag(core, lane, free, core.group.credits)
            stored, defined = tile.read()
            slot.write(stored if converted is None else converted[1](stored), defined)
            core.group.raise_flag(core, op, lane, filled, core.group.tiles)

        def is_free() -> bool:
            return not is_full or core.group.is_raised(core, free, core.group.credits)

        core.give(op.pipe, op, fill, is_free)
        core.group.advance()
        return ()

    return run


def _set_scale(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        queue = _queue(core_of(interpreter), op)
        if queue.conversion is None:
            raise ProgramError("sets the scale of a queue that has no acc_push_epilogue")
        scale = args[0]
        if not isinstance(scale, CoreTile):
            # The bits of an f32.
            scale = int(np.float32(scale.value.data).view(np.uint32))
            if queue.conversion[0] in _TO_BYTES:
                scale |= _SIGNED
        queue.scale = scale
        return ()

    return run


def _pop(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: PopOp, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        core = core_of(interpreter)
        queue = _queue(core, op)
        direction, split = op.DIRECTION, op.split_code
        type = op.results[0].type
        count = queue.taken[direction]
        queue.taken[direction] += 1
        assert op.pipe is not None
        lane = core.lane_of(op.pipe)
        filled = queue.flag(direction, is_free=False)

        def is_filled() -> bool:
            return core.group.is_raised(core, filled, core.group.tiles)

        if not isinstance(type, TileBufType):
            assert isinstance(type, TensorViewType)
            entry = queue.entry(core, direction, count, type, split)
            core.give(
                op.pipe,
                op,
                lambda: core.group.take_flag(core, lane, filled, core.group.tiles),
                is_filled,
            )
            return (entry,)
        given = [operands.get(name) for name in ("valid_row", "valid_col")]
        # Where nothing tells, all of the tile is valid.
        rows, columns = (
            size if v is None else v.value.data
            for v, size in zip(given, type.get_shape(), strict=True)
        )
        address = queue.local_addresses.get(direction)
        if address is None:
            raise ProgramError(f"takes a tile of queue {queue.number}, which is given views")
        address += (count % queue.local_slots) * queue.slot_size
        core.op = op
        tile = core.view(type, address, valid_extents(type, (rows, columns)))
        slot = queue.slot(core, direction, count, tile, split)

        def bring() -> None:
            core.group.take_flag(core, lane, filled, core.group.tiles)
            tile.write(*slot.read(tile.valid))

        core.give(op.pipe, op, bring, is_filled)
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
@implements({pto.SetQuantScalarOp: None, pto.SetQuantVectorOp: None}, _set_scale)
@implements({pto.TAllocToAivOp: None, pto.TAllocToAicOp: None}, _alloc)
@implements({pto.TPopFromAicOp: None, pto.TPopFromAivOp: None}, _pop)
@implements({pto.TFreeFromAicOp: None, pto.TFreeFromAivOp: None}, _free)
@implements({pto.ReserveBufferOp: None, pto.ImportReservedBufferOp: None}, _reserve)
class QueueFunctions(InterpreterFunctions):
    """Queues between the cores of a group."""
