"""
Passes as flags: `--canonicalize --my-pass='n=1 fast path=a/b.txt' -p cse,dce`, in that order.

Options after a flag are plainer than xDSL's `my-pass{n=1 fast=true path="a/b.txt"}`, which
remains after `-p`: a bool needs no value, a string no quotes. A pass with a single option takes
its value alone, `--verify-property=SSAForm`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import (
    ArgSpec,
    ArgSpecConvertible,
    ParameterListType,
    ParameterType,
    parse_pipeline,
)

from pypto_xdsl.syntax.spelling import did_you_mean
from pypto_xdsl.tools.command_line import CommandLineError

PassFactories = Mapping[str, Callable[[], type[ModulePass]]]
_ConfiguredT = TypeVar("_ConfiguredT", bound=ArgSpecConvertible)


def split_pass_flags(
    args: Sequence[str], passes: PassFactories
) -> tuple[list[ModulePass], list[str]]:
    """
    The passes that a command line asks for, in its order, and its other arguments.

    Raises `CommandLineError` for an unknown pass or a bad option.
    """
    found: list[ModulePass] = []
    rest: list[str] = []
    remaining = iter(args)
    for arg in remaining:
        flag, equals, value = arg.partition("=")
        name = flag.removeprefix("--")
        if flag in ("-p", "--passes"):
            if not equals and (value := next(remaining, None)) is None:
                raise CommandLineError(f"{flag} expects a list of passes")
            found.extend(make_pass(spec, passes) for spec in parse_pipeline(value))
        elif flag.startswith("--") and name in passes:
            spec = ArgSpec(name, parse_options(passes[name](), value))
            found.append(make_pass(spec, passes))
        else:
            rest.append(arg)
    return found, rest


def make_pass(spec: ArgSpec, passes: PassFactories) -> ModulePass:
    """The pass of a specification, or `CommandLineError`."""
    if spec.name not in passes:
        raise CommandLineError(f"unknown pass '{spec.name}'{did_you_mean(spec.name, passes)}")
    return configured("pass", passes[spec.name](), spec)


def configured(what: str, kind: type[_ConfiguredT], spec: ArgSpec) -> _ConfiguredT:
    """A pass or a target (`what` says which) with the options of a specification."""
    parameters = spec.normalize_parameter_names().parameters
    _check_names(what, kind, parameters)
    try:
        return kind.from_spec(spec)
    except ValueError as e:
        known = option_types(kind)
        for name, values in parameters.items():
            _check_values(what, kind, name, known[name], values)
        raise CommandLineError(f"{what} '{kind.name}': {e}") from e


def option_types(kind: type[ArgSpecConvertible]) -> dict[str, Any]:
    """The options of a pass or a target, by name, with their types."""
    hints = get_type_hints(kind)
    # `__dataclass_fields__` also lists what belongs to the class, such as required properties.
    return {field.name: hints[field.name] for field in fields(kind) if field.name != "name"}


def _check_names(what: str, kind: type[ArgSpecConvertible], names: Iterable[str]) -> None:
    known = option_types(kind)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            if not hint:
                spelled = ", ".join(f"'{option.replace('_', '-')}'" for option in known)
                hint = f"; its options are {spelled}" if known else "; it takes none"
            raise CommandLineError(f"{what} '{kind.name}' has no option '{name}'{hint}")


def _check_values(
    what: str, kind: type[ArgSpecConvertible], name: str, hint: Any, values: ParameterListType
) -> None:
    """Say what is wrong with the values that a specification gives to an option, if it is."""
    kinds = list(_element_types(hint))
    for value in values:
        if not any(
            type(value) is wanted if isinstance(wanted, type) else value == wanted
            for wanted in kinds
        ):
            if isinstance(value, str):
                raise _unexpected(what, kind, name, kinds, f"'{value}'")
            # What looks like a number is one, as xDSL reads it.
            hint = "; a string needs quotes" if any(map(_is_word, kinds)) else ""
            raise _unexpected(what, kind, name, kinds, f"{value}{hint}")


def _is_word(kind: Any) -> bool:
    return kind is str or isinstance(kind, str)


def _unexpected(
    what: str,
    kind: type[ArgSpecConvertible],
    name: str,
    kinds: Iterable[Any],
    got: str,
) -> CommandLineError:
    wanted = " or ".join(dict.fromkeys(map(_spell_type, kinds)))
    option = name.replace("_", "-")
    return CommandLineError(f"{what} '{kind.name}': option '{option}' expects {wanted}, got {got}")


def parse_options(pass_type: type[ModulePass], text: str) -> dict[str, ParameterListType]:
    """The options of a pass as its flag spells them: `n=1 fast path=a/b.txt`."""
    try:
        items = shlex.split(text)
    except ValueError as e:
        raise CommandLineError(f"options of pass '{pass_type.name}': {e}: {text}") from e
    known = option_types(pass_type)
    options: dict[str, ParameterListType] = {}
    for item in items:
        key, equals, value = item.partition("=")
        name = key.replace("-", "_")
        if not equals and name not in known and len(known) == 1:
            (name,) = known
            value = item
        _check_names("pass", pass_type, (name,))
        if name in options:
            raise CommandLineError(f"pass '{pass_type.name}': option '{name}' is given twice")
        options[name] = _parse_value(pass_type, name, known[name], value)
    return options


def _parse_value(pass_type: type[ModulePass], name: str, hint: Any, text: str) -> ParameterListType:
    kinds = list(_element_types(hint))
    if not text and bool in kinds:
        return (True,)
    parts = text.split(",") if _takes_several(hint) else [text]
    values: list[ParameterType] = []
    for part in parts:
        value = next((v for kind in kinds if (v := _convert(kind, part)) is not None), None)
        if value is None:
            raise _unexpected("pass", pass_type, name, kinds, f"'{part}'")
        values.append(value)
    return tuple(values)


def _takes_several(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return any(map(_takes_several, get_args(hint)))
    return get_origin(hint) is tuple


def _element_types(hint: Any) -> Iterable[Any]:
    """The types that one value of an option may have; literal values stand for themselves."""
    origin = get_origin(hint)
    if origin in (Union, UnionType, tuple):
        for part in get_args(hint):
            yield from _element_types(part)
    elif origin is Literal:
        yield from get_args(hint)
    elif hint is not NoneType and hint is not Ellipsis:
        yield hint


def _convert(kind: Any, text: str) -> ParameterType | None:
    """The value of a text as a type, or as a literal value; None if it is none."""
    if kind is bool:
        return {"true": True, "false": False}.get(text)
    if kind is str:
        return text
    if kind is int or kind is float:
        try:
            return kind(text)
        except ValueError:
            return None
    return kind if str(kind) == text else None


def _spell_type(kind: Any) -> str:
    names: dict[Any, str] = {
        bool: "'true' or 'false'",
        int: "an integer",
        float: "a number",
        str: "a string",
    }
    return names.get(kind, f"'{kind}'")
