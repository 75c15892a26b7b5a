"""
auto-derive-task-dependencies: names the tasks that each task has to wait for.

The runtime compares what tasks touch when they are launched, and never lets a writer wait for
readers. This pass finds, in the text, which earlier tasks touch the same bytes as a task, one of
the two writing, and names them in its `deps`:

    %b0 = orch.call @fill(input %x, output_existing %buf)
    %a  = orch.call @use(input %b0, inout %acc)
    %b1 = orch.call @fill(input %y, inout %b0)              // may overtake @use

becomes

    %b0, %t0 = orch.submit @fill(input %x, output_existing %buf)
    %a, %t1  = orch.submit @use(no_dep %b0, inout %acc) deps [%t0]
    %b1, %t2 = orch.submit @fill(input %y, output_existing %b0) deps [%t0, %t1]

It is not part of the default pipeline, since what is named is waited for whether or not the bytes
meet at run time: `named-dependencies-pipeline` has it, after `derive-call-directions`. Only in
functions of kind `orchestration`; tasks in manual scopes are the user's, as are dependencies that
are there already, which are not named twice.

* A call that waits, or is waited for, becomes a submit.
* Identities are handed out of scopes and branches as results; a loop carries one that stands for
  all of its iterations (`rewriting/task_identities.py`).
* In a sequential loop a writer also waits for the readers of earlier iterations. The iterations of
  a parallel loop do not wait for each other.
* Where all that the runtime would find for an argument is named, it is told not to look: `input`
  becomes `no_dep`, `inout` becomes `output_existing`. So do only arguments in a known place of one
  buffer, outside of what loops bring back, and not after loops whose trips are not known.
* A function in which all order is named, without scopes and without loops that bring anything back,
  gets `orch.manual_layer`: `materialize-runtime-scopes` puts one manual scope around its body.

What cannot be named and is not found by the runtime either is told in a remark.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.buffer_roots import ProgramRoots
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.task_dependencies import TaskDependencies, Touch, task_dependencies
from pypto_xdsl.diagnostics import note, remark
from pypto_xdsl.dialects.orch import (
    TASK_ID,
    ArgDirection,
    DispatchOp,
    FuncOp,
    SubmitOp,
    is_sequential,
)
from pypto_xdsl.dialects.orch.function_marks import MANUAL_LAYER
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.properties.runtime_scopes_materialized import has_auto_scope
from pypto_xdsl.rewriting.task_identities import TaskIdentities

NOT_LOOKED_UP = {
    ArgDirection.INPUT: ArgDirection.NO_DEP,
    ArgDirection.INOUT: ArgDirection.OUTPUT_EXISTING,
}
"""How the runtime is told not to look for what an argument waits for."""


@dataclass(frozen=True)
class AutoDeriveTaskDependenciesPass(CheckedPass):
    """Name the tasks that each task of orchestration has to wait for."""

    name = "auto-derive-task-dependencies"
    required = ("SplitIncoreOrch", "CallDirectionsResolved")
    produced = ("CallDirectionsResolved",)
    invalidated = ("IterArgCarryClassified",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        calls = CallGraph(module)
        program = ProgramRoots(ReturnLineage(calls))
        found = [
            (function, task_dependencies(function, calls, program.of(function)))
            for function in calls.functions
            if function.is_orchestration
        ]
        for function, dependencies in found:
            _Naming(function, dependencies).run()


class _Naming:
    """The dependencies of one function."""

    def __init__(self, function: FuncOp, found: TaskDependencies):
        self._function = function
        self._found = found
        self._submits: dict[DispatchOp, SubmitOp] = {}
        self._in_order: set[tuple[Operation, Operation]] = set()

    def run(self) -> None:
        self._tell_what_is_left()
        self._rewrite_directions()
        named: dict[DispatchOp, None] = {}
        for task, producers in self._found.waits.items():
            named |= dict.fromkeys((*producers, task))
        for carried in self._found.carried:
            named |= dict.fromkeys((carried.producer, carried.task))
        for dispatch in named:
            self._submits[dispatch] = submitted(dispatch)
        for loop, task in self._found.in_order:
            if task in self._submits:
                self._in_order.add((loop, self._submits[task]))
        identities = TaskIdentities(lambda loop, task: (loop, task) in self._in_order)
        for task, producers in self._found.waits.items():
            for producer in producers:
                identities.require(self._submits[producer], self._submits[task])
        for carried in self._found.carried:
            identities.require_earlier(self._submits[carried.producer], carried.loop)
        self._mark_layer(identities)
        identities.build()
        waits: dict[SubmitOp, dict[SSAValue, None]] = {}
        for task, producers in self._found.waits.items():
            user = self._submits[task]
            values = [identities.at(self._submits[producer], user) for producer in producers]
            waits.setdefault(user, {}).update(dict.fromkeys(values))
        for carried in self._found.carried:
            value = identities.earlier(self._submits[carried.producer], carried.loop)
            waits.setdefault(self._submits[carried.task], {})[value] = None
        for user, values in waits.items():
            user.set_deps(list(dict.fromkeys((*user.deps, *values))))

    def _tell_what_is_left(self) -> None:
        told: set[tuple[DispatchOp, DispatchOp]] = set()
        for task, earlier, reason in self._found.left:
            if (task, earlier) not in told:
                told.add((task, earlier))
                remark(
                    task,
                    "has to wait for more than is named, which nothing may see to: " + reason,
                    [] if earlier is task else [note(earlier, "this is launched before")],
                )

    def _rewrite_directions(self) -> None:
        rewritten: dict[DispatchOp, list[ArgDirection]] = {}
        for touch in self._found.touches:
            directions = touch.task.directions
            if directions is not None and _is_named(touch):
                new = rewritten.setdefault(touch.task, list(directions))
                new[touch.argument] = NOT_LOOKED_UP[directions[touch.argument]]
        for task, directions in rewritten.items():
            task.set_directions(directions)

    def _mark_layer(self, identities: TaskIdentities) -> None:
        if (
            self._found.is_complete
            and self._found.touches
            and has_auto_scope(self._function)
            and all(is_sequential(loop) for loop in identities.loops)
        ):
            self._function.attributes[MANUAL_LAYER] = UnitAttr()


def _is_named(touch: Touch) -> bool:
    """Whether the runtime need not look for what an argument waits for."""
    window = touch.place.window
    return (
        touch.direction in NOT_LOOKED_UP
        and touch.waits > 0
        and touch.is_covered
        and window is not None
        and all(window.starts)
    )


def submitted(dispatch: DispatchOp) -> SubmitOp:
    """A submit, in the place of a call that is none yet."""
    if isinstance(dispatch, SubmitOp):
        return dispatch
    submit = SubmitOp.create(
        operands=dispatch.operands,
        result_types=[*dispatch.result_types, TASK_ID],
        properties=dispatch.properties,
        attributes=dispatch.attributes,
        location=dispatch.location,
    )
    block = dispatch.parent
    assert block is not None
    block.insert_op_before(submit, dispatch)
    for old, new in zip(dispatch.results, submit.results, strict=False):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    submit.results[-1].name_hint = "task"
    block.erase_op(dispatch)
    return submit
