"""
fuse-create-assemble-to-slice: lets a task write where its result is put in the end.

Orchestration has nothing that copies one buffer into another, so scratch that is assembled into a
larger tensor becomes the window of that tensor:

    %c  = ptensor.create : T                        %c  = ptensor.slice %o[0, 32] : U -> T
    %r  = orch.call @k(%x, %c)             ->       %r  = orch.call @k(%x, %c)
    %o1 = ptensor.assemble %r, %o[0, 32] : T, U     %o1 = ptensor.assemble %r, %o[0, 32] : T, U

The assemble stays: of a window put back where it is nothing moves, and its result is the next name
of the whole. The slice stands before the first use of the buffer, and what computes its offsets
goes with it. Only in functions of kind `orchestration`; run it before `derive-call-directions`,
which orders the tasks that now share a buffer, and before `propagate-window-strides`, which tells
kernels where the elements of a window lie.

A buffer is fused if its first use and its only assemble run equally often, the assembled tensor is
all of it, a kernel can be told where its elements will lie, and nobody can tell the difference:
between its first use and the assemble nothing else touches that part of the target, and afterwards
nothing writes either while the buffer is still read. Whatever is assembled from a buffer of its
own and is not fused is told, with the reason, in a remark; of atomic assembles and of tensors that
are no buffer of their own there is nothing to fuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.traits import is_side_effect_free

from pypto_xdsl.analysis.buffer_accesses import Access, BufferAccesses
from pypto_xdsl.analysis.buffer_roots import BufferRoots, Place, ProgramRoots, part_of
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.control_flow import Shape, shape_of
from pypto_xdsl.analysis.overlap import Overlap
from pypto_xdsl.analysis.program_order import ProgramOrder
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.tensor_strides import TensorStrides
from pypto_xdsl.diagnostics import remark
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.dialects.ptensor import AssembleOp, AtomicKind, CreateOp, SliceOp
from pypto_xdsl.dialects.ptensor.types import tensor_of, valid_shape_of
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.locating import at
from pypto_xdsl.rewriting.parameter_directions import raise_directions

MOST_ACCESSES = 64
"""So many accesses to a target are looked at for one buffer."""


@dataclass(frozen=True)
class FuseCreateAssembleToSlicePass(CheckedPass):
    """Make buffers that are assembled into a tensor windows of that tensor."""

    name = "fuse-create-assemble-to-slice"
    required = ("SplitIncoreOrch",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        program = ProgramRoots(ReturnLineage(CallGraph(module)))
        fused = {
            function
            for function in program.lineage.calls.functions
            if function.is_orchestration and _Fusion(function, program).run()
        }
        if fused:
            # Tasks write what only assembling wrote before.
            raise_directions(module, fused)


class _Fusion:
    """The buffers of one function."""

    def __init__(self, function: FuncOp, program: ProgramRoots):
        self._function = function
        self._order = ProgramOrder(function)
        self._roots: BufferRoots = program.of(function)
        self._calls = program.lineage.calls
        self._hoisted: dict[Operation, int] = {}
        """Ops that stand elsewhere by now -> when they run."""

    def run(self) -> bool:
        """Fuse what can be; whether anything was."""
        assembled: dict[CreateOp, list[AssembleOp]] = {}
        for op in self._order.ops:
            if isinstance(op, AssembleOp):
                target = self._roots.of(op.destination).roots
                for root in self._roots.of(op.source).roots:
                    create = root.op if isinstance(root, OpResult) else None
                    # A window that is put back stays in its buffer.
                    if root not in target and isinstance(create, CreateOp):
                        assembled.setdefault(create, []).append(op)
        if not assembled:
            return False
        has_fused = False
        self._overlap = Overlap(self._roots)
        self._strides = TensorStrides(self._roots)
        self._accesses = BufferAccesses(self._order, self._roots, self._calls)
        for create, assembles in assembled.items():
            reason = self._fuse(create, assembles)
            if reason is None:
                has_fused = True
                continue
            for assemble in assembles:
                if assemble.atomic.data is AtomicKind.NONE:
                    remark(assemble, f"stays a copy of a buffer of its own: {reason}")
        return has_fused

    def _fuse(self, create: CreateOp, assembles: list[AssembleOp]) -> str | None:
        """Fuse a buffer, or say why not."""
        assemble, *others = assembles
        if others:
            return f"it is assembled {len(assembles)} times"
        if assemble.atomic.data is not AtomicKind.NONE:
            return "it is added, not copied"
        if reason := self._is_other_than_all(create, assemble):
            return reason
        if not self._runs_as_often(create, assemble):
            return "it is not assembled once each time it is created"
        start = self._first_use(create)
        needed = self._needed(create, assemble, start)
        if needed is None:
            return "the target or the place in it is known only after the first use of the buffer"
        if not self._can_be_told(create, assemble):
            return "its part of the target lies in steps that only a run knows"
        later_reads: list[Access] = []
        if reason := self._interference(create, assemble, start, later_reads):
            return reason
        for op in needed:
            op.detach()
            assert start.parent is not None
            start.parent.insert_op_before(op, start)
            self._hoisted[op] = self._order.read(start) - 1
        window = SliceOp(
            assemble.destination,
            assemble.window_offsets,
            tensor_of(create.result.type),
            create.extents,
        )
        at(create, window)
        assert start.parent is not None
        start.parent.insert_op_before(window, start)
        self._hoisted[window] = self._order.read(start) - 1
        self._accesses.become_part(create.result, self._target(assemble))
        if later_reads:
            self._read_from(assemble, create, later_reads)
        create.result.replace_all_uses_with(window.result)
        create.detach()
        create.erase()
        return None

    def _read_from(self, assemble: AssembleOp, create: CreateOp, reads: list[Access]) -> None:
        """Read a buffer, after it is assembled, as the part of its target that it is by now."""
        type = tensor_of(create.result.type)
        window = SliceOp(assemble.result, assemble.window_offsets, type, create.extents)
        at(create, window)
        assert assemble.parent is not None
        assemble.parent.insert_op_after(window, assemble)
        self._hoisted[window] = self._order.read(assemble) + 1
        for read in reads:
            read.op.operands = [
                window.result if operand is read.value else operand for operand in read.op.operands
            ]

    def _is_other_than_all(self, create: CreateOp, assemble: AssembleOp) -> str | None:
        """Why what is assembled is not certain to be all of a buffer."""
        place = self._roots.of(assemble.source)
        if place.is_ambiguous:
            return "what is assembled may be in another buffer"
        if self._overlap.origin(assemble.source) is not create.result:
            return "a loop or a branch hands it on"
        created, source = tensor_of(create.result.type), tensor_of(assemble.source.type)
        if self._overlap.view(assemble.source) is not None or created != source:
            return f"what is assembled, {source}, is another view of {created}"
        if valid_shape_of(created) != created.get_shape():
            return "only a part of it is valid"
        return None

    def _can_be_told(self, create: CreateOp, assemble: AssembleOp) -> bool:
        """Whether a kernel can be told where the elements of the part of the target lie."""
        created, target = tensor_of(create.result.type), tensor_of(assemble.destination.type)
        strides = self._strides.of(assemble.destination).window(target, created)
        return strides.as_typed or all(
            step != DYNAMIC_INDEX or extent == 1
            for step, extent in zip(strides.steps, created.get_shape(), strict=True)
        )

    def _runs_as_often(self, create: CreateOp, assemble: AssembleOp) -> bool:
        """Whether two ops run once each, one after the other."""
        return not set(_blocks_around(create)).isdisjoint(_blocks_around(assemble))

    def _first_use(self, create: CreateOp) -> Operation:
        """The op beside the creation that is, or contains, the first use of the buffer."""
        first = min((use.operation for use in create.result.uses), key=self._order.read)
        start = _beside(first, create)
        assert start is not None
        return start

    def _needed(
        self, create: CreateOp, assemble: AssembleOp, start: Operation
    ) -> list[Operation] | None:
        """The ops to move before `start` for the window to be known there; None: it cannot be."""
        needed: dict[Operation, None] = {}
        todo = [assemble.destination, *assemble.offsets, *create.sizes]
        while todo:
            value = todo.pop()
            if self._is_visible(value, start):
                continue
            if (
                not isinstance(value, OpResult)
                or value.op.regions
                or not is_side_effect_free(value.op)
                or value is assemble.destination
                or value.op.parent is not start.parent
            ):
                return None
            needed[value.op] = None
            todo.extend(value.op.operands)
        return sorted(needed, key=self._time)

    def _time(self, op: Operation) -> int:
        return self._hoisted.get(op) or self._order.read(op)

    def _is_visible(self, value: SSAValue, start: Operation) -> bool:
        """Whether a value is defined before an op, where that op can use it."""
        block = value.op.parent if isinstance(value, OpResult) else value.owner
        around: Operation | None = start
        while around is not None and around.parent is not block:
            around = around.parent_op()
        if around is None:
            return False
        return not isinstance(value, OpResult) or self._time(value.op) < self._order.read(around)

    def _interference(
        self,
        create: CreateOp,
        assemble: AssembleOp,
        start: Operation,
        later_reads: list[Access],
    ) -> str | None:
        """Who could tell that the buffer is a part of its target; who reads it afterwards."""
        buffer = create.result
        first, end = self._order.read(start), self._order.read(assemble)
        last_read = end
        for access in self._accesses.of(buffer):
            if access.place.is_ambiguous or access.time < first:
                return "a loop or a branch hands it on"
            if access.op.parent_op() is self._function and access.op is self._function.return_op:
                return "it is returned too"
            if access.time > end:
                if access.writes:
                    return "it is written again after it is assembled"
                around = _beside(access.op, assemble)
                if around is None:
                    return "it is read where its target has another name"
                if access.value.type != create.result.type or self._overlap.view(access.value):
                    return "it is read as another view after it is assembled"
                last_read = self._order.leave(around)
                later_reads.append(access)
        target = self._target(assemble)
        looked_at = 0
        for access in self._accesses.between(target, first - 1, last_read):
            looked_at += 1
            if looked_at > MOST_ACCESSES:
                return f"more than {MOST_ACCESSES} ops touch its target meanwhile"
            if access.op is assemble or buffer in access.place.roots:
                continue
            if access.time <= end or access.writes:
                return "its part of the target is used by another name meanwhile"
        return None

    def _target(self, assemble: AssembleOp) -> Place:
        """Where in its target a tensor is put."""
        shape = tensor_of(assemble.source.type).get_shape()
        return part_of(self._roots.of(assemble.destination), assemble.window_offsets, shape)


def _blocks_around(op: Operation) -> Iterator[Block]:
    """The blocks around an op that run when it runs."""
    block = op.parent
    while block is not None:
        yield block
        around = block.parent_op()
        if around is None or shape_of(around) is not Shape.SEQUENCE:
            return
        block = around.parent


def _beside(op: Operation, other: Operation) -> Operation | None:
    """The op in the block of another that is, or contains, an op; None if it is outside."""
    around: Operation | None = op
    while around is not None and around.parent is not other.parent:
        around = around.parent_op()
    return around
