"""
The runtime's rules on worked examples: which edges a program has, and which pairs have none.

S is 32x32, L is 64x32; `cp` copies, `up` updates, `cpl`, `upl` do so on L; `rd` reads an L. Tasks
count from 0 without allocations; an edge from the allocation is `A`.
"""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.universe import Universe

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.hazards import hazards
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.task_graph import HostAccess, TaskGraph, record
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.transforms.derive_call_directions import DeriveCallDirectionsPass

S, L = "tensor<32x32xf32>", "tensor<64x32xf32>"
KERNELS = f"""
orch.func incore @cp(in {S}, out {S}) -> {S} returns [1]
orch.func incore @up(in {S}, inout {S}) -> {S} returns [1]
orch.func incore @cpl(in {L}, out {L}) -> {L} returns [1]
orch.func incore @upl(in {L}, inout {L}) -> {L} returns [1]
orch.func incore @rd(in {L}, out {S}) -> {S} returns [1]
"""


def context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def calls(body: str) -> str:
    """`%b = cp %a, %b0` as calls: the types follow from the names of the kernels."""
    lines: list[str] = []
    types = {"cp": (S, S), "up": (S, S), "cpl": (L, L), "upl": (L, L), "rd": (L, S)}
    for line in body.splitlines():
        words = line.split("=", 1)
        head = words[1].split() if len(words) == 2 else []
        if head and head[0] in types:
            source, target = types[head[0]]
            clauses = "" if "deps" not in line else " " + line[line.index("deps") :]
            arguments = words[1].split("deps")[0].split(None, 1)[1].strip()
            verb, returned = "call", target
            if "," in words[0]:
                verb, returned = "submit", f"({target}, !orch.task_id)"
            lines.append(
                f"{words[0]}= orch.{verb} @{head[0]}({arguments}){clauses} : "
                f"({source}, {target}) -> {returned}"
            )
        else:
            lines.append(line)
    return "\n".join(lines)


PARAMETERS = ", ".join(
    [f"in %{n} : {S}" for n in "xy"]
    + [f"in %{n} : {L}" for n in ("w", "w2")]
    + [f"out %{n} : {S}" for n in ("out", "a", "b", "e")]
    + ["in %n : index", "in %cond : i1"]
)


def graph_of(body: str, scalars: dict[str, int] | None = None) -> TaskGraph:
    text = f"""{KERNELS}
orch.func orchestration @main({PARAMETERS}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
{calls(body)}
  orch.return
}}"""
    ctx = context()
    module = parse_module(ctx, text, "a.mlir")
    DeriveCallDirectionsPass().apply(ctx, module)
    lineage = ReturnLineage(CallGraph(module))
    function = next(f for f in lineage.calls.functions if f.sym_name.data == "main")
    return record(function, lineage, scalars)


def number(graph: TaskGraph) -> dict[int, int | str]:
    """Of each task its number without allocations, `A` for these."""
    found: dict[int, int | str] = {}
    count = 0
    for task in graph.tasks:
        found[task.number] = "A" if task.is_allocation else count
        count += not task.is_allocation
    return found


def edges(graph: TaskGraph) -> list[set[int | str]]:
    """What each task waits for."""
    names = number(graph)
    found: list[set[int | str]] = [set() for task in graph.tasks if not task.is_allocation]
    for edge in graph.edges:
        consumer = names[edge.consumer]
        assert isinstance(consumer, int)
        found[consumer].add(names[edge.producer])
    return found


def races(graph: TaskGraph) -> list[tuple[int | str, int | str, str]]:
    names = number(graph)
    return [
        (
            names[h.first.number],
            "host" if isinstance(h.second, HostAccess) else names[h.second.number],
            h.kind.value,
        )
        for h in hazards(graph)
    ]


def test_e1_chain() -> None:
    graph = graph_of(f"%t = ptensor.create : {S}\n%t1 = cp %x, %t\n%o1 = cp %t1, %out")
    assert edges(graph) == [{"A"}, {"A", 0}]
    assert races(graph) == []
    assert {(e.kind.value, e.buffer) for e in graph.edges} == {("creator", "%t"), ("map", "%t")}


def test_e2_write_after_read() -> None:
    graph = graph_of(
        f"""%t = ptensor.create : {S}
%t1 = cp %x, %t
%a1 = cp %t1, %a
%b1 = cp %t1, %b
%t2 = cp %y, %t1"""
    )
    assert edges(graph) == [{"A"}, {"A", 0}, {"A", 0}, {"A", 0}]
    assert races(graph) == [(1, 3, "write after read"), (2, 3, "write after read")]


