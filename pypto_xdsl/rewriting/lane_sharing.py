"""
Rewrites the work of one vector core to that of two, each of which has a part of the tiles.

The body is written once for both: loads and stores start further on by the core's share, what
passes between the kinds of cores passes by halves. Of a tile that does not divide evenly, the
parts have a valid region that the core's number tells. What is whole on both cores, one of them
stores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from pypto_xdsl.analysis.core_handovers import Handover
from pypto_xdsl.analysis.core_lanes import Lane
from pypto_xdsl.analysis.lane_shares import PARTS, Share, lane_shares
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.ptensor import TransportSplit, TransportSplitAttr
from pypto_xdsl.dialects.ptensor.window_writes import WindowWriteOp
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.dialects.tile.cross_core import PopOp, PushOp
from pypto_xdsl.dialects.typed_op import InferringOp
from pypto_xdsl.rewriting.index_sums import add
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.rewriting.locating import locate
from pypto_xdsl.syntax.lists import Index

_WAY_OUT = {
    0: "make an even number of them valid, or leave the split out",
    1: "split the kernel up_down, or leave the split out",
}
"""What to do about a tile that does not divide."""


class LaneSharing:
    """The body of a vector kernel while it is shared out between two cores."""

    def __init__(self, body: Block, split: TransportSplit, origin: Operation):
        """
        `origin` is where the kernel is.

        Raises `DiagnosticsError` for ops that need what the other core has.
        """
        assert split.axis is not None
        self._body = body
        self._split = split
        self._axis = split.axis
        self._shares = dict(lane_shares(body, split.axis))
        self._origin = origin
        self._last: Operation | None = None
        """What was put last at the start of the body."""
        self._lane: SSAValue | None = None
        self._first: SSAValue | None = None
        self._shifts: dict[int, SSAValue] = {}
        self._valid: dict[tuple[int, int], SSAValue] = {}

    def transport(self, op: PushOp | PopOp) -> Share:
        """
        How a tile that passes between the kinds of cores is cut; to be asked before `run`.

        Raises `OpError` for one that cannot pass by halves.
        """
        value = op.tile if isinstance(op, PushOp) else op.result
        share = self._shares.get(value)
        parts = PARTS[self._axis]
        if share is None or share.axis != self._axis:
            raise OpError(
                op,
                f"passes a tile between the cores that has no {parts} to share out over the two "
                f"vector cores: {value.type}",
            )
        type = TileType.of(value.type)
        extent, valid = type.get_shape()[share.axis], type.valid_shape[share.axis]
        known = valid != DYNAMIC_INDEX
        if share.is_even(type):
            passes = True
        elif share.is_odd(type):
            passes = isinstance(op, PopOp) or self._axis == 0
        elif isinstance(op, PopOp):
            # Rows lie one after the other: each core takes all of its part.
            passes = self._axis == 0 and extent % 2 == 0 and not (known and valid % 2)
        else:
            passes = self._axis == 0 and extent % 2 == 0
        if not passes:
            count = str(valid) if known else "a number known at run time"
            raise OpError(
                op,
                f"passes a tile between the cores of whose {extent} {parts} {count} are valid: "
                f"the two vector cores cannot pass parts of it; {_WAY_OUT[self._axis]}",
            )
        return share

    def run(self) -> None:
        """Rewrite the body."""
        ops = list(self._body.ops)
        for value in self._from_outside():
            self._take_part(value)
        self._rewrite_ops(ops)

    def _from_outside(self) -> Sequence[SSAValue]:
        """The tiles that are made before the body, whole on both cores."""
        ops = [op for outer in self._body.ops for op in walk(outer)]
        blocks = [block for op in ops for region in op.regions for block in region.blocks]
        inside: set[SSAValue] = {value for op in ops for value in op.results}
        inside.update(argument for block in (self._body, *blocks) for argument in block.args)
        return [value for value in self._shares if value not in inside]

    def _take_part(self, value: SSAValue) -> None:
        """Use the part of a tile in the body."""
        share = self._shares[value]
        whole = TileType.of(value.type)
        part = share.part(whole)
        offsets: list[Index] = [0] * whole.get_num_dims()
        offsets[share.axis] = self._shift(share.step)
        valid: list[Index] = []
        if DYNAMIC_INDEX in part.valid_shape:
            for axis, extent in enumerate(whole.valid_shape):
                is_open = extent == DYNAMIC_INDEX
                known = self._at_start(tile.ValidDimOp(value, axis)) if is_open else extent
                valid.append(known)
            valid[share.axis] = self._valid_part_at_start(valid[share.axis], share)
        window = tile.SliceOp(value, offsets, part, valid)
        own = self._at_start(window, value.name_hint)
        self._shares[own] = share
        value.replace_uses_with_if(
            own, lambda use: use.operation is not window and self._is_inside(use.operation)
        )

    def _is_inside(self, op: Operation | None) -> bool:
        while op is not None:
            if op.parent_block() is self._body:
                return True
            op = op.parent_op()
        return False

    def _rewrite_ops(self, ops: Sequence[Operation]) -> None:
        for op in ops:
            if op.regions:
                self._rewrite_control_flow(op)
            elif not op.has_trait(IsTerminator, value_if_unregistered=False):
                self._rewrite(op)

    def _rewrite_control_flow(self, op: Operation) -> None:
        blocks = [block for region in op.regions for block in region.blocks]
        for value in (*op.results, *(argument for block in blocks for argument in block.args)):
            if (share := self._shares.get(value)) is not None:
                part = share.part(TileType.of(value.type))
                new = Rewriter.replace_value_with_new_type(value, part)
                self._shares[new] = share
        for block in blocks:
            self._rewrite_ops(list(block.ops))

    def _rewrite(self, op: Operation) -> None:
        shares = [self._shares.get(value) for value in (*op.operands, *op.results)]
        if not any(shares):
            if writes_tensors(op):
                self._by_first(op)
            return
        match op:
            case tile.LoadOp():
                self._load(op)
            case WindowWriteOp():
                self._store(op)
            case PopOp():
                self._pop(op)
            case PushOp():
                self._push(op)
            case tile.SetValidShapeOp():
                share = self._shares[op.source]
                self._replace(op, tile.SetValidShapeOp(op.source, self._part_of(op, share)))
            case tile.CreateOp():
                share = self._shares[op.result]
                type = share.part(TileType.of(op.result.type))
                self._replace(op, tile.CreateOp(type, self._listed(op, type, share)))
            case tile.SliceOp():
                share = self._shares[op.result]
                type = share.part(TileType.of(op.result.type))
                valid = self._listed(op, type, share)
                self._replace(op, tile.SliceOp(op.source, op.window_offsets, type, valid))
            case tile.ValidDimOp():
                self._valid_dim(op)
            case _:
                self._rebuild(op)

    # What the cores know.

    def _at_start(self, op: IRDLOperation, hint: str | None = None) -> SSAValue:
        locate(self._origin.location, op)
        if self._last is not None:
            self._body.insert_op_after(op, self._last)
        elif (first := self._body.first_op) is not None:
            self._body.insert_op_before(op, first)
        else:
            self._body.add_op(op)
        self._last = op
        (result,) = op.results
        result.name_hint = hint
        return result

    def _constant(self, value: int) -> SSAValue:
        return self._at_start(arith.ConstantOp.from_int_and_width(value, IndexType()))

    @property
    def _core(self) -> SSAValue:
        if self._lane is None:
            self._lane = self._at_start(tile.GetSubblockIdxOp(), "core")
        return self._lane

    def _shift(self, step: int) -> SSAValue:
        """Where the part of this core starts."""
        found = self._shifts.get(step)
        if found is None:
            op = arith.MuliOp(self._core, self._constant(step))
            found = self._shifts[step] = self._at_start(op, "from")
        return found

    def _valid_part(self, whole: Index, share: Share, op: Operation) -> Index:
        """How much of this core's part is valid, of a whole of which `whole` is."""
        if whole == 2 * share.step:
            return share.step
        if isinstance(whole, int):
            key = (whole, share.step)
            if (found := self._valid.get(key)) is None:
                total = self._constant(whole)
                rest = self._at_start(arith.SubiOp(total, self._shift(share.step)))
                some = self._at_start(arith.MaxSIOp(rest, self._constant(0)))
                least = arith.MinSIOp(some, self._constant(share.step))
                found = self._valid[key] = self._at_start(least, "own_valid")
            return found
        shift, zero, step = self._shift(share.step), self._constant(0), self._constant(share.step)
        inserter = Inserter(op)
        rest = inserter.insert(arith.SubiOp(whole, shift))
        return inserter.insert(arith.MinSIOp(inserter.insert(arith.MaxSIOp(rest, zero)), step))

    def _valid_part_at_start(self, whole: Index, share: Share) -> Index:
        if isinstance(whole, int):
            return self._valid_part(whole, share, self._origin)
        rest = self._at_start(arith.SubiOp(whole, self._shift(share.step)))
        some = self._at_start(arith.MaxSIOp(rest, self._constant(0)))
        return self._at_start(arith.MinSIOp(some, self._constant(share.step)))

    def _by_first(self, op: Operation) -> None:
        """Let the first core do what is the same on both."""
        if self._first is None:
            zero = self._constant(0)
            self._first = self._at_start(arith.CmpiOp(self._core, zero, "eq"), "is_first")
        guard_first(op, self._first)

    # Ops.

    def _replace(self, op: Operation, new: Operation, count: Index | None = None) -> None:
        """
        Put `new` in the place of `op`; its results have the parts of what those of `op` have, of
        which `count` is valid along the axis, where the type does not say it.
        """
        locate(op.location, new)
        block = op.parent_block()
        assert block is not None
        block.insert_op_before(new, op)
        results: list[SSAValue] = []
        for old, result in zip(op.results, new.results, strict=True):
            result.name_hint = old.name_hint
            value: SSAValue = result
            share = self._shares.get(old)
            if share is not None:
                whole = TileType.of(old.type)
                part = share.part(whole)
                if result.type != part:
                    assert TileType.of(result.type).get_shape() == part.get_shape()
                    value = self._narrowed(op, result, whole, share, count)
                self._shares[value] = share
            results.append(value)
        Rewriter.replace_op(op, [], results)

    def _narrowed(
        self, op: Operation, value: SSAValue, whole: TileType, share: Share, count: Index | None
    ) -> SSAValue:
        """A part of a tile, with the valid region that it has on this core."""
        known = whole.valid_shape[share.axis]
        if known != DYNAMIC_INDEX:
            count = known
        if count is None or count == DYNAMIC_INDEX:
            raise OpError(
                op,
                "makes a tile whose valid region is known at run time only, and does not say it: "
                "the two vector cores of the group cannot share it out",
            )
        inserter = Inserter(op)
        valid: list[Index] = list(TileType.of(value.type).valid_shape)
        for axis, extent in enumerate(valid):
            if extent == DYNAMIC_INDEX:
                valid[axis] = inserter.insert(tile.ValidDimOp(value, axis))
        valid[share.axis] = self._valid_part(count, share, op)
        return inserter.insert(tile.SetValidShapeOp(value, valid), value.name_hint)

    def _part_of(
        self,
        op: tile.LoadOp | tile.SliceOp | tile.CreateOp | tile.SetValidShapeOp,
        share: Share,
    ) -> Sequence[Index]:
        """The valid extents of the part of what an op makes."""
        valid: list[Index] = list(op.valid_extents or TileType.of(op.result.type).valid_shape)
        valid[share.axis] = self._valid_part(valid[share.axis], share, op)
        return valid

    def _listed(
        self, op: tile.LoadOp | tile.SliceOp | tile.CreateOp, part: TileType, share: Share
    ) -> Sequence[Index]:
        """The same, where the type of the part does not say all of them."""
        return self._part_of(op, share) if DYNAMIC_INDEX in part.valid_shape else ()

    def _load(self, op: tile.LoadOp) -> None:
        share = self._shares[op.result]
        offsets = list(op.window_offsets)
        offsets[share.axis] = add(offsets[share.axis], self._shift(share.step), Inserter(op))
        type = share.part(TileType.of(op.result.type))
        listed = self._listed(op, type, share)
        self._replace(op, tile.LoadOp(op.source, offsets, type, listed, op.cache))

    def _store(self, op: WindowWriteOp) -> None:
        share = self._shares[op.source]
        offsets = list(op.window_offsets)
        rank = TileType.of(op.source.type).get_num_dims()
        place = len(offsets) - rank + share.axis
        offsets[place] = add(offsets[place], self._shift(share.step), Inserter(op))
        new = type(op)(
            op.source,
            op.destination,
            offsets,
            atomic=op.atomic.data,
            result_type=op.result.type,
        )
        new.attributes |= op.attributes
        self._replace(op, new)

    def _pop(self, op: PopOp) -> None:
        share = self._shares[op.result]
        whole = TileType.of(op.result.type)
        part = share.part(whole)
        valid: list[Index] = list(op.valid_extents or whole.valid_shape)
        if share.is_odd(whole):
            valid[share.axis] = self._valid_part(valid[share.axis], share, op)
            self._replace(op, type(op)(part, self._split.odd, valid))
            return
        # Where less is valid, more comes, and is narrowed.
        count, valid[share.axis] = valid[share.axis], share.step
        part = _all_of(part, share)
        listed = valid if DYNAMIC_INDEX in part.valid_shape else ()
        self._replace(op, type(op)(part, self._split, listed), count)

    def _push(self, op: PushOp) -> None:
        share = self._shares[op.tile]
        part = TileType.of(op.tile.type)
        value = op.tile
        if part != _all_of(part, share):
            # The second part lies where the first would end if all of it were valid.
            inserter = Inserter(op)
            hint = value.name_hint
            filled = tile.FillpadOp(value)
            valid: list[Index] = []
            for axis, extent in enumerate(part.valid_shape):
                if extent == DYNAMIC_INDEX and axis != share.axis:
                    valid.append(inserter.insert(tile.ValidDimOp(value, axis)))
                else:
                    valid.append(extent)
            valid[share.axis] = share.step
            inserter.insert(filled, hint)
            value = inserter.insert(tile.SetValidShapeOp(filled.result, valid), hint)
        self._replace(op, type(op)(value, self._split))

    def _valid_dim(self, op: tile.ValidDimOp) -> None:
        share = self._shares[op.source]
        if op.axis.value.data == share.axis:
            raise OpError(
                op,
                "asks how much of a tile is valid which the two vector cores share out: each "
                "knows of its part",
            )

    def _rebuild(self, op: Operation) -> None:
        """An op whose operands have been cut, or that makes a tile from nothing."""
        types: Sequence[Attribute]
        if isinstance(op, InferringOp):
            types = [
                _with_space_of(inferred, result.type)
                for inferred, result in zip(
                    op.inferred_types(op.operand_types_by_definition(), op.properties),
                    op.results,
                    strict=True,
                )
            ]
        else:
            types = [self._made(op, result) for result in op.results]
        new = type(op).create(
            operands=op.operands,
            result_types=types,
            properties=op.properties,
            attributes=op.attributes,
        )
        self._replace(op, new)

    def _made(self, op: Operation, result: SSAValue) -> Attribute:
        share = self._shares.get(result)
        if share is None:
            return result.type
        part = share.part(TileType.of(result.type))
        if any(isinstance(operand.type, TileType) for operand in op.operands):
            return part
        return _all_of(part, share)


