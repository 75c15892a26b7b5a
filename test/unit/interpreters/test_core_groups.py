"""
Kernels of a group on tiles that pass tiles to each other, against numpy; what goes wrong between
them is told at the op that waits, or does what does not fit, with who else waits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.programs import program

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, collecting
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import RunResult, run
from pypto_xdsl.interpreters.task_graph_order import TaskGraphOrder

X, A, V, M = (
    "tensor<96x16xf32>",
    "!tile.tile<16x16xf32, acc>",
    "!tile.tile<16x16xf32, vec>",
    "!tile.tile<16x16xf32, mat>",
)
CONSTANTS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %none = arith.constant 0 : i32
"""
EACH = "  scf.for %i = %c0 to %c6 step %c1 {\n    %row = arith.muli %i, %c16 : index\n"

CUBE = f"""
  tile.aic_initialize_pipe %none, %none, dir_mask = 1, slot_size = 1024, slot_num = 2 : i32
{EACH}    %t = tile.load %x[%row, 0] : {X} -> {A}
    tile.tpush_to_aiv %t : {A}
  }}
"""
"""Pushes each of six blocks, through two slots."""

VECTOR = f"""
  tile.aiv_initialize_pipe %none, %none, dir_mask = 1, slot_size = 1024, slot_num = 2 : i32
  %last = scf.for %i = %c0 to %c6 step %c1 iter_args(%z = %y) -> ({X}) {{
    %row = arith.muli %i, %c16 : index
    %v = tile.tpop_from_aic : {V}
    %w = tile.add %v, %v : {V}
    tile.tfree_to_aic %v : {V}
    %z1 = tile.store %w, %z[%row, 0] : {V}, {X}
    scf.yield %z1 : {X}
  }}
"""
"""Stores each of them twice as large."""

BOTH = " attributes {orch.dual_aiv_dispatch}"


def group(cube: str = CUBE, vector: str = VECTOR, marks: str = "", launch: str = "") -> str:
    """A group of two kernels on blocks of 16x16; `%last` is what the second returns."""
    return f"""
orch.func aic @cube(in %x : {X}, out %y : {X}) {{{CONSTANTS}{cube}
  orch.return
}}
orch.func aiv @vector(in %x : {X}, out %y : {X}) -> {X}{marks} {{{CONSTANTS}{vector}
  orch.return %last : {X}
}}
orch.func group @both(in %x : {X}, out %y : {X}) -> {X} {{
  orch.call @cube(%x, %y) : ({X}, {X}) -> ()
  %y1 = orch.call @vector(%x, %y) : ({X}, {X}) -> {X}
  orch.return %y1 : {X}
}}
orch.func orchestration @main(in %x : {X}, out %y : {X}) -> {X} {{
  %c3 = arith.constant 3 : index
  %y1 = orch.call @both(%x, %y) {launch} : ({X}, {X}) -> {X}
  orch.return %y1 : {X}
}}
"""


def x() -> Any:
    return np.random.default_rng(0).standard_normal((96, 16)).astype(np.float32)


def run_text(text: str, function: str = "main", **options: Any) -> RunResult:
    return run(program(text), function, [x(), None], **options)


@pytest.mark.parametrize("function", ["main", "both"])
@pytest.mark.parametrize("order", [None, 0, 1, 2, 3])
def test_tiles_go_through_a_ring(function: str, order: int | None):
    options: dict[str, Any] = {"cores": CoreSettings(order)}
    if order is not None:
        options["scheduler"] = TaskGraphOrder(order)
    text = group().replace("@both(%x, %y)", "@both(input %x, output_existing %y)")
    result = run_text(text, function, **options)
    np.testing.assert_array_equal(result.parameters["y"], 2 * x())
    assert result.returned_parameters == (1,)


