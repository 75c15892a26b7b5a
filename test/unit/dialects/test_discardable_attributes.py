"""Whatever an op carries beside what it is comes back from its text, custom and generic."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.printer import Printer
from xdsl.universe import Universe

from pypto_xdsl.syntax.parser import parse_module

DIALECTS = Path(__file__).parents[2] / "filecheck" / "dialects"
PROGRAMS = sorted(
    path
    for pattern in ("*/*.mlir", "*/*.pto")
    for path in DIALECTS.glob(pattern)
    if not path.name.startswith("invalid")
)
WITHOUT_WORDS = {"scf.yield", "arith.cmpi", "arith.cmpf"}
"""Ops of xDSL whose custom form has no place for attributes."""


def _read(text: str, name: str) -> ModuleOp:
    context = Context()
    for dialect, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(dialect, factory)
    return parse_module(context, text, name)


@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_attributes_come_back(path: Path, generic: bool) -> None:
    marks = {"test.text": StringAttr('a "b" \\ %c\n@d'), "test.unit": UnitAttr()}
    for part in path.read_text().split("// -----"):
        module = _read(part, path.name)
        for op in module.walk():
            if op.name not in WITHOUT_WORDS:
                op.attributes.update(marks)
        text = StringIO()
        Printer(text, print_generic_format=generic).print_op(module)
        again = _read(text.getvalue(), "printed")
        for op, other in zip(module.walk(), again.walk(), strict=True):
            assert (op.name, op.attributes) == (other.name, other.attributes)
