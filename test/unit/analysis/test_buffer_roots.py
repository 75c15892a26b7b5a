"""Which buffers a tensor may name, where in them, and which are never one."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.universe import Universe

from pypto_xdsl.analysis.buffer_roots import BufferRoots, Place, ProgramRoots
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.overlap import Overlap
from pypto_xdsl.analysis.return_lineage import ReturnLineage, Tracer
from pypto_xdsl.analysis.walk import blocks_inside, walk
from pypto_xdsl.syntax.parser import parse_module

T = "tensor<64xf32>"


def program(text: str) -> tuple[dict[str, SSAValue], BufferRoots, ReturnLineage]:
    """The values of `@f` by name, what they name, and the lineage of the program."""
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    module: ModuleOp = parse_module(ctx, text, "a.mlir")
    lineage = ReturnLineage(CallGraph(module))
    function = next(f for f in lineage.calls.functions if f.sym_name.data == "f")
    names: dict[str, SSAValue] = {}
    for op in walk(function):
        for value in op.results:
            names[value.name_hint or ""] = value
        for block in blocks_inside(op):
            names |= {value.name_hint or "": value for value in block.args}
    return names, ProgramRoots(lineage).of(function), lineage


def roots(names: dict[str, SSAValue], place: Place) -> set[str]:
    spelled = {value: name for name, value in names.items()}
    return {spelled[root] for root in place.roots} | ({"?"} if not place.is_complete else set())


PATHS = f"""
orch.func incore @kernel(in %x : {T}, out %o : {T}) -> {T} {{
  orch.return %o : {T}
}}
orch.func incore @either(in %c : i1, in %x : {T}, out %o : {T}, out %p : {T}) -> {T} {{
  %m = scf.if %c -> ({T}) {{
    scf.yield %o : {T}
  }} else {{
    scf.yield %p : {T}
  }}
  orch.return %m : {T}
}}
orch.func incore @own() -> {T} {{
  %c = ptensor.create : {T}
  orch.return %c : {T}
}}
orch.func incore @unsaid(out {T}, out tensor<32xf32>) -> {T}
orch.func orchestration @f(in %c : i1, in %n : index, in %x : {T}, out %y : {T}, out %z : {T}) {{
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %t = ptensor.create : {T}
  %small = ptensor.create : tensor<32xf32>
  %stored = orch.call @kernel(%x, %y) : ({T}, {T}) -> {T}
  %which = orch.call @either(%c, %x, %y, %z) : (i1, {T}, {T}, {T}) -> {T}
  %fresh = orch.call @own() : () -> {T}
  %typed = orch.call @unsaid(%t, %small) : ({T}, tensor<32xf32>) -> {T}
  %omitted, %task = orch.submit @kernel(%x) : ({T}) -> ({T}, !orch.task_id)
  %maybe = scf.for %i = %one to %n step %one iter_args(%m1 = %x) -> ({T}) {{
    scf.yield %t : {T}
  }}
  %surely = scf.for %i = %one to %four step %one iter_args(%m2 = %x) -> ({T}) {{
    scf.yield %t : {T}
  }}
  %odd = "test.op"(%x, %n) : ({T}, index) -> {T}
  %alone = "test.op"(%n) : (index) -> {T}
  orch.return
}}"""


def test_roots() -> None:
    names, found, _ = program(PATHS)
    expected = {
        "x": {"x"},
        "t": {"t"},
        "stored": {"y"},
        "which": {"y", "z"},
        "fresh": {"fresh"},
        "typed": {"t"},
        "omitted": {"omitted"},
        "maybe": {"x", "t"},
        "m1": {"x", "t"},
        "surely": {"t"},
        "odd": {"odd", "x", "?"},
        "alone": {"alone"},
    }
    assert {name: roots(names, found.of(names[name])) for name in expected} == expected
    assert found.of(names["n"]).roots == ()
    ambiguous = {name for name in expected if found.of(names[name]).is_ambiguous}
    assert ambiguous == {"which", "maybe", "m1", "odd"}


def test_a_result_is_what_the_callee_returns() -> None:
    """R11: scratch of another type that is written first does not become the result."""
    names, found, _ = program(
        f"""
