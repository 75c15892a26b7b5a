"""
Generated modules, written in the DSL and read back: they are the same and compute the same numbers,
and the text of what is read is the text that was written.

The modules are those of the other fuzzers: scalars, kernels, orchestration, scopes. What the DSL
has no words for in them is told by an error at its op, and each test says what that may be.
"""

from __future__ import annotations

from check_pypto_pairs import same
from fuzz import test_generated_kernels as kernels
from fuzz import test_generated_orchestrations as orchestrations
from fuzz import test_generated_scalars as scalars
from fuzz import test_generated_scopes as scopes
from hypothesis import HealthCheck, given, settings
from support.dsl_round_trip import read
from support.programs import program
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.differential import assert_same_run, compare_runs
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.properties.no_stale_read import stale_reads_in
from pypto_xdsl.targets.pl.program import program_text

FUZZING = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=True,
)


REWRITTEN = ("arith.select", "arith.ceildivsi")
"""Ops that the DSL says by others."""


def there_and_back(text: str, *unspelled: str) -> tuple[ModuleOp, ModuleOp] | None:
    """A module and what comes back of it; None where one of `unspelled` has no words in the DSL."""
    before = program(text)
    try:
        written = program_text(before)
    except DiagnosticsError as e:
        if not any(f"{words} has no spelling in the DSL" in str(e) for words in unspelled):
            raise
        return None
    after = read(written)
    if not any(stale_reads_in(before)):
        # To names that are older than a write the reader gives their next names.
        assert program_text(after) == written, text
        if not any(op in text for op in REWRITTEN):
            assert same(before, after), text
    return before, after


@FUZZING
@given(text=scalars.programs())
def test_scalars(text: str) -> None:
    # Signed integers compared as unsigned ones, and exclusive or.
    pair = there_and_back(text, "'arith.xori' op", "'arith.cmpi' op")
    if pair is None:
        return
    before, after = pair
    for n in (0, 1, 3, 7):
        for m in (-2, 4):
            assert run(after, "main", [n, m]).results == run(before, "main", [n, m]).results


@FUZZING
@given(drawn=kernels.programs())
def test_kernels(drawn: tuple[str, str]) -> None:
    dtype, text = drawn
    pair = there_and_back(text)
    assert pair is not None
    before, after = pair
    for trips in (0, 4):
        arguments = kernels.arguments(dtype, trips)
        same = compare_runs(run(after, "main", arguments), run(before, "main", arguments))
        assert same is None


@FUZZING
@given(text=orchestrations.programs())
def test_orchestrations(text: str) -> None:
    # A loop to unroll that carries something.
    same_numbers(there_and_back(text, "'scf.for' op"))


@FUZZING
@given(text=scopes.programs())
def test_scopes(text: str) -> None:
    # A scope of tasks inside another.
    same_numbers(there_and_back(text, "'orch.task_scope' op"))


@FUZZING
@given(text=scopes.programs(hierarchy=True))
def test_scopes_of_levels(text: str) -> None:
    same_numbers(there_and_back(text, "'orch.task_scope' op"))


def same_numbers(pair: tuple[ModuleOp, ModuleOp] | None) -> None:
    """Run both, as long as there are two."""
    if pair is not None:
        for n in (0, 1, 3):
            assert_same_run(*pair, "main", seeds=[n], given={"n": n})
