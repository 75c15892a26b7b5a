"""
Lowers what orders others: barriers, events, flags between cores, fences and caches.

The words of PyPTO's ops name the same things as PTOAS's do; only how they are spelled differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.dialects import pto, tile
from pypto_xdsl.dialects.tile import CoreType, SyncMode
from pypto_xdsl.dialects.tile.sync import BarrierOp, EventOp, FlagOp
from pypto_xdsl.rewriting.control_flow_lowering import ControlFlowLowering

_PIPES: Mapping[tile.Pipe, pto.Pipe] = {
    pipe: pto.Pipe(f"PIPE_{pipe.value.upper()}") for pipe in tile.Pipe
}
_BARRIERS: Mapping[type[BarrierOp], pto.Pipe] = {
    tile.BarAllOp: pto.Pipe.ALL,
    tile.BarMOp: pto.Pipe.M,
    tile.BarVOp: pto.Pipe.V,
}
_EVENTS = tuple(pto.Event)
_CORES: Mapping[CoreType, pto.SyncCoreType] = {
    CoreType.CUBE: pto.SyncCoreType.AIC_ONLY,
    CoreType.VECTOR: pto.SyncCoreType.AIV_ONLY,
    CoreType.MIX: pto.SyncCoreType.MIX,
}


def _barrier(op: BarrierOp, into: ControlFlowLowering) -> None:
    into.builder.insert_op(pto.BarrierOp(pipe_name=_BARRIERS[type(op)]))


def _fence(op: tile.FenceOp, into: ControlFlowLowering) -> None:
    into.builder.insert_op(pto.FenceBarrierAllOp(scope=pto.FenceScope.GM))


def _forget(op: tile.CacheinvalidOp, into: ControlFlowLowering) -> None:
    """Forget the line that a window begins in, or all lines."""
    window = None
    if op.tensor is not None:
        whole = into.window(op.tensor)
        offsets, sizes = into.indices(op.window_offsets), into.indices(op.window)
        window = whole.partition(offsets, sizes, into.builder)
    into.builder.insert_op(pto.CmoCacheInvalidOp(addr=window, space=pto.AddressSpace.GM))


def _event(op: EventOp, into: ControlFlowLowering) -> None:
    made = pto.SetFlagOp if isinstance(op, tile.SyncSrcOp) else pto.WaitFlagOp
    into.builder.insert_op(
        made(
            src_pipe=_PIPES[op.set_pipe.data],
            dst_pipe=_PIPES[op.wait_pipe.data],
            event_id=_EVENTS[op.event_id.value.data],
        )
    )


def _flag(op: FlagOp, into: ControlFlowLowering) -> None:
    number: dict[str, Any] = {"event_id": op.event_id.value.data}
    if op.event_id_dyn is not None:
        number = {
            "event_id_dyn": into.builder.convert(into.value(op.event_id_dyn), IndexType()),
        }
    pipe = _PIPES[op.pipe.data]
    if isinstance(op, tile.SyncSetOp):
        mode = None if op.ffts_mode is None else op.ffts_mode.value.data
        into.builder.insert_op(pto.SyncSetOp(pipe_name=pipe, ffts_mode=mode, **number))
    else:
        into.builder.insert_op(pto.SyncWaitOp(pipe_name=pipe, **number))


def _set_flags(op: tile.SetFftsOp, into: ControlFlowLowering) -> None:
    into.builder.insert_op(pto.SetFftsOp(ffts=into.window(op.workspace).start(into.builder)))


def _meet(op: tile.SyncallOp, into: ControlFlowLowering) -> None:
    workspace: SSAValue | None = None
    count: SSAValue | None = None
    # The cores meet by flags, or count in the workspace.
    if op.mode.data is SyncMode.SOFT:
        assert op.gm_workspace is not None
        window = into.window(op.gm_workspace)
        workspace = window.partition((0,) * len(window.extents), window.extents, into.builder)
        if op.used_cores is not None:
            count = into.builder.convert(into.value(op.used_cores), i32)
    into.builder.insert_op(
        pto.SyncAllOp(
            gm_workspace=workspace,
            used_cores=count,
            mode=pto.SyncAllMode(op.mode.data.value),
            core_type=_CORES[op.core_type.data],
        )
    )


LOWERINGS: Mapping[type[Operation], Callable[[Any, ControlFlowLowering], None]] = {
    **dict.fromkeys(_BARRIERS, _barrier),
    tile.FenceOp: _fence,
    tile.CacheinvalidOp: _forget,
    tile.SyncSrcOp: _event,
    tile.SyncDstOp: _event,
    tile.SyncSetOp: _flag,
    tile.SyncWaitOp: _flag,
    tile.SetFftsOp: _set_flags,
    tile.SyncallOp: _meet,
}
"""Op class -> how it is lowered."""
