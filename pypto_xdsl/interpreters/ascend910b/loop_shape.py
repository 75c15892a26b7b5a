"""The ops of a loop that may be steady, by what they depend on (see `steady_loops.py`)."""

from __future__ import annotations

from collections.abc import Sequence
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


@dataclass(frozen=True)
class Window:
    """A window of global memory that differs from turn to turn by where it starts."""

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
class LoopShape:
    """The ops of a loop, by what they depend on."""

    loop: scf.ForOp
    fixed: list[Step] = field(default_factory=list[Step])
    """What gives the same each turn."""
    scalars: list[Step] = field(default_factory=list[Step])
    """What computes numbers that differ."""
    windows: list[Window] = field(default_factory=list[Window])
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    uses_index: bool = False
    """Whether something is computed with the index, or it is carried on."""
    known: Any = None
    """What a run that was steady has shown."""
    failures: int = 0
    """How often the loop was run and was not steady."""

    @classmethod
    def of(cls, loop: scf.ForOp, steps: Sequence[Step]) -> LoopShape | None:
        """The shape of a loop that may be steady, else None."""
        shape = cls(loop)
        varying: set[SSAValue] = set(loop.body.block.args)
        windows: set[SSAValue] = set()
        terminator = loop.body.block.last_op
        if terminator is None or any(
            not isinstance(value.type, _SCALARS) for value in terminator.operands
        ):
            return None
        for op, run in steps:
            form = form_of(run)
            uses = {operand for operand in op.operands if operand in varying}
            if form is not None:
                if uses - windows or op.results or not isinstance(op, pto.PtoOp):
                    return None
                assert op.pipe is not None
                shape.instructions.append(Instruction(op, form, tuple(op.operands), op.pipe))
            elif isinstance(op, _ORDERS):
                if op.operands:
                    return None
            elif op.regions or not is_side_effect_free(op) or uses & windows:
                return None
            elif not uses:
                shape.fixed.append((op, run))
            elif (window := _window(op, run)) is not None and window.source not in varying:
                shape.windows.append(window)
                windows.add(window.result)
                varying.add(window.result)
            elif all(isinstance(value.type, _SCALARS) for value in (*op.operands, *op.results)):
                shape.scalars.append((op, run))
                varying.update(op.results)
            else:
                return None
        index = loop.body.block.args[0]
        shape.uses_index = any(
            index in op.operands for op in (terminator, *(op for op, _ in shape.scalars))
        )
        return shape if shape.instructions else None


def _window(op: Operation, run: Prepared) -> Window | None:
    if not isinstance(op, pto.PartitionViewOp):
        return None
    sizes = constants_of(op.operands[operand_range(op, "sizes")])
    if sizes is None:
        return None
    source = op.operands[operand_place(op, "source")]
    offsets = op.operands[operand_range(op, "offsets")]
    return Window(run, tuple(op.operands), op.results[0], source, tuple(offsets), sizes)
