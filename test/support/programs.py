"""Programs from text, for tests."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.syntax.parser import parse_module


def context() -> Context:
    """A context that offers every dialect."""
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def program(text: str, name: str = "program.mlir") -> ModuleOp:
    """The module of a text, verified. Raises `DiagnosticsError` if it is wrong."""
    module = parse_module(context(), text, name)
    if errors := verify(module):
        raise DiagnosticsError(errors)
    return module