def test_each_block_of_a_launch_has_a_ring():
    text = group(launch="launch %c3")
    # Each block doubles two of the six blocks of the tensor.
    first = "  %two = arith.constant 2 : index\n  %block = tile.get_block_idx : index\n"
    first += "  %from = arith.muli %block, %two : index\n  %to = arith.addi %from, %two : index\n"
    text = text.replace("scf.for %i = %c0 to %c6", "scf.for %i = %from to %to")
    text = text.replace("  %none = arith", f"{first}  %none = arith")
    result = run_text(text)
    np.testing.assert_array_equal(result.parameters["y"], 2 * x())


HALF = "!tile.tile<8x16xf32, vec>"
LEFT = "!tile.tile<16x8xf32, vec>"


@pytest.mark.parametrize(
    ("split", "half", "place"),
    [("up_down", HALF, "[%at, 0]"), ("left_right", LEFT, "[%row, %at]")],
)
def test_each_vector_core_has_its_half_both_ways(split: str, half: str, place: str):
    """The halves are negated and pushed back; the cube core adds the whole to itself."""
    cube = f"""
  tile.aic_initialize_pipe %none, %none, dir_mask = 3, slot_size = 1024, slot_num = 2 : i32
  %last = scf.for %i = %c0 to %c6 step %c1 iter_args(%z = %y) -> ({X}) {{
    %row = arith.muli %i, %c16 : index
    %t = tile.load %x[%row, 0] : {X} -> {A}
    tile.tpush_to_aiv %t, split = {split} : {A}
    %b = tile.tpop_from_aiv split = {split} : {M}
    %z1 = tile.store %b, %z[%row, 0] : {M}, {X}
    tile.tfree_to_aiv %b, split = {split} : {M}
    scf.yield %z1 : {X}
  }}
"""
    vector = f"""
  tile.aiv_initialize_pipe %none, %none, dir_mask = 3, slot_size = 1024, slot_num = 2 : i32
  scf.for %i = %c0 to %c6 step %c1 {{
    %v = tile.tpop_from_aic split = {split} : {half}
    %s = tile.get_subblock_idx : index
    %n = arith.index_cast %s : index to i32
    %f = arith.sitofp %n : i32 to f32
    %w = tile.adds %v, %f : {half}, f32
    tile.tfree_to_aic %v, split = {split} : {half}
    tile.tpush_to_aic %w, split = {split} : {half}
  }}
"""
    text = group(cube.replace("%last =", "%unused ="), vector, BOTH)
    text = text.replace("orch.return %last", "orch.return %y")
    wanted = x().reshape(6, 16, 16)
    # The second core adds its number.
    wanted[(slice(None), slice(8, None)) if split == "up_down" else (..., slice(8, None))] += 1
    np.testing.assert_array_equal(run_text(text).parameters["y"], wanted.reshape(96, 16))


def odd(split: str, valid: str, offsets: str) -> str:
    """Of 5 rows, or columns, the first core takes three and the second two."""
    whole, half = f"!tile.tile<16x16xf32, acc, valid = [{valid}]>", "!tile.tile<8x16xf32, vec"
    sizes = valid.replace("5", "%own")
    type = f"{half}, valid = [{valid.replace('5', '?')}]>"
    cube = f"""
  tile.aic_initialize_pipe %none, %none, dir_mask = 1, slot_size = 1024, slot_num = 2 : i32
  %t = tile.load %x[0, 0] : {X} -> {whole}
  tile.tpush_to_aiv %t, split = {split} : {whole}
"""
    vector = f"""
  tile.aiv_initialize_pipe %none, %none, dir_mask = 1, slot_size = 1024, slot_num = 2 : i32
  %s = tile.get_subblock_idx : index
  %c3 = arith.constant 3 : index
  %from = arith.muli %s, %c3 : index
  %own = arith.subi %c3, %s : index
  %v = tile.tpop_from_aic valid = [{sizes}], split = {split} : {type}
  tile.tfree_to_aic %v, split = {split} : {type}
  %last = tile.store %v, %y[{offsets}] : {type}, {X}
"""
    return group(cube, vector, BOTH)


def test_of_an_odd_number_of_rows_the_first_core_has_one_more():
    result = run_text(odd("up_down_odd", "5, 16", "%from, 0")).tensors["y"]
    np.testing.assert_array_equal(result.array[:5], x()[:5])
    assert result.defined is not None
    assert result.defined.sum() == 5 * 16


