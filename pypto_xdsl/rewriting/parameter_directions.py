"""
Raising the directions of parameters to what the bodies do with them.

A hand-written kernel may declare a parameter `in` and write it all the same, and once ops on
tensors have become stores, the body says so for certain. `raise_directions` makes such a
parameter `out`, or `inout` where the body reads it too, and brings the functions that pass
parameters on in line. What is declared `out` or `inout` stays.
"""

from __future__ import annotations

from collections.abc import Container

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.tensor_accesses import tensor_accesses
from pypto_xdsl.dialects.declared_op import Effect
from pypto_xdsl.dialects.orch import Direction, FuncOp


def raise_directions(module: ModuleOp, only: Container[FuncOp] | None = None) -> None:
    """
    Make parameters that functions write `out` or `inout`, of all functions or of `only` some. In
    functions that run on no core only what their calls do counts.
    """
    calls = CallGraph(module)
    lineage = ReturnLineage(calls)
    for component in calls.components():
        # Callees come first; functions that call each other are repeated until nothing changes.
        changed = True
        while changed:
            changed = False
            for function in component:
                if function.is_declaration or (only is not None and function not in only):
                    continue
                if _raise(function, lineage):
                    changed = len(component) > 1


def _raise(function: FuncOp, lineage: ReturnLineage) -> bool:
    """Raise the directions of one function; whether any was."""
    declared = function.parameter_directions
    if Direction.IN not in declared:
        return False
    on_core = function.kind.data.is_in_core
    accesses = tensor_accesses(function, lineage, is_write=_counts if on_core else _never)
    found = tuple(
        accesses.direction(parameter) if direction is Direction.IN else direction
        for parameter, direction in zip(function.parameters, declared, strict=True)
    )
    if found == declared:
        return False
    function.set_parameter_directions(found)
    return True


def _counts(op: Operation, effect: Effect) -> bool:
    return True


def _never(op: Operation, effect: Effect) -> bool:
    return False
