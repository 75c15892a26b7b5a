"""What watches a run of `pypto-run`: a trace of the ops, and progress on a terminal."""

from __future__ import annotations

import sys
import time
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


class Progress(Interpreter.Listener):
    """Shows on a terminal how far a long run is; nothing before a second has passed."""

    _EACH = 256
    """Ops between looks at the clock."""

    def __init__(self, out: TextIO):
        self._out = out
        self._count = 0
        self._next = time.monotonic() + 1.0
        self._started = time.monotonic()
        self._shown = False

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self._count += 1
        if self._count % self._EACH:
            return
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 0.5
        self._shown = True
        line = diagnose(op, "").line
        elapsed = now - self._started
        text = f"{self._count} ops, {elapsed:.0f} s, at line {line}"
        self._out.write(f"\r\x1b[K{text}")
        self._out.flush()

    def finish(self) -> None:
        """Clear the line."""
        if self._shown:
            self._out.write("\r\x1b[K")
            self._out.flush()
