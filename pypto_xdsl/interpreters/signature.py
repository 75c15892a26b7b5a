"""How arguments meet parameters: extents, the symbols of run-time ones, what may be left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.interpreter import PythonValues
from xdsl.ir import Attribute

from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.orch import Direction
from pypto_xdsl.dialects.ptensor.types import symbolic_shape_of, tensor_of, valid_shape_of
from pypto_xdsl.interpreters.elements import element_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.indices import known
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.values import Tensor


def is_tensor_type(type: Attribute) -> TypeGuard[TensorType[Attribute]]:
    """Whether a parameter of this type is a tensor."""
    return isinstance(type, TensorType)


def parameter_name(function: orch.FuncOp, place: int) -> str:
    """The name of a parameter as the program spells it, else `arg0`, `arg1`, ..."""
    parameters = function.parameters
    hint = parameters[place].name_hint if parameters else None
    return hint or f"arg{place}"


class Extents:
    """What the symbols of a signature stand for, as arguments tell one after the other."""

    def __init__(self):
        self._symbols: dict[str, tuple[int, str]] = {}

    def unify(self, name: str, type: TensorType[Attribute], shape: Sequence[int]) -> None:
        """Take the extents of one argument, or raise `ProgramError` where they do not fit."""
        wanted = symbolic_shape_of(type)
        if len(shape) != len(wanted):
            raise ProgramError(
                f"argument '{name}' has {len(shape)} dimensions, {type} has {len(wanted)}"
            )
        for axis, (want, have) in enumerate(zip(wanted, shape, strict=True)):
            if isinstance(want, str):
                value, where = self._symbols.setdefault(want, (have, f"'{name}'"))
                if value != have:
                    raise ProgramError(
                        f"dimension {axis} of argument '{name}' is {have}, but {want} is {value} "
                        f"by argument {where}"
                    )
            elif want not in (DYNAMIC_INDEX, have):
                raise ProgramError(
                    f"dimension {axis} of argument '{name}' is {have}, {type} says {want}"
                )

    def define(self, symbol: str, value: int) -> None:
        """Say what a symbol stands for."""
        self._symbols[symbol] = (value, "definition")

    def shape(self, name: str, type: TensorType[Attribute]) -> tuple[int, ...]:
        """The extents of a parameter that has no argument."""
        found: list[int] = []
        for axis, extent in enumerate(symbolic_shape_of(type)):
            if isinstance(extent, str) and extent in self._symbols:
                extent = self._symbols[extent][0]
            if isinstance(extent, str) or extent == DYNAMIC_INDEX:
                raise ProgramError(
                    f"nothing tells the extent of dimension {axis} of parameter '{name}' of {type}"
                )
            found.append(extent)
        return tuple(found)


def bind_arguments(machine: Machine, function: orch.FuncOp, given: PythonValues) -> PythonValues:
    """
    The values of all parameters: those given, and new buffers for trailing `out` parameters that
    are left out.
    """
    types = function.function_type.inputs.data
    name = function.sym_name.data
    if len(given) > len(types):
        raise ProgramError(f"gives {len(given)} arguments to '{name}', which takes {len(types)}")
    extents = Extents()
    values: list[Any] = []
    for place, (value, type) in enumerate(zip(given, types, strict=False)):
        if is_tensor_type(type):
            value = _as_parameter(extents, parameter_name(function, place), type, value)
        values.append(value)
    for place in range(len(given), len(types)):
        parameter = parameter_name(function, place)
        if function.parameter_directions[place] is not Direction.OUT:
            raise ProgramError(f"gives no argument for parameter '{parameter}' of '{name}'")
        type = tensor_of(types[place])
        shape = extents.shape(parameter, type)
        values.append(machine.undefined_tensor(shape, element_of(type.element_type)))
    return tuple(values)


def _as_parameter(
    extents: Extents, name: str, type: TensorType[Attribute], value: Tensor
) -> Tensor:
    extents.unify(name, type, value.shape)
    valid = valid_shape_of(type)
    if valid == type.get_shape():
        return value if value.valid is None else value.named(value.array)
    return value.named(value.array, valid if known(valid) else value.valid)
