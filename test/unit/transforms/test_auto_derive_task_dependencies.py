"""
The unit tests of PyPTO's own pass, one case each by its number (A.5 of the reference): what each
task waits for by name, and how the runtime is told to treat its arguments.

PyPTO names nothing in a whole region once one dependency cannot be named; here each is named that
can be, so that cases where PyPTO falls back name more. Cases without a counterpart: 6, 7 and 52
(the pass is run or not), 12 and 36 (its debug output), 18 to 21 and 30 (windows that only types
say), 13, 28, 29, 32 and 51 (gathers, whose results are buffers of their own here).
"""

from __future__ import annotations

import pytest
from support.programs import context, program
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, OpResult, SSAValue

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.dialects.orch import DispatchOp, SubmitOp, TaskDummyOp, TaskScopeOp
from pypto_xdsl.dialects.orch.function_marks import MANUAL_LAYER
from pypto_xdsl.transforms.auto_derive_task_dependencies import AutoDeriveTaskDependenciesPass
from pypto_xdsl.transforms.derive_call_directions import DeriveCallDirectionsPass
from pypto_xdsl.transforms.materialize_runtime_scopes import MaterializeRuntimeScopesPass

T = "tensor<64x32xf32>"
H = "tensor<32x32xf32>"
TASK = "!orch.task_id"
KERNELS = f"""
orch.func incore @f(in {T}, out {T}) -> {T} returns [1]
orch.func incore @c(in {T}, out {T}) -> {T} returns [1]
orch.func incore @m(in {T}, inout {T}) -> {T} returns [1]
orch.func incore @g(in {H}, out {H}) -> {H} returns [1]
orch.func incore @h(in {H}, out {H}) -> {H} returns [1]
orch.func incore @pair(in {T}, in {T}, out {T}) -> {T} returns [2]
"""
PARALLEL = "{orch.loop = #orch<loop parallel>}"


def call(result: str, callee: str, *arguments: str, type: str = T) -> str:
    types = ", ".join([type] * len(arguments))
    return f"%{result} = orch.call @{callee}({', '.join(arguments)}) : ({types}) -> {type}\n"


def submit(result: str, callee: str, *arguments: str, clauses: str = "") -> str:
    """A submit; its task is `%t_<result>`."""
    types = ", ".join([T] * len(arguments))
    return (
        f"%{result}, %t_{result} = orch.submit @{callee}({', '.join(arguments)}) {clauses}: "
        f"({types}) -> ({T}, {TASK})\n"
    )


def loop(body: str, carry: str, end: str, trips: str = "c4", *, kind: str = "", types: str = T):
    """A loop with the results `%r...`."""
    count = len(types.split(", "))
    results = "%r" if count == 1 else f"%r:{count}"
    return (
        f"{results} = scf.for %i = %c0 to %{trips} step %c1 iter_args({carry}) -> ({types}) {{\n"
        f"{body}scf.yield {end} : {types}\n}} {kind}\n"
    )


def scope(mode: str, body: str) -> str:
    return f"orch.task_scope {mode} {{\n{body}}}\n"


FILL = call("b", "f", "%x", "%buf")
USE = call("u", "c", "%b", "%o")
USE_R = call("u", "c", "%r", "%o")
CARRIED = "%v = %buf"
IN_LOOP = call("w", "f", "%x", "%v")
HALVES = (
    f"%s = ptensor.slice %buf[0, 0] : {T} -> {H}\n"
    f"%e = ptensor.slice %buf[{{0}}, 0] : {T} -> {H}\n"
    + call("s1", "g", "%y", "%s", type=H)
    + call("p1", "h", "%e", "%p", type=H)
)
CHOICE = f"""%m = scf.if %cond -> ({T}) {{
  scf.yield %b : {T}
}} else {{
  scf.yield %{{0}} : {T}
}}
"""
A4 = f"!orch.array<4x{TASK}>"
INTO_ARRAY = f"""%none = orch.array.create : {A4}
%r, %all = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %buf, %some = %none) -> ({T}, {A4}) {{
  {submit("w", "f", "%x", "%v")}  %more = orch.array.update_element %t_w, %some[%i] : {TASK}, {A4}
  scf.yield %w, %more : {T}, {A4}
}} {PARALLEL}
"""
SLOT = f"""%none = orch.array.create : {A4}
%ids = orch.array.update_element %t_b, %none[%c1] : {TASK}, {A4}
%slot = orch.array.get_element %ids[%c1] : {A4}
"""

