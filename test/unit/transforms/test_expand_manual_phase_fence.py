"""
The unit tests of PyPTO's own pass, one case each by its number (A.6 of the reference): which tasks
that do nothing there are, and what each task waits for afterwards.
"""

from __future__ import annotations

import pytest
from support.programs import context, program
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.dialects.orch import SubmitOp, TaskDummyOp
from pypto_xdsl.transforms.expand_manual_phase_fence import ExpandManualPhaseFencePass

T = "tensor<16xf32>"
PARALLEL = "{orch.loop = #orch<loop parallel>}"


def array(extent: int) -> str:
    return f"!orch.array<{extent}x!orch.task_id>"


A4 = array(4)


def submit(deps: str = "", name: str = "t") -> str:
    clause = f"deps [{deps}] " if deps else ""
    return f"%{name} = orch.submit @k(input %x) {clause}: ({T}) -> !orch.task_id\n"


def loop(
    body: str,
    trips: str = "c4",
    *,
    parallel: bool = True,
    carry: str = "",
    type: str = A4,
    result: str = "",
) -> str:
    """A loop; `carry` is `%inner = %init, %end`: what it carries, and what it hands on."""
    mark = PARALLEL if parallel else ""
    variable = "j" if "scf.for" in body else "i"
    if not carry:
        return f"scf.for %{variable} = %c0 to %{trips} step %c1 {{\n{body}}} {mark}\n"
    init, end = carry.rsplit(", ", 1)
    named = f"%{result} = " if result else "%ignored = "
    return (
        f"{named}scf.for %{variable} = %c0 to %{trips} step %c1 iter_args({init}) -> ({type}) {{\n"
        f"{body}scf.yield {end} : {type}\n}} {mark}\n"
    )


def create(name: str, extent: int = 4) -> str:
    return f"%{name} = orch.array.create : {array(extent)}\n"


def update(result: str, base: str, task: str = "t", type: str = A4) -> str:
    return f"%{result} = orch.array.update_element %{task}, %{base}[%i] : !orch.task_id, {type}\n"


def produce(extent: int = 4, trips: str = "c4") -> str:
    """An array `%all` of so many tasks."""
    type = array(extent)
    return create("none", extent) + loop(
        submit(name="p") + update("more", "some", "p", type),
        trips,
        carry="%some = %none, %more",
        type=type,
        result="all",
    )


ALL = f"%all : {A4}"
WAIT = submit(ALL)
CHOICE = f"""%chosen = scf.if %c -> ({A4}) {{
  scf.yield %all : {A4}
}} else {{
  scf.yield %none : {A4}
}}
"""
INNER_RESULT = loop("", "c4", carry="%q = %all, %q", result="chosen")

DIRECT = ""

CASES: dict[int, tuple[str, str]] = {
    # Number: the body of the manual scope, and the loop or loops that get a fence, each as the
    # array that it waits for.
    1: (produce() + loop(WAIT), "all"),
    2: (produce() + loop(submit(ALL).replace("deps", "dump [0] deps")), "all"),
    3: (produce() + loop(submit(f"%q : {A4}"), carry="%q = %all, %q"), DIRECT),
    4: (loop(submit(f"%q : {A4}"), carry="%q = %given, %q"), DIRECT),
    5: (produce() + loop(submit(f"%q : {A4}"), carry="%q = %all, %q", parallel=False), DIRECT),
    6: (loop(create("own") + submit(f"%own : {A4}")), DIRECT),
    7: (loop(create("own") + submit(f"%own : {A4}"), parallel=False), DIRECT),
    8: (produce() + loop(WAIT + update("next", "all")), DIRECT),
    9: (produce() + loop(WAIT + update("next", "q"), carry="%q = %all, %next"), DIRECT),
    10: (
        produce() + loop(WAIT + update("next", "q"), carry="%q = %all, %next", parallel=False),
        DIRECT,
    ),
    11: (
        produce()
        + loop(
            WAIT + loop(update("next", "r"), carry="%r = %q, %next", result="deep"),
            carry="%q = %all, %deep",
        ),
        DIRECT,
    ),
    12: (
        produce() + loop(WAIT + loop(update("next", "r"), carry="%r = %all, %next"), result=""),
        DIRECT,
    ),
    13: (
        produce()
        + create("other")
        + loop(WAIT + update("next", "q"), carry="%q = %other, %next", result="fresh"),
        "all",
    ),
    14: (produce() + loop(CHOICE + submit(f"%chosen : {A4}")), DIRECT),
    15: (produce() + loop(INNER_RESULT + submit(f"%chosen : {A4}")), DIRECT),
    16: (produce() + loop(INNER_RESULT + submit(f"%chosen : {A4}"), parallel=False), DIRECT),
    18: (submit(name="p") + loop(submit("%p")), DIRECT),
    19: (produce() + submit(name="s") + loop(submit(f"{ALL}, %s")), DIRECT),
    20: (
        produce() + f"%slot = orch.array.get_element %all[%c1] : {A4}\n" + loop(submit("%slot")),
        DIRECT,
    ),
    21: (produce(2, "c2") + loop(submit(f"%all : {array(2)}"), "c2"), DIRECT),
    22: (produce(2, "c2") + loop(submit(f"%all : {array(2)}"), "c2", parallel=False), DIRECT),
    23: (produce() + loop(WAIT, "c0", parallel=False), DIRECT),
    24: (produce(3, "c3") + loop(submit(f"%all : {array(3)}"), "c3"), "all"),
    25: (produce() + f"%own = orch.task_dummy deps [{ALL}]\n" + loop(WAIT), "all all"),
    26: (produce() + loop(WAIT, parallel=False), "all"),
    27: (produce() + loop(loop(WAIT, parallel=False), parallel=False), "all"),
    28: (produce() + loop(loop(WAIT), parallel=False), "all"),
    29: (
        produce() + create("other") + loop(WAIT) + loop(submit(f"%other : {A4}")),
        "all other",
    ),
    30: (produce() + loop(WAIT, "n"), DIRECT),
    31: (produce() + create("other") + loop(submit(f"{ALL}, %other : {A4}")), DIRECT),
}


