"""
insert-sync: makes the pipes of a core wait for each other wherever they touch the same bytes.

    pto.tload ins(%p : P) outs(%a : T)
    pto.texp ins(%a : T) outs(%b : T)

becomes

    pto.tload ins(%p : P) outs(%a : T)
    ascend910b.set_flag MTE2 -> V, 0
    ascend910b.wait_flag MTE2 -> V, 0
    pto.texp ins(%a : T) outs(%b : T)

A pipe is in order by itself, and does not wait for the others. Where two instructions on different
pipes touch bytes that overlap, and one of them writes, the later one must wait for the earlier: an
event is set after the one and waited for before the other, both in the innermost block that holds
both. What a loop's next iteration does with the bytes of this one is ordered by an event that is
set before the outermost loop too, and waited for after it. What is ordered already, by other
events, gets none, so the pass is idempotent, and those that others make needless are left out:
without any one of the rest something is not ordered. (Where the ways of a branch, or running a loop
and not running it, order different things, what a pipe is taken to know after it is a prefix of
what the other was given. An event may be needed to know so, and not for any run.)
Eight events a pair of pipes are there: one is used again once its last wait is known to be over;
where none is free, a barrier of all pipes takes its place.

Events and barriers that the program already has are kept. Those that order nothing which is not
ordered without them are reported, each with all the sets and waits that go with it, so that all
that are reported can be taken out. What pipes tell other cores counts as needed; so does a barrier
of one pipe, which is in order by itself here and may not be in hardware, and one that ends a
program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.control_flow import is_loop
from pypto_xdsl.analysis.pipe_accesses import PipeAccesses
from pypto_xdsl.analysis.pipe_order import LANES
from pypto_xdsl.analysis.sync_finding import Finding, Redundant
from pypto_xdsl.analysis.sync_numbering import Numbering
from pypto_xdsl.analysis.sync_plan import Event, Plan
from pypto_xdsl.analysis.sync_reduction import reduce_sync
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import note, remark
from pypto_xdsl.dialects import ascend910b, pto
from pypto_xdsl.dialects.ascend910b import CORE, PROGRAM_ORDER, Core
from pypto_xdsl.dialects.pto import Pipe
from pypto_xdsl.dialects.pto.section import SectionOp
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.locating import at

_PIPES = tuple(LANES)


@dataclass(frozen=True)
class InsertSyncPass(CheckedPass):
    """Order the pipes of a core by the bytes they share."""

    name = "insert-sync"
    required = ("SSAForm", "KernelsLowered", "OnCores")
    produced = ("SSAForm",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        for op in tuple(walk(module)):
            core: Any = op.attributes.get(CORE)
            if core is None or not isinstance(op, func.FuncOp):
                continue
            if op.body.first_block is not op.body.last_block:
                # It jumps, and so computes on scalars only: there is nothing to order.
                continue
            is_mixed = core.data is Core.MIX
            plans = [(one, _planned(op, one)) for one in _cores(core.data)]
            for one, plan in plans:
                _apply(plan, one if is_mixed else None)
            op.attributes.pop(PROGRAM_ORDER, None)


def _cores(core: Core) -> tuple[Core, ...]:
    return (Core.AIC, Core.AIV) if core is Core.MIX else (core,)


def _planned(function: func.FuncOp, core: Core) -> Plan:
    """Decide what a function needs on one core, and tell what it has and does not need."""
    plan, accesses = Plan(), PipeAccesses()
    trims = False
    while True:
        finding = Finding(function, core, plan, accesses)
        finding.run()
        if finding.added:
            # What was found late may order what was found early.
            continue
        redundant = reduce_sync(finding, trims=trims)
        numbering = Numbering(function, core, plan)
        numbering.run()
        for event in numbering.failed:
            plan.give_up(event)
        if numbering.failed:
            trims = False
        elif trims or not plan.barriers_before:
            break
        else:
            # Others may order by now what they order.
            trims = True
    _report(redundant)
    return plan


def _report(redundant: Iterable[Redundant]) -> None:
    """Tell of events and barriers of the program that order nothing."""
    for found in redundant:
        first, *others = found.waits
        remark(
            first,
            "is redundant: what it orders is ordered without it, or touches no common byte",
            [
                *(note(op, "this sets the event") for op in found.sets),
                *(note(op, "this waits for it too") for op in others),
            ],
        )


def _apply(plan: Plan, core: Core | None) -> None:
    """Insert what is planned; with `core`, into what only that one of several cores runs."""
    for op in plan.barriers_before:
        _insert(ascend910b.BarrierOp(Pipe.ALL), op, core, is_after=False)
    for event in plan.events:
        _insert(_event_op(ascend910b.WaitFlagOp, event), event.then, core, is_after=False)
        _insert(_event_op(ascend910b.SetFlagOp, event), event.first, core, is_after=True)
    for op in plan.barriers_after:
        _insert(ascend910b.BarrierOp(Pipe.ALL), op, core, is_after=True)
    # Next to a loop, its own sets come after the waits before it, and its waits come first.
    for event in plan.events:
        if event.loop is not None:
            assert is_loop(event.loop)
            _insert(_event_op(ascend910b.SetFlagOp, event), event.loop, core, is_after=False)
            _insert(_event_op(ascend910b.WaitFlagOp, event), event.loop, core, is_after=True)


def _event_op(kind: type[ascend910b.EventOp], event: Event) -> ascend910b.EventOp:
    assert event.number is not None
    return kind(_PIPES[event.source], _PIPES[event.destination], event.number)


def _insert(made: Operation, op: Operation, core: Core | None, *, is_after: bool) -> None:
    at(op, made)
    if core is not None and not any(isinstance(o, SectionOp) for o in _around(op)):
        if isinstance(op, SectionOp):
            # At an end of what the core runs there.
            block = op.body.block
            if is_after or block.first_op is None:
                block.add_op(made)
            else:
                block.insert_op_before(made, block.first_op)
            return
        section = pto.SectionCubeOp if core is Core.AIC else pto.SectionVectorOp
        made = at(op, section.build(regions=[[made]]))
    block = op.parent
    assert block is not None
    if is_after:
        block.insert_op_after(made, op)
    else:
        block.insert_op_before(made, op)


def _around(op: Operation) -> Iterator[Operation]:
    parent = op.parent_op()
    while parent is not None:
        yield parent
        parent = parent.parent_op()
