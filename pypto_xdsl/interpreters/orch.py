"""Functions, calls, scopes and tasks."""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i32
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_callable,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation

from pypto_xdsl.backend.ascend910b.memories import CORES
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.orch import Comparison, FunctionKind
from pypto_xdsl.dialects.orch.function_marks import runs_on_both
from pypto_xdsl.interpreters.crossing import gathers
from pypto_xdsl.interpreters.elements import integer_value
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.group_calls import (
    calling_together,
    lowered_wait_for_blocks,
    run_called,
    run_on_both,
    waits_for_blocks,
    waits_for_cores,
)
from pypto_xdsl.interpreters.indices import index_value, take_indices
from pypto_xdsl.interpreters.machine import Grid, GroupCall, Machine, called_from, machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.signature import bind_arguments
from pypto_xdsl.interpreters.skipped import origins_of_skipped, results_of_skipped
from pypto_xdsl.interpreters.tasks import Launch, Task
from pypto_xdsl.interpreters.values import Tensor, window_at

_DEEPEST_CALL = 250
"""Python 3.12 has room for little more."""
_PARTS = (FunctionKind.AIC, FunctionKind.AIV)
"""The kinds of the kernels that a group runs at the same time."""

_COMPARISONS: Mapping[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.EQ: operator.eq,
    Comparison.NE: operator.ne,
    Comparison.LT: operator.lt,
    Comparison.LE: operator.le,
    Comparison.GT: operator.gt,
    Comparison.GE: operator.ge,
}


@contextmanager
def _on(machine: Machine, grid: Grid) -> Generator[None]:
    """Run something on a core of a grid."""
    before = machine.grid
    machine.grid = grid
    try:
        yield
    finally:
        machine.grid = before


def call(
    machine: Machine,
    function: orch.FuncOp,
    arguments: PythonValues,
    site: Operation | None = None,
) -> PythonValues:
    """Run a function on arguments for all its parameters, on behalf of an op that calls it."""
    calls, kind = machine.group_calls, function.kind.data
    is_here = not function.is_declaration
    waits = is_here and kind.is_in_core and waits_for_cores(machine, function)
    if calls is None:
        if waits or kind is FunctionKind.GROUP:
            with calling_together(machine, _call_once, function):
                return call(machine, function, arguments)
    elif waits or (is_here and kind in _PARTS and (calls or machine.calls_parts_later)):
        calls.append(GroupCall(function, arguments, machine.grid, site))
        named = machine.lineage.of(function)
        if all(found is not None for found in named):
            return tuple(arguments[found.parameter] for found in named if found is not None)
        # Only the kernel can tell what it returns.
        return run_called(machine, _call_once)[-1]
    elif is_here and calls and kind.is_in_core:
        run_called(machine, _call_once)
    is_deferred = calls is not None and function.is_declaration
    if not runs_on_both(function) or is_deferred:
        return _call_once(machine, function, arguments)
    results: PythonValues = ()
    for core in range(2):
        with _on(machine, replace(machine.grid, subblock_index=core)):
            results = _call_once(machine, function, arguments)
    return results


def _call_once(machine: Machine, function: orch.FuncOp, arguments: PythonValues) -> PythonValues:
    """Run a function on one core."""
    if function.is_declaration:
        if machine.call_declaration is None:
            raise ProgramError(
                f"'{function.sym_name.data}' is a declaration, there is no body to run"
            )
        return machine.call_declaration(machine, function, arguments)
    if machine.call_depth >= _DEEPEST_CALL:
        raise ProgramError(f"calls nest more than {_DEEPEST_CALL} deep")
    machine.call_depth += 1
    try:
        return machine.run_ssacfg_region(function.body, arguments, function.sym_name.data)
    finally:
        machine.call_depth -= 1


def _groups(op: orch.LaunchingOp, args: PythonValues) -> Iterator[PythonValues]:
    """The operands of an op by the groups of its definition."""
    sizes: Any = op.properties["operandSegmentSizes"]
    start = 0
    for size in sizes.get_values():
        yield args[start : start + size]
        start += size


def _dependencies(values: Sequence[Task | tuple[Task | None, ...] | None]) -> tuple[Task, ...]:
    found: list[Task] = []
    for value in values:
        if isinstance(value, tuple):
            found.extend(task for task in value if task is not None)
        elif value is not None:
            found.append(value)
    return tuple(found)


