"""
The `ascend910b` dialect: what one core of an Ascend 910B executes.

A program is a `func.func` that says which core runs it (`ascend910b.core`). Its instructions are
those of the `pto` dialect, each of which knows its pipe (`op.pipe`); this dialect adds what the
hardware has and tiles do not say:

| op | what it is |
|---|---|
| `ascend910b.view` | a typed view of the bytes at an address of one memory |
| `ascend910b.set_flag` | an event for another pipe of the core, once a pipe got here |
| `ascend910b.wait_flag` | a pipe goes on when the event is there, and takes it |
| `ascend910b.barrier` | a pipe, or `ALL` of them, finishes what it has begun |
| `ascend910b.set_cross_flag` | a flag for the other cores of the group |
| `ascend910b.wait_cross_flag` | a pipe goes on when that flag is there, and takes it |

    func.func @double(%x: !pto.ptr<f32>) attributes {ascend910b.core = #ascend910b<core aiv>} {
      %t = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32>
      pto.tload ins(...) outs(%t : ...)
      ascend910b.set_flag MTE2 -> V, 0
      ascend910b.wait_flag MTE2 -> V, 0
      pto.tadd ins(%t, %t : ...) outs(%t : ...)
      ...
    }

`convert-pto-to-ascend910b` makes it from `pto`, `insert-sync` adds the events; the interpreter of
this dialect runs it (`interpreters/ascend910b`).
"""

from xdsl.ir import Dialect

from pypto_xdsl.dialects.ascend910b.cores import (
    CORE,
    CORE_OF_KIND,
    PROGRAM_ORDER,
    Core,
    CoreAttr,
)
from pypto_xdsl.dialects.ascend910b.events import (
    EVENT_COUNT,
    PIPES,
    BarrierOp,
    EventOp,
    SetFlagOp,
    WaitFlagOp,
)
from pypto_xdsl.dialects.ascend910b.flags import (
    FLAG_COUNT,
    CrossFlagOp,
    FlagMode,
    SetCrossFlagOp,
    WaitCrossFlagOp,
)
from pypto_xdsl.dialects.ascend910b.views import MEMORY_NAMES, ViewOp

Ascend910B = Dialect(
    "ascend910b",
    [BarrierOp, SetCrossFlagOp, SetFlagOp, ViewOp, WaitCrossFlagOp, WaitFlagOp],
    [CoreAttr],
)

__all__ = [
    "CORE",
    "CORE_OF_KIND",
    "EVENT_COUNT",
    "FLAG_COUNT",
    "MEMORY_NAMES",
    "PIPES",
    "PROGRAM_ORDER",
    "Ascend910B",
    "BarrierOp",
    "Core",
    "CoreAttr",
    "CrossFlagOp",
    "EventOp",
    "FlagMode",
    "SetCrossFlagOp",
    "SetFlagOp",
    "ViewOp",
    "WaitCrossFlagOp",
    "WaitFlagOp",
]
