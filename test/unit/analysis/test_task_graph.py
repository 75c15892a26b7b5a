"""
The runtime's rules on worked examples: which edges a program has, and which pairs have none.

S is 32x32, L is 64x32; `cp` copies, `up` updates, `cpl`, `upl` do so on L; `rd` reads an L. Tasks
count from 0 without allocations; an edge from the allocation is `A`.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.universe import Universe

from pypto_xdsl.analysis import task_graph_limits
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.hazards import hazards
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.task_graph import HostAccess, TaskGraph, record
from pypto_xdsl.analysis.task_graph_limits import Limits
from pypto_xdsl.diagnostics import DiagnosticsError, OpError
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.transforms.derive_call_directions import DeriveCallDirectionsPass

S, L = "tensor<32x32xf32>", "tensor<64x32xf32>"
HALF = "tensor<64x16xf32>"
TURNED, TURNED_ROWS = (f"tensor<{n}x64xf32, #ptensor.view<layout = dn>>" for n in (32, 16))
KERNELS = f"""
orch.func incore @cp(in {S}, out {S}) -> {S} returns [1]
orch.func incore @up(in {S}, inout {S}) -> {S} returns [1]
orch.func incore @cpl(in {L}, out {L}) -> {L} returns [1]
orch.func incore @upl(in {L}, inout {L}) -> {L} returns [1]
orch.func incore @rd(in {L}, out {S}) -> {S} returns [1]
orch.func incore @cols(in {HALF}, out {HALF}) -> {HALF} returns [1]
orch.func incore @turned(in {TURNED}, out {S}) -> {S} returns [1]
orch.func incore @rows(in {TURNED_ROWS}, out {S}) -> {S} returns [1]
"""


def context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def calls(body: str) -> str:
    """`%b = cp %a, %b0` as calls: the types follow from the names of the kernels."""
    lines: list[str] = []
    types = {
        "cp": (S, S),
        "up": (S, S),
        "cpl": (L, L),
        "upl": (L, L),
        "rd": (L, S),
        "cols": (HALF, HALF),
        "turned": (TURNED, S),
        "rows": (TURNED_ROWS, S),
    }
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


def graph_of(
    body: str,
    scalars: dict[str, int] | None = None,
    *,
    more: str = "",
    passes: Sequence[str] = (),
) -> TaskGraph:
    text = f"""{KERNELS}{more}
orch.func orchestration @main({PARAMETERS}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %f = arith.constant 1.0 : f32
{calls(body)}
  orch.return
}}"""
    ctx = context()
    module = parse_module(ctx, text, "a.mlir")
    DeriveCallDirectionsPass().apply(ctx, module)
    for name in passes:
        Universe.get_multiverse().all_passes[name]()().apply(ctx, module)
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


def test_e7_transposed() -> None:
    """The ranges meet, and boxes of other strides are not compared: the edge is a true one."""
    graph = graph_of(
        f"""%t = ptensor.create : {L}
%s = ptensor.slice %t[0, 0] : {L} -> {S}
%s1 = cp %x, %s
%z = ptensor.transpose %t : {L} -> {TURNED}
%a1 = turned %z, %a"""
    )
    assert edges(graph) == [{"A"}, {"A", 0}]
    assert races(graph) == []


def test_e7_columns_of_a_transposed_view() -> None:
    """
    Writers of columns 0..15 and 16..31, and a reader of rows 16..31 of the transposed view, which
    are columns 16..31: it waits for the second, and needlessly for the first. The two writers,
    whose strides are equal, are told apart.
    """
    graph = graph_of(
        f"""%t = ptensor.create : {L}
%h = ptensor.create : {HALF}
%left = ptensor.slice %t[0, 0] : {L} -> {HALF}
%right = ptensor.slice %t[0, 16] : {L} -> {HALF}
%left1 = cols %h, %left
%right1 = cols %h, %right
%z = ptensor.transpose %t : {L} -> {TURNED}
%part = ptensor.slice %z[16, 0] : {TURNED} -> {TURNED_ROWS}
%e1 = rows %part, %e"""
    )
    assert edges(graph) == [{"A"}, {"A"}, {"A", 0, 1}]
    assert races(graph) == []


def test_transpose_of_columns() -> None:
    """A transposed window keeps the strides of its tensor: what is beside it is not in it."""
    graph = graph_of(
        f"""%t = ptensor.create : {L}
