"""
infer-tile-memory-space: gives every tile of a kernel the on-chip memory it lives in.

Before, tiles have no memory space; after, each has one, and stands where each op that uses it
takes it:

    %x_tile = tile.load %x[0, 0] : tensor<32x128xf32> -> !tile.tile<32x128xf32>
    %y = tile.exp %x_tile : !tile.tile<32x128xf32>

becomes

    %x_tile = tile.load %x[0, 0] : tensor<32x128xf32> -> !tile.tile<32x128xf32, vec>
    %y = tile.exp %x_tile : !tile.tile<32x128xf32, vec>

Everything follows from what ops declare. Tiles that share storage (views, what loops carry, what
branches yield) share a memory. It is the one that the author wrote, else the one that an op gives
its result, else the first that a consumer takes, where the vector buffer gives way to the others:
what is loaded goes to the vector buffer or to L1 first. Where an op does not take the memory that
its operand lives in, a `tile.move` is put before it, once for each tile and memory in a block and
the blocks inside it. A part of an accumulator is taken from where it is drained to, and a product
that loops or branches hand on among vector tiles, or that is put into one, is drained there.
Whether the target has such a move is the target's business (`verify-target`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.disjoint_set import DisjointSet

from pypto_xdsl.analysis.control_flow import Forwarding, forwarding
from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import blocks_inside, walk
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose, note
from pypto_xdsl.dialects import orch, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp, OperandDeclaration, ResultDeclaration
from pypto_xdsl.dialects.ptensor import RoundMode
from pypto_xdsl.dialects.tile import Layout, MemorySpace, TileLayout, TileType
from pypto_xdsl.dialects.tile.base import made_in
from pypto_xdsl.properties.backend_pass import BackendPass
from pypto_xdsl.rewriting.locating import locate

_LOADABLE = (MemorySpace.VEC, MemorySpace.MAT)
"""Where global memory is loaded to; the other memories are filled from L1."""

_ACC = MemorySpace.ACC
_NOWHERE = (None, None)
_ROWS = Layout(TileLayout.ROW_MAJOR, TileLayout.NONE_BOX, 512)


@dataclass(frozen=True)
class InferTileMemorySpacePass(BackendPass):
    """Give every tile of a kernel the on-chip memory it lives in."""

    name = "infer-tile-memory-space"
    required = ("SSAForm", "IncoreTileOps", "SplitIncoreOrch", "NormalizedStmtStructure")
    produced = ("SSAForm", "TileMemoryInferred", "NormalizedStmtStructure")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        backend = self.backend_of(module)
        errors: list[Diagnostic] = []
        for kernel in kernels(module):
            if not kernel.is_declaration:
                errors += infer_memory_spaces(kernel, backend)
        if errors:
            raise DiagnosticsError(errors)


def infer_memory_spaces(kernel: orch.FuncOp, backend: Backend | None = None) -> list[Diagnostic]:
    """Give each tile of the kernel a memory space; the tiles that would have two are errors."""
    ops = list(walk(kernel))
    tiles = [value for op in ops for value in _defined(op) if isinstance(value.type, TileType)]
    if products := _handed_on(ops, tiles):
        _drain_handed_on(products)
        return infer_memory_spaces(kernel, backend)
    groups = _shared_storage(ops, tiles)
    spaces: dict[SSAValue, tuple[MemorySpace, Operation | SSAValue]] = {}
    errors: list[Diagnostic] = []
    for value, space, reason in _fixed_spaces(ops, tiles):
        group = groups.find(value)
        known = spaces.setdefault(group, (space, reason))
        if known[0] is not space:
            op = reason if isinstance(reason, Operation) else kernel
            errors.append(
                diagnose(
                    op,
                    f"needs a tile in {space}, but what shares its storage lives in {known[0]}",
                    (note(known[1], f"in {known[0]} because of this"),),
                )
            )
    if errors:
        return errors
    parts = [op for op in ops if _is_part_to_drain(op)]
    parts = [op for op in parts if spaces.get(groups.find(op.source), _NOWHERE)[0] is _ACC]
    if parts:
        _drain(parts)
        return infer_memory_spaces(kernel, backend)
    demands = _demands(ops, groups)
    loaded = {groups.find(value) for value in tiles if _is_loaded(value)}
    placed: dict[tuple[TileType, MemorySpace], TileType] = {}
    for value in tiles:
        group = groups.find(value)
        if group in spaces:
            space = spaces[group][0]
        else:
            space = demands.get(group, MemorySpace.VEC)
            if group in loaded and space not in _LOADABLE:
                space = MemorySpace.MAT
        type = TileType.of(value.type)
        if type.memory_space is not space:
            # Programs have few types, and making one is dear.
            key = (type, space)
            if key not in placed:
                placed[key] = type.with_space(space)
            Rewriter.replace_value_with_new_type(value, placed[key])
    for block in kernel.body.blocks:
        _move_operands(block, backend, {})
    return []


def _is_part_to_drain(op: Operation) -> TypeGuard[tile.SliceOp]:
    """Whether an op takes a part of a tile for others than the accumulator's own ops."""
    if not isinstance(op, tile.SliceOp) or TileType.of(op.result.type).memory_space is not None:
        return False
    for use in op.result.uses:
        user = use.operation
        if isinstance(user, tile.MoveOp) or not isinstance(user, DeclaredOp):
            return False
        if any(
            value is op.result and MemorySpace.VEC not in declared.spaces
            for value, declared in _constrained_operands(user)
        ):
            return False
    return True


