"""
Which values of a function its text needs.

C++ compilers warn of variables that nobody reads: what only computes a value that nothing needs,
and what loops and branches hand on to nobody, is not written.  A return names buffers, it needs
nothing.
"""

from __future__ import annotations

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import is_side_effect_free

from pypto_xdsl.analysis.control_flow import forwarding
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.declared_op import DeclaredOp


class Liveness:
    """The values and ops of a function that are needed; one walk."""

    def __init__(self, function: orch.FuncOp):
        self._targets: dict[tuple[Operation, int], list[SSAValue]] = {}
        ops = list(walk(function))
        for op in ops:
            for step in forwarding(op):
                self._targets.setdefault((step.op, step.index), []).append(step.target)
        self._needed: set[SSAValue] = set()
        self._idle: set[Operation] = set()
        """Ops that only compute what nothing needs."""
        for op in reversed(ops):
            # Uses come after definitions, but for what loops hand back to their bodies.
            needed = [result for result in op.results if self._is_needed(result)]
            self._needed.update(needed)
            if not needed and op.results and _only_computes(op):
                self._idle.add(op)

    def is_needed(self, value: SSAValue) -> bool:
        """Whether anything reads a value."""
        return value in self._needed if isinstance(value, OpResult) else self._is_needed(value)

    def is_idle(self, op: Operation) -> bool:
        """Whether an op does nothing but compute what is not needed."""
        return op in self._idle

    def _is_needed(self, value: SSAValue) -> bool:
        for use in value.uses:
            targets = self._targets.get((use.operation, use.index))
            if targets is not None:
                if any(self._needs(value, target) for target in targets):
                    return True
            elif use.operation not in self._idle and not isinstance(use.operation, orch.ReturnOp):
                return True
        return False

    def _needs(self, value: SSAValue, target: SSAValue) -> bool:
        if isinstance(target, BlockArgument):
            return target is not value and target.first_use is not None
        return target in self._needed


def _only_computes(op: Operation) -> bool:
    """Whether an op has no effect but its results. A fresh buffer is one of these."""
    if op.regions or isinstance(op, orch.DispatchOp | orch.TaskDummyOp):
        return False
    if isinstance(op, DeclaredOp):
        return not any(effect.writes for _, effect in op.operand_effects())
    return is_side_effect_free(op)