def _holds(machine: Machine, op: orch.LaunchingOp, tensor: Tensor, dynamic: PythonValues) -> bool:
    """Evaluate the predicate of a launch."""
    assert op.static_predicate_indices is not None
    assert op.predicate_comparison is not None
    assert op.predicate_value is not None
    place, _ = take_indices(op.static_predicate_indices, dynamic)
    window = window_at("the tensor of the predicate", place, (1,) * len(place), tensor.shape)
    stored, mask = tensor.read(window)
    machine.require_defined(op, mask, "reads an undefined element in its predicate")
    value = tensor.element.widen(stored).item()
    return _COMPARISONS[op.predicate_comparison.data](value, op.predicate_value.value.data)


def _all_blocks(
    machine: Machine, op: Operation, callee: orch.FuncOp | None, count: int
) -> AbstractContextManager[None]:
    """How the blocks of a launch run: all at the same time, where they wait for each other."""
    if callee is None:
        return nullcontext()
    is_here, is_below = waits_for_blocks(machine, callee), lowered_wait_for_blocks(machine, callee)
    if not is_here and not is_below:
        return nullcontext()
    takes_cube = callee.kind.data not in (FunctionKind.AIV, FunctionKind.INCORE)
    most = CORES.cube if takes_cube or runs_on_both(callee) else CORES.vector
    if count > most:
        raise ProgramError(
            f"launches {count} blocks that wait for each other, of which {most} run at a time"
        )
    if is_here:
        return _blocks_together(machine, op, callee)
    from pypto_xdsl.interpreters.ascend910b.core_barriers import blocks_together

    return blocks_together(machine)


@contextmanager
def _blocks_together(machine: Machine, op: Operation, callee: orch.FuncOp) -> Generator[None]:
    """Until its end, the kernels of all blocks of a launch are called; then they run."""
    all_called = False
    try:
        with calling_together(machine, _call_once):
            yield
            all_called = True
    except DiagnosticsError as e:
        if not all_called or callee.kind.data.is_in_core:
            raise
        raise called_from(e, op, callee.sym_name.data) from e


def _launch(
    machine: Machine,
    op: orch.LaunchingOp,
    args: PythonValues,
    callee: orch.FuncOp | None,
    arguments: PythonValues,
    body: Callable[[], PythonValues],
    skipped: Callable[[], PythonValues],
) -> tuple[PythonValues, Task]:
    """
    Launch `body` as the clauses of an op say. Where the predicate does not hold, the results are
    those of `skipped`.
    """
    # Each kind of op has operands of its own before those of the clauses.
    first = [name for name, _ in op.get_irdl_definition().operands].index("deps")
    deps, widths, tensors, places = list(_groups(op, args))[first : first + 4]

    def run() -> PythonValues:
        if tensors and not _holds(machine, op, tensors[0], places):
            return skipped()
        if not widths:
            return body()
        count = widths[0].value.data
        if count <= 0:
            raise ProgramError(f"launches on {count} cores, expected at least one")
        results: PythonValues = ()
        with _all_blocks(machine, op, callee, count):
            for index in range(count):
                with _on(machine, replace(machine.grid, block_index=index, block_count=count)):
                    results = body()
        return results

    task = Task(machine.launched)
    machine.launched += 1
    launch = Launch(op, task, callee, arguments, _dependencies(deps), run)
    return machine.scheduler.launch(machine, launch), task


def _callee(machine: Machine, op: orch.DispatchOp) -> orch.FuncOp | None:
    """The function that a call uses, which may stand in one of another dialect."""
    found = machine.calls.callee(op)
    around = op.parent_op()
    while found is None and around is not None:
        found = machine.calls.function(op.callee_name, around)
        around = around.parent_op()
    return found


def _dispatch(op_class: type[Operation], _: None) -> Run:
    def run(interpreter: Interpreter, op: orch.DispatchOp, args: PythonValues) -> PythonValues:
        machine = machine_of(interpreter)
        name = op.callee_name
        callee = _callee(machine, op)
        if callee is None:
            raise ProgramError(f"there is no function '{name}'")
        given = args[: len(op.arguments)]
        arguments = bind_arguments(machine, callee, given)

        def body() -> PythonValues:
            if machine.progress is not None:
                machine.progress.launch(op, name)
            try:
                return call(machine, callee, arguments, op)
            except DiagnosticsError as e:
                raise called_from(e, op, name) from e

        def skipped() -> PythonValues:
            return results_of_skipped(machine.lineage, callee, arguments)

        results, task = _launch(machine, op, args, callee, arguments, body, skipped)
        return (*results, task) if op.RETURNS_TASK else results

    return run


