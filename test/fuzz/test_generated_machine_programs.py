"""
Generated kernels run to the same numbers on the pipes of a core, in whatever order the pipes go on.

The kernels are those of `test_generated_kernels`: loops that carry and exchange tiles, branches,
reductions. The machine is strict, so a missing event, a read of bytes that nobody wrote or an
event that is never taken fails the run even where the numbers would be right by luck.
"""

from __future__ import annotations

from fuzz.test_generated_kernels import arguments, programs, references
from hypothesis import HealthCheck, given, settings
from support.programs import context
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.differential import compare_runs
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.syntax.parser import parse_module

LOWERED = "default-pipeline,convert-pto-to-ascend910b,insert-sync"


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs())
def test_schedules_agree(program: tuple[str, str]) -> None:
    dtype, text = program
    ctx = context()
    module = parse_module(ctx, text, "generated.mlir")
    wanted = references(module, dtype)
    PassPipeline.parse_spec(Universe.get_multiverse().all_passes, LOWERED).apply(ctx, module)
    module.verify()
    for seed in (None, 1, 2):
        for trips, reference in wanted.items():
            got = run(module, "main", arguments(dtype, trips), cores=CoreSettings(seed))
            assert compare_runs(got, reference) is None, f"seed {seed}, {trips} trips:\n{text}"
