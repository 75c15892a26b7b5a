"""
Which tensors of a kernel exist on chip only.

A parameter lies in global memory, and so does every window and every later name of it. The result
of tensor math has no place there: it is a tile in waiting. Control flow mixes the two: where
several values become one, it is on chip if any of them is, and also if they name different
buffers: a kernel cannot choose between buffers at run time, but it can load either.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, OpResult, SSAValue

from pypto_xdsl.analysis.control_flow import forwarding
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import orch, ptensor
from pypto_xdsl.dialects.declared_op import DeclaredOp


class OnChip:
    """The tensors of one kernel that exist on chip only, and what is loaded for them."""

    def __init__(self, function: orch.FuncOp):
        self.filled_outputs: list[ptensor.CreateOp] = []
        """New buffers that are only written, part by part, and returned."""
        self.loaded: dict[SSAValue, Operation] = {}
        """
        Tensors in global memory that ops read whole, other than to multiply matrices, each with
        the first op that does.
        """
        self.multiplied: dict[SSAValue, Operation] = {}
        """Tensors in global memory that are multiplied, which takes them another way on chip."""
        self.copied: set[SSAValue] = set()
        """Windows of tensors that are returned: no caller has such a buffer, so they are copied."""
        self.is_needed = False
        """Whether there is anything on tensors to convert."""
        self._values: set[SSAValue] = set()
        self._steps: dict[SSAValue, list[SSAValue]] = {}
        self._targets: dict[tuple[Operation, int], list[SSAValue]] = {}
        self._returned: set[SSAValue] = set()
        ops = list(walk(function))
        creates: list[ptensor.CreateOp] = []
        seeds: list[SSAValue] = []
        for op in ops:
            for step in forwarding(op):
                if isinstance(step.target.type, TensorType):
                    self._steps.setdefault(step.source, []).append(step.target)
                    self._targets.setdefault((step.op, step.index), []).append(step.target)
            if isinstance(op, orch.ReturnOp):
                self._returned.update(op.values)
            for result in op.results:
                if not isinstance(result.type, TensorType):
                    continue
                named = op.named_operand(result) if isinstance(op, DeclaredOp) else None
                if named is not None:
                    self._steps.setdefault(named, []).append(result)
                elif isinstance(op, ptensor.CreateOp):
                    creates.append(op)
                elif isinstance(op, DeclaredOp):
                    seeds.append(result)
        self._origins: dict[SSAValue, SSAValue] = {}
        self._sources: dict[SSAValue, list[SSAValue]] = {}
        self._spread([*seeds, *self._merges(ops)])
        for create in creates:
            names = list(self._names(create.result))
            # One made in a loop would be another buffer each time.
            if create.parent_op() is function and self._is_output(names):
                self.filled_outputs.append(create)
            else:
                self._spread([create.result])
        self._find_loads(ops)
        self._find_copies(ops)

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._values

    def renamed(self, old: SSAValue, new: SSAValue) -> None:
        """A value was replaced by one of another type."""
        if old in self._values:
            self._values.add(new)

    def is_loaded(self, value: SSAValue) -> bool:
        """Whether ops read what a tensor in global memory holds."""
        return value in self.loaded or value in self.multiplied

    def read_as(self, old: SSAValue, new: SSAValue) -> None:
        """A tensor in global memory that is loaded got another name."""
        for loads in (self.loaded, self.multiplied):
            if old in loads:
                loads[new] = loads.pop(old)

    def forwards_tile(self, end: Operation, index: int) -> bool:
        """Whether an operand of the end of a region becomes a value that is on chip."""
        return any(target in self._values for target in self._targets.get((end, index), ()))

    def _spread(self, seeds: list[SSAValue]) -> None:
        todo = list(seeds)
        while todo:
            value = todo.pop()
            if value not in self._values:
                self._values.add(value)
                todo += self._steps.get(value, ())

    def _merges(self, ops: list[Operation]) -> list[SSAValue]:
        """The values that are one buffer or another, depending on control flow."""
        origins, sources = self._origins, self._sources
        for op in ops:
            for step in forwarding(op):
                if isinstance(step.target.type, TensorType):
                    sources.setdefault(step.target, []).append(step.source)
        merges: list[SSAValue] = []
        todo = list(sources)
        pending = set(todo)
        while todo:
            target = todo.pop()
            pending.discard(target)
            if origins.get(target) is target:
                continue
            known = {_origin(source, origins, sources) for source in sources[target]} - {None}
            if not known:
                continue
            found = known.pop()
            if known:
                found = target
                merges.append(target)
            assert found is not None
            if origins.get(target) is not found:
                origins[target] = found
                for user in self._later(target, sources):
                    if user not in pending:
                        pending.add(user)
                        todo.append(user)
        return merges

    def _later(
        self, value: SSAValue, sources: dict[SSAValue, list[SSAValue]]
    ) -> Iterator[SSAValue]:
        """The values of control flow that a value reaches through names of its buffer."""
        todo, seen = [value], {value}
        while todo:
            for step in self._steps.get(todo.pop(), ()):
                if step in sources:
                    yield step
                elif step not in seen:
                    seen.add(step)
                    todo.append(step)

    def _names(self, root: SSAValue) -> Iterator[SSAValue]:
        """Every value that may name the buffer of `root`."""
        todo, seen = [root], {root}
        while todo:
            value = todo.pop()
            yield value
            for step in self._steps.get(value, ()):
                if step not in seen:
                    seen.add(step)
                    todo.append(step)

    def _is_output(self, names: list[SSAValue]) -> bool:
        """Whether a new buffer with these names is written and returned, and never read."""
        if not any(name in self._returned for name in names):
            return False
        if any(name in self._values for name in names):
            return False
        return all(_only_writes(use.operation, use.index) for name in names for use in name.uses)

    def _find_loads(self, ops: list[Operation]) -> None:
        for op in ops:
            fresh = any(result in self._values for result in op.results)
            if isinstance(op, ptensor.AssembleOp):
                self._read(op.source, op)
            elif fresh and isinstance(op, ptensor.MatmulOp | ptensor.MatmulAccOp):
                self._read(op.lhs, op, self.multiplied)
                self._read(op.rhs, op, self.multiplied)
                if isinstance(op, ptensor.MatmulAccOp):
                    self._read(op.acc, op)
            elif fresh and isinstance(op, DeclaredOp):
                in_parts = set(op.LOADED_IN_PARTS)
                for (name, operand, _), (_, effect) in zip(
                    op.declared_operands(), op.operand_effects(), strict=True
                ):
                    if effect.reads and name not in in_parts:
                        self._read(operand, op)
            for step in forwarding(op):
                if step.target in self._values:
                    self._read(step.source, step.op)
            if not self.is_needed:
                self.is_needed = fresh or isinstance(op, _CONVERTED)
        self.is_needed = self.is_needed or bool(self.filled_outputs)

    def _find_copies(self, ops: list[Operation]) -> None:
        for op in ops:
            if not isinstance(op, orch.ReturnOp):
                continue
            for value in op.values:
                if not isinstance(value.type, TensorType) or value in self._values:
                    continue
                origin = _origin(value, self._origins, self._sources)
                if (
                    isinstance(origin, OpResult)
                    and isinstance(origin.op, DeclaredOp)
                    and origin.op.is_view(origin)
                ):
                    self.copied.add(value)
                    self._read(value, op)
                    self.is_needed = True

    def _read(
        self,
        value: SSAValue,
        op: Operation,
        loads: dict[SSAValue, Operation] | None = None,
    ) -> None:
        loads = self.loaded if loads is None else loads
        if isinstance(value.type, TensorType) and value not in self._values:
            loads.setdefault(value, op)


_CONVERTED = (ptensor.AssembleOp, ptensor.ExpandCloneOp, ptensor.GridOp)
"""Ops that make no tensor of their own and yet have another form on tiles."""


def _origin(
    value: SSAValue, origins: dict[SSAValue, SSAValue], sources: dict[SSAValue, list[SSAValue]]
) -> SSAValue | None:
    """
    What a value is a name of: a parameter, a new buffer, a window; None where that is not known
    yet.
    """
    while True:
        if value in sources:
            return origins.get(value)
        op = value.owner
        if not isinstance(value, OpResult) or not isinstance(op, DeclaredOp):
            return value
        named = op.named_operand(value)
        if named is None or op.is_view(value):
            return value
        value = named


def _only_writes(op: Operation, index: int) -> bool:
    """Whether an op uses its operand without reading what lies there, or passes it on."""
    if isinstance(op, orch.DispatchOp):
        return False
    if not isinstance(op, DeclaredOp):
        # The ends of regions and control flow forward names, and read nothing.
        return True
    if not op.READS_ELEMENTS:
        return True
    operand = op.operands[index]
    return all(not effect.reads for value, effect in op.operand_effects() if value is operand)
