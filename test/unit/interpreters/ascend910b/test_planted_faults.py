"""
Faults planted into programs that run: each is found at its line, and said in words a user can act
on. Without the fault, the same program gives the numbers of plain numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.machine_programs import run_core
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import DiagnosticsError

T = "!pto.tile_buf<vec, 16x64xf32>"
P = "!pto.partition_tensor_view<16x64xf32>"
V = "!pto.tensor_view<?x?xf32>"

PREAMBLE = f"""
func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index)
    attributes {{ascend910b.core = #ascend910b<core aiv>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %two = arith.constant 2.0 : f32
  %rows = arith.muli %n, %c16 : index
  %xv = pto.make_tensor_view %x, shape = [%rows, %c64], strides = [%c64, %c1] : {V}
  %yv = pto.make_tensor_view %y, shape = [%rows, %c64], strides = [%c64, %c1] : {V}
"""

LOOP = f"""{PREAMBLE}
  %t = ascend910b.view ub[0] : {T}
  %u = ascend910b.view ub[4096] : {T}
  ascend910b.set_flag V -> MTE2, 0  // before the loop
  ascend910b.set_flag MTE3 -> V, 0  // before the loop
  scf.for %i = %c0 to %n step %c1 {{
    %row = arith.muli %i, %c16 : index
    %xp = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c16, %c64] : {V} -> {P}
    %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c16, %c64] : {V} -> {P}
    ascend910b.wait_flag V -> MTE2, 0  // read before
    pto.tload ins(%xp : {P}) outs(%t : {T})
    ascend910b.set_flag MTE2 -> V, 0
    ascend910b.wait_flag MTE2 -> V, 0
    ascend910b.wait_flag MTE3 -> V, 0  // stored before
    pto.tmuls ins(%t, %two : {T}, f32) outs(%u : {T})
    ascend910b.set_flag V -> MTE2, 0  // read
    ascend910b.set_flag V -> MTE3, 0
    ascend910b.wait_flag V -> MTE3, 0
    pto.tstore ins(%u : {T}) outs(%yp : {P})
    ascend910b.set_flag MTE3 -> V, 0  // stored
  }}
  ascend910b.wait_flag MTE3 -> V, 0  // after the loop
  ascend910b.wait_flag V -> MTE2, 0  // after the loop
  return
}}
"""
"""Doubles x into y, 16 rows at a time."""

ONCE = f"""{PREAMBLE}
  %t = ascend910b.view ub[0] : {T}
  %u = ascend910b.view ub[4096] : {T}
  %tmp = ascend910b.view ub[8192] : {T}
  %s = ascend910b.view ub[12288] : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c64] : {V} -> {P}
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c64] : {V} -> {P}
  pto.tload ins(%xp : {P}) outs(%t : {T})
  ascend910b.set_flag MTE2 -> V, 0
  ascend910b.wait_flag MTE2 -> V, 0
  pto.trowsum ins(%t, %tmp : {T}, {T}) outs(%s : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>)
  pto.trowexpand ins(%s : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>) outs(%u : {T})
  ascend910b.set_flag V -> S, 3
  ascend910b.wait_flag V -> S, 3
  %one = pto.tgetval ins(%u, %c1 : {T}, index) outs : f32
  pto.tmuls ins(%u, %one : {T}, f32) outs(%u : {T})
  ascend910b.barrier ALL
  pto.tstore ins(%u : {T}) outs(%yp : {P})
  return
}}
"""
"""Each element is the sum of its row, times that of the first row."""


def _rows(count: int) -> np.ndarray[Any, Any]:
    return np.arange(count * 64, dtype=np.float32).reshape(count, 64) / 100


@dataclass(frozen=True)
class Program:
    text: str
    arguments: Mapping[str, Any]
    wanted: np.ndarray[Any, Any]

    def with_(self, *changes: tuple[str, str]) -> str:
        text = self.text
        for old, new in changes:
            assert text.count(old) == 1, (old, text.count(old))
            text = text.replace(old, new)
        return text


def _sums(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    sums = x.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    return np.broadcast_to(sums * sums[0], x.shape)


PROGRAMS = {
    "loop": Program(
        LOOP, {"x": _rows(48), "y": np.zeros((48, 64)), "n": 3}, _rows(48) * np.float32(2)
    ),
    "once": Program(ONCE, {"x": _rows(16), "y": np.zeros((16, 64)), "n": 1}, _sums(_rows(16))),
}


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_are_right(name: str, seed: int | None) -> None:
    program = PROGRAMS[name]
    after = run_core(program.text, program.arguments, seed=seed)
    np.testing.assert_array_equal(after["y"], program.wanted)


LOAD, MULS, STORE = "pto.tload ins", "pto.tmuls ins(%t", "pto.tstore ins"


def drop(line: str) -> tuple[str, str]:
    return line + "\n", "\n"


FAULTS: dict[str, tuple[str, tuple[tuple[str, str], ...], str, str]] = {
    "a dropped event between a load and its use": (
        "loop",
        (
            drop("ascend910b.set_flag MTE2 -> V, 0"),
            drop("ascend910b.wait_flag MTE2 -> V, 0"),
        ),
        MULS,
        "reads bytes 0..4096 of ub on pipe V of the vector core that pipe MTE2 of the vector core "
        "may still have to write",
    ),
    "a dropped wait": (
        "loop",
        (drop("ascend910b.wait_flag MTE2 -> V, 0"),),
        MULS,
        "no event orders them",
    ),
    "a lost event": (
        "loop",
        (drop("ascend910b.set_flag MTE2 -> V, 0"),),
        "ascend910b.wait_flag MTE2 -> V, 0",
        "waits forever: pipe V of the vector core waits for event 0 of MTE2 -> V",
    ),
    "a dropped event between the computation and the store": (
        "loop",
        (
            drop("ascend910b.set_flag V -> MTE3, 0"),
            drop("ascend910b.wait_flag V -> MTE3, 0"),
        ),
        STORE,
        "reads bytes 4096..8192 of ub on pipe MTE3",
    ),
    "the next iteration loads over what this one reads": (
        "loop",
        (
            drop("ascend910b.set_flag V -> MTE2, 0  // before the loop"),
            drop("ascend910b.wait_flag V -> MTE2, 0  // read before"),
            drop("ascend910b.set_flag V -> MTE2, 0  // read"),
            drop("ascend910b.wait_flag V -> MTE2, 0  // after the loop"),
        ),
        LOAD,
        "writes bytes 0..4096 of ub on pipe MTE2 of the vector core that pipe V of the vector core "
        "may still have to read",
    ),
    "the next iteration computes over what this one stores": (
        "loop",
        (
            drop("ascend910b.set_flag MTE3 -> V, 0  // before the loop"),
            drop("ascend910b.wait_flag MTE3 -> V, 0  // stored before"),
            drop("ascend910b.set_flag MTE3 -> V, 0  // stored"),
            drop("ascend910b.wait_flag MTE3 -> V, 0  // after the loop"),
        ),
        MULS,
        "writes bytes 4096..8192 of ub on pipe V of the vector core that pipe MTE3",
    ),
    "an event not set before the first iteration": (
        "loop",
        (drop("ascend910b.set_flag V -> MTE2, 0  // before the loop"),),
        "ascend910b.wait_flag V -> MTE2, 0  // read before",
        "waits forever",
    ),
    "an event not taken after the last iteration": (
        "loop",
        (drop("ascend910b.wait_flag V -> MTE2, 0  // after the loop"),),
        "ascend910b.set_flag V -> MTE2, 0  // read",
        "sets event 0 for pipe MTE2 of the vector core, which never waits for it",
    ),
    "an event set twice": (
        "loop",
        (
            (
                "ascend910b.set_flag V -> MTE3, 0",
                "ascend910b.set_flag V -> MTE3, 0\n    ascend910b.set_flag V -> MTE3, 0 // again",
            ),
        ),
        "ascend910b.set_flag V -> MTE3, 0 // again",
        "sets an event that is still set",
    ),
    "a wait for another event": (
        "loop",
        (("wait_flag V -> MTE3, 0", "wait_flag V -> MTE3, 1"),),
        "wait_flag V -> MTE3, 1",
        "waits forever: pipe MTE3 of the vector core waits for event 1 of V -> MTE3",
    ),
    "a wait for the event of another pipe": (
        "loop",
        (("wait_flag V -> MTE3, 0", "wait_flag MTE2 -> MTE3, 0"),),
        "wait_flag MTE2 -> MTE3, 0",
        "event 0 of MTE2 -> MTE3, which nobody sets",
    ),
    "an event number computed out of range": (
        "loop",
        (("wait_flag V -> MTE3, 0", "wait_flag V -> MTE3, %c64"),),
        "wait_flag V -> MTE3, %c64",
        "names event 64; there are 8",
    ),
    "tiles that overlap": (
        "loop",
        (("%u = ascend910b.view ub[4096]", "%u = ascend910b.view ub[2048]"),),
        LOAD,
        "writes bytes 2048..4096 of ub on pipe MTE2 of the vector core that pipe MTE3 of the "
        "vector core may still have to read",
    ),
    "a shifted address": (
        "once",
        (
            ("%u = ascend910b.view ub[4096]", "%u = ascend910b.view ub[16384]"),
            (f"pto.tstore ins(%u : {T})", f"pto.tstore ins(%w : {T})"),
            (
                "  ascend910b.barrier ALL",
                f"  %w = ascend910b.view ub[4096] : {T}\n  ascend910b.barrier ALL",
            ),
        ),
        "pto.tstore ins(%w",
        "reads bytes 4096..4100 of ub, which nobody wrote: element [0, 0] of [16, 64], and 1023 "
        "more",
    ),
    "a misaligned address": (
        "once",
        (("%u = ascend910b.view ub[4096]", "%u = ascend910b.view ub[4100]"),),
        "%u = ascend910b.view ub[4100]",
        "starts at byte 4100 of ub, which is no multiple of 32",
    ),
    "an address outside the memory": (
        "once",
        (("%u = ascend910b.view ub[4096]", "%u = ascend910b.view ub[188160]"),),
        "%u = ascend910b.view ub[188160]",
        "is bytes 188160..192256 of ub, which has 188416",
    ),
    "scratch that is read": (
        "once",
        (("pto.tmuls ins(%u, %one", "pto.tmuls ins(%tmp, %one"),),
        "pto.tmuls ins(%tmp",
        "reads bytes 8192..8196 of ub, which nobody wrote",
    ),
    "a tile that nobody wrote": (
        "once",
        (
            ("pto.tmuls ins(%u, %one", "pto.tmuls ins(%n0, %one"),
            ("  %tmp = ", f"  %n0 = ascend910b.view ub[65536] : {T}\n  %tmp = "),
        ),
        "pto.tmuls ins(%n0",
        "reads bytes 65536..65540 of ub, which nobody wrote",
    ),
    "a valid region larger than what was loaded": (
        "once",
        (
            (
                f"pto.tload ins(%xp : {P}) outs(%t : {T})",
                "%t8 = ascend910b.view ub[0] : !pto.tile_buf<vec, 16x64xf32, valid=8x64>\n"
                "  %c8 = arith.constant 8 : index\n"
                "  %x8 = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : "
                f"{V} -> !pto.partition_tensor_view<8x64xf32>\n"
                "  pto.tload ins(%x8 : !pto.partition_tensor_view<8x64xf32>) "
                "outs(%t8 : !pto.tile_buf<vec, 16x64xf32, valid=8x64>)",
            ),
        ),
        "pto.trowsum",
        "reads bytes 2048..2052 of ub, which nobody wrote: element [8, 0] of [16, 64], and 511 "
        "more",
    ),
    "a window that the valid region does not fill": (
        "once",
        (
            (
                "%u = ascend910b.view ub[4096] : " + T,
                "%u = ascend910b.view ub[4096] : " + T + "\n"
                "  %rows9 = arith.constant 9 : index\n"
                "  %d = ascend910b.view ub[4096], valid = [%rows9] : "
                "!pto.tile_buf<vec, 16x64xf32, valid=?x64>",
            ),
            (
                f"pto.tstore ins(%u : {T})",
                "pto.tstore ins(%d : !pto.tile_buf<vec, 16x64xf32, valid=?x64>)",
            ),
        ),
        "pto.tstore ins(%d",
        "a valid region of [9, 64] does not fill a window of [16, 64]",
    ),
    "a window outside the tensor": (
        "once",
        (
            (
                "%yp = pto.partition_view %yv, offsets = [%c0, %c0]",
                "%yp = pto.partition_view %yv, offsets = [%c1, %c0]",
            ),
        ),
        "%yp = pto.partition_view",
        "a window of [16, 64] at [1, 0] lies outside a tensor of [16, 64]",
    ),
    "the scalar unit reads too early": (
        "once",
        (drop("ascend910b.set_flag V -> S, 3"), drop("ascend910b.wait_flag V -> S, 3")),
        "%one = pto.tgetval",
        "reads bytes 4100..4104 of ub on pipe S of the vector core that pipe V of the vector core "
        "may still have to write",
    ),
    "a barrier dropped": (
        "once",
        (drop("ascend910b.barrier ALL"),),
        STORE,
        "reads bytes 4096..8192 of ub on pipe MTE3",
    ),
    "a barrier of one pipe alone": (
        "once",
        (("ascend910b.barrier ALL", "ascend910b.barrier V"),),
        STORE,
        "no event orders them",
    ),
    "a conversion that the vector unit does not have": (
        "once",
        (
            (
                "  ascend910b.barrier ALL",
                "  %q = ascend910b.view ub[32768] : !pto.tile_buf<vec, 16x64xi8>\n"
                f"  pto.tcvt ins(%u : {T}) outs(%q : !pto.tile_buf<vec, 16x64xi8>)\n"
                "  ascend910b.barrier ALL",
            ),
        ),
        "pto.tcvt",
        "converts f32 to i8, which takes a chain of conversions",
    ),
    "a tile with rows that are no blocks": (
        "once",
        (
            (
                "  %tmp = ",
                "  %odd = ascend910b.view ub[32768] : !pto.tile_buf<vec, 16x3xf32>\n  %tmp = ",
            ),
        ),
        "%odd = ",
        "has rows of 12 bytes, which is no multiple of 32",
    ),
    "a memory of the other core": (
        "once",
        (
            (
                "  %tmp = ",
                "  %l1 = ascend910b.view l1[0] : !pto.tile_buf<mat, 16x64xf32>\n  %tmp = ",
            ),
        ),
        "%l1 = ",
        "is in l1, which the vector core does not have",
    ),
    "a pipe of the other core": (
        "once",
        (
            (
                "  ascend910b.barrier ALL",
                "  ascend910b.set_flag V -> FIX, 0\n  ascend910b.barrier ALL",
            ),
        ),
        "ascend910b.set_flag V -> FIX, 0",
        "is about pipe FIX, which the vector core does not have",
    ),
    "an illegal move": (
        "once",
        (
            (
                "  ascend910b.barrier ALL",
                "  %l1 = ascend910b.view l1[0] : !pto.tile_buf<mat, 16x64xf32>\n"
                f"  pto.tmov ins(%u : {T}) outs(%l1 : !pto.tile_buf<mat, 16x64xf32>)\n"
                "  ascend910b.barrier ALL",
            ),
        ),
        "pto.tmov",
        "a supported tmov address-space pair, got vec to mat",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_at_its_line(fault: str) -> None:
    name, changes, where, message = FAULTS[fault]
    program = PROGRAMS[name]
    text = program.with_(*changes)
    with pytest.raises((DiagnosticsError, VerifyException)) as error:
        run_core(text, program.arguments)
    if not isinstance(error.value, DiagnosticsError):
        # Found by the verifier, before anything runs.
        assert message in str(error.value)
        return
    found = error.value.diagnostics[0]
    assert message in found.message, found
    lines = [number for number, line in enumerate(text.split("\n"), 1) if where in line]
    assert lines == [found.line], found


@pytest.mark.parametrize("seed", [0, 5, 11])
@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_found_in_any_order_of_the_pipes(fault: str, seed: int) -> None:
    """Which of several accesses that nothing orders is found first depends on the order."""
    name, changes, _, _ = FAULTS[fault]
    with pytest.raises((DiagnosticsError, VerifyException)):
        run_core(PROGRAMS[name].with_(*changes), PROGRAMS[name].arguments, seed=seed)
