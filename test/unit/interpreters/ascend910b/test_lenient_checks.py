"""Each strict check by itself: an error, or by its name a warning, after which the run goes on."""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_programs import parsed, run_core

from pypto_xdsl.diagnostics import DiagnosticsError, collecting
from pypto_xdsl.interpreters.core_settings import Check, CoreSettings, parse_checks

T = "!pto.tile_buf<vec, 8x64xf32>"
NARROW = "!pto.tile_buf<vec, 8x3xf32>"
P = "!pto.partition_tensor_view<8x64xf32>"
V = "!pto.tensor_view<?x?xf32>"
FIRST, SECOND = "ascend910b.view ub[0]", "ascend910b.view ub[4096]"
LOADED = "ascend910b.set_flag MTE2 -> V, 0\n  ascend910b.wait_flag MTE2 -> V, 0"
LOAD = f"pto.tload ins(%xp : {P}) outs(%t : {T})"

GOOD = f"""
func.func @main(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>)
    attributes {{ascend910b.core = #ascend910b<core aiv>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %xv = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, %c1] : {V}
  %yv = pto.make_tensor_view %y, shape = [%c8, %c64], strides = [%c64, %c1] : {V}
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : {V} -> {P}
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c64] : {V} -> {P}
  %t = {FIRST} : {T}
  %u = {SECOND} : {T}
  {LOAD}
  {LOADED}
  pto.tadd ins(%t, %t : {T}, {T}) outs(%u : {T})
  ascend910b.set_flag V -> MTE3, 0
  ascend910b.wait_flag V -> MTE3, 0
  pto.tstore ins(%u : {T}) outs(%yp : {P})
  return
}}
"""

FAULTS: dict[Check, tuple[str, str, str, float | None]] = {
    Check.UNDEFINED: (LOAD, "", "which nobody wrote", None),
    Check.BOUNDS: (SECOND, "ascend910b.view ub[188000]", "which has 188416", 2.0),
    Check.ALIGNMENT: (SECOND, "ascend910b.view ub[4100]", "no multiple of 32", 2.0),
    Check.ORDER: (LOADED, "", "no event orders them", 2.0),
    Check.EVENT: (
        LOADED,
        f"ascend910b.set_flag MTE2 -> V, 1\n  {LOADED}",
        "which never waits for it",
        2.0,
    ),
    Check.RULE: (FIRST, f"ascend910b.view ub[8192] : {NARROW}\n  %w = {FIRST}", "32", 2.0),
}
"""What makes a good program a bad one, what is said of it, and the sums that come out still."""


def faulty(check: Check) -> str:
    old, new, _, _ = FAULTS[check]
    assert GOOD.count(old) == 1
    text = GOOD.replace(old, new)
    if check is Check.RULE:
        # A narrow tile that nothing uses, beside those of before.
        text = text.replace("%t = ", "%narrow = ", 1).replace("%w = ", "%t = ")
    return text


def sums(text: str, lenient: frozenset[Check]) -> np.ndarray:
    given = {"x": np.ones((8, 64)), "y": np.zeros((8, 64))}
    return run_core(parsed(text), given, cores=CoreSettings(None, lenient))["y"]


def test_a_good_program() -> None:
    with collecting() as found:
        assert (sums(GOOD, frozenset()) == 2).all()
    assert not found


@pytest.mark.parametrize("check", list(Check))
def test_strict(check: Check) -> None:
    # All others do not help.
    with collecting(), pytest.raises(DiagnosticsError) as error:
        sums(faulty(check), frozenset(Check) - {check})
    assert FAULTS[check][2] in error.value.diagnostics[0].message
    assert error.value.diagnostics[0].severity == "error"


@pytest.mark.parametrize("check", list(Check))
def test_lenient(check: Check) -> None:
    with collecting() as found:
        y = sums(faulty(check), parse_checks(check.value))
    assert FAULTS[check][2] in found[0].message
    assert {diagnostic.severity for diagnostic in found} == {"warning"}
    wanted = FAULTS[check][3]
    assert wanted is None or (y == wanted).all()


def test_all_by_name() -> None:
    assert parse_checks("all") == frozenset(Check)
    assert parse_checks("order,event") == frozenset({Check.ORDER, Check.EVENT})
    for check in Check:
        assert parse_checks(check.value) == frozenset({check})


def test_bytes_that_no_memory_can_have() -> None:
    """What is far outside is an error at any rate, with what it is and what there is."""
    text = GOOD.replace(SECOND, "ascend910b.view ub[100000000]")
    with collecting(), pytest.raises(DiagnosticsError) as error:
        sums(text, frozenset(Check))
    assert "which has 188416" in error.value.diagnostics[0].message
