"""The arguments of a function from what the command line of `pypto-run` says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pypto_xdsl.dialects.orch import Direction, FuncOp
from pypto_xdsl.interpreters.arguments import Argument
from pypto_xdsl.interpreters.elements import element_of
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.signature import Extents, is_tensor_type, parameter_name
from pypto_xdsl.syntax.spelling import did_you_mean
from pypto_xdsl.tools.argument_specs import ValueSpec, as_argument, parse_spec, parse_value
from pypto_xdsl.tools.command_line import CommandLineError


def arguments_for(function: FuncOp, texts: Sequence[str], default: str | None) -> list[Argument]:
    """
    An argument for each parameter, None for an `out` parameter that is left out.

    `texts` are `name=value`; `default` is the value of tensors that are read and not named.
    Extents that the type of one argument leaves open are those that the others tell.
    """
    types = function.function_type.inputs.data
    names = [parameter_name(function, place) for place in range(len(types))]
    specs = _by_place(function, names, texts)
    if default is not None:
        for place, type in enumerate(types):
            reads = function.parameter_directions[place] is not Direction.OUT
            if place not in specs and is_tensor_type(type) and reads:
                specs[place] = parse_spec(names[place], default)
    found: list[Argument] = [None] * len(types)
    extents = Extents()
    open_places: list[int] = []
    for place, spec in specs.items():
        if not is_tensor_type(types[place]):
            if not spec.is_scalar:
                raise CommandLineError(
                    f"argument '{names[place]}' should be a number of type {types[place]}, "
                    f"got '{spec.text}'"
                )
            found[place] = as_argument(spec)
        elif spec.generator is not None:
            open_places.append(place)
        elif spec.is_scalar:
            raise CommandLineError(
                f"argument '{names[place]}' should be an array for {types[place]}, "
                f"got '{spec.text}'; full:{spec.text} fills one"
            )
        else:
            found[place] = _bits(as_argument(spec))
    _unify(function, names, found, specs, extents)
    for place in open_places:
        found[place] = _generated(function, names[place], place, specs[place], extents)
    return found


def _by_place(function: FuncOp, names: list[str], texts: Sequence[str]) -> dict[int, ValueSpec]:
    specs: dict[int, ValueSpec] = {}
    label = function.sym_name.data
    for text in texts:
        spec = parse_value("--arg", text)
        if spec.name in names:
            place = names.index(spec.name)
        elif spec.name.isdecimal() and int(spec.name) < len(names):
            place = int(spec.name)
        else:
            shown = ", ".join(names) or "none"
            raise CommandLineError(
                f"'{label}' has no parameter '{spec.name}'{did_you_mean(spec.name, names)}; "
                f"it has {shown}"
            )
        if place in specs:
            raise CommandLineError(f"argument '{names[place]}' is given twice")
        specs[place] = spec
    return dict(sorted(specs.items()))


def _bits(argument: Argument) -> Argument:
    """Arrays of two-byte elements of no type, as other packages save bf16, are bits."""
    if isinstance(argument, np.ndarray) and argument.dtype == np.dtype("V2"):
        return argument.view(np.uint16)
    return argument


def _unify(
    function: FuncOp,
    names: list[str],
    found: Sequence[Argument],
    specs: dict[int, ValueSpec],
    extents: Extents,
) -> None:
    """Take the extents that files and written shapes tell."""
    for place, type in enumerate(function.function_type.inputs.data):
        argument = found[place]
        shape = argument.shape if isinstance(argument, np.ndarray) else None
        if shape is None and place in specs:
            shape = specs[place].shape
        if shape is None or not is_tensor_type(type):
            continue
        try:
            extents.unify(names[place], type, shape)
        except ProgramError as e:
            raise CommandLineError(str(e)) from e


def _generated(
    function: FuncOp, name: str, place: int, spec: ValueSpec, extents: Extents
) -> Argument:
    type = function.function_type.inputs.data[place]
    assert is_tensor_type(type)
    shape = spec.shape
    try:
        if shape is None:
            shape = extents.shape(name, type)
        element = element_of(type.element_type)
    except ProgramError as e:
        raise CommandLineError(f"{e}: say it, as in {name}={spec.text}:16x16") from e
    if spec.generator == "undefined":
        if function.parameter_directions[place] is not Direction.OUT:
            raise CommandLineError(f"argument '{name}' is read, it cannot be undefined")
        return None
    return spec.generate(element, shape)
