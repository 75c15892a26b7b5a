"""What orders others does so on tiles, on bytes, and on cores that run beside each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import TO_CORE, assert_gives, levels, on_910b

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import ascend910b

RNG = np.random.default_rng(51)
X: Any = RNG.integers(0, 50, (96, 16)).astype(np.float32)
T = "tensor<96x16xf32>"
V = "!tile.tile<16x16xf32, vec>"


def test_barriers_and_events_of_a_kernel():
    """They change no number. Events that are there stay, and the rest is ordered beside them."""
    text = on_910b(
        f"""
        orch.func incore @k(in %x : {T}, in %n : index, out %o : {T}) -> {T} {{
          %t = tile.load %x[%n, 0] : {T} -> {V}
          tile.sync_src set_pipe = mte2, wait_pipe = v, event_id = 5
          tile.sync_dst set_pipe = mte2, wait_pipe = v, event_id = 5
          %u = tile.add %t, %t : {V}
          tile.bar_v
          %w = tile.add %u, %t : {V}
          tile.bar_all
          tile.fence
          tile.cacheinvalid
          tile.cacheinvalid %x[%n, 0], sizes = [1, 16] : {T}
          %r = tile.store %w, %o[%n, 0] : {V}, {T}
          orch.return %r : {T}
        }}
        """
    )
    wanted = np.zeros_like(X)
    wanted[7:23] = 3 * X[7:23]
    assert_gives(text, [X, 7, np.zeros_like(X)], wanted, pipelines=TO_CORE)
    *_, (_, module) = levels(text, TO_CORE)
    names = [op.name for op in module.walk()]
    assert names.count("ascend910b.barrier") == 2
    events = [op for op in module.walk() if isinstance(op, ascend910b.SetFlagOp)]
    assert [op.known_event for op in events] == [5]


FLAGS = """
  tile.sync_set ffts_mode = 0, pipe = mte3, event_id = 2
  tile.sync_wait pipe = mte2, event_id = 2
"""


def meeting(how: str) -> str:
    """Each of six blocks stores a tile, and after they met the one that the next has stored."""
    return on_910b(
        f"""
orch.func aiv @kernel(in %x : {T}, out %y : {T}, inout %s : tensor<16xi32>,
    in %w : tensor<256xi64>, in %c : i32, out %z : {T}) -> ({T}, {T}) {{
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c16 = arith.constant 16 : index
  tile.set_ffts %w : tensor<256xi64>
  %b = tile.get_block_idx : index
  %at = arith.muli %b, %c16 : index
  %t = tile.load %x[%at, 0] : {T} -> {V}
  %y1 = tile.store %t, %y[%at, 0] : {V}, {T}
  {how}
  %next = arith.addi %b, %c1 : index
  %other = arith.minsi %next, %c5 : index
  %from = arith.muli %other, %c16 : index
  %u = tile.load %y1[%from, 0] : {T} -> {V}
  %z1 = tile.store %u, %z[%at, 0] : {V}, {T}
  orch.return %y1, %z1 : {T}, {T}
}}
orch.func orchestration @k(in %x : {T}, inout %s : tensor<16xi32>, in %w : tensor<256xi64>,
    out %y : {T}) -> {T} {{
  %blocks = arith.constant 6 : index
  %cores = arith.constant 6 : i32
  %made = ptensor.create : {T}
  %m1, %y1 = orch.call @kernel(%x, %made, %s, %w, %cores, %y) launch %blocks
    : ({T}, {T}, tensor<16xi32>, tensor<256xi64>, i32, {T}) -> ({T}, {T})
  orch.return %y1 : {T}
}}
"""
    )


@pytest.mark.parametrize(
    "how",
    [
        "tile.syncall core_type = vector",
        "tile.syncall %s, %c, core_type = vector, mode = soft : tensor<16xi32>, i32",
        FLAGS,
    ],
    ids=["hard", "soft", "flags"],
)
def test_blocks_meet(how: str):
    wanted = np.concatenate([X[16:], X[-16:]])
    counters, words = np.zeros(16, np.int32), np.zeros(256, np.int64)
    assert_gives(meeting(how), [X, counters, words, np.zeros_like(X)], wanted, pipelines=TO_CORE)


def test_flags_need_their_place():
    """The assembler asks where the flags are, in the function that uses them."""
    text = meeting(FLAGS).replace("tile.set_ffts %w : tensor<256xi64>", "")
    with pytest.raises(DiagnosticsError, match="does not say where they are kept: tile"):
        list(levels(text, TO_CORE))


def test_a_flag_between_the_cores_of_a_group():
    """The cube core multiplies what the vector core has stored, once it has."""
    half, square = "!tile.tile<16x16xf16, mat>", "tensor<16x16xf16>"
    text = on_910b(
        f"""
orch.func aic @cube(in %x : {square}, in %h : {square}, in %w : tensor<256xi64>,
    out %o : tensor<16x16xf32>) -> tensor<16x16xf32> {{
  tile.set_ffts %w : tensor<256xi64>
  tile.sync_wait pipe = mte2, event_id = 3
  %a = tile.load %h[0, 0] : {square} -> {half}
  %b = tile.load %x[0, 0] : {square} -> {half}
  %l = tile.move %a : {half} -> !tile.tile<16x16xf16, left>
  %r = tile.move %b : {half} -> !tile.tile<16x16xf16, right>
  %p = tile.matmul %l, %r
    : !tile.tile<16x16xf16, left>, !tile.tile<16x16xf16, right> -> !tile.tile<16x16xf32, acc>
  %o1 = tile.store %p, %o[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  orch.return %o1 : tensor<16x16xf32>
}}
orch.func aiv @vector(in %x : {square}, out %h : {square}, in %w : tensor<256xi64>) -> {square} {{
  tile.set_ffts %w : tensor<256xi64>
  %t = tile.load %x[0, 0] : {square} -> !tile.tile<16x16xf16, vec>
  %d = tile.add %t, %t : !tile.tile<16x16xf16, vec>
  %h1 = tile.store %d, %h[0, 0] : !tile.tile<16x16xf16, vec>, {square}
  tile.sync_set pipe = mte3, event_id = 3, ffts_mode = 2
  orch.return %h1 : {square}
}}
orch.func group @both(in %x : {square}, inout %h : {square}, in %w : tensor<256xi64>,
    out %o : tensor<16x16xf32>) -> tensor<16x16xf32> {{
  %h1 = orch.call @vector(%x, %h, %w) : ({square}, {square}, tensor<256xi64>) -> {square}
  %o1 = orch.call @cube(%x, %h1, %w, %o)
    : ({square}, {square}, tensor<256xi64>, tensor<16x16xf32>) -> tensor<16x16xf32>
  orch.return %o1 : tensor<16x16xf32>
}}
orch.func orchestration @k(in %x : {square}, inout %h : {square}, in %w : tensor<256xi64>,
    out %o : tensor<16x16xf32>) -> tensor<16x16xf32> {{
  %o1 = orch.call @both(%x, %h, %w, %o)
    : ({square}, {square}, tensor<256xi64>, tensor<16x16xf32>) -> tensor<16x16xf32>
  orch.return %o1 : tensor<16x16xf32>
}}
"""
    )
    x: Any = RNG.integers(-3, 4, (16, 16)).astype(np.float16)
    wanted = 2 * x.astype(np.float32) @ x.astype(np.float32)
    arguments = [x, np.zeros_like(x), np.zeros(256, np.int64), np.zeros((16, 16), np.float32)]
    assert_gives(text, arguments, wanted, pipelines=TO_CORE)
