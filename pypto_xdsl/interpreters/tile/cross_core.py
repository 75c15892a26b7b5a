"""
Rings between the cores of a group, while tiles are values: who pops has what was pushed.

Where the slots are, in global memory or in the memory of a core, tells nothing about the tiles, so
that nobody has to say it here.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import i32
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.tile.cross_core import FreeOp, InitializePipeOp, PopOp, PushOp
from pypto_xdsl.interpreters.core_groups import TO_CUBE, TO_VECTOR, GroupCore, Needed, core_of
from pypto_xdsl.interpreters.elements import integer_value
from pypto_xdsl.interpreters.elementwise import result_element, tile_of_region
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import given, known, take_indices
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.rings import Part, Ring, RingShape, part_of
from pypto_xdsl.interpreters.tile.memory import physical_shape
from pypto_xdsl.interpreters.values import Tensor, Tile, leading


def _core(interpreter: Interpreter, *, is_cube: bool) -> GroupCore:
    """The core at work, which has to be of a kind."""
    core = core_of(machine_of(interpreter))
    if core.is_cube != is_cube:
        kind = "a cube core" if is_cube else "a vector core"
        raise ProgramError(f"is for {kind}, and runs on {core.name}")
    return core


def _number(op: PushOp | PopOp | FreeOp | InitializePipeOp) -> int:
    return 0 if op.id is None else op.id.value.data


def _part(
    core: GroupCore, op: PushOp | PopOp, region: tuple[int, ...], stride: int | None = None
) -> Part:
    subblock = None if core.is_cube else core.subblock
    return part_of(region, op.split.data, subblock, stride)


def _push(op_class: type[Operation], direction: int) -> Run:
    def run(interpreter: Interpreter, op: PushOp, args: PythonValues) -> PythonValues:
        core = _core(interpreter, is_cube=direction == TO_VECTOR)
        ring = core.ring(_number(op), direction)
        source: Tile = args[0]
        part = _part(core, op, source.valid)
        stored, mask = source.read(leading(source.valid))
        core.wait(op, _slot(ring, core.place))
        core.hear(ring.told_by_frees(core.place))
        ring.push(core.place, op, part, source.element, stored, mask, core.tell())
        return ()

    return run


def _slot(ring: Ring, place: int) -> Needed:
    return Needed(
        f"a free slot of {ring.name}",
        "frees",
        lambda: ring.can_push(place),
        lambda: ring.late_to_free(place),
    )


def _tile(ring: Ring, place: int) -> Needed:
    return Needed(
        f"a tile of {ring.name}",
        "pushes",
        lambda: ring.can_pop(place),
        lambda: ring.late_to_push(place),
    )


def _pop(op_class: type[Operation], direction: int) -> Run:
    def run(interpreter: Interpreter, op: PopOp, args: PythonValues) -> PythonValues:
        core = _core(interpreter, is_cube=direction == TO_CUBE)
        ring = core.ring(_number(op), direction)
        type = tile.TileType.of(op.result.type)
        listed, _ = take_indices(op.static_valid, args)
        valid = given(type.valid_shape, listed)
        if not known(valid):
            raise ProgramError(f"takes a tile of which nothing says how much is valid: {type}")
        shape = physical_shape(type, valid)
        stride: Any = getattr(op, "lane_stride", None)
        part = _part(core, op, valid, None if stride is None else stride.value.data)
        core.wait(op, _tile(ring, core.place))
        core.hear(ring.told_by_pushes(core.place))
        element = result_element(op)
        stored, mask = ring.pop(core.place, part, element)
        mask = None if mask is None else mask.reshape(valid)
        return (tile_of_region(stored.reshape(valid), mask, element, shape, valid),)

    return run


def _free(op_class: type[Operation], direction: int) -> Run:
    def run(interpreter: Interpreter, op: FreeOp, args: PythonValues) -> PythonValues:
        core = _core(interpreter, is_cube=direction == TO_CUBE)
        core.ring(_number(op), direction).free(core.place, core.tell())
        return ()

    return run


def _initialize(op_class: type[Operation], is_cube: bool) -> Run:
    def run(interpreter: Interpreter, op: InitializePipeOp, args: PythonValues) -> PythonValues:
        core = _core(interpreter, is_cube=is_cube)
        buffer: Tensor | None = args[-1] if op.gm_slot_buffer is not None else None
        if buffer is not None and buffer.array.nbytes < op.ring_size:
            raise ProgramError(
                f"has slots of {op.ring_size} bytes in a tensor of {buffer.array.nbytes} bytes"
            )
        shape = RingShape(op.dir_mask.value.data, op.slot_size.value.data, op.slots)
        core.set_up(op, _number(op), shape)
        return ()

    return run


def _address(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        base: Any = op.properties.get("base")
        return (integer_value(0 if base is None else base.value.data, i32),)

    return run


@register_impls
@implements({tile.TpushToAivOp: TO_VECTOR, tile.TpushToAicOp: TO_CUBE}, _push)
@implements({tile.TpopFromAicOp: TO_VECTOR, tile.TpopFromAivOp: TO_CUBE}, _pop)
@implements({tile.TfreeToAicOp: TO_VECTOR, tile.TfreeToAivOp: TO_CUBE}, _free)
@implements({tile.AicInitializePipeOp: True, tile.AivInitializePipeOp: False}, _initialize)
@implements({tile.ReserveBufferOp: None, tile.ImportPeerBufferOp: None}, _address)
class TileCrossCoreFunctions(InterpreterFunctions):
    """Rings between the cores of a group."""
