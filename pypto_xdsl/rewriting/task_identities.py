"""
Handing the identities of tasks out of scopes, branches and loops, to who waits for them.

    %r = scf.if %c -> (T) {                      %r, %t = scf.if %c -> (T, !orch.task_id) {
      %y, %t0 = orch.submit @k(...)                %y, %t0 = orch.submit @k(...)
      scf.yield %y                                 scf.yield %y, %t0
    } else {                              ->     } else {
      scf.yield %x                                 %none = orch.task_invalid
    }                                              scf.yield %x, %none
    orch.submit @l(%r)                           }
                                                 orch.submit @l(%r) deps [%t]

A loop carries an identity that stands for all of its iterations: that of a task which does nothing
but wait for the one of the iteration and for the one before it; where the tasks wait for each
other anyway, the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from pypto_xdsl.analysis.control_flow import Shape, shape_of, terminator
from pypto_xdsl.dialects.orch import TASK_ID, SubmitOp, TaskDummyOp, TaskInvalidOp
from pypto_xdsl.rewriting.carries import rebuilt
from pypto_xdsl.rewriting.locating import at


class TaskIdentities:
    """The identities of the tasks of a function, where they are asked for."""

    def __init__(self, are_in_order: Callable[[Operation, SubmitOp], bool]):
        """`are_in_order` says whether the tasks of a submit in a loop wait for each other."""
        self._are_in_order = are_in_order
        self._exports: dict[Operation, dict[SubmitOp, None]] = {}
        """Control flow -> the tasks that are to be known after it."""
        self._carried: dict[Operation, dict[SubmitOp, None]] = {}
        """Loop -> the tasks that are to be known in the next iteration."""
        self._known: dict[tuple[SubmitOp, Block], SSAValue] = {}
        self._earlier: dict[tuple[SubmitOp, Operation], SSAValue] = {}

    def require(self, task: SubmitOp, user: Operation) -> None:
        """A task is to be known at a later op."""
        visible: set[Block] = set()
        block = user.parent
        while block is not None:
            visible.add(block)
            around = block.parent_op()
            block = None if around is None else around.parent
        self._export(task, lambda op: op.parent in visible)

    def require_earlier(self, task: SubmitOp, loop: scf.ForOp) -> None:
        """A task of a loop is to be known in the next iteration."""
        self._carried.setdefault(loop, {})[task] = None
        self._export(task, lambda op: op.parent is loop.body.block)

    def _export(self, task: SubmitOp, is_visible: Callable[[Operation], bool]) -> None:
        op: Operation = task
        while not is_visible(op):
            around = op.parent_op()
            assert around is not None
            op = around
            self._exports.setdefault(op, {})[task] = None

    @property
    def loops(self) -> list[Operation]:
        """The loops that come to carry identities."""
        return [op for op in (*self._exports, *self._carried) if shape_of(op) is Shape.LOOP]

    def build(self) -> None:
        """Give control flow the results and carried values that are asked for."""
        ops = dict.fromkeys((*self._exports, *self._carried))
        for op in sorted(ops, key=_depth, reverse=True):
            tasks = list(self._exports.get(op, {}))
            if isinstance(op, scf.ForOp):
                tasks = list(dict.fromkeys((*tasks, *self._carried.get(op, {}))))
                results = self._carry(op, tasks)
            else:
                results = self._hand_out(op, tasks)
            block = results[0].op.parent
            assert block is not None
            for task, result in zip(tasks, results, strict=True):
                result.name_hint = task.results[-1].name_hint
                self._known[task, block] = result

    def at(self, task: SubmitOp, user: Operation) -> SSAValue:
        """What stands for a task, and all of its iterations, at a later op."""
        block = user.parent
        while block is not None:
            if block is task.parent:
                return task.results[-1]
            if (task, block) in self._known:
                return self._known[task, block]
            around = block.parent_op()
            block = None if around is None else around.parent
        raise AssertionError("a task is asked for where it was not to be known")

    def earlier(self, task: SubmitOp, loop: Operation) -> SSAValue:
        """What stands for a task in all earlier iterations of a loop around."""
        return self._earlier[task, loop]

    def _in(self, task: SubmitOp, region: Region) -> SSAValue | None:
        """What stands for a task at the end of a region; None if it is not launched there."""
        block = region.first_block
        if block is None:
            return None
        return task.results[-1] if task.parent is block else self._known.get((task, block))

    def _carry(self, loop: scf.ForOp, tasks: list[SubmitOp]) -> list[OpResult]:
        body, end = loop.body.block, terminator(loop.body)
        none = at(loop, TaskInvalidOp())
        none.task.name_hint = "none"
        block = loop.parent
        assert block is not None
        block.insert_op_before(none, loop)
        yielded: list[SSAValue] = []
        for task in tasks:
            argument = body.insert_arg(TASK_ID, len(body.args))
            argument.name_hint = task.results[-1].name_hint
            self._earlier[task, loop] = argument
            inner = self._in(task, loop.body)
            assert inner is not None
            if self._are_in_order(loop, task):
                yielded.append(inner)
                continue
            both = at(end, TaskDummyOp([argument, inner]))
            body.insert_op_before(both, end)
            yielded.append(both.task)
        end.operands = [*end.operands, *yielded]
        return _replaced(loop, [*loop.operands, *[none.task] * len(tasks)], len(tasks))

    def _hand_out(self, op: Operation, tasks: list[SubmitOp]) -> list[OpResult]:
        for region in op.regions:
            if region.first_block is None:
                region.add_block(Block([scf.YieldOp()]))
                terminator(region).location = op.location
            end = terminator(region)
            none: TaskInvalidOp | None = None
            values: list[SSAValue] = []
            for task in tasks:
                value = self._in(task, region)
                if value is None:
                    if none is None:
                        none = at(end, TaskInvalidOp())
                        none.task.name_hint = "none"
                        region.block.insert_op_before(none, end)
                    value = none.task
                values.append(value)
            end.operands = [*end.operands, *values]
        return _replaced(op, op.operands, len(tasks))


def _replaced(op: Operation, operands: Sequence[SSAValue], added: int) -> list[OpResult]:
    """Put an op with so many more results, identities of tasks, in the place of another."""
    block = op.parent
    assert block is not None
    new = rebuilt(op, operands, [*op.result_types, *[TASK_ID] * added])
    block.insert_op_before(new, op)
    for old, result in zip(op.results, new.results, strict=False):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    count = len(op.results)
    block.erase_op(op)
    return list(new.results[count:])


def _depth(op: Operation) -> int:
    depth = 0
    around = op.parent_op()
    while around is not None:
        depth += 1
        around = around.parent_op()
    return depth