def test_e2_ordered_by_hand() -> None:
    graph = graph_of(
        f"""%t = ptensor.create : {S}
%t1 = cp %x, %t
%a1, %ta = cp %t1, %a
%b1, %tb = cp %t1, %b
%t2, %tt = cp %y, %t1 deps [%ta, %tb]"""
    )
    assert edges(graph)[3] == {"A", 0, 1, 2}
    assert races(graph) == []


SLICES = f"""%t = ptensor.create : {L}
%r = scf.for %i = %c0 to %c2 step %c1 iter_args(%it = %t) -> ({L}) {{
%row = arith.muli %i, %c32 : index
%s = ptensor.slice %it[%row, 0] : {L} -> {S}
%s1 = cp %x, %s
scf.yield %it : {L}
}} {{orch.loop = #orch<loop parallel>}}
"""


def test_e3_disjoint_slices() -> None:
    graph = graph_of(
        SLICES
        + f"""%low = ptensor.slice %r[32, 0] : {L} -> {S}
%b1 = cp %low, %b
%a1 = rd %r, %a"""
    )
    assert edges(graph) == [{"A"}, {"A"}, {"A", 1}, {"A", 0, 1}]
    assert races(graph) == []


def test_e4_covered_entries() -> None:
    graph = graph_of(
        f"""%t = ptensor.create : {S}
%t1 = cp %x, %t
%t2 = cp %y, %t1
%a1 = cp %t2, %a"""
    )
    # The third task reaches the first through the second, which took its place.
    assert edges(graph) == [{"A"}, {"A", 0}, {"A", 1}]
    assert races(graph) == []


def test_e5_partial_update() -> None:
    graph = graph_of(
        f"""%t = ptensor.create : {L}
%t1 = cpl %w, %t
%top = ptensor.slice %t1[0, 0] : {L} -> {S}
%low = ptensor.slice %t1[32, 0] : {L} -> {S}
%top1 = up %x, %top
%b1 = cp %low, %b
%b2 = cp %top1, %b1
%a1 = rd %t1, %a
%t2 = upl %w2, %t1
%again = ptensor.slice %t2[0, 0] : {L} -> {S}
%b3 = cp %again, %e"""
    )
    assert edges(graph) == [
        {"A"},
        {"A", 0},
        {"A", 0},
        # And the writer of %b before it.
        {"A", 1, 0, 2},
        {"A", 1, 0},
        {"A", 1, 0},
        {"A", 5},
    ]
    # The update of all waits for the writers; nothing orders it after the readers.
    found = races(graph)
    assert [pair[:2] for pair in found] == [(2, 5), (3, 5), (4, 5)]
    assert {kind for _, _, kind in found} == {"write after read"}


def test_e6_unordered_writers() -> None:
    graph = graph_of(
        f"""%t = ptensor.create : {S}
%r = scf.for %i = %c0 to %c2 step %c1 iter_args(%it = %t) -> ({S}) {{
%t1 = cp %x, %it
scf.yield %t1 : {S}
}} {{orch.loop = #orch<loop parallel>}}
%a1 = cp %r, %a"""
    )
    assert edges(graph) == [{"A"}, {"A"}, {"A", 0, 1}]
    assert races(graph) == [(0, 1, "write after write")]


def test_e7_views() -> None:
    graph = graph_of(
        f"""%t = ptensor.create : {L}
%s = ptensor.slice %t[0, 0] : {L} -> {S}
%s1 = cp %x, %s
%folded = ptensor.reshape %t : {L} -> tensor<2x32x32xf32>
%r = ptensor.slice %folded[1, 0, 0] : tensor<2x32x32xf32> -> {S}
%a1 = cp %r, %a"""
    )
    # Rows 0..31 against rows 32..63: the elements are told apart though the ranks differ.
    assert edges(graph) == [{"A"}, {"A"}]


def test_e8_manual_then_auto() -> None:
    graph = graph_of(
        f"""%t = ptensor.create : {S}
%u = ptensor.create : {S}
%u2 = orch.task_scope manual -> ({S}) {{
%t1, %id = cp %x, %t
%u1, %id2 = cp %t1, %u deps [%id]
orch.yield %u1 : {S}
}}
%o1 = cp %u2, %out"""
    )
    assert edges(graph) == [set(), {0}, {"A"}]
    assert races(graph) == [(1, 2, "read after write")]


