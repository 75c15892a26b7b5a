"""
Lowers loops and branches of a kernel: scalars stay values, tiles are handed over in places.

What a loop starts from is brought into the place of the carried tile before it, what its body
yields at the body's end, likewise for branches; most of it is there already. Tensors make no code:
a name handed over must be the name of one buffer, whatever path control took.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from pypto_xdsl.analysis.control_flow import terminator
from pypto_xdsl.analysis.tile_storage import TileStorage
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.rewriting.global_views import Window
from pypto_xdsl.rewriting.kernel_builder import KernelBuilder
from pypto_xdsl.rewriting.parallel_copies import Copy, sequence_copies
from pypto_xdsl.rewriting.tile_buffers import TileBuffers
from pypto_xdsl.syntax.lists import Index

_BOUNDS = 3
"""The operands of `scf.for` before the inits."""


class ControlFlowLowering(ABC):
    """What the values of a kernel became, and how control flow hands them over."""

    def __init__(self, builder: KernelBuilder, storage: TileStorage):
        self.builder = builder
        self.storage = storage
        self.buffers = TileBuffers(builder, storage, self.number_ahead)
        self.scalars: dict[SSAValue, SSAValue] = {}
        self.windows: dict[SSAValue, Window] = {}
        """What each tensor names."""

    @abstractmethod
    def lower(self, op: Operation) -> None:
        """Lower one op, at the builder's place."""

    @abstractmethod
    def number_ahead(self, value: SSAValue) -> SSAValue | None:
        """What a scalar became, made here if its op comes later; None if it cannot be made."""

    # Values.

    def value(self, value: SSAValue) -> SSAValue:
        """What a scalar became."""
        found = self.scalars.get(value)
        if found is None:
            raise OpError(self.builder.origin, f"uses a {value.type}, which is not lowered")
        return found

    def indices(self, indices: Sequence[Index]) -> tuple[Index, ...]:
        """What the indices of a mixed list became."""
        return tuple(i if isinstance(i, int) else self.value(i) for i in indices)

    def window(self, value: SSAValue) -> Window:
        """What a tensor names."""
        found = self.windows.get(value)
        if found is None:
            raise OpError(self.builder.origin, f"uses a {value.type} that is no buffer")
        return found

    # Loops and branches.

    def lower_for(self, op: scf.ForOp) -> None:
        """Lower a counted loop; its bounds and its index become `index`."""
        arguments = op.body.block.args[1:]
        scalars = self._enter(op, _BOUNDS, arguments, op.results)
        lower, upper, step = (
            self.builder.convert(self.value(bound), IndexType()) for bound in op.operands[:_BOUNDS]
        )
        inits = [self.value(op.operands[_BOUNDS + place]) for place in scalars]
        body = Block(arg_types=[IndexType(), *(value.type for value in inits)])
        loop = scf.ForOp(lower, upper, step, inits, body)
        induction = op.body.block.args[0]
        body.args[0].name_hint = induction.name_hint
        self._name_arguments(op, body.args[1:], [arguments[place] for place in scalars])
        body.args[0].location = op.location
        with self.builder.inside(body):
            self.scalars[induction] = self.builder.convert(body.args[0], induction.type)
            self._lower_block(op.body.block)
            end = terminator(op.body)
            self._leave(end, 0, list(zip(arguments, op.results, strict=True)))
            self._yield(end, scalars)
        self._exit(op, loop, scalars)

    def lower_while(self, op: scf.WhileOp) -> None:
        """Lower a loop with a condition."""
        before, after = op.before_region.block, op.after_region.block
        condition, end = terminator(op.before_region), terminator(op.after_region)
        scalars = self._enter(op, 0, before.args, ())
        passed = _scalar_places(condition.operands[1:])
        self._allocate([*after.args, *op.results])
        inits = [self.value(op.operands[place]) for place in scalars]
        types = [condition.operands[1 + place].type for place in passed]
        new_before = Block(arg_types=[value.type for value in inits])
        new_after = Block(arg_types=types)
        self._name_arguments(op, new_before.args, [before.args[place] for place in scalars])
        self._name_arguments(op, new_after.args, [after.args[place] for place in passed])
        with self.builder.inside(new_before):
            self._lower_block(before)
            self._leave(condition, 1, list(zip(after.args, op.results, strict=True)))
            values = [self.value(condition.operands[1 + place]) for place in passed]
            self.builder.insert_op(scf.ConditionOp(self.value(condition.operands[0]), *values))
        with self.builder.inside(new_after):
            self._lower_block(after)
            self._leave(end, 0, [(argument,) for argument in before.args])
            self._yield(end, scalars)
        loop = scf.WhileOp(inits, types, [new_before], [new_after])
        self._exit(op, loop, passed)

    def lower_if(self, op: scf.IfOp) -> None:
        """Lower a branch. How much of a tile is valid may depend on it, which makes numbers too."""
        scalars = _scalar_places(op.results)
        chosen = [result for result in op.results if self._is_chosen(result)]
        self._allocate([result for result in op.results if result not in chosen])
        for result in chosen:
            self.buffers.reserve(result)
        condition = self.value(op.cond)
        blocks: list[tuple[Block, Operation]] = []
        for region in op.regions:
            if region.first_block is not None:
                block = Block()
                with self.builder.inside(block):
                    self._lower_block(region.block)
                    end = terminator(region)
                    self._leave(end, 0, [(result,) for result in op.results])
                blocks.append((block, end))
        extents, asked = self._merged_extents(op, chosen, [end for _, end in blocks])
        for block, end in blocks:
            with self.builder.inside(block):
                values = [self.value(end.operands[place]) for place in scalars]
                for place, axis in asked:
                    extent = self.buffers.valid(end.operands[place])[axis]
                    values.append(self.builder.index(extent))
                self.builder.insert_op(scf.YieldOp(*values))
        types = [op.results[place].type for place in scalars] + [IndexType()] * len(asked)
        regions = [Region(block) for block, _ in blocks]
        new = scf.IfOp(condition, types, regions[0], regions[1] if len(regions) > 1 else Region())
        self._exit(op, new, scalars)
        found = dict(zip(asked, new.results[len(scalars) :], strict=True))
        for result in chosen:
            valid = [found.get((result.index, i), e) for i, e in enumerate(extents[result])]
            self.buffers.set_extents(result, valid)
            self.buffers.allocate(result)

    def _is_chosen(self, result: OpResult) -> bool:
        """Whether it is known at run time only how much of what branches yield is valid."""
        type = result.type
        return isinstance(type, TileType) and not self.buffers.knows_extents(result)

    def _merged_extents(
        self, op: scf.IfOp, results: Sequence[OpResult], ends: Sequence[Operation]
    ) -> tuple[dict[OpResult, Sequence[Index]], Sequence[tuple[int, int]]]:
        """
        The valid extents of what branches yield, as far as all agree and know them before; and the
        others: which result and which axis.
        """
        extents: dict[OpResult, Sequence[Index]] = {}
        asked: list[tuple[int, int]] = []
        for result in results:
            valid = [self.buffers.valid(end.operands[result.index]) for end in ends]
            extents[result] = valid[0]
            for axis, along in enumerate(zip(*valid, strict=True)):
                outside = isinstance(along[0], int) or self.builder.is_in_scope(along[0])
                if TileType.of(result.type).valid_shape[axis] == DYNAMIC_INDEX and not (
                    outside and all(extent == along[0] for extent in along)
                ):
                    asked.append((result.index, axis))
        return extents, asked

    def _lower_block(self, block: Block) -> None:
        last = block.last_op
        assert last is not None
        for op in block.ops:
            if op is not last:
                self.lower(op)
        self.builder.origin = last

    # Handing over.

    def _enter(
        self,
        op: Operation,
        first: int,
        arguments: Sequence[SSAValue],
        results: Sequence[SSAValue],
    ) -> list[int]:
        """Bring what a loop starts from into its places; the places of scalars are returned."""
        for place, argument in enumerate(arguments):
            start = op.operands[first + place]
            names = [argument, *results[place : place + 1]]
            if isinstance(argument.type, TensorType):
                window = self.window(start)
                self.windows.update(dict.fromkeys(names, window))
            elif isinstance(argument.type, TileType):
                for name in names:
                    self.buffers.copy_extents(start, name)
        self._allocate([*arguments, *results])
        self._hand_over(op, first, [(argument,) for argument in arguments])
        return _scalar_places(arguments)

    def _allocate(self, values: Sequence[SSAValue]) -> None:
        """Allocate the places of tiles that control flow hands over, before it starts."""
        for value in values:
            if isinstance(value.type, TileType):
                if not self.buffers.knows_extents(value):
                    raise OpError(
                        self.builder.origin,
                        "hands over a tile whose valid region is known only at run time: "
                        f"{value.type}",
                    )
                self.buffers.allocate(value)

    def _leave(self, end: Operation, first: int, targets: Sequence[Sequence[SSAValue]]) -> None:
        """Hand over tiles at the end of a region; tensors must be the buffer they were."""
        for place, names in enumerate(targets):
            value = end.operands[first + place]
            if isinstance(value.type, TensorType):
                self._hand_over_name(end, place, value, names)
            for name in names:
                if not isinstance(name.type, TileType) or not self.buffers.knows_extents(name):
                    continue
                if self.buffers.valid(name) != self.buffers.valid(value):
                    raise OpError(
                        end, f"hands over a tile with another valid region as result {place}"
                    )
        self._hand_over(end, first, targets)

    def _hand_over_name(
        self, end: Operation, place: int, value: SSAValue, names: Sequence[SSAValue]
    ) -> None:
        window = self.window(value)
        for name in names:
            if self.windows.setdefault(name, window) != window:
                raise OpError(
                    end,
                    f"hands over another buffer as result {place}: which one it is may not "
                    "depend on control flow in a kernel",
                )

    def _hand_over(self, op: Operation, first: int, targets: Sequence[Sequence[SSAValue]]) -> None:
        """Copy the tiles that do not live in the place where they are handed over."""
        copies: list[Copy] = []
        for place, names in enumerate(targets):
            if (op, first + place) in self.storage.copies:
                value, name = op.operands[first + place], names[0]
                source, destination = self.buffers.buffer(value), self.buffers.place(name)
                if not self.buffers.knows_extents(name):
                    source = self.buffers.whole(source)
                copies.append(
                    Copy(
                        source,
                        destination,
                        self.storage.storage(value),
                        self.storage.storage(name),
                    )
                )
        if copies:
            for source, destination in sequence_copies(
                copies, lambda buffer: self.buffers.temporary(buffer, "swap")
            ):
                self.buffers.move(source, destination)

    def _name_arguments(
        self, op: Operation, new: Sequence[SSAValue], old: Sequence[SSAValue]
    ) -> None:
        for value, was in zip(new, old, strict=True):
            value.name_hint = was.name_hint
            self.scalars[was] = value
            if isinstance(value.owner, Block):
                value.location = op.location  # pyright: ignore[reportAttributeAccessIssue]

    def _yield(self, end: Operation, places: Sequence[int]) -> None:
        values = [self.value(end.operands[place]) for place in places]
        self.builder.insert_op(scf.YieldOp(*values))

    def _exit(self, op: Operation, new: Operation, places: Sequence[int]) -> None:
        self.builder.origin = op
        self.builder.insert_op(new)
        for place, value in zip(places, new.results, strict=False):
            value.name_hint = op.results[place].name_hint
            self.scalars[op.results[place]] = value


def _scalar_places(values: Sequence[SSAValue]) -> list[int]:
    return [
        place
        for place, value in enumerate(values)
        if not isinstance(value.type, TileType | TensorType)
    ]
