"""
classify-iter-arg-carry: says which carried values of loops are variables in orchestration code.

A carried value that is only the next name of what the loop started from needs none:

    %r:2 = scf.for %i ... iter_args(%cur = %a, %acc = %b) -> (T, T) {
      %nxt  = ptensor.create : T
      %nxt1 = orch.call @fill(input %cur, output_existing %nxt)
      %acc1 = orch.call @add(input %nxt1, inout %acc)
      scf.yield %nxt1, %acc1
    }                                  ->      } {orch.rebound = array<i1: true, false>}

In a manual scope the task that a parallel loop hands on is all of its tasks, an array with a slot
an iteration: `orch.task_slots = array<i64: 4>`; so is what a sequential loop hands on from one.
A parallel loop there must have a trip count known to the compiler, else it is an error.

Only `scf.for` in functions of kind `orchestration`. What is said of a loop is found out anew each
time; nothing else changes. One walk of each function.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.carry_classification import UNKNOWN_SLOTS
from pypto_xdsl.analysis.control_flow import constant_trip_count
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose
from pypto_xdsl.dialects.orch import is_sequential, set_carries
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.properties.iter_arg_carry_classified import classified_loops, spell_carry


@dataclass(frozen=True)
class ClassifyIterArgCarryPass(CheckedPass):
    """Say of each carried value of a loop of orchestration whether it is a variable."""

    name = "classify-iter-arg-carry"
    required = ("CallDirectionsResolved", "RuntimeScopesMaterialized")
    produced = ("IterArgCarryClassified", "RuntimeScopesMaterialized")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        errors: list[Diagnostic] = []
        for loop, found in classified_loops(module):
            errors += _of_unknown_size(loop, found.task_slots)
            set_carries(loop, found.rebound, found.task_slots)
        if errors:
            raise DiagnosticsError(errors)


def _of_unknown_size(loop: scf.ForOp, slots: tuple[int, ...]) -> list[Diagnostic]:
    """What a loop hands on as so many tasks as nobody knows, said where that comes from."""
    if is_sequential(loop) or constant_trip_count(loop) is not None:
        return []
    return [
        diagnose(
            loop,
            f"{spell_carry(loop, index)} is a task of each iteration of a parallel loop in a "
            "manual scope, which needs a statically known trip count",
        )
        for index, count in enumerate(slots)
        if count == UNKNOWN_SLOTS
    ]
