"""
A cube core and its vector cores, run together: products go through a queue, results come back
through flags; what goes wrong between cores is found and explained.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.machine_programs import parsed, run_core
from support.queue_programs import CONSTANTS, L0C, L1, PASSES, P, V, arguments, program

from pypto_xdsl.diagnostics import DiagnosticsError


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("seed", [None, 0, 1, 2, 3])
def test_tiles_go_through_a_queue(seed: int | None, split: bool) -> None:
    given = arguments()
    after = run_core(program(split=split), given, passes=PASSES, seed=seed)
    np.testing.assert_array_equal(after["y"], 2 * (given["a"] @ given["b"]))


def _error(old: str, new: str, *, split: bool = False) -> Any:
    text = program(split=split)
    assert text.count(old) == 1
    changed = text.replace(old, new)
    with pytest.raises(DiagnosticsError) as error:
        run_core(parsed(changed, PASSES), arguments())
    return error.value.diagnostics[0], changed.split("\n")


def test_slots_that_are_never_freed_stop_both_cores() -> None:
    found, lines = _error("    pto.tfree_from_aic {split = 0}\n", "")
    assert "waits forever: pipe FIX of the cube core waits for a free slot of queue 0" in (
        found.message
    )
    assert "tpush_to_aiv" in lines[found.line - 1]
    waiting = {note.message: lines[note.line - 1] for note in found.notes}
    assert "pipe V of the vector core waits for event 0 of MTE2 -> V" in waiting


def test_a_tile_that_is_never_pushed_is_waited_for_in_vain() -> None:
    old = "    pto.tpush_to_aiv(%c : " + L0C + ") {split = 0}\n"
    found, lines = _error(old, "")
    assert "waits for a tile of queue 0, which nobody pushes" in found.message
    assert "tpop_from_aic" in lines[found.line - 1]


def test_a_tile_that_is_never_taken_is_reported() -> None:
    old = "scf.for %i = %c0 to %c96 step %c16 {\n    %row"
    new = "%c80 = arith.constant 80 : index\n  scf.for %i = %c0 to %c80 step %c16 {\n    %row"
    found, lines = _error(old, new)
    assert "pushes a tile that the vector core never takes" in found.message
    assert "tpush_to_aiv" in lines[found.line - 1]


def test_a_tile_larger_than_a_slot_is_refused() -> None:
    found, _ = _error(
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024",
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 512",
    )
    assert "takes 1024 bytes of slots of 512 bytes" in found.message


FLAGS = f"""
func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>)
    attributes {{ascend910b.core = #ascend910b<core mix>}} {{{CONSTANTS}
  %xv = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : {V}
  %yv = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : {V}
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c16] : {V} -> {P}
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c16] : {V} -> {P}
  pto.section.vector {{
    %t = ascend910b.view ub[0] : !pto.tile_buf<vec, 16x16xf32>
    pto.tload ins(%xp : {P}) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
    ascend910b.set_flag MTE2 -> MTE3, 0
    ascend910b.wait_flag MTE2 -> MTE3, 0
    pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%yp : {P})
    ascend910b.set_cross_flag MTE3, 3
  }}
  pto.section.cube {{
    %m = ascend910b.view l1[0] : {L1}
    ascend910b.wait_cross_flag MTE2, 3
    pto.tload ins(%yp : {P}) outs(%m : {L1})
  }}
  return
}}
"""
"""A vector core copies x to y, a cube core loads y."""


def _copy(text: str, seed: int | None = None) -> dict[str, Any]:
    x = np.arange(256).reshape(16, 16)
    return run_core(text, {"x": x, "y": np.zeros((16, 16)), "z": x}, seed=seed)


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_flags_order_cores(seed: int | None) -> None:
    np.testing.assert_array_equal(_copy(FLAGS, seed)["y"], np.arange(256).reshape(16, 16))


@pytest.mark.parametrize(
    ("old", "message", "where"),
    [
        (
            "    ascend910b.set_cross_flag MTE3, 3\n",
            "waits forever: pipe MTE2 of the cube core waits for flag 3 of the other core",
            "wait_cross_flag",
        ),
        (
            "    ascend910b.wait_cross_flag MTE2, 3\n",
            "global memory on pipe",
            "%yp",
        ),
    ],
)
def test_a_flag_that_is_missing(old: str, message: str, where: str) -> None:
    text = FLAGS.replace(old, "")
    with pytest.raises(DiagnosticsError) as error:
        _copy(text)
    found = error.value.diagnostics[0]
    assert message in found.message
    assert where in text.split("\n")[found.line - 1]


def test_a_flag_that_is_never_taken() -> None:
    text = FLAGS.replace("    ascend910b.wait_cross_flag MTE2, 3\n", "").replace(
        f"    pto.tload ins(%yp : {P}) outs(%m : {L1})\n", ""
    )
    with pytest.raises(DiagnosticsError, match="raises flag 3 for the cube core, which never"):
        _copy(text)


FREE, POP = "    pto.tfree_from_aic {split = 0}\n", "    %t = pto.tpop_from_aic"


def test_a_slot_that_is_given_back_before_it_is_taken() -> None:
    """The cube core may fill it again while it is loaded."""
    text = program(split=False)
    assert text.count(FREE) == text.count(POP) == 1
    changed = text.replace(FREE, "").replace(POP, FREE + POP)
    with pytest.raises(DiagnosticsError) as error:
        run_core(parsed(changed, PASSES), arguments())
    found = error.value.diagnostics[0]
    assert "global memory" in found.message, found
    assert "nothing orders them" in found.message, found


def test_a_tile_that_lies_in_the_slots_of_a_queue() -> None:
    """The queue brings a tile to bytes that a store is still to read."""
    text = program(split=False).replace("auto = true", "auto = false, base = 0")
    passes = "allocate-memory-addr,convert-pto-to-ascend910b,insert-sync"
    right = str(parsed(text, passes))
    assert right.count("ub[2048]") == 1
    with pytest.raises(DiagnosticsError) as error:
        run_core(right.replace("ub[2048]", "ub[0]"), arguments())
    found = error.value.diagnostics[0]
    assert found.message.startswith("'pto.tpop_from_aic' op writes bytes 0..1024 of ub"), found
    assert "pipe MTE3 of the vector core may still have to read" in found.message, found


CYCLE = """
func.func @main(%x: !pto.ptr<f32>) attributes {ascend910b.core = #ascend910b<core mix>} {
  pto.section.cube {
    ascend910b.wait_cross_flag MTE2, 1
    ascend910b.set_cross_flag FIX, 2
  }
  pto.section.vector {
    ascend910b.wait_cross_flag MTE2, 2
    ascend910b.barrier ALL
    ascend910b.set_cross_flag MTE3, 1
  }
  return
}
"""


def test_cores_that_wait_for_each_other() -> None:
    """Who waits for whom is said of both."""
    with pytest.raises(DiagnosticsError) as error:
        run_core(CYCLE.replace("FIX, 2", "MTE2, 2"), {"x": np.zeros((1, 1))})
    found = error.value.diagnostics[0]
    told = "\n".join([found.message, *(note.message for note in found.notes)])
    assert "pipe MTE2 of the cube core waits for flag 1 of the other core" in told
    assert "pipe MTE2 of the vector core waits for flag 2 of the other core" in told
