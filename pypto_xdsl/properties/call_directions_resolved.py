"""
CallDirectionsResolved: every call and submit says what it does to its arguments.

Wrappers declare the directions that their bodies imply; every call and submit of a function of
the program has one direction an argument, which the callee's parameter allows:

    in       input, no_dep
    inout    inout, output_existing, no_dep
    out      output, output_existing, inout, no_dep
    (no tensor)    scalar

A use without arguments has nothing to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp, TensorType

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.wrapper_directions import effective_directions
from pypto_xdsl.diagnostics import Diagnostic, diagnose, note
from pypto_xdsl.dialects.orch import ArgDirection, Direction, DispatchOp, FuncOp
from pypto_xdsl.properties.registry import Property

ALLOWED = {
    Direction.IN: (ArgDirection.INPUT, ArgDirection.NO_DEP),
    Direction.INOUT: (ArgDirection.INOUT, ArgDirection.OUTPUT_EXISTING, ArgDirection.NO_DEP),
    Direction.OUT: (
        ArgDirection.OUTPUT,
        ArgDirection.OUTPUT_EXISTING,
        ArgDirection.INOUT,
        ArgDirection.NO_DEP,
    ),
}
"""The directions of an argument that a parameter's direction allows."""


def _unresolved(module: ModuleOp) -> Iterable[Diagnostic]:
    calls = CallGraph(module)
    effective = effective_directions(calls)
    for function in calls.functions:
        if function in effective and effective[function] != function.parameter_directions:
            yield diagnose(
                function,
                f"'{function.sym_name.data}' has stale directions: its body implies "
                f"{_spelled(effective[function])}, it declares "
                f"{_spelled(function.parameter_directions)}",
            )
        for dispatch in calls.uses_in(function):
            callee = calls.callee(dispatch)
            if callee is not None and dispatch.arguments:
                yield from _errors(dispatch, function, callee)


def _errors(dispatch: DispatchOp, function: FuncOp, callee: FuncOp) -> Iterator[Diagnostic]:
    """The first thing wrong with the directions of one use."""
    where = f"in function '{function.sym_name.data}', use of '{callee.sym_name.data}'"
    given, wanted = len(dispatch.arguments), len(callee.directions)
    directions = dispatch.directions
    if directions is None:
        few = given < wanted and not dispatch.RETURNS_TASK
        reason = f": it has {given} arguments for {wanted} parameters"
        yield diagnose(
            dispatch,
            f"{where} has no directions of its arguments{reason if few or given > wanted else ''}",
            [note(callee, f"'{callee.sym_name.data}' is defined here")],
        )
        return
    if len(directions) != given:
        yield diagnose(dispatch, f"{where} has {given} arguments, but {len(directions)} directions")
        return
    declared = callee.parameter_directions
    for index, (argument, direction) in enumerate(zip(dispatch.arguments, directions, strict=True)):
        is_tensor = isinstance(argument.type, TensorType)
        if is_tensor is (direction is ArgDirection.SCALAR):
            what = "a tensor" if is_tensor else f"no tensor ({argument.type})"
            yield diagnose(
                dispatch, f"{where}: argument {index} is {what}, but its direction is {direction}"
            )
            return
        if is_tensor and index < wanted and direction not in ALLOWED[declared[index]]:
            allowed = ", ".join(allowed.value for allowed in ALLOWED[declared[index]])
            yield diagnose(
                dispatch,
                f"{where}: argument {index} is {direction.value}, but the parameter is "
                f"{declared[index].value}, which allows {allowed}",
                [note(callee, f"'{callee.sym_name.data}' is defined here")],
            )
            return


def _spelled(directions: Sequence[Direction]) -> str:
    return f"({', '.join(direction.value for direction in directions)})"


PROPERTY = Property(
    "CallDirectionsResolved",
    "every argument of every call and submit has a direction that its parameter allows",
    _unresolved,
)
