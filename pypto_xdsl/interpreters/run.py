"""
Running a function of a module on numpy arrays.

    outcome = run(module, "kernel", [x, None, None])
    outcome.results[0]          # numpy array: what the function returned
    outcome.parameters["a"]     # numpy array: the parameter after the run

Arrays hold the bits of memory: `f32` is float32, `i1` is bool, and `bf16` is the uint16 of its
bits (`bfloat16_bits` and `bfloat16_values` in `elements` convert). What an `out` parameter holds
before the run is undefined: pass None. Arrays that are passed in are copied, never changed.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.interpreters.arith import ArithFunctions
from xdsl.ir import Attribute

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.element_types import is_element_type
from pypto_xdsl.interpreters.arguments import (
    ArgumentError,
    Arguments,
    argument_values,
    random_arguments,
)
from pypto_xdsl.interpreters.control_flow import ControlFlowFunctions
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.crossing import CrossingFunctions
from pypto_xdsl.interpreters.elements import (
    Array,
    Element,
    Mask,
)
from pypto_xdsl.interpreters.filling import FillFunctions
from pypto_xdsl.interpreters.float_settings import quiet_floats
from pypto_xdsl.interpreters.gathering import GatherFunctions, ScatterFunctions
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.orch import OrchFunctions, call
from pypto_xdsl.interpreters.products import ProductFunctions
from pypto_xdsl.interpreters.progress import Progress
from pypto_xdsl.interpreters.ptensor import TENSOR_FUNCTIONS
from pypto_xdsl.interpreters.scalars import ScalarFunctions
from pypto_xdsl.interpreters.signature import is_tensor_type, parameter_name
from pypto_xdsl.interpreters.sorting import SortFunctions
from pypto_xdsl.interpreters.tasks import ProgramOrder, Scheduler
from pypto_xdsl.interpreters.tile import TILE_FUNCTIONS
from pypto_xdsl.interpreters.values import Observer, Tensor

FUNCTIONS: tuple[type[InterpreterFunctions], ...] = (
    *TILE_FUNCTIONS,
    *TENSOR_FUNCTIONS,
    ProductFunctions,
    FillFunctions,
    GatherFunctions,
    ScatterFunctions,
    SortFunctions,
    CrossingFunctions,
    OrchFunctions,
    ControlFlowFunctions,
)
_RECURSION_LIMIT = 50_000
"""A nested region takes some five Python frames."""


@dataclass(frozen=True)
class TensorValue:
    """The contents of a tensor after a run."""

    type: Attribute
    array: Array
    """As stored; undefined elements hold poison."""
    defined: Mask | None
    """Which elements are defined; None: all."""
    element: Element


@dataclass(frozen=True)
class RunResult:
    """What a run left behind."""

    returned: tuple[TensorValue | int | float, ...]
    """What the function returned."""
    returned_parameters: tuple[int | None, ...]
    """For each of these, the parameter whose buffer it names as a whole, if any."""
    tensors: Mapping[str, TensorValue]
    """The tensor parameters after the run, by name."""
    parameter_names: tuple[str, ...] = field(default=())

    @property
    def results(self) -> tuple[Any, ...]:
        """What the function returned, as numpy arrays and numbers."""
        return tuple(v.array if isinstance(v, TensorValue) else v for v in self.returned)

    @property
    def parameters(self) -> dict[str, Array]:
        """The tensor parameters after the run, as numpy arrays."""
        return {name: value.array for name, value in self.tensors.items()}


def machine_for(
    module: ModuleOp,
    *,
    strict: bool = True,
    listeners: Sequence[Interpreter.Listener] = (),
    observer: Observer | None = None,
    scheduler: Scheduler | None = None,
    cores: CoreSettings | None = None,
    progress: Progress | None = None,
) -> Machine:
    """A machine that runs functions of `module`; see `run`."""
    if isinstance(scheduler, Interpreter.Listener):
        # It wants to hear of what the orchestrator does itself.
        listeners = (*listeners, scheduler)
    machine = Machine(
        module,
        listeners=tuple(listeners),
        strict=strict,
        observer=observer,
        scheduler=scheduler or ProgramOrder(),
        cores=cores or CoreSettings(),
        progress=progress,
    )
    for functions in FUNCTIONS:
        machine.register_implementations(functions())
    if _is_lowered(module):
        # Programs on tiles need none of it.
        from pypto_xdsl.interpreters.pto import PTO_FUNCTIONS, call_implementation, run_group

        machine.call_declaration = call_implementation
        machine.run_group = run_group
        for functions in PTO_FUNCTIONS:
            machine.register_implementations(functions())
    machine.register_implementations(ArithFunctions())
    machine.register_implementations(ScalarFunctions(), override=True)
    return machine


def _is_lowered(module: ModuleOp) -> bool:
    """Whether parts of a module are `pto` code: modules inside it, or functions of their own."""
    return any(isinstance(op, ModuleOp | func.FuncOp) for op in module.ops)


def find_function(module: ModuleOp, name: str | None = None) -> orch.FuncOp:
    """
    The function of that name. Without one: the only function with a body, or the only
    orchestration, or the only one that no other function uses. Raises `ArgumentError`.
    """
    functions = [op for op in module.ops if isinstance(op, orch.FuncOp)]
    # A lowered kernel is a declaration that says where its code went.
    bodies = [
        function
        for function in functions
        if not function.is_declaration or function.implementation is not None
    ]
    names = [function.sym_name.data for function in bodies]
    if name is not None:
        for function in bodies:
            if function.sym_name.data == name:
                return function
        if any(function.sym_name.data == name for function in functions):
            raise ArgumentError(f"function '{name}' is a declaration, there is no body to run")
        raise ArgumentError(f"there is no function '{name}'{_listed(names)}")
    if not bodies:
        raise ArgumentError("there is no function to run")
    used = {op.callee_name for op in module.walk() if isinstance(op, orch.DispatchOp)}
    for candidates in (
        bodies,
        [f for f in bodies if f.kind.data is orch.FunctionKind.ORCHESTRATION],
        [f for f in bodies if f.sym_name.data not in used],
    ):
        if len(candidates) == 1:
            return candidates[0]
    raise ArgumentError(f"several functions can be run{_listed(names)}")


def _listed(names: Sequence[str]) -> str:
    return f"; there are {', '.join(names)}" if names else "; there is none"


def run(
    module: ModuleOp,
    function: str | orch.FuncOp | None = None,
    arguments: Arguments = (),
    *,
    strict: bool = True,
    listeners: Sequence[Interpreter.Listener] = (),
    observer: Observer | None = None,
    scheduler: Scheduler | None = None,
    cores: CoreSettings | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """
    Run a function and tell what it returned and wrote.

    `arguments` are by position or by name. In the strict mode a result that depends on an
    undefined element (never written, or outside a valid region) is an error at the op that makes
    it so; else a warning. `cores` says how programs of cores run, and what they only warn of;
    `progress` is told how far the run is.

    Raises `ArgumentError` for an unknown function and arguments that do not fit, and
    `DiagnosticsError`, at the user's line, for what the program does wrong.
    """
    found = function if isinstance(function, orch.FuncOp) else find_function(module, function)
    machine = machine_for(
        module,
        strict=strict,
        listeners=listeners,
        observer=observer,
        scheduler=scheduler,
        cores=cores,
        progress=progress,
    )
    return run_on(machine, found, arguments)


def run_on(machine: Machine, function: orch.FuncOp, arguments: Arguments) -> RunResult:
    """Run a function on a machine that is set up already; see `run`."""
    for place, type in enumerate(function.function_type.outputs.data):
        if not is_tensor_type(type) and not is_element_type(type):
            raise OpError(
                function, f"returns {type} as result {place}, but a run gives tensors and numbers"
            )
    with running():
        values = argument_values(machine, function, arguments)
        try:
            results = call(machine, function, values)
            machine.scheduler.finish(machine)
        except RecursionError as e:
            raise OpError(function, "nests too deeply to be run") from e
    types = function.function_type.outputs.data
    returned = tuple(_outcome(type, value) for type, value in zip(types, results, strict=True))
    tensors: dict[str, TensorValue] = {}
    names: list[str] = []
    for place, (type, value) in enumerate(
        zip(function.function_type.inputs.data, values, strict=True)
    ):
        names.append(parameter_name(function, place))
        if isinstance(value, Tensor):
            outcome = _outcome(type, value)
            assert isinstance(outcome, TensorValue)
            tensors[names[-1]] = outcome
    aliases = tuple(_named_argument(value, values) for value in results)
    return RunResult(returned, aliases, tensors, tuple(names))


@contextmanager
def running() -> Generator[None]:
    """Floats are quiet, and deep nests run."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        with quiet_floats():
            yield
    finally:
        sys.setrecursionlimit(limit)


def _outcome(type: Attribute, value: Any) -> TensorValue | int | float:
    if isinstance(value, Tensor):
        return TensorValue(type, value.array.copy(), value.defined_mask(), value.element)
    number = value.value.data
    # As a number of one bit and a sign, true would be -1.
    return abs(number) if type == i1 else number


def _named_argument(value: Any, arguments: Sequence[Any]) -> int | None:
    if not isinstance(value, Tensor):
        return None
    for place, argument in enumerate(arguments):
        if (
            isinstance(argument, Tensor)
            and argument.buffer is value.buffer
            and argument.array.shape == value.array.shape
            and argument.array.strides == value.array.strides
            and argument.array.__array_interface__["data"]
            == value.array.__array_interface__["data"]
        ):
            return place
    return None


__all__ = [
    "ArgumentError",
    "Arguments",
    "RunResult",
    "TensorValue",
    "find_function",
    "machine_for",
    "random_arguments",
    "run",
    "run_on",
]