def test_of_an_odd_number_of_columns_too():
    text = odd("left_right_odd", "8, 5", "0, %from")
    result = run_text(text).tensors["y"]
    np.testing.assert_array_equal(result.array[:8, :5], x()[:8, :5])
    assert result.defined is not None
    assert result.defined.sum() == 8 * 5


def test_a_ring_of_another_number_is_another_ring():
    """Six tiles are in the one with four slots and in the other, before anybody takes one."""
    cube, vector = CUBE, VECTOR
    first = "dir_mask = 1, slot_size = 1024, slot_num = 2"
    for end in ("aic", "aiv"):
        line = f"  tile.{end}_initialize_pipe %none, %none, {first} : i32\n"
        more = line.replace("slot_num = 2", "slot_num = 6, id = 3")
        cube, vector = (text.replace(line, line + more) for text in (cube, vector))
    cube = cube.replace(f"tile.tpush_to_aiv %t : {A}", f"tile.tpush_to_aiv %t, id = 3 : {A}")
    vector = vector.replace("tpop_from_aic :", "tpop_from_aic id = 3 :")
    vector = vector.replace(f"tfree_to_aic %v : {V}", f"tfree_to_aic %v, id = 3 : {V}")
    np.testing.assert_array_equal(run_text(group(cube, vector)).parameters["y"], 2 * x())


def test_kernels_that_run_one_after_the_other_set_up_their_own_rings():
    call = f"  orch.call @cube(%x, %y) : ({X}, {X}) -> ()\n"
    text = group().replace(call, call + call)
    text = text.replace("%y1 = orch.call @vector(%x, %y)", "%y1 = orch.call @vector(%x, %y0)")
    text = text.replace(
        "  %y1 = orch.call @vector",
        f"  %y0 = orch.call @vector(%x, %y) : ({X}, {X}) -> {X}\n  %y1 = orch.call @vector",
    )
    np.testing.assert_array_equal(run_text(text).parameters["y"], 2 * x())


def test_the_kernels_of_a_cluster_run_together_before_it_is_a_group():
    calls = f"""  %y1 = orch.cluster -> ({X}) {{
    orch.call @cube(%x, %y) : ({X}, {X}) -> ()
    %y2 = orch.call @vector(%x, %y) : ({X}, {X}) -> {X}
    orch.yield %y2 : {X}
  }}
"""
    text = group().replace(f"  %y1 = orch.call @both(%x, %y)  : ({X}, {X}) -> {X}\n", calls)
    assert "orch.cluster" in text
    np.testing.assert_array_equal(run_text(text).parameters["y"], 2 * x())


def test_a_kernel_may_return_a_buffer_of_its_own():
    """Only it can tell which, so that it runs before the group goes on."""
    vector = VECTOR.replace("%z = %y", "%z = %own").replace(
        "  %last", f"  %own = ptensor.create : {X}\n  %last", 1
    )
    np.testing.assert_array_equal(run_text(group(vector=vector)).results[0], 2 * x())


# What goes wrong.


def error(text: str, function: str = "main") -> tuple[Diagnostic, list[str]]:
    with pytest.raises(DiagnosticsError) as caught:
        run_text(text, function)
    (found,) = caught.value.diagnostics
    return found, text.split("\n")


def changed(old: str, new: str, count: int = 1, **parts: str) -> str:
    text = group(**parts)
    assert text.count(old) == count
    return text.replace(old, new)


PUSH, FREE = f"    tile.tpush_to_aiv %t : {A}\n", f"    tile.tfree_to_aic %v : {V}\n"


def test_a_tile_that_nobody_pushes():
    found, lines = error(changed(PUSH, ""))
    assert found.message == (
        "'tile.tpop_from_aic' op waits forever: the vector core waits for a tile of ring 0, which "
        "the cube core never pushes"
    )
    assert "tile.tpop_from_aic" in lines[found.line - 1]
    told = {note.message: lines[note.line - 1] for note in found.notes}
    assert "orch.call @cube" in told["the cube core has come to its end"]
    assert "orch.call @vector" in told["while running 'vector', called from here"]
    assert "orch.call @both" in told["while running 'both', called from here"]


