"""
Which cores of a group a kernel needs, before and after it is lowered.

What the kernel says of itself counts: the kind of an `orch.func`, `pto.kernel_kind` or sections of
a lowered function. Otherwise the memories that its tiles are in say it; a kernel that has no tile,
or whose body is not here, runs on a vector core.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import func
from xdsl.ir import Operation

from pypto_xdsl.analysis.core_lanes import Lane, lane
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import orch, pto
from pypto_xdsl.dialects.ascend910b import CORE, CORE_OF_KIND, Core, CoreAttr
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.pto import AddressSpace
from pypto_xdsl.dialects.pto.tile_types import TileBufType
from pypto_xdsl.dialects.pto.unit_attributes import KERNEL_KIND

_CORE_OF_KIND = {FunctionKind.AIC: Core.AIC, FunctionKind.AIV: Core.AIV}
_CORE_OF_LANE = {Lane.CUBE: Core.AIC, Lane.VECTOR: Core.AIV}


def cores_of_kernel(
    kernel: orch.FuncOp, lowered: func.FuncOp | None = None
) -> Mapping[Core, Operation]:
    """
    The cores that a kernel needs, each with the first op that says so; `lowered` is its code where
    the kernel is a declaration.
    """
    kind = _CORE_OF_KIND.get(kernel.kind.data)
    if kind is not None:
        return {kind: kernel}
    found: dict[Core, Operation] = {}
    if lowered is not None:
        found = dict(cores_of_lowered(lowered))
    else:
        for op in walk(kernel):
            side = lane(op)
            if side is not None and side in _CORE_OF_LANE:
                found.setdefault(_CORE_OF_LANE[side], op)
    return found or {Core.AIV: kernel}


def cores_of_lowered(kernel: func.FuncOp) -> Mapping[Core, Operation]:
    """The cores that a lowered function needs, likewise; none if nothing tells."""
    said = kernel.attributes.get(CORE)
    if isinstance(said, CoreAttr) and said.data is not Core.MIX:
        return {said.data: kernel}
    kind = kernel.attributes.get(KERNEL_KIND)
    if isinstance(kind, pto.KernelKindAttr):
        return {CORE_OF_KIND[kind.data]: kernel}
    found: dict[Core, Operation] = {}
    for op in walk(kernel):
        if isinstance(op, pto.SectionCubeOp):
            found.setdefault(Core.AIC, op)
        elif isinstance(op, pto.SectionVectorOp):
            found.setdefault(Core.AIV, op)
    return found or cores_of_tiles(kernel)


def cores_of_tiles(kernel: Operation) -> Mapping[Core, Operation]:
    """The cores that a lowered function has tiles in the memories of, each with the first op."""
    found: dict[Core, Operation] = {}
    for op in walk(kernel):
        for result in op.results:
            type = result.type
            if isinstance(type, pto.MultiTileBufType):
                type = type.slot_type
            if isinstance(type, TileBufType):
                core = Core.AIV if type.space is AddressSpace.VEC else Core.AIC
                found.setdefault(core, op)
    return found
