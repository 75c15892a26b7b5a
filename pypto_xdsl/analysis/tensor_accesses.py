"""
Which tensors the regions of an op read and write, through every name that they have there.

Each source of evidence is a lower bound, so none overrules another: an op's declared effects, and
the directions that a called function declares. A tensor that is only written is not read, since
writing a part of it moves nothing in. Naming a tensor (yielding, carrying, returning it) is no
access. A value that may name one of several tensors counts for each of them.

A slice, a reshape, another valid shape count as reads of what they name: in a kernel they are
loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from pypto_xdsl.analysis.control_flow import forwarding
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects.declared_op import DeclaredOp, Effect
from pypto_xdsl.dialects.orch import Direction, DispatchOp, LaunchingOp
from pypto_xdsl.dialects.tile import TileType

WriteFilter = Callable[[Operation, Effect], bool]
"""Whether a write that an op declares is one."""


@dataclass(frozen=True)
class TensorAccesses:
    """The tensors that are read and written, by each of their names."""

    reads: Mapping[SSAValue, Operation]
    """A name -> the first op that reads the tensor."""
    writes: Mapping[SSAValue, Operation]
    """A name -> the first op that writes the tensor."""

    def direction(self, value: SSAValue) -> Direction:
        """The direction of a parameter that stands for `value`."""
        if value not in self.writes:
            return Direction.IN
        return Direction.INOUT if value in self.reads else Direction.OUT


def tensor_accesses(
    op: Operation, program: ReturnLineage, *, is_write: WriteFilter | None = None
) -> TensorAccesses:
    """What the regions of `op` read and write; the operands of `op` itself do not count."""
    collector = _Collector(program, is_write)
    for inner in walk(op):
        collector.visit_control_flow(inner)
        if inner is not op and any(_is_tensor(o) for o in inner.operands):
            collector.visit(inner)
    return TensorAccesses(
        _reached(collector.reads, collector.names), _reached(collector.writes, collector.names)
    )


def _is_tensor(value: SSAValue) -> bool:
    # Asked of every operand of a program: the class, not a check of the type.
    return value.type.__class__ is TensorType


def is_store(op: Operation) -> bool:
    """Whether an op moves a tile to a tensor, and results in the tensor's next name."""
    return (
        isinstance(op, DeclaredOp)
        and any(
            _is_tensor(result) and op.named_operand(result) is not None for result in op.results
        )
        and any(isinstance(operand.type, TileType) for operand in op.operands)
    )


class _Collector:
    def __init__(self, program: ReturnLineage, is_write: WriteFilter | None):
        self.reads: list[tuple[SSAValue, Operation]] = []
        self.writes: list[tuple[SSAValue, Operation]] = []
        self.names: dict[SSAValue, list[SSAValue]] = {}
        """A value -> the values whose tensor it may name."""
        self._program = program
        self._is_write = is_write

    def visit_control_flow(self, op: Operation) -> None:
        if op.regions:
            for step in forwarding(op):
                if _is_tensor(step.target):
                    self._name(step.target, step.source)

    def visit(self, op: Operation) -> None:
        if isinstance(op, DeclaredOp):
            self._visit_declared(op)
        elif isinstance(op, DispatchOp):
            self._visit_dispatch(op)
        elif isinstance(op, LaunchingOp):
            # Of a scope's clauses only the predicate looks into a tensor.
            self._visit_predicate(op)
        elif not op.regions and not op.has_trait(IsTerminator, value_if_unregistered=False):
            self.reads += [(o, op) for o in op.operands if _is_tensor(o)]

    def _visit_declared(self, op: DeclaredOp) -> None:
        for operand, effect in op.operand_effects():
            if not _is_tensor(operand):
                continue
            if effect.reads and op.IS_ACCESS:
                self.reads.append((operand, op))
            if effect.writes and (self._is_write is None or self._is_write(op, effect)):
                self.writes.append((operand, op))
        for result in op.results:
            if _is_tensor(result):
                named = op.named_operand(result)
                if named is not None:
                    self._name(result, named)

    def _visit_dispatch(self, op: DispatchOp) -> None:
        self._visit_predicate(op)
        arguments = op.arguments
        callee = self._program.calls.callee(op)
        if callee is None:
            self.reads += [(a, op) for a in arguments if _is_tensor(a)]
            return
        # A submit may leave out trailing parameters.
        for argument, direction in zip(arguments, callee.parameter_directions, strict=False):
            if not _is_tensor(argument):
                continue
            if direction.reads:
                self.reads.append((argument, op))
            if direction.writes:
                self.writes.append((argument, op))
        for result, lineage in zip(op.callee_results, self._program.of(callee), strict=False):
            if lineage is not None and lineage.parameter < len(arguments):
                self._name(result, arguments[lineage.parameter])

    def _visit_predicate(self, op: LaunchingOp) -> None:
        if op.predicate_tensor is not None:
            self.reads.append((op.predicate_tensor, op))

    def _name(self, value: SSAValue, named: SSAValue) -> None:
        self.names.setdefault(value, []).append(named)


def _reached(
    events: Iterable[tuple[SSAValue, Operation]], names: Mapping[SSAValue, Sequence[SSAValue]]
) -> dict[SSAValue, Operation]:
    """Every name of a tensor that an op accesses -> the first such op."""
    found: dict[SSAValue, Operation] = {}
    for value, op in events:
        todo = [value]
        while todo:
            name = todo.pop()
            if name not in found:
                found[name] = op
                todo += names.get(name, ())
    return found
