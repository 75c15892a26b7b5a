"""The ops of a loop that may be steady, by what they depend on (see `steady_loops.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from pypto_xdsl.dialects import ascend910b, pto
from pypto_xdsl.dialects.pto import Pipe
from pypto_xdsl.interpreters.execution import Prepared
from pypto_xdsl.interpreters.pto.array_forms import Form, form_of
from pypto_xdsl.interpreters.pto.operands import constants_of, operand_place, operand_range

_SCALARS = (IndexType, IntegerType, AnyFloat)
_ORDERS = (ascend910b.EventOp, ascend910b.BarrierOp)

Step: TypeAlias = tuple[Operation, Prepared]
StepsOf: TypeAlias = Callable[[scf.ForOp], Sequence[Step]]
"""What runs the body of a loop."""


@dataclass(frozen=True)
class Window:
    """A window of global memory that differs from iteration to iteration by where it starts."""

    run: Prepared
    operands: Sequence[SSAValue]
    result: SSAValue
    source: SSAValue
    offsets: Sequence[SSAValue]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Instruction:
    """An instruction that has an array form."""

    op: Operation
    form: Form
    operands: Sequence[SSAValue]
    pipe: Pipe


@dataclass
class LoopBody:
    """What a loop does in an iteration."""

    loop: scf.ForOp
    scalars: list[Step] = field(default_factory=list[Step])
    """What computes numbers that differ."""
    windows: list[Window] = field(default_factory=list[Window])
    parts: list[int | LoopBody] = field(default_factory=list["int | LoopBody"])
    """The instructions, by their numbers in the nest, and the loops inside, in order."""
    uses_index: bool = False
    """Whether something is computed with the index, or it is carried on."""

    @property
    def index(self) -> SSAValue:
        return self.loop.body.block.args[0]

    @property
    def carried(self) -> Sequence[SSAValue]:
        """What an iteration is given by the one before."""
        return self.loop.body.block.args[1:]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """What an iteration gives the next one."""
        terminator = self.loop.body.block.last_op
        assert terminator is not None
        return terminator.operands


class _Unfit(Exception):
    """There is an op that only a core itself can run."""


@dataclass
class LoopNest:
    """A loop, and the loops inside, which run as often each time."""

    fixed: list[Step] = field(default_factory=list[Step])
    """What gives the same each iteration."""
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    outer: LoopBody = field(init=False)
    known: Any = None
    """What a run that was steady has shown."""
    failures: int = 0
    """How often it was run and was not steady."""
    _varying: set[SSAValue] = field(default_factory=set[SSAValue])
    _windows: set[SSAValue] = field(default_factory=set[SSAValue])

    @classmethod
    def of(cls, loop: scf.ForOp, steps_of: StepsOf) -> LoopNest | None:
        """The ops of a loop that may be steady, else None."""
        nest = cls()
        try:
            nest.outer = nest._body(loop, steps_of)
        except _Unfit:
            return None
        return nest if nest.instructions else None

    def _body(self, loop: scf.ForOp, steps_of: StepsOf) -> LoopBody:
        body = LoopBody(loop)
        self._varying.update(loop.body.block.args)
        if any(not isinstance(value.type, _SCALARS) for value in body.yielded):
            raise _Unfit
        for op, run in steps_of(loop):
            if isinstance(op, scf.ForOp):
                if op.results or self._varying.intersection(op.operands):
                    raise _Unfit
                body.parts.append(self._body(op, steps_of))
            else:
                self._add(body, op, run)
        users = [loop.body.block.last_op, *(op for op, _ in body.scalars)]
        body.uses_index = any(op is not None and body.index in op.operands for op in users)
        return body

    def _add(self, body: LoopBody, op: Operation, run: Prepared) -> None:
        form = form_of(run)
        uses = self._varying.intersection(op.operands)
        if form is not None:
            if uses - self._windows or op.results or not isinstance(op, pto.PtoOp):
                raise _Unfit
            assert op.pipe is not None
            body.parts.append(len(self.instructions))
            self.instructions.append(Instruction(op, form, tuple(op.operands), op.pipe))
        elif isinstance(op, _ORDERS):
            if op.operands:
                raise _Unfit
        elif op.regions or not is_side_effect_free(op) or uses & self._windows:
            raise _Unfit
        elif not uses:
            self.fixed.append((op, run))
        elif (window := _window(op, run)) is not None and window.source not in self._varying:
            body.windows.append(window)
            self._windows.add(window.result)
            self._varying.add(window.result)
        elif all(isinstance(value.type, _SCALARS) for value in (*op.operands, *op.results)):
            body.scalars.append((op, run))
            self._varying.update(op.results)
        else:
            raise _Unfit


def _window(op: Operation, run: Prepared) -> Window | None:
    if not isinstance(op, pto.PartitionViewOp):
        return None
    sizes = constants_of(op.operands[operand_range(op, "sizes")])
    if sizes is None:
        return None
    source = op.operands[operand_place(op, "source")]
    offsets = op.operands[operand_range(op, "offsets")]
    return Window(run, tuple(op.operands), op.results[0], source, tuple(offsets), sizes)