def test_slots_that_nobody_frees():
    found, lines = error(changed(FREE, ""))
    assert "the cube core waits for a free slot of ring 0, which the vector core never frees" in (
        found.message
    )
    assert "tile.tpush_to_aiv" in lines[found.line - 1]
    told = {note.message: lines[note.line - 1] for note in found.notes}
    assert "tile.tpop_from_aic" in told["the vector core waits for a tile of ring 0"]
    assert "orch.call @cube" in told["while running 'cube', called from here"]


def test_cores_that_wait_for_each_other():
    cube = CUBE.replace("dir_mask = 1", "dir_mask = 3").replace(
        PUSH, f"    %m = tile.tpop_from_aiv : {M}\n{PUSH}"
    )
    found, lines = error(group(cube, VECTOR.replace("dir_mask = 1", "dir_mask = 3")))
    assert "the cube core waits for a tile of ring 0, which the vector core never pushes" in (
        found.message
    )
    assert "tile.tpop_from_aiv" in lines[found.line - 1]
    told = {note.message: lines[note.line - 1] for note in found.notes}
    assert "tile.tpop_from_aic" in told["the vector core waits for a tile of ring 0"]


def test_a_vector_core_that_does_not_keep_pace():
    """Of two vector cores that share a ring, the second one takes a tile less than the first."""
    vector = VECTOR.replace("%c0 to %c6 step", "%s to %c6 step").replace(
        "  %last", "  %s = tile.get_subblock_idx : index\n  %last", 1
    )
    store = f"    %z1 = tile.store %w, %z[%row, 0] : {V}, {X}\n"
    assert vector.count(store) == 1
    vector = vector.replace(store, "").replace("yield %z1", "yield %z")
    found, lines = error(group(vector=vector, marks=BOTH))
    assert "pushes a tile that the second vector core never takes" in found.message
    assert "tile.tpush_to_aiv" in lines[found.line - 1]


def test_a_tile_that_nobody_takes():
    text = changed("scf.for %i = %c0 to %c6 step %c1 iter", "scf.for %i = %c1 to %c6 step %c1 iter")
    found, lines = error(text)
    assert "pushes a tile that the vector core never takes" in found.message
    assert "tile.tpush_to_aiv" in lines[found.line - 1]
    with collecting() as warnings:
        run_text(text, strict=False)
    assert [w.message for w in warnings] == [found.message]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("vector", "the vector core waits for a tile of ring 0, which nobody pushes"),
        ("cube", "the cube core waits for a free slot of ring 0, which nobody frees"),
    ],
)
def test_a_kernel_alone_waits_for_nobody(function: str, message: str):
    found, _ = error(group(), function)
    assert message in found.message


def test_a_kernel_that_is_of_no_core():
    found, _ = error(group().replace("orch.func aic @cube", "orch.func incore @cube"))
    assert "is for a cube core, and runs on the core of 'cube'" in found.message


