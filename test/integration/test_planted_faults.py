"""
Faults planted into programs after passes: running both finds what differs, and properties find
what a program says wrongly, at its line. Without the fault, both are content.
"""

from __future__ import annotations

import re

import pytest
from support.programs import context, program
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.differential import Mismatch, assert_same_run

T, TILE = "tensor<16x64xf32>", "!tile.tile<16x64xf32, vec>"

TWO_CARRIES = f"""
module attributes {{pto.target_arch = "a2a3"}} {{
orch.func aiv @kernel(in %x : {T}, in %y : {T}, out %a : {T}, out %b : {T}, in %n : index)
    -> ({T}, {T}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = tile.load %x[0, 0] : {T} -> {TILE}
  %u = tile.load %y[0, 0] : {T} -> {TILE}
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%p = %t, %q = %u) -> ({TILE}, {TILE}) {{
    %s = tile.add %p, %q : {TILE}
    scf.yield %q, %s : {TILE}, {TILE}
  }}
  %a1 = tile.store %r#0, %a[0, 0] : {TILE}, {T}
  %b1 = tile.store %r#1, %b[0, 0] : {TILE}, {T}
  orch.return %a, %b : {T}, {T}
}}
}}"""
"""Each number of Fibonacci's is the sum of the two before: what is next becomes the last."""


def passed(module: ModuleOp, *passes: str) -> ModuleOp:
    after = module.clone()
    PassPipeline.parse_spec(Universe.get_multiverse().all_passes, ",".join(passes)).apply(
        context(), after
    )
    return after


def lowered() -> tuple[ModuleOp, ModuleOp]:
    before = program(TWO_CARRIES)
    return before, passed(before, "convert-tile-to-pto", "memory-reuse", "allocate-memory-addr")


def copies(module: ModuleOp) -> list[Operation]:
    """The copies at the back edge of the loop."""
    return [op for op in module.walk() if op.name == "pto.tmov"]


def test_two_copies_at_the_back_edge() -> None:
    before, after = lowered()
    assert len(copies(after)) == 2
    for rounds in range(4):
        assert_same_run(before, after, "kernel", given={"n": rounds})


@pytest.mark.parametrize(("missing", "where"), [(0, "a"), (1, "b")])
def test_a_missing_copy_at_the_back_edge(missing: int, where: str) -> None:
    """It shows from the round on that reads what was to be copied."""
    before, after = lowered()
    copies(after)[missing].detach()
    assert_same_run(before, after, "kernel", given={"n": 0})
    with pytest.raises(Mismatch, match=f"'kernel', on arguments of seed 0: parameter '{where}'"):
        assert_same_run(before, after, "kernel", given={"n": 1})


def test_copies_in_the_wrong_order() -> None:
    """The second copy reads what the first has written over."""
    before, after = lowered()
    first, second = copies(after)
    first.detach()
    block = second.parent_block()
    assert block is not None
    block.insert_op_after(first, second)
    with pytest.raises(Mismatch, match="parameter 'a' differs"):
        assert_same_run(before, after, "kernel", given={"n": 1})


V = "tensor<16xf32>"
SWAPPED = f"""
orch.func incore @kernel(in %x : {V}, out %a : {V}, out %b : {V}) -> ({V}, {V}) {{
  %t = tile.load %x[0] : {V} -> !tile.tile<16xf32>
  %u = tile.add %t, %t : !tile.tile<16xf32>
  %b1 = tile.store %u, %b[0] : !tile.tile<16xf32>, {V}
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, {V}
  orch.return %b1, %a1 : {V}, {V}
}}
orch.func incore @copy(in %x : {V}, out %a : {V}) -> {V} {{
  %t = tile.load %x[0] : {V} -> !tile.tile<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, {V}
  orch.return %a1 : {V}
}}
orch.func orchestration @main(in %x : {V}, out %c : {V}, out %d : {V}, out %e : {V}) -> {V} {{
  %d1, %c1 = orch.call @kernel(%x, %c, %d) : ({V}, {V}, {V}) -> ({V}, {V})
  %e1 = orch.call @copy(%c1, %e) : ({V}, {V}) -> {V}
  orch.return %d1 : {V}
}}"""


def normalized() -> tuple[ModuleOp, ModuleOp]:
    before = program(SWAPPED, "swapped.mlir")
    return before, passed(before, "normalize-return-order")


def test_swapped_results_follow() -> None:
    before, after = normalized()
    assert "orch.return %a, %b" in str(after)
    assert_same_run(before, after, "main")
    passed(after, "verify-property{property=ReturnParamsExplicit}")


def test_results_that_are_swapped_behind_the_callers_backs() -> None:
    """The kernel alone is content, in either order; its callers read the other buffer."""
    before, after = normalized()
    planted = program(str(after).replace("orch.return %a, %b", "orch.return %b, %a"))
    assert_same_run(before, planted, "kernel")
    with pytest.raises(Mismatch, match="'main', on arguments of seed 0: parameter 'e' differs"):
        assert_same_run(before, planted, "main")


def test_uses_that_were_not_swapped() -> None:
    before, after = normalized()
    planted = program(
        re.sub(r"(%\w+), (%\w+) = orch.call @kernel", r"\2, \1 = orch.call @kernel", str(after))
    )
    assert str(planted) != str(after)
    with pytest.raises(Mismatch, match="'main', on arguments of seed 0: parameter 'e' differs"):
        assert_same_run(before, planted, "main")


def test_a_result_that_is_not_named_as_its_parameter() -> None:
    """Found without a run, at the return."""
    _, after = normalized()
    text = str(after).replace("orch.return %a, %b", "orch.return %a, %b1")
    line = next(n for n, words in enumerate(text.splitlines(), 1) if "orch.return %a, %b1" in words)
    with pytest.raises(DiagnosticsError) as raised:
        passed(program(text, "planted.mlir"), "verify-property{property=ReturnParamsExplicit}")
    assert str(raised.value).startswith(
        f"planted.mlir:{line}:5: error: 'orch.return' op result 1 (%b1) of 'kernel' is parameter 2 "
        "(%b), written back, and should be returned as such"
    )
