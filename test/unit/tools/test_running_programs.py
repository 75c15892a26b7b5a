"""docs/running-programs.md: its commands do what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pypto_xdsl.tools.argument_specs import GENERATORS
from pypto_xdsl.tools.pypto_run import main

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "running-programs.md").read_text()


def test_the_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    # What they save lands beside what they read.
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```shell\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines():
        command, *arguments = shlex.split(line)
        assert command == "pypto-run"
        assert main(arguments) == 0, capsys.readouterr().err
    assert "does the same after each of" in capsys.readouterr().out


def test_the_page_names_every_generator():
    for generator in GENERATORS.keys() - {"undefined"}:
        assert f"`{generator}" in PAGE