def test_what_is_in_no_kernel():
    text = f"orch.func orchestration @main(in %x : {X}, out %y : {X}) {{{CONSTANTS}{CUBE}"
    found, _ = error(f"{text}  orch.return\n}}\n")
    assert "is about another core, and runs in no kernel of a core" in found.message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "dir_mask = 1, slot_size = 1024, slot_num = 2 : i32\n  scf",
            "dir_mask = 1, slot_size = 1024, slot_num = 3 : i32\n  scf",
            "sets up ring 0 as 2 slots of 1024 bytes with dir_mask = 1, and its other end is 3 "
            "slots of 1024 bytes with dir_mask = 1",
        ),
        (PUSH, PUSH.replace("%t :", "%t, id = 2 :"), "ring 2, which the cube core has not set up"),
        (
            "tile.tpop_from_aic :",
            "tile.tpop_from_aic id = 1 :",
            "ring 1, which the vector core has not set up",
        ),
        (
            FREE,
            FREE + FREE,
            "frees a slot of ring 0, of which it has taken none",
        ),
        (
            f"%v = tile.tpop_from_aic : {V}",
            f"%q = tile.tpop_from_aic : !tile.tile<16x16xi32, vec>\n    %v = tile.create : {V}",
            "takes a tile of i32 where f32 is in the slot",
        ),
        (
            f"%v = tile.tpop_from_aic : {V}",
            f"%q = tile.tpop_from_aic : !tile.tile<16x8xf32, vec>\n    %v = tile.create : {V}",
            "takes rows that are 8 elements apart, and those in the slot are 16",
        ),
        (
            f"%v = tile.tpop_from_aic : {V}",
            f"%q = tile.tpop_from_aic : !tile.tile<32x16xf32, vec>\n    %v = tile.create : {V}",
            "takes 2048 bytes of slots of 1024 bytes",
        ),
        (
            "tile.aic_initialize",
            "tile.aiv_initialize",
            "is for a vector core, and runs on the cube",
        ),
        (
            "  orch.return %last",
            f"  %q = tile.tpop_from_aiv : {M}\n  orch.return %last",
            "is for a cube core, and runs on the vector core",
        ),
    ],
)
def test_what_does_not_fit(old: str, new: str, message: str):
    found, _ = error(changed(old, new))
    assert message in found.message


def test_a_direction_that_a_ring_does_not_have():
    found, _ = error(group().replace("dir_mask = 1", "dir_mask = 2"))
    assert (
        "is about ring 0, which passes nothing to the vector cores: its dir_mask is 2"
        in found.message
    )


@pytest.mark.parametrize("split", ["none", "up_down"])
def test_two_vector_cores_share_a_slot_by_its_split(split: str):
    """Without one both would put their tiles in the same place."""
    cube = f"""
  tile.aic_initialize_pipe %none, %none, dir_mask = 2, slot_size = 1024, slot_num = 2 : i32
  %b = tile.tpop_from_aiv split = {split} : {M}
  %z1 = tile.store %b, %y[0, 0] : {M}, {X}
  tile.tfree_to_aiv %b, split = {split} : {M}
"""
    vector = f"""
  tile.aiv_initialize_pipe %none, %none, dir_mask = 2, slot_size = 1024, slot_num = 2 : i32
  %t = tile.load %x[0, 0] : {X} -> {HALF}
  tile.tpush_to_aic %t, split = {split} : {HALF}
"""
    text = group(cube, vector, BOTH).replace("orch.return %last", "orch.return %y")
    if split == "none":
        found, _ = error(text)
        assert "puts a tile where the other vector core has put one" in found.message
        return
    result = run_text(text).parameters["y"]
    np.testing.assert_array_equal(result[:16], np.concatenate([x()[:8], x()[:8]]))


def test_slots_that_are_larger_than_their_tensor():
    head = "%none, %none, dir_mask = 1, slot_size = 1024, slot_num = 2 : i32\n"
    slots = "  %slots = ptensor.create : tensor<511xf32>\n"
    cube = CUBE.replace(head, head.replace("%none, dir", "%none, %slots, dir"))
    cube = cube.replace("slot_num = 2 : i32", "slot_num = 2 : i32, i32, tensor<511xf32>")
    found, _ = error(group(slots + cube.lstrip("\n")))
    assert "has slots of 2048 bytes in a tensor of 2044 bytes" in found.message


def test_what_is_undefined_stays_so_on_the_way():
    """It is an error where something depends on it."""
    cube = CUBE.replace(f"tile.load %x[%row, 0] : {X} -> {A}", f"tile.create : {A}")
    found, lines = error(group(cube))
    assert "stores undefined elements: 256 of 256" in found.message
    assert "tile.store" in lines[found.line - 1]


# Flags, and places where all cores meet.


