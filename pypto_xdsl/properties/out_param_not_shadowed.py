"""
OutParamNotShadowed: no new buffer takes the place of a parameter that is to be written.

    orch.func incore @k(in %x : ..., out %out : ...) -> ... {
      %out_1 = ptensor.create : ...         // should be %out
      %out_2 = tile.store %t, %out_1[0] ...
      orch.return %out_2
    }

The caller's tensor is never written, though it passed one. A new buffer shadows a parameter if
it has its name, and the function does not write the parameter.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import SSAValue

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.tensor_accesses import tensor_accesses
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose, note
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.properties.registry import Property


def _shadowed(module: ModuleOp) -> Iterable[Diagnostic]:
    program: ReturnLineage | None = None
    for function in walk(module):
        if not isinstance(function, FuncOp) or function.is_declaration:
            continue
        names: dict[str | None, SSAValue] = {
            parameter.name_hint: parameter
            for parameter, direction in zip(
                function.parameters, function.parameter_directions, strict=True
            )
            if direction.writes and parameter.name_hint is not None
        }
        suspects = [op for op in walk(function) if _makes_buffer(op, names)] if names else []
        if not suspects:
            continue
        program = program or ReturnLineage(CallGraph(module))
        writes = tensor_accesses(function, program).writes
        for op in suspects:
            parameter = names.get(op.results[0].name_hint)
            if parameter is not None and parameter not in writes:
                yield diagnose(
                    op,
                    f"makes a new buffer in place of parameter %{parameter.name_hint}, which is "
                    "never written: write to the parameter, or give the buffer another name",
                    [note(parameter, "the parameter is here")],
                )


def _makes_buffer(op: object, names: Iterable[str | None]) -> bool:
    """Whether an op makes a tensor from no other tensor, with one of these names."""
    return (
        isinstance(op, DeclaredOp)
        and len(op.results) == 1
        and op.results[0].name_hint in names
        and isinstance(op.results[0].type, TensorType)
        and not any(isinstance(operand.type, TensorType) for operand in op.operands)
    )


PROPERTY = Property(
    "OutParamNotShadowed",
    "no new buffer takes the place of a parameter that is to be written",
    _shadowed,
)
