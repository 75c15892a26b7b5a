"""
Copies the part of a mixed kernel that one of the two kinds of cores does.

Numbers, control flow and names of tensors are copied to both halves; what touches tiles goes
where these live. A tile that is moved between the memories of the two is pushed by the one half
and popped by the other. Loops and branches hand on, in each half, the tiles of that half.

Where one half has to wait for what the other does in global memory, a tile passes that nobody reads
anything of.

Regions that are written for one vector core each (`orch.split_aiv`) are run by both; what leaves
and enters them by `tile.aic_gather` and `tile.aiv_shard` passes as these say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, TensorType
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import Rewriter

from pypto_xdsl.analysis.control_flow import terminator
from pypto_xdsl.analysis.core_handovers import Handover, Order
from pypto_xdsl.analysis.core_lanes import CORES, Lane
from pypto_xdsl.analysis.kernel_halves import crossing, half_of, half_of_type, has_regions
from pypto_xdsl.analysis.lane_shares import PARTS
from pypto_xdsl.analysis.valid_extents import Known, is_visible, valid_extent
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError, note
from pypto_xdsl.dialects import orch, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import byte_width
from pypto_xdsl.dialects.orch import SplitMode
from pypto_xdsl.dialects.ptensor import TransportSplit
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.dialects.tile.cross_core import PopOp, PushOp, RingOp
from pypto_xdsl.rewriting.handover_tiles import (
    handover_tile,
    make_handover_tile,
    split_of_handovers,
)
from pypto_xdsl.rewriting.lane_sharing import (
    guard_first,
    is_first_core,
    share_out,
    writes_tensors,
)
from pypto_xdsl.rewriting.locating import locate
from pypto_xdsl.syntax.lists import Index

_BOUNDS = 3
"""The operands of `scf.for` before the inits."""


TRANSPORT: Mapping[SplitMode, TransportSplit] = {
    SplitMode.NONE: TransportSplit.NONE,
    SplitMode.UP_DOWN: TransportSplit.UP_DOWN,
    SplitMode.LEFT_RIGHT: TransportSplit.LEFT_RIGHT,
}
"""How tiles pass to and from the two vector cores of a kernel, or region, that is split."""


def _is_for_parts(region: orch.SplitAivOp) -> bool:
    """Whether a region is written for the parts: it says where they come from or go."""
    of_one = (tile.AivShardOp, tile.AicGatherOp, tile.GetSubblockIdxOp)
    return region.core.first_use is not None or any(isinstance(op, of_one) for op in walk(region))


def _even_split(
    op: tile.AivShardOp | tile.AicGatherOp, whole: TileType, stride: IntegerAttr[Any] | None
) -> TransportSplit:
    """The split of a tile that passes by hand. Raises `OpError` if its halves are not equal."""
    split = op.split.data
    if split.axis is None:
        return split
    extent, valid = whole.get_shape()[split.axis], whole.valid_shape[split.axis]
    starts = -(-extent // 2) if stride is None else stride.value.data
    if valid == DYNAMIC_INDEX or valid != 2 * starts:
        count = "a number known at run time" if valid == DYNAMIC_INDEX else str(valid)
        raise OpError(
            op,
            f"passes a tile by halves, of which {count} of {extent} {PARTS[split.axis]} are "
            f"valid, and the second half starts at {starts}: both halves have to be as large",
        )
    return split


_HANDOVER = "handover"


def _empty(type: TileType) -> TileType:
    """A tile of which nothing is valid."""
    return type.with_valid([0] * type.get_num_dims())


class HalfCopier:
    """
    The copy of one half, while it grows; or of what a second vector core does that only keeps
    pace: it takes part in every push and pop, with tiles of which nothing is valid.
    """

    def __init__(self, half: Lane, orders: Mapping[Operation, Order], *, keeps_pace: bool = False):
        """`orders` is what the halves do before ops of the kernel."""
        self.half = half
        self._orders = orders
        self._keeps_pace = keeps_pace
        self._values: dict[SSAValue, SSAValue] = {}
        self._foreign: dict[SSAValue, Operation] = {}
        """What the other half alone has, and the op that makes it there."""
        self._is_first: SSAValue | None = None
        """Whether this is the first vector core, where regions are for both."""
        self._has_regions = False
        self._of_each: dict[SSAValue, Operation] = {}
        """Tiles of which each vector core has its own, and the region that they are from."""
        self._region: orch.SplitAivOp | None = None
        """The region that is copied."""
        self.ends: dict[tile.MoveOp | Handover, PushOp | PopOp] = {}
        """This half's end of what passes whole between the halves."""
        self._known_extents: Known = {}
        self._split_of_handovers = TransportSplit.NONE
        self._passing: dict[bool, Operation] = {}
        """What passes whole (True) and by halves (False), one op of each."""
        self.slot_size = 0
        """The bytes of the largest tile that passes."""

    def copy_body(self, kernel: orch.FuncOp) -> tuple[Block, Sequence[SSAValue]]:
        """
        The body of the half without its end, with all parameters of the kernel, and what the
        kernel returns.
        """
        body = kernel.body.block
        copy = self._block(body, body.args)
        self._has_regions = has_regions(kernel)
        self._split_of_handovers = split_of_handovers(kernel)
        if self.half is Lane.VECTOR and self._has_regions:
            self._is_first = is_first_core(copy, kernel)
        self._copy_ops(body, copy)
        last = kernel.return_op
        assert last is not None
        return copy, [self._value(value, last) for value in last.operands]

    # Values.

    def _value(self, value: SSAValue, user: Operation) -> SSAValue:
        found = self._values.get(value)
        if found is None:
            made = self._foreign.get(value)
            if self._keeps_pace:
                message = (
                    "decides what passes between the cores, by what one of the two vector cores "
                    "alone has"
                )
            else:
                message = (
                    f"is for the {self.half.value} core too, and needs what the "
                    f"{self.half.other.value} core alone has"
                )
            raise OpError(user, message, () if made is None else [note(made, "it is made here")])
        return found

    def _block(self, block: Block, kept: Iterable[BlockArgument]) -> Block:
        kept = tuple(kept)
        copy = Block(arg_types=[argument.type for argument in kept])
        for old, new in zip(kept, copy.args, strict=True):
            new.name_hint, new.location = old.name_hint, old.location
            self._values[old] = new
        return copy

    def _keeps(self, value: SSAValue) -> bool:
        if self._keeps_pace:
            return not isinstance(value.type, TileType)
        return half_of_type(value.type) is not self.half.other

    # Ops.

    def _copy_ops(self, source: Block, into: Block) -> None:
        for op in source.ops:
            if (order := self._orders.get(op)) is not None:
                self._keep(order, op, into)
            match op:
                case scf.YieldOp() | scf.ConditionOp() | orch.ReturnOp() | orch.YieldOp():
                    pass
                case scf.ForOp() | scf.IfOp() | scf.WhileOp() if self._is_not_followed(op):
                    self._skip_control_flow(op)
                case scf.ForOp():
                    self._copy_for(op, into)
                case scf.IfOp():
                    self._copy_if(op, into)
                case scf.WhileOp():
                    self._copy_while(op, into)
                case orch.SplitAivOp():
                    self._copy_region(op, into)
                case _ if op.regions:
                    raise OpError(op, "is in a mixed kernel, which is not taken apart there")
                case RingOp():
                    raise OpError(
                        op, "passes tiles by hand, in a kernel that mixes cube and vector work"
                    )
                case tile.AivShardOp():
                    self._shard(op, into)
                case tile.AicGatherOp():
                    self._gather(op, into)
                case tile.MoveOp() if (start := crossing(op)) is not None:
                    self._cross(op, start, into)
                case _ if (half := half_of(op)) is None or (
                    half is self.half and not self._keeps_pace
                ):
                    self._copy(op, into)
                case _:
                    self._skip(op)

    def _add(self, op: Operation, like: Operation, into: Block) -> None:
        locate(like.location, op)
        into.add_op(op)

    def _copy(self, op: Operation, into: Block) -> None:
        if not all(operand in self._values for operand in op.operands) and half_of(op) is None:
            # A number that this half cannot know; it is wrong only where it is needed.
            self._skip(op)
            return
        operands = [self._value(operand, op) for operand in op.operands]
        copy = op.clone(dict(zip(op.operands, operands, strict=True)))
        copy.location = op.location
        into.add_op(copy)
        results: Sequence[SSAValue] = copy.results
        if self._is_first is not None and self._region is None and writes_tensors(copy):
            # Both vector cores come here, and have the same.
            for operand in op.operands:
                if (region := self._of_each.get(operand)) is not None:
                    raise OpError(
                        op,
                        "stores a tile of which each vector core has its own, outside of the "
                        "regions for one core each",
                        [note(region, "the tile is from here")],
                    )
            results = guard_first(copy, self._is_first)
        self._values.update(zip(op.results, results, strict=True))

    def _skip(self, op: Operation) -> None:
        """What the other half does: a tensor that it writes is here the one that it was."""
        for result in op.results:
            named = op.named_operand(result) if isinstance(op, DeclaredOp) else None
            if isinstance(result.type, TensorType) and named is not None:
                self._values[result] = self._value(named, op)
            else:
                self._foreign[result] = op

    def _cross(self, op: tile.MoveOp, start: Lane, into: Block) -> None:
        if self._has_regions:
            raise OpError(
                op,
                "passes a tile between the kinds of cores, in a kernel that has regions for one "
                "vector core each: there, tile.aiv_shard and tile.aic_gather do",
            )
        self._passes(op.source)
        if self.half is start:
            push = tile.TpushToAivOp if start is Lane.CUBE else tile.TpushToAicOp
            end = push(self._pushed(op, into))
            self._add(end, op, into)
            self.ends[op] = end
            self._foreign[op.result] = op
            return
        valid = self._valid_extents(op)
        self._foreign[op.source] = op
        target = TileType.of(op.result.type)
        pop: tile.TpopFromAicOp | tile.TpopFromAivOp
        if self._keeps_pace:
            pop = tile.TpopFromAicOp(_empty(target))
            self._add(pop, op, into)
            self._add(tile.TfreeToAicOp(pop.result), op, into)
            pop.result.name_hint = op.result.name_hint
            self._foreign[op.result] = op
            return
        if start is Lane.CUBE:
            pop = tile.TpopFromAicOp(target, valid=valid)
        else:
            # Tiles come to L1; what multiplies them has them moved on.
            source = TileType.of(op.source.type)
            pop = tile.TpopFromAivOp(tile.MoveOp.moved(source, MemorySpace.MAT), valid=valid)
        self._add(pop, op, into)
        pop.result.name_hint = op.result.name_hint
        self.ends[op] = pop
        value: SSAValue = pop.result
        if value.type != target:
            move = tile.MoveOp(value, target)
            self._add(move, op, into)
            move.result.name_hint = op.result.name_hint
            value = move.result
        self._values[op.result] = value

    def _pushed(self, op: tile.MoveOp, into: Block) -> SSAValue:
        if not self._keeps_pace:
            return self._value(op.source, op)
        create = tile.CreateOp(_empty(TileType.of(op.source.type)))
        self._add(create, op, into)
        create.result.name_hint = op.source.name_hint
        return create.result

    def _valid_extents(self, op: tile.MoveOp) -> Sequence[Index]:
        """What the half that pops a tile has to know of its valid region."""
        extents: list[Index] = []
        types = TileType.of(op.source.type).valid_shape
        if DYNAMIC_INDEX not in types or self._keeps_pace:
            return ()
        for axis in range(len(types)):
            extent = valid_extent(op.source, axis, self._known_extents)
            if extent is None or not (isinstance(extent, int) or is_visible(extent, op)):
                raise OpError(
                    op,
                    "passes a tile between the cores of which only the one that has it knows how "
                    f"much is valid: {op.source.type}",
                )
            extents.append(extent if isinstance(extent, int) else self._value(extent, op))
        return extents

    # Global memory.

    def _keep(self, order: Order, op: Operation, into: Block) -> None:
        """Do what the half has to do before an op."""
        for start in CORES:
            if (handover := order.handovers.get(start)) is not None:
                self._hand_over(handover, op, into)
        if self.half in order.waits and not self._keeps_pace:
            self._add(tile.BarAllOp(), op, into)

    def _hand_over(self, handover: Handover, op: Operation, into: Block) -> None:
        """Tell the other half, or wait for it."""
        split = self._split_of_handovers
        is_vector = self.half is Lane.VECTOR
        self._passes_type(handover_tile(MemorySpace.ACC, split))
        if self.half is not handover.start:
            memory = MemorySpace.VEC if is_vector else MemorySpace.MAT
            popped = tile.TpopFromAicOp if is_vector else tile.TpopFromAivOp
            type = handover_tile(memory, split)
            pop = popped(_empty(type) if self._keeps_pace else type, split)
            self._add(pop, op, into)
            pop.result.name_hint = _HANDOVER
            self.ends[handover] = pop
            if self._keeps_pace:
                self._add(tile.TfreeToAicOp(pop.result), op, into)
            return
        steps: list[Operation] = []
        if self._keeps_pace:
            steps.append(tile.CreateOp(_empty(handover_tile(MemorySpace.VEC, split))))
        else:
            steps += [tile.BarAllOp()] if handover.settles else []
            steps += make_handover_tile(self.half, split)
        (made,) = steps[-1].results
        made.name_hint = _HANDOVER
        push = tile.TpushToAicOp(made, split) if is_vector else tile.TpushToAivOp(made, split)
        for step in (*steps, push):
            self._add(step, op, into)
        self.ends[handover] = push
        is_whole = self._is_first is not None and split is TransportSplit.NONE
        if isinstance(push, tile.TpushToAicOp) and is_whole:
            self._pass_nothing_else(push, op)

    def _passes(self, value: SSAValue) -> None:
        self._passes_type(TileType.of(value.type))

    def _passes_type(self, type: TileType) -> None:
        size = prod(type.get_shape()) * byte_width(type.element_type)
        self.slot_size = max(self.slot_size, size)

    # Regions for one vector core each.

    def _copy_region(self, op: orch.SplitAivOp, into: Block) -> None:
        if self.half is Lane.VECTOR:
            core = tile.GetSubblockIdxOp()
            self._add(core, op, into)
            core.result.name_hint = op.core.name_hint
            self._values[op.core] = core.result
        else:
            self._foreign[op.core] = op
        outer, self._region = self._region, op
        split = TRANSPORT[op.mode.data]
        body = op.body.block
        if self.half is Lane.VECTOR and split.axis is not None and not _is_for_parts(op):
            # Written for the whole, to be shared out.
            for inner in walk(op):
                if inner is not op and self._hands_over(inner):
                    raise OpError(
                        inner,
                        "has to wait for what the other core of the same kernel does in global "
                        "memory, in a region that the two vector cores share out: write it for "
                        "one core each",
                    )
            whole = Block()
            self._copy_ops(body, whole)
            known = [value for value in op.yield_op.values if value in self._values]
            share_out(whole, [self._values[value] for value in known], split, op)
            end = whole.last_op
            assert end is not None
            self._values.update(zip(known, end.operands, strict=True))
            Rewriter.erase_op(end)
            for inner in list(whole.ops):
                inner.detach()
                into.add_op(inner)
        else:
            self._copy_ops(body, into)
        self._region = outer
        for result, value in zip(op.outputs, op.yield_op.values, strict=True):
            if isinstance(result.type, TileType):
                self._of_each[result] = op
            if value in self._values:
                self._values[result] = self._values[value]
            else:
                self._foreign[result] = op

    def _shard(self, op: tile.AivShardOp, into: Block) -> None:
        self._passes(op.source)
        split = self._split_of(op, TileType.of(op.source.type), op.lane_stride)
        if self.half is Lane.CUBE:
            self._add(tile.TpushToAivOp(self._value(op.source, op), split), op, into)
            self._foreign[op.result] = op
            return
        pop = tile.TpopFromAicOp(TileType.of(op.result.type), split)
        self._add(pop, op, into)
        pop.result.name_hint = op.result.name_hint
        self._values[op.result] = pop.result

    def _gather(self, op: tile.AicGatherOp, into: Block) -> None:
        whole = TileType.of(op.result.type)
        self._passes(op.result)
        split = self._split_of(op, whole, None)
        if self.half is Lane.CUBE:
            pop = tile.TpopFromAivOp(whole, split)
            self._add(pop, op, into)
            pop.result.name_hint = op.result.name_hint
            self._values[op.result] = pop.result
            return
        push = tile.TpushToAicOp(self._value(op.source, op), split)
        self._add(push, op, into)
        self._foreign[op.result] = op
        if split is TransportSplit.NONE:
            self._pass_nothing_else(push, op)

    def _pass_nothing_else(self, push: tile.TpushToAicOp, op: Operation) -> None:
        """Both have the whole tile: one of them passes it, the other keeps pace."""
        assert self._is_first is not None
        rest = self._instead(push, self._is_first)
        create = tile.CreateOp(_empty(TileType.of(push.tile.type)))
        self._add(create, op, rest)
        self._add(tile.TpushToAicOp(create.result), op, rest)
        self._add(scf.YieldOp(), op, rest)

    def _split_of(
        self,
        op: tile.AivShardOp | tile.AicGatherOp,
        whole: TileType,
        stride: IntegerAttr[Any] | None,
    ) -> TransportSplit:
        split = _even_split(op, whole, stride)
        is_whole = split is TransportSplit.NONE
        self._passing.setdefault(is_whole, op)
        if (other := self._passing.get(not is_whole)) is not None:
            how = ("whole", "by halves") if is_whole else ("by halves", "whole")
            raise OpError(
                op,
                f"passes a tile {how[0]}, where another one passes {how[1]}: the ring between "
                "the cores of a kernel does one or the other",
                [note(other, "the other one passes here")],
            )
        return split

    def _instead(self, op: Operation, condition: SSAValue) -> Block:
        """Do an op where the condition holds; the block of what is done where it does not."""
        block = op.parent_block()
        assert block is not None
        work, rest = Block(), Block()
        choice = scf.IfOp(condition, (), Region(work), Region(rest))
        op.detach()
        self._add(choice, op, block)
        work.add_op(op)
        self._add(scf.YieldOp(), op, work)
        return rest

    # Control flow.

    def _is_not_followed(self, op: scf.ForOp | scf.IfOp | scf.WhileOp) -> bool:
        """Whether this half cannot know what control does, and has no part in it."""
        count = _BOUNDS if isinstance(op, scf.ForOp) else len(op.operands)
        if all(value in self._values or not self._keeps(value) for value in op.operands[:count]):
            return False
        return not any(
            crossing(inner) is not None
            or (inner is not op and self._hands_over(inner))
            or (not self._keeps_pace and not inner.regions and half_of(inner) is self.half)
            for inner in walk(op)
        )

    def _hands_over(self, op: Operation) -> bool:
        order = self._orders.get(op)
        return order is not None and bool(order.handovers)

    def _skip_control_flow(self, op: scf.ForOp | scf.IfOp | scf.WhileOp) -> None:
        """A tensor that it hands on is, here, the one that went in."""
        for result in op.results:
            self._foreign[result] = op
            if not isinstance(result.type, TensorType):
                continue
            value: SSAValue | None
            match op:
                case scf.ForOp():
                    value = op.iter_args[result.index]
                case scf.IfOp():
                    value = terminator(op.true_region).operands[result.index]
                case scf.WhileOp():
                    value = None
            while value is not None and value not in self._values:
                owner = value.owner
                value = (
                    owner.named_operand(value)
                    if isinstance(owner, DeclaredOp) and isinstance(value, OpResult)
                    else None
                )
            if value is not None:
                self._values[result] = self._values[value]

    def _results(self, op: Operation, copy: Operation, kept: Sequence[int], into: Block) -> None:
        copy.location = op.location
        into.add_op(copy)
        for index, result in zip(kept, copy.results, strict=True):
            result.name_hint = op.results[index].name_hint
            self._values[op.results[index]] = result
        for result in op.results:
            if result not in self._values:
                self._foreign[result] = op

    def _end(
        self, block: Block, copy: Block, kept: Sequence[int], make: Callable[..., Operation]
    ) -> None:
        last = block.last_op
        assert last is not None
        offset = 1 if isinstance(last, scf.ConditionOp) else 0
        places = (*range(offset), *(offset + index for index in kept))
        end = make(*(self._value(last.operands[place], last) for place in places))
        self._add(end, last, copy)

    def _copy_for(self, op: scf.ForOp, into: Block) -> None:
        body = op.body.block
        kept = [i for i, value in enumerate(op.iter_args) if self._keeps(value)]
        operands = [self._value(operand, op) for operand in op.operands[:_BOUNDS]]
        operands += [self._value(op.iter_args[index], op) for index in kept]
        copy = self._block(body, (body.args[0], *(body.args[1 + index] for index in kept)))
        self._copy_ops(body, copy)
        self._end(body, copy, kept, scf.YieldOp)
        loop = scf.ForOp.create(
            operands=operands,
            result_types=[op.results[index].type for index in kept],
            properties=op.properties,
            attributes=op.attributes,
            regions=[Region(copy)],
        )
        self._results(op, loop, kept, into)

    def _copy_if(self, op: scf.IfOp, into: Block) -> None:
        kept = [i for i, value in enumerate(op.results) if self._keeps(value)]
        condition = self._value(op.cond, op)
        regions: list[Region] = []
        for region in op.regions:
            block = region.first_block
            if block is None:
                regions.append(Region())
                continue
            copy = self._block(block, ())
            self._copy_ops(block, copy)
            self._end(block, copy, kept, scf.YieldOp)
            regions.append(Region(copy))
        branch = scf.IfOp.create(
            operands=[condition],
            result_types=[op.results[index].type for index in kept],
            properties=op.properties,
            attributes=op.attributes,
            regions=regions,
        )
        self._results(op, branch, kept, into)

    def _copy_while(self, op: scf.WhileOp, into: Block) -> None:
        before, after = op.before_region.block, op.after_region.block
        carried = [i for i, value in enumerate(op.operands) if self._keeps(value)]
        kept = [i for i, value in enumerate(op.results) if self._keeps(value)]
        operands = [self._value(op.operands[index], op) for index in carried]
        head = self._block(before, (before.args[index] for index in carried))
        self._copy_ops(before, head)
        self._end(before, head, kept, scf.ConditionOp)
        body = self._block(after, (after.args[index] for index in kept))
        self._copy_ops(after, body)
        self._end(after, body, carried, scf.YieldOp)
        loop = scf.WhileOp.create(
            operands=operands,
            result_types=[op.results[index].type for index in kept],
            properties=op.properties,
            attributes=op.attributes,
            regions=[Region(head), Region(body)],
        )
        self._results(op, loop, kept, into)