def test_a_flag_orders_what_goes_through_global_memory():
    """The cube core comes first, and waits until both vector cores have stored their halves."""
    cube = f"""
  tile.sync_wait pipe = fix, event_id = 3
  %t = tile.load %y[0, 0] : {X} -> {A}
  %z = tile.store %t, %y[16, 0] : {A}, {X}
  tile.sync_set pipe = fix, event_id = 4
"""
    vector = f"""
  %s = tile.get_subblock_idx : index
  %at = arith.muli %s, %c8 : index
  %t = tile.load %x[%at, 0] : {X} -> {HALF}
  %y1 = tile.store %t, %y[%at, 0] : {HALF}, {X}
  tile.sync_set pipe = mte3, event_id = 3
  %four = arith.constant 4 : i32
  tile.sync_wait %four, pipe = mte2, event_id = 0 : i32
  %below = arith.addi %at, %c16 : index
  %u = tile.load %y1[%below, 0] : {X} -> {HALF}
  %back = arith.addi %below, %c16 : index
  %last = tile.store %u, %y1[%back, 0] : {HALF}, {X}
"""
    for seed in (None, 0, 1, 2, 3):
        cores = CoreSettings(seed)
        result = run_text(group(cube, vector, BOTH), cores=cores).parameters["y"]
        np.testing.assert_array_equal(result[:48].reshape(3, 16, 16), [x()[:16]] * 3)
    text = group(cube.replace("  tile.sync_set pipe = fix, event_id = 4\n", ""), vector, BOTH)
    found, lines = error(text)
    assert "the first vector core waits for flag 4, which the cube core never raises" in (
        found.message
    )
    assert "tile.sync_wait" in lines[found.line - 1]
    told = {note.message for note in found.notes}
    assert "the second vector core waits for flag 4" in told
    assert "the cube core has come to its end" in told
    found, lines = error(group(cube, vector.replace("%four, pipe", "%none, pipe"), BOTH))
    assert "waits for flag 0, which the cube core never raises" in found.message
    again = cube + "  tile.sync_set pipe = fix, event_id = 4\n"
    found, lines = error(group(again, vector, BOTH))
    assert "raises flag 4 for the first vector core and the second vector core, which never" in (
        found.message
    )
    assert "tile.sync_set pipe = fix" in lines[found.line - 1]


CUBE_STORES = f"""
  %t = tile.load %x[0, 0] : {X} -> {A}
  %z = tile.store %t, %y[0, 0] : {A}, {X}
  tile.sync_set pipe = fix, event_id = 3
"""
VECTOR_LOADS = f"""
  tile.sync_wait pipe = mte2, event_id = 3
  %u = tile.load %y[0, 0] : {X} -> {V}
  %last = tile.store %u, %y[16, 0] : {V}, {X}
"""
WAIT = "  tile.sync_wait pipe = mte2, event_id = 3\n"


def test_what_nothing_orders():
    """The cube core comes first here, and need not on the machine."""
    text = group(CUBE_STORES, VECTOR_LOADS)
    for seed in (None, 0, 1, 2):
        result = run_text(text, cores=CoreSettings(seed)).parameters["y"]
        np.testing.assert_array_equal(result[16:32], x()[:16])
    found, lines = error(group(CUBE_STORES, VECTOR_LOADS.replace(WAIT, "") + WAIT))
    assert found.message == (
        "'tile.load' op reads elements of global memory that the cube core has written, and "
        "nothing orders the two"
    )
    assert "%u = tile.load" in lines[found.line - 1]
    # It is another element that is written.
    apart = VECTOR_LOADS.replace(WAIT, "").replace("%y[0, 0]", "%x[0, 0]") + WAIT
    np.testing.assert_array_equal(
        run_text(group(CUBE_STORES, apart)).parameters["y"][16:32], x()[:16]
    )
    found, _ = error(group(CUBE_STORES, apart.replace("%y[16, 0]", "%y[15, 0]")))
    assert "writes elements of global memory that the cube core has written" in found.message


