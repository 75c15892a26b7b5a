"""
convert-pto-to-ascend910b: writes kernels as one core executes them.

    func.func @double(...) {
      %t = pto.alloc_tile addr = %c0_i64 : T
      pto.tload ins(...) outs(%t : T)
      pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]

becomes

    func.func @double(...) attributes {ascend910b.core = #ascend910b<core aiv>} {
      %t = ascend910b.view ub[0] : T
      pto.tload ins(...) outs(%t : T)
      ascend910b.set_flag MTE2 -> V, 0

Tiles become views of the bytes at their addresses, each spelling of an event or a barrier the one
the hardware has, and each function says which core runs it: the one that `pto.kernel_kind` names,
else the one whose memories its tiles are in; one with sections for both runs on both. Queues that
have a handle get a number. Instructions stay: they are the hardware's. What a 910B does not have is
an error at its line. A function without any event is marked to run in the order of the text, until
`insert-sync` gives it events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, ModuleOp, UnitAttr, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from pypto_xdsl.analysis.kernel_cores import cores_of_tiles
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError, diagnose, note
from pypto_xdsl.dialects import ascend910b, pto
from pypto_xdsl.dialects.ascend910b import (
    CORE,
    CORE_OF_KIND,
    PROGRAM_ORDER,
    Core,
    CoreAttr,
    FlagMode,
)
from pypto_xdsl.dialects.pto import AddressSpace, PtoOp, TileBufType
from pypto_xdsl.dialects.pto.queue import number_of
from pypto_xdsl.dialects.pto.queue_buffer import ReserveBase
from pypto_xdsl.dialects.pto.rules import constant_value
from pypto_xdsl.dialects.pto.sync import PIPE_OF
from pypto_xdsl.dialects.pto.unit_attributes import KERNEL_KIND
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.locating import rewrite
from pypto_xdsl.rewriting.queue_handles import number_queues

_BLOCK = 32
"""Bytes: what the address of a buffer is a multiple of."""

_ORDERING = (ascend910b.EventOp, ascend910b.BarrierOp)


@dataclass(frozen=True)
class ConvertPtoToAscend910bPass(CheckedPass):
    """Write kernels as one core executes them."""

    name = "convert-pto-to-ascend910b"
    required = ("SSAForm", "KernelsLowered", "AllocatedMemoryAddr")
    produced = ("SSAForm", "OnCores")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        kernels = [op for op in walk(module) if _is_kernel(op)]
        errors: list[Diagnostic] = []
        for kernel in kernels:
            errors += _set_core(kernel)
            errors += _missing(kernel)
        if errors:
            raise DiagnosticsError(errors)
        number_queues(kernels)
        for kernel in kernels:
            rewrite(kernel.regions[0], *_PATTERNS)
            rewrite(kernel.regions[0], _EraseSlots())
            _place_reserved(kernel)
            if not any(isinstance(op, _ORDERING) for op in walk(kernel)):
                kernel.attributes[PROGRAM_ORDER] = UnitAttr()


def _is_kernel(op: Operation) -> bool:
    return (
        isinstance(op, func.FuncOp)
        and op.body.first_block is not None
        and CORE not in op.attributes
    )


def _set_core(kernel: Operation) -> Iterator[Diagnostic]:
    """Say which core runs a function."""
    named: Any = kernel.attributes.get(KERNEL_KIND)
    if named is not None:
        kernel.attributes[CORE] = CoreAttr(CORE_OF_KIND[named.data])
        return
    parts = pto.SectionCubeOp | pto.SectionVectorOp | func.CallOp
    if any(isinstance(op, parts) for op in walk(kernel)):
        kernel.attributes[CORE] = CoreAttr(Core.MIX)
        return
    first = cores_of_tiles(kernel)
    if len(first) > 1:
        cube, vector = first[Core.AIC], first[Core.AIV]
        yield diagnose(
            vector,
            "is in the memory of a vector core, in a function that also uses a cube core's; a "
            "910B has no core with both: part them by pto.section.cube and pto.section.vector",
            [note(cube, "this is in the memory of a cube core")],
        )
        return
    kernel.attributes[CORE] = CoreAttr(next(iter(first), Core.AIV))


def _place_reserved(kernel: Operation) -> None:
    """Buffers of queues that have no address lie behind the tiles."""
    ends: dict[AddressSpace, int] = {}
    waiting: list[ReserveBase] = []
    for op in walk(kernel):
        if isinstance(op, ascend910b.ViewOp):
            end = (op.known_address or 0) + op.type.size_in_bytes
            ends[op.type.space] = max(ends.get(op.type.space, 0), end)
        elif isinstance(op, ReserveBase):
            if op.base is None:
                waiting.append(op)
            else:
                space = _space(op)
                end = number_of(op.base) + number_of(op.size)
                ends[space] = max(ends.get(space, 0), end)
    for op in waiting:
        space = _space(op)
        base = -(-ends.get(space, 0) // _BLOCK) * _BLOCK
        ends[space] = base + number_of(op.size)
        op.properties["base"] = IntegerAttr(base, i32)
        op.properties["autoAlloc"] = BoolAttr.from_bool(False)


def _space(op: ReserveBase) -> AddressSpace:
    memory = op.memory
    assert isinstance(memory, pto.AddressSpaceAttr)
    return memory.data


def _missing(kernel: Operation) -> Iterator[Diagnostic]:
    """What a 910B does not have."""
    for op in walk(kernel):
        if isinstance(op, pto.GetBufOp | pto.RlsBufOp):
            yield diagnose(op, "is no instruction of a 910B, which orders pipes by events")
        elif isinstance(op, pto.SetIntraBlockOp | pto.WaitIntraBlockOp):
            yield diagnose(op, "is no instruction of a 910B, whose cores wait by pto.sync.wait")
        elif isinstance(op, pto.InitializeL2LPipeOp):
            yield diagnose(
                op,
                "has its slots on chip, where another core of a 910B does not come: use "
                "pto.initialize_l2g2l_pipe, whose slots are in global memory",
            )


class _TileIsView(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, pto.AllocTileOp):
            return
        address = constant_value(op.operand("addr"))
        assert address is not None, "AllocatedMemoryAddr holds"
        rewriter.replace(op, _named(ascend910b.ViewOp(address, _tile(op), _extents(op)), op))


class _AssignedIsView(RewritePattern):
    """A tile that is moved to an address is a view of the bytes there."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, pto.TAssignOp):
            return
        address = constant_value(op.operand("addr"))
        type = _tile(op)
        extents: list[SSAValue] = []
        if pto.DYNAMIC in type.valid_shape:
            valid = pto.GetValidShapeOp(op.operand("tile"), result_types=[IndexType()] * 2)
            rewriter.insert(valid)
            extents = [
                value
                for value, extent in zip(valid.results, type.valid_shape, strict=True)
                if extent == pto.DYNAMIC
            ]
        view = ascend910b.ViewOp(op.operand("addr") if address is None else address, type, extents)
        rewriter.replace(op, _named(view, op))


