"""What unrolling makes is bounded, also where only unrolling tells how much it is."""

from __future__ import annotations

import pytest
from support.programs import context, program

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.transforms import unroll_loops
from pypto_xdsl.transforms.unroll_loops import UnrollLoopsPass

TRIANGLE = """
orch.func opaque @main(in %n : index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  scf.for %i = %c0 to %c20 step %c1 {
    scf.for %j = %c0 to %i step %c1 {
      %k = arith.addi %n, %j : index
    } {orch.loop = #orch<loop unroll>}
  } {orch.loop = #orch<loop unroll>}
  orch.return
}
"""


def test_loops_inside_whose_bounds_come_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 loops, and 190 ops in them."""
    module = program(TRIANGLE)
    UnrollLoopsPass().apply(context(), module)
    assert str(module).count("arith.addi") == 190
    monkeypatch.setattr(unroll_loops, "MOST_OPS", 200)
    with pytest.raises(DiagnosticsError) as error:
        UnrollLoopsPass().apply(context(), program(TRIANGLE))
    (found,) = error.value.diagnostics
    assert "is to be unrolled to more than 200 ops, with the loops inside" in found.message
    assert "%i" in TRIANGLE.split("\n")[found.line - 1]
