"""Programs of PyPTO that are refused on purpose, and why."""

from __future__ import annotations

import ast

from pypto_xdsl.frontend.pl.discovery import Candidate
from pypto_xdsl.frontend.pl.source import dotted_name

_REASONS = (
    ("distributed", "distributed"),
    ("on another device", "distributed"),
    ("cannot be a tile", "a tile as a parameter"),
    ("cannot return a tile", "a tile as a result"),
    (" calls itself", "recursion"),
    ("nothing writes the parameter", "a write that is lost"),
    ("element type pl.", "an element type that the 910B does not have"),
    (".random' is not supported", "an op that the 910B does not have"),
    ("but a task returns tensors only", "a device function that returns a scalar"),
)
"""Part of a message -> the reason in a word."""


def purpose(candidate: Candidate, message: str) -> str | None:
    """Why a program is refused on purpose, None if it should be read."""
    for part, reason in _REASONS:
        if part in message:
            return reason
    if candidate.around and _expects_an_error(candidate.around[-1]):
        return "its test expects an error"
    return None


def _expects_an_error(test: ast.FunctionDef | ast.ClassDef) -> bool:
    if "violation" in test.name:
        return True
    for node in ast.walk(test):
        if isinstance(node, ast.Call):
            path = dotted_name(node.func)
            if path is not None and path[-1].endswith("assert_violation"):
                return True
        if isinstance(node, ast.With):
            for item in node.items:
                call = item.context_expr
                path = dotted_name(call.func) if isinstance(call, ast.Call) else None
                if path is not None and path[-1] == "raises":
                    return True
    return False
