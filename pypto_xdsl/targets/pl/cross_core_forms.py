"""
Calls of ops between the cores of a group, of barriers, events and flags.

PyPTO has the tiles that pass between cores among the ops on tiles, and everything else under
`system`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, ptensor
from pypto_xdsl.dialects.tile import cross_core, sync
from pypto_xdsl.dialects.tile.attributes import CoreType
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.cross_core_forms import GM_SLOT_BUFFER
from pypto_xdsl.frontend.pl.vocabulary import spell
from pypto_xdsl.targets.pl.parts import Parts, call, dtype_of, keyword, listed, shape_of
from pypto_xdsl.targets.pl.shared_forms import Form

_CORES = {CoreType.CUBE: "aic", CoreType.VECTOR: "aiv", CoreType.MIX: "mix"}


def place_of(attribute: Any) -> int:
    """A word as PyPTO's number."""
    words = list[Any](cast(Any, type(attribute.data)))
    return words.index(attribute.data)


def _numbers(op: Operation, *words: str) -> list[Parts]:
    """Those of the integers of this name that an op has."""
    found: list[Parts] = []
    for word in words:
        value = op.properties.get(word)
        if isinstance(value, IntegerAttr):
            found.append(keyword(word, str(value.value.data)))
    return found


# Tiles between cores


def _shard(op: Any) -> Parts:
    """
    What crosses between cores by a split: the one of the region around, or one of its own. Raises
    `OpError` where the region says otherwise, and for tensors that no region is around.
    """
    name = op.name.partition(".")[2]
    level = "tensor" if op.name.startswith("ptensor.") else "tile"
    region = op.parent_op()
    while region is not None and not isinstance(region, orch.SplitAivOp):
        region = region.parent_op()
    strides = _numbers(op, "lane_stride")
    if region is not None:
        if place_of(region.mode) != place_of(op.split) or strides:
            raise OpError(op, "has no spelling in the DSL: the region around it splits otherwise")
        return call(name, [op.source])
    if level == "tensor":
        raise OpError(op, "has no spelling in the DSL outside of a region that splits")
    return call(f"tile.{name}", [op.source], keyword("split", str(place_of(op.split))), *strides)


def _push(op: cross_core.PushOp) -> Parts:
    split = keyword("split", str(place_of(op.split)))
    name = op.name.partition(".")[2]
    return call(f"tile.{name}", [op.tile], split, *_numbers(op, "lane_stride", "id"))


def _pop(op: cross_core.PopOp) -> Parts:
    type = TileType.of(op.result.type)
    return call(
        f"tile.{op.name.partition('.')[2]}",
        ["shape=", *shape_of(op, type)],
        keyword("dtype", dtype_of(op, type.element_type)),
        keyword("split", str(place_of(op.split))),
        *_numbers(op, "lane_stride", "id"),
    )


def _free(op: cross_core.FreeOp) -> Parts:
    split = keyword("split", str(place_of(op.split)))
    return call(f"system.{op.name.partition('.')[2]}", [op.tile], split, *_numbers(op, "id"))


# Rings


def _initialize_pipe(op: cross_core.InitializePipeOp) -> Parts:
    arguments: list[Parts] = []
    for word in ("c2v_consumer_buf", "v2c_consumer_buf"):
        buffer = getattr(op, word)
        if buffer is not None:
            arguments.append([f"{word}=", buffer])
    arguments += _numbers(op, "dir_mask", "slot_size", "slot_num", "local_slot_num", "id")
    if op.gm_slot_buffer is not None:
        arguments.append([f'attrs={{"{GM_SLOT_BUFFER}": ', op.gm_slot_buffer, "}"])
    return call(f"system.{op.name.partition('.')[2]}", *arguments)


def _reserve_buffer(op: cross_core.ReserveBufferOp) -> Parts:
    arguments = [
        keyword("name", repr(op.buffer.data)),
        keyword("size", str(op.size.value.data)),
    ]
    return call("system.reserve_buffer", *arguments, *_numbers(op, "base"))


def import_peer_buffer(op: cross_core.ImportPeerBufferOp, functions: Mapping[str, str]) -> Parts:
    """The buffer of another function; `functions` is what the text calls them."""
    name, peer = repr(op.buffer.data), functions.get(op.peer_func.data, op.peer_func.data)
    peer_func = keyword("peer_func", repr(peer))
    return call("system.import_peer_buffer", keyword("name", name), peer_func)


# Barriers, events and flags


def _barrier(op: sync.BarrierOp) -> Parts:
    return call(f"system.{op.name.partition('.')[2]}")


def _event(op: sync.EventOp) -> Parts:
    return call(
        f"system.{op.name.partition('.')[2]}",
        keyword("set_pipe", _pipe(op.set_pipe)),
        keyword("wait_pipe", _pipe(op.wait_pipe)),
        *_numbers(op, "event_id"),
    )


def _flag(op: sync.FlagOp) -> Parts:
    number: Parts = [str(op.event_id.value.data)]
    if op.event_id_dyn is not None:
        if op.event_id.value.data:
            raise OpError(op, "has no spelling in the DSL with two numbers")
        number = [op.event_id_dyn]
    arguments = [number, keyword("pipe", _pipe(op.pipe)), *_numbers(op, "ffts_mode")]
    if op.core_type is not None:
        arguments.append(keyword("core_type", repr(_CORES[op.core_type.data])))
    return call(f"system.{op.name.partition('.')[2]}", *arguments)


def _pipe(pipe: Any) -> str:
    return spell("PipeType", place_of(pipe))


def _syncall(op: sync.SyncallOp) -> Parts:
    cores = _CORES[op.core_type.data]
    arguments = [keyword("core_type", repr(cores if cores == "mix" else f"{cores}_only"))]
    arguments.append(keyword("mode", repr(op.mode.data.value)))
    if op.gm_workspace is not None:
        arguments.append(["gm_workspace=", op.gm_workspace])
    if op.used_cores is not None:
        arguments.append(["used_cores=", op.used_cores])
    return call("system.syncall", *arguments)


def _cacheinvalid(op: sync.CacheinvalidOp) -> Parts:
    if op.tensor is None:
        return call("system.cacheinvalid")
    return call("system.cacheinvalid", [op.tensor], listed(op.window), listed(op.window_offsets))


FORMS: Mapping[type[Operation], Form] = {
    cross_core.AivShardOp: _shard,
    cross_core.AicGatherOp: _shard,
    ptensor.AivShardOp: _shard,
    ptensor.AicGatherOp: _shard,
    cross_core.TpushToAivOp: _push,
    cross_core.TpushToAicOp: _push,
    cross_core.TpopFromAicOp: _pop,
    cross_core.TpopFromAivOp: _pop,
    cross_core.TfreeToAicOp: _free,
    cross_core.TfreeToAivOp: _free,
    cross_core.AicInitializePipeOp: _initialize_pipe,
    cross_core.AivInitializePipeOp: _initialize_pipe,
    cross_core.ReserveBufferOp: _reserve_buffer,
    sync.BarAllOp: _barrier,
    sync.BarMOp: _barrier,
    sync.BarVOp: _barrier,
    sync.FenceOp: _barrier,
    sync.SyncSrcOp: _event,
    sync.SyncDstOp: _event,
    sync.SyncSetOp: _flag,
    sync.SyncWaitOp: _flag,
    sync.SetFftsOp: lambda op: call("system.set_ffts", [op.workspace]),
    sync.SyncallOp: _syncall,
    sync.CacheinvalidOp: _cacheinvalid,
}
"""How ops between cores, and those that order others, are called."""
