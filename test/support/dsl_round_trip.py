"""Modules written in the DSL and read back, for tests."""

from __future__ import annotations

from check_pypto_pairs import same
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs
from pypto_xdsl.targets.pl.program import program_text


def read(text: str, name: str = "<printed>") -> ModuleOp:
    """The only program of a text, verified."""
    source = read_source(text.encode(), name)
    (candidate,) = find_programs(source)
    module = read_program(source, candidate)
    assert verify(module) == []
    return module


def assert_comes_back(module: ModuleOp) -> str:
    """
    Write a module and read it back: it is the same up to names and the place of constants, and
    so is its text. Returns the text. Raises `DiagnosticsError` for what the DSL has no words for.
    """
    module = module.clone()
    # What a program runs on is not part of its text.
    module.attributes.pop("pto.target_arch", None)
    text = program_text(module)
    again = read(text)
    assert program_text(again) == text
    assert same(module, again), text
    return text
