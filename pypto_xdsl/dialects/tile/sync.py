"""
Barriers, events and flags. (PyPTO has these under `system`.)

Inside a core, an *event* orders two pipes: one sets it, the other waits. Between cores, numbered
flags do.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import Effect, reads, writes
from pypto_xdsl.dialects.element_types import SCALAR
from pypto_xdsl.dialects.ptensor.types import TENSOR
from pypto_xdsl.dialects.tile.attributes import (
    CoreType,
    CoreTypeAttr,
    Pipe,
    PipeAttr,
    SyncMode,
    SyncModeAttr,
)
from pypto_xdsl.dialects.typed_op import TypedOp, Value
from pypto_xdsl.syntax.lists import Index, mixed_indices
from pypto_xdsl.syntax.op_syntax import (
    indices_prop,
    integer_attr,
    integer_prop,
    opt_integer_prop,
    opt_word_prop,
    subscript_prop,
    word_prop,
)


class SyncOp(TypedOp, ABC):
    """An op that orders others."""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True


class BarrierOp(SyncOp, ABC):
    """An op that waits."""

    def __init__(self):
        self._fill()


@irdl_op_definition
class BarAllOp(BarrierOp):
    """Waits until all pipes of the core are done with what came before."""

    name = "tile.bar_all"


@irdl_op_definition
class BarMOp(BarrierOp):
    """Waits until the matrix pipe is done with what came before."""

    name = "tile.bar_m"


@irdl_op_definition
class BarVOp(BarrierOp):
    """Waits until the vector pipe is done with what came before."""

    name = "tile.bar_v"


@irdl_op_definition
class FenceOp(BarrierOp):
    """Makes what was written to global memory visible to all cores."""

    name = "tile.fence"


@irdl_op_definition
class CacheinvalidOp(SyncOp):
    """
    Forgets what the scalar cache knows of a window of a tensor; without one, all that it knows.
    """

    name = "tile.cacheinvalid"

    tensor = opt_operand_def(reads(TENSOR))
    offsets = var_operand_def(IndexType)
    static_offsets = subscript_prop()
    sizes = var_operand_def(IndexType)
    static_sizes = indices_prop("sizes")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        tensor: Value | None = None,
        offsets: Sequence[Index] = (),
        sizes: Sequence[Index] = (),
    ):
        self._fill(tensor=tensor, offsets=offsets, sizes=sizes)

    @property
    def window_offsets(self) -> Sequence[Index]:
        """Where the window starts."""
        return mixed_indices(self.static_offsets, self.offsets)

    @property
    def window(self) -> Sequence[Index]:
        """The extents of the window."""
        return mixed_indices(self.static_sizes, self.sizes)


class EventOp(SyncOp, ABC):
    """One half of an event between two pipes of a core."""

    set_pipe = word_prop(PipeAttr)
    wait_pipe = word_prop(PipeAttr)
    event_id = integer_prop(minimum=0, maximum=7)

    def __init__(self, set_pipe: Pipe, wait_pipe: Pipe, event_id: int):
        properties = {
            "set_pipe": PipeAttr(set_pipe),
            "wait_pipe": PipeAttr(wait_pipe),
            "event_id": integer_attr(event_id),
        }
        self._fill(properties=properties)


@irdl_op_definition
class SyncSrcOp(EventOp):
    """The set pipe sets an event when it is done with what came before."""

    name = "tile.sync_src"


@irdl_op_definition
class SyncDstOp(EventOp):
    """The wait pipe waits for an event."""

    name = "tile.sync_dst"


class FlagOp(SyncOp, ABC):
    """One half of a flag between cores; the operand is its number where it is not constant."""

    event_id_dyn = opt_operand_def(reads(SCALAR))
    pipe = word_prop(PipeAttr)
    event_id = integer_prop(minimum=0, maximum=13)
    core_type = opt_word_prop(CoreTypeAttr)

    def __init__(self, pipe: Pipe, event_id: int, event_id_dyn: Value | None = None):
        properties = {"pipe": PipeAttr(pipe), "event_id": integer_attr(event_id)}
        self._fill(properties=properties, event_id_dyn=event_id_dyn)


@irdl_op_definition
class SyncSetOp(FlagOp):
    """The pipe sets a flag for other cores; `ffts_mode` says for which."""

    name = "tile.sync_set"
    ffts_mode = opt_integer_prop(minimum=0, maximum=2)


@irdl_op_definition
class SyncWaitOp(FlagOp):
    """The pipe waits for a flag from other cores."""

    name = "tile.sync_wait"


@irdl_op_definition
class SetFftsOp(SyncOp):
    """Tells the core where the flags between cores are."""

    name = "tile.set_ffts"

    workspace = operand_def(reads(TENSOR))

    def __init__(self, workspace: Value):
        self._fill(workspace=workspace)


def _counter_effect(op: SyncallOp) -> Effect:
    return Effect.READ_WRITE if op.mode.data is SyncMode.SOFT else Effect.READ


@irdl_op_definition
class SyncallOp(SyncOp):
    """
    Waits until all cores of a kind have come here.

    The soft form counts in global memory and needs a workspace of 16 i32; the hard one leaves it
    alone.
    """

    name = "tile.syncall"

    gm_workspace = opt_operand_def(writes(TENSOR, resolve=_counter_effect))
    used_cores = opt_operand_def(reads(SCALAR))
    core_type = word_prop(CoreTypeAttr, CoreTypeAttr(CoreType.MIX))
    mode = word_prop(SyncModeAttr, SyncModeAttr(SyncMode.HARD))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        gm_workspace: Value | None = None,
        used_cores: Value | None = None,
        *,
        core_type: CoreType = CoreType.MIX,
        mode: SyncMode = SyncMode.HARD,
    ):
        properties = {"core_type": CoreTypeAttr(core_type), "mode": SyncModeAttr(mode)}
        self._fill(properties=properties, gm_workspace=gm_workspace, used_cores=used_cores)

    def verify_(self) -> None:
        if self.mode.data is SyncMode.SOFT and self.gm_workspace is None:
            raise VerifyException("the soft form needs a workspace in global memory")
