"""
Return lineage: which parameter's buffer a value is, written back.

A kernel writes its results into parameters and returns their next names:

    %a1 = tile.store %t, %a[0] : ...          // names %a
    %a2 = scf.for ... iter_args(%it = %a1) ...  // names %a, if each iteration hands on %a
    orch.return %a2                           // so this result is parameter %a

`ReturnLineage(CallGraph(module))` answers for whole programs, `Tracer` for values of one body,
also of a body that is no function yet (the outliner's). A value traces to a parameter

* if it is that parameter;
* through an op that declares which operand its result names (a store, an assemble, a new valid
  shape), but not through a view: an index means another element in a window or another shape;
* through a call or submit, if the callee's result is one of its parameters: to the argument;
* through the result of a branch, if all branches agree, and never in a graph, whose boundary is
  frozen at the first run;
* through the carry or the result of a loop, if its init and what the body hands on agree (the
  carry itself agrees with anything): the greatest fixed point;
* through a scope, which only hands out what it yields.

Anything else (a fresh buffer, a scalar, an unknown callee, recursion) traces to nothing.

Which buffer a value is, is one question; whether it is known under the parameter's type, with
its view and valid shape, is another. `Lineage.type` answers the second. A merge has the type
its sources agree on, and a call's result the type of the caller's argument, since the types
written there may speak of the callee's symbols. Only a value of the parameter's own type can be
replaced by the parameter (`Lineage.is_exact`).

Every value is looked at a fixed number of times; answers, failures too, are remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, BlockArgument, OpResult, SSAValue

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.control_flow import forwarded, is_merge
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import NO_PARAMETER, DispatchOp, FuncOp, FunctionKind


@dataclass(frozen=True, slots=True)
class Lineage:
    """That a value is a parameter's buffer."""

    parameter: int
    """The position of the parameter."""
    type: Attribute
    """The type under which the value is known, in terms of the parameter's function."""
    is_exact: bool
    """Whether that is the parameter's own type, so that the parameter can stand for the value."""


Lineages = tuple[Lineage | None, ...]
"""Of each result of a function the parameter that it is, or None."""


@dataclass(frozen=True, slots=True)
class _Trace:
    """What is known of a value while its slice is solved."""

    parameter: int
    type: Attribute
    is_own_type: bool
    """The type is the value's own, because its sources disagree."""


@dataclass(frozen=True, slots=True)
class _Step:
    """How a value follows from others."""

    sources: tuple[SSAValue, ...]
    takes_type: bool
    """The value is known under the type of its sources, where they agree, not under its own."""


_NOWHERE = _Step((), False)


class _Yet(Enum):
    """What is known of a value before any of its sources is."""

    NOTHING = "nothing"


class Tracer:
    """
    Traces values of one body to its parameters.

    `parameters` are the values to trace to: the parameters of a function, or whatever a body that
    is no function yet would have as such.
    """

    def __init__(
        self, parameters: Iterable[SSAValue], program: ReturnLineage, *, through_merges: bool = True
    ):
        self._program = program
        self._through_merges = through_merges
        self._types: list[Attribute] = []
        self._known: dict[SSAValue, _Trace | None] = {}
        """The final answers, failures included."""
        for index, parameter in enumerate(parameters):
            self._types.append(parameter.type)
            self._known.setdefault(parameter, _Trace(index, parameter.type, True))

    def trace(self, value: SSAValue) -> Lineage | None:
        """The parameter that a value is, or None."""
        if value not in self._known:
            self._solve(value)
        trace = self._known[value]
        if trace is None:
            return None
        return Lineage(trace.parameter, trace.type, trace.type == self._types[trace.parameter])

    def _solve(self, wanted: SSAValue) -> None:
        """Find the greatest fixed point over all that `wanted` follows from."""
        steps = self._slice(wanted)
        users: dict[SSAValue, list[SSAValue]] = {}
        for value, step in steps.items():
            for source in step.sources:
                users.setdefault(source, []).append(value)
        traces: dict[SSAValue, _Trace | None] = {}
        pending = list(reversed(steps))
        while pending:
            value = pending.pop()
            found = self._follow(value, steps[value], traces)
            if found is _Yet.NOTHING:
                continue
            if value in traces:
                before = traces[value]
                found = _lower(value, before, found)
                if found == before:
                    continue
            traces[value] = found
            pending.extend(users.get(value, ()))
        for value in steps:
            # What follows only from itself is never reached: it is no parameter.
            self._known[value] = traces.get(value)

    def _slice(self, wanted: SSAValue) -> dict[SSAValue, _Step]:
        """The values not known yet that `wanted` follows from, sources first but for loops."""
        steps: dict[SSAValue, _Step] = {}
        entered = {wanted}
        path: list[tuple[SSAValue, _Step, Iterator[SSAValue]]] = []

        def enter(value: SSAValue) -> None:
            entered.add(value)
            step = self._step(value)
            path.append((value, step, iter(step.sources)))

        enter(wanted)
        while path:
            value, step, sources = path[-1]
            source = next(sources, None)
            if source is None:
                path.pop()
                steps[value] = step
            elif source not in self._known and source not in entered:
                enter(source)
        return steps

    def _step(self, value: SSAValue) -> _Step:
        """What a value follows from."""
        if not isinstance(value.type, TensorType):
            return _NOWHERE
        if is_merge(value) and not self._through_merges:
            return _NOWHERE
        if sources := forwarded(value):
            return _Step(sources, takes_type=True)
        if not isinstance(value, OpResult):
            return _NOWHERE
        op = value.op
        if isinstance(op, DeclaredOp):
            named = op.named_operand(value)
            return _NOWHERE if named is None or op.is_view(value) else _Step((named,), False)
        if isinstance(op, DispatchOp):
            lineage = self._program.of_result(op, value)
            if lineage is None or lineage.parameter >= len(op.arguments):
                return _NOWHERE
            return _Step((op.arguments[lineage.parameter],), takes_type=lineage.is_exact)
        return _NOWHERE

    def _follow(
        self, value: SSAValue, step: _Step, traces: dict[SSAValue, _Trace | None]
    ) -> _Trace | Literal[_Yet.NOTHING] | None:
        """What now follows for a value; sources of which nothing is known yet are passed over."""
        if not step.sources:
            return None
        found: list[_Trace] = []
        for source in step.sources:
            known = self._known if source in self._known else traces
            if source not in known:
                continue
            trace = known[source]
            if trace is None:
                return None
            found.append(trace)
        if not found:
            return _Yet.NOTHING
        first, *others = found
        if any(other.parameter != first.parameter for other in others):
            return None
        if not step.takes_type or any(other.type != first.type for other in others):
            return _Trace(first.parameter, value.type, True)
        return _Trace(first.parameter, first.type, False)


