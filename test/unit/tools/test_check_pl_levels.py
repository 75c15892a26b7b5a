"""The tool that reads back what programs print in the DSL, on programs made up here."""

from pathlib import Path

import pytest
from check_pl_levels import main

FOLDED = """
orch.func opaque @main(in %n : index) -> index {
  %one = arith.constant 1 : index
  %m = arith.muli %n, %one : index
  orch.return %m : index
}
"""
BITS = """
orch.func opaque @bits(in %a : i32, in %b : i32) -> i32 {
  %c = arith.ori %a, %b : i32
  orch.return %c : i32
}
"""


def test_programs_that_come_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it is read, and after the pass that folds."""
    (tmp_path / "folded.mlir").write_text(FOLDED)
    (tmp_path / "no_program.py").write_text("x = 1\n")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 programs, 2 texts, 0 that do not come back the same\n"


def test_programs_that_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bits.mlir"
    path.write_text(f"{FOLDED}\n// -----\n{BITS}")
    assert main([str(path)]) == 1
    assert capsys.readouterr().out == (
        "1 times: '_' op has no spelling in the DSL\n"
        "    bits.mlir:1 after reading: 'arith.ori' op has no spelling in the DSL\n"
        "2 programs, 3 texts, 1 that do not come back the same\n"
    )
