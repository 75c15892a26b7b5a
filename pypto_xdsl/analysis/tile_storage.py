"""
Which tiles of a kernel share storage, and where that takes a copy.

Tiles are values, storage is bytes. Three things make several values one storage:

* A *view* (`tile.reshape`) is another name of the same bytes, or of a part of them: always.
* An op that *updates* an operand (`tile.write`, `tile.matmul_acc`) writes its result over it: if
  the old value is not needed any more.
* Control flow hands a value over in a fixed place: a loop's carried tile, its result, what the
  loop starts from and what its body yields; the result of an if and what its branches yield. A
  loop and its result share always, the others if the value handed over is dead or the same.

Where sharing would overwrite a value that is still needed, the value is copied into the place
where it is handed over. Live ranges decide, over loops and branches. Ops that may write their
result over an operand but need not (`tile.add`) are not looked at: memory reuse does that later,
on what this leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import Block, Operation, OpResult, SSAValue, Use
from xdsl.utils.disjoint_set import DisjointSet

from pypto_xdsl.analysis.control_flow import Forwarding, forwarding, is_loop
from pypto_xdsl.analysis.program_order import LiveRanges, ProgramOrder
from pypto_xdsl.analysis.walk import blocks_inside
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import byte_width
from pypto_xdsl.dialects.tile import TileLayout, TileType

MayShare: TypeAlias = Callable[[DeclaredOp, int], bool]
"""Whether an op may write a result over its operand of an index, which is not used after it."""


def _declares_safe(op: DeclaredOp, index: int) -> bool:
    return op.may_share_storage(op.operands[index])


class TileStorage:
    """The storage of each tile of a kernel."""

    def __init__(self, kernel: Operation, may_share: MayShare = _declares_safe):
        self._may_share = may_share
        self.order = ProgramOrder(kernel)
        self.copies: set[tuple[Operation, int]] = set()
        """The operands that are copied: (op, index), of ops that update or hand over."""
        self._tiles = _tiles_of([kernel, *self.order.ops])
        self._views = DisjointSet[SSAValue](self._tiles)
        self._storage = DisjointSet[SSAValue](self._tiles)
        self._roots: dict[SSAValue, SSAValue] = {}
        self._parts: set[SSAValue] = set()
        """Views of a part of their storage."""
        self._updates: list[tuple[Operation, int, OpResult]] = []
        self._find_views()
        self._ranges = self._live_ranges()
        self._share()

    def storage(self, value: SSAValue) -> SSAValue:
        """The tile that stands for all that share storage with `value`."""
        return self._storage.find(value)

    def viewed(self, value: SSAValue) -> SSAValue:
        """The tile of which `value` is a view; itself, if it is no view."""
        return self._roots.get(value, value)

    def is_part(self, value: SSAValue) -> bool:
        """Whether a tile is a part of its storage, and lies where that has it."""
        return value in self._parts

    def live(self, value: SSAValue) -> LiveRanges:
        """When the storage of a tile is in use."""
        return self._classes[self._storage.find(value)]

    # Views.

    def _find_views(self) -> None:
        for value in self._tiles:
            if not isinstance(value, OpResult):
                continue
            source = viewed_operand(value)
            if source is not None:
                root = self.viewed(source)
                self._roots[value] = root
                if source in self._parts or isinstance(value.op, tile.SliceOp):
                    self._parts.add(value)
                self._views.union(source, value)
                self._storage.union(source, value)
            elif (index := updated_operand(value)) is not None:
                self._updates.append((value.op, index, value))

    # Live ranges.

    def _live_ranges(self) -> dict[SSAValue, LiveRanges]:
        """When the bytes of each set of views hold their value."""
        roots: dict[SSAValue, SSAValue] = {}
        uses: dict[SSAValue, list[tuple[Operation, int]]] = {}
        for value in self._tiles:
            content = self._views.find(value)
            if value not in self._roots:
                roots[content] = value
            uses.setdefault(content, []).extend(
                (use.operation, self._used(use)) for use in value.uses
            )
        return {
            content: self.order.ranges(_home(root), self._defined(root), uses[content])
            for content, root in roots.items()
        }

    def _defined(self, value: SSAValue) -> int:
        if isinstance(value, OpResult):
            return self.order.write(value.op)
        return self.order.block_start(_home(value))

    def _used(self, use: Use) -> int:
        """Until when an op needs an operand: longer, if no result may be written over it."""
        op = use.operation
        time = self.order.read(op)
        if not isinstance(op, DeclaredOp) or not op.results:
            return time
        used = op.operands[use.index]
        if _named_operand(op.results[0]) is not None and op.named_operand(op.results[0]) is used:
            return time
        safe = self._may_share(op, use.index) and all(
            _same_geometry(used, result) for result in op.results
        )
        return time if safe else time + 1

    # Sharing.

    def _share(self) -> None:
        ranges: dict[SSAValue, LiveRanges] = {}
        for content, live in self._ranges.items():
            ranges[self._storage.find(content)] = live
        self._classes = ranges
        for op, index, result in self._updates:
            self._share_or_copy(op, index, op.operands[index], result)
        # Inner loops and branches first: their copies would run more often.
        for op in reversed(self.order.ops):
            steps = [step for step in forwarding(op) if isinstance(step.target.type, TileType)]
            if steps:
                self._share_forwarded(op, steps)

    def _share_forwarded(self, op: Operation, steps: Sequence[Forwarding]) -> None:
        places = _places(steps)
        for place in places:
            first, *others = place
            for other in others:
                self._unite(first, other)
        for step in steps:
            if is_loop(op) and step.op.parent is op.regions[-1].block:
                # What is yielded waits in its place until the next iteration, or the end.
                waits = (self.order.read(step.op) + 1, self.order.leave(op))
                self._classes[self._storage.find(step.target)].add(waits)
        # What a body yields comes before what the loop starts from: it is copied more often.
        for inside in (True, False):
            done = set[tuple[Operation, int]]()
            for step in steps:
                key = (step.op, step.index)
                if (step.op is not op) is inside and key not in done:
                    done.add(key)
                    self._share_or_copy(step.op, step.index, step.source, step.target)

    def _unite(self, left: SSAValue, right: SSAValue) -> None:
        left, right = self._storage.find(left), self._storage.find(right)
        if left is right:
            return
        merged = self._classes.pop(left).merge(self._classes.pop(right))
        self._storage.union(left, right)
        self._classes[self._storage.find(left)] = merged

    def _share_or_copy(self, op: Operation, index: int, source: SSAValue, target: SSAValue) -> None:
        left, right = self._storage.find(source), self._storage.find(target)
        if left is right:
            return
        if source in self._parts or self._classes[left].overlaps(self._classes[right]):
            self.copies.add((op, index))
        else:
            self._unite(left, right)


def _same_geometry(left: SSAValue, right: SSAValue) -> bool:
    """Whether the elements of two tiles lie at the same bytes."""
    if left.type is right.type:
        return True
    if not isinstance(left.type, TileType) or not isinstance(right.type, TileType):
        return True
    return (
        left.type.get_shape() == right.type.get_shape()
        and left.type.layout == right.type.layout
        and byte_width(left.type.element_type) == byte_width(right.type.element_type)
    )


def _places(steps: Sequence[Forwarding]) -> list[list[SSAValue]]:
    """
    The values that control flow keeps in one place because it hands one operand over as all of
    them: the carried tile and the result of a loop.
    """
    by_operand: dict[tuple[Operation, int], list[SSAValue]] = {}
    for step in steps:
        by_operand.setdefault((step.op, step.index), []).append(step.target)
    return list(by_operand.values())


def _tiles_of(ops: Sequence[Operation]) -> list[SSAValue]:
    tiles: list[SSAValue] = []
    for op in ops:
        tiles += [result for result in op.results if isinstance(result.type, TileType)]
        for block in blocks_inside(op):
            tiles += [argument for argument in block.args if isinstance(argument.type, TileType)]
    return tiles


def _home(value: SSAValue) -> Block:
    """The block that a value is defined in."""
    owner = value.owner
    if isinstance(owner, Block):
        return owner
    block = owner.parent
    assert block is not None
    return block


def is_view_of_rows(op: tile.SliceOp) -> bool:
    """
    Whether a window of a tile is whole rows, which lie as a tile of their own would. Any other is
    copied: instructions take the rows of a tile to lie one after the other.
    """
    source, window = TileType.of(op.source.type), TileType.of(op.result.type)
    return (
        source.layout.blayout is TileLayout.ROW_MAJOR
        and source.layout.slayout is TileLayout.NONE_BOX
        and source.get_shape()[1:] == window.get_shape()[1:]
    )


def is_boxed_window(op: tile.SliceOp) -> bool:
    """
    Whether a window is of a tile whose elements lie in boxes. It only names a place there: what
    moves it on copies it from that place.
    """
    return TileType.of(op.source.type).layout.slayout is not TileLayout.NONE_BOX


def viewed_operand(value: SSAValue) -> SSAValue | None:
    """The operand of which a tile is a view, if its op only names it."""
    named = _named_operand(value)
    if named is None:
        return None
    if isinstance(value, OpResult) and isinstance(value.op, tile.SliceOp):
        in_place = is_view_of_rows(value.op) or is_boxed_window(value.op)
        return named[0] if in_place else None
    operand, writes = named
    return None if writes else operand


def updated_operand(value: SSAValue) -> int | None:
    """The index of the operand whose bytes become this tile, if its op updates one."""
    named = _named_operand(value)
    if named is None or not named[1]:
        return None
    assert isinstance(value, OpResult)
    return next(i for i, operand in enumerate(value.op.operands) if operand is named[0])


def _named_operand(value: SSAValue) -> tuple[SSAValue, bool] | None:
    """The operand whose bytes a tile has, and whether its op writes them."""
    if not isinstance(value, OpResult) or not isinstance(value.op, DeclaredOp):
        return None
    if value.op.declaration().results[value.index][1].names is None:
        return None
    operand = value.op.named_operand(value)
    if operand is None or not isinstance(operand.type, TileType):
        return None
    effects = value.op.operand_effects()
    return operand, any(effect.writes for other, effect in effects if other is operand)
