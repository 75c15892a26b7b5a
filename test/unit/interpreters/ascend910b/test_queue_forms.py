"""
Queues in their other forms: named by a handle, and of slots that the program writes and reads
itself. What goes through them is compared with numpy, under several schedules.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_programs import parsed, run_core
from support.queue_programs import L0C, PASSES, arguments, program

from pypto_xdsl.diagnostics import DiagnosticsError

SEEDS = [None, 0, 1, 2, 3]


def replaced(text: str, *changes: tuple[str, str]) -> str:
    """A text in which each of some lines, which is there once, is another."""
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def with_handles(*, split: bool) -> str:
    """The program of the groups' tests, its queue named by a handle."""
    code = int(split)
    tile = f"!pto.tile_buf<vec, {8 if split else 16}x16xf32>"
    clauses = "{dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 4}"
    return replaced(
        program(split=split),
        (
            """pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}
    (gm_slot_buffer = %ring : !pto.ptr<f32>, c2v_consumer_buf = %there : i32)""",
            f"""%queue = pto.initialize_l2g2l_pipe {clauses}
    (%ring : !pto.ptr<f32>, %there : i32) -> !pto.pipe""",
        ),
        (
            """pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}
    (gm_slot_buffer = %ring : !pto.ptr<f32>, c2v_consumer_buf = %here : i32)""",
            f"""%queue = pto.initialize_l2g2l_pipe {clauses}
    (%ring : !pto.ptr<f32>, %here : i32) -> !pto.pipe""",
        ),
        (
            f"pto.tpush_to_aiv(%c : {L0C}) {{split = {code}}}",
            f"pto.tpush(%c, %queue : {L0C}, !pto.pipe) {{split = {code}}}",
        ),
        (
            f"%t = pto.tpop_from_aic {{split = {code}}} -> {tile}",
            f"""%t = pto.declare_tile -> {tile}
    pto.tpop(%t, %queue : {tile}, !pto.pipe) {{split = {code}}}""",
        ),
        (
            f"pto.tfree_from_aic {{split = {code}}}",
            f"pto.tfree(%queue : !pto.pipe) {{split = {code}}}",
        ),
    )


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_queue_with_a_handle(seed: int | None, split: bool) -> None:
    given = arguments()
    after = run_core(with_handles(split=split), given, passes=PASSES, seed=seed)
    np.testing.assert_array_equal(after["y"], 2 * (given["a"] @ given["b"]))


def of_views(*, split: bool) -> str:
    """Likewise, the cube core storing into slots, from which the vector cores load."""
    rows = 8 if split else 16
    code = int(split)
    tile = f"!pto.tile_buf<vec, {rows}x16xf32>"
    whole, own = "!pto.tensor_view<16x16xf32>", f"!pto.tensor_view<{rows}x16xf32>"
    part = f"!pto.partition_tensor_view<{rows}x16xf32>"
    return replaced(
        program(split=split),
        (
            """pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}
    (gm_slot_buffer = %ring : !pto.ptr<f32>, c2v_consumer_buf = %there : i32)""",
            f"""%slot = pto.make_tensor_view %ring, shape = [%c16, %c16], strides = [%c16, %c1]
    : {whole}
  pto.aic_initialize_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 2}}
    (gm_slot_tensor = %slot : {whole})""",
        ),
        (
            """pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}
    (gm_slot_buffer = %ring : !pto.ptr<f32>, c2v_consumer_buf = %here : i32)
  %rows =""",
            f"""%n = arith.constant {rows} : index
  %slot = pto.make_tensor_view %ring, shape = [%n, %c16], strides = [%c16, %c1] : {own}
  pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 2}}
    (gm_slot_tensor = %slot : {own})
  %t = pto.alloc_tile : {tile}
  %rows =""",
        ),
        (
            f"pto.tpush_to_aiv(%c : {L0C}) {{split = {code}}}",
            f"""%e = pto.talloc_to_aiv {{split = {code}}} -> {whole}
    %ep = pto.partition_view %e, offsets = [%c0, %c0], sizes = [%c16, %c16]
      : {whole} -> !pto.partition_tensor_view<16x16xf32>
    pto.tstore ins(%c : {L0C}) outs(%ep : !pto.partition_tensor_view<16x16xf32>)
    pto.tpush_to_aiv(%e : {whole}) {{split = {code}}}""",
        ),
        (
            f"%t = pto.tpop_from_aic {{split = {code}}} -> {tile}",
            f"""%e = pto.tpop_from_aic {{split = {code}}} -> {own}
    %ep = pto.partition_view %e, offsets = [%c0, %c0], sizes = [%rows, %c16] : {own} -> {part}
    pto.tload ins(%ep : {part}) outs(%t : {tile})""",
        ),
        (
            f"pto.tfree_from_aic {{split = {code}}}",
            f"pto.tfree_from_aic(%e : {own}) {{split = {code}}}",
        ),
    )


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_queue_of_views(seed: int | None, split: bool) -> None:
    given = arguments()
    after = run_core(of_views(split=split), given, passes=PASSES, seed=seed)
    np.testing.assert_array_equal(after["y"], 2 * (given["a"] @ given["b"]))


