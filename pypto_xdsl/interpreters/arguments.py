"""What comes from outside: arguments of a function, checked against its signature, or random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.element_types import is_element_type
from pypto_xdsl.dialects.orch import Direction
from pypto_xdsl.dialects.ptensor.types import symbolic_shape_of, tensor_of, valid_shape_of
from pypto_xdsl.interpreters.elements import (
    Array,
    Element,
    element_of,
    float_value,
    integer_value,
)
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import known
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.signature import Extents, is_tensor_type, parameter_name
from pypto_xdsl.interpreters.values import Tensor

Argument: TypeAlias = Array | int | float | bool | None
Arguments: TypeAlias = Sequence[Argument] | Mapping[str, Argument]
"""By position, or by the names of the parameters; None or nothing for an `out` parameter."""


class ArgumentError(ProgramError):
    """An argument does not fit its parameter, or is missing."""


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


def argument_values(
    machine: Machine, function: orch.FuncOp, arguments: Arguments
) -> tuple[Any, ...]:
    """The values of all parameters. Raises `ArgumentError` for arguments that do not fit."""
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
            values.append(scalar_argument(name, type, argument))
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


def scalar_argument(name: str, type: Attribute, argument: Argument) -> Any:
    """A number as a run-time scalar. Raises `ArgumentError` where it does not fit the type."""
    if not is_element_type(type):
        raise ArgumentError(f"parameter '{name}' of type {type} cannot be given from outside")
    element = element_of(type)
    value = argument.item() if isinstance(argument, np.ndarray | np.generic) else argument
    if isinstance(value, int | float) and element.is_float:
        return float_value(float(value), type)
    if isinstance(value, int):
        low, high = (0, 1) if element.bits == 1 else (element.minimum, element.maximum)
        if not low <= value <= high:
            raise ArgumentError(
                f"argument '{name}' of type {type} cannot be {value}, which is out of range"
            )
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
