"""Structured control flow: xDSL's interpreter of `scf`, with steps checked."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.interpreters.scf import ScfFunctions

from pypto_xdsl.interpreters.elements import integer_value
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.execution import returns_operands
from pypto_xdsl.interpreters.indices import index_value
from pypto_xdsl.interpreters.machine import Machine


@register_impls
class ControlFlowFunctions(ScfFunctions):
    @returns_operands
    @impl_terminator(scf.YieldOp)
    def run_br(
        self, _interpreter: Interpreter, op: scf.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(scf.ForOp)
    def run_for(self, interpreter: Interpreter, op: scf.ForOp, args: PythonValues) -> PythonValues:
        lower, upper, step = (arg.value.data for arg in args[:3])
        if step <= 0:
            raise ProgramError(f"needs a positive step, got {step}")
        type = op.lb.type
        is_index = type.name == "index"
        carried = args[3:]

        def index(i: int) -> IntegerAttr[Any]:
            return index_value(i) if is_index else integer_value(i, type)

        if not isinstance(interpreter, Machine):
            for i in range(lower, upper, step):
                carried = interpreter.run_ssacfg_region(op.body, (index(i), *carried), "for")
            return carried
        run, progress = interpreter.region_plan(op.body), interpreter.progress
        if progress is None:
            for i in range(lower, upper, step):
                carried = run((index(i), *carried))
            return carried
        progress.enter(op, len(range(lower, upper, step)))
        try:
            for i in range(lower, upper, step):
                carried = run((index(i), *carried))
                progress.advance()
        finally:
            progress.leave()
        return carried
