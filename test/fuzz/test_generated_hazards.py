"""
Hazards that are reported show in some order of the tasks, and without one all orders agree.

The programs are made so that no order is hidden: each task updates a buffer by the contents of
another, `a = a * s + b`, with a factor of its own, so that what it saw stays in what it wrote.
Tasks are marked `no_dep`, stand in manual scopes, wait for named tasks, have windows of buffers;
the orchestrator writes elements, and reads some that go into factors.
"""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import Universe

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.hazards import Hazard, hazards
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.task_graph import record
from pypto_xdsl.interpreters.arguments import random_arguments
from pypto_xdsl.interpreters.differential import compare_runs
from pypto_xdsl.interpreters.run import find_function, run
from pypto_xdsl.interpreters.task_graph_order import TaskGraphOrder
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.transforms.derive_call_directions import DeriveCallDirectionsPass

WHOLE, PART, TILE = "tensor<8xf64>", "tensor<4xf64>", "!tile.tile<4xf64>"
BUFFERS = "abc"
SEEDS = (None, *range(60))

KERNEL = f"""
orch.func incore @mix(inout %a : {PART}, in %b : {PART}, in %s : f64) -> {PART} {{
  %t = tile.load %a[0] : {PART} -> {TILE}
  %u = tile.load %b[0] : {PART} -> {TILE}
  %v = tile.muls %t, %s : {TILE}, f64
  %w = tile.add %v, %u : {TILE}
  %a1 = tile.store %w, %a[0] : {TILE}, {PART}
  orch.return %a1 : {PART}
}}
"""


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Each buffer has two halves; tasks and the orchestrator touch one of them."""
    parameters = ", ".join(f"inout %{name} : {WHOLE}" for name in BUFFERS)
    lines: list[str] = []
    factors: list[str] = []
    tasks: list[str] = []
    halves = [f"%{name}{place}" for name in BUFFERS for place in (0, 4)]
    for half in halves:
        lines.append(f"{half} = ptensor.slice {half[:2]}[{half[2]}] : {WHOLE} -> {PART}")
    for step in range(draw(st.integers(2, 6))):
        written, read = draw(st.permutations(halves))[:2]
        match draw(st.sampled_from(["task", "task", "task", "write", "read"])):
            case "write":
                lines.append(f"%f{step} = arith.constant {step + 3}.5 : f64")
                lines.append(f"%w{step} = ptensor.write %f{step}, {written}[1] : f64, {PART}")
            case "read":
                factors.append(f"%r{step}")
                lines.append(f"%r{step} = ptensor.read {read}[1] : {PART} -> f64")
            case _:
                lines += task(draw, step, written, read, factors, tasks)
    types = ", ".join(["f64"] * len(factors))
    head = f"orch.func orchestration @main({parameters}) -> ({types}) {{"
    # What the orchestrator read shows as well.
    end = f"orch.return {', '.join(factors)}" + (f" : {types}" if factors else "")
    return KERNEL + "\n".join([head, *lines, end, "}"])


def task(
    draw: st.DrawFn, step: int, written: str, read: str, factors: list[str], tasks: list[str]
) -> list[str]:
    factor = f"%s{step}"
    lines = [f"{factor} = arith.constant {step + 2}.25 : f64"]
    if factors and draw(st.booleans()):
        known = draw(st.sampled_from(factors))
        lines.append(f"%k{step} = arith.addf {factor}, {known} : f64")
        factor = f"%k{step}"
    marked = draw(st.sampled_from(["", "", "", " no_dep [0]", " no_dep [1]"]))
    deps = draw(st.lists(st.sampled_from(tasks), unique=True)) if tasks else []
    clauses = marked + (f" deps [{', '.join(deps)}]" if deps else "")
    launch = (
        f"orch.submit @mix({written}, {read}, {factor}){clauses} : ({PART}, {PART}, f64) "
        f"-> ({PART}, !orch.task_id)"
    )
    if draw(st.integers(0, 3)):
        tasks.append(f"%id{step}")
        return [*lines, f"%v{step}, %id{step} = {launch}"]
    return [
        *lines,
        "orch.task_scope manual {",
        f"%v{step}, %id{step} = {launch}",
        "}",
    ]


def context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


CONTEXT = context()


def reported(module: ModuleOp) -> list[Hazard]:
    lineage = ReturnLineage(CallGraph(module))
    main = next(f for f in lineage.calls.functions if f.sym_name.data == "main")
    return list(hazards(record(main, lineage)))


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(text=programs())
def test_hazards_are_those_that_show(text: str) -> None:
    module = parse_module(CONTEXT, text, "generated.mlir")
    DeriveCallDirectionsPass().apply(CONTEXT, module)
    found = reported(module)
    event(f"{'hazards' if found else 'no hazard'}")
    main = find_function(module, "main")
    arguments = random_arguments(main, 0)
    wanted = run(module, main, arguments)
    differs = [
        compare_runs(run(module, main, arguments, scheduler=TaskGraphOrder(seed)), wanted)
        is not None
        for seed in SEEDS
    ]
    assert any(differs) is bool(found), [
        (h.kind, h.first.op.location, h.second.op.location) for h in found
    ]
