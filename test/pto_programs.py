"""Programs of the `pto` dialect for tests."""

from __future__ import annotations

import io
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.universe import Universe

FORMS = Path(__file__).parent / "filecheck" / "dialects" / "pto"
"""Files with every op form; those named `invalid_*` hold what is refused."""


def context() -> Context:
    """A context in which all dialects can be loaded."""
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def parse(text: str) -> ModuleOp:
    """A program, by xDSL's own parser."""
    return Parser(context(), text).parse_module()


def show(module: ModuleOp, *, generic: bool = False) -> str:
    """A program's text, by xDSL's own printer."""
    stream = io.StringIO()
    Printer(stream, print_generic_format=generic).print_op(module)
    return stream.getvalue()
