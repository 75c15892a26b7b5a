"""
Which values of a function its text needs.

C++ compilers warn of variables that nobody reads: what only computes a value that nothing needs,
and what loops and branches hand on to nobody, is not written. Needed is what an op with an effect
uses, what decides which way control flow goes, and what those follow from. A return names buffers,
it needs nothing.
"""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import is_side_effect_free

from pypto_xdsl.analysis.control_flow import forwarding
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.declared_op import DeclaredOp


class Liveness:
    """The values and ops of a function that are needed; each value is looked at once."""

    def __init__(self, function: orch.FuncOp):
        self._needed: set[SSAValue] = set()
        sources: dict[SSAValue, list[SSAValue]] = {}
        forwards: set[tuple[Operation, int]] = set()
        todo: list[SSAValue] = []
        ops = list(walk(function))
        for op in ops:
            for step in forwarding(op):
                sources.setdefault(step.target, []).append(step.source)
                forwards.add((step.op, step.index))
        for op in ops:
            if not isinstance(op, orch.ReturnOp) and not _only_computes(op):
                todo += [
                    operand
                    for index, operand in enumerate(op.operands)
                    if (op, index) not in forwards
                ]
        while todo:
            value = todo.pop()
            if value in self._needed:
                continue
            self._needed.add(value)
            todo += sources.get(value, ())
            if isinstance(value, OpResult) and _only_computes(value.op):
                todo += value.op.operands

    def is_needed(self, value: SSAValue) -> bool:
        """Whether anything reads a value."""
        return value in self._needed

    def is_idle(self, op: Operation) -> bool:
        """Whether an op does nothing but compute what is not needed."""
        return _only_computes(op) and not any(result in self._needed for result in op.results)


def _only_computes(op: Operation) -> bool:
    """Whether an op has no effect but its results. A fresh buffer is one of these."""
    if op.regions or not op.results or isinstance(op, orch.DispatchOp | orch.TaskDummyOp):
        return False
    if isinstance(op, DeclaredOp):
        return not any(effect.writes for _, effect in op.operand_effects())
    return is_side_effect_free(op)