CASES: dict[int | str, tuple[str, str]] = {
    # The body, and its tasks: what they are told of their arguments, and what they wait for.
    1: (scope("manual", FILL + USE), "f(in out), c(in out)"),
    2: (FILL + USE, "f(in out), c(- out) <- 0"),
    3: (call("b", "c", "%x", "%buf") + call("u", "c", "%x", "%o"), "c(in out), c(in out)"),
    4: (FILL + call("u", "f", "%x", "%b"), "f(in out), f(in out) <- 0"),
    5: (call("u", "c", "%x2", "%o") + call("b", "f", "%x", "%x2"), "c(in out), f(in out) <- 0"),
    8: (scope("auto", FILL + USE), "f(in out), c(- out) <- 0"),
    9: (submit("b", "f", "%x", "%buf") + submit("u", "c", "%b", "%o"), "f(in out), c(- out) <- 0"),
    10: (
        FILL + submit("u", "c", "%b", "%o", clauses="early_resolve "),
        "f(in out), c(- out) <- 0",
    ),
    11: (FILL + call("u", "m", "%x", "%b"), "f(in out), m(in out) <- 0"),
    14: (
        submit("q", "f", "%x", "%x2") + FILL + submit("u", "c", "%b", "%o", clauses="deps [%t_q] "),
        "f(in out), f(in out), c(- out) <- 0 1",
    ),
    15: (
        submit("b", "f", "%x", "%buf") + submit("u", "c", "%b", "%o", clauses="deps [%t_b] "),
        "f(in out), c(- out) <- 0",
    ),
    16: (
        scope(
            "manual",
            submit("b", "f", "%x", "%buf") + submit("u", "c", "%b", "%o", clauses="deps [%t_b] "),
        ),
        "f(in out), c(in out) <- 0",
    ),
    17: (HALVES.replace("{0}", "32"), "g(in out), h(in out)"),
    22: (HALVES.replace("{0}", "16"), "g(in out), h(- out) <- 0"),
    24: (HALVES.replace("{0}", "%n"), "g(in out), h(in out) <- 0"),
    25: (
        FILL + CHOICE.replace("{0}", "b") + call("u", "c", "%m", "%o"),
        "f(in out), c(- out) <- 0",
    ),
    26: (
        FILL
        + call("d", "f", "%x", "%x2")
        + CHOICE.replace("{0}", "d")
        + call("u", "c", "%m", "%o"),
        "f(in out), f(in out), c(in out) <- 0 1",
    ),
    27: (
        FILL + call("d", "f", "%x", "%x2") + loop("", "%v = %b", "%d", "n") + USE_R,
        "f(in out), f(in out), c(in out) <- 0 1",
    ),
    31: (FILL + submit("u", "c", "%b", "%o"), "f(in out), c(- out) <- 0"),
    33: (loop(IN_LOOP, CARRIED, "%w") + USE_R, "f(in inout), c(- out) <- last"),
    34: (
        "%t0 = orch.task_invalid\n"
        + loop(
            submit("w", "f", "%x", "%v"),
            f"{CARRIED}, %l = %t0",
            "%w, %t_w",
            types=f"{T}, {TASK}",
        )
        + submit("u", "c", "%r#0", "%o", clauses="deps [%r#1] "),
        "f(in inout), c(- out) <- last",
    ),
    35: (loop(IN_LOOP, CARRIED, "%w", "n") + USE_R, "f(in inout), c(in out) <- last"),
    37: (FILL + loop("", "%v = %b", "%v", "n") + USE_R, "f(in out), c(- out) <- 0"),
    38: (
        loop(
            IN_LOOP + call("u", "c", "%w", "%q"),
            f"{CARRIED}, %q = %o2",
            "%w, %u",
            "n",
            types=f"{T}, {T}",
        ),
        "f(in inout) <- before, c(- inout) <- 0",
    ),
    40: (loop(IN_LOOP, CARRIED, "%w", "n", kind=PARALLEL) + USE_R, "f(in out), c(in out) <- chain"),
    43: (
        scope("manual", FILL + loop(submit("w", "c", "%b", "%v"), "%v = %o", "%w")),
        "f(in out), c(in inout)",
    ),
    46: (
        INTO_ARRAY + submit("u", "c", "%r", "%o", clauses=f"deps [%all : {A4}] "),
        "f(in out), c(- out) <- array",
    ),
    48: (
        scope(
            "manual",
            submit("b", "f", "%x", "%buf")
            + SLOT
            + submit("u", "c", "%b", "%o", clauses="deps [%slot] "),
        ),
        "f(in out), c(in out) <- slot",
    ),
    "48 in an auto scope": (
        submit("b", "f", "%x", "%buf")
        + SLOT
        + submit("u", "c", "%b", "%o", clauses="deps [%slot] "),
        "f(in out), c(- out) <- slot",
    ),
    50: (
        submit("q", "f", "%x", "%x2")
        + loop(IN_LOOP, CARRIED, "%w")
        + submit("u", "c", "%r", "%o", clauses="deps [%t_q] "),
        "f(in out), f(in inout), c(- out) <- 0 last",
    ),
    53: (FILL + USE, "f(in out), c(- out) <- 0"),
    54: (
        scope("auto", FILL) + scope("auto", call("u", "c", "%buf", "%o")),
        "f(in out), c(- out) <- scope",
    ),
    55: (loop(IN_LOOP, CARRIED, "%w", "c1") + USE_R, "f(in inout), c(- out) <- last"),
    59: (scope("auto", FILL) + call("u", "c", "%buf", "%o"), "f(in out), c(- out) <- scope"),
    60: (
        scope("auto", call("b", "c", "%x", "%buf")) + scope("auto", call("u", "c", "%x", "%o")),
        "c(in out), c(in out)",
    ),
    62: (
        scope("manual", call("b", "f", "%x", "%buf"))
        + call("d", "f", "%x", "%x2")
        + call("u", "pair", "%buf", "%d", "%o"),
        "f(in out), f(in out), pair(in - out) <- 1",
    ),
    64: (
        loop(IN_LOOP, CARRIED, "%w")
        + USE_R
        + call("d", "f", "%x", "%x2")
        + call("z", "c", "%d", "%o2"),
        "f(in inout), c(- out) <- last, f(in out), c(- out) <- 2",
    ),
    # A branch hands out the task, or none.
    "branch": (
        f"%m = scf.if %cond -> ({T}) {{\n{FILL}scf.yield %b : {T}\n}} else {{\n"
        f"scf.yield %buf : {T}\n}}\n" + call("u", "c", "%m", "%o"),
        "f(in out), c(- out) <- branch",
    ),
    # N1: tasks that update one buffer in turn stay with the runtime.
    "N1": (loop(call("w", "m", "%x", "%v"), CARRIED, "%w"), "m(in inout)"),
    # N2: a task that does nothing stands for what it waits for, and nothing else.
    "N2": (
        submit("q", "f", "%x", "%x2")
        + "%d = orch.task_dummy deps [%t_q]\n"
        + FILL
        + submit("u", "c", "%b", "%o", clauses="deps [%d] "),
        "f(in out), f(in out), c(- out) <- dummy 1",
    ),
    # D11: a writer waits for the reader of the iteration before, and after the loop for the last.
    "D11": (
        loop(
            call("w", "f", "%x", "%v") + call("u", "c", "%w", "%q"),
            f"{CARRIED}, %q = %o2",
            "%w, %u",
            types=f"{T}, {T}",
        )
        + call("z", "f", "%x", "%r#0"),
        "f(in inout) <- before, c(- inout) <- 0, f(in out) <- last last",
    ),
}


