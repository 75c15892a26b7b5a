"""`insert-sync` does work linear in the program times the depth of its loops."""

from __future__ import annotations

import cProfile
import pstats

from support.machine_programs import parsed
from support.programs import context

from pypto_xdsl.transforms.insert_sync import InsertSyncPass

T = "!pto.tile_buf<vec, 8x64xf32>"
P = "!pto.partition_tensor_view<8x64xf32>"
STEP = (
    f"pto.tload ins(%p : {P}) outs(%t : {T})\n"
    f"pto.tabs ins(%t : {T}) outs(%u : {T})\n"
    f"pto.tstore ins(%u : {T}) outs(%q : {P})\n"
)


def program(body: str) -> str:
    return f"""
func.func @kernel(%p : {P}, %q : {P}, %n : index, %c : i1)
    attributes {{ascend910b.core = #ascend910b<core aiv>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = ascend910b.view ub[0] : {T}
  %u = ascend910b.view ub[2048] : {T}
  {body}
  func.return
}}"""


def nest(depth: int) -> str:
    """Loops in each other; each does something before the next."""
    if not depth:
        return STEP
    return f"scf.for %i{depth} = %c0 to %n step %c1 {{\n{STEP}{nest(depth - 1)}}}\n"


def branches(depth: int) -> str:
    if not depth:
        return STEP
    return f"scf.if %c {{\n{STEP}{branches(depth - 1)}}} else {{\n{STEP}}}\n"


def calls(body: str) -> int:
    """How many Python calls the pass makes."""
    module = parsed(program(body))
    profile = cProfile.Profile()
    profile.runcall(InsertSyncPass().apply, context(), module)
    return pstats.Stats(profile).total_calls  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownVariableType]


def test_loops_in_loops() -> None:
    """Walking each body twice a level would take 2**12 times as long, not four."""
    # Where growth has settled: 4.6 from 12 to 24, 4.8 from 16 to 32; 5.6 to 6.2 below.
    small, large = calls(nest(12)), calls(nest(24))
    assert large < 1.5 * 2 * 2 * small


def only_nest(depth: int) -> str:
    """Loops that do nothing but run the next; every second one also computes a number."""
    opened = "".join(
        f"scf.for %i{level} = %c0 to %n step %c1 {{\n"
        + (f"%s{level} = arith.addi %i{level}, %c1 : index\n" if level % 2 else "")
        for level in range(depth)
    )
    return f"{opened}{STEP}{'}' * depth}"


def test_loops_around_one() -> None:
    """However many loops are around a body, it runs again and again as in one."""
    small, large = calls(only_nest(10)), calls(only_nest(80))
    assert large < 8 * small


def test_branches_in_branches() -> None:
    small, large = calls(branches(4)), calls(branches(16))
    assert large < 1.5 * 4 * 4 * small


def test_many_instructions() -> None:
    small, large = calls(STEP * 50), calls(STEP * 400)
    assert large < 10 * small


def test_many_loops() -> None:
    loop = f"scf.for %i = %c0 to %n step %c1 {{\n{STEP}}}\n"
    small, large = calls(loop * 10), calls(loop * 80)
    assert large < 10 * small


def test_many_places() -> None:
    """Tiles that lie apart are not compared with each other."""

    def body(count: int) -> str:
        return "".join(
            f"%a{i} = ascend910b.view ub[{64 * i}] : !pto.tile_buf<vec, 1x16xf32>\n"
            f"pto.tabs ins(%a{i} : !pto.tile_buf<vec, 1x16xf32>) "
            f"outs(%a{i} : !pto.tile_buf<vec, 1x16xf32>)\n"
            for i in range(count)
        )

    small, large = calls(body(100)), calls(body(800))
    assert large < 10 * small
