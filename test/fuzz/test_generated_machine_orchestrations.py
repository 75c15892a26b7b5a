"""
Generated orchestrations run to the same numbers once their kernels are programs of cores.

The programs are those of `test_generated_orchestrations`: calls and submits of kernels and groups
in loops of unknown trips, branches and scopes, with buffers that change places and are written in
place. Every kernel goes down to the pipes of a core; tasks run in the order of the program and in
others that the task graph allows, the pipes of each core in turn and by chance.
"""

from __future__ import annotations

from fuzz.test_generated_orchestrations import graph_of, programs
from hypothesis import HealthCheck, given, settings
from support.machine_programs import parsed

from pypto_xdsl.analysis.hazards import hazards
from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.differential import compare_runs
from pypto_xdsl.interpreters.run import find_function, random_arguments, run
from pypto_xdsl.interpreters.task_graph_order import TaskGraphOrder

PASSES = "default-pipeline,ascend910b-pipeline"


@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(text=programs())
def test_schedules_agree(text: str) -> None:
    with collecting():
        before, after = parsed(text), parsed(text, PASSES)
    for n in (0, 1, 2):
        arguments = random_arguments(find_function(before, "main"), n, given={"n": n})
        wanted = run(before, "main", arguments)
        for seed in (None, 1, 2):
            got = run(after, "main", arguments, cores=CoreSettings(seed))
            assert compare_runs(got, wanted) is None
        if not list(hazards(graph_of(after, n))):
            for seed in (None, 3):
                order = TaskGraphOrder(seed)
                got = run(after, "main", arguments, scheduler=order, cores=CoreSettings(seed))
                assert compare_runs(got, wanted) is None
