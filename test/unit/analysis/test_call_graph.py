"""The call graph: callees before callers, recursion in one component, symbols by module."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import Universe

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.dialects.orch import CallOp, FuncOp, FunctionKind, ReturnOp
from pypto_xdsl.syntax.parser import parse_module

TEXT = """
orch.func group @a() {
  orch.call @b() : () -> ()
  orch.call @leaf() : () -> ()
  orch.return
}
orch.func group @b() {
  orch.call @c() : () -> ()
  %t = orch.submit @leaf() : () -> !orch.task_id
  orch.return
}
orch.func group @c() {
  orch.call @a() : () -> ()
  orch.call @self() : () -> ()
  orch.call @nobody() : () -> ()
  orch.return
}
orch.func group @self() {
  orch.call @self() : () -> ()
  orch.return
}
orch.func incore @leaf() {
  orch.return
}
module @unit {
  orch.func incore @leaf() {
    orch.return
  }
  orch.func group @inner() {
    orch.call @leaf() : () -> ()
    orch.return
  }
}"""


def graph_of(text: str) -> tuple[ModuleOp, CallGraph]:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    module = parse_module(ctx, text, "a.mlir")
    return module, CallGraph(module)


def test_components() -> None:
    _, calls = graph_of(TEXT)
    found = [[f.sym_name.data for f in component] for component in calls.components()]
    assert sorted(map(sorted, found)) == [
        ["a", "b", "c"],
        ["inner"],
        ["leaf"],
        ["leaf"],
        ["self"],
    ]
    place = {f: index for index, component in enumerate(calls.components()) for f in component}
    for function in calls.functions:
        assert all(place[callee] <= place[function] for callee in calls.callees(function))


def test_uses() -> None:
    _, calls = graph_of(TEXT)
    functions = {(f.parent_op(), f.sym_name.data): f for f in calls.functions}
    by_name = {f.sym_name.data: f for f in calls.functions if f.sym_name.data != "leaf"}
    assert [d.callee_name for d in calls.uses_in(by_name["b"])] == ["c", "leaf"]
    outer_leaf = calls.function("leaf", by_name["a"])
    inner_leaf = calls.function("leaf", by_name["inner"])
    assert outer_leaf is not None
    assert inner_leaf is not None
    assert outer_leaf is not inner_leaf
    assert functions[by_name["inner"].parent_op(), "leaf"] is inner_leaf
    callers = [calls.caller(d).sym_name.data for d in calls.uses_of(outer_leaf)]
    assert callers == ["a", "b"]
    assert [calls.callee(d) for d in calls.uses_in(by_name["inner"])] == [inner_leaf]
    assert [calls.is_recursive(d) for d in calls.uses_in(by_name["c"])] == [True, False, False]
    assert [calls.is_recursive(d) for d in calls.uses_in(by_name["self"])] == [True]
    assert calls.callee(calls.uses_in(by_name["c"])[2]) is None


def test_a_function_made_later() -> None:
    module, calls = graph_of(TEXT)
    made = FuncOp("made", FunctionKind.INCORE, [], [])
    call = CallOp("leaf", [], [])
    made.body.block.add_ops([call, ReturnOp()])
    module.body.block.add_op(made)
    calls.add(made)
    callee = calls.callee(call)
    assert callee is not None
    assert callee.sym_name.data == "leaf"
    assert call in calls.uses_of(callee)
    assert not calls.is_recursive(call)
    assert list(calls.callees(made)) == [callee]
