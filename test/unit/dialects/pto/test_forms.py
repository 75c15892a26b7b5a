"""Every op has a tested form, and every form reads the same way everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from pto_programs import FORMS, context, parse, show

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.dialects import pto
from pypto_xdsl.syntax.parser import parse_module

VALID = sorted(path for path in FORMS.glob("*.pto") if not path.name.startswith("invalid_"))

NOT_IN_PROGRAMS = {
    # Read from files, but 0.57 lowers none of them on A2/A3.
    "pto.taddrelu",
    "pto.tsync",
    "pto.set_intra_block",
    "pto.wait_intra_block",
}


def test_every_op_has_a_form() -> None:
    text = "\n".join(path.read_text() for path in VALID)
    missing = {op.name for op in pto.OPS if not any(f"{op.name}{end}" in text for end in " ([{\n")}
    assert missing <= NOT_IN_PROGRAMS


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_plain_xdsl_reads_and_prints(path: Path) -> None:
    """xDSL's own parser and printer, custom and generic text."""
    module = parse(path.read_text())
    module.verify()
    for generic in (False, True):
        again = parse(show(module, generic=generic))
        again.verify()
        assert again.is_structurally_equivalent(module)
        assert show(again, generic=generic) == show(module, generic=generic)


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_locating_parser_reads_the_same(path: Path) -> None:
    module = parse_module(context(), path.read_text(), path.name)
    assert not list(verify(module))
    assert module.is_structurally_equivalent(parse(path.read_text()))
    assert show(module) == show(parse(path.read_text()))
