"""
NormalizedStmtStructure: no statement sequence inside another, none of a single element.

The IR itself meets it: a block is one flat list of ops, and there is no other way to write a
sequence.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.diagnostics import Diagnostic
from pypto_xdsl.properties.registry import Property


def _nothing_to_find(module: ModuleOp) -> Iterable[Diagnostic]:
    return ()


PROPERTY = Property(
    "NormalizedStmtStructure", "a body is one flat sequence of statements", _nothing_to_find
)
