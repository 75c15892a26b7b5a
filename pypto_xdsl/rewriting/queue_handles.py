"""
Queues that are named by a handle, as queues with a number.

    %q = pto.initialize_l2g2l_pipe {dir_mask = 1, ...} (%gm : P, %here : i32) -> !pto.pipe
    %t = pto.declare_tile -> T
    pto.tpop(%t, %q : T, !pto.pipe) {split = 0}

    pto.aiv_initialize_pipe {id = 0, dir_mask = 1, ...} (gm_slot_buffer = %gm : P, ...)
    %t = pto.tpop_from_aic {split = 0} -> T

The two ends of a queue have the same number: that of its first flag, where it is said, else its
place among the queues that the core initializes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.ascend910b import CORE, CORE_OF_KIND, Core
from pypto_xdsl.dialects.pto import PtrType, TensorViewType
from pypto_xdsl.dialects.pto.queue import TO_CUBE, TO_VECTOR, QueueOp, number_of
from pypto_xdsl.dialects.pto.queue_handle import HandleOp
from pypto_xdsl.dialects.pto.queue_initialize import DIRECTIONS, InitializeOp
from pypto_xdsl.dialects.pto.section import SectionOp
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.rewriting.locating import at

_FLAGS = 2
"""How many flags a direction of a queue has."""


@dataclass(frozen=True)
class _Forms:
    """The ops of one core on queues with a number."""

    initialize: type[InitializeOp]
    push: type[QueueOp]
    pop: type[QueueOp]
    free: type[QueueOp]
    alloc: type[QueueOp]
    to: int
    """The direction in which it pushes."""


_FORMS = {
    Core.AIC: _Forms(
        pto.AicInitializePipeOp,
        pto.TPushToAivOp,
        pto.TPopFromAivOp,
        pto.TFreeFromAivOp,
        pto.TAllocToAivOp,
        TO_VECTOR,
    ),
    Core.AIV: _Forms(
        pto.AivInitializePipeOp,
        pto.TPushToAicOp,
        pto.TPopFromAicOp,
        pto.TFreeFromAicOp,
        pto.TAllocToAicOp,
        TO_CUBE,
    ),
}


def number_queues(kernels: Iterable[Operation]) -> None:
    """
    Give the queues of some functions, which say what core runs them, numbers in the place of
    handles. Raises `OpError` for one that no 910B has, or that cannot be followed.
    """
    kernels = tuple(kernels)
    numbered = [op.queue_id for k in kernels for op in walk(k) if isinstance(op, InitializeOp)]
    first = max(numbered, default=-1) + 1
    for kernel in kernels:
        taken: dict[Core, dict[int, Operation]] = {}
        handles = [op for op in walk(kernel) if isinstance(op, pto.InitializeL2G2LPipeOp)]
        for place, op in enumerate(handles):
            core = _core_of(op, kernel)
            flag = op.properties.get("flag_base")
            start = place * _FLAGS if flag is None else number_of(flag)
            flags = _FLAGS * (2 if number_of(op.dir_mask) == TO_VECTOR | TO_CUBE else 1)
            own = taken.setdefault(core, {})
            for number in range(start, start + flags):
                if number in own:
                    raise OpError(op, f"has flag {number}, which another queue of the core has")
                own[number] = op
            _number(op, first + start // _FLAGS, _FORMS[core])


def _core_of(op: Operation, kernel: Operation) -> Core:
    around = op.parent_op()
    while around is not None and around is not kernel:
        if isinstance(around, SectionOp):
            return CORE_OF_KIND[around.kernel_kind]
        around = around.parent_op()
    core: Any = kernel.attributes[CORE]
    if core.data is Core.MIX:
        raise OpError(
            op,
            "is an end of a queue on cores of both kinds: put it into pto.section.cube or "
            "pto.section.vector",
        )
    return core.data


def _number(op: Any, number: int, forms: _Forms) -> None:
    """Rewrite one end of a queue and what is done with it."""
    identity = IntegerAttr(number, i32)
    for use in tuple(op.pipe_handle.uses):
        user = use.operation
        if not isinstance(user, HandleOp):
            raise OpError(user, "hands a queue on: it cannot be told which one it is")
        _rewrite(user, number_of(op.dir_mask), identity, forms)
    gm = op.gm_addr
    values: dict[str, SSAValue] = {}
    if isinstance(gm.owner, pto.DeclareGlobalOp):
        raise OpError(op, "has its slots in memory without an address: give it a pointer")
    if isinstance(gm.type, PtrType):
        values["gm_slot_buffer"] = gm
    elif isinstance(gm.type, TensorViewType):
        values["gm_slot_tensor"] = gm
    else:
        raise OpError(op, f"expects a pointer or a view of global memory, got {gm.type}")
    local, peer = op.local_addr, op.peer_local_addr
    names = ["c2v_consumer_buf", "v2c_consumer_buf"]
    if number_of(op.dir_mask) == TO_CUBE:
        names.reverse()
    for name, value in zip(names, (local, peer), strict=True):
        if value is None:
            continue
        if value.type != i32:
            raise OpError(op, f"expects the address of a buffer as an i32, got {value.type}")
        values[name] = value
    kept = ("dir_mask", "slot_size", "slot_num", "local_slot_num", "nosplit", "acc_push_epilogue")
    properties = {name: op.properties[name] for name in kept if name in op.properties}
    made = at(op, build(forms.initialize, values, {}, (), {**properties, "id": identity}))
    try:
        made.verify_()
    except VerifyException as e:
        raise OpError(op, str(e)) from e
    op.parent.insert_op_before(made, op)
    op.detach()
    op.erase()


def _rewrite(op: Any, directions: int, identity: IntegerAttr[Any], forms: _Forms) -> None:
    """Rewrite what is done with a queue."""
    properties = {"id": identity, "split": op.split}
    values: dict[str, SSAValue] = {}
    declared: SSAValue | None = None
    direction = forms.to
    if isinstance(op, pto.TPushOp):
        kind = forms.push
        values["tile"] = op.tile
    elif isinstance(op, pto.TPopOp):
        kind, declared = forms.pop, op.tile
        direction = (TO_VECTOR | TO_CUBE) ^ forms.to
    elif isinstance(op, pto.TAllocOp):
        kind, declared = forms.alloc, op.entry
    else:
        kind = forms.free
        direction = (TO_VECTOR | TO_CUBE) ^ forms.to
        # The slots of tiles are told apart by their order alone.
        if op.entry is not None and isinstance(op.entry.type, TensorViewType):
            values["entry"] = op.entry
    if not direction & directions:
        raise OpError(op, f"is on a queue from {DIRECTIONS[directions]}, the other way")
    half = op.optional_operand("aiv_subblockid") if hasattr(op, "aiv_subblockid") else None
    if half is not None:
        if "aiv_subblockid" not in {info.name for info in kind.DECLARATION.operands}:
            raise OpError(op, "names a half of a tile of a vector core, and runs on a cube core")
        values["aiv_subblockid"] = half
    results = () if declared is None else (declared.type,)
    made = at(op, build(kind, values, op.attributes, results, properties))
    block: Block | None = op.parent
    assert block is not None
    block.insert_op_before(made, op)
    op.detach()
    op.erase()
    if declared is not None:
        _replace(declared, made)


def _replace(declared: SSAValue, made: Operation) -> None:
    """What was declared is what is taken of a queue, from there on."""
    owner = declared.owner
    if not isinstance(owner, pto.DeclareTileOp | pto.DeclareGlobalOp):
        raise OpError(
            made, "takes it into something that has memory: take it into a pto.declare_tile"
        )
    block = made.parent
    assert block is not None
    for use in declared.uses:
        op: Operation | None = use.operation
        while op is not None and op.parent is not block:
            op = op.parent_op()
        if op is None or not made.is_before_in_block(op):
            raise OpError(
                use.operation,
                "uses a tile that is taken of a queue later, or elsewhere: declare a tile for "
                "each time that one is taken, in the same block",
            )
    made.results[0].name_hint = declared.name_hint
    declared.replace_all_uses_with(made.results[0])
    owner.detach()
    owner.erase()


__all__ = ["number_queues"]