def built(body: str) -> ModuleOp:
    return program(f"""{KERNELS}
orch.func orchestration @main(in %x : {T}, in %cond : i1, in %n : index, in %y : {H},
    out %buf : {T}, out %x2 : {T}, out %o : {T}, out %p : {H}, out %o2 : {T}) {{
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c4 = arith.constant 4 : index
{body}
orch.return
}}
""")


def run(module: ModuleOp) -> None:
    with collecting() as remarks:
        DeriveCallDirectionsPass().apply(context(), module)
        AutoDeriveTaskDependenciesPass().apply(context(), module)
    assert remarks == []
    module.verify()


WORDS = {"input": "in", "output_existing": "out", "no_dep": "-"}


def summary(module: ModuleOp) -> str:
    """Each task: its arguments, and which earlier ones it waits for."""
    numbers: dict[SSAValue, int] = {}
    shown: list[str] = []
    for op in walk(module):
        if isinstance(op, DispatchOp):
            directions = [WORDS.get(d.value, d.value) for d in op.directions or ()]
            deps = " ".join(_spelled(dep, numbers) for dep in op.deps)
            waits = f" <- {deps}" if deps else ""
            if op.task is not None:
                numbers[op.task] = len(shown)
            shown.append(f"{op.callee_name}({' '.join(directions)}){waits}")
    return ", ".join(shown)


