"""How arguments meet parameters: extents, the symbols of run-time ones, what may be left out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeGuard

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.interpreter import PythonValues
from xdsl.ir import Attribute, Operation

from pypto_xdsl.analysis.walk import ops_inside
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
    """
    The name of a parameter as the program spells it, else `arg0`, `arg1`, ...; of a declaration,
    as its lowered kernel spells it.
    """
    parameters = function.parameters
    if parameters:
        hint = parameters[place].name_hint
    else:
        hint = None if function.implementation is None else _names_below(function)[place]
    return hint or f"arg{place}"


@lru_cache(maxsize=64)
def _names_below(declaration: orch.FuncOp) -> Sequence[str | None]:
    """The names that the parameters of a declaration have in its kernel: tensors come first."""
    types = declaration.function_type.inputs.data
    module = declaration.parent_op()
    kernel = None if module is None else implementation_in(module, declaration)
    block = None if kernel is None else kernel.body.first_block
    if block is None or len(block.args) < len(types):
        return (None,) * len(types)
    order = sorted(range(len(types)), key=lambda place: not is_tensor_type(types[place]))
    names: list[str | None] = [None] * len(types)
    for place, argument in zip(order, block.args, strict=False):
        names[place] = argument.name_hint
    return names


def implementation_in(module: Operation, declaration: orch.FuncOp) -> func.FuncOp | None:
    """The lowered kernel that a declaration of a module names, None if there is none."""
    reference = declaration.implementation
    if reference is None:
        return None
    # Symbols of nested modules: few, one a group of kernels.
    where: Operation | None = module
    for symbol in (reference.root_reference, *reference.nested_references.data):
        assert where is not None
        where = next(
            (
                op
                for op in ops_inside(where)
                if op.properties.get("sym_name") == symbol
                and isinstance(op, ModuleOp | func.FuncOp)
            ),
            None,
        )
        if where is None:
            return None
    return where if isinstance(where, func.FuncOp) else None


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