%h = ptensor.create : {HALF}
%left = ptensor.slice %t[0, 0] : {L} -> {HALF}
%right = ptensor.slice %t[0, 16] : {L} -> {HALF}
%right1 = cols %h, %right
%z = ptensor.transpose %left : {HALF} -> {TURNED_ROWS}
%e1 = rows %z, %e"""
    )
    (read,) = [a for a in graph.tasks[-1].accesses if a.handle.buffer.name == "%t"]
    assert (read.handle.shape, read.handle.strides) == ((16, 64), (1, 32))


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


def fence(consumers: str) -> str:
    ids = "!orch.array<4x!orch.task_id>"
    return f"""%none = orch.array.create : {ids}
orch.task_scope manual {{
%t = ptensor.create : tensor<4x32x32xf32>
%ids = scf.for %i = %c0 to %c4 step %c1 iter_args(%some = %none) -> ({ids}) {{
%s = ptensor.slice %t[%i, 0, 0] : tensor<4x32x32xf32> -> {S}
%s1, %id = cp %x, %s
%more = orch.array.update_element %id, %some[%i] : !orch.task_id, {ids}
scf.yield %more : {ids}
}} {{orch.loop = #orch<loop parallel>}}
{consumers}
}}"""


CONSUMERS = f"""%u = ptensor.create : tensor<4x32x32xf32>
scf.for %j = %c0 to %c4 step %c1 {{
%r = ptensor.slice %t[%j, 0, 0] : tensor<4x32x32xf32> -> {S}
%v = ptensor.slice %u[%j, 0, 0] : tensor<4x32x32xf32> -> {S}
%v1, %done = cp %r, %v deps [DEPS]
}} {{orch.loop = #orch<loop parallel>}}"""


def test_e9_phase_fence() -> None:
    """Four producers, four consumers: sixteen edges by name, or eight through a dummy task."""
    by_name = CONSUMERS.replace("DEPS", "%ids : !orch.array<4x!orch.task_id>")
    graph = graph_of(fence(by_name))
    assert edges(graph) == [set()] * 4 + [{0, 1, 2, 3}] * 4
    assert races(graph) == []
    dummy = "%fence = orch.task_dummy deps [%ids : !orch.array<4x!orch.task_id>]\n"
    graph = graph_of(fence(dummy + CONSUMERS.replace("DEPS", "%fence")))
    assert edges(graph) == [set()] * 4 + [{0, 1, 2, 3}] + [{4}] * 4
    assert sum(map(len, edges(graph))) == 8
    assert {edge.kind.value for edge in graph.edges} == {"explicit"}
    assert races(graph) == []


def test_q1_dependencies_are_never_dropped() -> None:
    """
    What a scope hands out is waited for after it; what it does not is unknown outside, and a
    program that names it all the same is refused where it does.
    """
    body = """RESULTorch.task_scope manual TYPE {
%a1, %id = cp %x, %a
YIELD
}
%b1, %done = cp %x, %b deps [%id2]"""
    handed_out = (
        body.replace("RESULT", "%id2 = ")
        .replace("TYPE", "-> (!orch.task_id)")
        .replace("YIELD", "orch.yield %id : !orch.task_id")
    )
    assert edges(graph_of(handed_out)) == [set(), {0}]
    for word in ("RESULT", "TYPE", "YIELD"):
        body = body.replace(word, "")
    with pytest.raises(DiagnosticsError, match="error: use of undefined value '%id'"):
        graph_of(body.replace("%id2", "%id"))


def test_q3_identities_in_arrays() -> None:
    """An identity that is read back from an array is the one that was put there."""
    ids = "!orch.array<2x!orch.task_id>"
    graph = graph_of(
        f"""%none = orch.array.create : {ids}
%a1, %ta = cp %x, %a
%ids = orch.array.update_element %ta, %none[%c1] : !orch.task_id, {ids}
%first = orch.array.get_element %ids[%c0] : {ids}
%second = orch.array.get_element %ids[%c1] : {ids}
%b1, %tb = cp %x, %b deps [%first]
%e1, %te = cp %x, %e deps [%second]"""
    )
    assert edges(graph) == [set(), set(), {0}]


def test_q6_a_barrier_of_nothing_is_a_task() -> None:
    graph = graph_of("%fence = orch.task_dummy deps []\n%a1, %ta = cp %x, %a deps [%fence]")
    assert [task.name for task in graph.tasks] == ["dummy", "cp"]
    assert edges(graph) == [set(), {0}]


def test_q9_edges_cross_scopes() -> None:
    graph = graph_of(
        f"""%a2 = orch.task_scope auto -> ({S}) {{
%a1 = cp %x, %a
orch.yield %a1 : {S}
}}
orch.task_scope auto {{
orch.task_scope auto {{
%b1 = cp %a2, %b
}}
}}"""
    )
    assert edges(graph) == [set(), {0}]


@pytest.mark.parametrize("cleanup", ["dce", "cse", "canonicalize", "simplify"])
def test_q2_identities_are_uses(cleanup: str) -> None:
    """A10: a task that only a list of dependencies names is named by it after any clean-up."""
    body = "%a1, %ta = cp %x, %a\n%b1, %tb = cp %x, %b deps [%ta]"
    assert edges(graph_of(body, passes=(cleanup,))) == [set(), {0}]


# Q7 (the order of what ranks send and wait for) is about several cards; Q10 (remainders of loops
# in chunks) about chunks, which loops have none of here.


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


def test_e10_in_a_manual_scope() -> None:
    """The same without edges: the loop's updates race."""
    graph = graph_of(
        f"""orch.task_scope manual {{
%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%it = %out) -> ({S}) {{
%o1 = up %x, %it
scf.yield %o1 : {S}
}}
}}"""
    )
    assert edges(graph) == [set(), set(), set()]
    # One pair of each two calls is told.
    assert races(graph) == [(0, 1, "write after write")]


def test_e8_automatic_manual_automatic() -> None:
    """The reader waits for the automatic writer only."""
    graph = graph_of(
        f"""%t = ptensor.create : {S}
%t1 = cp %x, %t
%t2 = orch.task_scope manual -> ({S}) {{
%m, %id = up %y, %t1
orch.yield %m : {S}
}}
%o1 = cp %t2, %out"""
    )
    assert edges(graph) == [{"A"}, set(), {"A", 0}]
    assert races(graph) == [(0, 1, "write after write"), (1, 2, "read after write")]


def test_e8_bridged() -> None:
    """An array from outside carries the identity of the manual task to who has to wait."""
    ids = "!orch.array<1x!orch.task_id>"
    graph = graph_of(
        f"""%none = orch.array.create : {ids}
%t = ptensor.create : {S}
%u = ptensor.create : {S}
%u2, %all = orch.task_scope manual -> ({S}, {ids}) {{
%t1, %id = cp %x, %t
%u1, %id2 = cp %t1, %u deps [%id]
%ids = orch.array.update_element %id2, %none[%c0] : !orch.task_id, {ids}
orch.yield %u1, %ids : {S}, {ids}
}}
%o1, %done = cp %u2, %out deps [%all : {ids}]"""
    )
    assert edges(graph) == [set(), {0}, {"A", 1}]
    assert races(graph) == []


def test_e11_explicit_and_automatic() -> None:
    """One edge a producer, whatever reasons it has."""
    graph = graph_of(
        f"""%t = ptensor.create : {S}
%t1, %first = cp %x, %t
%b1, %second = up %x, %b deps [%first]
%o1, %third = cp %t1, %out deps [%first, %second]"""
    )
    assert edges(graph) == [{"A"}, {0}, {"A", 0, 1}]
    to_last = [edge for edge in graph.edges if edge.consumer == 3]
    kinds = {edge.producer: (edge.kind.value, edge.retains) for edge in to_last}
    assert kinds == {0: ("creator", True), 1: ("explicit", True), 2: ("explicit", True)}
    assert races(graph) == []


def test_e12_manual_dep_is_lost_on_views() -> None:
    """The mark holds for the tensor, not for its windows."""
    graph = graph_of(
        f"""%t = ptensor.create {{orch.manual_dep}} : {L}
%v = ptensor.slice %t[0, 0] : {L} -> {S}
%v1 = cp %x, %v
%o1 = rd %t, %out
%v2 = up %x, %v1"""
    )
    assert edges(graph) == [{"A"}, {"A"}, {"A", 0}]
    assert races(graph) == [(0, 1, "read after write"), (1, 2, "write after read")]
    first, second = hazards(graph)
    assert first.reason == "a tensor that is manual_dep makes nobody wait"
    assert second.reason == first.reason


def test_e13_one_task_for_all_blocks() -> None:
    """
    Work of cube and vector cores on four blocks is one task (what its cores hand each other is no
    tensor here). Row blocks that each get the whole tensor make a chain that no byte asks for;
    windows make none.
    """
    whole = """%m, %id = orch.submit @group(%w, %t) launch %c4 : (L, L) -> (L, !orch.task_id)
%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%it = %m) -> (L) {
%u = upl %w2, %it
scf.yield %u : L
}"""
    group = f"""
orch.func group @group(in %x : {L}, out %o : {L}) -> {L} {{
  %a = orch.call @cpl(%x, %o) : ({L}, {L}) -> {L}
  %b = orch.call @upl(%x, %a) : ({L}, {L}) -> {L}
  orch.return %b : {L}
}}"""
    graph = graph_of(f"%t = ptensor.create : {L}\n" + whole.replace("L", L), more=group)
    assert [task.name for task in graph.tasks] == ["alloc", "group", "upl", "upl", "upl"]
    assert edges(graph) == [{"A"}, {"A", 0}, {"A", 1}, {"A", 2}]
    windows = f"""%t = ptensor.create : {L}
scf.for %i = %c0 to %c2 step %c1 {{
%row = arith.muli %i, %c32 : index
%s = ptensor.slice %t[%row, 0] : {L} -> {S}
%s1 = up %x, %s
}}"""
    assert edges(graph_of(windows)) == [{"A"}, {"A"}]


def host_waits(graph: TaskGraph) -> list[set[int | str]]:
    names = number(graph)
    return [{names[n] for n in access.waits_for} for access in graph.host_accesses]


def test_e14_host_reads() -> None:
    graph = graph_of(
        f"""%t = ptensor.create : {S}
%t1 = cp %x, %t
%v = ptensor.read %t1[0, 0] : {S} -> f32
%t2 = cp %y, %t1
%a1 = cp %t2, %a"""
    )
    assert edges(graph) == [{"A"}, {"A", 0}, {"A", 1}]
    assert host_waits(graph) == [{"A", 0}]


def test_e14_host_writes() -> None:
    """Before it writes, the orchestrator waits for the readers of what it allocated, too."""
    graph = graph_of(
        f"""%t = ptensor.create : {S}
%t1 = cp %x, %t
%o1 = cp %t1, %out
%t2 = ptensor.write %f, %t1[0, 0] : f32, {S}
%a1 = cp %t2, %a"""
    )
    assert host_waits(graph) == [{"A", 0, 1}]
    assert races(graph) == []


def test_e14_entry_arguments() -> None:
    """
    Of what the caller passed only writers are waited for: a reader that may not be done yet sees
    what the orchestrator writes. What it writes elsewhere does no harm.
    """
    graph = graph_of(
        f"""%v = ptensor.read %y[0, 0] : {S} -> f32
%row = ptensor.slice %w[0, 0] : {L} -> {S}
%a1 = cp %row, %a
%b1 = ptensor.read %a1[0, 0] : {S} -> f32
%e1 = cp %row, %e
%other = ptensor.write %f, %w[40, 0] : f32, {L}
%w1 = ptensor.write %f, %other[2, 3] : f32, {L}
%b2 = cp %x, %b"""
    )
    assert host_waits(graph) == [set(), {0}, set(), set()]
    # Task 0 is done, since the orchestrator read what it wrote.
    assert races(graph) == [(1, "host", "write after read")]
    (hazard,) = hazards(graph)
    assert hazard.reason == (
        "the orchestrator does not wait for who only reads what the caller passed"
    )


def test_e14_manual_writers() -> None:
    """The orchestrator does not see who writes in a manual scope."""
    graph = graph_of(
        f"""%a2 = orch.task_scope manual -> ({S}) {{
%a1, %id = cp %x, %a
orch.yield %a1 : {S}
}}
%v = ptensor.read %a2[0, 0] : {S} -> f32"""
    )
    assert host_waits(graph) == [set()]
    assert races(graph) == [(0, "host", "read after write")]


def test_host_accesses_that_only_a_run_knows() -> None:
    """A wait in a branch orders nothing after it; one for what may be elsewhere is no hazard."""
    graph = graph_of(
        f"""%a1 = cp %x, %a
scf.if %cond {{
%v = ptensor.read %a1[0, 0] : {S} -> f32
}}
%w1 = ptensor.write %f, %x[%n, 0] : f32, {S}
%m = scf.if %cond -> ({S}) {{
scf.yield %a1 : {S}
}} else {{
scf.yield %b : {S}
}}
%u = ptensor.read %m[%n, 0] : {S} -> f32"""
    )
    # The last read may be of either of two buffers.
    assert host_waits(graph) == [{0}, set(), set(), set()]
    assert races(graph) == [(0, "host", "write after read")]


def test_what_is_put_back_is_no_access() -> None:
    """An assemble of a window where it is waits for nobody; one that copies does."""
    body = f"""%t = ptensor.create : {L}
%r = scf.for %i = %c0 to BOUND step %c1 iter_args(%it = %t) -> ({L}) {{
%row = arith.muli %i, %c32 : index
%s = ptensor.slice %it[%row, 0] : {L} -> {S}
%s1 = cp %x, %s
%it1 = ptensor.assemble %s1, %it[%row, 0] : {S}, {L}
scf.yield %it1 : {L}
}}
%a1 = rd %r, %a"""
    assert graph_of(body.replace("BOUND", "%c2")).host_accesses == []
    assert graph_of(body.replace("BOUND", "%n")).host_accesses == []
    moved = graph_of(f"""%s = ptensor.slice %w[32, 0] : {L} -> {S}
%s1 = up %x, %s
%w1 = ptensor.assemble %s1, %w[0, 0] : {S}, {L}""")
    assert host_waits(moved) == [{0}, {0}]


def test_e15_rings() -> None:
    """Scopes deeper than three share the last ring."""
    body = f"""%c = ptensor.create : {S}
orch.task_scope auto {{
%a1 = cp %x, %a
orch.task_scope auto {{
%t = ptensor.create : {S}
orch.task_scope auto {{
%b1 = cp %x, %b
orch.task_scope auto {{
%t1 = cp %x, %t
}}
}}
}}
}}
%e1 = cp %x, %e"""
    tasks = graph_of(body).tasks
    assert [task.ring for task in tasks] == [0, 1, 2, 3, 3, 0]


def test_e15_rings_of_loops() -> None:
    """Each loop's body becomes a scope: in the third loop one is in the ring of the second."""
    loop = "scf.for %I = %c0 to %c1 step %c1 {\n%I1 = ptensor.create : T\n"
    body = "".join(loop.replace("I", name) for name in "ijk").replace("T", S) + "}\n" * 3
    graph = graph_of(body, passes=("materialize-runtime-scopes",))
    # The function's own scope is the first.
    assert [task.ring for task in graph.tasks] == [2, 3, 3]


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


HUGE = "%huge = arith.constant 1000000000 : index\n"
CHAIN = f"""scf.for %i = %c0 to %huge step %c1 iter_args(%it = %out) -> ({S}) {{
%o1 = up %x, %it
scf.yield %o1 : {S}
}}"""
EMPTY = "scf.for %i = %c0 to %huge step %c1 {\n}"


def refused(body: str, scalars: dict[str, int] | None = None) -> tuple[str, list[str]]:
    """Why a graph is too large, and what is said beside it."""
    with pytest.raises(OpError) as error:
        graph_of(body, scalars)
    return error.value.diagnostic.message, [n.message for n in error.value.diagnostic.notes]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (CHAIN, "'scf.for' op launches at least 1000000000 tasks in 1000000000 trips"),
        (EMPTY, "'scf.for' op takes the orchestrator at least 1000000000 steps in 1000000000"),
        (
            "scf.for %i = %c0 to %huge step %c1 {\n%own = ptensor.create : tensor<4xf32>\n}",
            "launches at least 1000000000 tasks",
        ),
        (
            # Which arm it is, is only known trip by trip: the lesser one counts.
            f"""scf.for %i = %c0 to %huge step %c1 iter_args(%it = %out) -> ({S}) {{
%is = arith.cmpi eq, %i, %c1 : index
%o2 = scf.if %is -> ({S}) {{
%o1 = up %x, %it
scf.yield %o1 : {S}
}} else {{
scf.yield %it : {S}
}}
scf.yield %o2 : {S}
}}""",
            "takes the orchestrator at least 3000000000 steps in 1000000000 trips",
        ),
        (
            f"scf.for %k = %c0 to %c3 step %c1 {{\n{EMPTY}\n}}",
            "takes the orchestrator at least 3000000006 steps in 3 trips",
        ),
        (
            # Two trips are followed of each, and each has one step more than its two bodies: of the
            # innermost 2 * 2 + 1 = 5, and 2 * (5 + 1) + 1 = 13 of the next; 2**(n + 2) - 3 of n.
            # The outermost was counted itself when its trips are.
            "".join(f"scf.for %u{i} = %c0 to %n step %c1 {{\n" for i in range(30))
            + "%z = arith.constant 1 : index\n"
            + "}\n" * 30,
            "takes the orchestrator at least 4294967292 steps in 2 trips",
        ),
        (
            "%many = orch.array.create : !orch.array<1000000000x!orch.task_id>",
            "holds 1000000000 tasks, and a graph has 20000 at most",
        ),
    ],
)
def test_too_many_trips_are_refused_before_the_first(
    body: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[Operation] = []

    def count_step(_: Limits, op: Operation) -> None:
        steps.append(op)

    monkeypatch.setattr(Limits, "count_step", count_step)
    found, notes = refused(HUGE + ("%r = " if "iter_args" in body else "") + body)
    assert message in found
    assert notes == ["the graph is of this function"]
    assert len(steps) < 10


def test_bounds_that_are_given_may_be_too_large() -> None:
    body = f"""%r = scf.for %i = %c0 to %n step %c1 iter_args(%it = %out) -> ({S}) {{
%o1 = up %x, %it
scf.yield %o1 : {S}
}}"""
    assert len(graph_of(body, {"n": 20_000}).tasks) == 20_000
    message, _ = refused(body, {"n": 20_001})
    assert "launches at least 20001 tasks in 20001 trips, and a graph of more than 20000" in message


def test_loops_that_are_told_not_to_run_are_not_refused() -> None:
    """However many trips there would be of the loops in it."""
    nest = "".join(f"scf.for %u{i} = %c0 to %n step %c1 {{\n" for i in range(30)) + "}\n" * 30
    assert graph_of(nest, {"n": 0}).tasks == []


def test_what_is_found_on_the_way_ends_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its loops are told."""
    monkeypatch.setattr(task_graph_limits, "MOST_STEPS", 100)
    count = "%go = arith.cmpi slt, %i, %huge : index\nscf.condition(%go) %i : index"
    message, notes = refused(
        f"""{HUGE}scf.for %k = %c0 to %c3 step %c1 {{
%end = scf.while (%i = %c0) : (index) -> (index) {{
{count}
}} do {{
^bb0(%j : index):
%next = arith.addi %j, %c1 : index
scf.yield %next : index
}}
}}"""
    )
    assert "is step 101 of the orchestrator, which is not followed further" in message
    assert notes == ["in this loop", "in this loop", "the graph is of this function"]


def test_edges_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each task names all before it, they are more than the tasks."""
    monkeypatch.setattr(task_graph_limits, "MOST_EDGES", 100)
    body = f"""%none = orch.array.create : !orch.array<30x!orch.task_id>
%r, %all = scf.for %i = %c0 to %n step %c1 iter_args(%it = %out, %ids = %none)
    -> ({S}, !orch.array<30x!orch.task_id>) {{
%o1, %t = up %x, %it deps [%ids : !orch.array<30x!orch.task_id>]
%more = orch.array.update_element %t, %ids[%i] : !orch.task_id, !orch.array<30x!orch.task_id>
scf.yield %o1, %more : {S}, !orch.array<30x!orch.task_id>
}}"""
    assert len(graph_of(body, {"n": 12}).edges) == 66
    message, notes = refused(body, {"n": 20})
    assert "makes edge 105 of the graph, which is not followed further" in message
    assert notes == ["in this loop", "the graph is of this function"]
