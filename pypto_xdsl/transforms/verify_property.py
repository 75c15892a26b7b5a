"""
verify-property: checks that a program has an IR property, and changes nothing.

`pypto-opt --verify-property=NoNestedInCore in.mlir` reports each op that violates the property
at its line. The flag may be repeated, and stands in the order of passes: what is written after
a pass is checked after that pass. `--disable-verify` turns off what nobody asked for, not this.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.properties.holding import violations_of
from pypto_xdsl.properties.registry import PROPERTIES
from pypto_xdsl.syntax.spelling import did_you_mean


@dataclass(frozen=True)
class VerifyPropertyPass(ModulePass):
    """Check that the module has a property."""

    name = "verify-property"

    property: str
    """The property, as `SSAForm`."""

    def __post_init__(self) -> None:
        if self.property not in PROPERTIES:
            hint = did_you_mean(self.property, PROPERTIES)
            known = "" if hint else f"; there are {', '.join(PROPERTIES)}"
            raise ValueError(f"unknown property '{self.property}'{hint}{known}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if errors := violations_of(self.property, op):
            raise DiagnosticsError(errors)
