"""
ReturnParamsExplicit: a result that is a parameter's buffer, written back, *is* the parameter.

Holds for the kernels, wrappers and graphs of a program that return tensors; then which parameter
a result is, is read off the return (`explicit_parameters`) and need not be traced. A result that
is known only under another type than the parameter's (a narrower valid shape) is not the
parameter, and neither is a buffer of the kernel's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp, TensorType

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage, explicit_parameters, returned_values
from pypto_xdsl.diagnostics import Diagnostic, diagnose, note
from pypto_xdsl.dialects.orch import FuncOp, FunctionKind
from pypto_xdsl.properties.registry import Property

EXTERNAL_SOURCE = "external_source"
"""On a function whose code stands elsewhere: what it returns is not to be looked at."""


def returns_parameters(function: FuncOp) -> bool:
    """Whether a function is of a kind whose results should be its parameters."""
    kind = function.kind.data
    return kind.is_device or kind is FunctionKind.GRAPH


def _implicit_returns(module: ModuleOp) -> Iterable[Diagnostic]:
    lineage = ReturnLineage(CallGraph(module))
    for function in lineage.calls.functions:
        if not returns_parameters(function) or function.is_declaration:
            continue
        if EXTERNAL_SOURCE in function.attributes:
            continue
        if any(isinstance(type, TensorType) for type in function.function_type.outputs):
            yield from _errors(function, lineage)


def _errors(function: FuncOp, lineage: ReturnLineage) -> Iterator[Diagnostic]:
    name = function.sym_name.data
    end = function.return_op
    if end is None:
        yield diagnose(function, f"'{name}' declares tensor results, but returns nothing")
        return
    explicit = explicit_parameters(function)
    for position, value in enumerate(returned_values(function)):
        traced = lineage.of(function)[position]
        if not isinstance(value.type, TensorType) or explicit[position] is not None:
            continue
        if traced is None or not traced.is_exact:
            continue
        parameter = function.parameters[traced.parameter]
        spelled = f" (%{value.name_hint})" if value.name_hint else ""
        hint = f" (%{parameter.name_hint})" if parameter.name_hint else ""
        yield diagnose(
            end,
            f"result {position}{spelled} of '{name}' is parameter {traced.parameter}{hint}, "
            "written back, and should be returned as such",
            [note(value, "the result is defined here")],
        )


PROPERTY = Property(
    "ReturnParamsExplicit",
    "every kernel, wrapper and graph returns the parameters it writes as the parameters themselves",
    _implicit_returns,
)
