"""What a scope gives: the values that its body changes and the text after it uses."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Block, OpResult, SSAValue
from xdsl.irdl import AttrSizedResultSegments

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects.orch.scopes import (
    OutlinableScopeOp,
    ScopeOp,
    YieldOp,
)
from pypto_xdsl.dialects.ptensor.memory import UpdatedOp
from pypto_xdsl.dialects.ptensor.types import is_tensor_type
from pypto_xdsl.frontend.pl import carries, statements
from pypto_xdsl.frontend.pl.aliases import remove_unused
from pypto_xdsl.frontend.pl.context import Context, Frame, hint
from pypto_xdsl.frontend.pl.handed_on import HandedOn, resume
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Unavailable,
    Value,
    is_value,
)


def outputs_of(
    context: Context, statement: ast.stmt, block: Block, frame: Frame, handed: HandedOn
) -> Outputs:
    """
    What a scope yields: the values of names read after it, and of those that hand on what it
    wrote, each once, in order.
    """
    outputs: dict[int, tuple[list[str], SSAValue]] = {}

    def yielded(value: Value, name: str) -> None:
        if isinstance(value, Tuple):
            for element in value.elements:
                yielded(element, "")
            return
        if not is_value(value) or not _defined_in(value, block):
            return
        entry = outputs.setdefault(id(value), ([], value))
        if name:
            entry[0].append(name)

    places: list[tuple[str, Value]] = []
    renamed: list[tuple[str, SSAValue]] = []
    for name, value in frame.items():
        live = (
            name.startswith(carries.YIELD)
            or name in handed.names
            or statements.is_live(context, statement, name)
        )
        if not live:
            if is_value(value) and _defined_in(value, block):
                context.names.bind(name, Unavailable("is assigned inside a scope"))
            continue
        if context.strict_ssa and name in frame.assigned and _is_outside(value, block):
            # Another name for a value from before: the next name of a tensor, after the scope.
            renamed.append((name, value))
            continue
        yielded(value, name)
        places.append((name, value))
    order: dict[SSAValue, int] = dict.fromkeys(block.args, -1)
    if len(outputs) > 1:
        order |= {
            result: place for place, result in enumerate(r for op in block.ops for r in op.results)
        }
    ends = [([name], value) for name, value in renamed]
    ends += sorted(outputs.values(), key=lambda output: order.get(output[1], 0))
    terminator = YieldOp.create(operands=[value for _, value in ends])
    terminator.location = context.source.location(statement)
    block.add_op(terminator)
    return Outputs(ends, places, frame, handed, len(renamed))


@dataclass
class Outputs:
    """What a scope yields, and the names that stand for it after the scope."""

    values: list[tuple[list[str], SSAValue]]
    """Each value once, with the names that are bound to it."""
    places: list[tuple[str, Value]]
    frame: Frame
    handed: HandedOn
    renamed: int = 0
    """How many of the values, the first, are from before the scope."""

    @property
    def types(self) -> list[Attribute]:
        return [value.type for _, value in self.values]


def bind_outputs(context: Context, outputs: Outputs, results: Sequence[OpResult]) -> None:
    by_value = {
        id(value): place
        for place, (_, value) in enumerate(outputs.values)
        if place >= outputs.renamed
    }
    for (_, value), result in zip(outputs.values, results, strict=True):
        if is_tensor_type(value.type):
            context.names.aliases.merge(result, (value,))
    for (names, _), result in zip(outputs.values[: outputs.renamed], results, strict=False):
        context.names.leave(names[0], result, outputs.frame)

    def outer(value: Value) -> Value:
        if isinstance(value, Tuple):
            return Tuple(tuple(outer(element) for element in value.elements))
        if is_value(value) and id(value) in by_value:
            return results[by_value[id(value)]]
        return value

    for name, value in outputs.places:
        context.names.leave(name, outer(value), outputs.frame)
    for (names, value), result in zip(outputs.values, results, strict=True):
        named = hint(names[0].rpartition(":")[2]) if names else None
        result.name_hint = named if result.index < outputs.renamed else value.name_hint or named
    resume(context, outputs.handed, results)


def _is_outside(value: Value, block: Block) -> TypeGuard[SSAValue]:
    return is_value(value) and not _defined_in(value, block)


def _defined_in(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return owner is block or getattr(owner, "parent", None) is block


# Spmd


def drop_unused_outputs(function: Block) -> None:
    """Rebuild the scopes in a function that yield what nobody uses."""
    again = True
    while again:
        # A scope stands before the scopes in it: what it drops may be all that used theirs.
        found = [op for top in function.ops for op in walk(top) if isinstance(op, ScopeOp)]
        again = False
        for op in found:
            if any(not output.uses for output in op.outputs):
                # An update that goes may be the last to use what a scope before this one gives.
                again |= _without_unused(op)


def _without_unused(op: ScopeOp) -> bool:
    """Rebuild a scope; whether updates in it went with what it yielded."""
    kept = [place for place, output in enumerate(op.outputs) if output.uses]
    end = op.yield_op
    dropped = [
        value for value, output in zip(end.values, op.outputs, strict=True) if not output.uses
    ]
    made_end = YieldOp.create(operands=[end.values[place] for place in kept])
    made_end.location = end.location
    updates = [v.op for v in dropped if isinstance(v, OpResult) and isinstance(v.op, UpdatedOp)]
    body = op.body
    end.detach()
    end.erase()
    unused = remove_unused(updates)
    body.block.add_op(made_end)
    body = op.detach_region(body)
    types = [op.outputs[place].type for place in kept]
    properties = dict(op.properties)
    extra: list[SSAValue] = []
    if isinstance(op, OutlinableScopeOp):
        extra = [] if op.task is None else [op.task]
        properties[AttrSizedResultSegments.attribute_name] = DenseArrayBase.from_list(
            i32, [len(types), len(extra)]
        )
    made = type(op).create(
        operands=op.operands,
        result_types=[*types, *(value.type for value in extra)],
        properties=properties,
        attributes=op.attributes,
        regions=[body],
        location=op.location,
    )
    block = op.parent
    assert block is not None
    block.insert_op_before(made, op)
    old = [*(op.outputs[place] for place in kept), *extra]
    for before, after in zip(old, made.results, strict=True):
        after.name_hint = before.name_hint
        before.replace_all_uses_with(after)
    op.detach()
    op.erase()
    return unused
