"""What a task returns that its predicate kept from running: the buffers it would have written."""

from __future__ import annotations

from xdsl.interpreter import PythonValues
from xdsl.ir import SSAValue

from pypto_xdsl.analysis.live_in import live_ins
from pypto_xdsl.analysis.return_lineage import ReturnLineage, Tracer
from pypto_xdsl.dialects import orch
from pypto_xdsl.interpreters.errors import ProgramError


def results_of_skipped(
    lineage: ReturnLineage, callee: orch.FuncOp, arguments: PythonValues
) -> PythonValues:
    """
    The results of a call or submit that did not run: a result that names a parameter is the
    argument. Any other would have been computed, so that nobody can use it.
    """
    return tuple(
        _skipped(place) if found is None else arguments[found.parameter]
        for place, found in enumerate(lineage.of(callee))
    )


def origins_of_skipped(
    lineage: ReturnLineage, scope: orch.OutlinableScopeOp
) -> tuple[SSAValue, ...]:
    """Likewise of a scope: the values from outside that its outputs name."""
    outside = live_ins(scope).values
    tracer = Tracer(outside, lineage)
    found: list[SSAValue] = []
    for place, value in enumerate(scope.yield_op.values):
        trace = tracer.trace(value)
        found.append(_skipped(place) if trace is None else outside[trace.parameter])
    return tuple(found)


def _skipped(place: int) -> SSAValue:
    raise ProgramError(
        f"is kept from running by its predicate, so that its result {place}, which names no "
        f"argument, has no value"
    )
