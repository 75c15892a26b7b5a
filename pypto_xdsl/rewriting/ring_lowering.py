"""
Lowers the ops on rings of slots between cube and vector cores to those of PTOAS.

A popped tile lies in the slots that its core keeps for the ring, and not in storage of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, BoolAttr, IntegerAttr, SymbolRefAttr, i8, i32
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import pto, tile
from pypto_xdsl.dialects.ptensor import TransportSplit
from pypto_xdsl.dialects.pto.declaration import PtoOp
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.dialects.tile.cross_core import FreeOp, InitializePipeOp, PopOp, PushOp, RingOp
from pypto_xdsl.rewriting.control_flow_lowering import ControlFlowLowering
from pypto_xdsl.rewriting.tile_buffers import tile_buf_type

RING_OPS: Mapping[type[RingOp], type[PtoOp]] = {
    tile.TpushToAivOp: pto.TPushToAivOp,
    tile.TpushToAicOp: pto.TPushToAicOp,
    tile.TpopFromAicOp: pto.TPopFromAicOp,
    tile.TpopFromAivOp: pto.TPopFromAivOp,
    tile.TfreeToAicOp: pto.TFreeFromAicOp,
    tile.TfreeToAivOp: pto.TFreeFromAivOp,
    tile.AicInitializePipeOp: pto.AicInitializePipeOp,
    tile.AivInitializePipeOp: pto.AivInitializePipeOp,
    tile.ReserveBufferOp: pto.ReserveBufferOp,
    tile.ImportPeerBufferOp: pto.ImportReservedBufferOp,
}
"""What each op on a ring is called. (A slot is freed *to* the core that pushes, *from* it.)"""

_SPLIT_CODES: Mapping[TransportSplit, int] = {split: i for i, split in enumerate(TransportSplit)}


def lower_ring_op(op: RingOp, into: ControlFlowLowering, memory: pto.AddressSpace) -> None:
    """
    Lower an op on a ring; what the core reserves for one is in `memory`.

    Raises `OpError` for one that has no form in PTOAS's language.
    """
    new = RING_OPS.get(type(op))
    if new is None:
        raise OpError(op, "is not lowered to pto yet")
    match op:
        case PushOp():
            _check_halves(op, TileType.of(op.tile.type))
            values: dict[str, Any] = {"tile": into.buffers.buffer(op.tile)}
            _insert(op, new, into, values, (), _split(op))
        case PopOp():
            type_ = TileType.of(op.result.type)
            _check_halves(op, type_)
            extents: dict[str, SSAValue] = {}
            if DYNAMIC_INDEX in type_.valid_shape:
                valid = into.indices(op.valid_extents)
                if not valid:
                    raise OpError(
                        op, f"pops a tile whose valid region is known at run time: {type_}"
                    )
                into.buffers.set_extents(op.result, valid)
                row, column = (into.builder.index(extent) for extent in valid)
                extents = {"valid_row": row, "valid_col": column}
            popped = _insert(op, new, into, extents, (tile_buf_type(type_),), _split(op))
            into.buffers.adopt(op.result, popped.results[0])
        case FreeOp():
            _insert(op, new, into, {}, (), _split(op))
        case InitializePipeOp():
            _initialize(op, new, into)
        case tile.ReserveBufferOp():
            properties: dict[str, Attribute] = {
                "name": op.buffer,
                "size": _integer(op.size.value.data),
                "location": pto.AddressSpaceAttr(memory),
                "autoAlloc": BoolAttr.from_bool(op.base is None),
            }
            if op.base is not None:
                properties["base"] = _integer(op.base.value.data)
            _number(op, new, into, properties)
        case tile.ImportPeerBufferOp():
            peer = SymbolRefAttr(op.peer_func)
            _number(op, new, into, {"name": op.buffer, "peer_func": peer})
        case _:
            raise OpError(op, "is not lowered to pto yet")


def _check_halves(op: PushOp | PopOp, type_: TileType) -> None:
    """
    Raise `OpError` where the second half of a slot is said to start elsewhere than where the
    first half of the valid region ends: PTOAS's language has no word for that.
    """
    match op:
        case tile.TpushToAivOp(lane_stride=IntegerAttr() as stride):
            parts = 2
        case tile.TpopFromAicOp(lane_stride=IntegerAttr() as stride):
            parts = 1
        case _:
            return
    split = op.split.data
    if split.axis is None:
        return
    more = int(parts == 2 and split.odd is split)
    valid = type_.valid_shape[split.axis]
    if valid == DYNAMIC_INDEX or valid != parts * stride.value.data - more:
        raise OpError(
            op,
            f"cannot be lowered: lane_stride = {stride.value.data} lets the second half start "
            f"elsewhere than behind the first one of {type_}",
        )


def _integer(value: int) -> IntegerAttr[Any]:
    return IntegerAttr(value, i32)


def _split(op: PushOp | PopOp | FreeOp) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {"split": IntegerAttr(_SPLIT_CODES[op.split.data], i8)}
    if op.id is not None:
        properties["id"] = _integer(op.id.value.data)
    return properties


def _initialize(op: InitializePipeOp, new: type[PtoOp], into: ControlFlowLowering) -> None:
    properties: dict[str, Attribute] = {
        "dir_mask": IntegerAttr(op.dir_mask.value.data, i8),
        "slot_size": _integer(op.slot_size.value.data),
    }
    for name in ("slot_num", "local_slot_num", "id"):
        value: IntegerAttr[Any] | None = getattr(op, name)
        if value is not None:
            properties[name] = _integer(value.value.data)
    values: dict[str, SSAValue] = {}
    if op.gm_slot_buffer is not None:
        values["gm_slot_buffer"] = into.window(op.gm_slot_buffer).start(into.builder)
    for name in ("c2v_consumer_buf", "v2c_consumer_buf"):
        buffer: SSAValue | None = getattr(op, name)
        if buffer is not None:
            values[name] = into.value(buffer)
    _insert(op, new, into, values, (), properties)


def _number(
    op: tile.ReserveBufferOp | tile.ImportPeerBufferOp,
    new: type[PtoOp],
    into: ControlFlowLowering,
    properties: dict[str, Attribute],
) -> None:
    made = _insert(op, new, into, {}, (i32,), properties)
    into.scalars[op.result] = made.results[0]


def _insert(
    op: Operation,
    new: type[PtoOp],
    into: ControlFlowLowering,
    values: Mapping[str, Any],
    types: tuple[Attribute, ...],
    properties: Mapping[str, Attribute],
) -> Operation:
    made = build(new, values, {}, types, properties)
    into.builder.insert_op(made)
    for old, result in zip(op.results, made.results, strict=False):
        result.name_hint = old.name_hint
    return made