def test_a_slot_that_is_freed_orders_what_came_before():
    """The cube core stores where the vector core has loaded, once that has freed a slot."""
    cube = f"""
  tile.aic_initialize_pipe %none, %none, dir_mask = 1, slot_size = 1024, slot_num = 1 : i32
  %t = tile.load %x[0, 0] : {X} -> {A}
  tile.tpush_to_aiv %t : {A}
  tile.tpush_to_aiv %t : {A}
  %z = tile.store %t, %y[0, 0] : {A}, {X}
"""
    vector = f"""
  tile.aiv_initialize_pipe %none, %none, dir_mask = 1, slot_size = 1024, slot_num = 1 : i32
  %v = tile.tpop_from_aic : {V}
  %y1 = tile.store %v, %y[0, 0] : {V}, {X}
  tile.tfree_to_aic %v : {V}
  %w = tile.tpop_from_aic : {V}
  tile.tfree_to_aic %w : {V}
  %last = ptensor.updated %y1 : {X}
"""
    run_text(group(cube, vector))
    found, _ = error(
        group(cube.replace("slot_num = 1", "slot_num = 2"), vector.replace("num = 1", "num = 2"))
    )
    assert "of global memory that" in found.message


def test_cores_may_add_to_the_same_elements():
    adds = f"""
  %t = tile.load %x[0, 0] : {X} -> {V}
  %last = tile.store %t, %y[0, 0], atomic = add : {V}, {X}
"""
    text = group(adds.replace("%last", "%z").replace(V, A), adds)
    text = text.replace("out %y", "inout %y")
    result = run(program(text), "main", [x(), np.ones((96, 16), np.float32)]).parameters["y"]
    np.testing.assert_array_equal(result[:16], (1 + x()[:16]) + x()[:16])


def test_vector_cores_of_a_group_wait_for_each_other():
    """Each stores its half, and loads that of the other."""
    vector = f"""
  %s = tile.get_subblock_idx : index
  %at = arith.muli %s, %c8 : index
  %t = tile.load %x[%at, 0] : {X} -> {HALF}
  %y1 = tile.store %t, %y[%at, 0] : {HALF}, {X}
  tile.sync_set ffts_mode = 1, pipe = mte3, event_id = 3
  tile.sync_wait pipe = mte2, event_id = 3
  %other = arith.subi %c8, %at : index
  %u = tile.load %y1[%other, 0] : {X} -> {HALF}
  %below = arith.addi %at, %c16 : index
  %last = tile.store %u, %y1[%below, 0] : {HALF}, {X}
"""
    result = run_text(group(vector=vector, marks=BOTH), "vector").parameters["y"]
    wanted = x()[:16]
    np.testing.assert_array_equal(result[:16], wanted)
    np.testing.assert_array_equal(result[16:32], np.concatenate([wanted[8:], wanted[:8]]))


def meeting(
    how: str = "tile.syncall core_type = vector", kind: str = "aiv", launch: int = 6
) -> str:
    """Each block stores a tile, and after they met the one that the next block has stored."""
    return f"""
orch.func {kind} @kernel(in %x : {X}, out %y : {X}, out %z : {X}) -> ({X}, {X}) {{{CONSTANTS}
  %b = tile.get_block_idx : index
  %at = arith.muli %b, %c16 : index
  %t = tile.load %x[%at, 0] : {X} -> {V}
  %y1 = tile.store %t, %y[%at, 0] : {V}, {X}
  {how}
  %c5 = arith.constant 5 : index
  %next = arith.addi %b, %c1 : index
  %other = arith.minsi %next, %c5 : index
  %from = arith.muli %other, %c16 : index
  %u = tile.load %y1[%from, 0] : {X} -> {V}
  %z1 = tile.store %u, %z[%at, 0] : {V}, {X}
  orch.return %y1, %z1 : {X}, {X}
}}
orch.func orchestration @main(in %x : {X}, out %y : {X}) -> {X} {{
  %blocks = arith.constant {launch} : index
  %made = ptensor.create : {X}
  %m1, %y1 = orch.call @kernel(%x, %made, %y) launch %blocks : ({X}, {X}, {X}) -> ({X}, {X})
  orch.return %y1 : {X}
}}
"""