def _scope(op_class: type[Operation], _: None) -> Run:
    def run(
        interpreter: Interpreter, op: orch.OutlinableScopeOp, args: PythonValues
    ) -> PythonValues:
        machine = machine_of(interpreter)

        def body() -> PythonValues:
            if not isinstance(op, orch.ClusterOp):
                return machine.run_ssacfg_region(op.body, (), op.name)
            with calling_together(machine, _call_once, op):
                return machine.run_ssacfg_region(op.body, (), op.name)

        def skipped() -> PythonValues:
            return machine.get_values(origins_of_skipped(machine.lineage, op))

        results, task = _launch(machine, op, args, None, (), body, skipped)
        return results if op.task is None else (*results, task)

    return run


@register_impls
@implements({orch.CallOp: None, orch.SubmitOp: None}, _dispatch)
@implements(
    {orch.IncoreOp: None, orch.ClusterOp: None, orch.SpmdOp: None, orch.HierarchyOp: None}, _scope
)
class OrchFunctions(InterpreterFunctions):
    @impl_callable(orch.FuncOp)
    def call_function(
        self, interpreter: Interpreter, op: orch.FuncOp, args: PythonValues
    ) -> PythonValues:
        return call(machine_of(interpreter), op, args)

    @impl_terminator(orch.ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: orch.ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl_terminator(orch.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: orch.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(orch.SplitAivOp)
    def run_split_aiv(
        self, interpreter: Interpreter, op: orch.SplitAivOp, args: PythonValues
    ) -> PythonValues:
        machine = machine_of(interpreter)
        if gathers(op.body):
            return run_on_both(machine, op.body)
        results: PythonValues = ()
        for core in range(2):
            with _on(machine, replace(machine.grid, subblock_index=core)):
                results = machine.run_ssacfg_region(op.body, (index_value(core),), op.name)
        return results

    @impl(orch.TaskScopeOp)
    def run_task_scope(
        self, interpreter: Interpreter, op: orch.TaskScopeOp, args: PythonValues
    ) -> PythonValues:
        return interpreter.run_ssacfg_region(op.body, (), op.name)

    @impl(orch.TaskInvalidOp)
    def run_task_invalid(
        self, interpreter: Interpreter, op: orch.TaskInvalidOp, args: PythonValues
    ) -> PythonValues:
        return (None,)

    @impl(orch.AvailableAivCountOp)
    def run_available_aiv_count(
        self, interpreter: Interpreter, op: orch.AvailableAivCountOp, args: PythonValues
    ) -> PythonValues:
        return (IntegerAttr(CORES.vector, i32),)

    @impl(orch.AvailableClusterCountOp)
    def run_available_cluster_count(
        self, interpreter: Interpreter, op: orch.AvailableClusterCountOp, args: PythonValues
    ) -> PythonValues:
        return (IntegerAttr(CORES.cube, i32),)

    @impl(orch.TaskDummyOp)
    def run_task_dummy(
        self, interpreter: Interpreter, op: orch.TaskDummyOp, args: PythonValues
    ) -> PythonValues:
        machine = machine_of(interpreter)
        task = Task(machine.launched)
        machine.launched += 1
        return (task,)

    @impl(orch.TaskIsValidOp)
    def run_task_is_valid(
        self, interpreter: Interpreter, op: orch.TaskIsValidOp, args: PythonValues
    ) -> PythonValues:
        return (IntegerAttr(int(args[0] is not None), i1),)

    @impl(orch.ArrayCreateOp)
    def run_array_create(
        self, interpreter: Interpreter, op: orch.ArrayCreateOp, args: PythonValues
    ) -> PythonValues:
        type = op.result.type
        assert orch.is_array(type)
        empty = None
        if not isinstance(type.element_type, orch.TaskIdType):
            empty = integer_value(0, type.element_type)
        return ((empty,) * type.extent.data,)

    @impl(orch.ArrayGetOp)
    def run_array_get(
        self, interpreter: Interpreter, op: orch.ArrayGetOp, args: PythonValues
    ) -> PythonValues:
        array, index = args
        return (array[_place(array, index)],)

    @impl(orch.ArrayUpdateOp)
    def run_array_update(
        self, interpreter: Interpreter, op: orch.ArrayUpdateOp, args: PythonValues
    ) -> PythonValues:
        value, array, index = args
        place = _place(array, index)
        return ((*array[:place], value, *array[place + 1 :]),)


def _place(array: tuple[Any, ...], index: IntegerAttr[IntegerType]) -> int:
    place = index.value.data
    if not 0 <= place < len(array):
        raise ProgramError(f"index {place} lies outside an array of {len(array)}")
    return place
