"""How `pypto-run` shows what a run left behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pypto_xdsl.dialects.orch import Direction, FuncOp
from pypto_xdsl.interpreters.run import RunResult, TensorValue
from pypto_xdsl.interpreters.signature import parameter_name
from pypto_xdsl.syntax.spelling import did_you_mean
from pypto_xdsl.tools.command_line import CommandLineError

_UNDEFINED = "?"


@dataclass(frozen=True)
class Output:
    """A written parameter or a result."""

    name: str
    value: TensorValue | int | float
    alias: str | None = None
    """The parameter whose buffer a result names as a whole."""

    def __str__(self) -> str:
        title = self.name
        if isinstance(self.value, TensorValue):
            title = f"{self.name} : {self.value.type}"
        if self.alias is not None:
            return f"{title} is {self.alias}"
        text = format_value(self.value)
        # The rows of a matrix stand below each other.
        separator = "\n" if "\n" in text else " "
        return f"{title} ={separator}{text}"


def written_parameters(function: FuncOp) -> list[str]:
    """The parameters that a function may write."""
    return [
        parameter_name(function, place)
        for place, direction in enumerate(function.parameter_directions)
        if direction is not Direction.IN
    ]


def outputs(written: Sequence[str], result: RunResult) -> list[Output]:
    """The parameters that a function writes, and what it returns."""
    found = [Output(name, result.tensors[name]) for name in written if name in result.tensors]
    for place, (value, parameter) in enumerate(
        zip(result.returned, result.returned_parameters, strict=True)
    ):
        alias = None if parameter is None else result.parameter_names[parameter]
        found.append(Output(f"result{place}", value, alias))
    return found


def output_named(name: str, known: Mapping[str, Output]) -> Output:
    """The output of a name, or `CommandLineError`."""
    if name not in known:
        listed = ", ".join(known) or "none"
        raise CommandLineError(
            f"nothing that is written or returned is called '{name}'{did_you_mean(name, known)}; "
            f"there is {listed}"
        )
    return known[name]


def only_output(found: Sequence[Output]) -> str | None:
    """The name of the only value that is written or returned, if there is only one."""
    own = [output.name for output in found if output.alias is None]
    return own[0] if len(own) == 1 else None


def format_value(value: TensorValue | float) -> str:
    """The elements as numpy prints arrays, large ones shortened, `?` where undefined."""
    if not isinstance(value, TensorValue):
        return str(value)
    with np.errstate(all="ignore"):
        numbers = value.element.widen(value.array)
    if value.element.bits == 1:
        numbers = value.array
    if value.defined is None:
        return np.array2string(numbers, separator=", ", max_line_width=100)
    shown = np.where(value.defined, numbers.astype(object), _UNDEFINED)
    return np.array2string(
        shown,
        separator=", ",
        max_line_width=100,
        formatter={"object": _format_element},
    )


def _format_element(element: object) -> str:
    return f"{element:.8g}" if isinstance(element, float) else str(element)


def op_counts(counts: Mapping[str, int]) -> Iterator[str]:
    """One line an op, the most frequent first."""
    width = max((len(str(count)) for count in counts.values()), default=1)
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:>{width}} {name}"


def joined(lines: Iterable[str]) -> str:
    """Lines as one text, each with its end."""
    return "".join(f"{line}\n" for line in lines)
