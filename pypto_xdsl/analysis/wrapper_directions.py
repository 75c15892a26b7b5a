"""
What wrappers do to their parameters, as their bodies say.

A group or an spmd function passes its parameters on to kernels, and its signature may say less
than these do. `effective_directions` raises each direction to what the calls inside imply:
`in` < `out` < `inout`, up only, so that a declared writer stays one. Wrappers that call wrappers,
each other too, are raised until nothing changes: the least fixed point, whatever the order.

An argument counts for a parameter if it may still have what the caller passed: the parameter, a
window of it, or what a loop carries from it. What another call has written before is not what
the caller passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import SSAValue

from pypto_xdsl.analysis.buffer_roots import BufferRoots
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects.declared_op import DeclaredOp, Effect
from pypto_xdsl.dialects.orch import Direction, DispatchOp, FuncOp, FunctionKind

_RANK = {Direction.IN: 0, Direction.OUT: 1, Direction.INOUT: 2}
_OF_EFFECT = {
    Effect.READ: Direction.IN,
    Effect.WRITE: Direction.OUT,
    Effect.READ_WRITE: Direction.INOUT,
}

Directions = tuple[Direction, ...]


@dataclass(frozen=True, slots=True)
class _Parameter:
    function: FuncOp
    index: int


def effective_directions(calls: CallGraph) -> dict[FuncOp, Directions]:
    """The direction of each parameter of each wrapper that has a body."""
    lineage = ReturnLineage(calls)
    wrappers = [f for f in calls.functions if f.kind.data.is_wrapper and not f.is_declaration]
    found = {wrapper: list(wrapper.parameter_directions) for wrapper in wrappers}
    users: dict[_Parameter, list[_Parameter]] = {}
    """A wrapper's parameter -> those that are passed on to it."""
    raised: list[_Parameter] = []

    def raise_to(parameter: _Parameter, direction: Direction) -> None:
        directions = found[parameter.function]
        if _RANK[direction] > _RANK[directions[parameter.index]]:
            directions[parameter.index] = direction
            raised.append(parameter)

    for wrapper in wrappers:
        for parameter, evidence in _evidence(wrapper, lineage):
            if isinstance(evidence, Direction):
                raise_to(parameter, evidence)
            else:
                users.setdefault(evidence, []).append(parameter)
                raise_to(parameter, found[evidence.function][evidence.index])
    while raised:
        callee = raised.pop()
        for parameter in users.get(callee, ()):
            raise_to(parameter, found[callee.function][callee.index])
    return {wrapper: tuple(directions) for wrapper, directions in found.items()}


def _evidence(
    wrapper: FuncOp, lineage: ReturnLineage
) -> Iterator[tuple[_Parameter, Direction | _Parameter]]:
    """Each parameter with what is done to it, or which parameter of a wrapper it is passed for."""
    roots = BufferRoots(wrapper, lineage, through_writes=False)
    parameters: dict[SSAValue, _Parameter] = {
        value: _Parameter(wrapper, index) for index, value in enumerate(wrapper.parameters)
    }
    for op in walk(wrapper):
        if isinstance(op, DispatchOp):
            callee = lineage.calls.callee(op)
            if callee is None or not passes_on_to(callee):
                continue
            directions = callee.parameter_directions
            is_wrapper = callee.kind.data.is_wrapper and not callee.is_declaration
            for index, (argument, direction) in enumerate(
                zip(op.arguments, directions, strict=False)
            ):
                for root in roots.of(argument).roots:
                    if root in parameters:
                        given = _Parameter(callee, index) if is_wrapper else direction
                        yield parameters[root], given
        elif isinstance(op, DeclaredOp):
            for operand, effect in op.operand_effects():
                if effect.writes:
                    for root in roots.of(operand).roots:
                        if root in parameters:
                            yield parameters[root], _OF_EFFECT[effect]


def passes_on_to(callee: FuncOp) -> bool:
    """Whether a wrapper's call of a function is part of the wrapper's own task."""
    return callee.kind.data not in (FunctionKind.ORCHESTRATION, FunctionKind.OPAQUE)
