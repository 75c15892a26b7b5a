"""
derive-call-directions: says what each call and submit does to its arguments, for the task graph.

The runtime orders tasks by the directions of their arguments: `input` waits for who wrote the
buffer last, `inout` also waits and is waited for, `output_existing` is waited for but does not
wait. A callee's parameter says whether it reads or writes; whether a write has to wait depends
on where the call stands.

    %l0 = ptensor.create : tensor<64xf32>
    %l1 = orch.call @kernel(input %x, output_existing %l0)    // nobody wrote %l0 before
    %l2 = orch.call @kernel(input %x, inout %l1)              // waits for the first

First, each group and spmd wrapper gets the directions that the calls in its body imply
(`analysis/wrapper_directions.py`), so that a callee's own directions are all there is to know.
Then each argument gets the first that applies:

    any parameter, no tensor                                          scalar
    `in`                                                              input
    `inout`                                                           inout
    `out`, inside a sequential loop (iterations write in order)       inout
    `out`, one of several buffers                                     inout
    `out`, a task before it in the function may have written there    inout
    `out`, a buffer that is an `inout` parameter of this function     inout
    `out`                                                             output_existing

Directions that are there already stay, whatever they say; `no_dep` arguments become `no_dep`.
`output` (the runtime allocates) is only ever written by hand. A submit stays a submit, with its
dependencies and launch clauses, and has directions for the arguments it has.

Two windows of one buffer that may overlap count as one buffer: the runtime compares windows
itself, so that waiting costs nothing where they do not. Written windows that are known not to
overlap (constant offsets) are kept apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import SSAValue

from pypto_xdsl.analysis.buffer_roots import BufferRoots, Place, ProgramRoots
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.prior_writers import PriorWrites, visit_dispatches
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.wrapper_directions import effective_directions
from pypto_xdsl.dialects.orch import ArgDirection, Direction, DispatchOp, FuncOp
from pypto_xdsl.properties.checked_pass import CheckedPass


@dataclass(frozen=True)
class DeriveCallDirectionsPass(CheckedPass):
    """Say of each argument of each call and submit how it orders the task."""

    name = "derive-call-directions"
    required = ("SplitIncoreOrch",)
    produced = ("CallDirectionsResolved",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        calls = CallGraph(module)
        for wrapper, directions in effective_directions(calls).items():
            if directions != wrapper.parameter_directions:
                wrapper.set_parameter_directions(directions)
        program = ProgramRoots(ReturnLineage(calls))
        for function in calls.functions:
            if any(is_to_be_derived(d, calls.callee(d)) for d in calls.uses_in(function)):
                _Derivation(function, calls, program.of(function)).run()


def is_to_be_derived(dispatch: DispatchOp, callee: FuncOp | None) -> bool:
    """
    Whether a call or submit waits for its directions: it has none, and its arguments stand for
    parameters of the program.
    """
    if callee is None or dispatch.arg_directions is not None or not dispatch.arguments:
        return False
    given, wanted = len(dispatch.arguments), len(callee.directions)
    return given <= wanted if dispatch.RETURNS_TASK else given == wanted


class _Derivation:
    """The directions of the calls and submits of one function."""

    def __init__(self, function: FuncOp, calls: CallGraph, roots: BufferRoots):
        self._function = function
        self._calls = calls
        self._roots = roots
        self._updated: set[SSAValue] = {
            parameter
            for parameter, direction in zip(
                function.parameters, function.parameter_directions, strict=True
            )
            if direction is Direction.INOUT
        }

    def run(self) -> None:
        visit_dispatches(self._function, self._calls, self._roots, self._visit)

    def _visit(self, dispatch: DispatchOp, writes: PriorWrites, sequential_loops: int) -> None:
        callee = self._calls.callee(dispatch)
        if callee is None or not is_to_be_derived(dispatch, callee):
            return
        directions = [
            self._direction(argument, direction, writes, sequential_loops > 0)
            for argument, direction in zip(
                dispatch.arguments, callee.parameter_directions, strict=False
            )
        ]
        for place in dispatch.no_dep_arguments:
            directions[place] = ArgDirection.NO_DEP
        dispatch.set_directions(directions)

    def _direction(
        self, argument: SSAValue, declared: Direction, writes: PriorWrites, is_repeated: bool
    ) -> ArgDirection:
        if not isinstance(argument.type, TensorType):
            return ArgDirection.SCALAR
        if declared is Direction.IN:
            return ArgDirection.INPUT
        if declared is Direction.INOUT or is_repeated:
            return ArgDirection.INOUT
        place = self._roots.of(argument)
        if place.is_ambiguous or writes.may_cover(place) or self._is_updated(place):
            return ArgDirection.INOUT
        return ArgDirection.OUTPUT_EXISTING

    def _is_updated(self, place: Place) -> bool:
        return any(root in self._updated for root in place.roots)
