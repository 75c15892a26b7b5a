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
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.interpreters.arith import ArithFunctions
from xdsl.interpreters.math import MathFunctions
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.element_types import is_element_type
from pypto_xdsl.dialects.orch import Direction
from pypto_xdsl.dialects.ptensor.types import symbolic_shape_of, tensor_of, valid_shape_of
from pypto_xdsl.interpreters.control_flow import ControlFlowFunctions
from pypto_xdsl.interpreters.elements import (
    Array,
    Element,
    Mask,
    element_of,
    float_value,
    integer_value,
)
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import known
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.orch import OrchFunctions, call
from pypto_xdsl.interpreters.ptensor import TENSOR_FUNCTIONS
from pypto_xdsl.interpreters.scalars import ScalarFunctions
from pypto_xdsl.interpreters.signature import Extents, is_tensor_type, parameter_name
from pypto_xdsl.interpreters.tasks import ProgramOrder, Scheduler
from pypto_xdsl.interpreters.tile import TILE_FUNCTIONS
from pypto_xdsl.interpreters.values import Observer, Tensor

Argument: TypeAlias = Array | int | float | bool | None
Arguments: TypeAlias = Sequence[Argument] | Mapping[str, Argument]
"""By position, or by the names of the parameters; None or nothing for an `out` parameter."""

FUNCTIONS: tuple[type[InterpreterFunctions], ...] = (
    *TILE_FUNCTIONS,
    *TENSOR_FUNCTIONS,
    OrchFunctions,
    ControlFlowFunctions,
    MathFunctions,
)
_RECURSION_LIMIT = 50_000
"""A nested region takes some five Python frames."""


class ArgumentError(ProgramError):
    """An argument does not fit its parameter, or is missing."""


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
) -> Machine:
    """A machine that runs functions of `module`; see `run`."""
    machine = Machine(
        module,
        listeners=tuple(listeners),
        strict=strict,
        observer=observer,
        scheduler=scheduler or ProgramOrder(),
    )
    for functions in FUNCTIONS:
        machine.register_implementations(functions())
    machine.register_implementations(ArithFunctions())
    machine.register_implementations(ScalarFunctions(), override=True)
    return machine


def find_function(module: ModuleOp, name: str | None = None) -> orch.FuncOp:
    """
    The function of that name. Without one: the only function with a body, or the only
    orchestration, or the only one that no other function uses. Raises `ArgumentError`.
    """
    functions = [op for op in module.ops if isinstance(op, orch.FuncOp)]
    bodies = [function for function in functions if not function.is_declaration]
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
    raise ArgumentError(f"which function?{_listed(names)}")


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
) -> RunResult:
    """
    Run a function and tell what it returned and wrote.

    `arguments` are by position or by name. In the strict mode a result that depends on an
    undefined element (never written, or outside a valid region) is an error at the op that makes
    it so; else a warning.

    Raises `ArgumentError` for an unknown function and arguments that do not fit, and
    `DiagnosticsError`, at the user's line, for what the program does wrong.
    """
    found = function if isinstance(function, orch.FuncOp) else find_function(module, function)
    machine = machine_for(
        module, strict=strict, listeners=listeners, observer=observer, scheduler=scheduler
    )
    return run_on(machine, found, arguments)