def _all_of(part: TileType, share: Share) -> TileType:
    """The part of a core that has as much of it as any."""
    valid = list(part.valid_shape)
    valid[share.axis] = share.step
    return part.with_valid(valid)


def _with_space_of(inferred: Attribute, type: Attribute) -> Attribute:
    if isinstance(inferred, TileType) and isinstance(type, TileType):
        return inferred.with_space(type.memory_space)
    return inferred


def writes_tensors(op: Operation) -> bool:
    """Whether an op writes to global memory."""
    return isinstance(op, DeclaredOp) and any(
        effect.writes and isinstance(value.type, TensorType)
        for value, effect in op.operand_effects()
    )


def is_first_core(body: Block, origin: Operation) -> SSAValue:
    """Whether a vector core is the first of its group, at the end of a body."""
    core = tile.GetSubblockIdxOp()
    zero = arith.ConstantOp.from_int_and_width(0, IndexType())
    is_first = arith.CmpiOp(core.result, zero.result, "eq")
    for op in (core, zero, is_first):
        locate(origin.location, op)
        body.add_op(op)
    return is_first.result


def guard_first(op: Operation, is_first: SSAValue) -> Sequence[SSAValue]:
    """
    Let one core do an op that writes tensors; the other has them as they were. The results that
    take the place of those of the op.
    """
    assert isinstance(op, DeclaredOp)
    kept = [op.named_operand(result) for result in op.results]
    assert all(value is not None for value in kept)
    block = op.parent_block()
    assert block is not None
    work, rest = Block(), Block()
    types = [result.type for result in op.results]
    choice = scf.IfOp(is_first, types, Region(work), Region(rest))
    Rewriter.insert_op(choice, InsertPoint.before(op))
    for result, chosen in zip(op.results, choice.results, strict=True):
        chosen.name_hint = result.name_hint
        result.replace_all_uses_with(chosen)
    op.detach()
    ends = scf.YieldOp(*op.results), scf.YieldOp(*(value for value in kept if value is not None))
    work.add_ops((op, ends[0]))
    rest.add_op(ends[1])
    for new in (choice, *ends):
        locate(op.location, new)
    return choice.results