def message(text: str) -> str:
    with pytest.raises(DiagnosticsError) as error:
        run_core(parsed(text, PASSES), arguments())
    return error.value.diagnostics[0].message


FREE = "pto.tfree_from_aic(%e : !pto.tensor_view<16x16xf32>) {split = 0}"


def test_slots_that_are_not_given_back() -> None:
    """Of two slots, the third is waited for without an end."""
    found = message(replaced(of_views(split=False), (FREE, "")))
    assert "'pto.talloc_to_aiv' op waits forever" in found
    assert "a free slot of queue 0, which nobody frees" in found


def test_a_slot_that_is_given_back_early() -> None:
    """The cube core may write it again while it is read."""
    load = "    pto.tload ins(%ep : !pto.partition_tensor_view<16x16xf32>)"
    text = replaced(
        of_views(split=False), (FREE, ""), (f"{load} outs(%t", f"{FREE}\n{load} outs(%t")
    )
    assert "nothing orders them" in message(text)


VECTOR_END = "2, flag_base = 4}\n    (%ring : !pto.ptr<f32>, %here"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("%t = pto.declare_tile ->", "%t = pto.alloc_tile :", "into something that has memory"),
        (
            "pto.tpop(%t, ",
            "pto.tadd ins(%t, %t : {t}, {t}) outs(%u : {t})\n pto.tpop(%t, ",
            "uses a tile that is taken of a queue later",
        ),
        (
            f"1, slot_size = 1024, slot_num = {VECTOR_END}",
            f"2, slot_size = 1024, slot_num = {VECTOR_END}",
            "is on a queue from vector to cube, the other way",
        ),
        (VECTOR_END, VECTOR_END.replace("4", "6"), "waits forever"),
        ("%ring : !pto.ptr<f32>, %there : i32", "%ring : !pto.ptr<f32>", "c2v_consumer_buf"),
    ],
)
def test_handles_that_cannot_be_followed(old: str, new: str, found: str) -> None:
    tile = "!pto.tile_buf<vec, 16x16xf32>"
    text = replaced(with_handles(split=False), (old, new.replace("{t}", tile)))
    assert found in message(text)


def converting(quant: str, relu: str, scale: str) -> str:
    """Products are converted to f16 on their way into the queue."""
    tile, half = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tile_buf<vec, 16x16xf16>"
    epilogue = (
        "1024, slot_num = 2, nosplit = true, acc_push_epilogue = "
        f"#pto.acc_push_epilogue<layout = nz2nd, quant = {quant}, relu = {relu}>}}"
    )
    text = program(split=False).replace("1024, slot_num = 2}", epilogue)
    return replaced(
        text,
        (
            "  scf.for %i = %c0 to %c96 step %c16 {\n    %ap",
            f"  {scale}\n  scf.for %i = %c0 to %c96 step %c16 {{\n    %ap",
        ),
        ("  %u = pto.alloc_tile", f"  %w = pto.alloc_tile : {tile}\n  %u = pto.alloc_tile"),
        (
            f"%t = pto.tpop_from_aic {{split = 0}} -> {tile}",
            f"""%h = pto.tpop_from_aic {{split = 0}} -> {half}
    pto.tcvt ins(%h : {half}) outs(%w : {tile})""",
        ),
        (f"pto.tadd ins(%t, %t : {tile}, {tile})", f"pto.tadd ins(%w, %w : {tile}, {tile})"),
    )


SCALE = "%scale = arith.constant 0.25 : f32\n  pto.set_quant_scalar(%scale : f32) {id = 0}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("relu", ["no_relu", "normal_relu"])
@pytest.mark.parametrize(
    ("quant", "scale", "factor"), [("f32_f16", "", 1), ("qf322f16_pre_scalar", SCALE, 0.25)]
)
def test_accumulators_are_converted(
    quant: str, scale: str, factor: float, relu: str, seed: int | None
) -> None:
    given = arguments()
    after = run_core(converting(quant, relu, scale), given, passes=PASSES, seed=seed)
    product = (given["a"] @ given["b"] * factor).astype(np.float16).astype(np.float32)
    wanted = np.maximum(product, 0) if relu == "normal_relu" else product
    np.testing.assert_array_equal(after["y"], 2 * wanted)


def test_a_scale_that_is_missing() -> None:
    found = message(converting("qf322f16_pre_scalar", "no_relu", ""))
    assert "takes a pto.set_quant_scalar before" in found


def test_a_scale_that_nothing_takes() -> None:
    text = program(split=False)
    loop = "  scf.for %i = %c0 to %c96 step %c16 {\n    %ap"
    found = message(replaced(text, (loop, f"  {SCALE}\n{loop}")))
    assert "has no acc_push_epilogue" in found
