"""A cube core and its vector cores that hand products on through a queue."""

from __future__ import annotations

from typing import Any

import numpy as np

PASSES = "allocate-memory-addr,convert-pto-to-ascend910b,insert-sync"
L1 = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
L0A = "!pto.tile_buf<left, 16x16xf32, slayout=row_major>"
L0B = "!pto.tile_buf<right, 16x16xf32, slayout=col_major>"
L0C = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
P = "!pto.partition_tensor_view<16x16xf32>"
V = "!pto.tensor_view<?x?xf32>"
CONSTANTS = """
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c96 = arith.constant 96 : index
"""


def program(*, split: bool) -> str:
    """Six products of 16x16 matrices; their doubles are stored by one vector core or by two."""
    rows = 8 if split else 16
    tile = f"!pto.tile_buf<vec, {rows}x16xf32>"
    window = f"!pto.partition_tensor_view<{rows}x16xf32>"
    code = int(split)
    half = "pto.get_subblock_idx" if split else "arith.constant 0 : i64"
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @entry(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>, %ring: !pto.ptr<f32>)
    attributes {{pto.entry}} {{
  func.call @cube(%a, %b, %ring) : (!pto.ptr<f32>, !pto.ptr<f32>, !pto.ptr<f32>) -> ()
  func.call @vector(%y, %ring) : (!pto.ptr<f32>, !pto.ptr<f32>) -> ()
  return
}}
func.func private @cube(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %ring: !pto.ptr<f32>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{{CONSTANTS}
  %there = pto.import_reserved_buffer {{name = "slots", peer_func = @vector}} -> i32
  pto.aic_initialize_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 2}}
    (gm_slot_buffer = %ring : !pto.ptr<f32>, c2v_consumer_buf = %there : i32)
  %av = pto.make_tensor_view %a, shape = [%c96, %c16], strides = [%c16, %c1] : {V}
  %bv = pto.make_tensor_view %b, shape = [%c16, %c16], strides = [%c16, %c1] : {V}
  %bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c16, %c16] : {V} -> {P}
  %al1 = pto.alloc_tile : {L1}
  %bl1 = pto.alloc_tile : {L1}
  %al = pto.alloc_tile : {L0A}
  %br = pto.alloc_tile : {L0B}
  %c = pto.alloc_tile : {L0C}
  pto.tload ins(%bp : {P}) outs(%bl1 : {L1})
  pto.tmov ins(%bl1 : {L1}) outs(%br : {L0B})
  scf.for %i = %c0 to %c96 step %c16 {{
    %ap = pto.partition_view %av, offsets = [%i, %c0], sizes = [%c16, %c16] : {V} -> {P}
    pto.tload ins(%ap : {P}) outs(%al1 : {L1})
    pto.tmov ins(%al1 : {L1}) outs(%al : {L0A})
    pto.tmatmul ins(%al, %br : {L0A}, {L0B}) outs(%c : {L0C})
    pto.tpush_to_aiv(%c : {L0C}) {{split = {code}}}
  }}
  return
}}
func.func private @vector(%y: !pto.ptr<f32>, %ring: !pto.ptr<f32>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{{CONSTANTS}
  %here = pto.reserve_buffer {{name = "slots", size = 2048, location = #pto.address_space<vec>,
    auto = true}} -> i32
  pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 2}}
    (gm_slot_buffer = %ring : !pto.ptr<f32>, c2v_consumer_buf = %here : i32)
  %rows = arith.constant {rows} : index
  %core = {half}
  %which = arith.index_cast %core : i64 to index
  %first = arith.muli %which, %rows : index
  %yv = pto.make_tensor_view %y, shape = [%c96, %c16], strides = [%c16, %c1] : {V}
  %u = pto.alloc_tile : {tile}
  scf.for %i = %c0 to %c96 step %c16 {{
    %row = arith.addi %i, %first : index
    %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%rows, %c16] : {V} -> {window}
    %t = pto.tpop_from_aic {{split = {code}}} -> {tile}
    pto.tadd ins(%t, %t : {tile}, {tile}) outs(%u : {tile})
    pto.tfree_from_aic {{split = {code}}}
    pto.tstore ins(%u : {tile}) outs(%yp : {window})
  }}
  return
}}
}}"""


def arguments() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    # Small integers: products are exact in any order of summation.
    return {
        "a": rng.integers(-4, 5, (96, 16)),
        "b": rng.integers(-4, 5, (16, 16)),
        "y": np.zeros((96, 16)),
        "ring": np.zeros((2, 16, 16)),
    }
