"""A loaded tile is a value, whether it is a copy or a window that nobody can tell from one."""

from __future__ import annotations

import numpy as np
import pytest
from support.programs import program

from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.interpreters.borrowing import is_borrowed
from pypto_xdsl.interpreters.run import machine_for, run

X, T = "tensor<16x16xf32>", "!tile.tile<16x16xf32>"
LOAD = f"%a = tile.load %x[0, 0] : {X} -> {T}\n"
ZERO = f"%z = tile.sub %a0, %a0 : {T}\n%x1 = tile.store %z, %x[0, 0] : {T}, {X}\n"
FIRST = f"%a0 = tile.load %x[0, 0] : {X} -> {T}\n"
STORE = f"%y1 = tile.store %a, %y[0, 0] : {T}, {X}\n"

CASES: dict[str, tuple[str, bool]] = {
    "used at once": (
        f"{LOAD}%b = tile.add %a, %a : {T}\n%y1 = tile.store %b, %y[0, 0] : {T}, {X}",
        True,
    ),
    "stored as it is": (LOAD + STORE, True),
    "stored over what it was": (LOAD + STORE.replace("%y", "%x"), True),
    "written before its use": (FIRST + LOAD + ZERO + STORE, False),
    "stored twice": (LOAD + STORE + STORE.replace("%y1", "%y2"), False),
    "a part of it kept": (
        f"{FIRST}{LOAD}%h = tile.slice %a[8, 0] : {T} -> !tile.tile<8x16xf32>\n{ZERO}"
        f"%y1 = tile.store %h, %y[0, 0] : !tile.tile<8x16xf32>, {X}",
        False,
    ),
    "used in a loop": (
        f"{LOAD}%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        f"scf.for %i = %c0 to %c1 step %c1 {{\n{STORE}}}",
        False,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_stored_is_what_was_loaded(case: str) -> None:
    body, borrowed = CASES[case]
    module = program(
        f"orch.func incore @f(inout %x : {X}, inout %y : {X}) {{\n{body}\norch.return\n}}"
    )
    x = np.arange(256, dtype=np.float32).reshape(16, 16)
    outcome = run(module, "f", [x, np.zeros((16, 16), np.float32)])
    wanted = np.zeros((16, 16), np.float32)
    if case == "a part of it kept":
        wanted[:8] = x[8:]
    elif case != "stored over what it was":
        wanted = 2 * x if case == "used at once" else x
    np.testing.assert_array_equal(outcome.parameters["y"], wanted)
    zeroed = "written" in case or "part" in case
    np.testing.assert_array_equal(outcome.parameters["x"], np.zeros_like(x) if zeroed else x)
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    *_, load = (op for op in function.walk() if isinstance(op, tile.LoadOp))
    assert is_borrowed(machine_for(module), load.result) == borrowed
