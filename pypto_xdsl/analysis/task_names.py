"""
Which tasks an identity stands for: those that have certainly ended when it has.

An identity may be that of a submit, of a task that does nothing but wait for others, of one that a
branch chose, or of all tasks of a loop; arrays hold several. What is not known to be waited for is
not named: a single identity that a loop hands on stands for the last iteration alone, unless the
tasks of the loop wait for each other or the identity is that of a chain.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.ir import Operation, OpResult, Region, SSAValue

from pypto_xdsl.analysis.control_flow import (
    Shape,
    constant_integer,
    forwarded,
    shape_of,
    terminator,
)
from pypto_xdsl.dialects.orch import (
    TASK_ID,
    ArrayGetOp,
    ArrayUpdateOp,
    DispatchOp,
    OutlinableScopeOp,
    TaskDummyOp,
    is_array,
)

Names: TypeAlias = "frozenset[DispatchOp | SSAValue]"
"""Tasks, and carried identities that stand for whatever they are."""

MOST_NAMES = 64
"""So many tasks are told apart for one identity; of more, none is known to be waited for."""


def task_shape(op: Operation) -> Shape:
    """How the regions of an op run; a scope that is to become a function is not looked into."""
    if not op.regions:
        return Shape.SEQUENCE
    return Shape.UNKNOWN if isinstance(op, OutlinableScopeOp) else shape_of(op)


class TaskNames:
    """The identities of a function, as far as it has been read."""

    def __init__(self) -> None:
        self._named: dict[SSAValue, Names] = {}
        self._slots: dict[SSAValue, dict[int, Names]] = {}
        """An array of identities -> what is known to stand in its slots."""
        self._every: dict[SSAValue, Names] = {}

    def name(self, op: DispatchOp | TaskDummyOp | ArrayUpdateOp | ArrayGetOp) -> None:
        """Read an op that makes an identity or an array of them."""
        match op:
            case DispatchOp():
                if op.task is not None:
                    self._named[op.task] = frozenset((op,))
            case TaskDummyOp():
                self._named[op.task] = self.all_of(op.deps)
            case ArrayUpdateOp():
                self._update_array(op)
            case ArrayGetOp():
                slots = self._slots.get(op.array, {})
                place = constant_integer(op.index)
                if place is not None and place in slots:
                    self._named[op.result] = slots[place]

    def every(self, carried: SSAValue) -> Names:
        """The tasks that a carried identity stands for in all earlier iterations."""
        return self._every.get(carried, frozenset())

    def stands_for(self, identity: SSAValue) -> Names:
        """
        The tasks that have ended when one has, if they were launched, as far as that can be told;
        what is carried in a loop stands for itself.
        """
        if identity in self._named:
            return self._named[identity]
        if isinstance(identity, OpResult) and identity.op.regions:
            (source, *others) = forwarded(identity) or (None,)
            if source is not None and not others and task_shape(identity.op) is Shape.SEQUENCE:
                return self.stands_for(source)
        return frozenset((identity,))

    def all_of(self, identities: Iterable[SSAValue]) -> Names:
        """What several identities stand for together."""
        names: set[DispatchOp | SSAValue] = set()
        for identity in identities:
            names |= self.stands_for(identity)
        return frozenset(names if len(names) <= MOST_NAMES else ())

    def _update_array(self, op: ArrayUpdateOp) -> None:
        """
        An array stands for what its slots do, and for itself as a loop carries it, if each
        iteration fills a slot of its own.
        """
        value, place = self.stands_for(op.value), constant_integer(op.index)
        if place is not None:
            slots = {**self._slots.get(op.array, {}), place: value}
            self._slots[op.result] = slots
            self._named[op.result] = frozenset[DispatchOp | SSAValue]().union(*slots.values())
            return
        loop = op.parent_op()
        is_own_slot = (
            isinstance(loop, scf.ForOp)
            and op.index is loop.body.block.args[0]
            and op.array in loop.body.block.args
        )
        self._named[op.result] = value | {op.array} if is_own_slot else value

    def name_results_of_branch(self, branch: Operation) -> None:
        """The tasks of an arm are launched if the arm is taken; others have to be in each."""
        for result in branch.results:
            if result.type == TASK_ID:
                arms = [self.stands_for(value) for value in forwarded(result)]
                own = {
                    name
                    for region, names in zip(branch.regions, arms, strict=False)
                    for name in names
                    if isinstance(name, DispatchOp) and _region_in(name, branch) is region
                }
                first, *others = arms
                self._named[result] = frozenset(own) | first.intersection(*others)

    def name_results_of_loop(
        self, loop: scf.ForOp, in_order: Container[tuple[Operation, DispatchOp]]
    ) -> None:
        """What stands for tasks of all iterations: a chain of identities, or of tasks in order."""
        carried, yielded = loop.body.block.args[1:], terminator(loop.body).operands
        for argument, value, result in zip(carried, yielded, loop.results, strict=True):
            if argument.type == TASK_ID or is_array(argument.type):
                names = self.stands_for(value)
                self._named[result] = self._every[argument] = frozenset(
                    name
                    for name in names
                    if isinstance(name, DispatchOp)
                    and _region_in(name, loop) is not None
                    and (argument in names or (loop, name) in in_order)
                )


def _region_in(op: Operation, around: Operation) -> Region | None:
    """The region of an op in which another stands; None if it stands outside."""
    block = op.parent
    while block is not None:
        parent = block.parent_op()
        if parent is around:
            return block.parent
        block = None if parent is None else parent.parent
    return None