def _spelled(dep: SSAValue, numbers: dict[SSAValue, int]) -> str:
    if dep in numbers:
        return str(numbers[dep])
    if isinstance(dep, BlockArgument):
        return "before"
    assert isinstance(dep, OpResult)
    match dep.op:
        case scf.ForOp() as loop if dep.type == TASK_TYPE:
            end = loop.body.block.last_op
            assert end is not None
            is_chain = isinstance(end.operands[dep.index].owner, TaskDummyOp)
            return "chain" if is_chain else "last"
        case scf.ForOp():
            return "array"
        case TaskScopeOp():
            return "scope"
        case scf.IfOp():
            return "branch"
        case TaskDummyOp():
            return "dummy"
        case _:
            return "slot"


TASK_TYPE = SubmitOp("f", [], []).results[-1].type


@pytest.mark.parametrize("number", CASES)
def test_scenarios(number: int | str) -> None:
    body, wanted = CASES[number]
    module = built(body)
    run(module)
    assert summary(module) == wanted
    text = str(module)
    run(module)
    assert str(module) == text


def test_10_flags_are_kept() -> None:
    module = built(CASES[10][0])
    run(module)
    assert "early_resolve" in str(module)


@pytest.mark.parametrize("trips", ["c1", "c4"])
def test_63_loops_of_any_length(trips: str) -> None:
    module = built(loop(IN_LOOP, CARRIED, "%w", trips) + USE_R)
    run(module)
    assert summary(module) == "f(in inout), c(- out) <- last"


def test_65_one_of_five_buffers() -> None:
    """Each that it may be is waited for; the runtime still looks."""
    names = ["%buf", "%x2", "%o", "%o2", "%x"]
    body = "".join(call(f"b{k}", "f", "%x", name) for k, name in enumerate(names[:4]))
    merged = "%b0"
    for k, other in enumerate(("%b1", "%b2", "%b3", "%x")):
        body += f"%m{k} = scf.if %cond -> ({T}) {{\nscf.yield {merged} : {T}\n}} else {{\n"
        body += f"scf.yield {other} : {T}\n}}\n"
        merged = f"%m{k}"
    module = built(body + f"%l = ptensor.create : {T}\n" + call("u", "c", merged, "%l"))
    run(module)
    fills = ", ".join(["f(in out)"] * 4)
    assert summary(module) == f"{fills}, c(in out) <- 0 1 2 3"


def test_many_tasks_in_the_way_are_left_to_the_runtime() -> None:
    """Windows at places that only a run knows: each may be any; a remark says where it ends."""
    body = "".join(
        f"%k{k} = arith.addi %n, %c{k % 2} : index\n"
        f"%w{k} = ptensor.slice %buf[%k{k}, 0] : {T} -> {H}\n"
        + call(f"v{k}", "g", "%y", f"%w{k}", type=H)
        for k in range(70)
    )
    module = built(body)
    with collecting() as remarks:
        DeriveCallDirectionsPass().apply(context(), module)
        AutoDeriveTaskDependenciesPass().apply(context(), module)
    module.verify()
    assert [remark.message for remark in remarks] == [
        "'orch.call' op has to wait for more than is named, which nothing may see to: "
        "more than 64 tasks that touch %buf are in the way"
    ]


LAYER = {2: True, 4: True, 17: True, "branch": True, "N1": False, "D11": False, 8: False, 26: False}


@pytest.mark.parametrize("number", LAYER)
def test_functions_in_which_all_order_is_named(number: int | str) -> None:
    """Where all order is named, and only there, the body becomes one manual scope."""
    module = built(CASES[number][0])
    run(module)
    assert (MANUAL_LAYER in str(module)) is LAYER[number]
    MaterializeRuntimeScopesPass().apply(context(), module)
    modes = [op.mode.data.value for op in walk(module) if isinstance(op, TaskScopeOp)]
    assert modes[0] == ("manual" if LAYER[number] else "auto")
    assert not LAYER[number] or len(modes) == 1
    assert MANUAL_LAYER not in str(module)
