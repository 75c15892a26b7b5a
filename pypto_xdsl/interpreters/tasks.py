"""
Tasks: what calls, submits and scopes hand to whoever decides when they run.

`ProgramOrder` runs each at once. A scheduler that follows the task graph instead implements
`Scheduler` and is given to the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from xdsl.interpreter import PythonValues

if TYPE_CHECKING:
    from pypto_xdsl.dialects.orch import FuncOp, LaunchingOp
    from pypto_xdsl.interpreters.machine import Machine


@dataclass(frozen=True)
class Task:
    """The identity of a launched task; that of no task is None."""

    number: int
    """Counts from 0, in the order of launch."""


@dataclass(frozen=True)
class Launch:
    """One call, submit or scope that is about to run."""

    op: LaunchingOp
    task: Task
    callee: FuncOp | None
    """None for a scope, whose body stands where it runs."""
    arguments: PythonValues
    """For the parameters of the callee."""
    dependencies: Sequence[Task]
    """The tasks that the program names; those from directions are the scheduler's to find."""
    run: Callable[[], PythonValues]
    """Evaluates the predicate and runs the work on all its cores; gives the results."""


class Scheduler(Protocol):
    """Decides when launched work runs."""

    def launch(self, machine: Machine, launch: Launch) -> PythonValues:
        """The results of the work, which need not have run yet."""
        ...

    def finish(self, machine: Machine) -> None:
        """The program has come to its end: run all that has not run yet."""
        ...


class ProgramOrder:
    """Runs everything where it is launched."""

    def launch(self, machine: Machine, launch: Launch) -> PythonValues:
        return launch.run()

    def finish(self, machine: Machine) -> None:
        return None
