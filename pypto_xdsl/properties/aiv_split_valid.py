"""
AivSplitValid: regions that are split by hand between the vector cores hold vector work, and what
passes between the cores passes where it says so.

In a kernel with `orch.split_aiv` regions,

* a region stands in an in-core scope or function, and in no other region;
* inside, there is no cube work, and, where the tile is split, no reduction over the split axis;
* vector work stands inside (loads and stores may stand anywhere);
* a tile of the cube core enters by `tile.aiv_shard`, one of the vector cores leaves by
  `tile.aic_gather`; both stand inside regions only;
* once memory spaces are known, a shard takes an accumulator, and a gather a vector tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from pypto_xdsl.analysis.core_lanes import Lane, lane
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose, note
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import FuncOp, IncoreOp, SplitAivOp, SplitMode
from pypto_xdsl.dialects.tile import AicGatherOp, AivShardOp, MemorySpace, TileType
from pypto_xdsl.properties.registry import Property

_AXES = {SplitMode.UP_DOWN: 0, SplitMode.LEFT_RIGHT: 1}


@dataclass
class _Kernel:
    """The ops of one in-core scope or function, each with the region that it stands in."""

    ops: list[tuple[Operation, SplitAivOp | None]] = field(
        default_factory=list[tuple[Operation, SplitAivOp | None]]
    )


def _invalid_splits(module: ModuleOp) -> Iterable[Diagnostic]:
    kernels: dict[Operation, _Kernel] = {}
    inside: dict[Operation, tuple[Operation | None, SplitAivOp | None]] = {}
    """An op with regions -> the kernel and the split region that what it holds stands in."""
    for op in walk(module):
        parent = op.parent_op()
        kernel, region = (None, None) if parent is None else inside.get(parent, (None, None))
        if isinstance(op, SplitAivOp):
            if kernel is None:
                yield diagnose(
                    op,
                    "stands in no in-core scope or function: put it into an orch.incore scope",
                )
            elif region is not None:
                yield diagnose(
                    op,
                    "is inside another split region, but the vector cores are shared out once",
                    [note(region, "the enclosing region is here")],
                )
        if kernel is not None:
            kernels.setdefault(kernel, _Kernel()).ops.append((op, region))
        if isinstance(op, FuncOp):
            kernel, region = (op if op.kind.data.is_in_core else None), None
        elif isinstance(op, IncoreOp) and kernel is None:
            kernel = op
        elif isinstance(op, SplitAivOp):
            region = op
        if op.regions:
            inside[op] = (kernel, region)
    for kernel in kernels.values():
        yield from _check_kernel(kernel)


def _check_kernel(kernel: _Kernel) -> Iterator[Diagnostic]:
    region_of = dict(kernel.ops)
    is_split = any(isinstance(op, SplitAivOp) for op in region_of)
    for op, region in kernel.ops:
        if isinstance(op, AivShardOp | AicGatherOp):
            if region is None:
                yield diagnose(
                    op,
                    "stands in no split region: it says where a tile passes between the cores "
                    "of a region",
                )
            yield from _check_boundary(op)
        if not is_split:
            continue
        found = lane(op)
        if region is not None:
            if found is Lane.CUBE:
                yield diagnose(
                    op,
                    "is cube work in a split region, which the vector cores run: move it out of "
                    "the region, behind a tile.aic_gather if it needs what is computed there",
                    [note(region, "the region is here")],
                )
            elif found is Lane.VECTOR:
                yield from _check_reduction(op, region)
                yield from _check_entering(op, region, region_of)
        elif found is Lane.VECTOR:
            yield diagnose(
                op,
                "is vector work outside the split regions of its kernel: move it into one of "
                "them, with mode none if both vector cores do all of it",
            )
        elif found is Lane.CUBE:
            yield from _check_leaving(op)


def _check_boundary(op: Operation) -> Iterator[Diagnostic]:
    wanted = {AivShardOp: MemorySpace.ACC, AicGatherOp: MemorySpace.VEC}
    for kind, space in wanted.items():
        if isinstance(op, kind):
            source = op.operands[0].type
            assert isinstance(source, TileType)
            if source.memory_space not in (None, space):
                yield diagnose(
                    op,
                    f"takes a tile in {space}, got one in {source.memory_space}",
                    [note(op.operands[0], "the tile is defined here")],
                )


def _check_reduction(op: Operation, region: SplitAivOp) -> Iterator[Diagnostic]:
    axis = _AXES.get(region.mode.data)
    if axis is None or not isinstance(op, DeclaredOp):
        return
    sources = [
        operand
        for _, operand, declared in op.declared_operands()
        if not declared.workspace and _shape(operand.type) is not None
    ]
    if len(sources) != 1 or not op.results or op.named_operand(op.results[0]) is not None:
        return
    before, after = _shape(sources[0].type), _shape(op.results[0].type)
    if before is None or after is None or not len(before) == len(after) >= 2:
        return
    place = axis - 2
    if after[place] == 1 != before[place] and before[-1 - axis] == after[-1 - axis]:
        yield diagnose(
            op,
            f"reduces over the axis that the region splits ({region.mode.data.value}), so that "
            "each core has a part of the result: reduce over the other axis, or gather the parts "
            "with tile.aic_gather first",
            [note(region, "the region is here")],
        )


def _shape(type: Attribute) -> tuple[int, ...] | None:
    if isinstance(type, TileType | TensorType):
        return tuple(type.get_shape())
    return None


def _check_entering(
    op: Operation, region: SplitAivOp, region_of: dict[Operation, SplitAivOp | None]
) -> Iterator[Diagnostic]:
    """Vector work in a region uses nothing of the cube core but through a shard."""
    for operand in op.operands:
        if not isinstance(operand, OpResult):
            continue
        if region_of.get(operand.op, region) is None and lane(operand.op) is Lane.CUBE:
            yield diagnose(
                op,
                f"uses {_name(operand)} of the cube core: pass it in with tile.aiv_shard",
                [note(operand, "it is computed here, outside the region")],
            )


def _check_leaving(op: Operation) -> Iterator[Diagnostic]:
    """Cube work uses nothing of a region but through a gather."""
    for operand in op.operands:
        if not isinstance(operand, OpResult) or not isinstance(operand.op, SplitAivOp):
            continue
        value = operand.op.yield_op.values[operand.index]
        if isinstance(value, OpResult) and lane(value.op) is Lane.VECTOR:
            yield diagnose(
                op,
                f"uses {_name(operand)} of the vector cores: pass it out of the region with "
                "tile.aic_gather",
                [note(value, "it is computed here, in the region")],
            )


def _name(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "a tile"


PROPERTY = Property(
    "AivSplitValid",
    "what is split by hand between the vector cores is vector work, and passes to and from the "
    "cube core where it says so",
    _invalid_splits,
)