orch.func incore @kernel(in %x : {T}, inout %s : {T}, out %o : tensor<64xbf16>)
    -> tensor<64xbf16> {{
  orch.return %o : tensor<64xbf16>
}}
orch.func incore @unsaid(in {T}, inout {T}, out tensor<64xbf16>) -> tensor<64xbf16>
orch.func orchestration @f(in %x : {T}, out %p : tensor<64xbf16>, out %q : tensor<64xbf16>) {{
  %s = ptensor.create : {T}
  %r = orch.call @kernel(%x, %s, %p) : ({T}, {T}, tensor<64xbf16>) -> tensor<64xbf16>
  %u = orch.call @unsaid(%x, %s, %q) : ({T}, {T}, tensor<64xbf16>) -> tensor<64xbf16>
  orch.return
}}"""
    )
    assert roots(names, found.of(names["r"])) == {"p"}
    # A function that only has a signature: the written parameter of the type of the result.
    assert roots(names, found.of(names["u"])) == {"q"}


def test_many_roots_are_any() -> None:
    """A value that may be any of very many buffers may be any at all."""
    lines = [f"orch.func orchestration @f(in %c : i1) {{\n  %m0 = ptensor.create : {T}"]
    for k in range(20):
        lines.append(
            f"""  %t{k} = ptensor.create : {T}
  %m{k + 1} = scf.if %c -> ({T}) {{
    scf.yield %t{k} : {T}
  }} else {{
    scf.yield %m{k} : {T}
  }}"""
        )
    names, found, _ = program("\n".join(lines) + "\n  orch.return\n}")
    assert len(found.of(names["m3"]).roots) == 4
    assert found.of(names["m3"]).is_complete
    assert not found.of(names["m20"]).is_complete
    assert found.of(names["m20"]).may_overlap(found.of(names["t0"]))


WINDOWS = """
orch.func orchestration @f(in %n : index, out %x : tensor<4x64xf32>, out %d : tensor<?x64xf32>) {
  %top = ptensor.slice %x[0, 0] : tensor<4x64xf32> -> tensor<2x64xf32>
  %low = ptensor.slice %x[2, 0] : tensor<4x64xf32> -> tensor<2x64xf32>
  %row = ptensor.slice %low[1, 0] : tensor<2x64xf32> -> tensor<64xf32>
  %end = ptensor.slice %row[32] : tensor<64xf32> -> tensor<32xf32>
  %some = ptensor.slice %x[%n, 0] : tensor<4x64xf32> -> tensor<1x64xf32>
  %left = ptensor.slice %some[0, 0] : tensor<1x64xf32> -> tensor<1x32xf32>
  %right = ptensor.slice %some[0, 32] : tensor<1x64xf32> -> tensor<1x32xf32>
  %flat = ptensor.reshape %top : tensor<2x64xf32> -> tensor<128xf32>
  %part = ptensor.slice %flat[0] : tensor<128xf32> -> tensor<8xf32>
  %tail = ptensor.slice %d[8, 0], sizes = [%n, 64] : tensor<?x64xf32> -> tensor<?x64xf32>
  %head = ptensor.slice %d[0, 0] : tensor<?x64xf32> -> tensor<8x64xf32>
  orch.return
}"""


def test_windows() -> None:
    names, found, _ = program(WINDOWS)

    def bounds(name: str) -> tuple[tuple[int, int], ...]:
        window = found.of(names[name]).window
        assert window is not None
        return window.bounds

    assert bounds("x") == ((0, 4), (0, 64))
    assert bounds("top") == ((0, 2), (0, 64))
    assert bounds("low") == ((2, 4), (0, 64))
    assert bounds("row") == ((3, 4), (0, 64))
    assert bounds("end") == ((3, 4), (32, 64))
    # A start that is known at run time only may be anywhere in what it is a window of.
    assert bounds("some") == ((0, 4), (0, 64))
    assert bounds("left") == ((0, 4), (0, 32))
    # Another shape is the same bytes; a window of it is somewhere in them.
    assert bounds("part") == bounds("flat") == bounds("top")

    def apart(one: str, other: str) -> bool:
        return not found.of(names[one]).may_overlap(found.of(names[other]))

    assert apart("top", "low")
    assert apart("part", "row")
    assert apart("left", "right")
    assert apart("head", "tail")
    assert not apart("some", "row")
    assert not apart("low", "end")
    assert not apart("flat", "top")


PING_PONG = f"""
orch.func orchestration @f(in %c : i1, in %n : index, inout %x : {T}, inout %y : {T}) {{
  %r:2 = scf.for %i = %n to %n step %n iter_args(%p = %x, %q = %y) -> ({T}, {T}) {{
    %m:2 = scf.if %c -> ({T}, {T}) {{
      scf.yield %q, %p : {T}, {T}
    }} else {{
      scf.yield %p, %q : {T}, {T}
    }}
    %own = ptensor.create : {T}
    %s:2 = scf.for %j = %n to %n step %n iter_args(%inner = %m#0, %last = %own) -> ({T}, {T}) {{
      %new = ptensor.create : {T}
      scf.yield %inner, %new : {T}, {T}
    }}
    scf.yield %m#1, %m#0 : {T}, {T}
  }}
  %both:2 = scf.for %i = %n to %n step %n iter_args(%u = %x, %v = %y) -> ({T}, {T}) {{
    scf.yield %u, %u : {T}, {T}
  }}
  orch.return
}}"""


def test_buffers_that_change_places() -> None:
    names, found, _ = program(PING_PONG)
    overlap = Overlap(found)

    def one(left: str, right: str) -> bool:
        assert overlap.may_be_one(names[left], names[right]) == overlap.may_be_one(
            names[right], names[left]
        )
        return overlap.may_be_one(names[left], names[right])

    assert not one("p", "q")
    assert one("p", "x")
    assert one("p", "y")
    assert one("inner", "p")
    assert one("inner", "q")
    assert not one("inner", "last")
    assert not one("own", "p")
    assert not one("new", "last")
    # From the second iteration on both are %x.
    assert one("u", "v")


def test_tracing_a_body_that_is_no_function_yet() -> None:
    """What the outliner asks: values of a region, traced to what it captures."""
    names, _, lineage = program(
        f"""
orch.func incore @kernel(in %x : {T}, out %o : {T}) -> {T} {{
  orch.return %o : {T}
}}
orch.func opaque @f(in %x : {T}, inout %y : {T}) {{
  %t = ptensor.create : {T}
  %s = orch.incore -> ({T}) {{
    %y1 = orch.call @kernel(%t, %y) : ({T}, {T}) -> {T}
    %y2 = orch.call @kernel(%x, %y1) : ({T}, {T}) -> {T}
    orch.yield %y2 : {T}
  }}
  orch.return
}}"""
    )
    captured = [names["t"], names["y"], names["x"]]
    tracer = Tracer(captured, lineage)
    found = tracer.trace(names["y2"])
    assert found is not None
    assert (found.parameter, found.is_exact) == (1, True)
    assert tracer.trace(names["s"]) == found
    assert Tracer([names["x"]], lineage).trace(names["y2"]) is None
