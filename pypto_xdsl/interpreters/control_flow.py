"""Structured control flow: xDSL's interpreter of `scf`, with steps checked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from xdsl.dialects import scf
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
from pypto_xdsl.interpreters.progress import Progress


def loop_iterations(args: PythonValues) -> range:
    """The indices of a loop with these operands. Raises `ProgramError`."""
    lower, upper, step = (arg.value.data for arg in args[:3])
    if step <= 0:
        raise ProgramError(f"needs a positive step, got {step}")
    if upper - lower > sys.maxsize * step:
        count = -((lower - upper) // step)
        raise ProgramError(f"has {count} iterations, which no run gets through")
    return range(lower, upper, step)


def index_maker(op: scf.ForOp) -> Callable[[int], Any]:
    """What makes a number a run-time value of the type of the index of a loop."""
    type = op.lb.type
    return index_value if type.name == "index" else partial(integer_value, type=type)


def told(progress: Progress, indices: Iterable[Any]) -> Iterator[Any]:
    """The indices of a loop, telling each time that the one before is done."""
    for index in indices:
        yield index
        progress.advance()


def run_loop(interpreter: Interpreter, op: scf.ForOp, args: PythonValues) -> PythonValues:
    """Run a loop iteration by iteration; what the last one returns."""
    iterations, carried = loop_iterations(args), args[3:]
    indices = map(index_maker(op), iterations)
    if not isinstance(interpreter, Machine):
        for index in indices:
            carried = interpreter.run_ssacfg_region(op.body, (index, *carried), "for")
        return carried
    run, progress = interpreter.region_plan(op.body), interpreter.progress
    if progress is None:
        return run.repeat(indices, len(iterations), carried)
    progress.enter(op, len(iterations))
    try:
        return run.repeat(told(progress, indices), len(iterations), carried)
    finally:
        progress.leave()


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
        return run_loop(interpreter, op, args)
