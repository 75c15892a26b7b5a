"""What watches a run of `pypto-run` op by op: a trace."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, TextIO

from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from pypto_xdsl.diagnostics import diagnose
from pypto_xdsl.interpreters.values import Tensor, Tile


@dataclass
class Trace(Interpreter.Listener):
    """Prints each op after it ran, with its place in the source and its results."""

    out: TextIO = field(default_factory=lambda: sys.stderr)

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        place = diagnose(op, "")
        shown = ", ".join(_brief(result) for result in results)
        text = f"{place.file}:{place.line}:{place.column}: {op.name}"
        print(f"{text} -> {shown}" if shown else text, file=self.out)


def _brief(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, Tensor | Tile):
        kind = "tensor" if isinstance(value, Tensor) else "tile"
        extents = "x".join((*map(str, value.shape), value.element.name))
        if value.region != value.shape:
            extents += f" valid {list(value.region)}"
        if value.array.size == 0:
            return f"{kind} {extents}"
        first = value.element.widen(value.array[(slice(1),) * value.array.ndim]).item()
        return f"{kind} {extents} [{first}{', ...' if value.array.size > 1 else ''}]"
    return str(value)