def _drain(parts: Sequence[tile.SliceOp]) -> None:
    """
    Take parts of accumulators from the vector buffer: a part of L0C is nothing that can be passed
    on. Each accumulator is drained once, where it is made.
    """
    drained: dict[SSAValue, SSAValue] = {}
    for op in parts:
        value = op.source
        if value not in drained:
            type = TileType.of(value.type).with_space(None)
            move = tile.MoveOp(value, tile.MoveOp.moved(type, MemorySpace.VEC, _ROWS))
            block = value.owner if isinstance(value.owner, Block) else value.owner.parent_block()
            assert block is not None
            after = value.owner if isinstance(value.owner, Operation) else None
            following = block.first_op if after is None else after.next_op
            assert following is not None
            hint = None if value.name_hint is None else f"{value.name_hint}_{MemorySpace.VEC}"
            drained[value] = _insert(move, following, hint)
            locate(op.location, move)
        new = tile.SliceOp(
            drained[value],
            op.window_offsets,
            TileType.of(op.result.type).with_layout(_ROWS),
            op.valid_extents,
        )
        locate(op.location, new)
        Rewriter.replace_op(op, new)


def _is_loaded(value: SSAValue) -> bool:
    """Whether a tile comes from global memory."""
    return isinstance(value, OpResult) and any(
        isinstance(operand.type, TensorType) for operand in value.op.operands
    )


def _defined(op: Operation) -> Iterator[SSAValue]:
    """What an op defines: its results and the arguments of its blocks."""
    yield from op.results
    for block in blocks_inside(op):
        yield from block.args


def _handed_on(ops: Sequence[Operation], tiles: Sequence[SSAValue]) -> Sequence[Forwarding]:
    """
    Where control flow hands a product on that has to be drained for it: as what are vector tiles
    otherwise, or as a copy of what is used elsewhere, since nothing copies L0C.
    """
    steps = [step for op in ops for step in forwarding(op) if made_in(step.source) is _ACC]
    if not steps:
        return ()
    apart = {step.source for step in steps}
    groups = _shared_storage(ops, tiles, apart)
    vector = {
        groups.find(value)
        for value, space, _ in _fixed_spaces(ops, tiles)
        if space is MemorySpace.VEC
    }
    added_to = {
        groups.find(value)
        for op in ops
        for value, declared in _constrained_operands(op)
        if declared.spaces[0] == _ACC
    }
    return [
        step
        for step in steps
        if (group := groups.find(step.target)) not in added_to
        and (group in vector or step.source.has_more_than_one_use())
    ]


def _drain_handed_on(steps: Sequence[Forwarding]) -> None:
    for step in steps:
        # A loop hands what it starts from on to its body and to its result.
        if made_in(step.source) is _ACC:
            type = TileType.of(step.source.type)
            move = tile.MoveOp(step.source, tile.MoveOp.moved(type, MemorySpace.VEC, _ROWS))
            hint = step.source.name_hint
            step.op.operands[step.index] = _insert(move, step.op, hint and f"{hint}_vec")


def _shared_storage(
    ops: Sequence[Operation],
    tiles: Sequence[SSAValue],
    apart: AbstractSet[SSAValue] = frozenset(),
) -> DisjointSet[SSAValue]:
    """The tiles that have to be in one memory, where those `apart` are not handed on."""
    groups = DisjointSet[SSAValue](tiles)
    for op in ops:
        for step in forwarding(op):
            if isinstance(step.target.type, TileType) and step.source not in apart:
                groups.union(step.source, step.target)
        if isinstance(op, DeclaredOp):
            operands = {name: value for name, value, _ in op.declared_operands()}
            for _, result, declared in op.declared_results():
                if (
                    isinstance(result.type, TileType)
                    and declared.space_of is not None
                    and _moved_to(op, declared) is None
                ):
                    groups.union(operands[declared.space_of], result)
    return groups


def _moved_to(op: DeclaredOp, result: ResultDeclaration) -> MemorySpace | None:
    """
    Of a result with a buffer of its own in the memory of an operand: where that operand has to be
    moved first, since what makes it makes it where the op does not take it.
    """
    if result.names is not None:
        return None
    for name, value, declared in op.declared_operands():
        if name == result.space_of and declared.spaces:
            made = made_in(value)
            return None if made in (None, *declared.spaces) else MemorySpace(declared.spaces[0])
    return None


