"""Every program in `docs/examples` is read, is valid, and comes back the same."""

from pathlib import Path

import pytest
from check_pypto_pairs import same
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs
from pypto_xdsl.targets.pl.program import program_text

EXAMPLES = sorted((Path(__file__).parents[4] / "docs" / "examples").glob("*.py"))


def read_only(text: str, name: str) -> ModuleOp:
    source = read_source(text.encode(), name)
    (candidate,) = find_programs(source)
    module = read_program(source, candidate)
    assert verify(module) == []
    return module


def test_there_are_examples_of_every_construct() -> None:
    assert len(EXAMPLES) >= 20


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_read_and_comes_back_the_same(path: Path) -> None:
    module = read_only(path.read_text(), str(path))
    text = program_text(module)
    again = read_only(text, "<printed>")
    assert program_text(again) == text
    assert same(module, again)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_op_of_an_example_has_its_place(path: Path) -> None:
    module = read_only(path.read_text(), str(path))
    lines = path.read_text().splitlines()
    for op in module.walk():
        location = str(op.location)
        assert str(path) in location, f"{op.name} comes from nowhere"
        line, column = (int(part) for part in location.rstrip(")").split(":")[-2:])
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1
