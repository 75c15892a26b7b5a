"""
What is left of a program when what has no meaning is taken away, for comparing two of them.

`in_canonical_order` forgets the order of independent ops, how often one value is computed and
whatever is computed for nothing: in each block, what writes or branches keeps its order, and
before each such op stands what it needs, operand by operand, each value once. A tensor's value
names one version of its buffer and may not be read after the next write (NoStaleRead), so that
reading it gives the same wherever it stands. A tile that is reshaped twice is reshaped once.

`fold_constant_indices` forgets which constants in lists of indices are ops of their own,
`without_writers` by which names a next name knows of writes, `without_names` by which of its names
a buffer is used, `in_order_of_definition` in which order a scope lists what it hands out,
`hand_out_what_is_used` what of that nobody uses or is from before it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, TensorType, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    OptOperandDef,
    VarOperandDef,
)
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator, is_side_effect_free

from pypto_xdsl.analysis.buffer_roots import ProgramRoots
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.control_flow import forwarded
from pypto_xdsl.analysis.overlap import Overlap
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import orch, ptensor, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.rewriting.unused_carries import drop_unused_carries, drop_unused_results
from pypto_xdsl.syntax.lists import Index, mixed_indices, split_indices
from pypto_xdsl.syntax.op_syntax import indices_properties, segments_property


def in_canonical_order(function: orch.FuncOp) -> None:
    """Bring the ops of a function into the order described above."""
    for op in [op for op in walk(function) if isinstance(op, tile.ReshapeOp)]:
        _skip_reshapes(op)
    for region in function.regions:
        for block in region.blocks:
            _order(block, {})


def _skip_reshapes(op: tile.ReshapeOp) -> None:
    """Let a reshape see the tile itself, not another shape of it; one to its own shape goes."""
    while isinstance(inner := op.source.owner, tile.ReshapeOp):
        op.operands = [inner.source, *op.operands[1:]]
    if op.result.type == op.source.type:
        op.result.replace_all_uses_with(op.source)


def _order(block: Block, known: dict[Hashable, Operation]) -> None:
    """`known`: the ops around the block whose results it may use again."""
    known = dict(known)
    ops = list(block.ops)
    for op in ops:
        op.detach()
    waiting = {op for op in ops if _is_free(op)}

    def place(op: Operation) -> None:
        for value in _needed(op):
            owner = value.owner
            if isinstance(owner, Operation) and owner in waiting:
                waiting.discard(owner)
                place(owner)
        if not _is_free(op):
            block.add_op(op)
            return
        key = _key(op)
        same = known.get(key)
        if same is None:
            known[key] = op
            block.add_op(op)
            return
        for old, new in zip(op.results, same.results, strict=True):
            old.replace_all_uses_with(new)
        op.drop_all_references()

    for op in ops:
        if not _is_free(op):
            place(op)
            for region in op.regions:
                for inner in region.blocks:
                    _order(inner, known)
    for op in waiting:
        # Computed for nothing, or for others that are.
        op.drop_all_references()


def _needed(op: Operation) -> list[SSAValue]:
    """What an op uses, itself or inside."""
    return [operand for inner in walk(op) for operand in inner.operands]


def _is_free(op: Operation) -> bool:
    """Whether an op only computes values from what it is given."""
    if op.regions or not op.results or op.has_trait(IsTerminator):
        return False
    if isinstance(op, DeclaredOp):
        writes = any(effect.writes for _, effect in op.operand_effects())
        tensors = any(operand.type.name == "tensor" for operand in op.operands)
        return not (writes and tensors) and (is_side_effect_free(op) or tensors)
    return is_side_effect_free(op)


def _key(op: Operation) -> Hashable:
    return (
        op.name,
        tuple(op.operands),
        tuple(sorted(op.properties.items())),
        tuple(sorted((name, value) for name, value in op.attributes.items())),
        tuple(op.result_types),
    )


def fold_constant_indices(function: orch.FuncOp) -> None:
    """Let lists of indices say their constants themselves, whatever op gave them before."""
    for op in walk(function):
        lists: dict[str, Any] = {
            name.removeprefix("static_"): value
            for name, value in op.properties.items()
            if name.startswith("static_") and isinstance(value, DenseArrayBase)
        }
        if not lists or not isinstance(op, IRDLOperation):
            continue
        groups: list[Sequence[SSAValue]] = []
        for name, definition in op.get_irdl_definition().operands:
            found: Any = getattr(op, name)
            several = isinstance(definition, VarOperandDef)
            several = several and not isinstance(definition, OptOperandDef)
            group: Sequence[SSAValue] = found if several else [found] if found else []
            if name in lists:
                indices = [_constant_index(i) for i in mixed_indices(lists[name], group)]
                known, group = split_indices(indices)
                op.properties |= indices_properties(**{f"static_{name}": known})
            groups.append(group)
        op.operands = [value for group in groups for value in group]
        if AttrSizedOperandSegments.attribute_name in op.properties:
            op.properties |= segments_property(tuple(len(group) for group in groups))


def _constant_index(index: Index) -> Index:
    owner = index.owner if isinstance(index, SSAValue) else None
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return index


def without_names(module: ModuleOp) -> None:
    """
    Forget by which of its names a buffer is used where no task lies between the names: a window
    that is put back where it is makes none, nor does a loop or branch that hands on one value.
    """
    lineage = ReturnLineage(CallGraph(module))
    roots = ProgramRoots(lineage)
    for function in lineage.calls.functions:
        overlap = Overlap(roots.of(function))
        for op in list(walk(function)):
            if isinstance(op, ptensor.AssembleOp) and _is_in_place(op, overlap):
                op.result.replace_all_uses_with(op.destination)
            elif isinstance(op, ptensor.UpdatedOp):
                op.result.replace_all_uses_with(op.source)
            else:
                continue
            op.detach()
            op.drop_all_references()
        for op in list(walk(function)):
            for value in _handed_over(op):
                if isinstance(value.type, TensorType) and (only := _only_source(value)):
                    value.replace_all_uses_with(only)
        for op in reversed(list(walk(function))):
            match op:
                case scf.IfOp():
                    drop_unused_results(op)
                case scf.ForOp():
                    drop_unused_carries(op)
                case orch.TaskScopeOp():
                    _hand_out(op, [r.index for r in op.results if r.first_use is not None])
                case scf.WhileOp():
                    _drop_carries_of_while(op)
                case _:
                    pass


def _is_in_place(assemble: ptensor.AssembleOp, overlap: Overlap) -> bool:
    view = overlap.view(assemble.source)
    if view is None or not isinstance(view.op, ptensor.SliceOp):
        return False
    return (
        overlap.origin(view.op.source) is overlap.origin(assemble.destination)
        and tuple(view.op.window_start(view) or ()) == tuple(assemble.window_offsets)
        and assemble.atomic.data is ptensor.AtomicKind.NONE
    )


def _handed_over(op: Operation) -> list[SSAValue]:
    """What control flow hands over at an op."""
    arguments = [a for region in op.regions for block in region.blocks for a in block.args]
    return [value for value in (*arguments, *op.results) if forwarded(value)]


def _only_source(value: SSAValue) -> SSAValue | None:
    """The one value that is handed over as `value`, if there is but one."""
    seen, todo, found = {value}, [value], set[SSAValue]()
    while todo:
        sources = forwarded(todo.pop())
        found |= {source for source in sources if not forwarded(source)}
        todo += [s for s in sources if forwarded(s) and s not in seen]
        seen.update(sources)
    return found.pop() if len(found) == 1 else None


def _drop_carries_of_while(loop: scf.WhileOp) -> None:
    """Take out what nobody uses, where each region hands on as many values as it gets."""
    before, after = loop.before_region.block, loop.after_region.block
    ends = before.last_op, after.last_op
    assert isinstance(ends[0], scf.ConditionOp)
    assert isinstance(ends[1], scf.YieldOp)
    for index in reversed(range(len(loop.results))):
        values = (loop.results[index], after.args[index], before.args[index])
        if len(before.args) != len(after.args) or any(value.first_use for value in values):
            continue
        ends[0].operands = [o for i, o in enumerate(ends[0].operands) if i != index + 1]
        ends[1].operands = [o for i, o in enumerate(ends[1].operands) if i != index]
        inits = [o for i, o in enumerate(loop.operands) if i != index]
        for block in (before, after):
            block.erase_arg(block.args[index])
        types = [result.type for result in loop.results if result.index != index]
        regions = [loop.detach_region(region) for region in tuple(loop.regions)]
        new = scf.WhileOp(inits, types, *regions)
        Rewriter().replace_op(loop, new, _spread(new.results, index))
        loop = new


def _spread(results: Sequence[SSAValue], missing: int) -> list[SSAValue | None]:
    spread: list[SSAValue | None] = list(results)
    spread.insert(missing, None)
    return spread


def in_order_of_definition(scope: orch.ScopeOp) -> None:
    """Let a scope hand out what is inside in the order in which it is made."""
    end = scope.body.block.last_op
    assert isinstance(end, orch.YieldOp)
    place: dict[SSAValue, int] = {}
    for op in walk(scope):
        for value in op.results:
            place[value] = len(place)
    order = sorted(range(len(end.operands)), key=lambda i: place.get(end.operands[i], -1))
    _hand_out(scope, order)


def without_writers(function: orch.FuncOp) -> None:
    """Forget by which names of a buffer the next name of another knows of writes."""
    for op in walk(function):
        if isinstance(op, ptensor.UpdatedOp):
            op.operands = [op.source]


def hand_out_what_is_used(function: orch.FuncOp) -> None:
    """
    Let scopes hand out each value once, and nothing that nobody uses, or that is from before them;
    and leave out next names of buffers that nobody uses.
    """
    changed = True
    while changed:
        changed = False
        for op in [op for op in walk(function) if isinstance(op, ptensor.UpdatedOp)]:
            if op.result.first_use is None:
                Rewriter.erase_op(op)
                changed = True
        for op in [op for op in walk(function) if isinstance(op, orch.ScopeOp)]:
            first: dict[SSAValue, SSAValue] = {}
            for result, value in zip(op.outputs, op.yield_op.values, strict=True):
                if not op.is_ancestor(_definer(value)):
                    result.replace_all_uses_with(value)
                elif first.setdefault(value, result) is not result:
                    result.replace_all_uses_with(first[value])
            used = [r.index for r in op.outputs if r.first_use is not None]
            if len(used) < len(op.outputs):
                _hand_out(op, used)
                changed = True


def _definer(value: SSAValue) -> Operation:
    """The op that a value is of, or in a region of which it is an argument."""
    owner = value.owner
    found = owner.parent_op() if isinstance(owner, Block) else owner
    assert found is not None
    return found


def _hand_out(scope: orch.ScopeOp, order: Sequence[int]) -> None:
    """Let a scope hand out these of its results, in this order."""
    end = scope.body.block.last_op
    assert isinstance(end, orch.YieldOp)
    end.operands = [end.operands[index] for index in order]
    others = scope.results[len(scope.outputs) :]
    properties = dict(scope.properties)
    sizes = properties.get(AttrSizedResultSegments.attribute_name)
    if isinstance(sizes, DenseArrayBase):
        properties[AttrSizedResultSegments.attribute_name] = DenseArrayBase.from_list(
            i32, [len(order), *(int(size) for size in sizes.get_values()[1:])]
        )
    new = type(scope).create(
        operands=scope.operands,
        result_types=[
            *(scope.results[index].type for index in order),
            *(other.type for other in others),
        ],
        properties=properties,
        attributes=scope.attributes,
        regions=[scope.detach_region(scope.body)],
    )
    results: list[SSAValue | None] = [None] * len(scope.results)
    for new_place, old_place in enumerate(order):
        results[old_place] = new.results[new_place]
    for place, other in enumerate(others):
        results[other.index] = new.results[len(order) + place]
    Rewriter().replace_op(scope, new, results)
