"""Removing from branches and loops what they hand on and nobody uses."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from pypto_xdsl.analysis.control_flow import terminator


def drop_unused_results(branch: scf.IfOp) -> scf.IfOp | None:
    """
    A branch without its unused results, in its place; a result that both arms yield alike is
    that value. None if there is nothing to do.
    """
    ends = [terminator(region) for region in branch.regions if region.first_block is not None]
    for result in branch.results:
        yielded = {end.operands[result.index] for end in ends}
        if len(yielded) == 1 and result.first_use is not None:
            result.replace_all_uses_with(yielded.pop())
    kept = [result.index for result in branch.results if result.first_use is not None]
    if len(kept) == len(branch.results):
        return None
    for end in ends:
        end.operands = [end.operands[index] for index in kept]
    new = scf.IfOp.create(
        operands=branch.operands,
        result_types=[branch.results[index].type for index in kept],
        properties=branch.properties,
        attributes=branch.attributes,
        location=branch.location,
        regions=[branch.detach_region(region) for region in branch.regions],
    )
    _replace(branch, new, kept)
    return new


def drop_unused_carries(loop: scf.ForOp) -> scf.ForOp | None:
    """
    A loop without the values that it carries to no use, in its place; one that each round hands
    on as it came is what the loop starts from, but for tensors, whose carried name may be the
    next one after a write. None if there is nothing to do.
    """
    body, end = loop.body.block, terminator(loop.body)
    _, *carried = body.args
    for argument, init, result in zip(carried, loop.iter_args, loop.results, strict=True):
        is_tensor = isinstance(argument.type, TensorType)
        if end.operands[result.index] is argument and not is_tensor:
            result.replace_all_uses_with(init)
            _replace_besides(argument, init, end)
    unused = _unused(loop, carried, end)
    if not unused:
        return None
    kept = [index for index in range(len(carried)) if index not in unused]
    bounds = len(loop.operands) - len(carried)
    inits = [loop.operands[bounds + index] for index in kept]
    end.operands = [end.operands[index] for index in kept]
    for index in sorted(unused, reverse=True):
        body.erase_arg(carried[index])
    new = scf.ForOp.create(
        operands=[*loop.operands[:bounds], *inits],
        result_types=[loop.results[index].type for index in kept],
        properties=loop.properties,
        attributes=loop.attributes,
        location=loop.location,
        regions=[loop.detach_region(loop.body)],
    )
    _replace(loop, new, kept)
    return new


def _unused(loop: scf.ForOp, carried: Sequence[SSAValue], end: Operation) -> set[int]:
    """The carries whose results nobody uses, and that only hand on themselves or each other."""
    unused = {
        result.index
        for result, argument in zip(loop.results, carried, strict=True)
        if result.first_use is None and all(use.operation is end for use in argument.uses)
    }
    changed = True
    while changed:
        needed = {
            index for index in unused if any(use.index not in unused for use in carried[index].uses)
        }
        unused -= needed
        changed = bool(needed)
    return unused


def _replace_besides(value: SSAValue, by: SSAValue, besides: Operation) -> None:
    for use in tuple(value.uses):
        if use.operation is not besides:
            use.operation.operands[use.index] = by


def _replace(old: Operation, new: Operation, kept: Sequence[int]) -> None:
    block: Block | None = old.parent
    assert block is not None
    block.insert_op_before(new, old)
    for result, index in zip(new.results, kept, strict=True):
        result.name_hint = old.results[index].name_hint
        old.results[index].replace_all_uses_with(result)
    block.erase_op(old)
