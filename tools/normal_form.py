"""
What is left of a program when what has no meaning is taken away, for comparing two of them.

`in_canonical_order` forgets the order of independent ops, how often one value is computed and
whatever is computed for nothing: in each block, what writes or branches keeps its order, and
before each such op stands what it needs, operand by operand, each value once. A tensor's value
names one version of its buffer and may not be read after the next write (NoStaleRead), so that
reading it gives the same wherever it stands.
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator, is_side_effect_free

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.declared_op import DeclaredOp


def in_canonical_order(function: orch.FuncOp) -> None:
    """Bring the ops of a function into the order described above."""
    for region in function.regions:
        for block in region.blocks:
            _order(block, {})


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
