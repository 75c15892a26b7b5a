"""
Leaving out of a plan, and telling of a program, what orders nothing that is not ordered without it.

What all ways to know something share cannot go. Of the rest any one can, and not all of it: as much
goes as the first way to know each thing does without, and one where that is nothing, until all that
is left is needed. So what is left cannot be made less by taking any one away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation

from pypto_xdsl.analysis.pipe_order import FirstTeachers, Known, SharedTeachers
from pypto_xdsl.analysis.sync_finding import Finding, Redundant
from pypto_xdsl.analysis.sync_plan import Before, Event, Plan

Part = Event | Before | Redundant


def reduce_sync(finding: Finding, *, trims: bool) -> list[Redundant]:
    """
    Leave out of the plan of a walk that found nothing missing the events that are not needed, and
    with `trims` the barriers before ops; what of the program is not needed either.
    """
    reduction = _Reduction(finding, trims)
    while parts := reduction.spare():
        reduction.drop_some(parts)
    return list(reduction.redundant)


@dataclass
class _Reduction:
    finding: Finding
    """What is needed of what is left."""
    trims: bool
    redundant: dict[Redundant, None] = field(default_factory=dict[Redundant, None])
    needed: set[Part] = field(default_factory=set[Part])
    """What of the program can go only in part, and what of the plan came back once it was gone."""

    def spare(self) -> dict[Part, tuple[object, ...]]:
        """What can go, one by one, and the teachers that go with it."""
        finding = self.finding
        parts: dict[Part, tuple[object, ...]] = {
            found: found.waits
            for found in finding.spare()
            if found not in self.needed and found not in self.redundant
        }
        plan = finding.plan
        barriers = (Before(op) for op in plan.barriers_before) if self.trims else ()
        for part in (*barriers, *plan.events):
            if part not in finding.needed and part not in self.needed:
                parts[part] = (part,)
        return parts

    def drop_some(self, parts: dict[Part, tuple[object, ...]]) -> None:
        """Do without as many of these as is simple to tell, at least one."""
        told_of = {teacher for teachers in parts.values() for teacher in teachers}
        first = self._walked(self.finding.plan, FirstTeachers, told_of)
        gone = [part for part, teachers in parts.items() if first.needed.isdisjoint(teachers)]
        if not gone:
            last = [*parts][-1]
            if isinstance(last, Redundant) and self._is_needed(last):
                self.needed.add(last)
                return
            gone = [last]
        for part in gone:
            if isinstance(part, Redundant):
                self.redundant[part] = None
            else:
                self.finding.plan.drop(part)
        self.finding = self._walked(self.finding.plan, SharedTeachers, None)
        self.needed.update(part for part in gone if self._is_planned(part))

    def _is_planned(self, part: Part) -> bool:
        plan = self.finding.plan
        return part.op in plan.barriers_before if isinstance(part, Before) else part in plan.events

    def _is_needed(self, found: Redundant) -> bool:
        """Whether something of the program cannot go as a whole."""
        plan = self.finding.plan
        copy = Plan(dict(plan.events), dict(plan.barriers_before), dict(plan.barriers_after))
        return self._walked(copy, FirstTeachers, (), found.waits).added

    def _walked(
        self,
        plan: Plan,
        kind: type[Known[Any]],
        told_of: Iterable[object] | None,
        more: Iterable[Operation] = (),
    ) -> Finding:
        finding = Finding(
            self.finding.function,
            self.finding.core,
            plan,
            self.finding.accesses,
            ignored={*more, *(wait for found in self.redundant for wait in found.waits)},
            kind=kind,
            told_of=None if told_of is None else frozenset(told_of),
        )
        finding.run()
        return finding


__all__ = ["reduce_sync"]
