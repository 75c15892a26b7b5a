"""
InOutUseValid: a tensor that a call writes is read by its next name afterwards.

    %y = orch.call @k(%x, %out) : ...     // %out is an `out` parameter of @k
    %z = tile.load %out[0] ...            // should read %y

Naming the tensor (returning, yielding, carrying it, or passing it to be written) is no read.
Only what follows in the block of the call, and inside, comes after it.  Wrappers are exempt: what
they return is their parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.walk import blocks_inside
from pypto_xdsl.diagnostics import Diagnostic, diagnose, note
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import DispatchOp, LaunchingOp
from pypto_xdsl.properties.registry import Property


def _reads_of_written(module: ModuleOp) -> Iterable[Diagnostic]:
    calls = CallGraph(module)
    for function in calls.functions:
        if not function.kind.data.is_wrapper and calls.uses_in(function):
            yield from _check_regions(function, calls)


def _check_regions(root: Operation, calls: CallGraph) -> Iterator[Diagnostic]:
    written: dict[SSAValue, DispatchOp] = {}
    """A name of a tensor -> the call before that wrote it."""
    todo: list[tuple[Iterator[Operation], list[SSAValue]]] = [
        (iter(block.ops), []) for block in blocks_inside(root)
    ]
    while todo:
        ops, found = todo[-1]
        op = next(ops, None)
        if op is None:
            todo.pop()
            # What was written inside is not known to be so outside.
            for value in found:
                del written[value]
            continue
        for value in _reads(op, calls):
            if (call := written.get(value)) is not None:
                name = f"%{value.name_hint}" if value.name_hint else "a tensor"
                yield diagnose(
                    op,
                    f"reads {name} by its name before '{call.callee_name}' wrote it: "
                    "use the result of the call",
                    [note(call, "it is written here")],
                )
        if isinstance(op, DispatchOp):
            for value in _writes(op, calls):
                if value not in written:
                    written[value] = op
                    found.append(value)
        if op.regions:
            todo += [(iter(block.ops), []) for block in reversed([*blocks_inside(op)])]


def _reads(op: Operation, calls: CallGraph) -> Iterator[SSAValue]:
    if isinstance(op, DeclaredOp):
        if op.IS_ACCESS:
            for operand, effect in op.operand_effects():
                if effect.reads and isinstance(operand.type, TensorType):
                    yield operand
    elif isinstance(op, LaunchingOp):
        if op.predicate_tensor is not None:
            yield op.predicate_tensor
        if isinstance(op, DispatchOp):
            callee = calls.callee(op)
            directions = () if callee is None else callee.parameter_directions
            for argument, direction in zip(op.arguments, directions, strict=False):
                if direction.reads and isinstance(argument.type, TensorType):
                    yield argument


def _writes(op: DispatchOp, calls: CallGraph) -> Iterator[SSAValue]:
    callee = calls.callee(op)
    directions = () if callee is None else callee.parameter_directions
    for argument, direction in zip(op.arguments, directions, strict=False):
        if direction.writes:
            yield argument


PROPERTY = Property(
    "InOutUseValid",
    "a tensor that a call writes is read by its next name afterwards",
    _reads_of_written,
)