class _SlotIsView(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, pto.MultiTileGetOp):
            return
        tiles, slot = op.operands[0], op.operands[1]
        owner = tiles.owner
        if not isinstance(owner, pto.AllocMultiTileOp):
            raise OpError(op, "takes a slot of tiles that no pto.alloc_multi_tile makes")
        base = constant_value(owner.operand("addr"))
        assert base is not None, "AllocatedMemoryAddr holds"
        type = _tile(op)
        number = constant_value(slot)
        extents = _extents(owner)
        if number is not None:
            address: int | SSAValue = base + number * type.size_in_bytes
        else:
            address = _slot_address(base, type.size_in_bytes, slot, rewriter)
        slots = tiles.type
        assert isinstance(slots, pto.MultiTileBufType)
        end = base + slots.count * type.size_in_bytes
        within = (base, end) if isinstance(address, SSAValue) else None
        rewriter.replace(op, _named(ascend910b.ViewOp(address, type, extents, within), op))


class _EraseSlots(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, pto.AllocMultiTileOp) and op.results[0].first_use is None:
            rewriter.erase(op)


def _slot_address(base: int, size: int, slot: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    if slot.type == IndexType():
        cast_op = arith.IndexCastOp(slot, i64)
        rewriter.insert(cast_op)
        slot = cast_op.result
    elif slot.type != i64:
        extended = arith.ExtSIOp(slot, i64)
        rewriter.insert(extended)
        slot = extended.result
    step = arith.ConstantOp(IntegerAttr(size, i64))
    offset = arith.MuliOp(slot, step.result)
    start = arith.ConstantOp(IntegerAttr(base, i64))
    address = arith.AddiOp(start.result, offset.result)
    rewriter.insert([step, offset, start, address])
    return address.result


def _tile(op: PtoOp) -> TileBufType:
    type = op.results[0].type
    assert isinstance(type, TileBufType)
    return type


def _extents(op: PtoOp) -> list[SSAValue]:
    found = (op.optional_operand(name) for name in ("valid_row", "valid_col"))
    return [value for value in found if value is not None]


def _named(view: ascend910b.ViewOp, op: PtoOp) -> ascend910b.ViewOp:
    view.result.name_hint = op.results[0].name_hint
    view.attributes.update(op.attributes)
    return view


def _pipe(attribute: Any) -> pto.Pipe:
    """The pipe that a pipe, or a kind of instruction, stands for."""
    return attribute.data if isinstance(attribute, pto.PipeAttr) else PIPE_OF[attribute.data]


def _event_number(attribute: Any) -> int:
    return list(pto.Event).index(attribute.data)


class _Events(RewritePattern):
    """`set_flag`, `wait_flag`, their forms for numbers and for kinds of instructions."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        # Rows of tables share no base class that says which of two pipes they are about.
        made = _SYNCHRONIZATION.get(type(op))
        if made is None:
            return
        assert isinstance(op, PtoOp)
        if isinstance(op, pto.RecordEventOp | pto.WaitEventOp):
            source, destination = _pipe(op.properties["src_op"]), _pipe(op.properties["dst_op"])
        else:
            source, destination = (_pipe(op.properties[f"{n}_pipe"]) for n in ("src", "dst"))
        number = op.properties.get("event_id")
        event = op.operands[0] if number is None else _event_number(number)
        rewriter.replace(op, made(source, destination, event))


_SYNCHRONIZATION: dict[type[Operation], type[ascend910b.EventOp]] = {
    pto.SetFlagOp: ascend910b.SetFlagOp,
    pto.SetFlagDynOp: ascend910b.SetFlagOp,
    pto.RecordEventOp: ascend910b.SetFlagOp,
    pto.WaitFlagOp: ascend910b.WaitFlagOp,
    pto.WaitFlagDynOp: ascend910b.WaitFlagOp,
    pto.WaitEventOp: ascend910b.WaitFlagOp,
}


class _Barriers(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, pto.BarrierOp):
            rewriter.replace(op, ascend910b.BarrierOp(_pipe(op.properties["pipe"])))
        elif isinstance(op, pto.BarrierSyncOp):
            rewriter.replace(op, ascend910b.BarrierOp(_pipe(op.properties["op_type"])))


class _Flags(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, pto.SetFftsOp):
            # Where the hardware keeps its flags is not modelled.
            rewriter.erase(op)
            return
        if isinstance(op, pto.SyncSetOp):
            rewriter.replace(op, ascend910b.SetCrossFlagOp(*_flag(op), FlagMode(op.mode)))
        elif isinstance(op, pto.SyncWaitOp):
            rewriter.replace(op, ascend910b.WaitCrossFlagOp(*_flag(op)))


def _flag(op: Operation) -> tuple[pto.Pipe, int | SSAValue]:
    known = cast("IntegerAttr[Any] | None", op.properties.get("event_id"))
    return _pipe(op.properties["pipe"]), op.operands[0] if known is None else known.value.data


_PATTERNS = (_TileIsView(), _AssignedIsView(), _SlotIsView(), _Events(), _Barriers(), _Flags())
