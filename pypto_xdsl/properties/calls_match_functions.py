"""
CallsMatchFunctions: every call and submit names a function of the program, gives it what it takes
and gets what it returns.

An op cannot check this itself: looking up a symbol from each call is a scan of the module each.
Extents that are known on both sides must agree; one known on one side only is settled when the
program runs. A symbolic extent of the callee stands for one extent a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.diagnostics import Diagnostic, diagnose, note
from pypto_xdsl.dialects.orch import Direction, DispatchOp, FuncOp
from pypto_xdsl.dialects.ptensor.types import is_tensor_type, symbolic_shape_of
from pypto_xdsl.properties.registry import Property
from pypto_xdsl.syntax.spelling import did_you_mean


def _mismatches(module: ModuleOp) -> Iterable[Diagnostic]:
    calls = CallGraph(module)
    for dispatch in calls.stray_uses:
        yield diagnose(
            dispatch,
            f"uses '{dispatch.callee_name}' in no 'orch.func', from which alone functions are used",
        )
    for function in calls.functions:
        for dispatch in calls.uses_in(function):
            callee = calls.callee(dispatch)
            if callee is None:
                yield _unknown_callee(calls, dispatch)
            else:
                yield from _mismatches_with(dispatch, callee, function)


def _unknown_callee(calls: CallGraph, dispatch: DispatchOp) -> Diagnostic:
    name = dispatch.callee_name
    hint = did_you_mean(name, (function.sym_name.data for function in calls.functions))
    return diagnose(dispatch, f"uses '{name}', which is no function here{hint}")


def _mismatches_with(dispatch: DispatchOp, callee: FuncOp, caller: FuncOp) -> Iterator[Diagnostic]:
    name = callee.sym_name.data
    where = f"in function '{caller.sym_name.data}'"
    here = [note(callee, f"'{name}' is defined here")]
    arguments = [argument.type for argument in dispatch.arguments]
    parameters = callee.function_type.inputs.data
    omitted = callee.parameter_directions[len(arguments) :]
    may_omit = dispatch.RETURNS_TASK and all(given is Direction.OUT for given in omitted)
    if len(arguments) > len(parameters) or (omitted and not may_omit):
        counts = f"has {len(arguments)} arguments of '{name}', which takes {len(parameters)}"
        yield diagnose(dispatch, f"{where} {counts}", here)
        return
    results = [result.type for result in dispatch.callee_results]
    returned = callee.function_type.outputs.data
    if len(results) != len(returned):
        counts = f"has {len(results)} results of '{name}', which returns {len(returned)}"
        yield diagnose(dispatch, f"{where} {counts}", here)
        return
    extents: dict[str, int] = {}
    for what, given, wanted in (
        ("argument", arguments, parameters[: len(arguments)]),
        ("result", results, returned),
    ):
        for index, (mine, theirs) in enumerate(zip(given, wanted, strict=True)):
            if problem := _mismatch(mine, theirs, extents):
                message = f"{where} has {mine} as {what} #{index} of '{name}', {problem}"
                yield diagnose(dispatch, message, here)


def _mismatch(mine: Attribute, theirs: Attribute, extents: dict[str, int]) -> str | None:
    """
    Why a value at the call does not fit one of the callee; None if it does. `extents` are those
    that the callee's symbols stand for at this call, as far as known.
    """
    if not is_tensor_type(mine) or not is_tensor_type(theirs):
        return None if mine == theirs else f"which has {theirs}"
    shapes = mine.get_shape(), theirs.get_shape()
    if mine.element_type != theirs.element_type or len(shapes[0]) != len(shapes[1]):
        return f"which has {theirs}"
    for extent, wanted in zip(shapes[0], symbolic_shape_of(theirs), strict=True):
        if extent < 0:
            continue
        if isinstance(wanted, str):
            known = extents.setdefault(wanted, extent)
            if known != extent:
                return f"whose extent '{wanted}' is {known} at this call"
        elif wanted >= 0 and wanted != extent:
            return f"which has {theirs}"
    return None


PROPERTY = Property(
    "CallsMatchFunctions",
    "every call and submit fits the function that it names",
    _mismatches,
)
