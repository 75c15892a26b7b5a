"""
Groups that orchestration launches: their cube and vector kernels run at the same time, on tensors,
in the language of PTO and on the pipes of cores alike.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_programs import parsed
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import pto
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import run

T = "tensor<64x64xf32>"
RING = f"""
orch.func incore @mixed(in %a : {T}, in %b : {T}, out %y : {T}) -> {T} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%z = %y) -> ({T}) {{
    %p = ptensor.matmul %a, %b : {T}, {T} -> {T}
    %e = ptensor.abs %p : {T}
    %z1 = ptensor.assemble %e, %z[0, 0] : {T}, {T}
    scf.yield %z1 : {T}
  }}
  orch.return %last : {T}
}}
orch.func orchestration @main(in %a : {T}, in %b : {T}, out %y : {T}) -> {T} {{
  %y1 = orch.call @mixed(%a, %b, %y) : ({T}, {T}, {T}) -> {T}
  %y2 = orch.call @mixed(%y1, %b, %y1) : ({T}, {T}, {T}) -> {T}
  orch.return %y2 : {T}
}}
"""

LEVELS = ("default-pipeline", "default-pipeline,ascend910b-pipeline")
SEEDS = (None, 0, 1)


def matrices() -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    rng = np.random.default_rng(0)
    return {name: rng.integers(-2, 3, (64, 64)).astype(np.float32) for name in "ab"}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("passes", LEVELS)
def test_tiles_go_through_a_ring(passes: str, seed: int | None) -> None:
    given = matrices()
    text = RING.replace(
        "%y2 = orch.call @mixed(%y1, %b, %y1)", "%y2 = orch.call @mixed(%a, %b, %y1)"
    )
    module = parsed(text, passes)
    after = run(module, "main", {**given, "y": None}, cores=CoreSettings(seed))
    np.testing.assert_array_equal(after.parameters["y"], np.abs(given["a"] @ given["b"]))


def _without(module: ModuleOp, op_class: type[pto.PtoOp]) -> None:
    found = [op for op in module.walk() if isinstance(op, op_class)]
    assert found
    for op in found:
        op.detach()
        op.erase()


@pytest.mark.parametrize("passes", LEVELS)
def test_a_deadlock_is_explained(passes: str) -> None:
    """Slots that are never freed stop both cores once the ring is full."""
    module = parsed(RING, passes)
    _without(module, pto.TFreeFromAicOp)
    with pytest.raises(DiagnosticsError) as error:
        run(module, "main", {**matrices(), "y": None})
    found = error.value.diagnostics[0]
    assert "waits forever: pipe FIX of the cube core waits for a free slot of queue 0" in (
        found.message
    )
    assert any("a tile of queue 0" in note.message for note in found.notes)
    assert any("while running 'mixed', called from here" in note.message for note in found.notes)


P = "!pto.partition_tensor_view"
V = "!pto.tensor_view<?x?xf32>"
BLOCKS = 3
W = f"tensor<{16 * BLOCKS}x16xf32>"


def _tile(space: str, rows: int, layout: str) -> str:
    return f"!pto.tile_buf<{space}, {rows}x16xf32{layout}>"


L1 = _tile("mat", 16, ", blayout=col_major, slayout=row_major")
L0A = _tile("left", 16, ", slayout=row_major")
L0B = _tile("right", 16, ", slayout=col_major")
L0C = _tile("acc", 16, ", blayout=col_major, slayout=row_major, fractal=1024")
UB = _tile("vec", 8, "")
VIEWS = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %all = arith.constant {16 * BLOCKS} : index
"""


def _view(name: str) -> str:
    return (
        f"  %{name}v = pto.make_tensor_view %{name}, shape = [%all, %c16], "
        f"strides = [%c16, %c1] : {V}\n"
    )


def _part(name: str, row: str, rows: int) -> str:
    return (
        f"  %{name}p = pto.partition_view %{name}v, offsets = [{row}, %c0], "
        f"sizes = [%c{rows}, %c16] : {V} -> {P}<{rows}x16xf32>\n"
    )


