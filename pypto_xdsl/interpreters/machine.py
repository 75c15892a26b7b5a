"""
The interpreter that runs programs on numpy: xDSL's, with errors at the user's line, a policy for
undefined elements, and what all cores of a launch know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from xdsl.interpreter import Interpreter, InterpreterFunctions, OpImplResult, PythonValues
from xdsl.ir import Operation, Region, SSAValue

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.diagnostics import DiagnosticsError, OpError, diagnose, warn
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.elements import Array, Element, Mask
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.execution import (
    PROGRAM_ERRORS,
    FrameLayout,
    Prepared,
    RegionPlan,
    error_at,
    prepare_of,
    root_of,
)
from pypto_xdsl.interpreters.progress import Progress
from pypto_xdsl.interpreters.tasks import ProgramOrder, Scheduler
from pypto_xdsl.interpreters.values import Observer, Tensor, describe_undefined, undefined_tensor


@dataclass(frozen=True)
class Grid:
    """Which of the cores that run one kernel is at work."""

    block_index: int = 0
    block_count: int = 1
    subblock_index: int = 0
    """The vector core in its group, 0 or 1."""


@dataclass(frozen=True)
class GroupCall:
    """A call of one of the kernels of a group, which runs once all are called."""

    function: FuncOp
    arguments: PythonValues
    grid: Grid = Grid()
    site: Operation | None = None
    """What calls it."""


@dataclass(eq=False)
class Machine(Interpreter):
    """An interpreter of whole programs; `pypto_xdsl.interpreters.run` makes and runs one."""

    strict: bool = True
    """Whether depending on an undefined element is an error, or only a warning."""
    grid: Grid = Grid()
    observer: Observer | None = None
    """Told of each access to a tensor."""
    call_declaration: Callable[[Machine, Operation, PythonValues], PythonValues] | None = None
    """Runs a function whose body is elsewhere, as one that was lowered to `pto`."""
    run_group: Callable[[Machine, Sequence[GroupCall]], None] | None = None
    """Runs kernels of a group whose bodies are elsewhere, all at the same time."""
    held: list[Any] | None = None
    """The blocks of a launch that wait until all of them are there, if they wait for each other."""
    group_calls: list[GroupCall] | None = None
    """What the group at work calls, which runs when all is called."""
    calls_parts_later: bool = False
    """Whether all kernels of cores that the group at work calls wait until all are called."""
    cores: CoreSettings = field(default_factory=CoreSettings)
    """How the cores of the chip run programs of theirs."""
    scheduler: Scheduler = field(default_factory=ProgramOrder)
    """Decides when what is launched runs."""
    progress: Progress | None = None
    """Told how far the run is."""
    launched: int = 0
    """How many tasks were launched."""
    call_depth: int = 0
    is_adding: bool = False
    """It adds to elements of global memory, which others may do at the same time."""
    core_programs: dict[Any, Any] = field(default_factory=dict[Any, Any], init=False)
    """Programs of cores that ran before, ready to run again."""
    layout: FrameLayout | None = field(default=None, init=False)
    """Of the function at work."""
    values: list[Any] = field(default_factory=list[Any], init=False)
    """Those of the function at work, by their places."""
    _warned: set[Operation] = field(default_factory=set[Operation])
    _plans: dict[Region, RegionPlan] = field(default_factory=dict[Region, RegionPlan], init=False)
    _layouts: dict[Region, FrameLayout] = field(default_factory=dict[Region, FrameLayout])

    # What ops ask for.

    def require_defined(
        self, op: Operation, defined: Mask | None, message: str = "depends on undefined elements"
    ) -> None:
        """
        Complain if an op makes its result depend on undefined elements: an error in the strict
        mode, else a warning, once an op.
        """
        if defined is None or defined.all():
            return
        text = f"{message}: {describe_undefined(defined)}"
        if self.strict:
            raise OpError(op, text)
        if op not in self._warned:
            self._warned.add(op)
            warn(op, text)

    def new_tensor(self, array: Array, element: Element, defined: Mask | None = None) -> Tensor:
        """A tensor of its own that holds stored elements, of which some may be undefined."""
        tensor = Tensor.holding(array, element, self.observer)
        if defined is not None:
            tensor.buffer.mark_written(array, defined)
        return tensor

    def undefined_tensor(self, shape: Sequence[int], element: Element) -> Tensor:
        """A tensor of its own that nobody has written."""
        return undefined_tensor(shape, element, self.observer)

    @cached_property
    def calls(self) -> CallGraph:
        """Which functions calls and submits use."""
        return CallGraph(self.module)

    @cached_property
    def lineage(self) -> ReturnLineage:
        """Which parameters the results of functions are."""
        return ReturnLineage(self.calls)

    def with_functions(self, functions: Sequence[InterpreterFunctions], grid: Grid) -> Machine:
        """A machine for the same module, on which these functions run ops instead."""
        impls = copy(self._impls)
        impls._impl_dict = dict(impls._impl_dict)  # pyright: ignore[reportPrivateUsage]
        made = replace(self, grid=grid, _impls=impls, _impl_data={}, _warned=set())
        for implementations in functions:
            made.register_implementations(implementations, override=True)
        return made

    def another(self) -> Machine:
        """A machine for the same module that runs beside this one, and knows what it has found."""
        made = self.with_functions((), self.grid)
        made._warned = self._warned
        made.group_calls = None
        return made

    # Running ops: xDSL's own way prints the whole module into each error, once for each level of
    # nesting, and looks up everything again each time an op runs.

    def region_plan(self, region: Region) -> RegionPlan:
        """What runs a region: `plan(arguments)` gives its results."""
        plan = self._plans.get(region)
        if plan is None:
            root = root_of(region)
            layout = self._layouts.get(root)
            if layout is None:
                layout = self._layouts[root] = FrameLayout.of(root)
            plan = self._plans[region] = RegionPlan(self, region, layout, root is region)
        return plan

    def run_ssacfg_region(
        self, region: Region, args: PythonValues, name: str = "unknown"
    ) -> PythonValues:
        return self.region_plan(region)(args)

    def get_values(self, values: Iterable[SSAValue]) -> PythonValues:
        assert self.layout is not None
        places = self.layout.places
        return tuple(self.values[places[value]] for value in values)

    def value(self, value: SSAValue) -> Any:
        """What a value of the function at work is."""
        assert self.layout is not None
        return self.values[self.layout.places[value]]

    def implementation(self, op: Operation) -> Any:
        """The function that runs an op, None if nobody knows it."""
        found = self._impls._impl_dict.get(type(op))  # pyright: ignore[reportPrivateUsage]
        return None if found is None else found[1]

    def prepared(self, op: Operation) -> Prepared:
        """What runs an op that is no terminator; all that only depends on it is done."""
        implementation = self._impls._impl_dict.get(type(op))  # pyright: ignore[reportPrivateUsage]
        if implementation is None:
            return lambda args: self.run_one(op, args).values
        functions, run = implementation
        prepare = prepare_of(run)
        if prepare is not None:
            try:
                return prepare(self, op)
            except ProgramError:
                # It is told when the op runs, if it ever does.
                pass
        return lambda args: run(functions, self, op, args).values

    def run_one(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        """Run an op on its operands, and tell the listeners."""
        for listener in self.listeners:
            listener.will_interpret_op(op, inputs)
        implementation = self._impls._impl_dict.get(type(op))  # pyright: ignore[reportPrivateUsage]
        if implementation is None:
            raise OpError(op, "cannot be run: the interpreter does not know it")
        functions, run = implementation
        try:
            result = run(functions, self, op, inputs)
        except DiagnosticsError:
            raise
        except PROGRAM_ERRORS as e:
            raise error_at(op, e) from e
        for listener in self.listeners:
            listener.did_interpret_op(op, result.values)
        return result

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        return self.run_one(op, inputs)


def machine_of(interpreter: Interpreter) -> Machine:
    """The machine that an implementation is run by, or that an interpreter was given."""
    if isinstance(interpreter, Machine):
        return interpreter
    machine = interpreter.get_data(_Machines, _MACHINE, lambda: None)
    if machine is None:
        raise ProgramError(
            "runs on an interpreter without a machine: use "
            "pypto_xdsl.interpreters.registration.register_implementations"
        )
    return machine


def set_machine(interpreter: Interpreter, machine: Machine) -> None:
    """Give an interpreter the machine that runs functions for it."""
    interpreter.set_data(_Machines, _MACHINE, machine)


_MACHINE = "machine"


class _Machines(InterpreterFunctions):
    """Whose data the machine of an interpreter is."""


_MOST_CALLERS = 8


def called_from(error: DiagnosticsError, call: Operation, callee: str) -> DiagnosticsError:
    """
    The same errors with a note that says on whose behalf the callee ran; of a deep recursion only
    the innermost calls are told.
    """
    place = diagnose(call, "").note(f"while running '{callee}', called from here")
    return DiagnosticsError(
        found if len(found.notes) >= _MOST_CALLERS else found.with_notes(place)
        for found in error.diagnostics
    )