def built(body: str, kind: str = "orchestration", mode: str = "manual") -> ModuleOp:
    constants = "".join(f"%c{n} = arith.constant {n} : index\n" for n in range(5))
    return program(f"""
orch.func incore @k(in {T})
orch.func {kind} @main(in %x : {T}, in %n : index, in %c : i1) {{
{constants}
%given = orch.array.create : {A4}
orch.task_scope {mode} {{
{body}
}}
orch.return
}}
""")


def run(module: ModuleOp) -> str:
    """The module after the pass."""
    with collecting():
        ExpandManualPhaseFencePass().apply(context(), module)
    module.verify()
    return str(module)


def fences(module: ModuleOp) -> str:
    """The arrays that tasks which do nothing wait for."""
    dummies = [op for op in walk(module) if isinstance(op, TaskDummyOp)]
    return " ".join(str(dummy.deps[0].name_hint) for dummy in dummies)


@pytest.mark.parametrize("number", CASES)
def test_scenarios(number: int) -> None:
    body, wanted = CASES[number]
    module = built(body)
    before = str(module)
    after = run(module)
    assert fences(module) == wanted
    if wanted == DIRECT:
        assert after == before
        return
    covered = [
        op
        for op in walk(module)
        if isinstance(op, SubmitOp)
        and op.deps
        and isinstance(dummy := op.deps[0].owner, TaskDummyOp)
        and isinstance(dummy.next_op, TaskDummyOp | scf.ForOp)
    ]
    assert covered
    # Nothing else waits for the array itself.
    assert not any(
        isinstance(op, SubmitOp) and op.deps and op.deps[0].name_hint in wanted.split()
        for op in walk(module)
    )
    assert run(module) == after


@pytest.mark.parametrize(
    ("kind", "mode"), [("graph", "manual"), ("orchestration", "auto"), ("opaque", "manual")]
)
def test_17_other_functions_and_scopes(kind: str, mode: str) -> None:
    module = built(CASES[1][0], kind, mode)
    before = str(module)
    assert run(module) == before


def test_names_count_in_the_order_of_the_text() -> None:
    body, _ = CASES[29]
    text = run(built(body))
    first = text.index("%phase_fence_barrier_0_tid = orch.task_dummy deps [%all")
    assert first < text.index("%phase_fence_barrier_1_tid = orch.task_dummy deps [%other")


def test_tasks_of_a_loop_that_may_not_run_keep_what_they_wait_for() -> None:
    """A loop inside whose trips are not known is decided on its own: it is parallel."""
    inner = loop(submit(ALL, "u"), "n")
    module = built(produce() + loop(WAIT + inner, parallel=False))
    text = run(module)
    assert fences(module) == "all"
    assert text.count(f"deps [%all : {A4}]") == 2  # The fence, and the task in the inner loop.