def share_out(
    body: Block, results: Sequence[SSAValue], split: TransportSplit, origin: Operation
) -> None:
    """
    Share a body out over both vector cores. Its last op then is an `orch.yield` of what `results`
    have become; in it, no tile passes between the kinds of cores.
    """
    end = orch.YieldOp(*results)
    locate(origin.location, end)
    body.add_op(end)
    LaneSharing(body, split, origin).run()


def share_out_halves(
    halves: Mapping[Lane, tuple[Block, Mapping[tile.MoveOp | Handover, PushOp | PopOp]]],
    results: Sequence[SSAValue],
    split: TransportSplit,
    origin: Operation,
) -> Sequence[SSAValue]:
    """
    Share the vector half of a kernel out over both vector cores, and let what passes between the
    halves pass by parts; what `results` of the vector half have become.

    `halves` are the bodies, each with its ends of what passes, by what passed before.
    """
    body, ends = halves[Lane.VECTOR]
    end = orch.YieldOp(*results)
    body.add_op(end)
    sharing = LaneSharing(body, split, origin)
    shares = {move: sharing.transport(own) for move, own in ends.items()}
    sharing.run()
    results = end.operands
    Rewriter.erase_op(end)
    for move, other in halves[Lane.CUBE][1].items():
        is_odd = isinstance(other, PushOp) and shares[move].is_odd(TileType.of(other.tile.type))
        other.properties["split"] = TransportSplitAttr(split.odd if is_odd else split)
    return results