def test_e9_phase_fence_and_arrays() -> None:
    graph = graph_of(
        """%ids = orch.array.create : !orch.array<2x!orch.task_id>
%a1, %ta = cp %x, %a
%b1, %tb = cp %x, %b
%ids1 = orch.array.update_element %ta, %ids[%c0] : !orch.task_id, !orch.array<2x!orch.task_id>
%ids2 = orch.array.update_element %tb, %ids1[%c1] : !orch.task_id, !orch.array<2x!orch.task_id>
%fence = orch.task_dummy deps [%ids2 : !orch.array<2x!orch.task_id>]
%first = orch.array.get_element %ids2[%c0] : !orch.array<2x!orch.task_id>
%none = orch.task_invalid
%o1, %to = cp %x, %out deps [%fence, %none]
%e1, %te = cp %x, %e deps [%first]"""
    )
    assert edges(graph) == [set(), set(), {0, 1}, {2}, {0}]


def test_e10_accumulator() -> None:
    graph = graph_of(
        f"""%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%it = %out) -> ({S}) {{
%o1 = up %x, %it
scf.yield %o1 : {S}
}}"""
    )
    assert edges(graph) == [set(), {0}, {1}]
    assert [task.trips for task in graph.tasks] == [(0,), (1,), (2,)]
    assert races(graph) == []


def test_e14_host_access() -> None:
    graph = graph_of(
        f"""%t = ptensor.create : {S}
%t1 = cp %x, %t
%v = ptensor.read %t1[0, 0] : {S} -> f32
%t2 = cp %y, %t1
%a1 = cp %t2, %a"""
    )
    assert edges(graph) == [{"A"}, {"A", 0}, {"A", 1}]
    assert [access.waits_for for access in graph.host_accesses] == [frozenset({0, 1})]


def test_e16_omitted_out() -> None:
    graph = graph_of(
        f"""%t, %id = orch.submit @cp(%x) : ({S}) -> ({S}, !orch.task_id)
%o1 = cp %t, %out"""
    )
    assert edges(graph) == [set(), {0}]
    assert graph.edges[0].kind.value == "creator"


def test_seed_examples_have_no_hazards() -> None:
    graph = graph_of(f"%t = ptensor.create : {S}\n%t1 = cp %x, %t\n%t2 = cp %x, %t1")
    assert edges(graph) == [{"A"}, {"A", 0}]
    assert races(graph) == []


def test_bounds_and_conditions_that_only_a_run_knows() -> None:
    body = f"""%r = scf.for %i = %c0 to %n step %c1 iter_args(%it = %out) -> ({S}) {{
%o1 = up %x, %it
scf.yield %o1 : {S}
}}
%m = scf.if %cond -> ({S}) {{
%a1 = cp %x, %a
scf.yield %a1 : {S}
}} else {{
scf.yield %b : {S}
}}
%e1 = cp %m, %e"""
    graph = graph_of(body)
    assert [task.is_conditional for task in graph.tasks] == [True, True, True, False]
    assert [(e.producer, e.consumer, e.is_certain) for e in graph.edges] == [
        (0, 1, False),
        (2, 3, False),
    ]
    graph = graph_of(body, {"n": 3, "cond": 1})
    assert [task.is_conditional for task in graph.tasks] == [False] * 5
    assert [(e.producer, e.consumer, e.is_certain) for e in graph.edges] == [
        (0, 1, True),
        (1, 2, True),
        (3, 4, True),
    ]
    assert len(graph_of(body, {"n": 0, "cond": 0}).tasks) == 1


def test_while() -> None:
    graph = graph_of(
        f"""%k:2 = scf.while (%i = %c0, %it = %out) : (index, {S}) -> (index, {S}) {{
%go = arith.cmpi slt, %i, %c3 : index
scf.condition(%go) %i, %it : index, {S}
}} do {{
^bb0(%j : index, %jt : {S}):
%o1 = up %x, %jt
%next = arith.addi %j, %c1 : index
scf.yield %next, %o1 : index, {S}
}}"""
    )
    assert edges(graph) == [set(), {0}, {1}]


def test_too_many() -> None:
    with pytest.raises(OpError, match="which is not followed further"):
        graph_of(
            f"""%big = arith.constant 1000000000 : index
%r = scf.for %i = %c0 to %big step %c1 iter_args(%it = %out) -> ({S}) {{
%o1 = up %x, %it
scf.yield %o1 : {S}
}}"""
        )
