"""
What `pypto-run` is told of a value: `x=input.npy`, `x=randn:64x128xf32:seed=0`, `n=4`.

A tensor is a `.npy` file or a *generator*, followed by parts after `:` in any order: its shape
and element type (`64x128xf32`, `64x128`; not needed where the parameter's type tells), for
`full` its value, and options of the generator.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pypto_xdsl.interpreters.arguments import Argument
from pypto_xdsl.interpreters.elements import Array, Element, allocate
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.syntax.spelling import did_you_mean
from pypto_xdsl.tools.array_files import load_array
from pypto_xdsl.tools.command_line import CommandLineError

GENERATORS: Mapping[str, tuple[str, ...]] = {
    "zeros": (),
    "ones": (),
    "full": (),
    "arange": (),
    "randn": ("seed",),
    "uniform": ("seed", "low", "high"),
    "randint": ("seed", "low", "high"),
    "undefined": (),
}
"""Generator -> its options."""
_NAME = re.compile(r"%?[\w.$-]+")
_SHAPE = re.compile(r"(?P<extents>(\d+x)*\d+)(x(?P<last>[a-z]+\d*))?|(?P<only>[a-z]+\d+|index)")


@dataclass(frozen=True)
class ValueSpec:
    """One value that the command line describes."""

    name: str
    """A parameter's or a result's name, or a parameter's position."""
    text: str
    """As written, for errors."""
    path: str | None = None
    generator: str | None = None
    number: int | float | None = None
    """A scalar, or what `full` fills with."""
    shape: tuple[int, ...] | None = None
    element: str | None = None
    options: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def is_scalar(self) -> bool:
        return self.path is None and self.generator is None

    def load(self) -> Array:
        """The array of a file."""
        assert self.path is not None
        return load_array(self.path)

    def generate(self, element: Element, shape: Sequence[int]) -> Array:
        """The stored elements of a generator."""
        if self.generator == "undefined":
            raise CommandLineError(f"'{self.text}' has no elements")
        if self.element not in (None, element.name):
            raise CommandLineError(f"'{self.text}' holds {self.element}, expected {element.name}")
        if self.shape is not None and self.shape != tuple(shape):
            raise CommandLineError(
                f"'{self.text}' has the shape {list(self.shape)}, expected {list(shape)}"
            )
        try:
            # Asks for the memory first, so that a shape beyond it is one error for all.
            filled = allocate(shape, element, element.narrow(element.number(self._filling())))
            return filled if self._is_constant else self._drawn(element, shape)
        except (ProgramError, MemoryError) as e:
            raise CommandLineError(f"'{self.text}': {e or 'does not fit into memory'}") from e

    @property
    def _is_constant(self) -> bool:
        return self.generator in ("zeros", "ones", "full")

    def _filling(self) -> int | float:
        if self.generator == "full":
            assert self.number is not None
            return self.number
        return 1 if self.generator == "ones" else 0

    def _drawn(self, element: Element, shape: Sequence[int]) -> Array:
        if self.generator == "arange":
            numbers: Array = np.arange(math.prod(shape), dtype=np.int64).reshape(tuple(shape))
            return element.narrow(numbers.astype(element.compute))
        random = np.random.default_rng(int(self.options.get("seed", 0)))
        if self.generator == "randint":
            low, high = int(self.options.get("low", 0)), int(self.options.get("high", 16))
            if low >= high:
                raise CommandLineError(f"'{self.text}': no integer lies from {low} to below {high}")
            drawn: Any = random.integers(low, high, tuple(shape))
            return element.narrow(np.asarray(drawn).astype(element.compute))
        if not element.is_float:
            raise CommandLineError(f"'{self.text}' gives floats, not {element.name}: use randint")
        if self.generator == "randn":
            values = random.standard_normal(tuple(shape))
        else:
            low, high = self.options.get("low", 0.0), self.options.get("high", 1.0)
            values = random.uniform(low, high, tuple(shape))
        return element.narrow(np.asarray(values).astype(element.compute))


def parse_value(option: str, text: str, only: str | None = None) -> ValueSpec:
    """
    Read `name=...`, or what stands after it alone where there is `only` one name to choose from.

    Raises `CommandLineError`.
    """
    name, spec = split_name(option, text, only)
    return parse_spec(name, spec)


def split_name(option: str, text: str, only: str | None = None) -> tuple[str, str]:
    """The name and what stands after it. Raises `CommandLineError`."""
    name, equals, rest = text.partition("=")
    if equals and rest and _NAME.fullmatch(name):
        return name.removeprefix("%"), rest
    if only is not None and text and not (equals and not rest):
        return only, text
    raise CommandLineError(f"{option} expects name=value, got '{text}'")


def parse_spec(name: str, spec: str) -> ValueSpec:
    """Read what stands after `name=`."""
    head, *parts = spec.split(":")
    if spec.endswith(".npy"):
        return ValueSpec(name, spec, path=spec)
    if (number := _number(spec)) is not None:
        return ValueSpec(name, spec, number=number)
    if head not in GENERATORS:
        raise CommandLineError(
            f"'{spec}' is neither a .npy file, a number nor a generator "
            f"({', '.join(GENERATORS)}){did_you_mean(head, GENERATORS)}"
        )
    number: int | float | None = None
    shape: tuple[int, ...] | None = None
    element: str | None = None
    options: dict[str, float] = {}
    if head == "full" and (not parts or (number := _number(parts.pop(0))) is None):
        raise CommandLineError(f"'{spec}': full needs a value, as in full:1.5")
    for part in parts:
        key, equals, value = part.partition("=")
        found = _number(value) if equals else None
        if equals:
            if key not in GENERATORS[head]:
                known = ", ".join(GENERATORS[head]) or "none"
                raise CommandLineError(f"'{spec}': {head} has no option '{key}'; it has {known}")
            if found is None or (key == "seed" and (found < 0 or found != int(found))):
                raise CommandLineError(f"'{spec}': {key} cannot be '{value}'")
            options[key] = found
        elif (match := _SHAPE.fullmatch(part)) is not None and shape is None and element is None:
            extents = match["extents"]
            shape = tuple(map(int, extents.split("x"))) if extents else None
            element = match["last"] or match["only"]
        else:
            raise CommandLineError(f"'{spec}': '{part}' is neither a shape nor an option")
    return ValueSpec(
        name, spec, generator=head, number=number, shape=shape, element=element, options=options
    )


def _number(text: str) -> int | float | None:
    if text in ("true", "false"):
        return int(text == "true")
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def as_argument(spec: ValueSpec) -> Argument:
    """A scalar, or the array of a file; generators need a type, see `ValueSpec.generate`."""
    return spec.number if spec.is_scalar else spec.load()
