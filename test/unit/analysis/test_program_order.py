"""Live ranges against sets of times, and the times of structured code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.programs import context
from xdsl.dialects import func
from xdsl.ir import Operation

from pypto_xdsl.analysis.program_order import LiveRanges, ProgramOrder
from pypto_xdsl.syntax.parser import parse_module

RANGES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 6)).map(lambda r: (r[0], r[0] + r[1])),
    max_size=8,
)


def times(ranges: list[tuple[int, int]]) -> set[int]:
    return {time for start, end in ranges for time in range(start, end + 1)}


@given(RANGES)
def test_ranges_are_disjoint_and_in_order(ranges: list[tuple[int, int]]) -> None:
    live = LiveRanges(ranges)
    assert times(list(live)) == times(ranges)
    ends = [-1]
    for start, end in live:
        assert ends[-1] < start <= end
        ends.append(end)


@given(RANGES, RANGES)
def test_overlap_and_merge(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    assert LiveRanges(left).overlaps(LiveRanges(right)) == bool(times(left) & times(right))
    merged = LiveRanges(left).merge(LiveRanges(right))
    assert times(list(merged)) == times(left) | times(right)


def named_ops(text: str) -> tuple[ProgramOrder, dict[str, Operation]]:
    module = parse_module(context(), text, "order.mlir")
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    order = ProgramOrder(function)
    return order, {
        hint: op for op in order.ops for result in op.results if (hint := result.name_hint)
    }


def test_what_a_loop_uses_is_live_to_its_end() -> None:
    order, ops = named_ops("""
        func.func @f(%n : index) {
          %a = arith.constant 1 : index
          %b = arith.constant 2 : index
          scf.for %i = %a to %n step %a {
            %c = arith.addi %b, %i : index
            %d = arith.addi %c, %c : index
          }
          return
        }""")
    home = ops["a"].parent
    assert home is not None
    live = order.ranges(home, order.write(ops["b"]), [(ops["c"], order.read(ops["c"]))])
    loop = ops["c"].parent_op()
    assert loop is not None
    assert list(live) == [(order.write(ops["b"]), order.leave(loop))]
    assert order.leave(loop) > order.read(ops["d"])
    inner = ops["c"].parent
    assert inner is not None
    live = order.ranges(inner, order.write(ops["c"]), [(ops["d"], order.read(ops["d"]))])
    assert list(live) == [(order.write(ops["c"]), order.read(ops["d"]))]


def test_what_one_branch_uses_is_free_in_the_other() -> None:
    order, ops = named_ops("""
        func.func @f(%p : i1) {
          %a = arith.constant 1 : index
          scf.if %p {
            %b = arith.constant 2 : index
            %c = arith.constant 3 : index
          } else {
            %d = arith.constant 4 : index
            %e = arith.addi %a, %a : index
          }
          return
        }""")
    home = ops["a"].parent
    assert home is not None
    live = order.ranges(home, order.write(ops["a"]), [(ops["e"], order.read(ops["e"]))])
    held = times(list(live))
    assert order.read(ops["b"]) not in held
    assert order.read(ops["c"]) not in held
    assert order.read(ops["d"]) in held
    assert order.read(ops["e"]) in held
    assert order.at(order.read(ops["d"])) is ops["d"]
    assert order.at(order.write(ops["d"])) is ops["d"]