def run_on(machine: Machine, function: orch.FuncOp, arguments: Arguments) -> RunResult:
    """Run a function on a machine that is set up already; see `run`."""
    values = _values(machine, function, arguments)
    with _running():
        try:
            results = call(machine, function, values)
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
def _running() -> Generator[None]:
    """Floats follow IEEE without warnings, and deep nests run."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        sys.setrecursionlimit(limit)


def _outcome(type: Attribute, value: Any) -> TensorValue | int | float:
    if isinstance(value, Tensor):
        return TensorValue(type, value.array.copy(), value.defined_mask(), value.element)
    if is_element_type(type):
        return value.value.data
    raise ProgramError(f"a value of type {type} is no result of a run")


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


# Arguments.


def by_position(function: orch.FuncOp, arguments: Arguments) -> list[Argument]:
    """The arguments in the order of the parameters, None where one is left out."""
    types = function.function_type.inputs.data
    names = [parameter_name(function, place) for place in range(len(types))]
    label = function.sym_name.data
    if isinstance(arguments, Mapping):
        for name in arguments:
            if name not in names:
                shown = ", ".join(names) or "none"
                raise ArgumentError(f"'{label}' has no parameter '{name}'; it has {shown}")
        return [arguments.get(name) for name in names]
    if len(arguments) > len(types):
        raise ArgumentError(f"'{label}' takes {len(types)} arguments, {len(arguments)} are given")
    return [*arguments, *[None] * (len(types) - len(arguments))]


def _values(machine: Machine, function: orch.FuncOp, arguments: Arguments) -> tuple[Any, ...]:
    given = by_position(function, arguments)
    types = function.function_type.inputs.data
    extents = Extents()
    values: list[Any] = []
    for place, (argument, type) in enumerate(zip(given, types, strict=True)):
        name = parameter_name(function, place)
        if argument is None:
            if function.parameter_directions[place] is not Direction.OUT:
                raise ArgumentError(f"argument '{name}' of type {type} is missing")
            values.append(None)
        elif is_tensor_type(type):
            values.append(_tensor(machine, extents, name, type, argument))
        else:
            values.append(_scalar(name, type, argument))
    # Parameters that are left out have the extents that the others tell.
    for place, type in enumerate(types):
        if values[place] is None:
            name = parameter_name(function, place)
            tensor = tensor_of(type)
            try:
                shape = extents.shape(name, tensor)
            except ProgramError as e:
                raise ArgumentError(f"argument '{name}' is needed: {e}") from e
            values[place] = machine.undefined_tensor(shape, element_of(tensor.element_type))
            values[place].valid = _valid(tensor)
    return tuple(values)


def _valid(type: TensorType[Attribute]) -> tuple[int, ...] | None:
    valid = valid_shape_of(type)
    return valid if valid != type.get_shape() and known(valid) else None


def _tensor(
    machine: Machine, extents: Extents, name: str, type: TensorType[Attribute], argument: Argument
) -> Tensor:
    element = element_of(type.element_type)
    if not isinstance(argument, np.ndarray):
        raise ArgumentError(f"argument '{name}' should be an array for {type}, got {argument!r}")
    if argument.dtype != element.storage:
        meaning = ", the bits of bf16" if element.is_bfloat16 else ""
        raise ArgumentError(
            f"argument '{name}' should hold {element.storage}{meaning} for {type}, "
            f"got {argument.dtype}"
        )
    try:
        extents.unify(name, type, argument.shape)
    except ArgumentError:
        raise
    except ProgramError as e:
        raise ArgumentError(str(e)) from e
    tensor = machine.new_tensor(np.array(argument, element.storage, order="C"), element)
    tensor.valid = _valid(type)
    return tensor


def _scalar(name: str, type: Attribute, argument: Argument) -> Any:
    if not is_element_type(type):
        raise ArgumentError(f"parameter '{name}' of type {type} cannot be given from outside")
    element = element_of(type)
    value = argument.item() if isinstance(argument, np.ndarray | np.generic) else argument
    if isinstance(value, int | float) and element.is_float:
        return float_value(float(value), type)
    if isinstance(value, int):
        low, high = (0, 1) if element.bits == 1 else (element.minimum, element.maximum)
        if not low <= value <= high:
            raise ArgumentError(f"argument '{name}' should be a {type}, {value} is out of range")
        return integer_value(int(value), type)
    raise ArgumentError(f"argument '{name}' should be a number of type {type}, got {argument!r}")


def random_arguments(
    function: orch.FuncOp,
    seed: int,
    extents: Mapping[str, int] | None = None,
    given: Mapping[str, Argument] | None = None,
) -> list[Argument]:
    """
    An argument for each parameter, the same for the same seed: normal numbers for floats, small
    ones for integers, small positive ones for scalars of type `index`, nothing for `out` tensors.

    `extents` says what symbols of run-time extents stand for; those left out are multiples of 16,
    as are run-time extents without a symbol. `given` replaces arguments by name.
    """
    generator = np.random.default_rng(seed)
    chosen = dict(given or {})
    symbols = {**_told_extents(function, chosen), **(extents or {})}
    told = _told_symbols(function)
    found: list[Argument] = []
    for place, type in enumerate(function.function_type.inputs.data):
        name = parameter_name(function, place)
        if name in chosen:
            found.append(chosen[name])
        elif is_tensor_type(type):
            wanted = symbolic_shape_of(type)
            if function.parameter_directions[place] is Direction.OUT and told.issuperset(
                extent for extent in wanted if not isinstance(extent, int) or extent < 0
            ):
                found.append(None)
                continue
            shape: list[int] = []
            for extent in wanted:
                if isinstance(extent, str):
                    extent = symbols.setdefault(extent, 16 * int(generator.integers(1, 5)))
                if extent == DYNAMIC_INDEX:
                    extent = 16 * int(generator.integers(1, 5))
                shape.append(extent)
            found.append(random_array(generator, element_of(type.element_type), shape))
        elif type.name == "index":
            found.append(int(generator.integers(1, 5)))
        else:
            element = _scalar_element(type)
            found.append(element.widen(random_array(generator, element, ())).item())
    return found


def _told_symbols(function: orch.FuncOp) -> set[int | str]:
    """The symbols of extents that parameters which need an argument tell."""
    return {
        extent
        for direction, type in zip(
            function.parameter_directions, function.function_type.inputs.data, strict=True
        )
        if direction is not Direction.OUT and is_tensor_type(type)
        for extent in symbolic_shape_of(type)
    } - {DYNAMIC_INDEX}


def _told_extents(function: orch.FuncOp, given: Mapping[str, Argument]) -> dict[str, int]:
    """What the arguments that are given say of symbols."""
    found: dict[str, int] = {}
    for place, type in enumerate(function.function_type.inputs.data):
        argument = given.get(parameter_name(function, place))
        if is_tensor_type(type) and isinstance(argument, np.ndarray):
            for extent, size in zip(symbolic_shape_of(type), argument.shape, strict=False):
                if isinstance(extent, str):
                    found[extent] = size
    return found


def _scalar_element(type: Attribute) -> Element:
    try:
        return element_of(type)
    except (ProgramError, VerifyException) as e:
        raise ArgumentError(f"a parameter of type {type} cannot be given from outside") from e


def random_array(generator: np.random.Generator, element: Element, shape: Sequence[int]) -> Array:
    """Stored elements: normal numbers for floats, small ones for integers."""
    if element.is_float:
        return element.narrow(generator.standard_normal(shape).astype(element.compute))
    if element.bits == 1:
        return generator.integers(0, 2, shape).astype(np.bool_)
    low, high = (-8, 8) if element.is_signed and element.bits == 4 else (0, 16)
    if element.is_signed and element.bits > 4:
        low, high = -16, 16
    return np.asarray(generator.integers(low, high, shape)).astype(element.storage)
