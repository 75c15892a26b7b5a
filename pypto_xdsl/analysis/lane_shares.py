"""
What of each tile a vector core has, where the two of a group share a kernel's work.

A kernel that is split up-down has its tiles cut between rows, one that is split left-right between
columns: a core has one half, of a tile with a single row (or column) all. Ops say along which axes
the tiles that they work on are cut together (`cut_together`), so that the cut follows a tile
through reshapes and loops; where an op needs what the other core has, there is no such cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.disjoint_set import DisjointSet

from pypto_xdsl.analysis.control_flow import forwarding
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose, note
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.dialects.typed_op import TypedOp

Node = tuple[SSAValue, int]
"""A tile, and one of its axes."""

PARTS = {0: "rows", 1: "columns"}
"""What the axes of a matrix are of."""
_OTHER = {0: "left_right", 1: "up_down"}
"""How a kernel is split that is not split along an axis."""


@dataclass(frozen=True)
class Share:
    """How a tile is cut between the two vector cores."""

    axis: int
    size: int
    """The extent of each part along the axis, as it is stored."""
    step: int
    """Where the second core's part starts in the whole: at most so much of a part is valid."""

    def is_even(self, tile: TileType) -> bool:
        """Whether as much of each part of the whole tile is valid, which is known."""
        return tile.valid_shape[self.axis] == 2 * self.step

    def is_odd(self, tile: TileType) -> bool:
        """Whether the first part has one more along the axis than the second, which is known."""
        return tile.valid_shape[self.axis] == 2 * self.step - 1

    def part(self, tile: TileType) -> TileType:
        """The type of a part of the whole tile."""
        shape, valid = list(tile.get_shape()), list(tile.valid_shape)
        shape[self.axis] = self.size
        valid[self.axis] = self.step if self.is_even(tile) else DYNAMIC_INDEX
        part = tile.with_shape(shape, valid)
        # A layout that was said stays; one that follows from the shape follows from the part's.
        is_implicit = tile.with_shape(tile.get_shape(), tile.valid_shape) == tile
        return part if is_implicit else part.with_layout(tile.layout)


def lane_shares(body: Block, axis: int) -> Mapping[SSAValue, Share]:
    """
    The share of each tile in the body of a vector kernel that is cut between two cores, where
    matrices are cut along `axis`; the others are whole on both.

    Raises `DiagnosticsError` for all ops that need what the other core has.
    """
    ops = [op for outer in body.ops for op in walk(outer)]
    nodes = list(_nodes(ops))
    classes = DisjointSet(nodes)
    known = set(nodes)
    for op in ops:
        for cut in _cuts(op):
            for node in cut[1:]:
                if node in known and cut[0] in known:
                    classes.union_left(cut[0], node)
    # What has several rows (or columns) is cut between them, and whatever is cut with it.
    cut = {classes.find(node) for node in nodes if _rank(node) <= 2 and _of_matrix(node) == axis}
    members: dict[Node, list[Node]] = {}
    for node in nodes:
        if (root := classes.find(node)) in cut:
            members.setdefault(root, []).append(node)
    chosen = {node for group in members.values() for node in group}
    errors = [error for op in ops if (error := _refusal_of(op, chosen, axis)) is not None]
    # What is cut twice follows from an op that would not be cut, if there is one.
    errors = errors or list(_cut_twice(ops, chosen, axis))
    if errors:
        raise DiagnosticsError(errors)
    shares: dict[SSAValue, Share] = {}
    for group in members.values():
        size, step = _sizes(group)
        shares.update((value, Share(along, size, step)) for value, along in group)
    return shares


def _nodes(ops: Iterable[Operation]) -> Iterator[Node]:
    """Each tile, what comes from outside too, with each axis along which it can be cut."""
    seen: set[SSAValue] = set()
    for op in ops:
        arguments = (a for region in op.regions for block in region.blocks for a in block.args)
        for value in (*op.operands, *op.results, *arguments):
            if isinstance(value.type, TileType) and value not in seen:
                seen.add(value)
                for axis, extent in enumerate(value.type.get_shape()):
                    if extent != 1:
                        yield value, axis


def _rank(node: Node) -> int:
    type = node[0].type
    return type.get_num_dims() if isinstance(type, TileType) else 0


def _of_matrix(node: Node) -> int:
    """Which axis of a matrix an axis of a tile is."""
    return node[1] + 2 - _rank(node)


def _cuts(op: Operation) -> Iterator[Sequence[Node]]:
    if isinstance(op, TypedOp):
        yield from op.cut_together()
        return
    for step in forwarding(op):
        type = step.source.type
        if isinstance(type, TileType):
            for axis in range(type.get_num_dims()):
                yield (step.source, axis), (step.target, axis)


def _sizes(group: Sequence[Node]) -> tuple[int, int]:
    """The size of a part and where the second one starts, for tiles that are cut together."""
    extents = {TileType.of(value.type).get_shape()[axis] for value, axis in group}
    valid = {TileType.of(value.type).valid_shape[axis] for value, axis in group}
    assert len(extents) == 1
    (extent,) = extents
    size = -(-extent // 2)
    if len(valid) == 1:
        (count,) = valid
        if count != DYNAMIC_INDEX and count > 0:
            # Each core has as much to do, as far as that can be.
            return size, -(-count // 2)
    return size, size


def _refusal_of(op: Operation, chosen: set[Node], axis: int) -> Diagnostic | None:
    """Why an op cannot be done by parts, some of whose tiles are cut."""
    if op.regions or op.has_trait(IsTerminator, value_if_unregistered=False):
        return None
    values = dict.fromkeys((*op.operands, *op.results))
    nodes = [(value, along) for value in values for along in range(_rank((value, 0)))]
    together = {node for cut in _cuts(op) for node in cut}
    for value, along in nodes:
        if (value, along) in chosen and (value, along) not in together:
            return _refusal(op, value, along, axis)
    return None


def _cut_twice(ops: Sequence[Operation], chosen: set[Node], axis: int) -> Iterator[Diagnostic]:
    """Errors if tiles would be cut along two axes, at the ops that turn them."""
    axes: dict[SSAValue, int] = {}
    for value, _ in chosen:
        axes[value] = axes.get(value, 0) + 1
    twice = {value for value, count in axes.items() if count > 1}
    turning = [
        op
        for op in ops
        if any(cut[0][0] in twice and len({_of_matrix(n) for n in cut}) > 1 for cut in _cuts(op))
    ]
    for op in turning or [op for op in ops if not twice.isdisjoint(op.results)]:
        yield diagnose(
            op,
            "makes a tile that would have to be cut along both axes, so that the two vector "
            f"cores can share out {PARTS[axis]}: split the kernel {_OTHER[axis]}, or leave the "
            "split out",
        )


def _refusal(op: Operation, value: SSAValue, along: int, axis: int) -> Diagnostic:
    parts = PARTS[axis]
    shared = f"whose {parts} the two vector cores share out"
    others = _OTHER[axis]
    notes = [note(value, "the tile is made here")] if value in op.operands else []
    extent = TileType.of(value.type).get_shape()[along]
    results = [r.type.get_shape() for r in op.results if isinstance(r.type, TileType)]
    if any(len(shape) > along and shape[along] == 1 != extent for shape in results):
        return diagnose(
            op,
            f"reduces over the {parts} of a tile {shared}: each has a part of the result; split "
            f"the kernel {others}, or leave the split out",
            notes,
        )
    return diagnose(
        op,
        f"needs more of a tile than a part of its {parts}, {shared}: split the kernel {others}, "
        "or leave the split out",
        notes,
    )
