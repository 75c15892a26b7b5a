"""
expand-mixed-kernel: takes kernels that mix cube and vector work apart, one for each kind of core.

The cube core and the vector cores of a group share no memory. A kernel whose tiles live in the
memories of both becomes a group of two kernels that run at the same time; a tile that moves
between them goes through a ring of slots:

    orch.func incore @mixed(...) -> (...) {
      %p = tile.matmul ... -> !tile.tile<64x64xf32, acc>
      %v = tile.move %p : !tile.tile<64x64xf32, acc> -> !tile.tile<64x64xf32, vec>
      %e = tile.exp %v : !tile.tile<64x64xf32, vec>
      ...

becomes

    orch.func aic @mixed_aic(...) {
      %slots = tile.import_peer_buffer buffer = "mixed_c2v_slots", peer_func = "mixed_aiv"
      tile.aic_initialize_pipe %slots, %none, dir_mask = 1, slot_size = 16384, slot_num = 2
      %p = tile.matmul ...
      tile.tpush_to_aiv %p

    orch.func aiv @mixed_aiv(...) -> (...) {
      %slots = tile.reserve_buffer buffer = "mixed_c2v_slots", size = 32768
      tile.aiv_initialize_pipe %slots, %none, dir_mask = 1, slot_size = 16384, slot_num = 2
      %r = scf.if %is_first_vector_core {
        %v = tile.tpop_from_aic -> !tile.tile<64x64xf32, vec>
        %e = tile.exp %v
        tile.tfree_to_aic %v
        ...
      } else {
        %v = tile.tpop_from_aic -> !tile.tile<64x64xf32, vec, valid = [0, 0]>
        tile.tfree_to_aic %v
      }

    orch.func group @mixed(...) -> (...) {
      orch.call @mixed_aic(...)
      %r = orch.call @mixed_aiv(...)
      orch.return %r

Numbers and control flow are computed by both. Where one half has to come after what the other does
in global memory, the other one tells it, by a tile that passes of which nobody reads anything:

    %z1 = tile.store %p, %z[0, 0]      of the cube core
    %v = tile.load %z1[0, 0]           of a vector core

    %z1 = tile.store %p, %z[0, 0]
    %handover = tile.create : !tile.tile<16x16xf32, acc>
    tile.tpush_to_aiv %handover

    %handover = tile.tpop_from_aic -> !tile.tile<16x16xf32, vec>
    tile.tfree_to_aic %handover
    %v = tile.load %z[0, 0]

where `tile.bar_all` stands beside these, if other pipes take part than those that push and pop
(`analysis/core_handovers.py`). An element that one half writes and the other uses is an error: the
caches of scalar units know nothing of each other.

One of the two vector cores does the work of its
half; the flags of a ring are those of both, so that the other one takes part in each push and
pop, with nothing of a tile. `inject-gm-pipe-buffer` gives the rings their slots.

A kernel that is split (`orch.split`) is run by both vector cores. Each has a part of the tiles,
the upper or lower rows (`up_down`) or the left or right columns (`left_right`):

    orch.func aiv @mixed_aiv(...) -> (...) attributes {orch.split = #orch<split up_down>} {
      %core = tile.get_subblock_idx
      %from = arith.muli %core, %c32
      %v = tile.tpop_from_aic split = up_down -> !tile.tile<32x64xf32, vec>
      %e = tile.exp %v
      tile.tfree_to_aic %v, split = up_down
      %z = tile.store %e, %y[%from, 0]

Loads and stores start at the core's part; of extents that do not divide evenly, the second core
has less, in a valid region that its number tells. What has a single row (or column) is whole on
both, and stored by the first. An op that needs what the other core has, as a sum over the axis
that is cut, is an error; so is a tile that passes between the cores whose columns do not divide
evenly.

Regions of a kernel that are written for one vector core each (`orch.split_aiv`) are run by both
as they stand, with what `tile.aiv_shard` and `tile.aic_gather` pass; one of mode `up_down` or
`left_right` that has none of these, nor asks which core it is on, is written for the whole, and
shared out as a split kernel is.
What stands around the regions is the same on both cores, and one of them stores it.

A kernel that has such regions and no cube work becomes one of the vector cores, that both run. A
split of any other kernel without cube work means nothing, and is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, UnitAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator
from xdsl.transforms.dead_code_elimination import region_dce

from pypto_xdsl.analysis.buffer_roots import ProgramRoots
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.core_handovers import Order, core_orders
from pypto_xdsl.analysis.core_lanes import CORES, Lane
from pypto_xdsl.analysis.kernel_halves import crossing, half_of, has_regions
from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError
from pypto_xdsl.dialects import orch, ptensor, tile
from pypto_xdsl.dialects.orch import FunctionKind, SplitModeAttr
from pypto_xdsl.dialects.orch.function_marks import (
    DUAL_AIV_DISPATCH,
    SLOT_NUM,
    SPLIT,
    SPLIT_AIV,
    split_mode,
)
from pypto_xdsl.dialects.tile import MemorySpace
from pypto_xdsl.properties.backend_pass import BackendPass
from pypto_xdsl.rewriting.core_halves import TRANSPORT, HalfCopier
from pypto_xdsl.rewriting.lane_sharing import share_out_halves
from pypto_xdsl.rewriting.locating import locate
from pypto_xdsl.rewriting.slot_frees import Pop, free_slots

_SPLITS = (SPLIT, SPLIT_AIV)
"""What a kernel says of the two vector cores; of its halves, the one that they run says it."""
_WANTED_SLOTS = 2
"""So that a tile can be pushed while the one before is used."""


@dataclass(frozen=True)
class ExpandMixedKernelPass(BackendPass):
    """Take kernels that mix cube and vector work apart, one for each kind of core."""

    name = "expand-mixed-kernel"
    required = ("SSAForm", "IncoreTileOps", "SplitIncoreOrch", "TileOps2D", "TileMemoryInferred")
    produced = ("SSAForm", "IncoreTileOps", "SplitIncoreOrch", "TileOps2D", "TileMemoryInferred")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        backend = self.backend_of(module)
        errors: list[Diagnostic] = []
        mixed: list[orch.FuncOp] = []
        for kernel in kernels(module):
            if kernel.kind.data is not FunctionKind.INCORE:
                continue
            try:
                if _is_mixed(kernel):
                    mixed.append(kernel)
                elif has_regions(kernel):
                    _run_on_both(kernel)
                else:
                    kernel.attributes.pop(SPLIT, None)
            except DiagnosticsError as error:
                errors += error.diagnostics
        graph = CallGraph(module)
        roots = ProgramRoots(ReturnLineage(graph))
        names = {function.sym_name.data for function in graph.functions}
        for kernel in mixed:
            try:
                orders = core_orders(kernel, roots.of(kernel))
                _Expansion(kernel, names, backend, orders).run(graph)
            except DiagnosticsError as error:
                errors += error.diagnostics
        if errors:
            raise DiagnosticsError(errors)


def _is_mixed(kernel: orch.FuncOp) -> bool:
    halves: set[Lane | None] = set()
    for op in walk(kernel):
        if (
            op.regions
            or op.has_trait(IsTerminator, value_if_unregistered=False)
            or isinstance(op, ptensor.WriteOp)
        ):
            continue
        if crossing(op) is not None:
            return True
        halves.add(half_of(op))
    return {Lane.CUBE, Lane.VECTOR} <= halves


def _run_on_both(kernel: orch.FuncOp) -> None:
    """A kernel that has regions for one vector core each, and no cube work, is run by both."""
    body, returned = HalfCopier(Lane.VECTOR, {}).copy_body(kernel)
    end = orch.ReturnOp(*returned)
    locate(kernel.location, end)
    body.add_op(end)
    kernel.body.detach_block(0)
    kernel.body.add_block(body)
    region_dce(kernel.body)
    kernel.kind = orch.FunctionKindAttr(FunctionKind.AIV)
    for mark in _SPLITS:
        kernel.attributes.pop(mark, None)
    kernel.attributes[DUAL_AIV_DISPATCH] = UnitAttr()


@dataclass(frozen=True)
class _Ring:
    """One direction of the ring of a kernel."""

    name: str
    """Of the buffer in the memory of the core that pops."""
    start: Lane
    bit: int
    """In `dir_mask`."""


class _Expansion:
    """One kernel while it is taken apart."""

    def __init__(
        self,
        kernel: orch.FuncOp,
        names: set[str],
        backend: Backend | None,
        orders: Mapping[Operation, Order],
    ):
        self.kernel = kernel
        self._orders = orders
        self._backend = backend
        self._name = kernel.sym_name.data
        self._names = names
        self._halves = {half: HalfCopier(half, orders) for half in CORES}

    def run(self, graph: CallGraph) -> None:
        kernel = self.kernel
        is_for_one_each = has_regions(kernel)
        # Regions say themselves what each core does.
        split = None if is_for_one_each else split_mode(kernel)
        returned: dict[Lane, Sequence[SSAValue]] = {}
        bodies: dict[Lane, Block] = {}
        for half, copier in self._halves.items():
            bodies[half], returned[half] = copier.copy_body(kernel)
        results = kernel.function_type.outputs.data
        names = self._name_of("aic"), self._name_of("aiv")
        if split is not None:
            halves = {half: (bodies[half], copier.ends) for half, copier in self._halves.items()}
            returned[Lane.VECTOR] = share_out_halves(
                halves, returned[Lane.VECTOR], TRANSPORT[split], kernel
            )
        cube_rings, vector_rings = self._rings(bodies, *names)
        self._finish(bodies[Lane.CUBE], cube_rings, ())
        if vector_rings and split is None and not is_for_one_each:
            returned[Lane.VECTOR] = self._guard(bodies[Lane.VECTOR], returned[Lane.VECTOR])
        self._finish(bodies[Lane.VECTOR], vector_rings, returned[Lane.VECTOR])
        aic = self._function(names[0], FunctionKind.AIC, bodies[Lane.CUBE], ())
        aiv = self._function(names[1], FunctionKind.AIV, bodies[Lane.VECTOR], results)
        if split is not None:
            aiv.attributes[SPLIT] = SplitModeAttr(split)
        elif vector_rings or is_for_one_each:
            aiv.attributes[DUAL_AIV_DISPATCH] = UnitAttr()
        for half in (aic, aiv):
            region_dce(half.body)
        block = kernel.parent_block()
        assert block is not None
        block.insert_ops_before([aic, aiv], kernel)
        uses = graph.uses_of(kernel)
        groups = [use for use in uses if graph.caller(use).kind.data is FunctionKind.GROUP]
        for use in groups:
            # The group is there: it launches both halves where it launched the whole.
            self._launch(aic, aiv, use.arguments, use)
        if not uses or len(groups) < len(uses):
            group = self._group(aic, aiv)
            block.insert_op_before(group, kernel)
        Rewriter.erase_op(kernel)

    def _name_of(self, suffix: str) -> str:
        name, number = f"{self._name}_{suffix}", 0
        while name in self._names:
            number += 1
            name = f"{self._name}_{suffix}_{number}"
        self._names.add(name)
        return name

    def _function(
        self, name: str, kind: FunctionKind, body: Block, results: Sequence[Attribute]
    ) -> orch.FuncOp:
        kernel = self.kernel
        types = kernel.function_type.inputs.data
        function = orch.FuncOp(
            name,
            kind,
            list(zip(kernel.parameter_directions, types, strict=True)),
            results,
            Region(body),
        )
        function.attributes |= {k: v for k, v in kernel.attributes.items() if k not in _SPLITS}
        locate(kernel.location, function)
        return function

    # The group.

    def _group(self, aic: orch.FuncOp, aiv: orch.FuncOp) -> orch.FuncOp:
        kernel = self.kernel
        types = kernel.function_type.inputs.data
        group = orch.FuncOp(
            self._name,
            FunctionKind.GROUP,
            list(zip(kernel.parameter_directions, types, strict=True)),
            kernel.function_type.outputs.data,
        )
        body = group.body.block
        for old, new in zip(kernel.parameters, body.args, strict=True):
            new.name_hint, new.location = old.name_hint, old.location
        calls = self._calls(aic, aiv, body.args)
        body.add_ops(calls)
        body.add_op(orch.ReturnOp(*calls[1].results))
        locate(kernel.location, group)
        return group

    def _launch(
        self,
        aic: orch.FuncOp,
        aiv: orch.FuncOp,
        arguments: Sequence[SSAValue],
        use: orch.DispatchOp,
    ) -> None:
        if not isinstance(use, orch.CallOp):
            raise OpError(use, f"submits '{self._name}' from a group, which calls its kernels")
        calls = self._calls(aic, aiv, arguments)
        for call in calls:
            locate(use.location, call)
        Rewriter.replace_op(use, calls, calls[1].results)

    def _calls(
        self, aic: orch.FuncOp, aiv: orch.FuncOp, arguments: Sequence[SSAValue]
    ) -> Sequence[orch.CallOp]:
        calls: list[orch.CallOp] = []
        for function in (aic, aiv):
            types = function.function_type.outputs.data
            call = orch.CallOp(function.sym_name.data, arguments, types)
            for result, old in zip(call.results, self._returned(), strict=False):
                result.name_hint = old.name_hint
            calls.append(call)
        return calls

    def _returned(self) -> Sequence[SSAValue]:
        last = self.kernel.return_op
        return () if last is None else last.operands

    # The halves.

    def _finish(
        self, body: Block, rings: Sequence[Operation], returned: Sequence[SSAValue]
    ) -> None:
        """Set the rings up at the start of a body, and return at its end."""
        first = body.first_op
        if first is None:
            body.add_ops(rings)
        else:
            body.insert_ops_before(rings, first)
        end = orch.ReturnOp(*returned)
        body.add_op(end)
        for op in (*rings, end):
            locate(self.kernel.location, op)

    def _guard(self, body: Block, returned: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """
        Let one vector core do the work of a body. Pushes and pops are of both, so that the other
        one takes part in them.
        """
        kernel = self.kernel
        pace, kept = HalfCopier(Lane.VECTOR, self._orders, keeps_pace=True).copy_body(kernel)
        own: dict[SSAValue, SSAValue] = dict(zip(pace.args, body.args, strict=True))
        for old, new in own.items():
            old.replace_all_uses_with(new)
        kept = [own.get(value, value) for value in kept]
        changed = [i for i, value in enumerate(returned) if value not in body.args]
        arms: list[Region] = []
        for source, values in ((body, returned), (pace, kept)):
            arm = Block()
            for op in list(source.ops):
                op.detach()
                arm.add_op(op)
            arm.add_op(scf.YieldOp(*(values[index] for index in changed)))
            arms.append(Region(arm))
        core = tile.GetSubblockIdxOp()
        zero = arith.ConstantOp.from_int_and_width(0, IndexType())
        is_first = arith.CmpiOp(core.result, zero.result, "eq")
        types = [returned[index].type for index in changed]
        work, keep_pace = arms
        choice = scf.IfOp(is_first.result, types, work, keep_pace)
        for op in (core, zero, is_first, choice):
            locate(kernel.location, op)
            body.add_op(op)
        chosen = dict(zip(changed, choice.results, strict=True))
        return [chosen.get(index, value) for index, value in enumerate(returned)]

    # The rings.

    def _rings(
        self, bodies: Mapping[Lane, Block], aic: str, aiv: str
    ) -> tuple[Sequence[Operation], Sequence[Operation]]:
        """Free the slots of what is popped; what sets the rings up, on each core."""
        pops = {half: _pops(body) for half, body in bodies.items()}
        taken = {half: free_slots(found) for half, found in pops.items()}
        if not any(pops.values()):
            return (), ()
        slot_size = max(half.slot_size for half in self._halves.values())
        slots = max(self._wanted_slots(slot_size), *taken.values())
        rings = (
            _Ring(f"{self._name}_c2v_slots", Lane.CUBE, 1),
            _Ring(f"{self._name}_v2c_slots", Lane.VECTOR, 2),
        )
        mask = sum(ring.bit for ring in rings if pops[ring.start.other])
        made: list[Sequence[Operation]] = []
        for half, peer in ((Lane.CUBE, aiv), (Lane.VECTOR, aic)):
            ends: list[Operation] = []
            for ring in rings:
                if not mask & ring.bit:
                    ends.append(arith.ConstantOp.from_int_and_width(0, i32))
                elif ring.start is half:
                    ends.append(tile.ImportPeerBufferOp(ring.name, peer))
                else:
                    ends.append(tile.ReserveBufferOp(ring.name, slot_size * slots))
            initialize = tile.AicInitializePipeOp if half is Lane.CUBE else tile.AivInitializePipeOp
            c2v, v2c = ends
            made.append(
                (c2v, v2c, initialize(c2v, v2c, dir_mask=mask, slot_size=slot_size, slot_num=slots))
            )
        cube, vector = made
        return cube, vector

    def _wanted_slots(self, slot_size: int) -> int:
        """As many as the kernel asks for, else two, if they leave half of a memory to tiles."""
        asked = self.kernel.attributes.get(SLOT_NUM)
        if isinstance(asked, IntegerAttr):
            return asked.value.data
        if self._backend is None:
            return _WANTED_SLOTS
        memories = self._backend.memories
        smallest = min(memories[space].size for space in (MemorySpace.VEC, MemorySpace.MAT))
        return max(1, min(_WANTED_SLOTS, smallest // (2 * slot_size)))


def _pops(body: Block) -> Sequence[Pop]:
    return [
        op
        for outer in body.ops
        for op in walk(outer)
        if isinstance(op, tile.TpopFromAicOp | tile.TpopFromAivOp)
    ]
