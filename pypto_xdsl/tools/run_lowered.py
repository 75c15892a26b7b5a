"""
Running a function of a `.pto` file, which has pointers and no directions.

A pointer says nothing of how large its memory is: each needs an argument with a shape, and all of
them count as written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.element_types import is_element_type
from pypto_xdsl.dialects.pto.shaped_types import PtrType
from pypto_xdsl.interpreters.arguments import scalar_argument
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.elements import Array, element_of
from pypto_xdsl.interpreters.progress import Progress
from pypto_xdsl.interpreters.pto import run_kernel
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.run import RunResult, TensorValue, machine_for, running
from pypto_xdsl.interpreters.values import Tensor
from pypto_xdsl.tools.argument_specs import ValueSpec, parse_spec, parse_value
from pypto_xdsl.tools.command_line import CommandLineError


@dataclass(frozen=True)
class LoweredFunction:
    """A `pto` function that can be run from outside."""

    op: func.FuncOp

    @property
    def name(self) -> str:
        return self.op.sym_name.data

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(
            argument.name_hint or f"arg{place}"
            for place, argument in enumerate(self.op.body.block.args)
        )

    @property
    def parameter_types(self) -> tuple[Attribute, ...]:
        return self.op.function_type.inputs.data


def find_lowered_function(module: ModuleOp, name: str | None) -> LoweredFunction | None:
    """The `pto` function of a name, or the only one; None if the module has none at all."""
    found = [
        op
        for op in module.walk()
        if isinstance(op, func.FuncOp) and op.body.first_block is not None
    ]
    if not found:
        return None
    named = [op for op in found if name in (None, op.sym_name.data)]
    if len(named) == 1:
        return LoweredFunction(named[0])
    listed = ", ".join(op.sym_name.data for op in found)
    problem = "several functions can be run" if name is None else f"there is no function '{name}'"
    raise CommandLineError(f"{problem}; there are {listed}")


def run_lowered(
    module: ModuleOp,
    function: LoweredFunction,
    texts: Sequence[str],
    default: str | None,
    *,
    strict: bool,
    cores: CoreSettings,
    listeners: Sequence[Interpreter.Listener],
    progress: Progress | None = None,
) -> RunResult:
    """Run a `pto` function on arguments as the command line writes them."""
    machine = machine_for(
        module, strict=strict, listeners=listeners, cores=cores, progress=progress
    )
    tensors: dict[str, Tensor] = {}
    values: list[Any] = []
    specs = _specs(function, texts, default)
    with running():
        for name, type in zip(function.parameter_names, function.parameter_types, strict=True):
            spec = specs.get(name)
            if spec is None:
                raise CommandLineError(f"argument '{name}' of type {type} is missing")
            if isinstance(type, PtrType):
                element = element_of(type.element_type)
                if spec.generator == "undefined" and spec.shape is not None:
                    tensors[name] = machine.undefined_tensor(spec.shape, element)
                else:
                    tensors[name] = machine.new_tensor(_array(name, type, spec), element)
                values.append(Pointer.to(tensors[name]))
            elif is_element_type(type) and spec.is_scalar:
                values.append(scalar_argument(name, type, spec.number))
            else:
                raise CommandLineError(f"argument '{name}' cannot be a {type}: '{spec.text}'")
        try:
            run_kernel(machine, function.op, tuple(values))
        except RecursionError as e:
            raise OpError(function.op, "nests too deeply to be run") from e
    types = dict(zip(function.parameter_names, function.parameter_types, strict=True))
    after = {
        name: TensorValue(types[name], tensor.array.copy(), tensor.defined_mask(), tensor.element)
        for name, tensor in tensors.items()
    }
    return RunResult((), (), after, function.parameter_names)


def _specs(
    function: LoweredFunction, texts: Sequence[str], default: str | None
) -> dict[str, ValueSpec]:
    names = function.parameter_names
    found: dict[str, ValueSpec] = {}
    for text in texts:
        spec = parse_value("--arg", text)
        name = spec.name
        if name.isdecimal() and int(name) < len(names):
            name = names[int(name)]
        if name not in names:
            shown = ", ".join(names) or "none"
            raise CommandLineError(f"'{function.name}' has no parameter '{name}'; it has {shown}")
        if name in found:
            raise CommandLineError(f"argument '{name}' is given twice")
        found[name] = spec
    if default is not None:
        for name, type in zip(names, function.parameter_types, strict=True):
            if isinstance(type, PtrType):
                found.setdefault(name, parse_spec(name, default))
    return found


def _array(name: str, type: PtrType, spec: ValueSpec) -> Array:
    element = element_of(type.element_type)
    if spec.path is not None:
        array = spec.load()
        if array.dtype != element.storage:
            raise CommandLineError(
                f"argument '{name}' should hold {element.storage} for {type}, got {array.dtype}"
            )
        return np.ascontiguousarray(array)
    if spec.is_scalar or spec.shape is None:
        raise CommandLineError(
            f"argument '{name}' needs a shape, as in {name}={spec.generator or 'randn'}:16x16"
        )
    return spec.generate(element, spec.shape)