@pytest.mark.parametrize("kind", ["aiv", "incore"])
@pytest.mark.parametrize(
    "how",
    [
        "tile.syncall core_type = vector",
        "tile.syncall",
        "tile.sync_set ffts_mode = 0, pipe = mte3, event_id = 2\n"
        "  tile.sync_wait pipe = mte2, event_id = 2",
    ],
)
def test_all_blocks_of_a_launch_meet(how: str, kind: str):
    result = run_text(meeting(how, kind)).parameters["y"]
    wanted = np.concatenate([x()[16:], x()[-16:]])
    np.testing.assert_array_equal(result, wanted)


def test_one_block_meets_nobody():
    result = run_text(meeting(launch=1).replace("%c5 = arith.constant 5", "%c5 = arith.constant 0"))
    np.testing.assert_array_equal(result.parameters["y"][:16], x()[:16])


def test_a_block_that_does_not_come():
    how = """%last = arith.constant 5 : index
  %is_late = arith.cmpi eq, %b, %last : index
  scf.if %is_late {
  } else {
    tile.syncall core_type = vector
  }"""
    found, lines = error(meeting(how))
    assert (
        "waits forever: the vector core of block 0 waits for other cores to meet, which the vector "
        "core of block 5 never comes"
    ) in found.message
    assert "tile.syncall" in lines[found.line - 1]
    assert len(found.notes) == 6


@pytest.mark.parametrize(("kind", "most"), [("aiv", 48), ("aic", 24)])
def test_no_more_blocks_meet_than_run_at_a_time(kind: str, most: int):
    found, lines = error(meeting("tile.syncall", kind, launch=1_000_000_000))
    assert (
        f"launches 1000000000 blocks that wait for each other, of which {most} run at a time"
    ) in found.message
    assert "launch" in lines[found.line - 1]


def test_scopes_do_not_run_beside_each_other():
    text = f"""
orch.func orchestration @main(in %x : {X}, out %y : {X}) -> {X} {{
  %c2 = arith.constant 2 : index
  %z = orch.spmd "k" launch %c2 -> ({X}) {{
    tile.syncall
    orch.yield %y : {X}
  }}
  orch.return %z : {X}
}}
"""
    found, _ = error(text)
    assert "waits for the other blocks of its launch, which run later" in found.message


# Regions that both vector cores run.

REGION = """
orch.func incore @main(in %x : tensor<96x16xf32>, out %y : tensor<96x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %start = tile.load %x[0, 0] : tensor<96x16xf32> -> !tile.tile<16x16xf32>
  orch.split_aiv %core mode up_down {
    %at = arith.muli %core, %c8 : index
    %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %start) -> (!tile.tile<16x16xf32>) {
      %half = tile.aiv_shard %t, split = up_down : !tile.tile<16x16xf32> -> !tile.tile<8x16xf32>
      %twice = tile.add %half, %half : !tile.tile<8x16xf32>
      %whole = tile.aic_gather %twice, split = up_down
          : !tile.tile<8x16xf32> -> !tile.tile<16x16xf32>
      scf.yield %whole : !tile.tile<16x16xf32>
    }
    %own = tile.aiv_shard %last, split = up_down : !tile.tile<16x16xf32> -> !tile.tile<8x16xf32>
    %y1 = tile.store %own, %y[%at, 0] : !tile.tile<8x16xf32>, tensor<96x16xf32>
  }
  orch.return
}
"""


def test_each_vector_core_has_the_whole_once_both_gave_their_halves():
    result = run_text(REGION).parameters["y"]
    np.testing.assert_array_equal(result[:16], 8 * x()[:16])


def test_a_half_that_the_other_vector_core_does_not_give():
    found, lines = error(REGION.replace("%i = %c0 to %c3", "%i = %core to %c3"))
    assert (
        "waits forever: the first vector core waits for the other half of a tile, which the second "
        "vector core never gathers"
    ) in found.message
    assert "tile.aic_gather" in lines[found.line - 1]
