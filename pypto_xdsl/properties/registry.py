"""
IR properties: what passes may rely on, and how each is checked.

A property is a verifier that derives its verdict from the IR alone, never from a mark that a
pass left. It lives in the file of its name, as the constant `PROPERTY`: `NoNestedInCore` is
`PROPERTY` in `properties/no_nested_in_core.py`. To add one, write the file and add its name to
`STRUCTURAL` (it holds at all times, and `pypto-opt` checks it at the start) or to `PIPELINE`
(some pass establishes it).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.diagnostics import Diagnostic

Verifier = Callable[[ModuleOp], Iterable[Diagnostic]]


@dataclass(frozen=True)
class Property:
    """Something that holds for a program, or does not."""

    name: str
    """As passes, messages and `--verify-property` spell it: `NoNestedInCore`."""
    summary: str
    """Holds if and only if ..., in one sentence: `no in-core scope is inside another`."""
    verifier: Verifier
    """
    Every violation in a module that verifies, in the order of the text; none if the property
    holds. Linear in the module. Warnings and remarks do not violate it.
    """


STRUCTURAL: dict[str, str] = {
    "ArrayNotEscaped": "orch",
    "CallsMatchFunctions": "orch",
    "ManualDepsOnSubmitOnly": "orch",
    "MarksKnown": "orch",
    "NoNestedInCore": "orch",
    "NoScalarKernelReturn": "orch",
    "NoStaleRead": "orch",
    "OutParamNotShadowed": "orch",
    "PtoFunctionsConsistent": "pto",
}
"""
The properties that hold at all times -> the dialect that they speak about: without an op of it
there is nothing to check.
"""

PIPELINE: tuple[str, ...] = (
    "AivSplitValid",
    "AllocatedMemoryAddr",
    "BackendLayoutsSatisfied",
    "CallDirectionsResolved",
    "ClusterOutlined",
    "HierarchyOutlined",
    "InOutUseValid",
    "IncoreTileOps",
    "InlineFunctionsEliminated",
    "IterArgCarryClassified",
    "KernelsLowered",
    "NormalizedStmtStructure",
    "OnCores",
    "OrchestrationReferencesResolved",
    "ReturnParamsExplicit",
    "RuntimeScopesMaterialized",
    "SSAForm",
    "SplitIncoreOrch",
    "TileMemoryInferred",
    "TileOps2D",
    "UnrollResolved",
)
"""The properties that hold from some pass on."""


def module_name(name: str) -> str:
    """The file of a property: `NoNestedInCore` -> `no_nested_in_core`, `TileOps2D` ->
    `tile_ops_2d`, `SSAForm` -> `ssa_form`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _lazily(name: str) -> Callable[[], Property]:
    return lambda: import_module(f"pypto_xdsl.properties.{module_name(name)}").PROPERTY


PROPERTIES: dict[str, Callable[[], Property]] = {
    name: _lazily(name) for name in (*STRUCTURAL, *PIPELINE)
}
"""Property name -> what imports it."""


def get_property(
    name: str, properties: Mapping[str, Callable[[], Property]] = PROPERTIES
) -> Property:
    """The property of a name; KeyError if there is none."""
    return properties[name]()


def structural_properties() -> tuple[str, ...]:
    """
    The structural properties that a program of this process can violate.

    An op of a dialect exists only once its dialect is imported, and a property about a dialect
    that nobody has imported holds without a look: a program of other dialects costs nothing.
    """
    return tuple(
        name
        for name, dialect in STRUCTURAL.items()
        if f"pypto_xdsl.dialects.{dialect}" in sys.modules
    )