def _fixed_spaces(
    ops: Sequence[Operation], tiles: Sequence[SSAValue]
) -> Iterator[tuple[SSAValue, MemorySpace, Operation | SSAValue]]:
    """The tiles whose memory the author or an op says, and who says it."""
    for value in tiles:
        space = TileType.of(value.type).memory_space
        if space is not None:
            yield value, space, value.owner if isinstance(value.owner, Operation) else value
    for op in ops:
        if isinstance(op, DeclaredOp):
            for _, result, declared in op.declared_results():
                if not isinstance(result.type, TileType):
                    continue
                if declared.space is not None:
                    yield result, MemorySpace(declared.space), op
                elif (space := _moved_to(op, declared)) is not None:
                    yield result, space, op


def _demands(
    ops: Sequence[Operation], groups: DisjointSet[SSAValue]
) -> dict[SSAValue, MemorySpace]:
    """The memory that the consumers of each group of tiles want first."""
    demands: dict[SSAValue, MemorySpace] = {}
    for op in ops:
        for value, declared in _constrained_operands(op):
            group = groups.find(value)
            wanted = MemorySpace(declared.spaces[0])
            if demands.get(group, MemorySpace.VEC) is MemorySpace.VEC:
                demands[group] = wanted
    return demands


def _constrained_operands(op: Operation) -> Iterator[tuple[SSAValue, OperandDeclaration]]:
    if isinstance(op, DeclaredOp):
        for _, value, declared in op.declared_operands():
            if declared.spaces and isinstance(value.type, TileType):
                yield value, declared


_Moved = dict[tuple[SSAValue, MemorySpace], SSAValue]


def _move_operands(block: Block, backend: Backend | None, moved: _Moved) -> None:
    """
    Move the tiles that stand where an op in the block does not take them. `moved`: what was moved
    before, around the block.
    """
    # Blocks nest as deep as the program does, so that this may call itself.
    own: list[tuple[SSAValue, MemorySpace]] = []
    for op in tuple(block.ops):
        operands = list(op.operands)
        changed = False
        for place, (name, value, declared) in enumerate(_operands(op)):
            space = _wanted(op, value, declared)
            if space is None:
                continue
            key = (value, space)
            if key not in moved:
                moved[key] = _move(op, name, value, space, backend)
                own.append(key)
            operands[place] = _rounded(op, moved[key])
            changed = True
        if changed:
            op.operands = operands
            _follow_operands(op)
        for inner in blocks_inside(op):
            _move_operands(inner, backend, moved)
    for key in own:
        del moved[key]


def _wanted(op: Operation, value: SSAValue, declared: OperandDeclaration) -> MemorySpace | None:
    """Where an operand has to be moved to; None where the op takes it."""
    if not isinstance(value.type, TileType):
        return None
    space = value.type.memory_space
    if declared.spaces:
        return None if space in declared.spaces else MemorySpace(declared.spaces[0])
    if isinstance(op, tile.AssembleOp) and space is not MemorySpace.VEC:
        # What the cube core has passes to the vector cores before they put it into a tile.
        target = TileType.of(op.destination.type).memory_space
        return target if target is MemorySpace.VEC else None
    return None


def _rounded(op: Operation, value: SSAValue) -> SSAValue:
    """
    A tile that was moved, rounded as an accumulator is on the way into a tile of fewer bits.
    """
    if not isinstance(op, tile.AssembleOp):
        return value
    target = TileType.of(op.destination.type).element_type
    if TileType.of(value.type).element_type == target:
        return value
    return _insert(tile.CastOp(value, target, RoundMode.RINT), op, value.name_hint)


def _follow_operands(op: Operation) -> None:
    """Let the results that are tiles of an op under their next names be where these are."""
    if not isinstance(op, DeclaredOp):
        return
    operands = {name: value for name, value, _ in op.declared_operands()}
    for _, result, declared in op.declared_results():
        if isinstance(result.type, TileType) and declared.names is not None and not declared.view:
            named = operands[declared.names]
            if TileType.of(named.type).memory_space is not result.type.memory_space:
                Rewriter.replace_value_with_new_type(result, named.type)


def _operands(op: Operation) -> Iterator[tuple[str, SSAValue, OperandDeclaration]]:
    return op.declared_operands() if isinstance(op, DeclaredOp) else iter(())


def _move(
    op: Operation, name: str, value: SSAValue, space: MemorySpace, backend: Backend | None
) -> SSAValue:
    """Put a move of a tile before the op, in the layout that the op is known to want."""
    type = TileType.of(value.type)
    hint = None if value.name_hint is None else f"{value.name_hint}_{space}"
    spec = None if backend is None else backend.layout_spec(op.__class__)
    layout: Layout | None = None
    if space is MemorySpace.VEC and (
        type.memory_space is MemorySpace.ACC
        or (spec is not None and spec.operands.get(name) is TileLayout.ROW_MAJOR)
    ):
        layout = _ROWS
    move = tile.MoveOp(value, tile.MoveOp.moved(type, space, layout))
    return _insert(move, op, hint)


def _insert(new: Operation, op: Operation, hint: str | None) -> SSAValue:
    locate(op.location, new)
    (result,) = new.results
    result.name_hint = hint
    block = op.parent_block()
    assert block is not None
    block.insert_op_before(new, op)
    return result
