"""
Blocks of a launch that wait for each other: each doubles its rows, all meet, and each reads what
another has made. The results are compared with numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.machine_programs import parsed

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import run

BLOCKS = 3
W = f"tensor<{8 * BLOCKS}x16xf32>"
S = "tensor<16xi32>"
V = "!pto.tensor_view<?x?xf32>"
P = "!pto.partition_tensor_view<8x16xf32>"
UB = "!pto.tile_buf<vec, 8x16xf32>"
SEEDS = [None, 0, 1, 2, 3]
PASSES = "ascend910b-pipeline"


def program(meet: str) -> str:
    """Vector kernels on three cores; `%which` is the block, `%sync` a workspace of zeros."""
    views = "".join(
        f"  %{name}v = pto.make_tensor_view %{name}, shape = [%all, %c16], "
        f"strides = [%c16, %c1] : {V}\n"
        for name in "acy"
    )
    return f"""
orch.func aiv @vector(in {W}, inout {S}, out {W}, out {W}) -> {W} returns [3]
  implemented_by @unit::@vector
orch.func orchestration @main(in %a: {W}, inout %sync: {S}, out %c: {W}, out %y: {W}) -> {W} {{
  %n = arith.constant {BLOCKS} : index
  %y1 = orch.call @vector(%a, %sync, %c, %y) launch %n : ({W}, {S}, {W}, {W}) -> {W}
  orch.return %y1 : {W}
}}
builtin.module @unit attributes {{pto.target_arch = "a2a3"}} {{
func.func @vector(%a: !pto.ptr<f32>, %sync: !pto.ptr<i32>, %c: !pto.ptr<f32>, %y: !pto.ptr<f32>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %all = arith.constant {8 * BLOCKS} : index
  %block = pto.get_block_idx
  %which = arith.index_cast %block : i64 to index
  %row = arith.muli %which, %c8 : index
  %later = arith.addi %row, %c8 : index
  %next = arith.remui %later, %all : index
{views}
  %ap = pto.partition_view %av, offsets = [%row, %c0], sizes = [%c8, %c16] : {V} -> {P}
  %cp = pto.partition_view %cv, offsets = [%row, %c0], sizes = [%c8, %c16] : {V} -> {P}
  %np = pto.partition_view %cv, offsets = [%next, %c0], sizes = [%c8, %c16] : {V} -> {P}
  %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c8, %c16] : {V} -> {P}
  %t = pto.alloc_tile : {UB}
  %u = pto.alloc_tile : {UB}
  pto.tload ins(%ap : {P}) outs(%t : {UB})
  pto.tadd ins(%t, %t : {UB}, {UB}) outs(%u : {UB})
  pto.tstore ins(%u : {UB}) outs(%cp : {P})
  {meet}
  pto.tload ins(%np : {P}) outs(%t : {UB})
  pto.tstore ins(%t : {UB}) outs(%yp : {P})
  return
}}
}}
"""


HARD = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>"
SOFT = """pto.syncall(%sync : !pto.ptr<i32>) mode = #pto.sync_all_mode<soft>,
    core_type = #pto.sync_core_type<aiv_only>"""
COUNTED = f"""%used = arith.constant {BLOCKS} : i32
  pto.syncall(%sync, %used : !pto.ptr<i32>, i32) mode = #pto.sync_all_mode<soft>,
    core_type = #pto.sync_core_type<aiv_only>"""
FLAGS = """pto.sync.set #pto.pipe<PIPE_MTE3>, 5 {ffts_mode = 0 : i32}
  pto.sync.wait #pto.pipe<PIPE_MTE2>, 5"""
TWICE = HARD + "\n  " + HARD
IN_A_LOOP = f"scf.for %i = %c0 to %c8 step %c1 {{\n  {HARD}\n  }}"


def results(text: str, seed: int | None = None, passes: str = PASSES) -> tuple[Any, Any]:
    a = np.random.default_rng(0).standard_normal((8 * BLOCKS, 16)).astype(np.float32)
    given = {"a": a, "sync": np.zeros(16, np.int32), "c": None, "y": None}
    after = run(parsed(text, passes), "main", given, cores=CoreSettings(seed))
    return after.parameters["y"], np.roll(2 * a, -8, axis=0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("meet", [HARD, SOFT, COUNTED, FLAGS, TWICE, IN_A_LOOP])
def test_blocks_meet(meet: str, seed: int | None) -> None:
    np.testing.assert_array_equal(*results(program(meet), seed))


def message(text: str) -> str:
    with pytest.raises(DiagnosticsError) as error:
        results(text)
    return "\n".join(
        [error.value.diagnostics[0].message, *(n.message for n in error.value.diagnostics[0].notes)]
    )


def test_cores_of_another_kind_meet_nobody() -> None:
    """It orders nothing here, so what another block makes may not be there."""
    found = message(program(HARD.replace("aiv_only", "aic_only")))
    assert "nobody wrote" in found or "nothing orders them" in found


def test_a_block_that_does_not_come() -> None:
    again = f"%first = arith.cmpi eq, %which, %c0 : index\n  scf.if %first {{\n {HARD}\n  }}"
    found = message(program(f"{HARD}\n  {again}"))
    assert "of block 0 waits for other cores to meet, and not all of them come" in found


def test_flags_that_are_not_all_raised() -> None:
    part = "\n".join(
        (
            "%first = arith.cmpi ne, %which, %c0 : index",
            "scf.if %first {",
            "pto.sync.set #pto.pipe<PIPE_MTE3>, 5 {ffts_mode = 0 : i32}",
            "}",
            "pto.sync.wait #pto.pipe<PIPE_MTE2>, 5",
        )
    )
    assert "waits for flag 5" in message(program(part))


def test_flags_within_a_group_do_not_order_blocks() -> None:
    """In mode 1 only the vector cores of one group wait for each other."""
    found = message(program(FLAGS.replace("ffts_mode = 0", "ffts_mode = 1")))
    assert "nobody wrote" in found or "nothing orders them" in found


@pytest.mark.parametrize("meet", [HARD, SOFT, FLAGS])
def test_blocks_meet_before_they_have_addresses(meet: str) -> None:
    """Each core does what the text says in its order, and waits for the others."""
    np.testing.assert_array_equal(*results(program(meet), passes="derive-call-directions"))
