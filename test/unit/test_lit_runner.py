"""The runner of lit tests fails when lit would, and understands what our tests say."""

from __future__ import annotations

from pathlib import Path

import pytest
from lit_runner import RunLineFailure, run_lines, run_test

PROGRAM = "func.func @f() {\n  func.return\n}\n"


def run(tmp_path: Path, *lines: str, ending: str = "mlir") -> None:
    comment = "#" if ending == "py" else "//"
    path = tmp_path / f"a.{ending}"
    path.write_text("".join(f"{comment} {line}\n" for line in lines) + PROGRAM)
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    run_test(path, scratch)


def test_run_lines_are_found_and_joined():
    text = "// RUN: one \\\n// RUN:   two\n# RUN: three\n// no\n//RUN: four | \\\n//RUN:five\n"
    assert run_lines(text) == ["one two", "three", "four | five"]


@pytest.mark.parametrize(
    "line",
    [
        "RUN: pypto-opt %s",
        "RUN: pypto-opt %s | filecheck %s --check-prefix YES",
        "RUN: pypto-opt < %s | filecheck %s --check-prefix=YES",
        "RUN: pypto-opt %s -o %t",
        "RUN: pypto-opt %s > %t",
        "RUN: not pypto-opt %S/nowhere.mlir",
        "RUN: not pypto-opt %S/nowhere.mlir 2> %t | cat && filecheck %s --check-prefix ERR < %t",
        "RUN: pypto-opt --cse %s 2> %t > %T/out",
        "RUN: not pypto-opt %S/nowhere.mlir 2>&1 | filecheck %s --check-prefix ERR",
        "RUN: xdsl-opt -p cse %s | pypto-opt --dce | filecheck %s --check-prefix YES",
        "RUN: cat %s | pypto-opt | filecheck %s --check-prefix YES",
        "RUN: pypto-opt %s > %t && diff %t %t",
        "RUN: pypto-opt %s | cat > %t ; pypto-opt %t -f mlir",
        "RUN: pypto-opt --disable-verify %s",
        "RUN: echo 100%% 'a | b' | filecheck %s --check-prefix PERCENT",
    ],
)
def test_what_succeeds(tmp_path: Path, line: str):
    run(
        tmp_path, line, "YES: func.func @f", "ERR: no such file or directory", "PERCENT: 100% a | b"
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no such line", "no RUN line"),
        ("RUN: not pypto-opt %s", "exit status 0"),
        ("RUN: pypto-opt %S/nowhere.mlir", "exit status 2"),
        ("RUN: pypto-opt %S/nowhere.mlir | cat", "exit status 2"),
        ("RUN: pypto-opt %s | filecheck %s --check-prefix NO", "exit status 1"),
        ("RUN: pypto-opt %s | filecheck %s", "exit status"),
        ("RUN: false && true", "exit status 1"),
        ("RUN: false | cat ; true ; false", "exit status 1"),
        ("RUN: xdsl-opt -p nothing %s", "Unrecognized passes"),
        # What goes to stderr is not what filecheck reads.
        ("RUN: not pypto-opt nowhere.mlir | filecheck %s --check-prefix ERR", "exit status 1"),
    ],
)
def test_what_fails(tmp_path: Path, line: str, why: str):
    with pytest.raises(RunLineFailure, match=why):
        run(tmp_path, line, "NO: func.func @g", "ERR: no such file")


def test_every_line_must_succeed(tmp_path: Path):
    with pytest.raises(RunLineFailure):
        run(tmp_path, "RUN: pypto-opt %s", "RUN: pypto-opt %s | not cat")


def test_lines_share_their_scratch_file(tmp_path: Path):
    run(
        tmp_path, "RUN: pypto-opt %s -o %t", "RUN: pypto-opt -f mlir %t | filecheck %s", "CHECK: @f"
    )
