"""
An op with several results from tensors down to instructions: each result has a buffer of its own,
allocated before the instruction, that no operand and no other result shares.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.programs import context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import pto
from pypto_xdsl.interpreters.arguments import Argument
from pypto_xdsl.interpreters.differential import compare_runs
from pypto_xdsl.interpreters.run import RunResult, run
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.syntax.parser import parse_module

SOURCE = "!tile.tile<16x64xf32, vec>"
MASK = "!tile.tile<16x64xui8, vec>"
FOUND = "!tile.tile<16x8xi32, vec>"
COUNTS = "!tile.tile<1x16xi32, vec>"
GATHER = (
    "tile.gather_compare %t, %k, %tmp, cmp_mode = gt, offset = 4, out_cols = 8 : "
    f"{SOURCE}, f32, {MASK} -> {FOUND}, {COUNTS}"
)
STORE_FOUND = f"%y1 = tile.store %d, %y[0, 0] : {FOUND}, tensor<16x8xi32>"
STORE_COUNTS = f"%z1 = tile.store %c, %z[0, 0] : {COUNTS}, tensor<1x16xi32>"


def kernel(body: str) -> ModuleOp:
    text = f"""
    builtin.module attributes {{pto.target_arch = "a2a3"}} {{
    orch.func incore @kernel(in %x : tensor<16x64xf32>, inout %y : tensor<16x8xi32>,
                             inout %z : tensor<1x16xi32>, in %k : f32, in %n : index, in %b : i1) {{
      %t = tile.load %x[0, 0] : tensor<16x64xf32> -> {SOURCE}
      %tmp = tile.create : {MASK}
      {body}
      orch.return
    }}
    }}
    """
    return parse_module(context(), text, "kernel.mlir")


def arguments() -> list[Argument]:
    # Five elements of each row at most are above the threshold: what lies beyond is undefined.
    x = -np.ones((16, 64), np.float32)
    for row in range(16):
        x[row, row : row + row % 6] = 1
    found, counts = np.zeros((16, 8), np.int32), np.zeros((1, 16), np.int32)
    return [x, found, counts, 0.0, 3, True]


def passes() -> Iterator[object]:
    spec = expand_pipelines("default-pipeline")
    yield from PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec).passes


def lowered(module: ModuleOp) -> ModuleOp:
    """The module after the default pipeline; each pass keeps what the kernel computes."""
    ctx, wanted = context(), run(module, "kernel", arguments(), strict=False)
    for one in passes():
        one.apply(ctx, module)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    got: RunResult = run(module, "kernel", arguments(), strict=False)
    assert compare_runs(got, wanted) is None
    return module


def gathers(module: ModuleOp) -> list[Operation]:
    return [op for op in walk(module) if isinstance(op, pto.TGatherOp)]


SIZES = {"16x64xf32": 4096, "16x64xui8": 1024, "16x8xi32": 512, "1x16xi32": 64}
"""The bytes of the source, the scratch, the indices and the counts."""


def span(tile: SSAValue) -> range:
    """The bytes of a tile."""
    allocation = tile.owner
    assert isinstance(allocation, Operation)
    assert isinstance(allocation, pto.AllocTileOp)
    (address,) = (o.owner for o in allocation.operands if isinstance(o.owner, ConstantOp))
    assert isinstance(address, ConstantOp)
    assert isinstance(address.value, IntegerAttr)
    start = address.value.value.data
    return range(start, start + SIZES[_shape(tile)])


def _shape(tile: SSAValue) -> str:
    assert isinstance(tile.type, pto.TileBufType)
    return f"{'x'.join(map(str, tile.type.get_shape()))}x{tile.type.element_type}"


def spans(gather: Operation) -> list[range]:
    """The bytes of the source, the scratch, the indices and the counts."""
    tiles = {_shape(o): span(o) for o in gather.operands if isinstance(o.type, pto.TileBufType)}
    return [tiles[shape] for shape in SIZES]


def assert_apart(gather: Operation) -> None:
    """D-S12: no result shares a byte with the source, the scratch or the other result."""
    source, scratch, found, counts = spans(gather)
    for result in (found, counts):
        for other in (source, scratch):
            assert not set(result) & set(other)
    assert not set(found) & set(counts)


def test_two_allocations_before_one_instruction():
    """D-S11, and the text that the assembler reads."""
    module = lowered(kernel(f"%d, %c = {GATHER}\n{STORE_FOUND}\n{STORE_COUNTS}"))
    (gather,) = gathers(module)
    assert_apart(gather)
    assert isinstance(gather.prev_op, pto.AllocTileOp)
    assert isinstance(gather.prev_op.prev_op, pto.AllocTileOp)
    assert not gather.results
    text = str(gather)
    assert text.startswith("pto.tgather ins(%t, %k, %tmp : ")
    assert " outs(%d, %c : " in text
    assert text.endswith("{cmpMode = #pto<cmp gt>, offset = 4 : i32}")


@pytest.mark.parametrize("stores", [STORE_FOUND, STORE_COUNTS, ""], ids=["first", "second", "none"])
def test_unused_results_are_written_all_the_same(stores: str):
    """D-S14: the instruction needs the bytes, whoever looks at them."""
    module = lowered(kernel(f"%d, %c = {GATHER}\n{stores}"))
    (gather,) = gathers(module)
    assert_apart(gather)


def test_in_a_loop_and_in_a_branch():
    """D-S15: counts are carried and chosen."""
    module = lowered(
        kernel(
            f"""
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %init = tile.load %z[0, 0] : tensor<1x16xi32> -> {COUNTS}
            %c = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> ({COUNTS}) {{
              %next = scf.if %b -> ({COUNTS}) {{
                %d, %some = {GATHER}
                %sum = tile.add %acc, %some : {COUNTS}
                scf.yield %sum : {COUNTS}
              }} else {{
                scf.yield %acc : {COUNTS}
              }}
              scf.yield %next : {COUNTS}
            }}
            {STORE_COUNTS}
            """
        )
    )
    (gather,) = gathers(module)
    assert_apart(gather)


def test_results_are_reused_independently():
    """D-S13: each result's bytes are free once that result is dead."""
    module = lowered(
        kernel(
            f"""
            %d, %c = {GATHER}
            {STORE_FOUND}
            %e = tile.load %y1[0, 0] : tensor<16x8xi32> -> {FOUND}
            %f = tile.adds %e, %one : {FOUND}, i32
            %y2 = tile.store %f, %y1[0, 0] : {FOUND}, tensor<16x8xi32>
            {STORE_COUNTS}
            """.replace("%e = ", "%one = arith.constant 1 : i32\n%e = ")
        )
    )
    (gather,) = gathers(module)
    assert_apart(gather)
    source, scratch, found, counts = spans(gather)
    later = {
        address
        for op in walk(module)
        if isinstance(op, pto.AllocTileOp) and op.results[0] not in gather.operands
        for address in span(op.results[0])
    }
    assert later
    assert not later & set(counts), "the counts are still to be stored"
    assert later <= {*source, *scratch, *found}, "the bytes of dead tiles are used again"