FLAGS = f"""
orch.func aic @cube(in {W}, out {W}, out {W}) returns [] implemented_by @unit::@cube
orch.func aiv @vector(in {W}, out {W}, out {W}) -> {W} returns [2] implemented_by @unit::@vector
  attributes {{orch.dual_aiv_dispatch}}
orch.func group @both(in %a: {W}, out %c: {W}, out %y: {W}) -> {W} {{
  orch.call @cube(%a, %c, %y) : ({W}, {W}, {W}) -> ()
  %y1 = orch.call @vector(%a, %c, %y) : ({W}, {W}, {W}) -> {W}
  orch.return %y1 : {W}
}}
orch.func orchestration @main(in %a: {W}, out %c: {W}, out %y: {W}) -> {W} {{
  %n = arith.constant {BLOCKS} : index
  %y1 = orch.call @both(%a, %c, %y) launch %n : ({W}, {W}, {W}) -> {W}
  orch.return %y1 : {W}
}}
builtin.module @unit attributes {{pto.target_arch = "a2a3"}} {{
func.func @cube(%a: !pto.ptr<f32>, %c: !pto.ptr<f32>, %y: !pto.ptr<f32>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{{VIEWS}
  %block = pto.get_block_idx
  %which = arith.index_cast %block : i64 to index
  %row = arith.muli %which, %c16 : index
{_view("a")}{_view("c")}{_part("a", "%row", 16)}{_part("c", "%row", 16)}
  %al1 = pto.alloc_tile : {L1}
  %al = pto.alloc_tile : {L0A}
  %br = pto.alloc_tile : {L0B}
  %ac = pto.alloc_tile : {L0C}
  pto.tload ins(%ap : {P}<16x16xf32>) outs(%al1 : {L1})
  pto.tmov ins(%al1 : {L1}) outs(%al : {L0A})
  pto.tmov ins(%al1 : {L1}) outs(%br : {L0B})
  pto.tmatmul ins(%al, %br : {L0A}, {L0B}) outs(%ac : {L0C})
  pto.tstore ins(%ac : {L0C}) outs(%cp : {P}<16x16xf32>)
  pto.sync.set #pto.pipe<PIPE_FIX>, 3
  return
}}
func.func @vector(%a: !pto.ptr<f32>, %c: !pto.ptr<f32>, %y: !pto.ptr<f32>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{{VIEWS}
  %block = pto.get_block_idx
  %which = arith.index_cast %block : i64 to index
  %first = arith.muli %which, %c16 : index
  %sub = pto.get_subblock_idx
  %half = arith.index_cast %sub : i64 to index
  %below = arith.muli %half, %c8 : index
  %row = arith.addi %first, %below : index
{_view("c")}{_view("y")}{_part("c", "%row", 8)}{_part("y", "%row", 8)}
  %t = pto.alloc_tile : {UB}
  %u = pto.alloc_tile : {UB}
  pto.sync.wait #pto.pipe<PIPE_MTE2>, 3
  pto.tload ins(%cp : {P}<8x16xf32>) outs(%t : {UB})
  pto.tabs ins(%t : {UB}) outs(%u : {UB})
  pto.tstore ins(%u : {UB}) outs(%yp : {P}<8x16xf32>)
  return
}}
}}
"""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("passes", ["derive-call-directions", "ascend910b-pipeline"])
def test_each_block_of_a_launch_is_a_group(passes: str, seed: int | None) -> None:
    """The cube core squares the block's matrix; each vector core does half of what follows."""
    a = np.random.default_rng(1).integers(-2, 3, (16 * BLOCKS, 16)).astype(np.float32)
    after = run(
        parsed(FLAGS, passes), "main", {"a": a, "c": None, "y": None}, cores=CoreSettings(seed)
    )
    blocks = a.reshape(BLOCKS, 16, 16)
    np.testing.assert_array_equal(
        after.parameters["y"].reshape(BLOCKS, 16, 16), abs(blocks @ blocks)
    )


@pytest.mark.parametrize("passes", ["derive-call-directions", "ascend910b-pipeline"])
def test_a_flag_that_is_not_waited_for_orders_nothing(passes: str) -> None:
    text = FLAGS.replace("  pto.sync.wait #pto.pipe<PIPE_MTE2>, 3\n", "")
    with pytest.raises(DiagnosticsError) as error:
        run(
            parsed(text, passes),
            "main",
            {"a": np.ones((16 * BLOCKS, 16), np.float32)} | {"c": None, "y": None},
        )
    assert "global memory" in error.value.diagnostics[0].message


@pytest.mark.parametrize("passes", ["derive-call-directions", "ascend910b-pipeline"])
def test_a_flag_that_nobody_sets(passes: str) -> None:
    text = FLAGS.replace("  pto.sync.set #pto.pipe<PIPE_FIX>, 3\n", "")
    with pytest.raises(DiagnosticsError) as error:
        run(
            parsed(text, passes),
            "main",
            {"a": np.ones((16 * BLOCKS, 16), np.float32)} | {"c": None, "y": None},
        )
    found = error.value.diagnostics[0]
    assert "flag 3 of the other core, which nobody sets" in found.message
    assert any("the second vector core" in note.message for note in found.notes)
