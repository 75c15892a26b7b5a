"""What `pypto-run` shows of how far a run is."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from support.programs import program
from xdsl.dialects import scf, test
from xdsl.ir import Operation

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.tools.pypto_run import main
from pypto_xdsl.tools.run_progress import RunProgress

NEST = """
orch.func opaque @f(in %x : tensor<4xf32>, out %y : tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %t = tile.load %x[0] : tensor<4xf32> -> !tile.tile<4xf32>
  scf.for %row = %c0 to %c2 step %c1 {
    scf.for %column = %c0 to %c3 step %c1 {
      %u = tile.add %t, %t : !tile.tile<4xf32>
    }
  }
  %y1 = tile.store %t, %y[0] : !tile.tile<4xf32>, tensor<4xf32>
  orch.return
}"""


class Clock:
    """Seconds that pass when told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def loops() -> list[Operation]:
    return [op for op in program(NEST).walk() if isinstance(op, scf.ForOp)]


def test_a_terminal_shows_one_line_after_a_second_and_clears_it() -> None:
    clock, out = Clock(), io.StringIO()
    progress = RunProgress(out, is_terminal=True, clock=clock)
    outer, inner = loops()
    progress.enter(outer, 4)
    progress.advance()
    clock.now = 0.9
    progress.advance()
    assert out.getvalue() == ""
    clock.now = 2.0
    progress.enter(inner, 8)
    progress.advance()
    # Not so soon again.
    clock.now = 2.1
    progress.advance()
    assert out.getvalue() == "\r\x1b[Krow 2 of 4 (50 %), column 1 of 8 (12 %), 2.0 s"
    progress.finish()
    assert out.getvalue().endswith("2.0 s\r\x1b[K")


def test_elsewhere_lines_are_written_where_asked_for() -> None:
    clock, out = Clock(), io.StringIO()
    progress = RunProgress(out, is_terminal=False, is_asked=True, clock=clock)
    outer, _ = loops()
    progress.enter(outer, 2)
    progress.launch(test.TestOp(), "kernel")
    clock.now = 0.9
    progress.launch(test.TestOp(), "kernel")
    clock.now = 1.5
    progress.advance()
    progress.leave()
    progress.finish()
    assert out.getvalue().splitlines() == [
        "kernel: row 0 of 2 (0 %), 1 task, 0.0 s",
        "kernel: row 1 of 2 (50 %), 2 tasks, 1.5 s",
        "done: 2 tasks, 1.5 s",
    ]


def test_nobody_asked_and_no_terminal() -> None:
    clock, out = Clock(), io.StringIO()
    progress = RunProgress(out, is_terminal=False, clock=clock)
    progress.finish()
    assert out.getvalue() == ""


class Heard:
    """What an interpreter tells."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def enter(self, loop: Operation, count: int) -> None:
        self.found.append(f"enter {count}")

    def advance(self) -> None:
        self.found.append("advance")

    def leave(self) -> None:
        self.found.append("leave")

    def launch(self, op: Operation, name: str) -> None:
        self.found.append(name)


def test_each_iteration_is_told() -> None:
    heard = Heard()
    run(program(NEST), "f", [np.ones(4, np.float32), None], progress=heard)
    inner = ["enter 3", "advance", "advance", "advance", "leave"]
    assert heard.found == ["enter 2", *[*inner, "advance"] * 2, "leave"]


def test_an_error_leaves_its_loops() -> None:
    heard = Heard()
    text = NEST.replace("%u = tile.add %t, %t", "%u = tile.create").replace(
        "%u = tile.create : !tile.tile<4xf32>",
        "%u = tile.create : !tile.tile<4xf32>\n"
        "      %y2 = tile.store %u, %y[0] : !tile.tile<4xf32>, tensor<4xf32>",
    )
    with pytest.raises(DiagnosticsError):
        run(program(text), "f", [np.ones(4, np.float32), None], progress=heard)
    assert heard.found == ["enter 2", "enter 3", "leave", "leave"]


def test_asked_for_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nest.mlir"
    path.write_text(NEST)
    assert main([str(path), "--arg", "x=ones", "--quiet", "--progress"]) == 0
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first.startswith("row 0 of 2 (0 %), column 1 of 3 (33 %), ")
    assert last.startswith("done: ")
    # Nobody asked, and this is no terminal.
    assert main([str(path), "--arg", "x=ones", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