def _lower(value: SSAValue, before: _Trace | None, after: _Trace | None) -> _Trace | None:
    """The less that is claimed by `before` and `after`, so that answers only ever go down."""
    if before is None or after is None or before.parameter != after.parameter:
        return None
    if before.is_own_type or before.type != after.type:
        return _Trace(before.parameter, value.type, True)
    return after


class ReturnLineage:
    """Of each function of a program, which parameters its results are."""

    def __init__(self, calls: CallGraph):
        self.calls = calls
        self._known: dict[FuncOp, Lineages] = {}

    def of(self, function: FuncOp) -> Lineages:
        """The parameter that each result of a function is, or None."""
        if function not in self._known:
            self._find(function)
        return self._known[function]

    def of_result(self, dispatch: DispatchOp, result: OpResult) -> Lineage | None:
        """The parameter of the callee that a result of a call or submit is, or None."""
        callee = self.calls.callee(dispatch)
        if callee is None or result is dispatch.task or self.calls.is_recursive(dispatch):
            return None
        lineages = self.of(callee)
        return lineages[result.index] if result.index < len(lineages) else None

    def tracer(self, function: FuncOp) -> Tracer:
        """A tracer for the values of a function's body."""
        return Tracer(
            function.parameters,
            self,
            through_merges=function.kind.data is not FunctionKind.GRAPH,
        )

    def _find(self, wanted: FuncOp) -> None:
        """Find the lineages of a function, those of its callees first."""
        path: list[tuple[FuncOp, Iterator[FuncOp]]] = [(wanted, self.calls.callees(wanted))]
        entered = {wanted}
        while path:
            function, callees = path[-1]
            callee = next(callees, None)
            if callee is None:
                path.pop()
                self._known[function] = self._trace(function)
            elif callee not in self._known and callee not in entered:
                entered.add(callee)
                path.append((callee, self.calls.callees(callee)))

    def _trace(self, function: FuncOp) -> Lineages:
        if function.is_declaration:
            return _declared(function)
        returned = returned_values(function)
        tracer = self.tracer(function)
        return tuple(tracer.trace(value) for value in returned)


def returned_values(function: FuncOp) -> Sequence[SSAValue]:
    """What a function returns; empty for a declaration and for unstructured control flow."""
    end = function.return_op
    if end is None or function.body.first_block is not function.body.last_block:
        return ()
    return end.values


def explicit_parameters(function: FuncOp) -> tuple[int | None, ...]:
    """
    Of each result of a function the parameter that it is, as the function says itself: it returns
    the parameter, or declares which it returns, under its own type. Once `ReturnParamsExplicit`
    holds that is all there is to know.
    """
    if function.is_declaration:
        return tuple(
            lineage.parameter if lineage is not None and lineage.is_exact else None
            for lineage in _declared(function)
        )
    block = function.body.first_block
    return tuple(
        value.index if isinstance(value, BlockArgument) and value.owner is block else None
        for value in returned_values(function)
    )


def _declared(function: FuncOp) -> Lineages:
    """What a declaration says of its results."""
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    if function.returns is None:
        return (None,) * len(outputs)
    return tuple(
        None
        if parameter == NO_PARAMETER
        else Lineage(parameter, output, output == inputs[parameter])
        for parameter, output in zip(function.returns.get_values(), outputs, strict=True)
    )
