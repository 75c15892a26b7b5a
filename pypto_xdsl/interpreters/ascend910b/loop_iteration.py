"""An iteration of a loop that may be steady: what its ops are given (see `steady_loops.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.interpreter import PythonValues
from xdsl.ir import SSAValue

from pypto_xdsl.interpreters.ascend910b.core import Core
from pypto_xdsl.interpreters.ascend910b.globals import CoreView
from pypto_xdsl.interpreters.ascend910b.loop_shape import LoopBody, LoopNest, Step
from pypto_xdsl.interpreters.ascend910b.memory import Span
from pypto_xdsl.interpreters.control_flow import index_maker, loop_iterations
from pypto_xdsl.interpreters.execution import PROGRAM_ERRORS
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.pto.array_forms import ArrayForm, Region
from pypto_xdsl.interpreters.values import Buffer


class NotSteady(Exception):
    """There is something that only the core itself can do."""


class LoopIteration:
    """An iteration that a core is about to begin: what its ops are given, the first time in it."""

    def __init__(
        self, machine: Machine, core: Core, nest: LoopNest, index: Any, carried: PythonValues
    ) -> None:
        self.core, self.nest = core, nest
        self._machine = machine
        self._values: dict[SSAValue, Any] = {}
        self._run(nest.fixed)
        self._enter(nest.outer, index, carried)
        self.args: list[PythonValues] = []
        """Of each instruction."""
        self.forms: list[ArrayForm] = []
        for instruction in nest.instructions:
            args = tuple([self.value(operand) for operand in instruction.operands])
            form = instruction.form(args)
            if form is None:
                raise NotSteady
            self.args.append(args)
            self.forms.append(form)
        lenders = core.group.lenders
        self.written = {
            lenders.lender_of(target.pointer.buffer.memory)
            for args, form in zip(self.args, self.forms, strict=True)
            if isinstance(target := args[form.write[0]], CoreView)
        }
        """The arrays in global memory that are written."""

    def _enter(self, body: LoopBody, index: Any, carried: PythonValues) -> None:
        """Run what gives numbers and windows in a loop."""
        self._values[body.index] = index
        self._values.update(zip(body.carried, carried, strict=True))
        self._run(body.scalars)
        for window in body.windows:
            operands = tuple([self.value(operand) for operand in window.operands])
            (self._values[window.result],) = window.run(operands)
        for inner in body.parts:
            if isinstance(inner, LoopBody):
                iterations = self.iterations(inner)
                if not iterations:
                    raise NotSteady
                self._enter(inner, index_maker(inner.loop)(iterations[0]), ())

    def _run(self, steps: Sequence[Step]) -> None:
        for op, run in steps:
            results = run(tuple([self.value(operand) for operand in op.operands]))
            self._values.update(zip(op.results, results, strict=True))

    def iterations(self, body: LoopBody) -> range:
        """The iterations of a loop inside."""
        loop = body.loop
        return loop_iterations((self.value(loop.lb), self.value(loop.ub), self.value(loop.step)))

    @classmethod
    def of(
        cls, machine: Machine, core: Core, nest: LoopNest, index: Any, carried: PythonValues
    ) -> LoopIteration | None:
        """
        The iteration of this index and these values, None where the loop is not steady for them. An
        error is left to the iteration that it is in.
        """
        try:
            return cls(machine, core, nest, index, carried)
        except (NotSteady, *PROGRAM_ERRORS):
            return None

    def value(self, value: SSAValue) -> Any:
        """What a value is in the iteration, as far as it depends on nothing that a tile holds."""
        found = self._values.get(value)
        if found is None:
            found = self._machine.value(value)
            self._values[value] = found
        return found

    def span(self, instruction: int, place: int, region: Region | None = None) -> Span:
        """The region of a tile that an instruction has to do with (None: all of it)."""
        tile = self.args[instruction][place]
        return tile.span(tile.type.get_shape() if region is None else region)

    def buffer(self, instruction: int, place: int) -> Buffer:
        """The buffer of global memory that an instruction has to do with."""
        return self.args[instruction][place].pointer.buffer

    def is_copied(self, instruction: int, place: int) -> bool:
        """Whether what an instruction loads is written by the loop."""
        memory = self.buffer(instruction, place).memory
        return self.core.group.lenders.lender_of(memory) in self.written
